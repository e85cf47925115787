"""Records that are left out because they cannot be read or encoded, each with its place."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from jeton.display.human_readable import counted

_LOGGER = logging.getLogger("jeton.corpora")


@dataclass(frozen=True, slots=True)
class RecordPlace:
    """Where a record is, as errors name it."""

    path: str | None
    """Its file; `None` if it came from Python."""
    unit: str
    """What it is: a `line`, a `record`, a `row` or a `document`."""
    number: int
    """Its number: in a file of lines from 1, otherwise from 0."""

    def __str__(self) -> str:
        place = f"{self.unit} {self.number}"
        return place if self.path is None else f"{self.path}: {place}"


@dataclass(frozen=True, slots=True)
class DroppedRecord:
    """A record that was left out, and why."""

    place: RecordPlace
    reason: str

    def named(self, name: Callable[[str], str]) -> DroppedRecord:
        """The record with another name of its file."""
        path = self.place.path
        if path is None:
            return self
        return replace(self, place=replace(self.place, path=name(path)))

    def to_json(self) -> str:
        """The record as a line of JSON."""
        path, unit, number = self.place.path, self.place.unit, self.place.number
        return json.dumps({"path": path, unit: number, "reason": self.reason})

    def __str__(self) -> str:
        return f"{self.place}: {self.reason}"


def from_core(path: str | os.PathLike[str], unit: str, number: int, reason: str) -> DroppedRecord:
    """A record that the core left out."""
    return DroppedRecord(RecordPlace(os.fspath(path), unit, number), reason)


class DroppedRecords:
    """The records that training left out: each is logged by the logger `jeton.corpora`."""

    def __init__(self) -> None:
        self.number = 0

    def add(self, records: Iterable[DroppedRecord]) -> None:
        """Logs records."""
        for record in records:
            self.number += 1
            _LOGGER.warning("left out %s", record)

    def of_core(self, name: Callable[[str], str]) -> Callable[[str, str, int, str], None]:
        """What logs a record of the core, given what its file is called."""
        return lambda *record: self.add([from_core(*record).named(name)])

    def __str__(self) -> str:
        return f"left out {counted(self.number, 'record')} that cannot be read"
