"""A map of what a tiny GPT has learned of its tokens: near ones are used alike.

    python examples/tiny_gpt/embeddings.py runs/bpe-1024-rotary map.svg --text input.txt

The run is one of `train.py` or `compare.py`; the tokens are those most frequent in the text.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import torch

import jeton
from jeton import nn


def main(given: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("run", type=Path)
    parser.add_argument("picture", type=Path, help=".svg or .png")
    parser.add_argument("--text", type=Path, required=True)
    parser.add_argument("--tokens", type=int, default=160)
    parser.add_argument("--method", choices=("pca", "tsne"), default="tsne")
    options = parser.parse_args(given)
    saved = torch.load(options.run / "checkpoint.pt", weights_only=True)
    tok = jeton.load(options.run / "tokenizer.json")
    ids = tok.encode_array(options.text.read_text(encoding="utf-8"))
    counts = np.bincount(ids, minlength=tok.vocab.max_id + 1)
    frequent = np.argsort(-counts, kind="stable")[: options.tokens].tolist()
    found = nn.embedding_map(
        saved["model"]["tokens.weight"],
        tok,
        frequent,
        method=options.method,
        perplexity=min(15.0, len(frequent) / 4),
    )
    found.save(options.picture, title=f"The {len(frequent)} most frequent tokens")


if __name__ == "__main__":
    main()
