"""Keys of documents, which a part keeps so that `merge` can split and shuffle the whole set."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from jeton.corpora.token_blocks.blocks import Block
from jeton.data.layouts import Writer
from jeton.data.layouts.growing_file import GrowingFile
from jeton.data.preparing.sinks import Plain


class Keyed(Plain):
    """One split of all documents, and a file of their keys, little-endian numbers of 8 bytes."""

    FILE = "train.keys"

    def __init__(self, writer: Writer, folder: Path, state: dict[str, Any] | None) -> None:
        super().__init__(writer)
        self._keys = GrowingFile(folder / self.FILE, (0, 0) if state is None else state["keys"])
        self._keys.append(b"")

    def _take(self, block: Block) -> None:
        super()._take(block)
        self._keys.append(block.keys.astype("<u8").data)

    def state(self) -> dict[str, Any]:
        return {"keys": self._keys.state}

    def sync(self) -> None:
        self._keys.sync()

    def close(self) -> None:
        self._keys.close()
