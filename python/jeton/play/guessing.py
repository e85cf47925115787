"""The game of the page: which pair of symbols is merged next, in frequent words of the text."""

from __future__ import annotations

import re
from collections import Counter
from typing import Final

from jeton.errors import ArgumentError
from jeton.learn.merging import watch_bpe

_WORDS: Final = 8
_PAIRS: Final = 4
_MAX_TEXT: Final = 200_000
_MAX_MERGES: Final = 40
_WORD: Final = re.compile(r"[^\W\d_]{4,10}")


def round_of_game(text: str, merges: int) -> dict[str, object]:
    """The words after some merges, and pairs of neighbours with their counts, one the next
    merge."""
    words = dict(Counter(_WORD.findall(text[:_MAX_TEXT].lower())).most_common(_WORDS))
    if len(words) < 3:
        raise ArgumentError("the game needs a text with a few words of letters")
    if not 0 <= merges <= _MAX_MERGES:
        raise ArgumentError(f"the game has up to {_MAX_MERGES} merges")
    steps = list(watch_bpe(words, merges + 1, end=None))
    if len(steps) <= merges:
        return {"rows": [], "pairs": [], "learnt": [step.made for step in steps]}
    step = steps[merges]
    greatest = sorted(step.counts, key=lambda pair: -step.counts[pair])[:_PAIRS]
    pairs = sorted({step.best, *greatest[: _PAIRS - 1], greatest[-1]})
    return {
        "rows": [{"symbols": list(symbols), "count": count} for symbols, count in step.before],
        "pairs": [
            {
                "left": left,
                "right": right,
                "count": step.counts[left, right],
                "best": (left, right) == step.best,
            }
            for left, right in pairs
        ],
        "learnt": [earlier.made for earlier in steps[:merges]],
    }
