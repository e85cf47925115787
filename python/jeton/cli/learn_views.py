"""How `jeton learn` shows steps: by keys, printed, or written as a page.

Look here for which of the three it is, and for where its texts come from.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from jeton.cli.command import echo_note, use_colour
from jeton.cli.documents import Reader
from jeton.cli.targets import FilePath, check_target, force_option, replacing
from jeton.cli.terminal import Progress

if TYPE_CHECKING:
    from jeton.learn.frames import Frame

__all__ = ["check_page", "read_text", "show_frames", "view_options"]

F = TypeVar("F", bound=Callable[..., object])

_MOST_CHARACTERS = 20_000
"""Beyond this nobody reads the steps, and they take too long: they are made in plain Python."""


def view_options(function: F) -> F:
    """`--all`, `--html`, `--force` and `--no-color`."""

    def no_colour(ctx: click.Context, _: click.Parameter, value: bool) -> None:
        if value:
            ctx.color = False

    decorators: list[Callable[[Any], Any]] = [
        click.option(
            "--all", "print_all", is_flag=True, help="Print all steps, and ask for no keys."
        ),
        click.option(
            "--html",
            type=FilePath(),
            metavar="FILE",
            help="Write the steps as a page of one file, to step through in a browser.",
        ),
        force_option,
        click.option(
            "--no-color",
            is_flag=True,
            expose_value=False,
            callback=no_colour,
            help="The same as --color never.",
        ),
    ]
    for decorator in reversed(decorators):
        function = decorator(function)
    return function


def check_page(html: str | None, force: bool, inputs: Sequence[str] = ()) -> None:
    """Refuses, before any work, a page that cannot be written."""
    if html is not None:
        check_target(html, inputs=inputs, force=force)


def read_text(words: Sequence[str], file: str | None) -> str | None:
    """The text of the command line, of a file, or of standard input (`-`); `None` if none is given.

    Raises:
        click.UsageError: Two of them; a text that is too long to watch.
    """
    if words and file is not None:
        raise click.UsageError("give TEXT or --file, not both.")
    text: str | None = " ".join(words) if words else None
    path = "-" if text == "-" else file
    if path is not None:
        with Progress("reading", None) as progress:
            (document,) = Reader(errors="replace").documents([path], progress)
            text = document.text
    if text is None:
        return None
    text = text.encode("utf-8", "replace").decode()
    if len(text) > _MOST_CHARACTERS:
        raise click.UsageError(
            f"the text has {len(text):,} characters; to watch, give at most {_MOST_CHARACTERS:,}."
        )
    return text


def show_frames(
    frames: Sequence[Frame], title: str, *, print_all: bool, html: str | None, force: bool
) -> None:
    """Shows the steps by keys in a terminal; otherwise prints them, or writes a page."""
    if html is not None:
        from jeton.learn.page import page

        with replacing(Path(html), force=force) as partial:
            partial.write_text(page(frames, title), encoding="utf-8")
        echo_note(f"{html}: {len(frames):,} steps, to open in a browser")
        return
    colour = use_colour(sys.stdout)
    if not print_all and _has_keys():
        if find_spec("textual") is not None:
            from jeton.learn.screen import show

            show(frames, title, colour=colour)
            return
        echo_note("to step by keys, install the extra: pip install 'jeton[learn]'")
    from rich.console import Console

    from jeton.cli.terminal import columns
    from jeton.learn.printed import print_frames

    console = Console(
        file=sys.stdout,
        width=columns(),
        color_system="truecolor" if colour else None,
        force_terminal=colour,
        no_color=not colour,
        highlight=False,
    )
    print_frames(frames, console, colour=colour)


def _has_keys() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
