"""The text of one file of a corpus, decompressed and decoded while it is read, for measures.

Look here for what a line of a file is; records are read by `jeton.corpora.documents`.
"""

from __future__ import annotations

import codecs
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import jeton._core as _core
from jeton.errors import FormatError

_READ: Final = 4 << 20
"""Bytes that are read at a time."""


class TextFile:
    """A text file that can be read once. `errors`: what to do with bytes that are not UTF-8:
    `"strict"`, `"replace"` or `"ignore"`.

    Attributes:
        read: The bytes of its content that were read so far, decompressed.
    """

    def __init__(self, path: Path, errors: str) -> None:
        self.path, self.read = path, 0
        self._contents = _core.FileContents(os.fspath(path))
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")(errors)

    def parts(self) -> Iterator[str]:
        """The text in parts of a few megabytes."""
        data = b"-"
        while data:
            data = self._contents.read(_READ)
            try:
                text = self._decoder.decode(data, not data)
            except UnicodeDecodeError as error:
                raise FormatError(
                    f"{self.path}: not UTF-8 near byte {self.read + error.start}",
                    hint='set errors="replace" or errors="ignore"',
                    parameter="errors",
                ) from None
            self.read += len(data)
            yield text

    def lines(self) -> Iterator[str]:
        """The lines with their ends; only `\\n` ends a line."""
        fragments = [""]
        for part in self.parts():
            first, *others = part.split("\n")
            fragments.append(first)
            if others:
                yield f"{''.join(fragments)}\n"
                *whole, last = others
                yield from (f"{line}\n" for line in whole)
                fragments = [last]
        if line := "".join(fragments):
            yield line

    def digest(self) -> tuple[int, bytes]:
        """The size of the file on the disk as far as it was read, and its SHA-256."""
        return self._contents.digest()
