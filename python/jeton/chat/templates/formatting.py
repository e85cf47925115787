"""`%` and `.format` with origins: the pattern's words are the pattern's, the rest its values'."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
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
    formatter = _Formatter(environment, data_in(pattern))
    formatter.vformat(raw(pattern), args, kwargs)
    return formatter.written


class _Formatter(SandboxedFormatter):
    """Notes the parts of what Python's formatter writes of a pattern that one origin wrote."""

    def __init__(self, environment: Any, origin: Origin | None) -> None:
        super().__init__(environment)
        self.origin = origin
        self.open: list[list[str]] = []
        """The parts so far: of the pattern, and of a specification within it."""
        self.written = ""
        """The last of these that is complete."""

    def parse(self, pattern: str) -> Iterator[Any]:
        parts = list[str]()
        self.open.append(parts)
        for found in super().parse(pattern):
            spend(PIECE)
            parts.append(marked(found[0], self.origin))
            yield found
        self.open.pop()
        self.written = joined(parts)

    def convert_field(self, value: Any, conversion: str | None) -> Any:
        if conversion == "s":
            return printed(value)
        if conversion == "r":
            return represented(value)
        if conversion == "a":
            return marked(ascii(plain(value)), data_in(value))
        return super().convert_field(value, conversion)

    def format_field(self, value: Any, format_spec: str) -> Any:
        if format_spec:
            guard(widths(format_spec))
            writer = data_in((value, self.written))  # the specification was written last
            text = marked(format(plain(value), format_spec), writer)
        else:
            text = printed(value)
        self.open[-1].append(text)
        return text
