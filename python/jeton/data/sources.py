"""What a loader takes its batches from: examples that are counted, and gathered by number."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from jeton.data.dataset import Batch, TokenDataset

__all__ = ["Source", "Windows"]

B_co = TypeVar("B_co", bound=tuple[Any, ...], covariant=True)


class Source(Protocol[B_co]):
    """Examples, each of which a loader gives once an epoch."""

    def __len__(self) -> int: ...

    def settings(self) -> dict[str, Any]:
        """What decides which example has which number; part of a saved state."""

    def gather(self, numbers: npt.NDArray[np.int64]) -> B_co:
        """The batch of some examples: a named tuple of arrays."""


class Windows:
    """The windows of a token set that lie side by side."""

    def __init__(self, tokens: TokenDataset, block_size: int) -> None:
        self._tokens, self._block_size = tokens, block_size

    def __len__(self) -> int:
        # The last token of the last window has one after it, too.
        return (len(self._tokens) - 1) // self._block_size

    def settings(self) -> dict[str, Any]:
        return {"tokens": len(self._tokens), "block_size": self._block_size}

    def gather(self, numbers: npt.NDArray[np.int64]) -> Batch:
        return self._tokens.windows(numbers * self._block_size, self._block_size)
