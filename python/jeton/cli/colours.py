"""Tokens one after another, in their colours; without colour, with `│` between them.

Look here for how a text is laid out in tokens; `jeton.display.human_readable` makes a single one
visible.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from jeton.cli.printing import isolated, styled
from jeton.cli.terminal import width_of
from jeton.display.human_readable import visible_pieces
from jeton.display.palette import TERMINAL, hues

LEGEND = "· space   → tab   ⏎ line end   図‹1/2› part of a character   ‹e2› odd byte"


@dataclass(frozen=True, slots=True)
class ColouredToken:
    """A token to show."""

    data: bytes
    id: int
    special: bool = False
    pale: bool = False


def paint(text: str, piece: ColouredToken, hue: int) -> str:
    """A token in its hue; special tokens and tokens that are not learnt have other colours."""
    text = isolated(text)
    if piece.pale:
        return styled(text, fg=240, bg=255 if hue % 2 else 253, bold=piece.special)
    if piece.special:
        return styled(text, fg=231, bg=61, bold=True)
    return styled(text, fg=16, bg=TERMINAL[hue])


def flow(pieces: Iterable[ColouredToken], width: int, colour: bool, indent: str = "  ") -> str:
    """Tokens one after another, broken into lines of `width` columns and after line ends."""
    lines = [indent]
    filled = len(indent)
    fresh = True
    pieces = list(pieces)
    texts = visible_pieces([piece.data for piece in pieces])
    colours = hues(piece.id for piece in pieces)
    for piece, text, hue in zip(pieces, texts, colours, strict=True):
        separator = "" if colour or fresh else "│"
        columns = width_of(separator + text)
        if filled + columns > width and not fresh:
            lines.append(indent)
            filled, separator = len(indent), ""
            columns = width_of(text)
        lines[-1] += separator + (paint(text, piece, hue) if colour else isolated(text))
        filled += columns
        fresh = False
        if piece.data.endswith(b"\n"):
            lines.append(indent)
            filled, fresh = len(indent), True
    return "\n".join(line for line in lines if line != indent) or indent
