"""The file of a token set that names the records that were left out: a line of JSON each."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from jeton.corpora.dropped import DroppedRecord, RecordPlace
from jeton.data.manifest import Manifest
from jeton.errors import FormatError, MissingFileError

DROPPED = "dropped.jsonl"
"""The name of the file; there is none if no record was left out."""


def written(records: Iterable[DroppedRecord]) -> bytes:
    """The lines of records."""
    return b"".join(record.to_json().encode() + b"\n" for record in records)


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
