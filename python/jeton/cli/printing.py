"""How commands print, without letting text control the terminal.

Look here before printing: `say` prints for people, `put` for programs, `styled` adds colour. Names
of files, tokens and messages can come from strangers: a character that would move the cursor,
change a colour, set the clipboard or reverse text is printed as a visible sign instead.

To know its own colours, jeton draws a random number when the process starts. `styled` puts it into
every sequence, and `say` removes it. So code can join coloured and plain parts freely, and only
jeton's own colours take effect.
"""

from __future__ import annotations

import re
import secrets
import sys
import unicodedata
from typing import Final, TextIO

import click

from jeton.display.human_readable import printable

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


def styled(
    text: str,
    *,
    fg: str | int | None = None,
    bg: int | None = None,
    bold: bool | None = None,
    dim: bool | None = None,
) -> str:
    """The text in a style of `click.style`, to be printed by `say`."""
    start = click.style("", fg=fg, bg=bg, bold=bold, dim=dim, reset=False)
    return own_colours(start) + text + own_colours("\x1b[0m")


def own_colours(sequences: str) -> str:
    """Marks colour sequences as jeton's own, so that `say` keeps them; only for trusted text."""
    return sequences.replace("\x1b[", f"\x1b[{_NUMBER};")


def isolated(text: str) -> str:
    """The text; if it has right-to-left characters, with marks that isolate it from its neighbours.

    Without the marks, the terminal would reorder numbers and tokens beside it.
    """
    if not any(unicodedata.bidirectional(character) in ("R", "AL", "AN") for character in text):
        return text
    return f"\x1b[{_NUMBER};{_ISOLATE}m{text}\x1b[{_NUMBER};{_END}m"


def terminal_text(text: str, *, colour: bool, lines: bool = True, isolates: bool = False) -> str:
    r"""A text that is safe to print on a terminal.

    Args:
        text: Any text; it may have sequences of `styled`.
        colour: Whether to turn styles into colours; otherwise they are removed.
        lines: Whether to keep line ends and tabs; otherwise they become visible signs too.
        isolates: Whether to keep the marks of `isolated`; otherwise they are removed.

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
    """Prints a text that a program may read: exactly, or as `say` does if a terminal shows it."""
    sys.stdout.write((printable(text) if _is_for_terminal() else text) + end)
    sys.stdout.flush()


def for_terminal(data: bytes) -> bytes:
    """Bytes for standard output: unchanged, or as `say` prints them if a terminal shows them."""
    if not _is_for_terminal():
        return data
    return printable(data.decode("utf-8", "surrogateescape")).encode()


def _is_for_terminal() -> bool:
    """Whether a terminal shows the output; with forced colour, a pager passes it on to one."""
    return sys.stdout.isatty() or use_colour(sys.stdout)
