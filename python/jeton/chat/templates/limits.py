"""Limits of time and memory for a template that runs. Look here for how an endless one ends.

Each operation says how much it makes before it makes it (`spend`), and is refused if its time is
not proportional to its input (`within`). Nested values are measured once (`weight`). What each
operation costs is in `costs.py`.
"""

from __future__ import annotations

import contextlib
import numbers
import os
import time
import types
from collections.abc import Iterable, Iterator, Mapping, Set, ValuesView
from contextvars import ContextVar
from typing import Any, Final, NamedTuple, TypeVar

from jeton.arguments import checked_int
from jeton.errors import ArgumentError, ArgumentTypeError, UnsupportedError

__all__ = [
    "ITEM",
    "MAX_BITS",
    "PIECE",
    "Known",
    "LimitError",
    "Limits",
    "check_keys",
    "check_output",
    "counted_items",
    "current",
    "let_go_at_end",
    "limits",
    "measured",
    "running",
    "spend",
    "weight",
    "within",
    "written_of",
]

ITEM: Final = 8
"""The units that an item of a list counts as: a unit is a character, of at most four bytes."""

PIECE: Final = 64
"""The units that a text counts as, beside its characters."""

MAX_BITS: Final = 1 << 14
"""The size of a whole number in a template."""

_FREE: Final = 1 << 26
"""The units that any template may make in all."""

_PER_CHARACTER: Final = 1 << 10
"""How many more it may make for each character of its input."""

_LARGEST: Final = 1 << 22
"""The units of nested lists, each text and list counted as often as it is in there."""

_LONGEST_OUTPUT: Final = 1 << 20
"""Characters that any template may write."""

_TIMES: Final = 32
"""How many more units may be nested, and characters written, for each character of the input."""

_MAX_DEPTH: Final = 200
"""How deep lists are nested: CPython hashes tuples without looking at how deep they are."""

_MAX_STEPS: Final = 1 << 30
"""The steps of one operation, of about a nanosecond each."""

_MAX_ODD_KEYS: Final = 1 << 13
"""The maximum number of keys of a dict that are not text: these can be chosen to collide."""

_METHODS: Final = (types.MethodType, types.BuiltinMethodType)

T = TypeVar("T")


class LimitError(UnsupportedError):
    """A template takes too long, or makes too much."""


class Known(NamedTuple):
    """What is known of values that stay for more than one run.

    Attributes:
        measured: The units and the depth of large ones, with each value, by its address.
        written: What was written of each, by its address and the options of `tojson`.
    """

    measured: dict[int, tuple[Any, int, int]]
    written: dict[tuple[Any, ...], str]


class Limits:
    """The limits that the templates of a block of code run under.

    Attributes:
        seconds: How long one may run.
        memory: The bytes that a process of its own may take.
        isolate: Whether each runs in such a process.
    """

    def __init__(self, seconds: float = 20.0, memory: int = 1 << 30, isolate: bool = False) -> None:
        self.seconds = seconds
        self.memory = memory
        self.isolate = isolate


_LIMITS: ContextVar[Limits] = ContextVar("jeton_chat_limits")
_WORK: ContextVar[_Work | None] = ContextVar("jeton_chat_work", default=None)


