"""Sizes of what a template's operations return, where that may be larger than their arguments.

Padding, repeating, powers, and what writes one text for many places. What is not here makes at most
in proportion to its input, so `limits.made` counts it afterwards: also what a newer Jinja brings.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Sized
from typing import Any, Final

from markupsafe import Markup, escape

from jeton.chat.templates.limits import ITEM, PIECE

_DIGITS: Final = re.compile(r"\d+")
_DIGIT_UNITS: Final = 1 << 10
"""Units per decimal digit of an integer, so that a value has some 4,000 digits at most."""


def widths(pattern: str) -> int:
    """The sum of the widths in a pattern or a specification."""
    return sum(int(it) if len(it) < 12 else 10**12 for it in _DIGITS.findall(pattern))


def _length(value: object) -> int:
    return len(value) if isinstance(value, Sized) else 0


def _number(value: Any) -> int:
    return max(0, operator.index(value))


def _times(left: object, right: object) -> int:
    for value, times in ((left, right), (right, left)):
        if isinstance(value, Sized) and isinstance(times, int):
            unit = 1 if isinstance(value, (str, bytes)) else ITEM
            return unit * len(value) * max(0, times)
    if isinstance(left, int) and isinstance(right, int):
        return (left.bit_length() + right.bit_length()) // 3 * _DIGIT_UNITS
    return 0


def _power(left: object, right: object) -> int:
    if isinstance(left, int) and isinstance(right, int):
        return left.bit_length() * max(0, right) // 3 * _DIGIT_UNITS
    return 0


def _percent(pattern: object, values: object) -> int:
    """A pattern and its values; each name may stand for a long value many times."""
    if not isinstance(pattern, (str, bytes)):
        return 0
    text = pattern if isinstance(pattern, str) else pattern.decode("latin-1")
    stars = values if isinstance(values, tuple) and "*" in text else ()
    return widths(text) + sum(abs(it) for it in stars if isinstance(it, int))


def _padded(text: object, width: Any = 80, fill: object = " ") -> int:
    return _number(width)


def _tabs(text: Any, tabsize: Any = 8) -> int:
    tabs: int = text.count("\t" if isinstance(text, str) else b"\t")
    return tabs * _number(tabsize)


def _joined(separator: Any, parts: Any) -> int:
    return len(separator) * _length(parts) + sum(map(_length, parts))


def _replaced(text: Any, old: Any, new: Any, count: Any = None) -> int:
    kind = next((it for it in (str, bytes) if isinstance(text, it) and isinstance(old, it)), None)
    if kind is None:
        return 0
    places = kind.count(text, old)
    new = escape(new) if isinstance(text, Markup) else new
    return min(places, places if count is None or count < 0 else count) * (PIECE + _length(new))


def _translated(text: Any, table: Any, *deleted: Any, **named: Any) -> int:
    values = table.values() if isinstance(table, dict) else table or ()
    return len(text) * max((len(it) for it in values if isinstance(it, str)), default=1)


def _indented(s: Any, width: Any = 4, first: Any = False, blank: Any = False) -> int:
    lines = 1 + len(s.splitlines()) if isinstance(s, str) else 1
    return lines * (len(width) if isinstance(width, str) else _number(width))


def _wrapped(
    s: Any, width: Any = 79, long_words: Any = True, wrapstring: Any = None, hyphens: Any = True
) -> int:
    return _length(s) * _length(wrapstring)


def _links(
    value: Any, limit: Any = None, nofollow: Any = False, target: Any = None, rel: Any = None,
    extra_schemes: Any = None,
) -> int:  # fmt: skip
    return _length(value) * (_length(target) + _length(rel))


def _batches(value: object, count: object, fill_with: object = None) -> int:
    return ITEM * _number(count)


def _json(value: object, ensure_ascii: object = False, indent: object = None, **more: Any) -> int:
    return indent if isinstance(indent, int) else 0


GROWTH: Final[dict[str, Callable[..., int]]] = {
    "*": _times,
    "**": _power,
    "%": _percent,
    "batch": _batches,
    "center": _padded,
    "expandtabs": _tabs,
    "format": lambda value, *values, **named: _percent(value, named or values),
    "indent": _indented,
    "join": _joined,
    "ljust": _padded,
    "replace": _replaced,
    "rjust": _padded,
    "round": lambda value, precision=0, method="": abs(precision) * _DIGIT_UNITS,
    "slice": _batches,
    "to_bytes": lambda number, length=1, *order, **named: _number(length),
    "tojson": _json,
    "translate": _translated,
    "urlize": _links,
    "wordwrap": _wrapped,
    "zfill": _padded,
}
"""The maximum units that operators, methods and filters return for their arguments, by name."""
