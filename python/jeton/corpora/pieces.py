"""Pieces of a corpus, which are counted one by one and together hold every line once."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from jeton.corpora.corpus import kind_of
from jeton.stores.files import InputFile, StoreFile

_COMPRESSED = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"\xfd7zX")
"""The first bytes of gzip, Zstandard and xz files."""


@dataclass(frozen=True)
class CorpusPiece:
    """A file, or a range of its bytes: the lines that begin in it."""

    path: bytes
    """The bytes of the name: names of files need not be text."""
    start: int = 0
    stop: int = 0
    """0 for the whole file."""


def is_compressed(path: Path) -> bool:
    """Whether a file can only be read from its beginning, by its first bytes."""
    with path.open("rb") as file:
        return file.read(4).startswith(_COMPRESSED)


def pieces_of(
    files: Iterable[InputFile], size: int, field: str | None, *, unit: bool | str
) -> Iterator[CorpusPiece]:
    """Files in their order, those of lines in pieces of about `size` bytes.

    Tables, separated values and compressed files can only be read from their beginning, so they
    stay whole; so do texts whose lines are not documents, and files of stores.
    """
    for path in files:
        if isinstance(path, StoreFile):
            yield CorpusPiece(os.fsencode(path))
            continue
        total = path.stat().st_size
        kind = kind_of(path, field)
        is_whole = (
            kind in ("table", "delimited")
            or is_compressed(path)
            or (kind == "text" and unit is not True)
        )
        if total <= size or is_whole:
            yield CorpusPiece(os.fsencode(path))
            continue
        parts = -(-total // size)
        for part in range(parts):
            yield CorpusPiece(os.fsencode(path), total * part // parts, total * (part + 1) // parts)
