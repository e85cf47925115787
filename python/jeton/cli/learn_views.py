"""How `jeton learn` shows steps: with keys in a terminal, printed, or as a page.

Look here for how it chooses one of these, and for where its texts come from.
"""

from __future__ import annotations

import functools
import io
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

import click

from jeton.cli.command import decorated, echo_note
from jeton.cli.documents import only_document
from jeton.cli.printing import own_colours, say, use_colour
from jeton.cli.progress import ProgressBar
from jeton.cli.targets import FilePath, check_target, force_option, replacing
from jeton.cli.terminal import columns

if TYPE_CHECKING:
    from jeton.display.views.frames import Frame

F = TypeVar("F", bound=Callable[..., object])

_MAX_CHARACTERS = 20_000
"""A longer text has more steps than anybody reads, and plain Python takes too long over them."""


def view_options(function: F) -> F:
    """`--all`, `--step`, `--html` and `--force`; they arrive as one `view`."""

    @functools.wraps(function)
    def command(
        *, print_all: bool, step: int | None, html: str | None, force: bool, **others: object
    ) -> Any:
        if sum([print_all, step is not None, html is not None]) > 1:
            raise click.UsageError("--all, --step and --html are three ways; give one.")
        return function(view=View(print_all, step, html, force), **others)

    decorators: list[Callable[[F], F]] = [
        click.option("--all", "print_all", is_flag=True, help="Print all steps, without keys."),
        click.option("--step", type=click.IntRange(1), metavar="N", help="Print one step."),
        click.option(
            "--html",
            type=FilePath(),
            metavar="FILE",
            help="Write the steps as a page of one file, to step through in a browser.",
        ),
        force_option,
    ]
    return cast(F, decorated(command, decorators))


@dataclass(frozen=True, slots=True)
class View:
    """How steps are shown: with keys in a terminal, printed (all or one), or as a page."""

    print_all: bool
    step: int | None
    html: str | None
    force: bool

    def check(self, inputs: Sequence[str] = ()) -> None:
        """Fails before any work if the output is an input, or the page cannot be written."""
        check_target(self.html, inputs=inputs, force=self.force)

    def show(self, frames: Sequence[Frame], title: str) -> None:
        """Shows the steps."""
        if self.html is not None:
            from jeton.display.views.page import page

            with replacing(Path(self.html), force=self.force) as file:
                file.write(page(frames, title).encode())
            echo_note(f"{self.html}: {len(frames):,} steps, to open in a browser")
            return
        colour = use_colour(sys.stdout)
        if not self.print_all and self.step is None and _has_keys():
            if find_spec("textual") is not None:
                from jeton.display.views.screen import show

                show(frames, title, colour=colour)
                return
            echo_note("to step by keys, install the extra: pip install 'jeton[learn]'")
        self._print(frames, colour)

    def _print(self, frames: Sequence[Frame], colour: bool) -> None:
        if self.step is None:
            print_steps(frames, colour)
        elif self.step > len(frames):
            raise click.UsageError(f"there are {len(frames)} steps, and no step {self.step}.")
        else:
            number = self.step
            print_steps(frames[number - 1 : number], colour, f"{number}/{len(frames)}")


def print_steps(frames: Sequence[Frame], colour: bool, place: str | None = None) -> None:
    """Prints steps as wide as the terminal is.

    Args:
        colour: Whether in colour.
        place: The text before each title; by default the number of the step and of all steps.
    """
    from rich.console import Console

    from jeton.display.views.printed import print_frames

    # Through a `str`, so that `say` alone handles a reader who leaves.
    stream = io.StringIO()
    console = Console(
        file=stream,
        width=columns(),
        color_system="truecolor" if colour else None,
        force_terminal=colour,
        no_color=not colour,
        highlight=False,
    )
    print_frames(frames, console, colour=colour, place=place)
    say(own_colours(stream.getvalue()), end="")


def read_text(words: Sequence[str], file: str | None) -> str | None:
    """The text of the command line, a file, or standard input (`-`); `None` without any."""
    if words and file is not None:
        raise click.UsageError("give TEXT or --file, not both.")
    text: str | None = " ".join(words) if words else None
    path = "-" if text == "-" else file
    if path is not None:
        with ProgressBar("reading", None) as progress:
            document = only_document(path, progress)
            text = document.text
    if text is None:
        return None
    if len(text) > _MAX_CHARACTERS:
        raise click.UsageError(
            f"the text has {len(text):,} characters; to watch, give at most {_MAX_CHARACTERS:,}."
        )
    return text


def _has_keys() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
