"""The corpus of a trainer: an iterable of texts, or files.

Look here for what a `str` given as a corpus means.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, groupby, islice
from pathlib import Path
from typing import Any, Literal

from jeton import _core
from jeton.errors import (
    ArgumentError,
    ArgumentTypeError,
    FileError,
    FormatError,
    MissingFileError,
    UnsupportedError,
)

__all__ = [
    "Progress",
    "batches",
    "check_watch",
    "count",
    "merging",
    "texts_of",
    "texts_or_text",
]

_BATCH_CHARACTERS = 4_000_000
"""How much text is counted at a time: enough for all cores, little enough to notice Ctrl-C."""


@dataclass(frozen=True)
class Progress:
    """How far training has come."""

    phase: Literal["counting", "merging", "seeding", "fitting"]
    done: int
    """Bytes of files when counting, tokens when merging; else steps."""
    total: int
    text: int = 0
    """Bytes of text that were counted; more than `done` where files are compressed."""


def check_watch(watch: object) -> None:
    """Refuses what cannot be called, before any work is done."""
    if watch is not None and not callable(watch):
        raise ArgumentTypeError(f"watch must be callable or None, not {type(watch).__name__}")


def merging(watch: Callable[[Progress], None] | None) -> Callable[[int, int], None] | None:
    """What the core shall call while it merges."""
    if watch is None:
        return None
    return lambda tokens, goal: watch(Progress("merging", tokens, goal))


def count(
    counter: _core.WordCounter,
    data: str | os.PathLike[str] | Iterable[str] | Iterable[os.PathLike[str]],
    *,
    field: str | None,
    errors: str,
    watch: Callable[[Progress], None] | None,
) -> None:
    """Counts the words of a corpus: of texts, or of files on all cores."""
    if field is not None and not isinstance(field, str):
        raise ArgumentTypeError(f"field must be a str or None, not {type(field).__name__}")
    if errors not in ("strict", "replace", "ignore"):
        close = _core.did_you_mean(errors, ["strict", "replace", "ignore"])
        hint = f"did you mean {close!r}?" if close else "it is strict, replace or ignore"
        raise ArgumentError(f"errors cannot be {errors!r} ({hint})")
    paths, texts = _paths_or_texts(data)
    for batch in batches(texts):
        counter.count(batch)
    tables = iter([_table(path, field or "text") for path in paths if _is_table(path)])
    size = sum(map(_size, paths))
    text_before = read_before = text_now = 0

    def told(text: int, read: int, _: int) -> None:
        nonlocal text_now
        text_now = text_before + text
        if watch is not None:
            watch(Progress("counting", read_before + read, size, text_now))

    for is_table, run in groupby(paths, _is_table):
        if is_table:
            for _ in run:
                for batch in batches(next(tables)):
                    counter.count(batch)
        else:
            files = list(run)
            counter.count_files([os.fspath(path) for path in files], field, errors, told)
            text_before = text_now
            read_before += sum(map(_size, files))


def _paths_or_texts(
    data: str | os.PathLike[str] | Iterable[str] | Iterable[os.PathLike[str]],
) -> tuple[list[Path], Iterator[str]]:
    """The files of a corpus, or else its texts; the first item of an iterable says which."""
    if isinstance(data, (str, os.PathLike)):
        return _files(os.fspath(data)), iter(())
    if isinstance(data, (list, tuple)) and data and all(map(_names_a_file, data)):
        raise ArgumentError(
            f"data is a list of texts, each of which is the path of a file, as {data[0]!r}: wrap "
            "them in pathlib.Path for the files, or pass iter(data) for the texts"
        )
    if isinstance(data, (bytes, bytearray)) or not isinstance(data, Iterable):
        return [], texts_of(data)
    items: Iterator[object] = iter(data)
    first = list(islice(items, 1))
    items = chain(first, items)
    if not first or not isinstance(first[0], os.PathLike):
        return [], _checked(items)
    paths: list[str] = []
    for number, path in enumerate(items):
        if not isinstance(path, os.PathLike):
            raise ArgumentTypeError(
                f"item {number} of data must be a path like the first, not {type(path).__name__}"
            )
        paths.append(os.fspath(path))
    if isinstance(data, (set, frozenset)):
        paths.sort()
    return [file for name in paths for file in _files(name)], iter(())


def _names_a_file(text: object) -> bool:
    return isinstance(text, str) and len(text) < 1_000 and "\0" not in text and os.path.isfile(text)


def _size(path: Path) -> int:
    """The bytes of a file that is no table; pipes have none."""
    return path.stat().st_size if path.is_file() and not _is_table(path) else 0


def _is_table(path: Path) -> bool:
    return path.suffix.lower() == ".parquet"


def _table(path: Path, column: str) -> Iterator[str]:
    """The texts in a column of a Parquet file, which is looked for at once."""
    try:
        from pyarrow import parquet, types
    except ImportError:
        raise UnsupportedError(
            f"{path}: Parquet is read by pyarrow (pip install 'jeton[parquet]')"
        ) from None
    try:
        table = parquet.ParquetFile(path)
    except (OSError, ValueError) as error:
        raise FormatError(f"{path}: not a Parquet file: {error}") from None
    names = table.schema_arrow.names
    if column not in names:
        close = _core.did_you_mean(column, names)
        hint = f"did you mean {close!r}?" if close else f"it has {', '.join(names)}"
        raise FormatError(f"{path}: there is no column {column!r} ({hint})")
    kind = table.schema_arrow.field(names.index(column)).type
    values = kind.value_type if types.is_dictionary(kind) else kind
    if str(values) not in ("string", "large_string", "string_view", "null"):
        raise FormatError(f"{path}: column {column!r} holds {kind}, not text")
    return _texts_of_table(table, column)


def _texts_of_table(table: Any, column: str) -> Iterator[str]:
    for rows in table.iter_batches(columns=[column]):
        yield from (text for text in rows.column(0).to_pylist() if text is not None)


def texts_of(data: str | os.PathLike[str] | Iterable[str]) -> Iterator[str]:
    """The texts of a corpus; a `str` is a path or a pattern of paths, whose files are read line by
    line.

    Paths are looked for at once, not when the first text is asked for.
    """
    if isinstance(data, (str, os.PathLike)):
        return _lines(_files(os.fspath(data)))
    if isinstance(data, (bytes, bytearray)) or not isinstance(data, Iterable):
        raise ArgumentTypeError(
            f"data must be an iterable of texts or a path, not {type(data).__name__}"
        )
    return _checked(data)


def texts_or_text(data: str | os.PathLike[str] | Iterable[str]) -> Iterator[str]:
    """As `texts_of`, but a `str` is a text."""
    if not isinstance(data, str):
        return texts_of(data)
    if _names_a_file(data):
        raise ArgumentError(
            f"{data!r} is a text, and the path of a file too: pass pathlib.Path({data!r}) for the "
            f"file, or [{data!r}] for the text"
        )
    return iter((data,))


def batches(texts: Iterable[str]) -> Iterator[list[str]]:
    """The texts, some megabytes at a time."""
    batch: list[str] = []
    characters = 0
    for text in texts:
        batch.append(text)
        characters += len(text)
        if characters >= _BATCH_CHARACTERS:
            yield batch
            batch, characters = [], 0
    if batch:
        yield batch


def _checked(texts: Iterable[object]) -> Iterator[str]:
    for number, text in enumerate(texts):
        if not isinstance(text, str):
            raise ArgumentTypeError(
                f"text {number} of data must be a str, not {type(text).__name__}"
            )
        yield text


def _files(path: str) -> list[Path]:
    """The files that a path or a pattern of paths names, in the order of their names."""
    path = os.path.expanduser(path)
    if os.path.isdir(path):
        found = [file for file in Path(path).rglob("*") if file.is_file()]
    elif os.path.exists(path) or path == "-":
        found = [Path(path)]
    else:
        found = [Path(name) for name in glob.glob(path, recursive=True) if os.path.isfile(name)]
    if not found:
        shown = path if len(path) <= 80 else path[:80] + "…"
        raise MissingFileError(
            f"{shown!r}: there is no such file; to train on a text itself, pass it in a list"
        )
    return sorted(found)


def _lines(files: Iterable[Path]) -> Iterator[str]:
    for path in files:
        try:
            with path.open(encoding="utf-8", newline="\n") as file:
                yield from file
        except UnicodeDecodeError as error:
            raise FormatError(f"{path}: this is not UTF-8: {error}") from None
        except OSError as error:
            raise FileError(f"{path}: {error.strerror or error}") from None
