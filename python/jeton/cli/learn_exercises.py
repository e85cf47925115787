"""The dialogue of `jeton learn --exercise`.

Look here for exit codes: 0 if an answer was right, 1 if none was.
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

_TRIES = 5


def list_exercises() -> None:
    """Lists all exercises, with the example of each."""
    rows = [
        (str(number), styled(make().title, bold=True), example)
        for number, (example, make) in enumerate(EXERCISES, 1)
    ]
    say(table(rows, "><<"))
    say()
    say(paragraph("jeton learn --exercise 1 asks the first. Answers can also come from a pipe."))


def ask(number: int) -> None:
    """Asks an exercise until the answer is right, or the tries are used up."""
    question = exercise(number)
    say(heading(f"Exercise {number}: {question.title}"))
    _say(question.question)
    _say(f"{question.form} ? gives a hint; an empty line gives up.", dim=True)
    tries = _TRIES
    while True:
        if sys.stdin.isatty():
            put("> ", end="")
        line = sys.stdin.readline()
        if not line:
            _end(question, "The input has ended.")
        answer = line.strip()
        if answer == "?":
            _say(question.hint)
            continue
        if not answer:
            _end(question, "You gave up.")
        verdict = question.check(answer)
        if verdict.right:
            _say(verdict.told, styled("Right. ", fg="green", bold=True))
            _show_steps(question)
            if number < len(EXERCISES):
                say(styled(f"\nThe next: jeton learn --exercise {number + 1}", dim=True))
            return
        _say(verdict.told, styled("Wrong. ", fg="red", bold=True))
        tries -= 1
        if tries == 0:
            _end(question, "That was the last try.")


def _say(text: str, start: str = "", *, dim: bool = False) -> None:
    """Prints a text wrapped to the terminal; an indented line stays as it is."""
    for number, line in enumerate(map(without_controls, text.split("\n"))):
        first = start if number == 0 else ""
        if line.startswith(" "):
            say(styled(line, dim=dim))
            continue
        wrapped = textwrap.wrap(line, columns() - len(click.unstyle(first))) or [""]
        for at, part in enumerate(wrapped):
            say((first if at == 0 else "") + styled(part, dim=dim))


def _end(question: Exercise, reason: str) -> NoReturn:
    _say(f"{reason} The answer is {' '.join(question.answer)}. {question.why}")
    _show_steps(question)
    raise click.exceptions.Exit(1)


def _show_steps(question: Exercise) -> None:
    """Prints the steps that lead to the answer, without their note, which is printed already."""
    frames = [dataclasses.replace(frame, note="") for frame in question.frames()]
    if frames:
        say()
        print_steps(frames, use_colour(sys.stdout), place="")
