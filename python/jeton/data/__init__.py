"""Data sets of tokens: from a tokenizer and a corpus to what a training loop reads.

`layouts` are the file formats, each with a writer and a reader.
"""

from __future__ import annotations

from jeton.data import layouts

__all__ = ["layouts"]
