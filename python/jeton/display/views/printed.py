"""Frames in a terminal, by rich: chips in colours, bars, tables, lattices, for any width.

Look here for how a frame looks in print and on the screen of `jeton learn`. Without colour `│`
separates tokens, and `*` marks what won.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence

from rich.cells import cell_len, set_cell_size
from rich.console import Console, Group, RenderableType
from rich.text import Text

from jeton.display import human_readable
from jeton.display.human_readable import without_controls
from jeton.display.palette import LIGHT, STRONG
from jeton.display.views.frames import (
    Arcs,
    Bars,
    Block,
    Chip,
    Frame,
    Mark,
    Row,
    Rows,
    Table,
)

_QUIET = STRONG["dim"]
_ON = LIGHT["on"]

STYLES: dict[Mark, str] = {
    "": f"{_ON} on {LIGHT['h0']}",
    "best": f"bold {LIGHT['on-best']} on {LIGHT['best']}",
    "tie": f"{_ON} on {LIGHT['h4']}",
    "added": f"bold {LIGHT['on-special']} on {LIGHT['special']}",
    "unknown": f"{_ON} on {LIGHT['h7']}",
    "dim": _QUIET,
}
_SECOND = f"{_ON} on {LIGHT['h2']}"
"""The style of every other plain chip, so that neighbours look different."""

_SIGNS: dict[Mark, str] = {"best": "*", "tie": "=", "added": "+", "unknown": "?", "": "", "dim": ""}
"""The signs that say the same without colour."""

_MAX_ARCS = 40


def renderable(frame: Frame, width: int, *, colour: bool, place: str = "") -> RenderableType:
    """A frame for rich.

    Args:
        width: How many columns there are.
        colour: Whether tokens differ by colour; if not, by signs.
        place: What is printed before the title, such as `3/8`.
    """
    width = max(width, 20)
    frame = without_controls(frame)
    title = Text()
    title.append(f"{place}  " if place else "", _QUIET)
    title.append(frame.title, f"bold {STRONG['']}" if colour else "bold")
    parts: list[Text] = [title, *map(Text, _wrapped(frame.note, width))]
    for block in frame.blocks:
        parts.append(Text(""))
        if block_title := getattr(block, "title", ""):
            parts.append(Text(block_title, f"italic {_QUIET}"))
        for line in _lines(block, width, colour):
            if not colour:
                line.rstrip()
            parts.append(line)
    return Group(*parts)


def _wrapped(text: str, width: int) -> list[str]:
    """A text in lines, broken at spaces; rich's own lines end with a space."""
    lines: list[str] = []
    for word in text.split():
        if lines and cell_len(lines[-1]) + 1 + cell_len(word) <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines


def print_frames(
    frames: Sequence[Frame], console: Console, *, colour: bool, place: str | None = None
) -> None:
    """Prints all frames, one after another; before each title `place`, or which of how many."""
    for number, frame in enumerate(frames, 1):
        where = f"{number}/{len(frames)}" if place is None else place
        console.print(renderable(frame, console.width, colour=colour, place=where))
        if number < len(frames):
            console.print()


def text_of(frames: Sequence[Frame], width: int = 88) -> str:
    """All frames as text without colours.

    Example:
        >>> from jeton.display.views.frames import Bar, Bars, Frame
        >>> print(text_of([Frame("A title", "", (Bars((Bar("a b", 1.0, "3", "best"),)),))], 30))
        1/1  A title
        <BLANKLINE>
        * a b █████████████████████ 3
    """
    stream = io.StringIO()
    console = Console(file=stream, width=width, no_color=True, color_system=None, highlight=False)
    print_frames(frames, console, colour=False)
    return "\n".join(line.rstrip() for line in stream.getvalue().rstrip("\n").split("\n"))


def _lines(block: Block, width: int, colour: bool) -> Iterator[Text]:
    match block:
        case Rows():
            label = max((cell_len(row.label) for row in block.rows), default=0)
            for row in block.rows:
                yield from _row(row, label, width, colour)
        case Bars():
            yield from _bars(block, width, colour)
        case Table():
            yield from _table(block, width)
        case Arcs():
            yield from _arcs(block, width, colour)
    if more := getattr(block, "more", 0):
        yield Text(f"… and {more:,} more", _QUIET)