class _Work:
    """What one run of a template may still take."""

    __slots__ = (
        "deadline",
        "known",
        "largest",
        "left",
        "measured",
        "namespaces",
        "seconds",
    )

    def __init__(self, characters: int, known: Known | None = None) -> None:
        self.seconds = current().seconds
        self.deadline = time.monotonic() + self.seconds
        self.left = _FREE + _PER_CHARACTER * characters
        self.largest = _LARGEST + _TIMES * characters
        self.namespaces: list[dict[str, Any]] = []
        # By address, with the value, so that the address stays its own.
        self.measured: dict[int, tuple[Any, int, int]] = dict(known.measured) if known else {}
        self.known = known

    def spend(self, units: int) -> None:
        if units > self.left:
            raise LimitError("the template makes too much text: it seems to have no end")
        self.left -= units
        if time.monotonic() > self.deadline:
            raise LimitError(
                f"the template takes more than {self.seconds:g} s "
                "(jeton.chat.limits(seconds=…) allows more)"
            )

    def measure(self, value: object, depth: int = 0) -> tuple[int, int]:
        """The units of a value with all that is nested in it, and how deep that is.

        No list or dict of a template ever changes, so each is measured once.
        """
        if isinstance(value, (str, bytes)):
            return ITEM + len(value), 0
        if isinstance(value, int):
            if value.bit_length() > MAX_BITS:
                raise LimitError("the template makes a number of thousands of digits")
            return ITEM, 0
        parts: Iterable[Any]
        if isinstance(value, (list, tuple, Set, ValuesView)):
            parts = value
        elif isinstance(value, Mapping):
            parts = (it for pair in value.items() for it in pair)
            if len(value) > _MAX_ODD_KEYS:
                check_keys(value)
        elif isinstance(value, _METHODS):
            parts = (value.__self__,)  # it may be shown with its owner
        else:
            return ITEM, 0
        known = self.measured.get(id(value))
        if known is not None:
            return known[1:]
        size, height = ITEM, 0
        for part in parts:
            if depth >= _MAX_DEPTH:
                break
            inner, deep = self.measure(part, depth + 1)
            size, height = size + inner, max(height, deep + 1)
            if size > self.largest:
                break
        if size > self.largest or depth + height >= _MAX_DEPTH:
            raise LimitError("the template nests too much to go through it")
        if size > PIECE * ITEM:
            self.spend(PIECE)
            self.measured[id(value)] = (value, size, height)
        return size, height


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
    before = current()
    if seconds is not None:
        if not isinstance(seconds, numbers.Real) or isinstance(seconds, bool):
            raise ArgumentTypeError(f"seconds must be a number, not {type(seconds).__name__}")
        if not seconds > 0:
            raise ArgumentError(f"seconds must be above 0, not {seconds}")
    if memory is not None:
        memory = checked_int("memory", memory, 1)
    if isolate is not None and not isinstance(isolate, bool):
        raise ArgumentTypeError(f"isolate must be a bool, not {type(isolate).__name__}")
    token = _LIMITS.set(
        Limits(
            before.seconds if seconds is None else float(seconds),
            before.memory if memory is None else memory,
            before.isolate if isolate is None else isolate,
        )
    )
    try:
        yield
    finally:
        _LIMITS.reset(token)


@contextlib.contextmanager
def running(characters: int, known: Known | None = None) -> Iterator[None]:
    """Keeps a template within its limits; `characters` is the length of its input."""
    work = _Work(characters, known)
    token = _WORK.set(work)
    try:
        yield
    finally:
        _WORK.reset(token)
        for names in work.namespaces:
            names.clear()


def measured(value: object, characters: int) -> dict[int, tuple[Any, int, int]]:
    """What `Known` holds of a value; nothing if it is too large to go through."""
    work = _Work(characters)
    try:
        work.measure(value)
    except LimitError:
        return {}
    return work.measured


def written_of(value: object) -> dict[tuple[Any, ...], str] | None:
    """What was written of values, if this is one that stays."""
    work = _WORK.get()
    if work is None or work.known is None or id(value) not in work.known.measured:
        return None
    return work.known.written


def let_go_at_end(names: dict[str, Any]) -> None:
    """Empties a namespace when the template ends: it may hold itself, and much beside."""
    work = _WORK.get()
    if work is not None:
        work.namespaces.append(names)


def check_output(length: int, characters: int) -> None:
    """Refuses a text of a template that is too long for the length of its input."""
    if length > _LONGEST_OUTPUT + _TIMES * characters:
        raise LimitError(f"the template makes a text of {length:,} characters")


def spend(units: int = 1) -> None:
    """Counts units that the running template is about to make; without one there is no limit."""
    work = _WORK.get()
    if work is not None:
        work.spend(units)


def within(steps: int) -> None:
    """Refuses an operation of more steps than end soon."""
    if steps > _MAX_STEPS and _WORK.get() is not None:
        raise LimitError(f"the template asks for {steps:,} steps at once")


def weight(value: object) -> int:
    """The units of a value with all that is nested in it.

    Raises:
        LimitError: There is too much to go through it, or it is nested too deep.
    """
    work = _WORK.get()
    return 0 if work is None else work.measure(value)[0]


def counted_items(items: Iterable[T]) -> Iterator[T]:
    """The items, each counted as it is read."""
    work = _WORK.get()
    if work is None:
        yield from items
        return
    size = 0
    for item in items:
        work.spend(ITEM)
        size += work.measure(item)[0]
        if size > work.largest:
            raise LimitError("the template goes through too much")
        yield item


def check_keys(keys: Iterable[Any]) -> None:
    """Refuses many keys that are not text: numbers can be chosen to collide."""
    if sum(not isinstance(key, str) for key in keys) > _MAX_ODD_KEYS:
        raise LimitError("the template makes a dict with too many keys that are not text")
