"""Corpora: iterables of texts, or files, that trainers count and token sets encode.

Look here for which objects are a corpus (`paths_or_texts`) and what a file holds (`kind_of`); all
readers of corpora use these. Progress of counting and columns of Parquet are here too.
"""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, groupby, islice
from pathlib import Path
from typing import Any, BinaryIO, Literal, TypeAlias

import jeton._core as _core
from jeton.arguments import check_kind, checked_errors, checked_iterable, checked_path, suggestion
from jeton.corpora.dropped import DroppedRecord, DroppedRecords, RecordPlace
from jeton.errors import (
    ArgumentError,
    ArgumentTypeError,
    FormatError,
    MissingFileError,
    TrainingWarning,
    UnsupportedError,
    warn_caller,
)
from jeton.files import expanded, opened, refuse_not_fetched
from jeton.stores.files import InputFile, StoreFile, listed
from jeton.stores.local_copies import local_files
from jeton.stores.urls import StorePath, is_url

TextsOrFiles: TypeAlias = "str | os.PathLike[str] | Iterable[str] | Iterable[os.PathLike[str]]"
"""A corpus: texts, or files by a path, a pattern of paths, or several paths; also by URLs."""

_SURROGATE = re.compile("[\ud800-\udfff]")
_BATCH_CHARACTERS = 4_000_000
"""Text that is counted at a time: enough for all cores, little enough to notice Ctrl-C."""

_BATCHES = 64
"""A batch is one of this many parts of the memory budget: a character can take 7 bytes."""


@dataclass(frozen=True)
class Progress:
    """The progress of training: the argument of `watch`.

    The phases are `counting`; then `merging` (BPE and WordPiece), or `seeding` and `fitting`
    (Unigram). In the last step of a phase, `done` equals `total`. `modelling` is the training of
    small models that judge tokenizers (`jeton.analysis.compare`).

    Example:
        >>> import jeton
        >>> steps = []
        >>> tok = jeton.BPETrainer(258).train(["hello hello help"], watch=steps.append)
        >>> steps[1]
        Progress(phase='counting', done=16, total=16, text=16)
        >>> steps[-1]
        Progress(phase='merging', done=258, total=258, text=0)
    """

    phase: Literal["counting", "merging", "seeding", "fitting", "modelling"]
    """The current work."""
    done: int
    """When counting, the bytes of files or texts that were read; when merging, tokens; otherwise
    steps."""
    total: int
    """The final value of `done`, as far as known: 0 while texts or a pipe are counted."""
    text: int = 0
    """Bytes of text that were counted: more than `done` if files are compressed, or not yet read to
    their end."""


def check_watch(watch: object) -> None:
    """Fails, before any work, unless `watch` is callable or `None`."""
    if watch is not None and not callable(watch):
        raise ArgumentTypeError(f"watch must be callable or None, not {type(watch).__name__}")


def unit_of(documents: object) -> bool | str:
    """Whether documents of a text file are its lines, not the file; or the text between them."""
    if isinstance(documents, str) and documents in ("file", "line"):
        return documents == "line"
    # Misspelled words are not taken for separators.
    if not isinstance(documents, str) or not documents or documents.isalpha():
        raise ArgumentError(
            'documents must be "file", "line", or the text between two documents, such as "\\n\\n" '
            f'or "<|endoftext|>", not {documents!r}'
        )
    return documents


def drops_bad(bad_records: object) -> bool:
    """Whether records that cannot be read are left out."""
    if not isinstance(bad_records, str) or bad_records not in ("error", "drop"):
        raise ArgumentError(f'bad_records must be "error" or "drop", not {bad_records!r}')
    return bad_records == "drop"


def kind_of(
    path: InputFile | StorePath, field: str | None = None
) -> Literal["table", "delimited", "records", "text"]:
    """What a file holds, by its name: a Parquet table, CSV or TSV, JSON lines, or text.

    Args:
        path: The file; a final `.gz`, `.zst` or `.xz` is ignored.
        field: The field of records, if there is one: then files of text are JSON lines.

    Example:
        >>> names = ["a.parquet", "a.csv.xz", "a.jsonl.zst", "a.txt.gz"]
        >>> [kind_of(Path(name)) for name in names]
        ['table', 'delimited', 'records', 'text']
        >>> kind_of(Path("a.txt"), field="body")
        'records'
    """
    name = path.name if isinstance(path, StoreFile) else os.fspath(path)
    return _core.file_kind(name, field is not None)


