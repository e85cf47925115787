"""Tokens one after another, in alternating colours; without colour, `│` stands between them.

Look here for how a text is laid out in tokens; `jeton.human_readable` makes a single one visible.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from jeton.cli.printing import styled
from jeton.cli.terminal import width_of
from jeton.human_readable import LIGHT, visible

__all__ = ["LEGEND", "Piece", "flow", "paint"]

LEGEND = "· space   → tab   ⏎ line end   ‹e2 96› bytes of a part of a character"


@dataclass(frozen=True, slots=True)
class Piece:
    """A token to show."""

    data: bytes
    special: bool = False
    pale: bool = False


def paint(shown: str, number: int, special: bool = False, pale: bool = False) -> str:
    """The `number`-th token of a text in its colour, or as one that is not to be learnt."""
    if pale:
        return styled(shown, fg=245, bg=255 if number % 2 else 253, bold=special)
    if special:
        return styled(shown, fg=231, bg=61, bold=True)
    return styled(shown, fg=16, bg=LIGHT[number % len(LIGHT)])


def flow(pieces: Iterable[Piece], width: int, colour: bool, indent: str = "  ") -> str:
    """Tokens one after another, broken into lines of `width` columns and after line ends."""
    lines = [indent]
    used = len(indent)
    fresh = True
    for number, piece in enumerate(pieces):
        shown = visible(piece.data)
        separator = "" if colour or fresh else "│"
        needed = width_of(separator + shown)
        if used + needed > width and not fresh:
            lines.append(indent)
            used, separator = len(indent), ""
            needed = width_of(shown)
        lines[-1] += separator + (
            paint(shown, number, piece.special, piece.pale) if colour else shown
        )
        used += needed
        fresh = False
        if piece.data.endswith(b"\n"):
            lines.append(indent)
            used, fresh = len(indent), True
    return "\n".join(line for line in lines if line != indent) or indent
