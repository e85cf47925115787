"""Tokens as a person sees them: in alternating colours, with white space and odd bytes visible.

Look here for what `·`, `→`, `⏎` and `‹e2 96›` mean. Without colour, `│` stands between tokens.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

import click

from jeton.cli.terminal import width_of

__all__ = ["LEGEND", "Piece", "flow", "paint", "visible"]

LEGEND = "· space   → tab   ⏎ line end   ‹e2 96› bytes of a part of a character"

_BACKGROUNDS = (153, 223, 157, 225, 229, 189)
"""Light colours of the 256, easy to tell from their neighbours; black reads well on each."""

_SIGNS = {" ": "·", "\t": "→", "\n": "⏎", "\r": "␍", "\x7f": "␡", "\u00a0": "⍽"}


@dataclass(frozen=True, slots=True)
class Piece:
    """A token to show."""

    data: bytes
    special: bool = False


def visible(data: bytes) -> str:
    r"""The bytes of a token as text in which nothing is invisible.

    >>> visible("\u0301".encode()), visible("\ufe0f".encode())
    ('◌́', '‹U+FE0F›')
    >>> visible(b" the"), visible(b"\n\n"), visible("é".encode()), visible(b"\xe2\x96")
    ('·the', '⏎⏎', 'é', '‹e2 96›')
    """
    shown = ""
    while data:
        try:
            text, rest = data.decode(), b""
            broken = b""
        except UnicodeDecodeError as error:
            text = data[: error.start].decode()
            broken, rest = data[error.start : error.end], data[error.end :]
            while rest and not _starts_character(rest):
                broken, rest = broken + rest[:1], rest[1:]
        if not shown and text and unicodedata.category(text[0]) in ("Mn", "Mc", "Me", "Cf"):
            shown, text = _leaning(text[0]), text[1:]
        shown += "".join(map(_sign, text))
        if broken:
            shown += f"‹{broken.hex(' ')}›"
        data = rest
    return shown


def _leaning(character: str) -> str:
    """A character that leans on the one before it, where there is none before it."""
    selector = 0xFE00 <= ord(character) <= 0xFE0F or ord(character) >= 0xE0000
    if unicodedata.category(character) == "Cf" or selector:
        return f"‹U+{ord(character):04X}›"
    return f"◌{character}"


def _starts_character(data: bytes) -> bool:
    for length in range(1, 5):
        try:
            data[:length].decode()
        except UnicodeDecodeError:
            continue
        return True
    return False


def _sign(character: str) -> str:
    if character in _SIGNS:
        return _SIGNS[character]
    if character < " ":
        return chr(0x2400 + ord(character))
    category = unicodedata.category(character)
    if category in ("Cc", "Cn", "Co", "Cs", "Zl", "Zp", "Zs") or character in "\u200b\u2060\ufeff":
        return f"‹U+{ord(character):04X}›"
    return character


def paint(shown: str, number: int, special: bool = False) -> str:
    """The `number`-th token of a text in its colour."""
    if special:
        return click.style(shown, fg=231, bg=61, bold=True)
    return click.style(shown, fg=16, bg=_BACKGROUNDS[number % len(_BACKGROUNDS)])


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
        lines[-1] += separator + (paint(shown, number, piece.special) if colour else shown)
        used += needed
        fresh = False
        if piece.data.endswith(b"\n"):
            lines.append(indent)
            used, fresh = len(indent), True
    return "\n".join(line for line in lines if line != indent) or indent
