"""Writes the lessons that chapters of the course hold, pages to step through, into the built site.

Run after the site is built, as `make docs` does: `python site/lessons.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from illustrations import low
from jeton import learn, textbook
from jeton.display.views.page import page
from jeton.learn.merging import frames_of_merging, marked_rows
from jeton.learn.unigram import frames_of_unigram

FOLDER = Path(__file__).parent.parent / "target/site/course/steps"


def bpe() -> str:
    return page(low(), "Byte pair encoding: low lower newest widest")


def wordpiece() -> str:
    words = textbook.HUG_COUNTS
    steps = list(learn.watch_wordpiece(words, 4))
    return page(
        frames_of_merging(marked_rows(words), steps, longest_match=True),
        "WordPiece, published rule",
    )


def unigram() -> str:
    words = textbook.HUG_COUNTS
    return page(
        frames_of_unigram(words, list(learn.watch_unigram(words, 10))),
        "Unigram: hug pug pun bun hugs",
    )


LESSONS: dict[str, Callable[[], str]] = {"bpe": bpe, "wordpiece": wordpiece, "unigram": unigram}
"""What writes each page, by the name of its file."""


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, lesson in LESSONS.items():
        (FOLDER / f"{name}.html").write_text(lesson(), encoding="utf-8")
