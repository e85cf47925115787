"""What printing a value makes of it: the text of `str` and of `repr`, with its origins."""

from __future__ import annotations

from typing import Any

from jinja2.utils import Namespace
from markupsafe import Markup

from jeton.chat.templates.origins import UNKNOWN
from jeton.chat.templates.parts import (
    SCALARS,
    TextParts,
    TracedFloat,
    TracedInt,
    data_in,
    plain,
    raw,
)


def printed(value: object) -> TextParts:
    """`str(value)` with its origins."""
    parts = TextParts()
    if isinstance(value, str):
        parts.add(value)
    elif isinstance(value, (TracedInt, TracedFloat)):
        parts.add_of(repr(plain(value)), data_in(value))
    elif isinstance(value, SCALARS):
        parts.add_of(str(value), None)
    else:
        return represented(value)
    return parts


def represented(value: object) -> TextParts:
    """`repr(value)` with its origins."""
    parts = TextParts()
    _represent(value, parts)
    return parts


def _represent(value: object, parts: TextParts) -> None:
    if isinstance(value, Markup):
        parts.add_of(repr(plain(value)), data_in(value))
    elif isinstance(value, str):
        text = repr(plain(value))
        inner = text[1:-1]
        if not hasattr(value, "_runs"):
            parts.add_of(text, None)
        elif inner == raw(value):
            parts.add_of(text[0], None)
            parts.add(value)
            parts.add_of(text[-1], None)
        else:
            parts.add_of(text[0], None)
            parts.add_of(inner, data_in(value))
            parts.add_of(text[-1], None)
    elif isinstance(value, (TracedInt, TracedFloat)):
        parts.add_of(repr(plain(value)), data_in(value))
    elif isinstance(value, SCALARS):
        parts.add_of(repr(value), None)
    elif isinstance(value, list):
        _sequence("[", value, "]", parts)
    elif isinstance(value, tuple):
        _sequence("(", value, ",)" if len(value) == 1 else ")", parts)
    elif isinstance(value, dict):
        parts.add_of("{", None)
        for number, (key, item) in enumerate(value.items()):
            parts.add_of(", " if number else "", None)
            _represent(key, parts)
            parts.add_of(": ", None)
            _represent(item, parts)
        parts.add_of("}", None)
    elif isinstance(value, Namespace):
        parts.add_of("<Namespace ", None)
        _represent(value._Namespace__attrs, parts)
        parts.add_of(">", None)
    else:
        parts.add_of(str(value), UNKNOWN)


def _sequence(opening: str, items: Any, closing: str, parts: TextParts) -> None:
    parts.add_of(opening, None)
    for number, item in enumerate(items):
        parts.add_of(", " if number else "", None)
        _represent(item, parts)
    parts.add_of(closing, None)
