"""What the operations of a template make at most, in the units of `limits`, by their names.

Look here for what a template may call: an operation without a cost is refused. Costs take the
arguments of the operation. All of them were measured before (`limits.weight`), so that an operation
takes time in proportion to it; one that takes longer says so by `within`.
"""

from __future__ import annotations

import contextlib
import operator
import re
from collections.abc import Callable, Set, Sized
from typing import Any, Final

from jeton.chat.templates.limits import (
    ITEM,
    MAX_BITS,
    PIECE,
    LimitError,
    check_keys,
    spend,
    weight,
    within,
)

__all__ = ["FILTERS", "METHODS", "OPERATORS", "PRINTED", "TESTS", "Cost", "widths"]

Cost = Callable[..., int]

_ESCAPED: Final = 6
"""Characters that one becomes in HTML, or three in upper case and twice."""

_QUOTED: Final = 10
"""Characters that one becomes in quotes: `\\U0001f600`."""

_CODECS: Final = frozenset("ascii latin1 utf8 utf16 utf16le utf16be utf32 utf32le utf32be".split())
_DIGITS: Final = re.compile(r"\d+")
_LINE_ENDS: Final = "\n\r\v\f\x1c\x1d\x1e\x85\u2028\u2029"


def printed_length(value: object) -> int:
    """The most characters that printing a value makes."""
    return len(value) if isinstance(value, str) else _QUOTED * weight(value)


def widths(pattern: str) -> int:
    """The sum of the widths in a pattern or a specification."""
    return sum(int(it) if len(it) < 12 else 10**12 for it in _DIGITS.findall(pattern))


def _number(value: Any) -> int:
    """A width or a count, where the operation takes one."""
    return max(0, operator.index(value))


def _each(value: object) -> int:
    """The items of a value in a list. Values without a length are counted as they are read."""
    if isinstance(value, (str, bytes)):
        return PIECE // 4 * len(value)
    return ITEM * len(value) if isinstance(value, Sized) else 0


def _nothing(*values: object, **named: object) -> int:
    return 0


def _text(value: object, *values: object, **named: object) -> int:
    return PIECE + _ESCAPED * printed_length(value)


def _all(*values: object, **named: object) -> int:
    return 4 * sum(map(weight, (*values, *named.values())))


def _items(value: object, *values: object, **named: object) -> int:
    return PIECE // ITEM * _each(value)


# Texts and bytes


def _padded(text: object, width: object, fill: object = " ") -> int:
    return printed_length(text) + _number(width)


