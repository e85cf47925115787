"""Limits of time and size for a template that runs. Look here for how an endless one ends."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from contextvars import ContextVar
from typing import Any, Final

from jeton.errors import ArgumentError, ArgumentTypeError, UnsupportedError

__all__ = [
    "LONGEST",
    "PIECE",
    "LimitError",
    "Work",
    "afford",
    "check_length",
    "limits",
    "reserve",
    "reserve_strip",
    "running",
    "spend",
    "weighed",
]

LONGEST: Final = 1 << 26
"""Characters of the longest text, and items of the longest list, that a template may make."""

_FREE: Final = 1 << 28
"""The characters and the items that any template may make in all."""

_PER_CHARACTER: Final = 1 << 10
"""How many more it may make for each character that it is given."""

PIECE: Final = 64
"""Characters that a part of a text that is split counts as, beside those it has."""

_MOST_ITEMS: Final = 2_000_000
"""The most items of nested lists that are compared, printed or sorted at once."""

_MOST_CHARACTERS: Final = 1 << 28
"""The most characters of the texts in nested lists, each counted as often as it is there."""

_SECONDS: ContextVar[float] = ContextVar("jeton_chat_seconds", default=20.0)
_WORK: ContextVar[Work | None] = ContextVar("jeton_chat_work", default=None)


class LimitError(UnsupportedError):
    """A template takes too long, or makes too much."""


class Work:
    """What one run of a template may still take."""

    __slots__ = ("deadline", "left", "seconds")

    def __init__(self, characters: int) -> None:
        self.seconds = _SECONDS.get()
        self.deadline = time.monotonic() + self.seconds
        self.left = _FREE + _PER_CHARACTER * characters

    def spend(self, amount: int) -> None:
        self.left -= amount
        self.afford(0)
        if time.monotonic() > self.deadline:
            raise LimitError(
                f"the template takes more than {self.seconds:g} s "
                "(jeton.chat.limits(seconds=…) allows more)"
            )

    def afford(self, amount: int) -> None:
        if amount > self.left:
            raise LimitError("the template makes too much text: it seems to have no end")


@contextlib.contextmanager
def limits(*, seconds: float) -> Iterator[None]:
    """Sets how long a template may run, for the calls inside of the block (else 20 s).

    Args:
        seconds: The time for one rendering.

    Raises:
        ArgumentTypeError, ArgumentError: `seconds` is no number above 0.

    Example:
        >>> import jeton.chat
        >>> with jeton.chat.limits(seconds=60):
        ...     pass
    """
    if not isinstance(seconds, (int, float)) or isinstance(seconds, bool):
        raise ArgumentTypeError(f"seconds must be a number, not {type(seconds).__name__}")
    if not seconds > 0:
        raise ArgumentError(f"seconds must be above 0, not {seconds}")
    token = _SECONDS.set(float(seconds))
    try:
        yield
    finally:
        _SECONDS.reset(token)


@contextlib.contextmanager
def running(characters: int) -> Iterator[None]:
    """Holds a template to its limits, given how many characters go into it."""
    token = _WORK.set(Work(characters))
    try:
        yield
    finally:
        _WORK.reset(token)


def spend(amount: int = 1) -> None:
    """Counts work of the template that runs; without one there is no limit."""
    work = _WORK.get()
    if work is not None:
        work.spend(amount)


def afford(amount: int) -> None:
    """Refuses work that may take more than is left, before it is done."""
    work = _WORK.get()
    if work is not None:
        work.afford(amount)


def reserve(size: int) -> None:
    """Refuses a text or a list that would be too long, before it is made, and counts it."""
    check_length(size)
    spend(size)


def check_length(size: int) -> None:
    """Refuses a text or a list that would be too long, whose items were counted already."""
    if size > LONGEST:
        raise LimitError(f"the template makes a text or a list of {size:,} items at once")


def reserve_strip(text: str, chars: object) -> None:
    """Refuses to strip characters of a long text where each may be sought among very many."""
    if isinstance(chars, str):
        spend(len(text) * len(chars) // PIECE)


def weighed(value: Any) -> Any:
    """The value itself, if going through all that is nested in it ends in time."""
    if isinstance(value, (list, tuple, dict, set, frozenset)):
        left, characters = _MOST_ITEMS, 0
        nested: list[Any] = [value]
        while nested:
            item = nested.pop()
            left -= 1 + len(item)
            characters += sum(len(it) for it in item if isinstance(it, str))
            if left < 0 or characters > _MOST_CHARACTERS:
                raise LimitError("the template nests too much to go through it")
            if isinstance(item, dict):
                nested += [key for key in item if isinstance(key, tuple)]
                item = item.values()
                characters += sum(len(it) for it in item if isinstance(it, str))
            nested += [it for it in item if isinstance(it, (list, tuple, dict, set, frozenset))]
        spend((_MOST_ITEMS - left + characters) // 16)
    return value
