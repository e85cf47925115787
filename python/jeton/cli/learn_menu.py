"""The menu that `jeton learn` shows without a command."""

from __future__ import annotations

import sys

import click

from jeton.cli.printing import put, say, styled
from jeton.cli.terminal import heading, paragraph, shorten, table

LESSONS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    ("Byte pair encoding", "pairs become tokens", ("bpe",)),
    ("WordPiece", "the longest match", ("wordpiece",)),
    ("Unigram", "prune; the best path", ("unigram",)),
    ("Bytes", "UTF-8, and GPT-2's files", ("bytes",)),
    (
        "Encoding",
        "every stage, one by one",
        ("encode", "jeton-4k", "Tokens are not words."),
    ),
    ("Guess", "which pair is next?", ("guess",)),
    ("Exercises", "fifteen questions", ("--exercises",)),
    ("Write your own", "eight functions, graded", ("--new", "my_bpe.py")),
)
"""The title of each lesson, what it shows, and the arguments of `jeton learn` that run it."""


def choose() -> list[str] | None:
    """Shows the menu; in a terminal, returns the arguments of the lesson that the user picks."""
    say(heading("Learn how tokenizers work"))
    rows = [
        (
            str(number),
            styled(title, bold=True),
            what,
            styled(shorten(f"jeton learn {' '.join(arguments)}", 29), dim=True),
        )
        for number, (title, what, arguments) in enumerate(LESSONS, 1)
    ]
    say(table(rows, "><<<"))
    say()
    say(paragraph("The course (docs/course) explains them; jeton play shows them in a browser."))
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return None
    put("Number, or an empty line to leave: ", end="")
    answer = sys.stdin.readline().strip()
    if not answer:
        return None
    if not (answer.isascii() and answer.isdigit() and 1 <= int(answer[:9]) <= len(LESSONS)):
        raise click.UsageError(f"{answer[:20]!r} is not a number of the menu.")
    return [*LESSONS[int(answer) - 1][2]]
