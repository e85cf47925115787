"""Writes python/jeton/samples/jeton-4k.json, the small tokenizer that ships with jeton.

Run it after a change of the sample texts: `python testdata/make_sample_tokenizer.py` prints the
sha256 that `python/jeton/loading/registry.py` has. `tests/loading/test_names.py` holds the file equal to it.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from pathlib import Path

import jeton
from jeton import samples

FILE = Path(__file__).parent.parent / "python/jeton/samples/jeton-4k.json"


def content() -> bytes:
    """The file: byte pair encoding, split as GPT-4 does, with the special tokens of ChatML."""
    trainer = jeton.BPETrainer(
        vocab_size=4096,
        pattern="gpt4",
        special_tokens=["<|endoftext|>", "<|im_start|>", "<|im_end|>"],
    )
    tok = trainer.train(samples.read_all().values())
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tokenizer.json"
        tok.save(path)
        value = json.loads(path.read_bytes())
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


if __name__ == "__main__":
    FILE.write_bytes(content())
    print(hashlib.sha256(FILE.read_bytes()).hexdigest())
