"""The positions of a text between two tokens and two characters, with the tokens before each.

Look here for how a number of tokens becomes a position in the text, and the reverse.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt


class TokenPositions:
    """The positions between tokens, in a part of a text that was encoded alone.

    There is none between tokens that hold parts of one character. What the normalizer drops between
    two tokens belongs to the first.

    Args:
        spans: The spans of its tokens, in characters of the part; shape (tokens, 2).
        start, end: The range of the part in the text.

    Example:
        >>> places = TokenPositions(np.array([(0, 3), (4, 5), (4, 5), (5, 7)]), 10, 17)
        >>> places.at, places.before
        ([10, 14, 15, 17], [0, 1, 3, 4])
    """

    def __init__(self, spans: npt.NDArray[np.int64], start: int, end: int) -> None:
        starts, ends = spans[:, 0], spans[:, 1]
        self.start, self.end = start, end
        if (ends[:-1] == starts[1:]).all():  # each token ends where the next one begins
            counts: Sequence[int] = range(1, len(spans))
            between = starts[1:]
        else:
            furthest_end = np.maximum.accumulate(ends)
            next_start = np.minimum.accumulate(starts[::-1])[::-1]
            places = np.flatnonzero(furthest_end[:-1] <= next_start[1:]) + 1
            counts, between = places.tolist(), next_start[places]
        # Lists, since places are looked up one by one.
        self.at: list[int] = [start, *(between + start).tolist(), end]
        self.before: list[int] = [0, *counts, len(spans)]

    @property
    def tokens(self) -> int:
        """How many tokens the part has."""
        return self.before[-1]

    def tokens_before(self, place: int) -> int:
        """How many tokens of the part end at a position or before it."""
        return self.before[max(0, bisect_right(self.at, place) - 1)]

    def last_with(self, tokens: int) -> int:
        """The last position with at most `tokens` tokens before it."""
        return self.at[max(0, bisect_right(self.before, tokens) - 1)]

    def first_with(self, tokens: int) -> int:
        """The first position with at least `tokens` tokens before it."""
        return self.at[min(bisect_left(self.before, tokens), len(self.at) - 1)]

    def between(self, low: int, high: int) -> list[int]:
        """The positions from `low` on and before `high`, in order."""
        return self.at[bisect_left(self.at, low) : bisect_left(self.at, high)]
