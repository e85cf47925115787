"""Text marked as safe for HTML, with the origin of each character.

Templates mark JSON as safe out of habit. What is added to such text is escaped for HTML.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from markupsafe import Markup, escape

from jeton.chat.templates.origins import TEMPLATE, Runs
from jeton.chat.templates.parts import raw, runs_of
from jeton.chat.templates.traced import Traced, joined, marked

FOLLOWED: Final = frozenset(
    """
    capitalize casefold lower lstrip partition removeprefix removesuffix rpartition rsplit rstrip
    split splitlines strip swapcase title upper
    """.split()
)
"""The methods that escape nothing: they do the same as those of any text."""


class SafeTraced(Markup):
    """Text marked as safe for HTML, with the origin of each character."""

    __slots__ = ("_runs",)
    _runs: Runs

    def __getitem__(self, key: Any) -> Markup:  # type: ignore[override]
        return safe(unmarked(self)[key])

    def __iter__(self) -> Iterator[str]:
        return iter(unmarked(self))

    def __str__(self) -> str:
        return self


def safe(text: str) -> Markup:
    """A text marked as safe for HTML."""
    runs = runs_of(text)
    if all(origin == TEMPLATE for _, origin in runs):
        return Markup(raw(text))
    result = SafeTraced(raw(text))
    result._runs = runs
    return result


def unmarked(text: str) -> Traced:
    """The text without the mark."""
    return Traced(raw(text), runs_of(text))


def added(left: str, right: str) -> Markup:
    """`left + right`, at least one of them marked."""
    return safe(joined((_escaped(left), _escaped(right))))


def _escaped(text: str) -> str:
    """A text as HTML shows it; what is marked already stays."""
    if isinstance(text, Markup):
        return unmarked(text)
    parts, shown, at = list[str](), raw(text), 0
    for length, origin in runs_of(text):
        parts.append(marked(raw(escape(shown[at : at + length])), origin))
        at += length
    return joined(parts)


def followed(method: str, text: str, *args: object, **kwargs: object) -> Any:
    """What one of the methods of `FOLLOWED` gives of a text that is marked."""
    result = getattr(unmarked(text), method)(*args, **kwargs)
    if isinstance(result, str):
        return safe(result)
    return type(result)(map(safe, result))
