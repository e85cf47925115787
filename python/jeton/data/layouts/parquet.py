"""The layout of tables: a document is a row of `input_ids`.

`train-00000.parquet` has one column, `input_ids`, a list of 32-bit integers, compressed by
Zstandard. A row group ends with the document that fills 2²⁰ tokens, so that a slice of the tokens
decodes little. The metadata of the file say under `jeton` how many tokens each row group has, and
of which type they are; where that is missing, the whole file is decoded once when it is opened.
"""

from __future__ import annotations

import json
import re
from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from jeton.data.layouts.layout import BaseLayout, Spool, part_of
from jeton.data.layouts.shard import Ids, Shard, mapped, size_of
from jeton.errors import FormatError, UnsupportedError

__all__ = ["ParquetLayout"]

_COLUMN = "input_ids"
_GROUP = 1 << 20
"""How many tokens fill a row group."""
_KEPT = 4
"""How many decoded row groups a reader keeps."""


class ParquetLayout(BaseLayout):
    """Rows of ids."""

    name = "parquet"
    flat = False
    most_document = 2**31 - 1
    default_shard = 10**8

    def file(self, split: str, number: int | None) -> str:
        return f"{split}-{number or 0:05d}.parquet"

    def split_of(self, file: str) -> str | None:
        found = re.fullmatch(
            r"(\w+?)(-\d{5,}(-of-\d+)?)?\.parquet"
            r"|(part)-\d{5,}-[\w.-]+\.parquet",  # of Spark: number, name of the job, compression
            file,
        )
        return found[1] or found[4] if found else None

    def close(self, spool: Spool, main: Path, dtype: str, tokenizer: str) -> None:
        pyarrow, parquet = _pyarrow(main)
        tokens, ends = mapped(spool.tokens, dtype), mapped(spool.ends, "int64")
        groups = _groups(ends)
        counts = np.diff([int(ends[stop - 1]) for stop in groups], prepend=0).tolist()
        note = {"jeton": json.dumps({"dtype": dtype, "tokens": counts})}
        schema = pyarrow.schema([(_COLUMN, pyarrow.list_(pyarrow.int32()))], note)
        with parquet.ParquetWriter(part_of(main), schema, compression="zstd") as writer:
            done = at = 0
            for stop in groups:
                offsets = np.concatenate(([at], ends[done:stop])) - at
                values = tokens[at : int(ends[stop - 1])].astype(np.int32)
                column = pyarrow.ListArray.from_arrays(offsets.astype(np.int32), values)
                table = pyarrow.table([column], schema)
                writer.write_table(table, row_group_size=len(column))
                at, done = int(ends[stop - 1]), stop

    def open(self, file: Path, dtype: str | None) -> Shard:
        rows = _Rows(file, dtype)
        return Shard(file, rows, rows.ends)


def _groups(ends: npt.NDArray[np.int64]) -> list[int]:
    """Up to which document each row group goes."""
    stops: list[int] = []
    at = 0
    while not stops or stops[-1] < len(ends):
        stops.append(min(len(ends), int(np.searchsorted(ends, at + _GROUP)) + 1))
        at = int(ends[stops[-1] - 1])
    return stops


