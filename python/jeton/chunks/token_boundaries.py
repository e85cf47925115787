"""The places of a text where two tokens part between characters, with the tokens before each.

Look here for how a number of tokens becomes a place in the text, and a place a number of tokens.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

__all__ = ["TokenPlaces"]


class TokenPlaces:
    """Where tokens part, in a part of a text that was encoded by itself.

    Tokens that hold parts of one character do not part there. What the normalizer drops between
    two tokens belongs to the first.

    Args:
        spans: Of its tokens, in characters of the part; shape (tokens, 2).
        start, end: Where the part lies in the text.

    Example:
        >>> places = TokenPlaces(np.array([(0, 3), (4, 5), (4, 5), (5, 7)]), 10, 17)
        >>> places.at.tolist(), places.before.tolist()
        ([10, 14, 15, 17], [0, 1, 3, 4])
    """

    def __init__(self, spans: npt.NDArray[np.int64], start: int, end: int) -> None:
        reached = np.maximum.accumulate(spans[:, 1])
        ahead = np.minimum.accumulate(spans[::-1, 0])[::-1]
        parted = np.flatnonzero(reached[:-1] <= ahead[1:]) + 1
        self.start, self.end = start, end
        self.at = np.concatenate(([0], ahead[parted], [end - start])) + start
        self.before = np.concatenate(([0], parted, [len(spans)]))

    @property
    def tokens(self) -> int:
        """How many tokens the part has."""
        return int(self.before[-1])

    def tokens_before(self, place: int) -> int:
        """How many tokens of the part end at a place or before it."""
        return int(self.before[max(0, int(self.at.searchsorted(place, "right")) - 1)])

    def last_with(self, tokens: int) -> int:
        """The last place with at most so many tokens before it."""
        return int(self.at[max(0, int(self.before.searchsorted(tokens, "right")) - 1)])

    def first_with(self, tokens: int) -> int:
        """The first place with at least so many tokens before it."""
        index = int(self.before.searchsorted(tokens, "left"))
        return int(self.at[min(index, len(self.at) - 1)])

    def down_from(self, high: int, low: int) -> Iterator[int]:
        """The places up to `high` and behind `low`, last first."""
        for index in range(int(self.at.searchsorted(high, "right")) - 1, -1, -1):
            place = int(self.at[index])
            if place <= low:
                return
            yield place

    def up_from(self, low: int, high: int) -> Iterator[int]:
        """The places from `low` on and before `high`, first first."""
        for index in range(int(self.at.searchsorted(low, "left")), len(self.at)):
            place = int(self.at[index])
            if place >= high:
                return
            yield place
