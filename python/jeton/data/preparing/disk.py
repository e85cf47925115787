"""The disk that a set will need, estimated from samples of its inputs before the work begins."""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from contextlib import closing
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np

from jeton.corpora.token_blocks.blocks import DocumentSource
from jeton.errors import FileError, JetonError

_SMALL = 64 << 20
"""Smaller inputs, in bytes, are not sampled."""
_SAMPLE = 1 << 18
"""The least bytes of a sample."""


@dataclass(frozen=True)
class DiskNeed:
    """The bytes of disk that a set needs while it is made, and those that are free."""

    needed: int = 0
    """0 if unknown, as for data of unknown size and small data."""
    free: int = 0

    def check(self, folder: Path) -> None:
        """Fails if the disk is so full that an estimate cannot be wrong by that much."""
        if self.free < self.needed // 2:
            raise FileError(
                f"folder {folder}: the set needs about {self.needed / 1e9:,.1f} GB of disk, and "
                f"{self.free / 1e9:,.1f} GB are free"
            )


def disk_need(
    sources: Iterable[DocumentSource],
    folder: Path,
    *,
    dtype: str,
    block_dtype: str,
    waiting: Fraction,
) -> DiskNeed:
    """The need of a set in a folder.

    Args:
        sources: The sources of its splits.
        folder: The folder, which exists.
        dtype: The type of its tokens.
        block_dtype: The type of tokens that wait in files before they are written.
        waiting: The share of the tokens that wait there: 1 if the set is shuffled.
    """
    token = np.dtype(dtype).itemsize + np.dtype(block_dtype).itemsize * waiting
    if block_dtype != dtype:
        token += 1  # the loss mask
    needed = Fraction(0)
    for source in sources:
        try:
            tokens, documents = _counts(source)
        except JetonError:
            # `prepare` itself will meet this error and explain it better.
            return DiskNeed()
        needed += tokens * token + documents * 8
    return DiskNeed(int(needed), shutil.disk_usage(folder).free if needed else 0)


def _counts(source: DocumentSource) -> tuple[Fraction, Fraction]:
    """The estimated numbers of tokens and documents of a source; 0 if its size is not known."""
    if source.size < _SMALL:
        return Fraction(0), Fraction(0)
    tokens = documents = read = 0
    for start, before in source.samples():
        here = 0
        with closing(source.blocks(start)) as blocks:
            for block in blocks:
                tokens += len(block.tokens)
                documents += len(block.lengths)
                here = block.read - before
                if here >= _SAMPLE:
                    break
        read += here
    scale = Fraction(source.size, max(1, read))
    return tokens * scale, documents * scale
