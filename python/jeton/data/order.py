"""A random order of the numbers below a count, by a seed, without a table in memory.

A Feistel network permutes the numbers of 2k bits: each round changes one half by a hash of the
other, which can be undone. k is the smallest for which the count fits, and a result at or above the
count goes through the network again until it is below. So billions of windows are shuffled without
memory, and a run resumes from a single number.

Source: Luby and Rackoff, "How to construct pseudorandom permutations from pseudorandom functions",
1988; Black and Rogaway, "Ciphers with arbitrary finite domains", 2002.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

_ROUNDS = 8
"""Four rounds are enough for large halves; small sets have small halves."""

_Words = npt.NDArray[np.uint64]


def shuffled(
    places: npt.NDArray[np.int64], count: int, seed: int, epoch: int
) -> npt.NDArray[np.int64]:
    """The numbers at these places of the shuffled numbers below `count`.

    Example:
        >>> import numpy as np
        >>> from jeton.data.order import shuffled
        >>> shuffled(np.arange(8), 8, seed=0, epoch=0).tolist()
        [2, 3, 5, 7, 0, 1, 6, 4]
        >>> sorted(shuffled(np.arange(8), 8, seed=0, epoch=1).tolist())
        [0, 1, 2, 3, 4, 5, 6, 7]
    """
    half = max(1, ((count - 1).bit_length() + 1) // 2)
    # Mixed before the epoch is added, so that no other seed and epoch give the same key.
    key = mixed(np.array([seed % 2**64], np.uint64)) + np.array([epoch], np.uint64)
    keys = mixed(np.arange(1, _ROUNDS + 1, dtype=np.uint64) + mixed(key))
    numbers = np.asarray(places, np.int64).astype(np.uint64)
    walking = np.arange(len(numbers))
    while len(walking):
        numbers[walking] = _permuted(numbers[walking], np.uint64(half), keys)
        walking = walking[numbers[walking] >= count]
    return numbers.astype(np.int64)


def _permuted(numbers: _Words, half: np.uint64, keys: _Words) -> _Words:
    low = (np.uint64(1) << half) - np.uint64(1)
    high, low_half = numbers >> half, numbers & low
    for key in keys:
        high, low_half = low_half, high ^ (mixed(low_half ^ key) & low)
    return high << half | low_half


def mixed(words: _Words) -> _Words:
    """splitmix64's finalizer: every bit of a word affects every bit of the result."""
    words = words + np.uint64(0x9E3779B97F4A7C15)
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))
