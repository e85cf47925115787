"""Loss masks of token sets: which tokens a model learns to write."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

IGNORED = -100
"""The label of places where nothing is predicted, which torch's `cross_entropy` ignores."""


class LossMask:
    """For each token of a set whether it is learnt, sliced like an array of bools.

    Example:
        >>> import numpy as np
        >>> mask = LossMask(np.array([0, 1, 1], np.uint8).__getitem__, 3)
        >>> len(mask), mask[1:].tolist()
        (3, [True, True])
    """

    def __init__(self, read: Callable[[slice], npt.NDArray[np.integer]], length: int) -> None:
        self._read, self._length = read, length

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, window: slice) -> npt.NDArray[np.bool_]:
        return self._read(window).astype(np.bool_)

    def __repr__(self) -> str:
        return f"LossMask({self._length:,} tokens)"
