"""Frames as a page: one complete file, to step through by keys or buttons.

Look here for `jeton learn --html` and for what a notebook shows of an explanation. The look is in
`page.css`, the colours in `jeton.display.palette`, the keys in `page.js`; without scripts, and in
print, all frames are one below the other. The page loads nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from importlib.resources import files

from jeton.display.human_readable import without_controls
from jeton.display.palette import css
from jeton.display.views.frames import (
    Arcs,
    Bars,
    Block,
    Frame,
    Mark,
    Row,
    Rows,
    Table,
)

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<title>{title}</title>
<style>
{style}</style>
</head>
<body class="jeton">
<header>
<h1>{title}</h1>
<nav aria-label="Steps">
<button type="button" id="first" title="First step (Home)">«</button>
<button type="button" id="back" title="Back (←)">◀</button>
<output id="place"></output>
<button type="button" id="on" title="On (→ or space)">▶</button>
<button type="button" id="last" title="Last step (End)">»</button>
<button type="button" id="play" title="Play or pause (p)" aria-pressed="false">play</button>
<button type="button" id="all" title="All steps at once (a)">all</button>
<button type="button" id="light" title="Dark or light (t)">◐</button>
</nav>
<input type="range" id="slider" min="1" max="{count}" value="1" aria-label="Step">
</header>
<main>
{frames}
</main>
<footer>← → or space: step · Home End: first, last · p: play · a: all · t: dark, light</footer>
<script>
{script}</script>
</body>
</html>
"""


def page(frames: Sequence[Frame], title: str) -> str:
    """A whole page.

    Example:
        >>> from jeton.display.views.frames import Frame
        >>> text = page([Frame("One"), Frame("<two>")], "A title")
        >>> text.count("<section"), "&lt;two&gt;" in text, "http:" in text
        (2, True, False)
    """
    return _PAGE.format(
        policy=_POLICY,
        title=escape(without_controls(title)),
        count=max(1, len(frames)),
        style=css(".jeton") + _file("page.css"),
        script=_file("page.js"),
        frames="\n".join(_sections(frames)),
    )


def fragment(frames: Sequence[Frame]) -> str:
    """A part of a page with all frames, as a notebook shows it."""
    sections = "\n".join(_sections(frames))
    style = css(".jeton") + _file("page.css")
    return f'<div class="jeton"><style>\n{style}</style>\n{sections}\n</div>'


def _file(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def _sections(frames: Sequence[Frame]) -> list[str]:
    sections = []
    for number, frame in enumerate(map(without_controls, frames), 1):
        note = f"<p>{escape(frame.note)}</p>" if frame.note else ""
        blocks = "\n".join(_block(block) for block in frame.blocks)
        sections.append(
            f'<section data-step="{number}"><h2><span class="number">{number}</span> '
            f"{escape(frame.title)}</h2>{note}\n{blocks}</section>"
        )
    return sections


def _block(block: Block) -> str:
    title = f"<h3>{escape(block.title)}</h3>" if block.title else ""
    more = getattr(block, "more", 0)
    rest = f'<p class="more">… and {more:,} more</p>' if more else ""
    match block:
        case Rows():
            label = max((len(row.label) for row in block.rows), default=0)
            rows = "".join(_row(row) for row in block.rows)
            inner = f'<div style="--label:{label + 1}ch">{rows}</div>'
        case Bars():
            inner = _bars(block)
        case Table():
            inner = _table(block)
        case Arcs():
            inner = _arcs(block)
    return f'<div class="block">{title}{inner}{rest}</div>'


def _row(row: Row) -> str:
    label = f'<span class="label">{escape(row.label)}</span>' if row.label else ""
    note = f'<span class="note">{escape(row.note)}</span>' if row.note else ""
    chips = ""
    for chip in row.chips:
        under = f"<i>{escape(chip.under)}</i>" if chip.under else ""
        chips += f'<span class="chip {_class(chip.mark)}"><b>{escape(chip.text)}</b>{under}</span>'
    chips = chips or '<span class="note">(nothing)</span>'
    return f'<div class="row">{label}<span class="chips">{chips}</span>{note}</div>'


def _class(mark: Mark) -> str:
    return mark or "plain"


def _bars(block: Bars) -> str:
    rows = "".join(
        f'<div class="bar {_class(it.mark)}"><code>{escape(it.label)}</code>'
        f'<span class="track"><span style="width:{100 * max(0.0, min(1.0, it.share)):.1f}%"></span>'
        f"</span><span>{escape(it.number)}</span></div>"
        for it in block.bars
    )
    return f'<div class="bars">{rows}</div>'


def _table(block: Table) -> str:
    head = "".join(f"<th>{escape(cell)}</th>" for cell in block.head)
    rows = "".join(
        '<tr class="plain">' + "".join(f"<td>{escape(it)}</td>" for it in row) + "</tr>"
        for row in block.rows
    )
    return f'<div class="scroll"><table><tr>{head}</tr>{rows}</table></div>'


def _arcs(block: Arcs) -> str:
    """A lattice: the characters, and below them each piece in a lane, as wide as what it spans."""
    characters = "".join(f"<b>{escape(it)}</b>" for it in block.characters)
    pieces = "".join(
        f'<span class="piece {_class(arc.mark)}" style="grid-column:{arc.start + 1}/{arc.end + 1};'
        f'grid-row:{lane + 2}"><b>{escape(arc.label)}</b><i>{escape(arc.number)}</i></span>'
        for arc, lane in block.lanes()
    )
    columns = max(1, len(block.characters))
    style = f"grid-template-columns:repeat({columns},minmax(3.6rem,7rem))"
    return (
        f'<div class="scroll"><div class="lattice" style="{style}">{characters}{pieces}</div></div>'
    )
