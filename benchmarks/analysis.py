"""What measuring costs beyond encoding: `analysis.compare` on five tokenizers.

Run it by hand: `python benchmarks/analysis.py --data ../shared/data`. It is compared with encoding
the same text five times: `encode_batch` on all cores on texts that are in memory already, about a
quarter of a megabyte each. Half of the text is English, half of many languages; measuring reads it
from files. Nothing is asserted; the aim is a ratio of 1.5 at most. Seconds are of the clock, the
best of some runs, one after another.
"""

from __future__ import annotations

import argparse
import lzma
import time
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import jeton
from jeton import analysis
from jeton.analysis.texts import LONGEST, cut

TOKENIZERS = (
    "o200k_base.tiktoken",
    "llama3_ranks.model",
    "neox/tokenizer.json",
    "llama2_sentencepiece_bpe.model",
    "bert_uncased_vocab.txt",
)


def text_of(path: Path, size: int) -> str:
    """The first so many bytes of a compressed text, up to the end of a character."""
    with lzma.open(path) as file:
        return file.read(size).decode("utf-8", "ignore")


def best(runs: int, work: Callable[[], object]) -> float:
    """The seconds of the fastest run."""
    seconds = []
    for _ in range(runs):
        start = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--megabytes", type=int, default=100)
    parser.add_argument("--runs", type=int, default=2)
    given = parser.parse_args()
    toks = {}
    for name in TOKENIZERS:
        encoding = "llama3" if name.startswith("llama3") else None
        toks[name] = jeton.load(given.data / "vocab" / name, encoding=encoding)
    half = given.megabytes * 500_000
    names = ("english", "multilingual")
    texts = [text_of(given.data / "text" / f"{name}-64mb.txt.xz", half) for name in names]
    size = sum(len(text.encode()) for text in texts) / 1e6
    parts = [part for text in texts for part in cut(text, LONGEST)]
    encoding_all = 0.0
    for name, tok in toks.items():
        seconds = best(given.runs, lambda tok=tok: tok.encode_batch(parts))  # type: ignore[misc]
        encoding_all += seconds
        print(f"{name:32} {seconds:6.2f} s  {size / seconds:6.1f} MB/s")
    with TemporaryDirectory() as folder:
        corpora = {}
        for name, text in zip(names, texts, strict=True):
            corpora[name] = Path(folder) / f"{name}.txt"
            corpora[name].write_bytes(text.encode())
        measuring = best(given.runs, lambda: analysis.compare(toks, corpora))
    print(f"encoding {size:.0f} MB with all      {encoding_all:6.2f} s")
    print(f"analysis.compare on all      {measuring:6.2f} s  {measuring / encoding_all:.2f} times")


if __name__ == "__main__":
    main()
