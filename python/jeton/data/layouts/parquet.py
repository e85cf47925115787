"""The layout of tables: a document is a row of `input_ids`.

`train-00000.parquet` has one column, `input_ids`, a list of 32-bit integers, compressed by
Zstandard. A row group ends with the document that fills 2²⁰ tokens, so that a slice of the tokens
decodes little. The metadata of the file have, under `jeton`, the number of tokens of each row group
and their type; without them the whole file is decoded once when it is opened. In tables of other
programs, ids may be in a column of another name, and lists of any integers.

With a loss mask there is a second column, `labels`: the id of each token that is learnt, and -100
elsewhere, for trainers that shift labels themselves. Then the metadata have `labels`.
"""

from __future__ import annotations

import json
import re
from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from jeton.corpora.tables import ARROW_ERRORS
from jeton.corpora.token_blocks.ids import Ids
from jeton.data.layouts.layout import BaseLayout, Spool, part_of
from jeton.data.layouts.shard import Shard, mapped, size_of
from jeton.data.masks import IGNORED
from jeton.errors import FormatError, JetonError, UnsupportedError

_COLUMN = "input_ids"
_LABELS = "labels"
_NO_IDS = (
    _LABELS,
    "attention_mask",
    "token_type_ids",
    "special_tokens_mask",
    "position_ids",
    "loss_mask",
    "assistant_masks",
)
"""Columns of numbers that tokenizers and trainers put beside ids."""
_GROUP = 1 << 20
"""Tokens that fill a row group."""
_KEPT = 4
"""Decoded row groups that a reader keeps."""


class ParquetLayout(BaseLayout):
    """Rows of ids."""

    name = "parquet"
    flat = False
    most_document = 2**31 - 1
    default_shard = 10**8
    holds_masks = True

    def file(self, split: str, number: int | None) -> str:
        return f"{split}-{number or 0:05d}.parquet"

    def split_of(self, file: str) -> str | None:
        match = re.fullmatch(
            r"(part)-\d{5,}-[\w.-]+\.parquet"  # of Spark: number, name of the job, compression
            r"|(?:\d+|([^/]+?)(-\d{5,}(-of-\d+(-\w+)?)?)?)\.parquet",
            file,
        )
        return match[1] or match[2] or "train" if match else None

    def __init__(self, column: str | None = None) -> None:
        self._column = column

    def of_column(self, column: str) -> ParquetLayout:
        return ParquetLayout(column)

    def close(self, spool: Spool, main: Path, dtype: str, tokenizer: str, masked: bool) -> None:
        pyarrow, parquet = pyarrow_for(main)
        tokens, ends = mapped(spool.tokens, dtype), mapped(spool.ends, "int64")
        groups: list[int] = []  # the number of documents up to the end of each row group
        at = 0
        while not groups or groups[-1] < len(ends):
            groups.append(min(len(ends), int(np.searchsorted(ends, at + _GROUP)) + 1))
            at = int(ends[groups[-1] - 1])
        counts = np.diff([int(ends[stop - 1]) for stop in groups], prepend=0).tolist()
        mask = mapped(spool.mask, "uint8") if masked else None
        note = {"dtype": dtype, "tokens": counts} | ({"labels": True} if masked else {})
        ids = pyarrow.list_(pyarrow.int32())
        names = [_COLUMN, _LABELS] if masked else [_COLUMN]
        schema = pyarrow.schema([(name, ids) for name in names], {"jeton": json.dumps(note)})
        with parquet.ParquetWriter(part_of(main), schema, compression="zstd") as writer:
            documents = at = 0
            for stop in groups:
                end = int(ends[stop - 1])
                offsets = (np.concatenate(([at], ends[documents:stop])) - at).astype(np.int32)
                columns = [tokens[at:end].astype(np.int32)]
                if mask is not None:
                    columns.append(np.where(mask[at:end], columns[0], np.int32(IGNORED)))
                lists = [pyarrow.ListArray.from_arrays(offsets, values) for values in columns]
                table = pyarrow.table(lists, schema)
                writer.write_table(table, row_group_size=len(offsets) - 1)
                at, documents = end, stop

    def open(self, file: Path, dtype: str | None) -> Shard:
        rows = TableTokens(file, dtype, self._column)
        return Shard(file, rows, rows.ends, _TableMask(file, dtype) if rows.has_labels else None)


def _column_of(path: Path, schema: Any, column: str | None) -> str:
    """The column that holds ids: the one named, `input_ids`, or the only possible one."""
    from pyarrow import types

    lists = {field.name: field.type for field in schema if _is_list(types, field.type)}
    ids = [name for name, kind in lists.items() if types.is_integer(kind.value_type)]
    chosen = column or _COLUMN
    if column is None and _COLUMN not in lists:
        others = [name for name in ids if name not in _NO_IDS]
        if len(others) > 1:
            raise FormatError(
                f"{path}: has several columns of lists of numbers, {', '.join(others)}; pass one "
                "as column="
            )
        chosen = others[0] if others else _COLUMN
    if chosen not in lists:
        has = ", ".join(map(repr, schema.names)) or "none"
        raise FormatError(f"{path}: has no column {chosen!r} of lists (its columns: {has})")
    if chosen not in ids:
        raise FormatError(
            f"{path}: column {chosen!r} holds lists of {lists[chosen].value_type}, not ids"
        )
    return chosen


