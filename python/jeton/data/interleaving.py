"""`Interleaving`: the order in which a mixture takes examples from its sources.

Source `s` gives `n` examples. Its example `k` has the time `(k + r) / n`, with `r` from 0 up to 1
by a hash of the seed, `s` and `k`; examples come by time. So the examples of a source come in turn;
after any part of the order a source with the share `p` has given its share to within `1 + p S`
examples, if there are `S` sources; and yet there is no pattern: with two equal sources two ranks do
not read one each.

Which example comes at a place is found without the order before it. Times are divided into blocks
of equal length, of about `_BLOCK` examples. The number of examples of a source before a time needs
no search, so a place is found by sorting one block.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from jeton.data.order import mixed

_BLOCK = 1 << 12
_CACHED = 8
"""Blocks that are kept in memory."""

_Numbers = npt.NDArray[np.int64]


class Draws(NamedTuple):
    """Examples in the order of a mixture."""

    sources: _Numbers
    """The source of each."""
    numbers: _Numbers
    """How many examples of that source came before."""


class Interleaving:
    """An order of `counts[s]` examples of each source `s`.

    Example:
        >>> import numpy as np
        >>> from jeton.data.interleaving import Interleaving
        >>> order = Interleaving([6, 3], seed=0)
        >>> order.draws(np.arange(9)).sources.tolist()
        [0, 0, 1, 0, 1, 0, 1, 0, 0]
        >>> order.draws(np.array([8, 2])).numbers.tolist(), order.counts_before(5).tolist()
        ([5, 0], [3, 2])
    """

    def __init__(self, counts: Sequence[int], seed: int | None) -> None:
        """`seed=None` places the examples of each source at equal distances."""
        self._counts = np.array(counts, np.int64)
        self._total = int(self._counts.sum())
        self._seed = seed
        self._blocks = max(1, self._total // max(_BLOCK, 64 * len(counts)))
        self._sorted: OrderedDict[int, tuple[int, Draws]] = OrderedDict()

    def __len__(self) -> int:
        return self._total

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "_sorted": OrderedDict()}

    def draws(self, places: _Numbers) -> Draws:
        """The examples at these places, each below the length, in any order."""
        sources, numbers = np.empty_like(places), np.empty_like(places)
        rest = np.argsort(places, kind="stable")
        while len(rest):
            start, block = self._block_of(int(places[rest[0]]))
            count = int(np.searchsorted(places[rest], start + len(block.sources)))
            chosen, rest = rest[:count], rest[count:]
            sources[chosen] = block.sources[places[chosen] - start]
            numbers[chosen] = block.numbers[places[chosen] - start]
        return Draws(sources, numbers)

    def counts_before(self, place: int) -> _Numbers:
        """How many of the examples before a place are from each source."""
        if place >= self._total:
            return self._counts.copy()
        start, block = self._block_of(place)
        before = self._before(self._number_of(place))
        taken = np.bincount(block.sources[: place - start], minlength=len(self._counts))
        return before + taken.astype(np.int64)

    def _number_of(self, place: int) -> int:
        """The number of the block with this place."""
        number = place * self._blocks // self._total
        while int(self._before(number).sum()) > place:
            number -= 1
        while int(self._before(number + 1).sum()) <= place:
            number += 1
        return number

    def _block_of(self, place: int) -> tuple[int, Draws]:
        """The place of the first example of the block with this place, and the block."""
        for number, (start, block) in self._sorted.items():
            if start <= place < start + len(block.sources):
                self._sorted.move_to_end(number)
                return start, block
        number = self._number_of(place)
        first, last = self._before(number), self._before(number + 1)
        sources = np.repeat(np.arange(len(first)), last - first)
        runs = np.concatenate(([0], np.cumsum(last - first)[:-1]))
        numbers = np.arange(len(sources)) + (first - runs)[sources]
        order = np.argsort(self._times(sources, numbers), kind="stable")
        found = int(first.sum()), Draws(sources[order], numbers[order])
        self._sorted[number] = found
        if len(self._sorted) > _CACHED:
            self._sorted.popitem(last=False)
        return found

    def _before(self, block: int) -> _Numbers:
        """For each source, the number of its examples before the start of a block."""
        if block >= self._blocks:
            return self._counts
        time = block / self._blocks
        # Rounding may move an example by one; those further away are clear.
        nearest = np.floor(time * self._counts).astype(np.int64)
        before = np.clip(nearest - 1, 0, self._counts)
        sources = np.arange(len(self._counts))
        for candidate in (nearest - 1, nearest, nearest + 1):
            is_there = (candidate >= 0) & (candidate < self._counts)
            before += is_there & (self._times(sources, candidate) < time)
        return np.asarray(before, np.int64)

    def _times(self, sources: _Numbers, numbers: _Numbers) -> npt.NDArray[np.float64]:
        if self._seed is None:
            return (numbers + 0.5) / self._counts[sources]
        keys = mixed(sources.astype(np.uint64) + mixed(np.array([self._seed % 2**64], np.uint64)))
        words = mixed(mixed(keys) ^ numbers.astype(np.uint64))
        offsets = (words >> np.uint64(11)).astype(np.float64) * 2.0**-53
        times: npt.NDArray[np.float64] = (numbers + offsets) / self._counts[sources]
        return times
