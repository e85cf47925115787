"""`%` and `.format` with origins: the pattern's words are the pattern's, the rest its values'."""

from __future__ import annotations

import itertools
import re
import string
from _string import formatter_field_name_split  # type: ignore[import-not-found]
from collections.abc import Mapping
from typing import Any

from jinja2.exceptions import SecurityError

from jeton.chat.templates.growth import widths
from jeton.chat.templates.limits import PIECE, guard, spend
from jeton.chat.templates.origins import Origin, least_trusted
from jeton.chat.templates.parts import TextParts, data_in, origins_in, plain, raw
from jeton.chat.templates.printing import printed, represented

_DIRECTIVE = re.compile(
    r"%(?:\((?P<key>[^()]*)\))?(?P<flags>[#0\- +]*)(?P<width>\*|\d+)?(?:\.(?P<precision>\*|\d*))?"
    r"[hlL]?(?P<kind>.)",
    re.DOTALL,
)


def percent(pattern: str, values: Any) -> TextParts:
    """`pattern % values`."""
    items = list(values) if isinstance(values, tuple) else [values]
    followed = _followed(pattern, values, items)
    text = raw(pattern) % plain(values)
    if followed is None or followed.text != text:
        followed = TextParts()
        followed.add_of(text, data_in((pattern, values)))
    return followed


def _followed(pattern: str, values: Any, items: list[Any]) -> TextParts | None:
    """The text by its parts; `None` for patterns that are not taken apart."""
    parts = TextParts()
    at = 0
    for match in _DIRECTIVE.finditer(raw(pattern)):
        parts.add_slice(pattern, at, match.start())
        at = match.end()
        if match["kind"] == "%":
            parts.add_slice(pattern, at - 1, at)
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
            parts.extend(printed(value))
        else:
            directive = TextParts()
            directive.add_slice(pattern, match.start(), at)
            without_key = re.sub(r"\([^()]*\)", "", match[0], count=1)
            origin = least_trusted(itertools.chain(origins_in(value), directive.origins()))
            parts.add_of(without_key % (plain(value),), origin)
    parts.add_slice(pattern, at, len(pattern))
    return parts


def braces(environment: Any, pattern: str, args: Any, kwargs: Any) -> TextParts:
    """`pattern.format(*args, **kwargs)`; fields are looked up as the sandbox does."""
    return _Braces(environment, args, kwargs).formatted(raw(pattern), data_in(pattern), 2)


class _Braces:
    def __init__(self, environment: Any, args: Any, kwargs: Any) -> None:
        self.environment = environment
        self.args = args
        self.kwargs = kwargs
        self.next: int | None = 0

    def formatted(self, pattern: str, origin: Origin | None, depth: int) -> TextParts:
        """The text of a pattern that one origin wrote, or of a specification within it."""
        if depth < 0:
            raise ValueError("Max string recursion exceeded")
        parts = TextParts()
        for literal, name, spec, conversion in string.Formatter().parse(pattern):
            parts.add_of(literal, origin)
            if name is not None:
                parts.extend(self.replaced(name, conversion, spec or "", origin, depth))
        return parts

    def replaced(
        self, name: str, conversion: str | None, spec: str, origin: Origin | None, depth: int
    ) -> TextParts:
        """The text of one field."""
        spend(PIECE)
        value = self.field(name)
        if conversion == "s":
            converted = printed(value)
        elif conversion == "r":
            converted = represented(value)
        elif conversion == "a":
            converted = TextParts()
            converted.add_of(ascii(plain(value)), data_in(value))
        elif conversion:
            raise ValueError(f"Unknown conversion specifier {conversion!s}")
        else:
            converted = None
        width = self.formatted(spec, origin, depth - 1)
        if not width.text:
            return printed(value) if converted is None else converted
        guard(widths(width.text))
        text = plain(value) if converted is None else converted.text
        origins = origins_in(value) if converted is None else converted.origins()
        result = TextParts()
        result.add_of(
            format(text, width.text), least_trusted(itertools.chain(origins, width.origins()))
        )
        return result

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
