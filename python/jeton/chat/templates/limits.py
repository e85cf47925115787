"""The limits of a template that runs in this process: its time, and the size of what it makes.

Loops and calls look at the clock (`spend`). One guard holds the size of values: an operation that
may make more than it is given says so before (`guard`), and every result counts (`made`). Look here
for each bound, and for the day that templates see.
"""

from __future__ import annotations

import contextlib
import numbers
import os
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Any, Final, TypeVar

from jeton.arguments import check_kind, checked_int
from jeton.errors import ArgumentError, ArgumentTypeError, UnsupportedError

ITEM: Final = 8
"""Units per item of a list; a unit is a character, of at most four bytes."""

PIECE: Final = 64
"""Units per separate text, in addition to its characters."""

_TOTAL: Final = 1 << 26
"""Maximum units that a template may create in total."""

_TOTAL_PER_CHARACTER: Final = 1 << 10
"""Further units per character of its input."""

_VALUE: Final = 1 << 22
"""The maximum units of one value, counting each text and list in it as often as it occurs."""

_OUTPUT: Final = 1 << 20
"""Maximum characters that a template may write."""

_PER_CHARACTER: Final = 32
"""Further units of a value, and characters of the output, per character of the input."""

_BITS: Final = 1 << 14
"""The size of a whole number."""

_DEPTH: Final = 200
"""Maximum depth of nested lists: CPython compares and hashes them recursively."""

T = TypeVar("T")


class LimitError(UnsupportedError):
    """A template takes too long, or makes too much."""


@dataclass(frozen=True)
class Limits:
    """The limits that the templates of a block of code run under.

    Attributes:
        seconds: How long one may run.
        memory: The bytes that a process of its own may take.
        isolate: Whether each runs in such a process.
        day: The day that they see; `None` for today.
    """

    seconds: float = 20.0
    memory: int = 1 << 30
    isolate: bool = False
    day: date | None = None


_LIMITS: ContextVar[Limits] = ContextVar("jeton_chat_limits")
_RUN: ContextVar[_Run | None] = ContextVar("jeton_chat_run", default=None)


def current() -> Limits:
    """The limits for templates that are run here."""
    of_block = _LIMITS.get(None)
    if of_block is not None:
        return of_block
    isolates = os.environ.get("JETON_ISOLATE", "").strip().lower()
    return Limits(isolate=isolates not in ("", "0", "false", "no"))


@contextlib.contextmanager
def limits(
    *, seconds: float | None = None, memory: int | None = None, isolate: bool | None = None
) -> Iterator[None]:
    """Sets how templates run, for the calls inside the block. Limits that are not passed stay.

    Args:
        seconds: How long one rendering may take (else 20).
        memory: The bytes that a process of its own may take beyond those it begins with, where
            the system can limit them (else 1 GiB).
        isolate: Whether `tok.chat` renders in a process of its own (else as the environment
            variable `JETON_ISOLATE` says, which holds in all threads).

    Raises:
        ArgumentTypeError, ArgumentError: `seconds` or `memory` is not a number above 0, or
            `isolate` is not a bool.

    Example:
        >>> import jeton.chat
        >>> with jeton.chat.limits(seconds=60, isolate=True):
        ...     pass
    """
    if seconds is not None:
        if not isinstance(seconds, numbers.Real) or isinstance(seconds, bool):
            raise ArgumentTypeError(f"seconds must be a number, not {type(seconds).__name__}")
        if not seconds > 0:
            raise ArgumentError(f"seconds must be above 0, not {seconds}")
        seconds = float(seconds)
    if memory is not None:
        memory = checked_int("memory", memory, 1)
    if isolate is not None:
        check_kind("isolate", isolate, bool, "a bool")
    passed = {"seconds": seconds, "memory": memory, "isolate": isolate}
    changes: dict[str, Any] = {name: it for name, it in passed.items() if it is not None}
    with under(replace(current(), **changes)):
        yield


@contextlib.contextmanager
def stopped(day: date | None) -> Iterator[None]:
    """Makes templates see the beginning of a day; with `None`, the current time."""
    with under(replace(current(), day=day)):
        yield