def warn(message: str) -> None:
    """Warns about a corpus in training, at the line that called jeton."""
    warn_caller(message, TrainingWarning)


def count(
    counter: _core.WordCounter,
    data: TextsOrFiles,
    *,
    field: str | None,
    errors: str,
    documents: str,
    bad_records: str = "error",
    memory: int | None,
    watch: Callable[[Progress], None] | None,
) -> DroppedRecords:
    """Counts the words of a corpus: of texts, or of files on all cores.

    Returns:
        The records, rows, lines and texts that were left out as unreadable.
    """
    if field is not None:
        check_kind("field", field, str, "a str or None")
    checked_errors(errors)
    unit, drop = unit_of(documents), drops_bad(bad_records)
    dropped = DroppedRecords()
    bad_cells: list[DroppedRecord] | None = [] if drop else None
    paths, texts = paths_or_texts(data, field, errors, bad_cells)
    if unit and not paths:
        raise ArgumentError("documents is for files, and data holds texts; leave it out")
    counting = _CountingProgress(watch, sum(map(size_of, paths)))
    size = _BATCH_CHARACTERS
    if memory is not None:
        size = min(size, memory // _BATCHES)
    number = 0
    for batch in batches(texts, size):
        read = batch
        if drop and errors == "strict":
            bad = [not text.isascii() and bool(_SURROGATE.search(text)) for text in batch]
            read = [text for text, is_bad in zip(batch, bad, strict=True) if not is_bad]
            dropped.add(
                DroppedRecord(RecordPlace(None, "document", number + at), "it has a lone surrogate")
                for at, is_bad in enumerate(bad)
                if is_bad
            )
        counting.texts(counter.count(read, number, errors))
        number += len(batch)
    dropped.add(bad_cells or [])
    # Tables that cannot be read are an error before any work.
    tables = {
        path: ParquetColumn(path, field or "text", errors, drop)
        for path in paths
        if isinstance(path, Path) and is_table(path)
    }
    for here in local_files(paths):
        with here.named():
            for of_tables, run in groupby(here.paths, is_table):
                files = list(run)
                if not of_tables:
                    names = [os.fspath(path) for path in files]
                    left_out = dropped.of_core(here.name) if drop else None
                    counter.count_files(names, field, errors, unit, left_out, counting.files)
                    counting.finished(files)
                    continue
                for path in files:
                    table = tables.get(path) or ParquetColumn(path, field or "text", errors, drop)
                    for batch in batches(table.texts(size), size):
                        counting.table(counter.count(batch, 0, errors), table.share())
                    dropped.add(record.named(here.name) for record in table.dropped)
                    counting.finished([path])
    counting.end()
    return dropped


class _CountingProgress:
    """Reports the progress of counting, over several runs of files."""

    def __init__(self, watch: Callable[[Progress], None] | None, total: int) -> None:
        self._watch = watch
        self._total = total
        #: The bytes of text, and of files, in everything that is finished.
        self._text = self._read = 0
        #: The bytes of text in what is not finished.
        self._running = 0

    def _tell(self, read: int) -> None:
        if self._watch is not None:
            self._watch(Progress("counting", read, self._total, self._text + self._running))

    def texts(self, size: int) -> None:
        self._text += size
        self._read += size
        self._tell(self._read)

    def table(self, size: int, share: float) -> None:
        self._running += size
        self._tell(self._read + int(share))

    def files(self, text: int, read: int) -> None:
        self._running = text
        self._tell(self._read + read)

    def finished(self, files: list[Path]) -> None:
        self._text += self._running
        self._running = 0
        self._read += sum(map(size_of, files))

    def end(self) -> None:
        # Pipes and texts have no size before they are read.
        self._total = self._read = self._read if self._total else self._text
        self._tell(self._read)


def files_of(data: Any) -> list[InputFile] | None:
    """The files of a corpus; `None` if it holds texts."""
    return paths_or_texts(data)[0] or None


def paths_or_texts(
    data: TextsOrFiles,
    field: str | None = None,
    errors: str = "strict",
    bad_cells: list[DroppedRecord] | None = None,
) -> tuple[list[InputFile], Iterator[str]]:
    """The files of a corpus, or its texts; the first item of an iterable decides which.

    Items that are records, and tables and data sets, have their text in `field`, by default `text`.

    Args:
        errors: What happens to bytes in a column of Arrow that are not UTF-8.
        bad_cells: Takes the cells of such a column that are not UTF-8, to leave them out.
    """
    if isinstance(data, (str, os.PathLike)):
        one = data if isinstance(data, StoreFile) else checked_path("data", data, urls=True)
        return _files([one], is_str=isinstance(data, str)), iter(())
    if isinstance(data, (list, tuple)) and data and all(map(names_a_file, data)):
        raise ArgumentError(
            f"data is a list of texts, and each is also the path of a file, such as {data[0]!r}: "
            "wrap them in pathlib.Path for the files, or pass iter(data) for the texts"
        )
    if (texts := _texts_of_column(data, field, errors, bad_cells)) is not None:
        return [], texts
    data = checked_iterable("data", data, "an iterable of texts or a path", but=(bytes, bytearray))
    if isinstance(data, Mapping) and isinstance(next(iter(data.values()), None), int):
        raise ArgumentError(
            "data maps words to counts, which texts do not have: pass WordCounts(data), or "
            "list(data) for texts"
        )
    if isinstance(data, Mapping) and hasattr(next(iter(data.values()), None), "column_names"):
        raise ArgumentError(f"data has the splits {', '.join(map(repr, data))}: pass one of them")
    items: Iterator[object] = iter(data)
    first = list(islice(items, 1))
    items = chain(first, items)
    if first and isinstance(first[0], Mapping):
        return [], _texts_of_records(items, field or "text")
    if not first or not isinstance(first[0], os.PathLike):
        if field is not None:
            raise ArgumentError(
                "field is for files of JSON lines, tables and records, and data holds texts; "
                "leave it out"
            )
        return [], _checked(items)
    paths: list[str | StoreFile] = []
    for number, path in enumerate(items):
        if not isinstance(path, os.PathLike):
            raise ArgumentTypeError(
                f"item {number} of data must be a path like the first, not {type(path).__name__}"
            )
        if isinstance(path, StoreFile):
            paths.append(path)
        else:
            paths.append(checked_path(f"item {number} of data", path, urls=True))
    if isinstance(data, (set, frozenset)):
        paths.sort(key=os.fspath)
    return _files(paths), iter(())


def names_a_file(text: object) -> bool:
    return isinstance(text, str) and len(text) < 1_000 and "\0" not in text and os.path.isfile(text)


def text_or_data(data: object) -> Any:
    """`data`, with a `str` as a corpus of that one text."""
    if not isinstance(data, str):
        return data
    if names_a_file(data):
        raise ArgumentError(
            f"{data!r} is a text, and the path of a file too: pass pathlib.Path({data!r}) for the "
            f"file, or [{data!r}] for the text"
        )
    return iter([data])


def _texts_of_column(
    data: object, field: str | None, errors: str, bad_cells: list[DroppedRecord] | None
) -> Iterator[str] | None:
    """The texts in a column of Arrow or of a data set; `None` if the data is something else."""
    if isinstance(data, Mapping):  # such as the splits of a data set
        return None
    from jeton.corpora.token_blocks.rows import column_rows

    rows = column_rows(data, field)
    if rows is None:
        return None

    def texts() -> Iterator[str]:
        for first in range(0, rows.count, _ROWS):
            column = rows.slice(first, min(first + _ROWS, rows.count))
            check_text_type(f"data: column {rows.identity['column']!r}", column.type)
            yield from texts_of_cells(as_text(column), errors, "data: ", first, bad_cells)

    return texts()


def _texts_of_records(records: Iterable[object], field: str) -> Iterator[str]:
    for number, record in enumerate(records):
        if not isinstance(record, Mapping):
            raise ArgumentTypeError(
                f"item {number} of data must be a record like the first, not "
                f"{type(record).__name__}"
            )
        if field not in record:
            names = [str(name) for name in record]
            hint = suggestion(field, names) or f"it has {', '.join(names)}"
            raise ArgumentError(f"record {number} of data has no field {field!r} ({hint})")
        text = record[field]
        if text is None:  # as a null cell of a table
            continue
        if not isinstance(text, str):
            raise ArgumentTypeError(
                f"field {field!r} of record {number} of data must be a str, not "
                f"{type(text).__name__}"
            )
        yield text


def _checked(texts: Iterable[object]) -> Iterator[str]:
    for number, text in enumerate(texts):
        if not isinstance(text, str):
            raise ArgumentTypeError(
                f"text {number} of data must be a str, not {type(text).__name__}"
            )
        yield text


def batches(texts: Iterable[str], size: int) -> Iterator[list[str]]:
    """The texts in batches of about `size` characters."""
    batch: list[str] = []
    characters = 0
    for text in texts:
        batch.append(text)
        characters += len(text) + 1
        if characters >= size:
            yield batch
            batch, characters = [], 0
    if batch:
        yield batch


def _files(paths: Iterable[str | StoreFile], *, is_str: bool = False) -> list[InputFile]:
    """The files that paths, patterns or URLs name, each once; warns about repeated ones."""
    found: list[InputFile] = []
    repeated = 0
    for of_stores, run in groupby(paths, lambda it: isinstance(it, StoreFile) or is_url(it)):
        if of_stores:
            for path in run:
                found += [path] if isinstance(path, StoreFile) else listed(path)
            continue
        names = [name for path in run for name in _expanded(expanded(path), is_str)]
        here, twice = _core.find_files(names)
        found += map(Path, here)
        repeated += twice
    files = list(dict.fromkeys(found))
    repeated += len(found) - len(files)
    if repeated:
        several = "files are" if repeated > 1 else "file is"
        warn(
            f"{repeated:,} {several} in the corpus more than once, but read only once: folders or "
            "patterns overlap, or a path is repeated or is a link to another"
        )
    return files


_LONGEST_PATTERN = 4096
"""Maximum characters of a pattern of paths."""
_MAX_FOLDERS = 256
"""Maximum nested folders in such a pattern."""


def _expanded(path: str, is_str: bool) -> list[str]:
    """The files that a path or a pattern names, in the order of their names."""
    if os.path.lexists(path) or path == "-":
        return [path]
    # `glob` recurses for each folder, and the string may be a text of any length by mistake.
    is_pattern = len(path) <= _LONGEST_PATTERN and path.count(os.sep) <= _MAX_FOLDERS
    names = glob.glob(path, recursive=True) if is_pattern else []
    names = [name for name in names if os.path.isfile(name)]
    if not names:
        excerpt = path if len(path) <= 80 else path[:80] + "…"
        hint = "; if it is a text, pass it in a list" if is_str else ""
        raise MissingFileError(f"{excerpt!r}: there is no such file{hint}")
    return [os.fspath(name) for name in sorted(map(Path, names))]


def size_of(path: InputFile) -> int:
    """The bytes of a file; 0 for a pipe."""
    if isinstance(path, StoreFile):
        return path.bytes
    return path.stat().st_size if path.is_file() else 0


def is_table(path: InputFile) -> bool:
    return path.suffix.lower() == ".parquet"


_LONGEST_CELL = 64 << 20
"""Maximum bytes of a text in a table, as in a line of JSON: a small file may expand to any size."""
_ROWS = 256
"""Maximum rows decoded at a time: all may have the longest text of a dictionary."""
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
    return max(1, min(_ROWS, _LONGEST_CELL // dictionary))


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
        hint = suggestion(name, names) or f"it has {', '.join(names)}"
        raise FormatError(f"{place}there is no column {name!r} ({hint})")


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

    values = kind.value_type if types.is_dictionary(kind) else kind
    if str(values) not in ("null", *_BYTES_AS_TEXT, *_BYTES_AS_TEXT.values()):
        raise FormatError(f"{place} holds {kind}, not text")


def as_text(column: Any) -> Any:
    """A column of texts or of their bytes as one of texts, which may not be UTF-8. Its size is that
    of its texts, also if it was a dictionary."""
    if getattr(column, "chunks", None):
        return _chunked([as_text(chunk) for chunk in column.chunks])
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
        return size_of(self._path) * self._read / max(1, rows)

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
