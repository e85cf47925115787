"""What commands print, and what becomes of characters that would command the terminal.

Look here before printing: `say` is for people, `put` for what a program reads, `styled` colours.
Names of files, tokens and messages may be a stranger's: whatever would move the cursor, change a
colour, set the clipboard or turn text around is printed as a sign for it.

Colours of our own are told from a stranger's by a number that is drawn when the process starts and
is part of every sequence that `styled` makes; `say` takes it out again. So text may be put together
from coloured and plain parts, in any way, and only our own colours arrive.
"""

from __future__ import annotations

import re
import secrets
import sys
import unicodedata
from typing import Any, Final, TextIO

import click

from jeton.display.human_readable import printable

__all__ = [
    "for_terminal",
    "isolated",
    "own_colours",
    "put",
    "say",
    "styled",
    "terminal_text",
    "use_colour",
]

_NUMBER: Final = secrets.randbelow(10**18)
_ISOLATE, _END = "2068", "2069"
_ISOLATION: Final = {_ISOLATE: "\u2068", _END: "\u2069"}
"""FIRST STRONG ISOLATE and its end: text between them has its own direction."""
_OWN: Final = re.compile(rf"\x1b\[{_NUMBER};([0-9;]*)m")


def use_colour(stream: TextIO) -> bool:
    """Whether text for `stream` should be coloured."""
    context = click.get_current_context(silent=True)
    colour = None if context is None else context.color
    return stream.isatty() if colour is None else colour


def styled(text: str, **how: Any) -> str:
    """A text in a style of `click.style`, for `say`."""
    return own_colours(click.style("", reset=False, **how)) + text + own_colours("\x1b[0m")


def own_colours(sequences: str) -> str:
    """Sequences of colours as `say` lets them pass; they must hold nothing of a stranger's."""
    return sequences.replace("\x1b[", f"\x1b[{_NUMBER};")


def isolated(text: str) -> str:
    """The text, marked for a terminal to lay out apart if it has right-to-left characters.

    Without the marks, numbers and tokens beside it would be drawn out of order.
    """
    if not any(unicodedata.bidirectional(character) in ("R", "AL", "AN") for character in text):
        return text
    return f"\x1b[{_NUMBER};{_ISOLATE}m{text}\x1b[{_NUMBER};{_END}m"


def terminal_text(text: str, *, colour: bool, lines: bool = True, isolates: bool = False) -> str:
    r"""A text as a terminal may have it.

    Args:
        text: With sequences of `styled`, and with anything else.
        colour: Whether styles become colours; else they are left out.
        lines: Whether line ends and tabs stay; else they are signs too.
        isolates: Whether the marks of `isolated` take effect; else they are left out.

    >>> terminal_text(styled("a\x1b[2J", bold=True) + "\x1b[1mb\n", colour=True)
    '\x1b[1ma␛[2J\x1b[0m␛[1mb\n'
    """
    parts = _OWN.split(text)
    parts[::2] = [printable(part, lines=lines) for part in parts[::2]]
    for at, codes in enumerate(parts[1::2]):
        if codes in _ISOLATION:
            parts[2 * at + 1] = _ISOLATION[codes] if isolates else ""
        else:
            parts[2 * at + 1] = f"\x1b[{codes}m" if colour else ""
    return "".join(parts)


def say(text: str = "", *, end: str = "\n", err: bool = False) -> None:
    """Prints a text for people: on standard output, or on standard error."""
    stream = sys.stderr if err else sys.stdout
    colour = use_colour(stream)
    stream.write(terminal_text(text, colour=colour, isolates=colour or stream.isatty()) + end)
    stream.flush()


def put(text: str, *, end: str = "\n") -> None:
    """Prints what a program may read: for a terminal as `say` does, for anything else exactly."""
    sys.stdout.write((printable(text) if _is_for_terminal() else text) + end)
    sys.stdout.flush()


def for_terminal(data: bytes) -> bytes:
    """Bytes for standard output: exactly these, but for a terminal as `say` prints them."""
    if not _is_for_terminal():
        return data
    return printable(data.decode("utf-8", "surrogateescape")).encode()


def _is_for_terminal() -> bool:
    """Whether a terminal shows what is printed; where colour is forced, a pager hands it on."""
    return sys.stdout.isatty() or use_colour(sys.stdout)
