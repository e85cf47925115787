"""The progress of preparing, as a bar or as JSON lines, and the note when it is stopped."""

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

__all__ = ["note_on_resuming", "progress_shown"]

Watch = Callable[["PrepareProgress"], None]


@contextlib.contextmanager
def progress_shown(as_json: bool) -> Iterator[Watch | None]:
    """A function that shows the progress; `None` if nothing is to be shown."""
    if is_quiet() or not (as_json or sys.stderr.isatty()):
        yield None
    elif as_json:
        yield _PrepareJsonLines()
    else:
        with contextlib.closing(_PhaseBars()) as bar:
            yield bar


@contextlib.contextmanager
def note_on_resuming() -> Iterator[None]:
    """Says, if a signal stops the work, that the same command resumes."""
    try:
        yield
    except KeyboardInterrupt:
        echo_note("stopped; the same command resumes")
        raise


class _PrepareJsonLines:
    """JSON lines on standard error, one per second."""

    def __init__(self) -> None:
        self._start, self._next, self._phase = time.monotonic(), 0.0, ""

    def __call__(self, step: PrepareProgress) -> None:
        now = time.monotonic()
        if step.phase == self._phase and now < self._next:
            return
        self._next, self._phase = now + 1.0, step.phase
        record = {
            "phase": step.phase,
            "done": step.done,
            "total": step.total,
            "documents": step.documents,
            "tokens": step.tokens,
            "seconds": round(now - self._start, 1),
        }
        say(json.dumps(record), err=True)


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
        """Removes the bar."""
        if self._bar is not None:
            self._bar.close()
