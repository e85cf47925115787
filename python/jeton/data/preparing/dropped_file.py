"""The file of a token set that names the records that were left out: a line of JSON each."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

from jeton.corpora.dropped import DroppedRecord, RecordPlace
from jeton.data.manifest import Manifest
from jeton.errors import FileError, FormatError, MissingFileError

DROPPED = "dropped.jsonl"
"""The name of the file; there is none if no record was left out."""


class DroppedFile:
    """The file while a run writes it."""

    def __init__(self, folder: Path, records: int) -> None:
        """Opens the file, and keeps its first `records`: a run may have been killed after more."""
        self._path = folder / DROPPED
        self._file: BinaryIO | None = None
        if not self._path.exists():
            kept = []
        else:
            kept = self._path.read_bytes().splitlines(keepends=True)[:records]
            os.truncate(self._path, sum(map(len, kept)))
            if not records:
                self._path.unlink()
        if len(kept) < records or (kept and not kept[-1].endswith(b"\n")):
            raise FormatError(f"{self._path}: is damaged; remove {folder.parent} to start again")

    def add(self, records: Iterable[DroppedRecord]) -> None:
        """Writes records."""
        try:
            for record in records:
                if self._file is None:
                    self._file = self._path.open("ab")
                self._file.write(record.to_json().encode() + b"\n")
        except OSError as error:
            raise FileError(f"{self._path}: cannot be written: {error.strerror}") from None

    def sync(self) -> None:
        """Flushes the records to the disk."""
        if self._file is not None:
            self._file.flush()
            os.fsync(self._file.fileno())

    def close(self) -> None:
        """Closes the file."""
        if self._file is not None:
            self._file.close()


def dropped_of(folder: Path, manifest: Manifest) -> tuple[DroppedRecord, ...]:
    """The records that a set left out."""
    if DROPPED not in manifest.files:
        return ()
    path = folder / DROPPED
    try:
        lines = path.read_text("utf-8").splitlines()
    except FileNotFoundError:
        raise MissingFileError(f"{path}: no such file, though the set names it") from None
    except UnicodeDecodeError as error:
        raise FormatError(f"{path}: not UTF-8 at byte {error.start}") from None
    return tuple(_record(line, f"{path}: line {number}") for number, line in enumerate(lines, 1))


def _record(line: str, place: str) -> DroppedRecord:
    try:
        fields = json.loads(line)
    except (ValueError, RecursionError):
        fields = None
    match fields:
        case {"path": str() | None as path, "reason": str() as reason, **rest} if len(rest) == 1:
            [(unit, number)] = rest.items()
            if isinstance(unit, str) and type(number) is int:
                return DroppedRecord(RecordPlace(path, unit, number), reason)
    raise FormatError(f"{place} is not a record that was left out; the set is damaged")
