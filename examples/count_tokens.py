"""Counts the tokens of files, most first.

    python examples/count_tokens.py tokenizer.json *.txt

Look here for how to count many texts at once, on all cores.
"""

from __future__ import annotations

import sys
from pathlib import Path

import jeton


def main(tokenizer: str, *paths: str) -> None:
    tok = jeton.load(tokenizer)
    counts = tok.count_batch([Path(path).read_text(encoding="utf-8") for path in paths])
    for count, path in sorted(zip(counts, paths, strict=True), reverse=True):
        print(f"{count:>12,}  {path}")


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit("usage: count_tokens.py TOKENIZER FILE...")
    main(*sys.argv[1:])
