"""What a terminal shows: progress, tables, bars, and text in coloured tokens.

Look here for how wide things are and what becomes of them on a narrow screen. Nothing in this
file knows what a tokenizer is.
"""

from __future__ import annotations

import io
import shutil
import sys
import time
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any

import click

from jeton.cli.command import is_quiet, use_colour
from jeton.drawing import bar

if TYPE_CHECKING:
    from jeton.corpus import Progress as Step

__all__ = ["Progress", "columns", "heading", "human_bytes", "shorten", "show", "table", "width_of"]


class Progress:
    """A line on standard error that says how far the work has come.

    It appears after half a second, only on a terminal and not under `--quiet`, and is gone when
    the work is done.
    """

    DELAY = 0.5
    INTERVAL = 0.1

    def __init__(
        self, label: str, total: int | None, unit: Callable[[float], str] | None = None
    ) -> None:
        self.unit = human_bytes if unit is None else unit
        self.label = label
        self.total = total
        self.done = 0
        self._active = sys.stderr.isatty() and not is_quiet()
        self._start = time.monotonic()
        self._next = self._start + self.DELAY
        self._shown = False

    def __enter__(self) -> Progress:
        return self

    def advance(self, amount: int) -> None:
        """Adds so much to what has been done."""
        self.done += amount
        if self._active and (now := time.monotonic()) >= self._next:
            self._next = now + self.INTERVAL
            self._shown = True
            line = shorten(self._line(now - self._start), columns() - 1)
            click.echo(f"\r{line}\x1b[K", err=True, nl=False, color=True)

    def follow(self, step: Step) -> None:
        """Shows how far a step of the work has come."""
        self.total = step.total or None
        self.advance(step.done - self.done)

    def _line(self, elapsed: float) -> str:
        speed = f"{self.unit(self.done / elapsed)}/s"
        if not self.total:
            return f"{self.label} {self.unit(self.done)}  {speed}"
        share = min(1.0, self.done / self.total)
        left = elapsed / share - elapsed if share else 0.0
        return (
            f"{self.label} {bar(share, 24):24} {share:4.0%} of {self.unit(self.total)}"
            f"  {speed}  {left:.0f} s left"
        )

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._shown:
            click.echo("\r\x1b[K", err=True, nl=False, color=True)


def columns() -> int:
    """How many columns there are to write in; between 40 and 100."""
    return max(40, min(100, shutil.get_terminal_size((80, 24)).columns))


def show(*things: Any, width: int | None = None) -> None:
    """Prints what rich draws on standard output, in colour where `--color` has it.

    It goes by way of a `str`, so that a reader who leaves is met where all commands meet one.

    Args:
        things: What rich can draw.
        width: How wide; by default as wide as the terminal.
    """
    from rich.console import Console

    colour = use_colour(sys.stdout)
    stream = io.StringIO()
    console = Console(
        file=stream,
        width=columns() if width is None else width,
        color_system="256" if colour else None,
        force_terminal=colour,
        no_color=not colour,
        highlight=False,
    )
    for thing in things:
        console.print(thing)
    lines = (line.rstrip() for line in stream.getvalue().split("\n"))
    click.echo("\n".join(lines), nl=False, color=colour)


def human_bytes(size: float) -> str:
    """A size as people say it.

    >>> human_bytes(999), human_bytes(86_924), human_bytes(3_500_000_000)
    ('999 B', '86.9 kB', '3.5 GB')
    """
    for unit in ("B", "kB", "MB", "GB"):
        if size < 1000:
            return f"{size:.0f} B" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} TB"


def width_of(text: str) -> int:
    """How many columns `text` takes, without escape sequences.

    >>> width_of("abc"), width_of("图书馆"), width_of("e\\u0301")
    (3, 6, 1)
    """
    width = 0
    for character in click.unstyle(text):
        if unicodedata.combining(character) or unicodedata.category(character) in ("Mn", "Cf"):
            continue
        width += 2 if unicodedata.east_asian_width(character) in "WF" else 1
    return width


def shorten(text: str, width: int) -> str:
    """`text` cut to `width` columns, with an ellipsis where something was cut.

    >>> shorten("a long name", 6), shorten("short", 6)
    ('a lon…', 'short')
    """
    if width_of(text) <= width:
        return text
    kept = ""
    for character in text:
        if width_of(kept + character) > width - 1:
            break
        kept += character
    return kept + "…"


def heading(title: str) -> str:
    """A title with a rule to the end of the line."""
    rule = "─" * max(3, columns() - width_of(title) - 4)
    return (
        click.style("── ", fg="cyan")
        + click.style(title, bold=True)
        + click.style(f" {rule}", fg="cyan")
    )


def table(rows: Iterable[Sequence[str]], align: str, gap: str = "  ", indent: str = "  ") -> str:
    """Rows in columns; `align` has `<` or `>` for each column.

    >>> print(table([("a", "10"), ("bcd", "7")], "<>"))
      a    10
      bcd   7
    """
    rows = list(rows)
    widths = [max(width_of(row[i]) for row in rows) for i in range(len(align))] if rows else []
    lines = []
    for row in rows:
        cells = []
        for cell, side, width in zip(row, align, widths, strict=True):
            space = " " * (width - width_of(cell))
            cells.append(cell + space if side == "<" else space + cell)
        lines.append((indent + gap.join(cells)).rstrip())
    return "\n".join(lines)
