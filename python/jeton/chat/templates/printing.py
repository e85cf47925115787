"""What printing a value makes of it: the text of `str` and of `repr`, with its origins."""

from __future__ import annotations

from typing import Any

from jinja2.utils import Namespace
from markupsafe import Markup

from jeton.chat.templates.held_text import HeldText
from jeton.chat.templates.limits import PIECE, spend
from jeton.chat.templates.origins import UNKNOWN
from jeton.chat.templates.parts import (
    SCALARS,
    TracedFloat,
    TracedInt,
    data_in,
    plain,
    raw,
    runs_of,
)
from jeton.chat.templates.traced import Traced, joined, marked, traced


def printed(value: Any) -> str:
    """What `{{ value }}` shows: `str(value)` with its origins."""
    kind = type(value)
    if kind is str or kind is Traced or kind is HeldText:
        return value  # type: ignore[no-any-return]
    if isinstance(value, str):
        return traced(value, runs_of(value))
    if isinstance(value, (TracedInt, TracedFloat)):
        return marked(repr(plain(value)), data_in(value))
    return str(value) if isinstance(value, SCALARS) else represented(value)


def represented(value: object) -> str:
    """`repr(value)` with its origins."""
    parts: list[str] = []
    _represent(value, parts)
    return joined(parts)


def _represent(value: object, parts: list[str]) -> None:
    spend(PIECE)
    if isinstance(value, str) and not isinstance(value, Markup):
        text = repr(plain(value))
        inner = text[1:-1]
        is_same = inner == raw(value)
        parts += (text[0], value if is_same else marked(inner, data_in(value)), text[-1])
    elif isinstance(value, (Markup, TracedInt, TracedFloat)):
        parts.append(marked(repr(plain(value)), data_in(value)))
    elif isinstance(value, SCALARS):
        parts.append(repr(value))
    elif isinstance(value, list):
        _sequence("[", value, "]", parts)
    elif isinstance(value, tuple):
        _sequence("(", value, ",)" if len(value) == 1 else ")", parts)
    elif isinstance(value, dict):
        parts.append("{")
        for number, (key, item) in enumerate(value.items()):
            parts.append(", " if number else "")
            _represent(key, parts)
            parts.append(": ")
            _represent(item, parts)
        parts.append("}")
    elif isinstance(value, Namespace):
        parts.append("<Namespace ")
        _represent(value._Namespace__attrs, parts)
        parts.append(">")
    else:
        parts.append(marked(str(value), UNKNOWN))


def _sequence(opening: str, items: Any, closing: str, parts: list[str]) -> None:
    parts.append(opening)
    for number, item in enumerate(items):
        parts.append(", " if number else "")
        _represent(item, parts)
    parts.append(closing)
