"""How far preparing is: a bar with an estimate, or JSON lines; and what is said of a stop."""

from __future__ import annotations

import contextlib
import json
import sys
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from jeton.cli.command import echo_note, is_quiet
from jeton.cli.printing import say
from jeton.cli.progress import ProgressBar

if TYPE_CHECKING:
    from jeton.data import PrepareProgress

__all__ = ["saying_it_goes_on", "showing_progress"]

Watch = Callable[["PrepareProgress"], None]


@contextlib.contextmanager
def showing_progress(as_json: bool) -> Iterator[Watch | None]:
    """What shows the progress, while it lasts."""
    if is_quiet() or not (as_json or sys.stderr.isatty()):
        yield None
    elif as_json:
        yield _PrepareJsonLines()
    else:
        with contextlib.closing(_PhaseBars()) as bar:
            yield bar


@contextlib.contextmanager
def saying_it_goes_on() -> Iterator[None]:
    """Says, where a signal stops the work, that it is not lost."""
    try:
        yield
    except KeyboardInterrupt:
        echo_note("stopped; the same command goes on where it was")
        raise


class _PrepareJsonLines:
    """JSON lines on standard error, one a second."""

    def __init__(self) -> None:
        self._start, self._next, self._phase = time.monotonic(), 0.0, ""

    def __call__(self, step: PrepareProgress) -> None:
        now = time.monotonic()
        if step.phase == self._phase and now < self._next:
            return
        self._next, self._phase = now + 1.0, step.phase
        told = {
            "phase": step.phase,
            "done": step.done,
            "total": step.total,
            "documents": step.documents,
            "tokens": step.tokens,
            "seconds": round(now - self._start, 1),
        }
        say(json.dumps(told), err=True)


class _PhaseBars:
    """A bar for each phase, one after the other."""

    def __init__(self) -> None:
        self._bar: ProgressBar | None = None

    def __call__(self, step: PrepareProgress) -> None:
        if self._bar is None or self._bar.label != step.phase:
            self.close()
            self._bar = ProgressBar(step.phase, step.total or None, done=step.done)
        self._bar.total = step.total or None
        self._bar.note = f"{step.tokens:,} tokens"
        self._bar.advance(step.done - self._bar.done)

    def close(self) -> None:
        """Takes the bar away."""
        if self._bar is not None:
            self._bar.close()
