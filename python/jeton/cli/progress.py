"""Progress on standard error: a bar on a terminal, a line now and then in a log, or JSON lines.

Look here for when they appear, and for the text beside the bar.
"""

from __future__ import annotations

import json
import shutil
import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING

import click

from jeton.cli.command import echo_note, is_quiet
from jeton.cli.printing import say, use_colour
from jeton.cli.terminal import human_bytes

if TYPE_CHECKING:
    from rich.progress import Progress as Bars
    from rich.progress import TaskID

    from jeton.corpora.progress import Progress as Step

progress_option = click.option(
    "--progress",
    type=click.Choice(["auto", "json"]),
    default="auto",
    help="On standard error: for people, in a log every 30 seconds, or as JSON lines.",
)


class JsonLines:
    """JSON lines on standard error: one per second, and the first and last of each phase."""

    def __init__(self) -> None:
        self._start = self._began = time.monotonic()
        self._phase: str | None = None
        self._next = 0.0
        #: The amount done when the phase began.
        self._first = 0

    def tell(
        self,
        phase: str,
        done: int,
        total: int,
        further: dict[str, int],
        *,
        timed_from_start: bool = False,
    ) -> None:
        """Prints a line, if one is due.

        Args:
            phase: The current work.
            done: The amount done.
            total: The final value of `done`; 0 if unknown.
            further: Further counts.
            timed_from_start: Whether the first report of the phase is of work since this object
                was made. Otherwise the rate is of the work after that report.
        """
        now = time.monotonic()
        is_first, is_last = phase != self._phase, done == total != 0
        if not is_first and now < self._next and not is_last:
            return
        if is_first and not timed_from_start:
            self._began, self._first = now, done
        self._phase, self._next = phase, now + 1.0
        elapsed = now - self._began
        rate = (done - self._first) / elapsed if elapsed > 0 else 0.0
        remaining = round((total - done) / rate, 1) if rate and total else None
        record = {
            "phase": phase,
            "done": done,
            "total": total,
            **further,
            "seconds": round(now - self._start, 1),
            "rate": round(rate, 1),
            "left": remaining,
        }
        say(json.dumps(record), err=True)

    def close(self) -> None:
        """Does nothing: every line is complete."""


class ProgressBar:
    """A progress bar on standard error, unless `--quiet` is set.

    On a terminal it appears after half a second, and disappears when the work is done. Elsewhere,
    as in the log of a job, it is a line every 30 seconds.

    Work may have phases, one after the other: each has a bar.

    Args:
        label: The name of the work; empty if `show` names its phases.
        total: The bytes of work; `None` if unknown.
    """

    DELAY = 0.5
    INTERVAL = 0.1
    """Seconds between two drawings."""
    LOG_INTERVAL = 30.0
    """Seconds before the first line of a log, and between two."""
    BAR = 16
    """Columns."""

    def __init__(self, label: str = "", total: int | None = None) -> None:
        self.total = total
        #: Further text, after the speed.
        self.note = ""
        self._active, self.is_drawn = not is_quiet(), sys.stderr.isatty()
        self._bars: Bars | None = None
        self._task: TaskID | None = None
        # Of a log: many phases are shorter than the time between two lines.
        self.next = time.monotonic() + self.LOG_INTERVAL
        self._begin(label, human_bytes, 0)

    def _begin(self, label: str, unit: Callable[[float], str], done: int) -> None:
        """Begins a phase, of which an earlier run has done a part."""
        self.close()
        self.label, self.unit, self.done, self._first = label, unit, done, done
        self._start = time.monotonic()
        if self.is_drawn:
            self.next = self._start + self.DELAY

    def __enter__(self) -> ProgressBar:
        return self

    def advance(self, amount: int) -> None:
        """Adds to the amount done."""
        self.done += amount
        if self._active and (now := time.monotonic()) >= self.next:
            self.next = now + (self.INTERVAL if self.is_drawn else self.LOG_INTERVAL)
            if self.is_drawn:
                self._draw(now - self._start)
            else:
                echo_note(f"{self.label}: " + ", ".join(self._parts(now - self._start)))

    def follow(self, step: Step) -> None:
        """Shows the progress that `step` reports."""
        self.total = step.total or None
        self.advance(step.done - self.done)

    def show(
        self,
        label: str,
        done: int,
        total: int,
        unit: Callable[[float], str] = human_bytes,
        *,
        first: int = 0,
        note: str = "",
    ) -> None:
        """Shows how far a phase is.

        Args:
            label: The name of the phase; another name begins another bar.
            done: The amount done; less than before begins another bar, too.
            total: The final value of `done`; 0 if unknown.
            unit: Formats an amount for people.
            first: In the first call of a phase, the amount that does not count towards the speed.
            note: Further text.
        """
        if label != self.label or done < self.done:
            self._begin(label, unit, first)
        self.total = total or None
        self.note = note
        self.advance(done - self.done)

    def close(self) -> None:
        """Removes the bar."""
        if self._bars is not None:
            self._bars.stop()
            self._bars = None

    def _draw(self, elapsed: float) -> None:
        beside = self._beside(elapsed)
        if self._bars is None:
            self._bars = _bars()
            self._task = self._bars.add_task(self.label, beside=beside)
            self._bars.start()
        assert self._task is not None
        self._bars.update(self._task, total=self.total, completed=self.done, beside=beside)
        self._bars.refresh()

    def _parts(self, elapsed: float) -> list[str]:
        """The share that is done, the speed, the note and the time left, without empty ones."""
        speed = (self.done - self._first) / elapsed if elapsed else 0.0
        parts = [self.unit(self.done), f"{self.unit(speed)}/s", self.note, ""]
        if self.total:
            share = min(1.0, self.done / self.total)
            parts[0] = f"{share:.0%} of {self.unit(self.total)}"
            parts[3] = _duration(max(0, self.total - self.done) / speed) + " left" if speed else ""
        return list(filter(None, parts))

    def _beside(self, elapsed: float) -> str:
        parts = self._parts(elapsed)
        room = shutil.get_terminal_size((80, 24)).columns - len(self.label) - self.BAR - 3
        for needless in (self.note, next((it for it in parts if it.endswith("/s")), "")):
            if len("  ".join(parts)) > room and needless in parts:
                parts.remove(needless)
        return "  ".join(parts)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _duration(seconds: float) -> str:
    """A time for people.

    >>> _duration(42.4), _duration(754), _duration(90_061)
    ('42 s', '12 min 34 s', '25 h 1 min')
    """
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes_left = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes_left} min"
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def _bars() -> Bars:
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn
    from rich.progress import Progress as Bars

    # Standard output stays as it is, and no second thread draws, so a signal interrupts only one.
    return Bars(
        TextColumn("{task.description}"),
        BarColumn(bar_width=ProgressBar.BAR),
        TextColumn("{task.fields[beside]}"),
        console=Console(stderr=True, force_terminal=True, no_color=not use_colour(sys.stderr)),
        auto_refresh=False,
        transient=True,
        redirect_stdout=False,
        redirect_stderr=False,
    )
