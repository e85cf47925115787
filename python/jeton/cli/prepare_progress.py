"""How far preparing is: a bar with an estimate, or JSON lines; and what is said of a stop."""

from __future__ import annotations

import contextlib
import json
import sys
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import click

from jeton.cli.command import echo_note, is_quiet

if TYPE_CHECKING:
    from jeton.data import PrepareProgress

__all__ = ["saying_it_goes_on", "shown"]

Watch = Callable[["PrepareProgress"], None]


@contextlib.contextmanager
def shown(as_json: bool) -> Iterator[Watch | None]:
    """What shows the progress, while it lasts."""
    if is_quiet() or not (as_json or sys.stderr.isatty()):
        yield None
    elif as_json:
        yield _JsonLines()
    else:
        with _bars() as bars:
            yield bars


@contextlib.contextmanager
def saying_it_goes_on() -> Iterator[None]:
    """Says, where a signal stops the work, that it is not lost."""
    try:
        yield
    except KeyboardInterrupt:
        echo_note("stopped; the same command goes on where it was")
        raise


class _JsonLines:
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
        click.echo(json.dumps(told), err=True)


@contextlib.contextmanager
def _bars() -> Iterator[Watch]:
    """A bar for each phase, which go when the work is done."""
    from rich.console import Console, RenderableType
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        Progress,
        ProgressColumn,
        Task,
        TextColumn,
        TimeRemainingColumn,
        TransferSpeedColumn,
    )

    class OfBytes(ProgressColumn):
        """A column of how many bytes there are, which is empty where nobody knows."""

        def __init__(self, column: ProgressColumn) -> None:
            super().__init__()
            self._column = column

        def render(self, task: Task) -> RenderableType:
            return "" if task.total is None else self._column.render(task)

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        OfBytes(DownloadColumn()),
        OfBytes(TransferSpeedColumn()),
        TextColumn("{task.fields[tokens]:,} tokens"),
        TimeRemainingColumn(compact=True),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bars:
        phases: dict[str, Any] = {}

        def watch(step: PrepareProgress) -> None:
            if step.phase not in phases:
                for task in phases.values():
                    bars.update(task, visible=False)
                # What an earlier run has done says nothing of the speed of this one.
                phases[step.phase] = bars.add_task(
                    step.phase, total=step.total or None, completed=step.done, tokens=step.tokens
                )
            bars.update(
                phases[step.phase],
                completed=step.done,
                total=step.total or None,
                tokens=step.tokens,
            )

        yield watch
