"""Data sets of Hugging Face's `datasets` as `save_to_disk` writes them; read-only here.

A folder has `data-00000-of-00002.arrow`, … : streams of Arrow, mapped into memory, with a row per
document, and a `state.json` that lists them. In a dictionary of data sets each split has its own
folder.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from jeton.data.layouts.layout import BaseLayout
from jeton.data.layouts.parquet import TableTokens, pyarrow_for
from jeton.data.layouts.shard import Shard


class SavedDatasetLayout(BaseLayout):
    """Streams of Arrow with rows of ids."""

    name = "datasets"
    index = "state.json"

    def __init__(self, column: str | None = None) -> None:
        self._column = column

    def of_column(self, column: str) -> SavedDatasetLayout:
        return SavedDatasetLayout(column)

    def file(self, split: str, number: int | None) -> str:
        return f"{split}/data-{number or 0:05d}-of-00001.arrow"

    def split_of(self, file: str) -> str | None:
        # Beside the data are cached results.
        match = re.fullmatch(r"(?:([^/]+)/)?(?!cache-|tmp)[^/]+\.arrow", file)
        return (match[1] or "train") if match else None

    def listed(self, index: Any) -> Iterator[tuple[str, int]]:
        for file in index["_data_files"]:
            yield file["filename"], 0

    def open(self, file: Path, dtype: str | None) -> Shard:
        rows = _Batches(file, dtype, self._column)
        return Shard(file, rows, rows.ends)


class _Batches(TableTokens):
    """The tokens of a stream of Arrow; a group is a batch of it."""

    _kind = "a stream of Arrow"

    def _open(self) -> Any:
        pyarrow, _ = pyarrow_for(self._path)
        with pyarrow.memory_map(str(self._path)) as source:
            return pyarrow.ipc.open_stream(source).read_all()

    def _schema(self) -> Any:
        return self._file().schema

    def _group_count(self) -> int:
        return int(self._file().column(self.column).num_chunks)

    def _chunks(self, number: int) -> list[Any]:
        return [self._file().column(self.column).chunk(number)]