def _is_list(types: Any, kind: Any) -> bool:
    return bool(types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind))


class TableTokens:
    """The tokens of a table, sliced as one array; row groups are decoded when needed."""

    def __init__(self, path: Path, dtype: str | None, column: str | None = None) -> None:
        size_of(path)
        self._path = path
        self._cache: OrderedDict[int, Any] = OrderedDict()
        self._opened: Any = None
        schema = self._schema()
        self.column = _column_of(path, schema, column)
        counts = self._noted(schema.metadata or {})
        #: Where each row group begins, and the end.
        self._starts = np.concatenate(([0], np.cumsum(counts, dtype=np.int64)))
        self.dtype = np.dtype(dtype or self._dtype)

    def _noted(self, metadata: dict[bytes, bytes]) -> list[int]:
        groups = range(self._group_count())
        self._dtype = "uint32"
        #: Whether labels say which tokens are learnt. Labels of other programs may mean anything.
        self.has_labels = False
        if b"jeton" not in metadata:
            return [len(self._group(number).flatten()) for number in groups]
        try:
            note = json.loads(metadata[b"jeton"])
            self._dtype = {"uint16": "uint16", "uint32": "uint32"}[note["dtype"]]
            counts = [int(count) for count in note["tokens"]]
            self.has_labels = note.get("labels") is True
        except (ValueError, KeyError, TypeError, RecursionError):
            counts = []
        if len(counts) != len(groups) or min(counts, default=0) < 0:
            raise FormatError(f"{self._path}: its metadata 'jeton' do not fit its rows")
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
        parts = [np.empty(0, np.int64)]
        for number in range(len(self._starts) - 1):
            offsets = self._group(number).offsets.to_numpy(zero_copy_only=False)
            parts.append(offsets[1:].astype(np.int64) - offsets[0] + self._starts[number])
        return np.concatenate(parts)

    def _tokens(self, number: int) -> Ids:
        """The tokens of a row group, from the cache if it is there."""
        if number not in self._cache:
            values = self._group(number).flatten().to_numpy(zero_copy_only=False)
            if len(values) != int(self._starts[number + 1] - self._starts[number]):
                raise FormatError(
                    f"{self._path}: row group {number} has {len(values):,} values in "
                    f"{self.column!r}, which is not its number of tokens"
                )
            self._cache[number] = self._read(number, values)
            if len(self._cache) > _KEPT:
                self._cache.popitem(last=False)
        self._cache.move_to_end(number)
        tokens: Ids = self._cache[number]
        return tokens

    def _read(self, number: int, values: npt.NDArray[np.integer]) -> Ids:
        """The content of a row group, from its values."""
        limit = int(np.iinfo(self.dtype).max)
        if len(values) and not 0 <= values.min() <= values.max() <= limit:
            raise FormatError(f"{self._path}: row group {number} does not hold {self.dtype} ids")
        ids: Ids = values.astype(self.dtype)
        return ids

    def _group(self, number: int) -> Any:
        pyarrow, _ = pyarrow_for(self._path)
        try:
            array = pyarrow.concat_arrays(self._chunks(number))
            array.validate()
            if pyarrow.types.is_fixed_size_list(array.type):
                array = array.cast(pyarrow.list_(array.type.value_type))
        except JetonError:
            raise
        except ARROW_ERRORS as error:
            reason = " ".join(str(error).split())
            raise FormatError(f"{self._path}: cannot be read: {reason}") from None
        if array.null_count or array.flatten().null_count:
            raise FormatError(f"{self._path}: row group {number} has nulls among its ids")
        return array

    def _schema(self) -> Any:
        return self._file().schema_arrow

    def _group_count(self) -> int:
        return int(self._file().num_row_groups)

    def _chunks(self, number: int) -> list[Any]:
        """The lists of a row group."""
        column = self._file().read_row_group(number, columns=[self.column]).column(0)
        return list(column.chunks) or [column.combine_chunks()]

    def _file(self) -> Any:
        if self._opened is None:
            try:
                self._opened = self._open()
            except JetonError:
                raise
            except ARROW_ERRORS as error:
                reason = " ".join(str(error).split())
                raise FormatError(f"{self._path}: not {self._kind}: {reason}") from None
        return self._opened

    _kind = "a Parquet file"

    def _open(self) -> Any:
        _, parquet = pyarrow_for(self._path)
        return parquet.ParquetFile(self._path)

    def __getstate__(self) -> dict[str, Any]:
        # Workers open the file themselves.
        return {**self.__dict__, "_opened": None, "_cache": OrderedDict()}


class _TableMask(TableTokens):
    """The loss mask of a table, from its labels."""

    def __init__(self, path: Path, dtype: str | None) -> None:
        super().__init__(path, dtype, _LABELS)
        self.dtype = np.dtype("uint8")

    def _read(self, number: int, values: npt.NDArray[np.integer]) -> Ids:
        mask: Ids = (values != IGNORED).astype(self.dtype)
        return mask


def pyarrow_for(path: Path) -> tuple[Any, Any]:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise UnsupportedError(
            f"{path}: Parquet needs pyarrow (pip install 'jeton[parquet]')"
        ) from None
    return pyarrow, parquet
