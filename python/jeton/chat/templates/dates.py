"""The date and time that chat templates see. Look here for how a chat renders alike on any day."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar
from datetime import date, datetime, time

__all__ = ["day_shown", "now", "stopped"]

_DAY: ContextVar[date | None] = ContextVar("jeton_chat_day", default=None)


def day_shown() -> date | None:
    """The day that templates see; `None` if it is the one that it is."""
    return _DAY.get()


def now() -> datetime:
    """What `strftime_now` of a template goes by."""
    day = day_shown()
    return datetime.now() if day is None else datetime.combine(day, time())


@contextlib.contextmanager
def stopped(day: date | None) -> Iterator[None]:
    """Has templates see the beginning of a day; with `None` the time that it is."""
    token = _DAY.set(day)
    try:
        yield
    finally:
        _DAY.reset(token)
