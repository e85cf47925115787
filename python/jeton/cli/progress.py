"""A progress bar on standard error, drawn by rich.

Look here for when it appears, and for the text beside the bar.
"""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import TYPE_CHECKING

import click

from jeton.cli.command import is_quiet
from jeton.cli.printing import use_colour
from jeton.cli.terminal import human_bytes

if TYPE_CHECKING:
    from rich.progress import Progress as Bars
    from rich.progress import TaskID

    from jeton.corpora.corpus import Progress as Step

__all__ = ["ProgressBar", "progress_option"]

progress_option = click.option(
    "--progress",
    type=click.Choice(["auto", "json"]),
    default="auto",
    help="On standard error: for people, if that is a terminal, or as JSON lines.",
)


class ProgressBar:
    """A progress bar on standard error.

    It appears after half a second, only on a terminal and without `--quiet`, and disappears when
    the work is done.

    Args:
        label: The name of the work.
        total: The amount of work; `None` if unknown.
        unit: Formats an amount for people.
        done: The amount that an earlier run has done, which does not count towards the speed.
    """

    DELAY = 0.5
    INTERVAL = 0.1
    """Seconds between two drawings."""
    BAR = 16
    """Columns."""

    def __init__(
        self,
        label: str,
        total: int | None,
        unit: Callable[[float], str] = human_bytes,
        *,
        done: int = 0,
    ) -> None:
        self.label = label
        self.total = total
        self.unit = unit
        self.done = done
        #: Further text, after the speed.
        self.note = ""
        self._first = done
        self._active = sys.stderr.isatty() and not is_quiet()
        self._start = time.monotonic()
        self._next = self._start + self.DELAY
        self._bars: Bars | None = None
        self._task: TaskID | None = None

    def __enter__(self) -> ProgressBar:
        return self

    def advance(self, amount: int) -> None:
        """Adds to the amount done."""
        self.done += amount
        if self._active and (now := time.monotonic()) >= self._next:
            self._next = now + self.INTERVAL
            self._draw(now - self._start)

    def follow(self, step: Step) -> None:
        """Shows the progress that `step` reports."""
        self.total = step.total or None
        self.advance(step.done - self.done)

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

    def _beside(self, elapsed: float) -> str:
        speed = (self.done - self._first) / elapsed
        parts = [self.unit(self.done), f"{self.unit(speed)}/s", self.note, ""]
        if self.total:
            share = min(1.0, self.done / self.total)
            parts[0] = f"{share:4.0%} of {self.unit(self.total)}"
            parts[3] = f"{max(0, self.total - self.done) / speed:.0f} s left" if speed else ""
        room = shutil.get_terminal_size((80, 24)).columns - len(self.label) - self.BAR - 3
        for less_needed in (2, 1):
            if len("  ".join(filter(None, parts))) > room:
                parts[less_needed] = ""
        return "  ".join(filter(None, parts))

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


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