@contextlib.contextmanager
def under(limits: Limits) -> Iterator[None]:
    """Runs a block of code under limits."""
    token = _LIMITS.set(limits)
    try:
        yield
    finally:
        _LIMITS.reset(token)


def can_isolate() -> bool:
    """Whether a Python can be started for a separate process: a frozen program has none."""
    return bool(sys.executable) and not getattr(sys, "frozen", False)


def now() -> datetime:
    """The time that templates see."""
    day = current().day
    return datetime.now() if day is None else datetime(day.year, day.month, day.day)


class _Run:
    """A running template: how much it may still use."""

    def __init__(self, characters: int) -> None:
        self.seconds = current().seconds
        self.deadline = time.monotonic() + self.seconds
        self.left = _TOTAL + _TOTAL_PER_CHARACTER * characters
        self.largest = _VALUE + _PER_CHARACTER * characters
        self.namespaces: list[dict[str, Any]] = []
        self.measured: dict[int, tuple[Any, int, int]] = {}
        """Large values with their units and depth, by address. Each is held, so that its address
        stays its own; none ever changes. Without this, `[x, x]` of `[x, x]` takes exponential
        time."""

    def spend(self, units: int) -> None:
        self.left -= units
        if self.left < 0:
            raise LimitError("the template makes too much text: it seems to have no end")
        if time.monotonic() > self.deadline:
            raise LimitError(
                f"the template takes more than {self.seconds:g} s "
                "(jeton.chat.limits(seconds=…) allows more)"
            )

    def guard(self, units: int) -> None:
        if units > self.largest:
            raise LimitError(f"the template makes too much: a value of {units:,} units")

    def measure(self, value: object, depth: int = 0) -> tuple[int, int]:
        """The units of a value with all that is nested in it, and how deep that is."""
        if isinstance(value, (str, bytes)):
            return ITEM + len(value), 0
        if isinstance(value, int) and value.bit_length() > _BITS:
            raise LimitError("the template makes a number of thousands of digits")
        if isinstance(value, Mapping):
            parts: Iterable[Any] = (it for pair in value.items() for it in pair)
        elif isinstance(value, (list, tuple)):
            parts = value
        else:
            return ITEM, 0
        known = self.measured.get(id(value))
        if known is not None:
            return known[1:]
        size, height = ITEM, 0
        for part in parts:
            inner, below = self.measure(part, depth + 1)
            size, height = size + inner, max(height, below + 1)
            self.guard(size)
            if depth + height > _DEPTH:
                raise LimitError(f"the template nests lists more than {_DEPTH} deep")
        if size > PIECE * ITEM:
            self.measured[id(value)] = (value, size, height)
        return size, height


@contextlib.contextmanager
def running(characters: int) -> Iterator[None]:
    """Enforces a template's limits; `characters` is the length of its input."""
    run = _Run(characters)
    token = _RUN.set(run)
    try:
        yield
    finally:
        _RUN.reset(token)
        for names in run.namespaces:
            names.clear()


def spend(units: int = 1) -> None:
    """Counts units that the running template makes, and looks at the clock."""
    run = _RUN.get()
    if run is not None:
        run.spend(units)


def guard(units: int) -> None:
    """Refuses a value of this many units before it is made."""
    run = _RUN.get()
    if run is not None:
        run.guard(units)


def made(value: T) -> T:
    """Counts what an operation made."""
    run = _RUN.get()
    if run is not None:
        size, _ = run.measure(value)
        run.guard(size)
        is_list = isinstance(value, (list, tuple, Mapping))
        run.spend(ITEM * len(value) if is_list else size)  # type: ignore[arg-type]
    return value


def counted_items(items: Iterable[T]) -> Iterator[T]:
    """The items, each counted as it is read."""
    for item in items:
        spend(ITEM)
        yield item


def check_output(length: int, characters: int) -> None:
    """Refuses a text of a template that is too long for the length of its input."""
    if length > _OUTPUT + _PER_CHARACTER * characters:
        raise LimitError(f"the template makes a text of {length:,} characters")


def emptied_at_end(names: dict[str, Any]) -> None:
    """Empties a namespace when the template ends: it may refer to itself, and to much else."""
    run = _RUN.get()
    if run is not None:
        run.namespaces.append(names)
