"""The corpus of a trainer: an iterable of texts, or files.

Look here for what a `str` given as a corpus means.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from jeton.errors import ArgumentError, ArgumentTypeError, FileError, FormatError, MissingFileError

__all__ = ["batches", "texts_of", "texts_or_text"]

_BATCH_CHARACTERS = 4_000_000
"""How much text is counted at a time: enough for all cores, little enough to notice Ctrl-C."""


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
    elif os.path.exists(path):
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
