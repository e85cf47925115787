"""`%` and `.format` with origins: the pattern's words are the pattern's, the rest its values'."""

from __future__ import annotations

import re
import string
from _string import formatter_field_name_split  # type: ignore[import-not-found]
from collections.abc import Mapping
from typing import Any

from jinja2.exceptions import SecurityError

from jeton.chat.carrying import data_in, plain, printed, represented
from jeton.chat.limits import PIECE, reserve, spend, weighed
from jeton.chat.traced import Traced, joined, marked, raw

__all__ = ["braces", "percent"]

_DIRECTIVE = re.compile(
    r"%(?:\((?P<key>[^()]*)\))?(?P<flags>[#0\- +]*)(?P<width>\*|\d+)?(?:\.(?P<precision>\*|\d*))?"
    r"[hlL]?(?P<kind>.)",
    re.DOTALL,
)
_NUMBER = re.compile(r"\d+")


def percent(pattern: str, values: Any) -> str:
    """`pattern % values`."""
    weighed(values)
    spend(PIECE * raw(pattern).count("%"))
    items = list(values) if isinstance(values, tuple) else [values]
    for number in _NUMBER.findall(raw(pattern)):
        _check_width(number)
    if "*" in pattern:
        for item in items:
            if isinstance(item, int):
                reserve(abs(item))
    text = raw(pattern) % plain(values)
    followed = _followed(pattern, values, items)
    if followed is None or raw(followed) != text:
        return marked(text, data_in((pattern, values)))
    return followed


def _followed(pattern: str, values: Any, items: list[Any]) -> str | None:
    """The text by its parts; `None` for patterns that are not taken apart."""
    source = pattern if isinstance(pattern, Traced) else Traced(pattern)
    parts: list[str] = []
    at = 0
    for match in _DIRECTIVE.finditer(raw(pattern)):
        parts.append(source._slice(at, match.start()))
        at = match.end()
        if match["kind"] == "%":
            parts.append(source._slice(at - 1, at))
            continue
        if match["width"] == "*" or match["precision"] == "*":
            return None
        if match["key"] is not None:
            if not isinstance(values, Mapping) or match["key"] not in values:
                return None
            value = values[match["key"]]
        elif items:
            value = items.pop(0)
        else:
            return None
        if match[0] in ("%s", f"%({match['key']})s"):
            parts.append(printed(value))
        else:
            directive = re.sub(r"\([^()]*\)", "", match[0], count=1)
            origin = data_in((value, source._slice(match.start(), at)))
            parts.append(marked(directive % (plain(value),), origin))
    parts.append(source._slice(at, len(source)))
    return joined(parts)


def braces(environment: Any, pattern: str, args: Any, kwargs: Any) -> str:
    """`pattern.format(*args, **kwargs)`; fields are looked up as the sandbox does."""
    weighed(args)
    return _Braces(environment, args, kwargs).formatted(pattern, 2)


class _Braces:
    def __init__(self, environment: Any, args: Any, kwargs: Any) -> None:
        self.environment = environment
        self.args = args
        self.kwargs = kwargs
        self.next: int | None = 0

    def formatted(self, pattern: str, depth: int) -> str:
        if depth < 0:
            raise ValueError("Max string recursion exceeded")
        origin = data_in(pattern)
        spend(PIECE * (raw(pattern).count("{") + raw(pattern).count("}")))
        parts: list[str] = []
        for literal, name, spec, conversion in string.Formatter().parse(raw(pattern)):
            parts.append(marked(literal, origin))
            if name is None:
                continue
            value = self.field(name)
            if conversion == "s":
                value = printed(value)
            elif conversion == "r":
                value = represented(value)
            elif conversion == "a":
                value = marked(ascii(plain(value)), data_in(value))
            elif conversion:
                raise ValueError(f"Unknown conversion specifier {conversion!s}")
            wanted = self.formatted(marked(spec or "", origin), depth - 1)
            if not wanted:
                parts.append(printed(value))
                continue
            for number in _NUMBER.findall(raw(wanted)):
                _check_width(number)
            text = format(plain(value), raw(wanted))
            parts.append(marked(text, data_in((value, wanted))))
        return joined(parts)

    def field(self, name: str) -> Any:
        first, rest = formatter_field_name_split(name)
        if first == "":
            if self.next is None:
                raise ValueError(
                    "cannot switch from manual field specification to automatic field numbering"
                )
            first, self.next = self.next, self.next + 1
        elif isinstance(first, int):
            if self.next:
                raise ValueError(
                    "cannot switch from automatic field numbering to manual field specification"
                )
            self.next = None
        value = self.args[first] if isinstance(first, int) else self.kwargs[first]
        for is_attribute, key in rest:
            if self.environment is None:
                raise SecurityError("a field of a format that looks into a value")
            look = self.environment.getattr if is_attribute else self.environment.getitem
            value = look(value, key)
        return value


def _check_width(digits: str) -> None:
    reserve(int(digits) if len(digits) < 12 else 10**12)
