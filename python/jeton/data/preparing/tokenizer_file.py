"""Saves the tokenizer of a set in its folder, so that the set can be decoded."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import jeton._core as _core
from jeton.errors import FileError, JetonError
from jeton.tokenizer import Tokenizer

NAMES = ("tokenizer.json", "tokenizer.model", "tokenizer.tiktoken", "vocab.txt")
"""The name of the file, by format."""


def saved_tokenizer(
    tokenizer: Tokenizer, name: str, folder: Path
) -> tuple[dict[str, Any], list[str]]:
    """The entry of the manifest for a tokenizer, and the file that it was saved to.

    It is saved in the first format from which the same tokenizer is loaded again, if there is one.
    """
    entry: dict[str, Any] = {"name": name} if name else {}
    entry.update(
        digest=tokenizer.digest, vocab_size=tokenizer.vocab_size, max_id=tokenizer.vocab.max_id
    )
    for file in NAMES:
        path = folder / file
        try:
            tokenizer.save(path, lossy=True)  # loading shows whether something was left out
            core, *_ = _core.load(os.fspath(path), None, None, None, None, None)  # without warnings
            if Tokenizer._of_core(core) == tokenizer:
                return {**entry, "file": file}, [file]
        except FileError:
            path.unlink(missing_ok=True)
            raise
        except JetonError:
            pass  # the format cannot hold this tokenizer
        path.unlink(missing_ok=True)
    return entry, []
