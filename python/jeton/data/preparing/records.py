"""Records from JSON lines, Parquet, tables, data sets and iterables, to be filtered and encoded."""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import jeton._core as _core
from jeton.corpora.corpus import kind_of
from jeton.corpora.dropped import RecordPlace
from jeton.corpora.tables import (
    ARROW_ERRORS,
    check_column,
    groups_from,
    is_table,
    opened_table,
    rows_at_once,
)
from jeton.corpora.token_blocks.blocks import (
    Block,
    Blocks,
    DocumentSource,
    Facts,
    SourcePosition,
    nothing,
)
from jeton.corpora.token_blocks.files import OfFiles, check_unchanged
from jeton.corpora.token_blocks.rows import Iterated, SlicedRows, table_of
from jeton.data.preparing.record_encoder import RecordEncoder, SourceRecord
from jeton.errors import (
    ArgumentError,
    FileError,
    FormatError,
    JetonError,
    UnsupportedError,
)
from jeton.files import digest_of
from jeton.stores.files import InputFile
from jeton.stores.local_copies import local_files

_AT_A_TIME = 1 << 20
"""Bytes that are read at a time."""
_ROWS = 256
"""Rows of a table that are read at a time."""


class _OfRecords(DocumentSource):
    """A source whose records are encoded by `_encoder`."""

    _encoder: RecordEncoder

    def close(self) -> None:
        self._encoder.close()

    def facts(self, end: SourcePosition, digests: Mapping[int, tuple[int, str]]) -> Facts:
        return super().facts(self._encoder.counted(end), digests)


