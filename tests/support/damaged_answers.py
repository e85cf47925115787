"""Answers that are damaged as models damage them, made of a sound answer of each format."""

from __future__ import annotations

import random
import re
from collections.abc import Callable

from answer_cases import WRITTEN
from jeton.chat import FORMATS

__all__ = ["DAMAGES", "damaged", "shuffled", "sound", "strewn"]


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


_WORDS = (
    *("So.", "I look.\n", " ", "\n", "é", "get_weather", "city", "3", "null", "<", "</"),
    *("{", "}", "[", "]", "(", ")", '"', "'", "\\", ":", "=", ", ", ";"),
    *('{"name": "get_weather", "arguments": {"city": "B"}}', '{"name": "x"}'),
    "get_weather(city='a')",
)


def shuffled(rng: random.Random, format: str) -> str:
    """A sound answer of a format that is damaged a few times, at random: cut, doubled, nested, in
    another order, with marks and words that do not belong there."""
    states = FORMATS[format].states.values()
    marks = sorted({it.strip() for state in states for it in state.marks} - {""})
    pieces = [it for it in _pieces(format, rng.choice(WRITTEN[format])[0]) if it]
    for _ in range(rng.randint(1, 4)):
        pieces = pieces[:60] or [rng.choice(_WORDS)]
        at, other = rng.randrange(len(pieces)), rng.randrange(len(pieces))
        damage = rng.randrange(8)
        if damage == 0:
            del pieces[at]
        elif damage == 1:
            pieces.insert(at, pieces[at])
        elif damage == 2:
            pieces[at], pieces[other] = pieces[other], pieces[at]
        elif damage == 3:
            pieces.insert(at, rng.choice(marks or _WORDS))
        elif damage == 4:
            pieces.insert(at, rng.choice(_WORDS))
        elif damage == 5:
            pieces[at:at] = [*pieces]
        elif damage == 6:
            pieces[at] = pieces[at][: rng.randrange(len(pieces[at]) + 1)]
        else:
            del pieces[at + 1 :]
    return "".join(pieces)


def strewn(rng: random.Random, format: str, word: str) -> str:
    """A damaged answer with a word in it, at a place where no mark is."""
    pieces = _pieces(format, shuffled(rng, format))[:80]
    # The recipient in a header of Muse is the name of a tool, which the call has once more.
    places = [it for it in range(0, len(pieces), 2) if "to=" not in pieces[it]]
    if places:
        at = rng.choice(places)
        cut = rng.randrange(len(pieces[at]) + 1)
        pieces[at] = pieces[at][:cut] + word + pieces[at][cut:]
    return "".join(pieces)