def _row(row: Row, label_width: int, width: int, colour: bool) -> Iterator[Text]:
    """A row of chips, wrapped at the end of the line, with the text below each."""
    indent = min(label_width + 1, width // 3) if label_width else 0
    room = max(8, width - indent)
    label = set_cell_size(row.label, indent)
    lines = list(_chip_lines(row.chips, room, colour)) or [Text("(nothing)", _QUIET)]
    if row.note:
        if cell_len(lines[0].plain) + cell_len(row.note) + 3 <= room and len(lines) == 1:
            gap = max(3, min(28, room - cell_len(row.note)) - cell_len(lines[0].plain))
            lines[0].append(" " * gap + row.note, _QUIET)
        else:
            lines.append(Text(row.note, _QUIET))
    for number, line in enumerate(lines):
        start = Text()
        start.append(label if number == 0 else " " * indent, _QUIET)
        start.append_text(line)
        yield start


def _chip_lines(chips: Sequence[Chip], room: int, colour: bool) -> Iterator[Text]:
    upper, lower = Text(), Text()
    has_under = any(chip.under for chip in chips)

    def finished() -> Iterator[Text]:
        yield upper
        if has_under:
            yield lower

    plain = 0
    for chip in chips:
        sign = "" if colour else _SIGNS[chip.mark]
        style = STYLES[chip.mark]
        if chip.mark == "" and plain % 2:
            style = _SECOND
        plain += chip.mark == ""
        rest = chip.text + sign
        under = chip.under
        while rest:
            cells = max(cell_len(rest[: room + 1]), cell_len(under))  # linear in the text
            free = room - cell_len(upper.plain) - 1
            if cells > free and upper.plain:
                yield from finished()
                upper, lower = Text(), Text()
                free = room - 1
            part, rest = _split(rest, max(free, 1))
            size = max(cell_len(part), cell_len(under))
            if upper.plain:
                upper.append(" " if colour else "│", "" if colour else _QUIET)
                lower.append(" ")
            upper.append(set_cell_size(part, size), style if colour else "")
            lower.append(set_cell_size(under, size), _QUIET)
            under = ""
    if upper.plain:
        yield from finished()


def _split(text: str, room: int) -> tuple[str, str]:
    """The part of a text that fits `room` columns, at least one character, and the rest."""
    width_so_far = 0
    for number, character in enumerate(text):
        width_so_far += cell_len(character)
        if width_so_far > room and number:
            return text[:number], text[number:]
    return text, ""


def _bars(block: Bars, width: int, colour: bool) -> Iterator[Text]:
    label_width = min(max((cell_len(it.label) for it in block.bars), default=0), width // 3)
    number_width = max((cell_len(it.number) for it in block.bars), default=0)
    room = max(4, width - label_width - number_width - 5)
    for bar in block.bars:
        style = STRONG[bar.mark]
        line = Text("" if colour else f"{_SIGNS[bar.mark]:2}")
        line.append(set_cell_size(bar.label, label_width), "bold" if bar.mark == "best" else "")
        line.append(" ")
        line.append(human_readable.bar(max(bar.share, 0.0), min(room, 48)) or "▏", style)
        line.append(" " + bar.number, "bold" if bar.mark == "best" else "")
        yield line


def _table(block: Table, width: int) -> Iterator[Text]:
    widths = [max(map(cell_len, column)) for column in zip(block.head, *block.rows, strict=True)]
    while sum(widths) + 2 * len(widths) > width and max(widths) > 6:
        widths[widths.index(max(widths))] -= 1
    for row, style in [(block.head, _QUIET), *((row, "") for row in block.rows)]:
        cells = [_cut(cell, width) for cell, width in zip(row, widths, strict=True)]
        yield Text("  ".join(cells).rstrip(), style)


def _cut(cell: str, width: int) -> str:
    if cell_len(cell) <= width:
        return set_cell_size(cell, width)
    return set_cell_size(cell, width - 1) + "…"


def _arcs(block: Arcs, width: int, colour: bool) -> Iterator[Text]:
    """A lattice as intervals below the text; where it does not fit, as a list."""
    number_width = max((cell_len(arc.number) for arc in block.arcs), default=0)
    label_width = min(max((cell_len(arc.label) for arc in block.arcs), default=0), 16)
    step = max((cell_len(it) for it in block.characters), default=1) + 1
    fits = step * len(block.characters) + label_width + number_width + 4 <= width
    arcs = block.arcs
    if len(arcs) > _MAX_ARCS:
        marks = [arc for arc in arcs if arc.mark]
        arcs = (*marks, *[arc for arc in arcs if not arc.mark][: max(0, _MAX_ARCS - len(marks))])
        arcs = tuple(sorted(arcs, key=lambda arc: (arc.start, arc.end)))
    if fits:
        yield Text("".join(set_cell_size(it, step) for it in block.characters), "bold")
    for arc in arcs:
        style = STRONG[arc.mark]
        line = Text()
        if fits:
            length = step * (arc.end - arc.start) - 1
            bar = "─" * length if length < 2 else "├" + "─" * (length - 2) + "┤"
            line.append(
                set_cell_size(" " * (step * arc.start) + bar, step * len(block.characters)), style
            )
            line.append("  ")
        else:
            line.append(f"{arc.start:3}-{arc.end:<3} ", style)
        bold = "bold" if arc.mark == "best" else ""
        line.append(_cut(arc.label, label_width) + " ", bold)
        line.append(f"{arc.number:>{number_width}}", bold)
        line.append("" if colour else f" {_SIGNS[arc.mark]}")
        yield line
    if len(arcs) < len(block.arcs):
        yield Text(f"… and {len(block.arcs) - len(arcs):,} more", _QUIET)