class RecordFiles(_OfRecords, OfFiles):
    """Files of JSON lines and of Parquet. A place is that of `FileSource`."""

    def __init__(self, paths: list[InputFile], encoder: RecordEncoder, errors: str) -> None:
        super().__init__(paths)
        self._encoder, self._errors = encoder, errors
        # Tables that cannot be read are an error before any work.
        for path in paths:
            if isinstance(path, Path) and is_table(path):
                RecordTable(path, encoder.columns)
            elif kind_of(path) == "delimited":
                raise UnsupportedError(
                    f"{path}: separated values are not read as records with messages or filters; "
                    "write them as JSON lines or Parquet"
                )

    def blocks(self, start: SourcePosition) -> Blocks:
        progress = start
        first = start.place[0] if start.place else 0
        for here in local_files(self._paths, first):
            for number, path in enumerate(here.paths, here.first):
                with here.named():
                    progress = yield from self._of_file(number, path, progress)

    def _of_file(
        self, number: int, path: Path, progress: SourcePosition
    ) -> Generator[Block, None, SourcePosition]:
        place = progress.place if progress.place[:1] == (number,) else (number, 0, 0, 0)
        before = sum(self._sizes[:number])
        if is_table(path):
            table = RecordTable(path, self._encoder.columns)
            rows = self._of_table(number, path, table, place[1], before)
            digest = None
        else:
            digest = _core.FileContents(os.fspath(path))
            rows = self._of_lines(number, path, digest, place, before)
        for block in self._encoder.blocks(rows, progress):
            progress = block.after or progress
            yield block
        if digest is None:
            file_digest = digest_of(path)
            read, sha256 = file_digest.bytes, file_digest.sha256
        else:
            read, of_bytes = digest.digest()
            sha256 = of_bytes.hex()
        check_unchanged(self._paths[number], self._identities[number], read)
        after = replace(progress, place=(number + 1, 0, 0, 0))
        yield nothing(
            self._encoder.dtype, progress, after, before + read, ((number, read, sha256),)
        )
        return after

    def _of_table(
        self, number: int, path: Path, table: RecordTable, first: int, before: int
    ) -> Iterator[SourceRecord]:
        share = self._sizes[number] / max(1, table.rows)
        for row, record in enumerate(table.records(first), first):
            read = before + int(share * (row + 1))
            place = RecordPlace(str(self._paths[number]), "row", row)
            yield SourceRecord(place, (number, row + 1, 0, 0), read, record)

    def _of_lines(
        self,
        number: int,
        path: Path,
        contents: _core.FileContents,
        place: tuple[int, ...],
        before: int,
    ) -> Iterator[SourceRecord]:
        _, first, line, beginning = place
        position, sha256 = 0, hashlib.sha256()
        for text, end in _lines(contents):
            sha256.update(text)
            sha256.update(b"\n" * (end - position - len(text)))
            position = end
            if end < first:
                continue
            if end > first > position - len(text) or (
                end == first and _beginning(sha256) != beginning
            ):
                raise _change_error(path, first)
            if end == first:
                continue
            line += 1
            if text.strip():
                yield SourceRecord(
                    RecordPlace(str(self._paths[number]), "line", line),
                    (number, end, line, _beginning(sha256)),
                    before + contents.digest()[0],
                    self._record(text, line),
                )
        if position < first:
            raise _change_error(path, first)

    def _record(self, text: bytes, line: int) -> Any:
        """The value in a line, or the error of reading it."""
        if line == 1:
            text = text.removeprefix(b"\xef\xbb\xbf")
        try:
            record = json.loads(text.decode("utf-8", self._errors), object_pairs_hook=_object)
            if isinstance(record, dict):
                return record
            return FormatError(
                f"not a JSON object, but a value of type {type(record).__name__}",
                hint="JSON lines are one object each, not a list"
                if isinstance(record, list)
                else None,
            )
        except FormatError as error:
            return error
        except UnicodeDecodeError as error:
            return FormatError(
                f"not UTF-8: {error.reason} at byte {error.start} of the line",
                hint='set errors="replace" or errors="ignore"',
                parameter="errors",
            )
        except RecursionError:
            return FormatError("not a JSON object: it is nested too deeply")
        except ValueError as error:
            return FormatError(f"not a JSON object: {error} (each line must be a whole object)")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON; a repeated field is an error, because only one of its values counts."""
    found = dict(pairs)
    if len(found) < len(pairs):
        repeated, _ = Counter(name for name, _ in pairs).most_common(1)[0]
        raise FormatError(f"an object has the field {repeated!r:.60} twice")
    return found


def _beginning(sha256: Any) -> int:
    """The first eight bytes of the hash so far."""
    return int.from_bytes(sha256.digest()[:8], "big")


def _change_error(path: Path, read: int) -> FileError:
    return FileError(
        f"{path}: has changed in its first {read:,} bytes, which were read already (restore it, or "
        "start again)"
    )


def _lines(contents: _core.FileContents) -> Iterator[tuple[bytes, int]]:
    """The lines of a file, decompressed, each with the position after it in bytes."""
    end, parts = 0, list[bytes]()
    while chunk := contents.read(_AT_A_TIME):
        *whole, rest = chunk.split(b"\n")
        for line in whole:
            parts.append(line)
            text = b"".join(parts)
            parts = []
            end += len(text) + 1
            yield text, end
        parts.append(rest)
    if last := b"".join(parts):
        yield last, end + len(last)


class RecordTable:
    """Columns of a Parquet file; a missing file or column is an error at once."""

    def __init__(self, path: Path, columns: list[str] | None) -> None:
        self._file, names = opened_table(path)
        self._path = path
        columns = names if columns is None else columns
        for name in columns:
            check_column(f"{path}: ", name, names)
        self._columns = columns
        self._max_rows = min(_ROWS, rows_at_once(path, self._file.metadata, columns))
        self.rows = int(self._file.metadata.num_rows)

    def records(self, first: int) -> Iterator[dict[str, Any]]:
        """The rows from `first` on."""
        groups_to_read, first = groups_from(self._file, first)
        try:
            for batch in self._file.iter_batches(
                batch_size=self._max_rows, row_groups=groups_to_read, columns=self._columns
            ):
                records = batch.slice(first).to_pylist()
                first = max(0, first - len(batch))
                yield from records
        except ARROW_ERRORS as error:
            if isinstance(error, JetonError):
                raise
            reason = " ".join(str(error).split())
            raise FormatError(f"{self._path}: cannot be read: {reason}") from None


class RecordItems(Iterated, _OfRecords):
    """An iterable of records."""

    def __init__(self, items: Iterable[object], encoder: RecordEncoder) -> None:
        super().__init__(items, "records")
        self._encoder = encoder

    def blocks(self, start: SourcePosition) -> Blocks:
        before = start.place[0] if start.place else 0
        items = self._from(before)
        rows = (
            SourceRecord(RecordPlace(None, "record", at), (at + 1,), record=it)
            for at, it in enumerate(items, before)
        )
        return self._encoder.blocks(rows, start)


class RecordRows(_OfRecords):
    """A table of Arrow, or a Hugging Face data set. A place is a row."""

    def __init__(self, rows: SlicedRows[list[dict[str, Any]]], encoder: RecordEncoder) -> None:
        self._rows, self._encoder = rows, encoder

    def identity(self) -> list[dict[str, object]]:
        return [self._rows.identity]

    def blocks(self, start: SourcePosition) -> Blocks:
        first, count = start.place[0] if start.place else 0, self._rows.count
        rows = (
            SourceRecord(RecordPlace(None, "row", at + number), (at + number + 1,), record=record)
            for at in range(first, count, _ROWS)
            for number, record in enumerate(self._rows.slice(at, min(at + _ROWS, count)))
        )
        return self._encoder.blocks(rows, start)


def rows_of(data: Any, encoder: RecordEncoder) -> SlicedRows[list[dict[str, Any]]] | None:
    """The rows of a table of Arrow or of a data set, as records; `None` if it is neither."""
    table = table_of(data)
    if table is None:
        return None
    if table.is_column:
        raise ArgumentError("data is a single column, not a table with columns")
    columns = table.names if encoder.columns is None else encoder.columns
    for name in columns:
        check_column("data: ", name, table.names)
    rows = table.select(columns)
    identity = {**table.identity, "columns": columns, "rows": table.count}
    return SlicedRows(table.count, lambda at, end: list(rows(at, end).to_pylist()), identity)
