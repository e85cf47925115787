"""What `jeton learn --exercise` asks, reads and says.

Look here for exit codes: 0 where the answer was right in the end, 1 where it never was.
"""

from __future__ import annotations

import dataclasses
import sys
import textwrap
from typing import NoReturn

import click

from jeton.cli.learn_views import print_steps
from jeton.cli.printing import put, say, styled, use_colour
from jeton.cli.terminal import columns, heading, paragraph, table
from jeton.display.human_readable import without_controls
from jeton.learn.exercises import EXERCISES, Exercise, exercise

__all__ = ["ask", "list_exercises"]

_TRIES = 5


def list_exercises() -> None:
    """All exercises, with the example that each is on."""
    rows = [
        (str(number), styled(make().title, bold=True), example)
        for number, (example, make) in enumerate(EXERCISES, 1)
    ]
    say(table(rows, "><<"))
    say()
    say(paragraph("jeton learn --exercise 1 asks the first. Answers can also come from a pipe."))


def ask(number: int) -> None:
    """Asks one, until the answer is right, or there are no more.

    Raises:
        ArgumentError: There is none of that number.
    """
    asked = exercise(number)
    say(heading(f"Exercise {number}: {asked.title}"))
    _say(asked.question)
    _say(f"{asked.form} ? gives a hint; an empty line gives up.", dim=True)
    left = _TRIES
    while True:
        answer = _read_answer()
        if answer is None:
            _end(asked, "No answer came.")
        if answer == "?":
            _say(asked.hint)
            continue
        if not answer:
            _end(asked, "Given up.")
        verdict = asked.check(answer)
        if verdict.right:
            _say(verdict.told, styled("Right. ", fg="green", bold=True))
            _show_steps(asked)
            _say_next(number)
            return
        _say(verdict.told, styled("Not so. ", fg="red", bold=True))
        left -= 1
        if left == 0:
            _end(asked, "That was the last try.")


def _read_answer() -> str | None:
    """The next line; `None` at the end of the input."""
    if sys.stdin.isatty():
        put("> ", end="")
    line = sys.stdin.readline()
    return line.strip() if line else None


def _say(text: str, start: str = "", *, dim: bool = False) -> None:
    """Lines of text, broken where the terminal ends; a line that is indented stays as it is."""
    for number, line in enumerate(map(without_controls, text.split("\n"))):
        first = start if number == 0 else ""
        if line.startswith(" "):
            say(styled(line, dim=dim))
            continue
        wrapped = textwrap.wrap(line, columns() - len(click.unstyle(first))) or [""]
        for at, part in enumerate(wrapped):
            say((first if at == 0 else "") + styled(part, dim=dim))


def _end(asked: Exercise, told: str) -> NoReturn:
    _say(f"{told} The answer is {' '.join(asked.answer)}. {asked.why}")
    _show_steps(asked)
    raise click.exceptions.Exit(1)


def _show_steps(asked: Exercise) -> None:
    """The steps that lead to the answer, without the note, which has been said."""
    frames = [dataclasses.replace(frame, note="") for frame in asked.frames()]
    if frames:
        say()
        print_steps(frames, use_colour(sys.stdout), place="")


def _say_next(number: int) -> None:
    if number < len(EXERCISES):
        say(styled(f"\nThe next: jeton learn --exercise {number + 1}", dim=True))
