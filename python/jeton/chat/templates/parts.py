"""Origins apart from the `str` that carries them: read off values, and taken off them.

`Traced` is built from these; look there for text that keeps its origins.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from jinja2 import Undefined
from markupsafe import Markup

from jeton.chat.templates.origins import TEMPLATE, UNKNOWN, Origin, Runs

SCALARS = (bool, int, float, complex, type(None), range, Undefined)
"""Values that hold no text of a message."""


class TracedInt(int):
    """A whole number of a message."""

    _origin: Origin


class TracedFloat(float):
    """A number of a message."""

    _origin: Origin


def traced_number(number: int | float, origin: Origin) -> TracedInt | TracedFloat:
    """A number that an origin wrote."""
    traced = TracedInt(number) if isinstance(number, int) else TracedFloat(number)
    traced._origin = origin
    return traced


class KeptTool(dict[str, Any]):
    """A tool that later chats reuse, with its JSON by the options of `tojson`."""

    __slots__ = ("_json",)

    def __init__(self, tool: dict[str, Any]) -> None:
        super().__init__(tool)
        self._json: dict[tuple[Any, ...], str] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return KeptTool, (dict(self),)


def raw(text: str) -> str:
    """The text alone."""
    return str.__str__(text)


def runs_of(text: str) -> Runs:
    """Who wrote a text. A text that is not traced is of the template."""
    if isinstance(text, str) and (runs := getattr(text, "_runs", None)) is not None:
        return runs  # type: ignore[no-any-return]
    return ((len(text), TEMPLATE),) if text else ()


def cut(runs: Runs, start: int, stop: int) -> list[tuple[int, Origin]]:
    """The runs of a slice."""
    found, at = [], 0
    for length, origin in runs:
        low, high = max(at, start), min(at + length, stop)
        if low < high:
            found.append((high - low, origin))
        at += length
        if at >= stop:
            break
    return found


def data_in(value: object) -> Origin | None:
    """Who wrote the text in a value, at any depth: the least trusted writer; `None` if it was the
    template alone."""
    other = None
    for origin in _origins_in(value):
        if not origin.is_control:
            return origin
        if other is None and origin != TEMPLATE:
            other = origin
    return other


def _origins_in(value: object) -> Iterator[Origin]:
    """The origins of all text in a value, however deep."""
    if isinstance(value, str):
        yield from (origin for _, origin in runs_of(value))
    elif isinstance(value, (TracedInt, TracedFloat)):
        yield value._origin
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _origins_in(key)
            yield from _origins_in(item)
    elif isinstance(value, (list, tuple, set, frozenset)):
        for item in value:
            yield from _origins_in(item)
    elif not isinstance(value, SCALARS):
        yield UNKNOWN


def plain(value: object) -> Any:
    """A value without origins."""
    if isinstance(value, Markup):
        return Markup(raw(value))
    if isinstance(value, str) and hasattr(value, "_runs"):
        return raw(value)
    if isinstance(value, TracedInt):
        return int(value)
    if isinstance(value, TracedFloat):
        return float(value)
    if isinstance(value, list):
        return [plain(item) for item in value]
    if type(value) is tuple:
        return tuple(plain(item) for item in value)
    if isinstance(value, dict):
        return {plain(key): plain(item) for key, item in value.items()}
    return value
