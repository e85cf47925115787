"""Counting the words of files with a checkpoint: a file from which a stopped run resumes.

The file holds a line of JSON that says what was counted, and then the counts. It is replaced every
half minute, between two pieces of the corpus.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import jeton._core as _core
from jeton.corpora.corpus import count, drops_bad, size_of, unit_of
from jeton.corpora.dropped import DroppedRecords
from jeton.corpora.pieces import CorpusPiece, pieces_of
from jeton.corpora.progress import Progress
from jeton.corpora.token_blocks.files import identity_of
from jeton.errors import ArgumentError, FileError, FormatError, JetonError
from jeton.files import write
from jeton.stores.files import InputFile

_SECONDS = 30.0
"""The most work that a kill can lose, apart from one piece."""
_PIECE = 1 << 28
"""About the bytes that are counted between two looks at the clock."""
_MAGIC = "jeton counting"


@dataclass(frozen=True)
class _Counted:
    """What was counted so far."""

    pieces: int = 0
    counts: _core.WordCounts | None = None
    splits: int = 0
    """How many words were split."""
    dropped: int = 0
    """How many records were left out."""
    read: int = 0
    """The bytes of files that were read."""
    text: int = 0
    """The bytes of text that were counted."""


def count_with_checkpoint(
    path: str,
    files: list[InputFile],
    new_counter: Callable[[], _core.WordCounter],
    *,
    settings: dict[str, Any],
    field: str | None,
    errors: str,
    documents: str,
    bad_records: str,
    memory: int | None,
    watch: Callable[[Progress], None] | None,
) -> tuple[_core.WordCounts, int, DroppedRecords]:
    """The counts of files, how many words were split, and the records left out.

    Raises:
        ArgumentError: A file is a pipe.
        FileError: The checkpoint is of another corpus or of other settings, or cannot be written.
        FormatError: The checkpoint is damaged.
    """
    identities = [identity_of(file) for file in files]
    for of_file in identities:
        if "bytes" not in of_file:
            raise ArgumentError(
                f"{of_file['path']}: a pipe cannot be read again from a checkpoint; write it to a "
                "file first, or leave checkpoint out"
            )
    reading: dict[str, Any] = {
        "field": field,
        "errors": errors,
        "documents": documents,
        "bad_records": bad_records,
    }
    about = {"files": identities, "reading": reading, **settings}
    identity = hashlib.sha256(json.dumps(about, sort_keys=True, default=repr).encode()).hexdigest()
    counted = _saved(path, identity)
    dropped = DroppedRecords()
    dropped.number = counted.dropped
    # Only whole files say which records are left out.
    largest = sys.maxsize if drops_bad(bad_records) else _PIECE
    runs = list(_runs(files, largest, field, unit_of(documents)))
    by_name = {os.fspath(file): file for file in files}
    progress = _Progress(watch, sum(map(size_of, files)), counted.read, counted.text)
    while counted.pieces < len(runs):
        counter, due = new_counter(), time.monotonic() + _SECONDS
        at = counted.pieces
        try:
            while at < len(runs) and (at == counted.pieces or time.monotonic() < due):
                if runs[at][0].stop:
                    [piece] = runs[at]
                    name, size = os.fsdecode(piece.path), piece.stop - piece.start
                    counter.count_part(name, piece.start, piece.stop, field, errors)
                    progress(Progress("counting", size, size, size))
                else:
                    paths = [by_name[os.fsdecode(piece.path)] for piece in runs[at]]
                    here = count(counter, iter(paths), **reading, memory=memory, watch=progress)
                    dropped.number += here.number
                progress.end()
                at += 1
            counts, (splits, *_) = counter.finish()
        finally:
            counter.discard()
        for file, of_file in zip(files, identities, strict=True):
            if identity_of(file) != of_file:
                raise FileError(
                    f"{file}: changed while it was counted; remove {path} to begin anew"
                )
        counted = _Counted(
            at,
            counts if counted.counts is None else counted.counts.merged(counts),
            counted.splits + splits,
            dropped.number,
            progress.read,
            progress.text,
        )
        _save(path, identity, counted)
    assert counted.counts is not None
    return counted.counts, counted.splits, dropped


@dataclass
class _Progress:
    """Reports the progress of a run as part of that of the corpus."""

    watch: Callable[[Progress], None] | None
    total: int
    read: int
    """The bytes of files in the runs before."""
    text: int
    """The bytes of text in these."""

    def __post_init__(self) -> None:
        self._last = Progress("counting", 0, 0)

    def __call__(self, step: Progress) -> None:
        self._last = step
        if self.watch is not None:
            done = min(self.read + step.done, self.total)
            self.watch(Progress("counting", done, self.total, self.text + step.text))

    def end(self) -> None:
        """Ends a run."""
        self.read += self._last.done
        self.text += self._last.text
        self._last = Progress("counting", 0, 0)


def _runs(
    files: list[InputFile], largest: int, field: str | None, unit: bool | str
) -> Iterator[list[CorpusPiece]]:
    """The pieces of a corpus; small files are counted together."""
    together, size = list[CorpusPiece](), 0
    sizes = {os.fspath(file): size_of(file) for file in files}
    for piece in pieces_of(files, largest, field, unit=unit):
        of_file = 0 if piece.stop else sizes[os.fsdecode(piece.path)]
        if together and (piece.stop or size + of_file > _PIECE):
            yield together
            together, size = [], 0
        if piece.stop:
            yield [piece]
        else:
            together.append(piece)
            size += of_file
    if together:
        yield together


def _save(path: str, identity: str, counted: _Counted) -> None:
    assert counted.counts is not None
    numbers = [counted.pieces, counted.splits, counted.dropped, counted.read, counted.text]
    head = json.dumps([_MAGIC, identity, *numbers]).encode()
    write(path, head + b"\n" + counted.counts.to_bytes())


def _saved(path: str, identity: str) -> _Counted:
    """What an earlier run has counted; nothing if there was none."""
    remedy = "remove it, or choose another name"
    try:
        with open(path, "rb") as file:
            head, image = file.readline(1 << 10), file.read()
    except FileNotFoundError:
        return _Counted()
    except OSError as error:
        raise FileError(f"{path}: cannot be read: {error.strerror}") from None
    try:
        magic, of_whom, *numbers = json.loads(head)
        pieces, splits, dropped, read, text = map(int, numbers)
        is_ours = magic == _MAGIC
    except (ValueError, TypeError):
        is_ours = False
    if not is_ours:
        raise FormatError(f"{path}: is not a checkpoint of counting; {remedy}")
    if of_whom != identity:
        raise FileError(
            f"{path}: was written while other files were counted, or with other settings; {remedy}"
        )
    try:
        counts = _core.WordCounts.from_bytes(image)
    except JetonError as error:
        raise FormatError(f"{path}: is damaged: {error}; {remedy}") from None
    return _Counted(pieces, counts, splits, dropped, read, text)
