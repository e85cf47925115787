"""Columns of text in tables: in Parquet files, and in arrays of Arrow.

Look here for what a column of text is, for the bounds on a hostile file (its longest text, its row
groups), and for cells that are not UTF-8.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from jeton.arguments import suggestion
from jeton.corpora.dropped import DroppedRecord, RecordPlace
from jeton.errors import FormatError, MissingFileError, UnsupportedError
from jeton.files import opened, refuse_not_fetched
from jeton.stores.files import InputFile

_LONGEST_CELL = 64 << 20
"""Maximum bytes of a text in a table, as in a line of JSON: a small file may expand to any size."""
ROWS = 256
"""Maximum rows decoded at a time: all may have the longest text of a dictionary."""
_SHOWN = 20
"""Names of columns that an error shows."""
_MAX_UNPACKED = 200
"""Maximum bytes that one byte of a large row group may expand to."""
_BYTES_AS_TEXT = {
    "binary": "string",
    "large_binary": "large_string",
    "binary_view": "string_view",
}
"""Types of columns with UTF-8 that some writers do not mark as text, and the types of text."""
_DICTIONARY = re.compile(rb"\x15\x04\x15([\x80-\xff]{0,4}[\0-\x7f])")
"""The start of a dictionary page in Parquet: its kind, and its unpacked size in zigzag."""

ARROW_ERRORS = (OSError, ValueError, LookupError, TypeError, ArithmeticError, MemoryError)
"""Errors that pyarrow raises for damaged files."""


def is_table(path: InputFile) -> bool:
    return path.suffix.lower() == ".parquet"


def rows_at_once(path: Path, metadata: Any, columns: Iterable[str]) -> int:
    """The maximum rows of a table to decode at a time, according to its metadata."""
    names, dictionary = set(columns), 1
    with opened(path) as file:
        for number in range(metadata.num_row_groups):
            try:
                group = metadata.row_group(number)
                parts = [group.column(at) for at in range(group.num_columns)]
                parts = [it for it in parts if it.path_in_schema.split(".")[0] in names]
                dictionary = max(dictionary, sum(_dictionary_size(file, it) for it in parts))
            except ARROW_ERRORS as error:
                reason = " ".join(str(error).split())
                raise FormatError(f"{path}: row group {number} is damaged: {reason}") from None
            size = sum(it.total_uncompressed_size for it in parts)
            if size > _LONGEST_CELL * max(1, group.num_rows):
                raise _too_long(path, f"row group {number}")
            packed = sum(it.total_compressed_size for it in parts)
            if size > max(4 * _LONGEST_CELL, _MAX_UNPACKED * packed):
                raise UnsupportedError(
                    f"{path}: row group {number} has {size:,} bytes of text in {packed:,} bytes of "
                    "the file; write it in smaller row groups"
                )
    return max(1, min(ROWS, _LONGEST_CELL // dictionary))


def _dictionary_size(file: BinaryIO, part: Any) -> int:
    """Unpacked bytes of the dictionary of a part of a column; 0 if it has none."""
    starts = (part.dictionary_page_offset, part.data_page_offset)
    file.seek(max(0, min(it for it in starts if it is not None)))
    match = _DICTIONARY.match(file.read(8))
    digits: bytes = match[1] if match else b""
    return sum((digit & 127) << 7 * at for at, digit in enumerate(digits)) >> 1


def _too_long(path: Path, place: str) -> UnsupportedError:
    return UnsupportedError(
        f"{path}: {place} has a text of more than {_LONGEST_CELL / 1e6:.0f} MB; split it, or write "
        "it as a file of text"
    )


def opened_table(path: Path) -> tuple[Any, list[str]]:
    """A `pyarrow.parquet.ParquetFile` and the names of its columns.

    Raises:
        MissingFileError: There is no such file.
        FormatError: It is not a Parquet file.
        UnsupportedError: pyarrow is not installed.
    """
    try:
        from pyarrow import parquet
    except ImportError:
        raise UnsupportedError(
            f"{path}: reading Parquet needs pyarrow (pip install 'jeton[parquet]')"
        ) from None
    try:
        file = parquet.ParquetFile(path, buffer_size=1 << 16)
        return file, file.schema_arrow.names
    except FileNotFoundError:
        raise MissingFileError(f"{path}: there is no such file") from None
    except ARROW_ERRORS as error:
        refuse_not_fetched(path)
        reason = " ".join(str(error).split())
        raise FormatError(f"{path}: not a Parquet file: {reason}") from None


def check_column(place: str, name: str, names: list[str]) -> None:
    """Refuses the name of no column, or of several, among these of a table at `place`."""
    if names.count(name) > 1:
        raise FormatError(f"{place}there is more than one column {name!r} (rename all but one)")
    if name not in names:
        raise FormatError(f"{place}there is no column {name!r} ({names_hint(name, names)})")


def names_hint(name: str, names: Sequence[str]) -> str:
    """What an error advises that finds no such name among those of columns or fields.

    >>> names_hint("texts", ["id", "text"]), names_hint("body", ["id", "text"])
    ("did you mean 'text'?", 'it has id, text')
    """
    first, more = ", ".join(names[:_SHOWN]) or "none", len(names) - _SHOWN
    return suggestion(name, names) or f"it has {first}" + f" and {more:,} more" * (more > 0)


def groups_from(file: Any, first: int) -> tuple[list[int], int]:
    """The groups of rows of a Parquet file from row `first` on, and the rows of them before it."""
    skipped = 0
    while skipped < file.num_row_groups and file.metadata.row_group(skipped).num_rows <= first:
        first -= file.metadata.row_group(skipped).num_rows
        skipped += 1
    return list(range(skipped, file.num_row_groups)), first


def check_text_type(place: str, kind: Any) -> None:
    """Raises an error unless an Arrow type holds text, as str or as bytes."""
    from pyarrow import types

    values = getattr(kind, "storage_type", kind)  # JSON is a type of its own, stored as text
    values = values.value_type if types.is_dictionary(values) else values
    if str(values) not in ("null", *_BYTES_AS_TEXT, *_BYTES_AS_TEXT.values()):
        raise FormatError(f"{place} holds {kind}, not text")


def as_text(column: Any) -> Any:
    """A column of texts or of their bytes as one of texts, which may not be UTF-8. Its size is that
    of its texts, also if it was a dictionary."""
    if getattr(column, "chunks", None):
        return _chunked([as_text(chunk) for chunk in column.chunks])
    column = getattr(column, "storage", column)
    if hasattr(column, "dictionary"):
        values = column.dictionary
        if "_view" in str(values.type):  # pyarrow cannot take these
            values = values.cast("large_binary")
        column = values.take(column.indices)
    kind = _BYTES_AS_TEXT.get(str(column.type))
    return column if kind is None else column.view(kind)


def texts_of_cells(
    column: Any,
    errors: str,
    place: str,
    first: int = 0,
    bad_cells: list[DroppedRecord] | None = None,
    path: str | None = None,
) -> list[str]:
    """The texts of a column that `as_text` gave; null cells are left out.

    Args:
        errors: What happens to bytes that are not UTF-8.
        place: The beginning of errors.
        first: The number of the first row.
        bad_cells: Takes the cells that are not UTF-8, to leave them out.
        path: The file that the column is from, for these.
    """
    try:
        return [text for text in column.to_pylist() if text is not None]
    except UnicodeDecodeError as error:
        if errors == "strict" and bad_cells is None:
            raise FormatError(
                f"{place}row {first} or one soon after it is not UTF-8: {error.reason}",
                hint='set errors="replace" or errors="ignore"',
                parameter="errors",
            ) from None
    texts = []
    for row, value in enumerate(column.cast("large_binary").to_pylist(), first):
        try:
            if value is not None:
                texts.append(value.decode("utf-8", errors))
        except UnicodeDecodeError:
            assert bad_cells is not None
            bad_cells.append(DroppedRecord(RecordPlace(path, "row", row), "it is not UTF-8"))
    return texts


class ParquetColumn:
    """A column of a Parquet file; a missing file or column is an error at once."""

    def __init__(self, path: Path, column: str, errors: str, drops_bad: bool = False) -> None:
        self._table, names = opened_table(path)
        self._path, self._column, self._errors = path, column, errors
        self._drops_bad = drops_bad
        #: The cells that were left out because they are not UTF-8.
        self.dropped: list[DroppedRecord] = []
        self._read = 0
        check_column(f"{path}: ", column, names)
        check_text_type(f"{path}: column {column!r}", self._table.schema_arrow.field(column).type)
        self._max_rows = rows_at_once(path, self._table.metadata, [column])

    def share(self) -> float:
        """The approximate number of bytes of the file that were read."""
        rows: int = self._table.metadata.num_rows
        return self._path.stat().st_size * self._read / max(1, rows)

    @property
    def rows(self) -> int:
        """The number of rows."""
        return int(self._table.metadata.num_rows)

    def columns(self, size: int, first: int = 0) -> Iterator[Any]:
        """The column from row `first` on, as arrays of Arrow of about `size` bytes."""
        groups = [self._table.metadata.row_group(at) for at in range(self._table.num_row_groups)]
        bytes_of_rows = sum(group.total_byte_size for group in groups)
        rows = max(1, min(self._max_rows, size * self.rows // max(1, bytes_of_rows)))
        groups_to_read, first = groups_from(self._table, first)
        waiting: list[Any] = []
        for array in self._arrays(rows, groups_to_read):
            if first < len(array):
                waiting.append(array[first:])
            first = max(0, first - len(array))
            if sum(some.nbytes for some in waiting) >= size:
                yield _chunked(waiting)
                waiting = []
        if waiting:
            yield _chunked(waiting)

    def texts(self, size: int) -> Iterator[str]:
        """The texts; null cells are left out."""
        bad = self.dropped if self._drops_bad else None
        for array in self._arrays(max(1, min(self._max_rows, size >> 12))):
            first = self._read
            self._read += len(array)
            path = os.fspath(self._path)
            yield from texts_of_cells(array, self._errors, f"{path}: ", first, bad, path)

    def _arrays(self, rows: int, groups: list[int] | None = None) -> Iterator[Any]:
        batches = self._table.iter_batches(
            batch_size=rows, row_groups=groups, columns=[self._column]
        )
        while True:
            try:
                batch = next(batches, None)
                if batch is None:
                    return
                column = batch.column(0)
                column.validate()
                column = as_text(column)
            except ARROW_ERRORS as error:
                reason = " ".join(str(error).split())
                raise FormatError(f"{self._path}: cannot be read: {reason}") from None
            if column.nbytes > _LONGEST_CELL:
                self._check_cells(column)
            yield column

    def _check_cells(self, column: Any) -> None:
        import pyarrow
        from pyarrow import compute

        lengths = compute.binary_length(column.cast(pyarrow.large_binary()))
        if (compute.max(lengths).as_py() or 0) > _LONGEST_CELL:
            raise _too_long(self._path, f"one of {len(column):,} rows")


def _chunked(arrays: list[Any]) -> Any:
    """The arrays of a column as one array."""
    if len(arrays) == 1:
        return arrays[0]
    import pyarrow

    return pyarrow.chunked_array(arrays)
