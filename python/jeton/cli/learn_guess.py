"""The game of `jeton learn guess`: which pair does byte pair encoding merge next?"""

from __future__ import annotations

import random
import re
import sys

from jeton import samples
from jeton.cli.learn_views import print_steps
from jeton.cli.printing import put, say, styled, use_colour
from jeton.cli.terminal import heading, paragraph
from jeton.display.human_readable import counted
from jeton.display.views.frames import Chip, Frame, Row, Rows
from jeton.learn.merging import frames_of_merging, watch_bpe

_WORDS = 4
_MERGES = 3
"""Merges to guess in a round, before the next round brings other words."""

_ENDINGS = ("ing", "er", "est", "ed", "ly", "and", "out", "ight")
"""Words of a round share one of these, so that some pairs occur more often than others."""


def play(start: int | None) -> None:
    """Asks until the user types an empty line, or the input ends."""
    seed = random.randrange(10_000) if start is None else start
    numbers = random.Random(seed)
    streak = longest = guesses = right = 0
    say(heading("Guess the next merge"))
    say(paragraph("The most frequent pair of neighbours wins; of equals, the one seen first."))
    say(paragraph("Type its two symbols, as in: t h. An empty line ends the game."))
    words = sorted({*re.findall(r"\b[a-z]{4,7}\b", samples.read("tales"))})
    while True:
        counts = _round(words, numbers)
        for step in watch_bpe(counts, _MERGES, end=None):
            say()
            rows = tuple(Row(tuple(map(Chip, row)), f"{count} ×") for row, count in step.before)
            frame = Frame(f"Merge {step.number}", "", (Rows(rows),))
            print_steps([frame], use_colour(sys.stdout), place="")
            put("> ", end="")
            line = sys.stdin.readline()
            if not line.strip():
                say()
                share = f"{right} of {counted(guesses, 'guess', 'guesses')} right"
                say(paragraph(f"{share}; the longest streak was {longest}."))
                say(paragraph(f"jeton learn guess --start {seed} has the same words."))
                return
            guesses += 1
            if tuple(line.split()) in (step.best, (step.made,)):
                right, streak = right + 1, streak + 1
                longest = max(longest, streak)
                verdict, colour = "Right.", "green"
            else:
                streak = 0
                verdict, colour = "Wrong.", "red"
            note = frames_of_merging(step.before, [step])[1].note
            text = f"{verdict} {note}" + (f" Streak: {streak}." if streak > 1 else "")
            say(paragraph(text).replace(verdict, styled(verdict, fg=colour, bold=True), 1))


def _round(words: list[str], numbers: random.Random) -> dict[str, int]:
    """A few words with counts, most of which share an ending."""
    ending = numbers.choice(_ENDINGS)
    alike = [word for word in words if word.endswith(ending)]
    sample = numbers.sample(alike, min(len(alike), _WORDS - 1))
    sample += [word for word in numbers.sample(words, _WORDS) if word not in sample]
    return {word: numbers.randint(1, 6) for word in sample[:_WORDS]}
