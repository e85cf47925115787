"""An order by seed in which every number below a count comes once, without a table of it.

A Feistel network permutes the numbers of 2k bits: of two halves, the one is changed by a hash of
the other, in turns, which any half can undo. The least k is taken for which the count fits, and a
number that ends up at or past the count goes through again until one is below it. So a window of
billions is shuffled without memory, and the place where a run goes on is a number.

Source: Luby and Rackoff, "How to construct pseudorandom permutations from pseudorandom functions",
1988; Black and Rogaway, "Ciphers with arbitrary finite domains", 2002.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["shuffled"]

_ROUNDS = 8
"""Four are enough for large halves; small sets have small ones."""

_Words = npt.NDArray[np.uint64]


def shuffled(
    places: npt.NDArray[np.int64], count: int, seed: int, epoch: int
) -> npt.NDArray[np.int64]:
    """What stands at some places of the shuffled numbers below `count`.

    Example:
        >>> import numpy as np
        >>> from jeton.data.order import shuffled
        >>> shuffled(np.arange(8), 8, seed=0, epoch=0).tolist()
        [2, 3, 5, 7, 0, 1, 6, 4]
        >>> sorted(shuffled(np.arange(8), 8, seed=0, epoch=1).tolist())
        [0, 1, 2, 3, 4, 5, 6, 7]
    """
    half = max(1, ((count - 1).bit_length() + 1) // 2)
    keys = _mixed(np.arange(1, _ROUNDS + 1, dtype=np.uint64) + _mixed(_key(seed, epoch)))
    numbers = np.asarray(places, np.int64).astype(np.uint64)
    walking = np.arange(len(numbers))
    while len(walking):
        numbers[walking] = _permuted(numbers[walking], np.uint64(half), keys)
        walking = walking[numbers[walking] >= count]
    return numbers.astype(np.int64)


def _permuted(numbers: _Words, half: np.uint64, keys: _Words) -> _Words:
    low = (np.uint64(1) << half) - np.uint64(1)
    left, right = numbers >> half, numbers & low
    for key in keys:
        left, right = right, left ^ (_mixed(right ^ key) & low)
    return left << half | right


def _key(seed: int, epoch: int) -> _Words:
    """Seed and epoch, neither of which can stand for the other."""
    return _mixed(np.array([seed % 2**64], np.uint64)) + np.array([epoch], np.uint64)


def _mixed(words: _Words) -> _Words:
    """splitmix64's finalizer: every bit of a word decides about every bit of the result."""
    words = words + np.uint64(0x9E3779B97F4A7C15)
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))
