"""Trains a tokenizer and writes a token file as training scripts read it.

    python examples/tokens_for_training.py [FOLDER]

Look here for documents separated by an end token in one flat array, and for drawing a batch from
it without loading it.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import jeton
from jeton import samples

END = "<|endoftext|>"


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    texts = list(samples.read_all().values())
    tok = jeton.BPETrainer(vocab_size=2_000, pattern="gpt4", special_tokens=[END]).train(texts)
    tok.save(folder / "tokenizer.json")

    end = np.array([tok.special_tokens[END]])
    parts = [part for ids in tok.encode_batch(texts) for part in (ids, end)]
    np.save(folder / "tokens.npy", np.concatenate(parts).astype(np.uint16))

    tokens = np.load(folder / "tokens.npy", mmap_mode="r")
    length, rows = 16, 4
    starts = np.random.default_rng(0).integers(0, len(tokens) - length - 1, rows)
    inputs = np.stack([tokens[start : start + length] for start in starts])
    targets = np.stack([tokens[start + 1 : start + 1 + length] for start in starts])
    print(f"{len(tokens):,} tokens; a batch of {inputs.shape}, its first row:")
    print(repr(tok.decode(inputs[0])))
    assert (inputs[:, 1:] == targets[:, :-1]).all()


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "jeton-demo"))
