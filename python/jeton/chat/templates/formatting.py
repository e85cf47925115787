"""`%` and `.format` with origins: the pattern's words are the pattern's, the rest its values'."""

from __future__ import annotations

import re
import string
from _string import formatter_field_name_split  # type: ignore[import-not-found]
from collections.abc import Mapping
from typing import Any

from jinja2.sandbox import SandboxedFormatter

from jeton.chat.templates.growth import widths
from jeton.chat.templates.limits import PIECE, guard, spend
from jeton.chat.templates.origins import Origin
from jeton.chat.templates.parts import data_in, plain, raw
from jeton.chat.templates.printing import printed, represented
from jeton.chat.templates.traced import joined, marked

_DIRECTIVE = re.compile(
    r"%(?:\((?P<key>[^()]*)\))?(?P<flags>[#0\- +]*)(?P<width>\*|\d+)?(?:\.(?P<precision>\*|\d*))?"
    r"[hlL]?(?P<kind>.)",
    re.DOTALL,
)


def percent(pattern: str, values: Any) -> str:
    """`pattern % values`."""
    items = list(values) if isinstance(values, tuple) else [values]
    parts = _parts(pattern, values, items)
    text = raw(pattern) % plain(values)
    if parts is not None and raw(followed := joined(parts)) == text:
        return followed
    return marked(text, data_in((pattern, values)))


def _parts(pattern: str, values: Any, items: list[Any]) -> list[str] | None:
    """The parts of the text; `None` for patterns that are not taken apart."""
    parts: list[str] = []
    at = 0
    for match in _DIRECTIVE.finditer(raw(pattern)):
        parts.append(pattern[at : match.start()])
        at = match.end()
        if match["kind"] == "%":
            parts.append(pattern[at - 1 : at])
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
            without_key = re.sub(r"\([^()]*\)", "", match[0], count=1)
            origin = data_in((value, pattern[match.start() : at]))
            parts.append(marked(without_key % (plain(value),), origin))
    parts.append(pattern[at:])
    return parts


def braces(environment: Any, pattern: str, args: Any, kwargs: Any) -> str:
    """`pattern.format(*args, **kwargs)`; fields are looked up as the sandbox does."""
    return _Braces(environment, args, kwargs).formatted(raw(pattern), data_in(pattern), 2)


class _Braces:
    def __init__(self, environment: Any, args: Any, kwargs: Any) -> None:
        self.get_field = SandboxedFormatter(environment).get_field
        self.args = args
        self.kwargs = kwargs
        self.next: int | None = 0

    def formatted(self, pattern: str, origin: Origin | None, depth: int) -> str:
        """The text of a pattern that one origin wrote, or of a specification within it."""
        if depth < 0:
            raise ValueError("Max string recursion exceeded")
        parts: list[str] = []
        for literal, name, spec, conversion in string.Formatter().parse(pattern):
            spend(PIECE)
            parts.append(marked(literal, origin))
            if name is not None:
                parts.append(self.replaced(name, conversion, spec or "", origin, depth))
        return joined(parts)

    def replaced(
        self, name: str, conversion: str | None, spec: str, origin: Origin | None, depth: int
    ) -> str:
        """The text of one field."""
        value = self.field(name)
        if conversion == "s":
            value = printed(value)
        elif conversion == "r":
            value = represented(value)
        elif conversion == "a":
            value = marked(ascii(plain(value)), data_in(value))
        elif conversion:
            raise ValueError(f"Unknown conversion specifier {conversion!s}")
        width = self.formatted(spec, origin, depth - 1)
        if not width:
            return printed(value)
        guard(widths(raw(width)))
        return marked(format(plain(value), raw(width)), data_in((value, width)))

    def field(self, name: str) -> Any:
        first, _ = formatter_field_name_split(name)
        if first == "":
            if self.next is None:
                raise ValueError(
                    "cannot switch from manual field specification to automatic field numbering"
                )
            name, self.next = f"{self.next}{name}", self.next + 1
        elif isinstance(first, int):
            if self.next:
                raise ValueError(
                    "cannot switch from automatic field numbering to manual field specification"
                )
            self.next = None
        return self.get_field(name, self.args, self.kwargs)[0]