def _stripped(text: Any, chars: Any = None) -> int:
    if chars is not None:
        within(printed_length(text) * len(chars) // ITEM)
    return printed_length(text)


def _found_backwards(text: Any, part: Any, *bounds: Any) -> int:
    # Forwards CPython's search is linear.
    within(len(text) * len(part) if hasattr(part, "__len__") else 0)
    return len(text)


def _split(text: Any, sep: Any = None, maxsplit: Any = -1) -> int:
    parts: int = text.count(sep) if sep else (len(text) + 1) // 2
    if maxsplit >= 0:
        parts = min(parts, maxsplit)
    return len(text) + PIECE * parts


def _split_backwards(text: object, sep: object = None, maxsplit: object = -1) -> int:
    return _found_backwards(text, sep) + _split(text, sep, maxsplit)


def _lines(text: Any, keepends: Any = False) -> int:
    ends = _LINE_ENDS if isinstance(text, str) else (b"\n", b"\r")
    lines: int = sum(text.count(end) for end in ends)
    return len(text) + PIECE * lines


def _joined(sep: Any, parts: Any) -> int:
    return weight(parts) + _each(parts) + len(sep) * len(parts)


def _replaced(text: Any, old: Any, new: Any, count: Any = -1) -> int:
    places: int = text.count(old)
    if count is not None and count >= 0:
        places = min(places, count)
    return len(text) + places * (PIECE + len(new))


def _tabs(text: Any, tabsize: Any = 8) -> int:
    tabs: int = text.count("\t" if isinstance(text, str) else b"\t")
    return len(text) + tabs * _number(tabsize)


def _translated(text: Any, table: Any, *deleted: Any, **named: Any) -> int:
    values = table.values() if isinstance(table, dict) else table or ()
    longest = max((len(value) for value in values if isinstance(value, str)), default=1)
    return len(text) * max(1, longest)


def _coded(text: Any, encoding: Any = "utf-8", errors: Any = "strict") -> int:
    if encoding.lower().replace("-", "").replace("_", "") not in _CODECS:
        raise LimitError(f"a template cannot encode or decode {encoding[:40]!r}")
    return len(text) * (4 if errors in ("strict", "ignore", "replace") else 128)


def _keys(kind: Any, keys: Any, value: Any = None) -> int:
    check_keys(keys)
    return PIECE * len(keys)


def _tags(text: Any) -> int:
    tags: int = text.count("<")
    within(tags * len(text))  # older markupsafe copies the rest for each
    return _ESCAPED * (PIECE * tags + len(text))


def _of(names: str, cost: Cost) -> dict[str, Cost]:
    return dict.fromkeys(names.split(), cost)


METHODS: Final[dict[str, Cost]] = {
    **_of(
        """
        as_integer_ratio bit_count bit_length conjugate count endswith find from_number get index
        is_integer isalnum isalpha isascii isdecimal isdigit isidentifier islower isnumeric
        isprintable isspace istitle isupper items keys startswith values
        """,
        _nothing,
    ),
    **_of("capitalize casefold escape lower swapcase title unescape upper", _text),
    **_of("from_bytes fromhex hex partition removeprefix removesuffix", _all),
    **_of("center ljust rjust zfill", _padded),
    **_of("lstrip rstrip strip", _stripped),
    **_of("rfind rindex rpartition", _found_backwards),
    **_of("decode encode", _coded),
    "copy": _each,
    "expandtabs": _tabs,
    "fromkeys": _keys,
    "join": _joined,
    "maketrans": lambda *given: PIECE * sum(map(weight, given)),
    "replace": _replaced,
    "rsplit": _split_backwards,
    "split": _split,
    "splitlines": _lines,
    "striptags": _tags,
    "to_bytes": lambda number, length=1, *order, **named: _number(length),
    "translate": _translated,
}
"""The methods of texts, bytes, numbers, lists, tuples and dicts. Costs take the owner first."""


# Operators


def _sum(left: object, right: object) -> int:
    if isinstance(left, str):
        return _ESCAPED * (len(left) + printed_length(right))
    return _each(left) + _each(right)


def _difference(left: object, right: object) -> int:
    if isinstance(left, Set) or isinstance(right, Set):
        raise LimitError("a template cannot subtract sets")
    return 0


def _product(left: object, right: object) -> int:
    for value, times in ((left, right), (right, left)):
        if isinstance(value, Sized) and isinstance(times, int):
            return (len(value) if isinstance(value, (str, bytes)) else _each(value)) * max(0, times)
    _check_bits(sum(it.bit_length() for it in (left, right) if isinstance(it, int)))
    return 0


def _power(left: object, right: object) -> int:
    if isinstance(left, int) and isinstance(right, int):
        _check_bits(left.bit_length() * max(0, right))
    return 0


def _check_bits(bits: int) -> None:
    if bits > MAX_BITS:
        raise LimitError("the template makes a number of thousands of digits")


def _modulo(left: object, right: object) -> int:
    """Of `%`: of numbers, or a pattern and its values."""
    if not isinstance(left, (str, bytes)):
        return 0
    text = left if isinstance(left, str) else left.decode("latin-1")
    directives = text.count("%")
    width = widths(text)
    if "*" in text and isinstance(right, tuple):
        width += sum(abs(it) for it in right if isinstance(it, int))
    values = weight(right) * (1 if isinstance(right, tuple) else directives)
    return len(text) + PIECE * directives + width + _ESCAPED * _QUOTED * values


OPERATORS: Final[dict[str, Cost]] = {
    "+": _sum,
    "-": _difference,
    "*": _product,
    "/": _nothing,
    "//": _nothing,
    "**": _power,
    "%": _modulo,
}
"""The operators between two values."""


# Filters


def _batch(value: object, linecount: object, fill_with: object = None) -> int:
    return _each(value) + (0 if fill_with is None else ITEM * _number(linecount))


def _slice(value: object, slices: object, fill_with: object = None) -> int:
    return _each(value) + PIECE * _number(slices)


def _indented(s: Any, width: Any = 4, first: Any = False, blank: Any = False) -> int:
    lines = 1 + (_lines(s) - len(s)) // PIECE
    return len(s) + lines * (PIECE + (len(width) if isinstance(width, str) else _number(width)))


def _integer(value: Any, default: Any = 0, base: Any = 10) -> int:
    digits = value.strip() if isinstance(value, str) else ""
    if len(digits) * 4 > MAX_BITS:
        with contextlib.suppress(ValueError):  # else the rest is not a number either
            int(digits[:100].rstrip("_"), base)
            _check_bits(len(digits) * 4)
    return 0


def _joined_values(value: object, d: object = "", attribute: object = None) -> int:
    between = printed_length(d) * len(value) if isinstance(value, Sized) else 0
    return between + _items(value)


def _rounded(value: Any, precision: Any = 0, method: Any = "common") -> int:
    if abs(precision) > MAX_BITS // 16:
        raise LimitError(f"the template asks for {precision:,} digits")
    return 0


def _as_json(
    value: object, ensure_ascii: object = False, indent: object = None, separators: object = None,
    sort_keys: object = False,
) -> int:  # fmt: skip
    if indent is not None and not isinstance(indent, str):
        spend(_number(indent) * PIECE)
    return PIECE // ITEM * weight(value)


def _truncated(
    s: Any, length: Any = 255, killwords: Any = False, end: Any = "...", leeway: Any = None
) -> int:
    return 2 * printed_length(s) + len(end)


def _long_words(text: str) -> int:
    """The steps of what goes through the rest of a word for each part of it."""
    words = text.split()
    within(sum(len(word) ** 2 for word in words) // 4)
    return len(words)


def _links(
    value: Any, trim_url_limit: Any = None, nofollow: Any = False, target: Any = None,
    rel: Any = None, extra_schemes: Any = None,
) -> int:  # fmt: skip
    spend(_split(value))
    words = _long_words(value)
    attributes = sum(len(it) for it in (target, rel) if it is not None)
    within(words * (weight(extra_schemes) if extra_schemes else 1))
    return 2 * _ESCAPED * len(value) + words * (PIECE + _ESCAPED * attributes)


def _wrapped(
    s: Any, width: Any = 79, break_long_words: Any = True, wrapstring: Any = None,
    break_on_hyphens: Any = True,
) -> int:  # fmt: skip
    spend(_split(s))
    _long_words(s)
    # A line has a character at least.
    between = 1 if wrapstring is None else len(wrapstring)
    return (len(s) + 1) * (PIECE + between) if width < ITEM else len(s) * (PIECE + between)


def _pretty(value: object) -> int:
    size = weight(value)
    within(size * size)  # each list is shown again within each that it is in
    return PIECE * size


FILTERS: Final[dict[str, Cost]] = {
    **_of(
        """
        abs attr count d default filesizeformat first float items last length map random reject
        rejectattr select selectattr sum
        """,
        _nothing,
    ),
    **_of("capitalize e escape forceescape lower safe string upper", _text),
    **_of("dictsort groupby list max min reverse sort unique", _items),
    **_of("urlencode xmlattr", lambda value, *flag, **named: 12 * _ESCAPED * weight(value)),
    "batch": _batch,
    "center": lambda value, width=80: _padded(value, width),
    "format": lambda value, *args, **kwargs: _modulo(value, kwargs or args),
    "indent": _indented,
    "int": _integer,
    "join": _joined_values,
    "pprint": _pretty,
    "replace": _replaced,
    "round": _rounded,
    "slice": _slice,
    "striptags": _tags,
    "title": lambda s: PIECE * len(s),
    "tojson": _as_json,
    "trim": _stripped,
    "truncate": _truncated,
    "urlize": _links,
    "wordcount": lambda s: PIECE * len(s),
    "wordwrap": _wrapped,
}
"""Jinja's filters. Costs take the value first, without what Jinja adds in front of it."""

PRINTED: Final = {
    **dict.fromkeys("capitalize center format lower striptags title trim upper urlize".split(), 1),
    "replace": 3,
    "wordcount": 1,
}
"""How many of a filter's arguments are printed first, by its name. Costs take the texts."""

TESTS: Final[dict[str, Cost]] = _of(
    """
    != < <= == > >= boolean callable defined divisibleby eq equalto escaped even false filter float
    ge greaterthan gt in integer iterable le lessthan lower lt mapping ne none number odd sameas
    sequence string test true undefined upper
    """,
    _nothing,
)
