"""Keys of documents, which a part keeps so that `merge` can split and shuffle the whole set."""

from __future__ import annotations

import os
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from jeton.corpora.token_blocks.blocks import Block
from jeton.data.layouts import Writer
from jeton.data.preparing.shuffling import check_sum
from jeton.data.preparing.sinks import Plain
from jeton.errors import FileError


class Keyed(Plain):
    """One split of all documents, and a file of their keys, little-endian numbers of 8 bytes."""

    FILE = "train.keys"

    def __init__(self, writer: Writer, folder: Path, state: dict[str, Any] | None) -> None:
        super().__init__(writer)
        self._path = folder / self.FILE
        self._count: int = 0 if state is None else state["keys"]
        self._sum: int = 0 if state is None else state["crc32"]
        try:
            with self._path.open("ab") as file:
                file.truncate(self._count * 8)
            check_sum(self._path, self._sum)
            self._file = self._path.open("ab")
        except OSError as error:
            raise FileError(f"{self._path}: cannot be written: {error.strerror}") from None

    def _take(self, block: Block) -> None:
        super()._take(block)
        try:
            data = np.ascontiguousarray(block.keys, "<u8").data
            self._file.write(data)
            self._sum = zlib.crc32(data, self._sum)
        except OSError as error:
            raise FileError(f"{self._path}: cannot be written: {error.strerror}") from None
        self._count += len(block.keys)

    def state(self) -> dict[str, Any]:
        return {"keys": self._count, "crc32": self._sum}

    def sync(self) -> None:
        self._file.flush()
        os.fsync(self._file.fileno())

    def close(self) -> None:
        self._file.close()
