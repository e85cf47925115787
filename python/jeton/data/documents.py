"""The documents of a token set: where each begins, and its tokens."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import overload

import numpy as np
import numpy.typing as npt

from jeton.data.layouts import Shard
from jeton.errors import ArgumentError

_AT_A_TIME = 1 << 24
"""Number of tokens that are searched at a time."""


class Documents(Sequence[npt.NDArray[np.integer]]):
    """The documents of a set, each an array of its tokens.

    Example:
        >>> import numpy as np
        >>> from jeton.data.documents import Documents
        >>> documents = Documents(np.array([0, 3, 5]), np.array([7, 8, 9, 4, 9]).__getitem__)
        >>> len(documents), documents[1].tolist(), documents.lengths.tolist()
        (2, [4, 9], [3, 2])
    """

    def __init__(
        self, offsets: npt.NDArray[np.int64], tokens: Callable[[slice], npt.NDArray[np.integer]]
    ) -> None:
        self.offsets = offsets
        """Document `i` has the tokens from `offsets[i]` up to `offsets[i + 1]`."""
        self._tokens = tokens

    @property
    def lengths(self) -> npt.NDArray[np.int64]:
        """The number of tokens of each document."""
        return np.diff(self.offsets)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @overload
    def __getitem__(self, number: int) -> npt.NDArray[np.integer]: ...
    @overload
    def __getitem__(self, number: slice) -> Sequence[npt.NDArray[np.integer]]: ...
    def __getitem__(
        self, number: int | slice
    ) -> npt.NDArray[np.integer] | Sequence[npt.NDArray[np.integer]]:
        if isinstance(number, slice):
            return [self[at] for at in range(*number.indices(len(self)))]
        try:
            at = range(len(self))[number]
        except IndexError:
            raise IndexError(f"there is no document {number} among {len(self):,}") from None
        return self._tokens(slice(int(self.offsets[at]), int(self.offsets[at + 1])))

    def __iter__(self) -> Iterator[npt.NDArray[np.integer]]:
        return (self[number] for number in range(len(self)))

    def at(self, token: int) -> int:
        """The number of the document that holds token `token`."""
        if not 0 <= token < int(self.offsets[-1]):
            raise IndexError(f"there is no token {token} among {int(self.offsets[-1]):,}")
        return int(np.searchsorted(self.offsets, token, side="right")) - 1

    def __repr__(self) -> str:
        return f"Documents({len(self):,} of {int(self.offsets[-1]):,} tokens)"


def ends_of_shards(shards: Sequence[Shard]) -> npt.NDArray[np.int64] | None:
    """The ends of the documents in all shards; `None` if a shard does not keep them."""
    parts, before = [np.empty(0, np.int64)], 0
    for shard in shards:
        if shard.ends is None:
            return None
        parts.append(shard.ends + before)
        before += len(shard.tokens)
    return np.concatenate(parts)


def ends_by_token(shards: Sequence[Shard], end_of_text: int, place: str) -> npt.NDArray[np.int64]:
    """The ends of the documents, found by the token after (or before) each."""
    parts, before = [np.empty(0, np.int64)], 0
    for shard in shards:
        for at in range(0, len(shard.tokens), _AT_A_TIME):
            where = np.flatnonzero(shard.tokens[at : at + _AT_A_TIME] == end_of_text)
            parts.append(where + (before + at))
        before += len(shard.tokens)
    places = np.concatenate(parts)
    if place == "before":
        if before and (not len(places) or places[0] != 0):
            raise ArgumentError(
                f"the set does not begin with token {end_of_text}, so the token is not before each "
                "document"
            )
        return np.append(places[1:], before) if before else places
    ends = places + 1
    # Sets of other programs may lack the last token.
    return ends if not before or (len(ends) and ends[-1] == before) else np.append(ends, before)
