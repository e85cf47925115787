"""How blocks carry a loss mask: in the highest bit of each token, which no id has.

So the code that splits, shuffles and stores blocks carries the mask without knowing of it. Writers
of tokens remove it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
import numpy.typing as npt

from jeton.data.layouts import Writer

DTYPE = "uint32"
"""The type of marked tokens. Ids lie below 2³¹ in every layout."""

_LEARNT = np.uint32(1 << 31)


def marked(tokens: npt.ArrayLike, mask: npt.ArrayLike) -> npt.NDArray[np.uint32]:
    """Tokens with their mask.

    >>> marked([5, 7], [0, 1]).tolist() == [5, 7 + 2**31]
    True
    """
    flags = np.asarray(mask).astype(np.bool_)
    tokens_with_mask: npt.NDArray[np.uint32] = np.asarray(tokens).astype(np.uint32) | (
        _LEARNT * flags
    )
    return tokens_with_mask


class Unmarking:
    """Writes marked tokens as ids and a mask."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer

    def append(
        self,
        tokens: npt.NDArray[np.integer],
        lengths: npt.NDArray[np.int64],
        *,
        unfinished: bool = False,
    ) -> None:
        """Appends documents, as `Writer.append` does."""
        both = tokens.astype(np.uint32)
        mask = (both & _LEARNT) != 0
        self._writer.append(both & ~_LEARNT, lengths, mask=mask, unfinished=unfinished)


def summed(counts: Iterable[Mapping[str, int] | None]) -> dict[str, int] | None:
    """Counts of several sources by name, added up; `None` if there are none.

    >>> summed([{"bad": 1}, None, {"bad": 2}])
    {'bad': 3}
    """
    all_counts = [some for some in counts if some is not None]
    if not all_counts:
        return None
    return {name: sum(some[name] for some in all_counts) for name in all_counts[0]}
