"""The corpus of a trainer: an iterable of texts, or files.

Look here for what a `str` given as a corpus means.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeGuard

from jeton import _core
from jeton.errors import (
    ArgumentError,
    ArgumentTypeError,
    FileError,
    FormatError,
    MissingFileError,
    UnsupportedError,
)

__all__ = ["Progress", "batches", "count", "merging", "texts_of", "texts_or_text"]

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
    if isinstance(data, (str, os.PathLike)):
        paths = _files(os.fspath(data))
    elif _is_paths(data):
        paths = [file for path in data for file in _files(os.fspath(path))]
    else:
        for batch in batches(texts_of(data)):  # type: ignore[arg-type]
            counter.count(batch)
        return

    def told(text: int, read: int, total: int) -> None:
        if watch is not None:
            watch(Progress("counting", read, total, text))

    tables = [_table(path, field or "text") for path in paths if path.suffix == ".parquet"]
    files = [os.fspath(path) for path in paths if path.suffix != ".parquet"]
    if files:
        counter.count_files(files, field, errors, told)
    for table in tables:
        for batch in batches(table):
            counter.count(batch)


def _is_paths(data: object) -> TypeGuard[Sequence[os.PathLike[str]]]:
    return (
        isinstance(data, (list, tuple))
        and bool(data)
        and all(isinstance(path, os.PathLike) for path in data)
    )


def _table(path: Path, column: str) -> Iterator[str]:
    """The texts in a column of a Parquet file, which is looked for at once."""
    try:
        import pyarrow.parquet as parquet
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
    if len(data) < 1_000 and "\0" not in data and os.path.isfile(data):
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


def _checked(texts: Iterable[str]) -> Iterator[str]:
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
