"""Layout for a terminal: tables, headings, names shortened to a width.

Look here for how wide things are, and for how they fit a narrow screen. This file knows nothing
about tokenizers.
"""

from __future__ import annotations

import io
import shutil
import sys
import textwrap
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from jeton.cli.printing import isolated, own_colours, say, styled, terminal_text
from jeton.display.human_readable import printable

if TYPE_CHECKING:
    from rich.console import RenderableType

_ANY_WIDTH = 10_000
"""Columns of output that another program reads."""


def columns() -> int:
    """The columns to write in: those of the terminal, but at least 40 and at most 100."""
    return max(40, min(100, shutil.get_terminal_size((80, 24)).columns))


def show(*things: RenderableType) -> None:
    """Prints objects of rich on standard output, in colour if `--color` allows.

    It prints through `say`, which alone handles a reader who leaves.
    """
    say("\n".join(lines_of(things, columns())))


def lines_of(things: Iterable[RenderableType], width: int) -> list[str]:
    """Objects of rich as lines, with colours that `say` can remove."""
    from rich.color import ColorSystem
    from rich.console import Console
    from rich.style import Style

    console = Console(
        file=io.StringIO(),
        width=width,
        color_system="256",
        force_terminal=True,
        no_color=False,
        highlight=False,
        markup=False,
        emoji=False,
        legacy_windows=False,
    )
    lines = []
    for thing in things:
        for segments in console.render_lines(thing, pad=False):
            line = ""
            for text, style, _ in segments:
                plain = terminal_text(text, colour=False)
                colours = (style or Style.null()).render(plain, color_system=ColorSystem.EIGHT_BIT)
                line += isolated(own_colours(colours))
            lines.append(line.rstrip())
    return lines


def human_bytes(size: float) -> str:
    """A size for people.

    >>> human_bytes(999), human_bytes(86_924), human_bytes(3_500_000_000)
    ('999 B', '86.9 kB', '3.5 GB')
    """
    for unit in ("B", "kB", "MB", "GB"):
        if size < 1000:
            return f"{size:.0f} B" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} TB"


def width_of(text: str) -> int:
    """The columns that `text` takes, without the sequences of `styled`.

    >>> width_of("abc"), width_of("图书馆"), width_of("e\\u0301")
    (3, 6, 1)
    """
    from rich.cells import cell_len

    return cell_len(terminal_text(text, colour=False, lines=False))


def shorten(text: str, width: int) -> str:
    """`text` shortened to `width` columns, with an ellipsis at the end if it was longer.

    >>> shorten("a long name", 6), shorten("short", 6)
    ('a lon…', 'short')
    """
    from rich.cells import set_cell_size

    return text if width_of(text) <= width else set_cell_size(text, width - 1).rstrip() + "…"


def paragraph(text: str, indent: str = "  ") -> str:
    """`text` in lines that fit the terminal.

    >>> paragraph("one two", indent="    ")
    '    one two'
    """
    return textwrap.fill(
        text, columns(), initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False
    )


def heading(title: str) -> str:
    """A title with a rule to the end of the line; on a terminal it is one line."""
    title = printable(title, lines=False)
    if sys.stdout.isatty():
        title = shorten(title, columns() - 8)
    rule = "─" * max(3, columns() - width_of(title) - 4)
    return styled("── ", fg="cyan") + styled(title, bold=True) + styled(f" {rule}", fg="cyan")


def table(
    rows: Iterable[Sequence[str]],
    align: str,
    gap: str = "  ",
    indent: str = "  ",
    *,
    wraps: bool = False,
) -> str:
    """Rows in columns; `align` has `<` or `>` for each column.

    On a terminal that is too narrow, and with `wraps` always, left-aligned columns are wrapped.

    >>> print(table([("a", "10"), ("bcd", "7")], "<>"))
      a    10
      bcd   7
    """
    from rich.table import Table
    from rich.text import Text

    grid = Table.grid(padding=(0, len(gap)))
    for side in align:
        right = side == ">"
        grid.add_column(justify="right" if right else "left", no_wrap=right, overflow="fold")
    for row in rows:
        cells = (terminal_text(cell, colour=True, lines=False) for cell in row)
        grid.add_row(*map(Text.from_ansi, cells))
    if not grid.rows:
        return ""
    width = columns() - len(indent) if wraps or sys.stdout.isatty() else _ANY_WIDTH
    return "\n".join((indent + line).rstrip() for line in lines_of([grid], width))
