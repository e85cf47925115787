"""Tokens one after another, in alternating colours; without colour, `│` stands between them.

Look here for how a text is laid out in tokens; `jeton.human_readable` makes a single one visible.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from jeton.cli.printing import isolated, styled
from jeton.cli.terminal import width_of
from jeton.human_readable import LIGHT, visible_pieces

__all__ = ["LEGEND", "PALE", "PALES", "SPECIAL", "Piece", "flow", "paint"]

SPECIAL = (231, 61)
"""The colours, of the 256, of a special token and of what is behind it."""

PALE, PALES = 240, (253, 255)
"""Those of a token that is not to be learnt, and of what is behind it and its neighbours."""

LEGEND = "· space   → tab   ⏎ line end   図‹1/2› part of a character   ‹e2› odd byte"


@dataclass(frozen=True, slots=True)
class Piece:
    """A token to show."""

    data: bytes
    special: bool = False
    pale: bool = False


def paint(shown: str, number: int, special: bool = False, pale: bool = False) -> str:
    """The `number`-th token of a text in its colour, or as one that is not to be learnt."""
    shown = isolated(shown)
    if pale:
        return styled(shown, fg=PALE, bg=PALES[number % 2], bold=special)
    if special:
        return styled(shown, fg=SPECIAL[0], bg=SPECIAL[1], bold=True)
    return styled(shown, fg=16, bg=LIGHT[number % len(LIGHT)])


def flow(pieces: Iterable[Piece], width: int, colour: bool, indent: str = "  ") -> str:
    """Tokens one after another, broken into lines of `width` columns and after line ends."""
    lines = [indent]
    used = len(indent)
    fresh = True
    pieces = list(pieces)
    for number, (piece, shown) in enumerate(
        zip(pieces, visible_pieces([piece.data for piece in pieces]), strict=True)
    ):
        separator = "" if colour or fresh else "│"
        needed = width_of(separator + shown)
        if used + needed > width and not fresh:
            lines.append(indent)
            used, separator = len(indent), ""
            needed = width_of(shown)
        lines[-1] += separator + (
            paint(shown, number, piece.special, piece.pale) if colour else isolated(shown)
        )
        used += needed
        fresh = False
        if piece.data.endswith(b"\n"):
            lines.append(indent)
            used, fresh = len(indent), True
    return "\n".join(line for line in lines if line != indent) or indent