class _Rows:
    """The tokens of a table, sliced as one array; row groups are decoded as they are asked for."""

    def __init__(self, path: Path, dtype: str | None) -> None:
        size_of(path)
        self._path = path
        self._kept: OrderedDict[int, Any] = OrderedDict()
        self._opened: Any = None
        schema = self._file().schema_arrow
        kind = schema.field(_COLUMN).type if _COLUMN in schema.names else None
        if kind is None or not str(kind).startswith(("list<", "large_list<")):
            raise FormatError(f"{path}: has no column {_COLUMN!r} of lists")
        if str(kind.value_type) not in ("uint16", "int32", "uint32", "int64"):
            raise FormatError(
                f"{path}: column {_COLUMN!r} holds lists of {kind.value_type}, not ids"
            )
        counts = self._noted(schema.metadata or {})
        #: Where each row group begins, and the end.
        self._starts = np.concatenate(([0], np.cumsum(counts, dtype=np.int64)))
        self.dtype = np.dtype(dtype or self._dtype)

    def _noted(self, metadata: dict[bytes, bytes]) -> list[int]:
        groups = range(self._file().num_row_groups)
        self._dtype = "uint32"
        if b"jeton" not in metadata:
            return [len(self._group(number).flatten()) for number in groups]
        try:
            note = json.loads(metadata[b"jeton"])
            self._dtype = {"uint16": "uint16", "uint32": "uint32"}[note["dtype"]]
            counts = [int(count) for count in note["tokens"]]
        except (ValueError, KeyError, TypeError):
            counts = []
        if len(counts) != len(groups) or min(counts, default=0) < 0:
            raise FormatError(f"{self._path}: what it notes under 'jeton' does not fit its rows")
        return counts

    def __len__(self) -> int:
        return int(self._starts[-1])

    def __getitem__(self, window: slice) -> Ids:
        start, stop, step = window.indices(len(self))
        if step != 1:
            raise UnsupportedError("tokens of a table are sliced without a step")
        pieces = []
        group = int(np.searchsorted(self._starts, start, side="right")) - 1
        while start < stop:
            first, last = int(self._starts[group]), int(self._starts[group + 1])
            if start < last:
                pieces.append(self._tokens(group)[start - first : min(stop, last) - first])
            start, group = max(start, last), group + 1
        return np.concatenate(pieces) if pieces else np.empty(0, self.dtype)

    def ends(self) -> npt.NDArray[np.int64]:
        """The number of tokens up to the end of each row."""
        found = [np.empty(0, np.int64)]
        for number in range(len(self._starts) - 1):
            offsets = self._group(number).offsets.to_numpy(zero_copy_only=False)
            found.append(offsets[1:].astype(np.int64) - offsets[0] + self._starts[number])
        return np.concatenate(found)

    def _tokens(self, number: int) -> Ids:
        """The tokens of a row group, from those that are kept if it is there."""
        if number not in self._kept:
            ids = self._group(number).flatten().to_numpy(zero_copy_only=False)
            expected = int(self._starts[number + 1] - self._starts[number])
            limit = int(np.iinfo(self.dtype).max)
            if len(ids) != expected or (len(ids) and not 0 <= ids.min() <= ids.max() <= limit):
                raise FormatError(
                    f"{self._path}: row group {number} does not hold {self.dtype} ids"
                )
            self._kept[number] = ids.astype(self.dtype)
            if len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        self._kept.move_to_end(number)
        kept: Ids = self._kept[number]
        return kept

    def _group(self, number: int) -> Any:
        pyarrow, _ = _pyarrow(self._path)
        try:
            column = self._file().read_row_group(number, columns=[_COLUMN]).column(0)
        except (OSError, ValueError) as error:
            told = " ".join(str(error).split())
            raise FormatError(f"{self._path}: cannot be read: {told}") from None
        array = pyarrow.concat_arrays(column.chunks)
        if array.null_count or array.flatten().null_count:
            raise FormatError(f"{self._path}: row group {number} has nulls among its ids")
        return array

    def _file(self) -> Any:
        if self._opened is None:
            _, parquet = _pyarrow(self._path)
            try:
                self._opened = parquet.ParquetFile(self._path)
            except (OSError, ValueError) as error:
                raise FormatError(f"{self._path}: not a Parquet file: {error}") from None
        return self._opened

    def __getstate__(self) -> dict[str, Any]:
        # Workers open the file themselves.
        return {**self.__dict__, "_opened": None, "_kept": OrderedDict()}


def _pyarrow(path: Path) -> tuple[Any, Any]:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise UnsupportedError(
            f"{path}: Parquet is read and written by pyarrow (pip install 'jeton[parquet]')"
        ) from None
    return pyarrow, parquet
