"""Keys of documents, which a part keeps beside them: by these the whole is split and shuffled."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from jeton.data.layouts import Writer
from jeton.data.preparing.sinks import Plain
from jeton.errors import FileError
from jeton.token_blocks.blocks import Block

__all__ = ["Keyed"]


class Keyed(Plain):
    """One split of all documents, and a file of their keys, little-endian numbers of 8 bytes."""

    FILE = "train.keys"

    def __init__(self, writer: Writer, folder: Path, state: dict[str, Any] | None) -> None:
        super().__init__(writer)
        self._path = folder / self.FILE
        self._count = 0 if state is None else int(state["keys"])
        try:
            self._file = self._path.open("r+b" if self._count else "wb")
            self._file.truncate(self._count * 8)
            self._file.seek(0, os.SEEK_END)
        except OSError as error:
            raise FileError(f"{self._path}: cannot be written: {error.strerror}") from None

    def _take(self, block: Block) -> None:
        super()._take(block)
        try:
            self._file.write(np.ascontiguousarray(block.keys, "<u8").data)
        except OSError as error:
            raise FileError(f"{self._path}: cannot be written: {error.strerror}") from None
        self._count += len(block.keys)

    def state(self) -> dict[str, Any]:
        return {"keys": self._count}

    def sync(self) -> None:
        self._file.flush()
        os.fsync(self._file.fileno())

    def close(self) -> None:
        self._file.close()
