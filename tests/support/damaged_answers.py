"""Answers that are damaged as models damage them, made of a sound answer of each format."""

from __future__ import annotations

import re
from collections.abc import Callable

from answer_cases import WRITTEN
from jeton.chat import FORMATS

__all__ = ["DAMAGES", "damaged", "sound"]


def sound(format: str) -> str:
    """An answer with a call, of a format, with marks if an answer of it has any."""
    texts = [text for text, _, _, calls in WRITTEN[format] if calls]
    return next((it for it in texts if len(_pieces(format, it)) > 1), texts[0])


def _pieces(format: str, text: str) -> list[str]:
    """The text in pieces: what is no mark, a mark, and so on."""
    states = FORMATS[format].states.values()
    marks = {it.strip() for state in states for it in state.marks} - {""}
    spelled = "|".join(map(re.escape, sorted(marks, key=len, reverse=True)))
    return re.split(f"({spelled})", text)


def _cut(pieces: list[str]) -> str:
    longest = max(range(0, len(pieces), 2), key=lambda at: len(pieces[at]))
    return "".join(pieces[:longest]) + pieces[longest][: len(pieces[longest]) // 2]


DAMAGES: dict[str, Callable[[list[str]], str]] = {
    # by name: the pieces of a sound answer, which are a mark at each odd place, become another text
    "start missing": lambda it: "".join([it[0], *it[2:]]),
    "end missing": lambda it: "".join([*it[:-2], it[-1]]),
    "cut": _cut,
    "start doubled": lambda it: "".join([*it[:2], *it[1:]]),
    "end doubled": lambda it: "".join([*it[:-1], *it[-2:]]),
    "nested": lambda it: "".join([*it[:2], *it, *it[2:]]),
    "out of order": lambda it: "".join([it[0], *it[2:], it[1]]),
}


def damaged(format: str, damage: str) -> str | None:
    """A damaged answer; `None` if an answer of the format has no mark that could be damaged."""
    pieces = _pieces(format, sound(format))
    return DAMAGES[damage](pieces) if len(pieces) > 1 or damage == "cut" else None
