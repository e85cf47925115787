"""Corpora: iterables of texts, or files, that trainers count and token sets encode.

Look here for which objects are a corpus (`paths_or_texts`) and what a file holds (`kind_of`); all
readers of corpora use these. The readers of tables are in `tables.py`.
"""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain, groupby, islice
from pathlib import Path
from typing import Any, Literal, TypeAlias

import jeton._core as _core
from jeton.arguments import check_kind, checked_errors, checked_iterable, checked_path
from jeton.corpora.dropped import DroppedRecord, DroppedRecords, RecordPlace
from jeton.corpora.progress import Progress
from jeton.corpora.tables import (
    ROWS,
    ParquetColumn,
    as_text,
    is_table,
    names_hint,
    texts_of_cells,
)
from jeton.errors import (
    ArgumentError,
    ArgumentTypeError,
    MissingFileError,
    TrainingWarning,
    warn_caller,
)
from jeton.files import expanded
from jeton.stores.files import InputFile, StoreFile, listed
from jeton.stores.local_copies import local_files
from jeton.stores.urls import StorePath, is_url

TextsOrFiles: TypeAlias = "str | os.PathLike[str] | Iterable[str] | Iterable[os.PathLike[str]]"
"""A corpus: texts, or files by a path, a pattern of paths, or several paths; also by URLs."""

SURROGATE = re.compile("[\ud800-\udfff]")
_BATCH_CHARACTERS = 4_000_000
"""Text that is counted at a time: enough for all cores, little enough to notice Ctrl-C."""

_BATCHES = 64
"""A batch is one of this many parts of the memory budget: a character can take 7 bytes."""


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
            bad = [not text.isascii() and bool(SURROGATE.search(text)) for text in batch]
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
        for first in range(0, rows.count, ROWS):
            column = rows.slice(first, min(first + ROWS, rows.count))
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
            hint = names_hint(field, names)
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
