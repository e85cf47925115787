"""Draws pictures for the documents: what a terminal shows, and steps of algorithms, as SVG.

Look here for the look of a picture. Each is drawn for light and for dark backgrounds in one file,
in the colours of `jeton.display.palette`; a page's own switch reaches a picture by `color-scheme`.
A picture fetches nothing, has a title for people who do not see it, and every text in it has a
contrast of at least 4.5 to 1.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from html import escape

from rich.cells import cell_len
from rich.console import Console
from rich.style import Style
from rich.terminal_theme import TerminalTheme
from rich.text import Text

from jeton.display.human_readable import without_controls
from jeton.display.palette import DARK, LIGHT
from jeton.display.views.frames import Arcs, Bars, Block, Chip, Frame, Mark, Rows, Table

CELL, LINE, SIZE = 8.4, 22, 14
"""Pixels of a column, of a line, and of the letters."""
PAD = 20
HUES = 8
READABLE = 4.5
MONO = "ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace"
SANS = "system-ui, 'DejaVu Sans', sans-serif"

RGB = tuple[int, int, int]


def rgb(colour: str) -> RGB:
    """The three values of `#rrggbb`."""
    red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return red, green, blue


def contrast(one: RGB, other: RGB) -> float:
    """The contrast of two colours, 1 to 21, as the Web Content Accessibility Guidelines have it."""

    def luminance(colour: RGB) -> float:
        linear = (
            it / 12.92 if it <= 0.04045 else ((it + 0.055) / 1.055) ** 2.4
            for it in (value / 255 for value in colour)
        )
        return sum(weight * it for weight, it in zip((0.2126, 0.7152, 0.0722), linear, strict=True))

    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def readable(colour: RGB, background: RGB) -> RGB:
    """The colour, or the nearest one towards black or white that can be read on a background."""
    end = 0 if sum(background) > 3 * 127 else 255
    for step in range(21):
        red, green, blue = (round(it + (end - it) * step / 20) for it in colour)
        if contrast((red, green, blue), background) >= READABLE:
            return red, green, blue
    return end, end, end


def hexadecimal(colour: RGB) -> str:
    return "#{:02x}{:02x}{:02x}".format(*colour)


@dataclass
class Drawing:
    """Shapes and text, with a class for each pair of colours."""

    title: str
    shapes: list[str] = field(default_factory=list)
    width: float = 0
    height: float = 0
    classes: dict[tuple[str, str], str] = field(default_factory=dict)

    def fill(self, light: str, dark: str) -> str:
        """The class of a colour on light backgrounds, and of its counterpart on dark ones."""
        return self.classes.setdefault((light, dark), f"c{len(self.classes)}")

    def named(self, name: str) -> str:
        """The class of a colour of the palette."""
        return self.fill(LIGHT[name], DARK[name])

    def rect(self, x: float, y: float, width: float, height: float, fill: str, r: float) -> None:
        self.shapes.append(
            f'<rect class="{fill}" x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" '
            f'rx="{r:g}"/>'
        )
        self.width = max(self.width, x + width)
        self.height = max(self.height, y + height)

    def text(
        self, x: float, y: float, text: str, fill: str, *, bold: bool = False, middle: bool = False
    ) -> None:
        """A text in columns of one width, whatever font there is; `y` is its base line."""
        width = CELL * cell_len(text)
        x -= width / 2 if middle else 0
        weight = ' font-weight="700"' if bold else ""
        self.shapes.append(
            f'<text class="{fill}" x="{x:g}" y="{y:g}"{weight} textLength="{width:g}" '
            f'lengthAdjust="spacingAndGlyphs">{escape(text)}</text>'
        )
        self.width = max(self.width, x + width)
        self.height = max(self.height, y + 6)

    def prose(self, x: float, y: float, text: str, fill: str, *, bold: bool = False) -> None:
        """A text in a proportional font, which is at most as wide as in columns."""
        weight = ' font-weight="700"' if bold else ""
        self.shapes.append(
            f'<text class="{fill}" x="{x:g}" y="{y:g}"{weight} font-family="{SANS}">'
            f"{escape(text)}</text>"
        )
        self.width = max(self.width, x + (1.06 if bold else 0.92) * CELL * cell_len(text))
        self.height = max(self.height, y + 6)

    def svg(self, *, framed: bool = True) -> str:
        """The whole file; `framed` draws a card behind everything."""
        width, height = round(self.width + PAD), round(self.height + PAD * 0.8)
        card, line = (self.named("card"), self.named("line")) if framed else ("", "")
        light = "\n".join(f".{name} {{ fill: {it[0]} }}" for it, name in self.classes.items())
        dark = "\n".join(f".{name} {{ fill: {it[1]} }}" for it, name in self.classes.items())
        background = (
            [
                f'<rect class="{line}" width="{width}" height="{height}" rx="10"/>',
                f'<rect class="{card}" x="1" y="1" width="{width - 2}" height="{height - 2}" '
                'rx="9"/>',
            ]
            if framed
            else []
        )
        return "\n".join(
            [
                f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
                f'width="{width}" height="{height}" role="img" font-family="{MONO}" '
                f'font-size="{SIZE}" xml:space="preserve">',
                f"<title>{escape(self.title)}</title>",
                f"<style>\n{light}\n@media (prefers-color-scheme: dark) {{\n{dark}\n}}\n</style>",
                *background,
                *self.shapes,
                "</svg>",
                "",
            ]
        )


# What a terminal shows.


def _theme(background: str, text: str, colours: Sequence[str]) -> TerminalTheme:
    both = [rgb(it) for it in colours]
    return TerminalTheme(rgb(background), rgb(text), both, both)


# Black, red, green, yellow, blue, magenta, cyan, white.
_ON_LIGHT = ("#1b1d21", "#a3261d", "#2a6a34", "#7a5200", "#1f5f8b", "#83307a", "#0b6266", "#5c626b")
_ON_DARK = ("#15171b", "#ffb4ab", "#8fd39a", "#e6c26a", "#86c1ec", "#eba9e2", "#7fd0d3", "#a5abb5")
_LIGHT_THEME = _theme(LIGHT["card"], LIGHT["text"], _ON_LIGHT)
_DARK_THEME = _theme(DARK["card"], DARK["text"], _ON_DARK)


def of_terminal(text: str, command: str, title: str) -> str:
    """What a command shows in a terminal, from its text with sequences of colours."""
    drawing = Drawing(title)
    console = Console(width=1_000, color_system="truecolor", force_terminal=True)
    prompt = Text("$ ", Style(color="blue", bold=True)).append(command, "bold")
    lines = [prompt, *map(Text.from_ansi, text.rstrip("\n").split("\n"))]
    for number, line in enumerate(lines):
        x, y = float(PAD), PAD - 4 + LINE * number
        for segment in line.render(console):
            width = CELL * cell_len(segment.text)
            if segment.text and segment.text != "\n":
                _segment(drawing, x, y, segment.text, segment.style or Style.null())
            x += width
    return drawing.svg()


def _segment(drawing: Drawing, x: float, y: float, text: str, style: Style) -> None:
    backgrounds, colours, bars = [], [], []
    for theme in (_LIGHT_THEME, _DARK_THEME):
        fore: RGB = style.color.get_truecolor(theme) if style.color else theme.foreground_color
        back = style.bgcolor.get_truecolor(theme, False) if style.bgcolor else None
        background: RGB = back or theme.background_color
        if style.dim:
            red, green, blue = ((2 * it + at) // 3 for it, at in zip(fore, background, strict=True))
            fore = red, green, blue
        backgrounds.append(hexadecimal(background))
        bars.append(hexadecimal(fore))
        colours.append(hexadecimal(readable(fore, background)))
    if style.bgcolor:
        width = CELL * cell_len(text)
        drawing.rect(x, y + 1, width, LINE - 2, drawing.fill(backgrounds[0], backgrounds[1]), 3)
    for run in re.finditer(r"█+|[^\s█]+(?: [^\s█]+)*", text):
        left, width = x + CELL * cell_len(text[: run.start()]), CELL * cell_len(run[0])
        if run[0][0] == "█":
            drawing.rect(left, y + 3, width, LINE - 6, drawing.fill(*bars), 3)
        else:
            fill = drawing.fill(*colours)
            drawing.text(left, y + 16, run[0], fill, bold=bool(style.bold))


# Steps of algorithms.

_MARKS: dict[Mark, tuple[str, str]] = {
    "best": ("accent", "on-accent"),
    "tie": ("h4", "on"),
    "added": ("special", "on-special"),
    "unknown": ("bad-ground", "bad"),
}
"""The background and text colours of a highlighted chip."""


def of_frame(frame: Frame, title: str, columns: int = 84) -> str:
    """A step of an algorithm, at most about `columns` wide."""
    frame = without_controls(frame)
    drawing = Drawing(title)
    y = float(PAD)
    if frame.title:
        drawing.prose(PAD, y + 12, frame.title, drawing.named("text"), bold=True)
        y += 26
    for line in _wrapped(frame.note, int(columns * 1.08)):
        drawing.prose(PAD, y + 12, line, drawing.named("quiet"))
        y += 20
    y += 6 if frame.note else 0
    for block in frame.blocks:
        y = _block(drawing, block, y, columns) + 10
    return drawing.svg()


def _wrapped(text: str, width: int) -> Iterator[str]:
    line = ""
    for word in text.split():
        if line and len(line) + 1 + len(word) > width:
            yield line
            line = ""
        line += f" {word}" if line else word
    if line:
        yield line


def _block(drawing: Drawing, block: Block, y: float, columns: int) -> float:
    """Draws a block from `y` on, and returns where it ends."""
    if block.title:
        drawing.prose(PAD, y + 12, block.title, drawing.named("quiet"))
        y += 24
    match block:
        case Rows():
            y = _rows(drawing, block, y, columns)
        case Bars():
            y = _bars(drawing, block, y, columns)
        case Table():
            y = _table(drawing, block, y)
        case Arcs():
            y = _arcs(drawing, block, y, columns)
    if more := getattr(block, "more", 0):
        drawing.prose(PAD, y + 12, f"… and {more:,} more", drawing.named("quiet"))
        y += 20
    return y


def _rows(drawing: Drawing, block: Rows, y: float, columns: int) -> float:
    label = max((cell_len(row.label) for row in block.rows), default=0)
    left = PAD + (CELL * (label + 2) if label else 0)
    right = PAD + CELL * columns
    for row in block.rows:
        if row.label:
            drawing.text(PAD, y + 16, row.label, drawing.named("quiet"))
        x, below = left, any(chip.under for chip in row.chips)
        step = 50 if below else 28
        for number, chip in enumerate(row.chips):
            width = CELL * max(cell_len(chip.text) + 1.2, cell_len(chip.under) + 0.4)
            if x > left and x + width > right:
                x, y = left, y + step
            _chip(drawing, chip, number, x, y, width)
            x += width + 4
        if row.note:
            gap = CELL * cell_len(row.note)
            if x > left and x + 12 + gap > right:
                x, y = left - 12, y + step
            drawing.prose(x + 12, y + 16, row.note, drawing.named("quiet"))
        y += step
    return y


def _chip(drawing: Drawing, chip: Chip, number: int, x: float, y: float, width: float) -> None:
    background, on = _MARKS.get(chip.mark, (f"h{number % HUES}", "on"))
    if chip.mark == "dim":
        on = "quiet"
    else:
        drawing.rect(x, y, width, 24, drawing.named(background), 5)
    drawing.text(x + width / 2, y + 17, chip.text, drawing.named(on), middle=True)
    if chip.under:
        drawing.text(x + width / 2, y + 39, chip.under, drawing.named("quiet"), middle=True)


def _bars(drawing: Drawing, block: Bars, y: float, columns: int) -> float:
    label = max(cell_len(bar.label) for bar in block.bars)
    number = max(cell_len(bar.number) for bar in block.bars)
    left = PAD + CELL * (label + 2)
    room = CELL * max(12, min(44, columns - label - number - 4))
    for bar in block.bars:
        best = bar.mark == "best"
        drawing.text(PAD, y + 15, bar.label, drawing.named("text"), bold=best)
        width = max(3.0, room * max(0.0, min(1.0, bar.share)))
        background = {"unknown": "bad", "dim": "line", "best": "accent"}.get(bar.mark, "h0")
        drawing.rect(left, y + 2, width, 18, drawing.named(background), 4)
        drawing.text(left + width + 8, y + 15, bar.number, drawing.named("text"), bold=best)
        y += 25
    return y


def _table(drawing: Drawing, block: Table, y: float) -> float:
    lines = (block.head, *block.rows)
    widths = [max(map(cell_len, column)) for column in zip(*lines, strict=True)]
    for number, cells in enumerate(lines):
        x = float(PAD)
        colour = drawing.named("quiet" if number == 0 else "text")
        for cell, width in zip(cells, widths, strict=True):
            if cell:
                drawing.text(x, y + 16, cell, colour, bold=False)
            x += CELL * (width + 3)
        y += 26 if number == 0 else 24
    return y


def _arcs(drawing: Drawing, block: Arcs, y: float, columns: int) -> float:
    """A lattice: the characters in columns, and below them each piece as wide as what it spans."""
    widest = max(
        (max(cell_len(it.label), cell_len(it.number)) / (it.end - it.start) for it in block.arcs),
        default=3,
    )
    step = min(CELL * (widest + 2), CELL * columns / max(1, len(block.characters)))
    for number, character in enumerate(block.characters):
        middle = PAD + step * (number + 0.5)
        drawing.text(middle, y + 16, character, drawing.named("text"), bold=True, middle=True)
    y += 28
    top, lanes = y, 0
    for arc, lane in block.lanes():
        lanes = max(lanes, lane + 1)
        background, on = _MARKS.get(arc.mark, ("h0", "on"))
        x, width = PAD + step * arc.start + 2, step * (arc.end - arc.start) - 4
        y = top + 46 * lane
        drawing.rect(x, y, width, 42, drawing.named(background), 6)
        for at, text in ((17, arc.label), (34, arc.number)):
            drawing.text(x + width / 2, y + at, text, drawing.named(on), middle=True)
    return top + 46 * lanes


def of_tokens(texts: Iterable[tuple[str, int]], title: str, columns: int = 50) -> str:
    """Tokens of a text on coloured backgrounds, with the id of each below it, in centred lines."""
    lines: list[list[tuple[Chip, float]]] = [[]]
    for text, id in texts:
        width = CELL * max(cell_len(text) + 1.2, len(str(id)) + 0.6) + 4
        if sum(it for _, it in lines[-1]) + width > CELL * columns:
            lines.append([])
        lines[-1].append((Chip(text, "", str(id)), width))
    drawing = Drawing(title)
    number = 0
    for y, line in enumerate(lines):
        x = PAD + (CELL * columns - sum(width for _, width in line)) / 2
        for chip, width in line:
            _chip(drawing, chip, number, x, 4.0 + 50 * y, width - 4)
            x, number = x + width, number + 1
    drawing.width = max(drawing.width, CELL * columns + PAD)
    return drawing.svg(framed=False)
