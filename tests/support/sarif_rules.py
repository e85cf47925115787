"""What SARIF 2.1.0 asks of the objects that jeton writes, and where a log breaks it.

Source: Static Analysis Results Interchange Format (SARIF) Version 2.1.0, OASIS Standard, sections
3.4 to 3.52. An object may hold the properties that its section names and no others; those marked
with `!` must be there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

OBJECTS: Final[dict[str, dict[str, Any]]] = {
    "log": {"$schema": "uri", "version!": ("2.1.0",), "runs!": ["run"]},
    "run": {
        "tool!": "tool",
        "results": ["result"],
        "columnKind": ("utf16CodeUnits", "unicodeCodePoints"),
        "properties": dict,
    },
    "tool": {"driver!": "component"},
    "component": {"name!": str, "semanticVersion": "version", "rules": ["rule"]},
    "rule": {
        "id!": str,
        "name": str,
        "shortDescription": "message string",
        "fullDescription": "message string",
        "help": "message string",
        "defaultConfiguration": "configuration",
    },
    "message string": {"text!": str},
    "configuration": {"level": ("none", "note", "warning", "error")},
    "result": {
        "ruleId": str,
        "ruleIndex": int,
        "level": ("none", "note", "warning", "error"),
        "message!": "message string",
        "locations": ["location"],
        "occurrenceCount": int,
        "partialFingerprints": dict,
        "properties": dict,
    },
    "location": {"physicalLocation": "file", "logicalLocations": ["logical"]},
    "file": {"artifactLocation!": "artifact"},
    "artifact": {"uri": "uri"},
    "logical": {"name": str, "fullyQualifiedName": str, "kind": str},
}
"""What each object holds: a type, the words that are allowed, another object, or a list of one."""

FORMS: Final = {
    "uri": re.compile(r"(?:[A-Za-z][\w+.-]*:)?(?:[\w./~!$&'()*+,;=:@?#-]|%[0-9A-Fa-f]{2})*"),
    "version": re.compile(r"\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?"),
}
"""What text has to look like: a URI or a reference (RFC 3986), a semantic version."""


def faults(log: Any) -> list[str]:
    """Where a log is not as the standard asks, and how; empty if it is valid."""
    found = list(_faults("log", log, "log"))
    return found or [fault for at, run in enumerate(log["runs"]) for fault in _of_run(at, run)]


def _faults(kind: Any, value: Any, place: str) -> Iterator[str]:
    if isinstance(kind, list):
        yield from _of_list(kind[0], value, place)
    elif isinstance(kind, tuple):
        if value not in kind:
            yield f"{place}: {value!r} is none of {kind}"
    elif isinstance(kind, type):
        if not isinstance(value, kind) or isinstance(value, bool):
            yield f"{place}: {value!r} is no {kind.__name__}"
    elif kind in FORMS:
        if not isinstance(value, str) or not FORMS[kind].fullmatch(value):
            yield f"{place}: {value!r} is no {kind}"
    elif not isinstance(value, dict):
        yield f"{place}: {value!r} is no object"
    else:
        yield from _of_object(OBJECTS[kind], value, place)


def _of_list(kind: str, value: Any, place: str) -> Iterator[str]:
    if not isinstance(value, list):
        yield f"{place}: {value!r} is no list"
        return
    for at, item in enumerate(value):
        yield from _faults(kind, item, f"{place}.{at}")
    if kind in ("rule", "logical") and any(item in value[:at] for at, item in enumerate(value)):
        yield f"{place}: the same twice"


def _of_object(known: dict[str, Any], value: dict[str, Any], place: str) -> Iterator[str]:
    kinds = {name.rstrip("!"): kind for name, kind in known.items()}
    for name in known:
        if name.endswith("!") and name[:-1] not in value:
            yield f"{place}: no {name[:-1]}"
    for name, item in value.items():
        if name not in kinds:
            yield f"{place}: unknown {name}"
        else:
            yield from _faults(kinds[name], item, f"{place}.{name}")


def _of_run(at: int, run: dict[str, Any]) -> Iterator[str]:
    """What holds between objects: indices, numbers, fingerprints."""
    rules = [rule["id"] for rule in run["tool"]["driver"].get("rules", [])]
    if len({*rules}) != len(rules):
        yield f"log.runs.{at}.tool.driver.rules: an id twice"
    for number, result in enumerate(run.get("results", [])):
        place = f"log.runs.{at}.results.{number}"
        index = result.get("ruleIndex", -1)
        if not -1 <= index < len(rules) or (index >= 0 and rules[index] != result.get("ruleId")):
            yield f"{place}.ruleIndex: {index} is not {result.get('ruleId')}"
        if result.get("occurrenceCount", 1) < 1:
            yield f"{place}.occurrenceCount: below 1"
        if not all(isinstance(mark, str) for mark in result["partialFingerprints"].values()):
            yield f"{place}.partialFingerprints: no text"
