"""Stretches of documents in their order, by split and by file.

A part holds the documents of a stretch of the input; `shuffling.py` has those of a shuffled set.
Look here for how many machines split a set and fill its files by the same rules as one machine.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

import jeton._core as _core
from jeton.data.dataset import TokenDataset
from jeton.data.layouts.shard import mapped
from jeton.data.manifest import Manifest
from jeton.data.preparing.document_keys import Keyed
from jeton.data.preparing.loss_mask_bits import marked
from jeton.data.preparing.sinks import hash_limit, some_at_a_time, split_lengths

_AT_A_TIME = 1 << 22
"""About how many tokens are copied at a time."""


@dataclass(frozen=True)
class Stretch(ABC):
    """Documents in their order, some of which are in a split."""

    begin: int
    """The token with which the stretch begins; it may be inside a document."""
    end: int
    """The token after which it ends."""
    limit: int | None = field(default=None, kw_only=True)
    """Documents with a key below it are for validation, if the set is split by a hash."""
    validates: bool = field(default=False, kw_only=True)
    """Whether these are the documents for validation."""

    @cached_property
    def lengths(self) -> npt.NDArray[np.int64]:
        """How many tokens each document of the stretch has."""
        if self.limit is not None:
            return self._all_lengths[self._numbers]
        up_to, _ = split_lengths(self._all_lengths, self.end)
        return split_lengths(up_to, self.begin)[1]

    def tokens(
        self, first: int, stop: int
    ) -> Iterator[tuple[npt.NDArray[np.integer], npt.NDArray[np.int64]]]:
        """The tokens, marked if there is a loss mask, and the lengths of documents, some at a
        time."""
        lengths = self.lengths
        ends = np.cumsum(lengths)
        for low, high in some_at_a_time(ends, _AT_A_TIME, first, stop):
            if self.limit is None:
                before = int(ends[low - 1]) if low else 0
                tokens = self._between(self.begin + before, self.begin + int(ends[high - 1]))
            else:
                tokens = self._of_documents(self._numbers[low:high])
            yield tokens, lengths[low:high]

    @cached_property
    def _numbers(self) -> npt.NDArray[np.int64]:
        """The numbers of the documents in the stretch, if the set is split by a hash."""
        validates = self._keys < np.uint64(self.limit or 0)
        return np.flatnonzero(validates == self.validates)

    def forget(self) -> None:
        """Releases the data."""
        for name in {*self.__dict__} - {it.name for it in fields(self)}:
            del self.__dict__[name]

    @property
    @abstractmethod
    def _all_lengths(self) -> npt.NDArray[np.int64]:
        """How many tokens each document has, of this split or another."""

    @property
    @abstractmethod
    def _keys(self) -> npt.NDArray[np.uint64]:
        """The key of each."""

    @abstractmethod
    def _between(self, begin: int, end: int) -> npt.NDArray[np.integer]:
        """The tokens of a range of all."""

    @abstractmethod
    def _of_documents(self, numbers: npt.NDArray[np.int64]) -> npt.NDArray[np.integer]:
        """The tokens of documents with ascending numbers."""


@dataclass(frozen=True)
class PartStretch(Stretch):
    """The documents of a part that are in one split."""

    folder: str
    """The part."""
    source: str
    """The split of the part."""

    @property
    def _all_lengths(self) -> npt.NDArray[np.int64]:
        return self._tokens.documents.lengths

    @cached_property
    def _keys(self) -> npt.NDArray[np.uint64]:
        return mapped(Path(self.folder) / Keyed.FILE, "uint64")

    def _between(self, begin: int, end: int) -> npt.NDArray[np.integer]:
        tokens, mask = self._tokens[begin:end], self._tokens.mask
        return tokens if mask is None else marked(tokens, mask[begin:end])

    def _of_documents(self, numbers: npt.NDArray[np.int64]) -> npt.NDArray[np.integer]:
        first, last = numbers[0], numbers[-1]
        offsets = self._tokens.documents.offsets[first : last + 2]
        tokens: Any = np.ascontiguousarray(self._between(int(offsets[0]), int(offsets[-1])))
        wanted: npt.NDArray[np.integer] = _core.reordered(
            tokens, offsets[1:] - offsets[0], numbers - first
        )
        return wanted

    @cached_property
    def _tokens(self) -> TokenDataset:
        return TokenDataset(self.folder, split=self.source, layout="jeton")


def part_stretches(parts: list[tuple[Path, Manifest]], split: str) -> list[Stretch]:
    """The documents of a split of all parts, in their order."""
    found = list[Stretch]()
    for folder, manifest in parts:
        if split in manifest.splits and manifest.splits[split].documents:
            found.append(PartStretch(0, manifest.splits[split].tokens, str(folder), split))
    return found


def stretches_of(
    wholes: Mapping[str, list[Stretch]], by: str | None, share: Fraction
) -> dict[str, list[Stretch]]:
    """The stretches of each split.

    Args:
        wholes: The documents in their order, by the source that they are of.
        by: How the set is split: `"hash"`, `"cut"`, `"data"` or not at all.
        share: How much of it validates.
    """
    train = wholes["train"]
    if by in (None, "data"):
        return {**wholes}
    if by == "hash":
        keys = hash_limit(share)
        return {
            split: [replace(it, limit=keys, validates=split == "val") for it in train]
            for split in ("train", "val")
        }
    limit = int(sum(it.end for it in train) * (1 - share))
    stretches: dict[str, list[Stretch]] = {"train": [], "val": []}
    before = 0
    for whole in train:
        at = min(max(limit - before, 0), whole.end)
        if at:
            stretches["train"].append(replace(whole, end=at))
        if at < whole.end:
            stretches["val"].append(replace(whole, begin=at))
        before += whole.end
    return stretches


class StretchPlace(NamedTuple):
    """Some documents of a stretch."""

    stretch: int
    first: int
    stop: int


def files_of(stretches: list[Stretch], most: int) -> Iterator[list[StretchPlace]]:
    """Which documents each file has: as many as `most` tokens have room for, or one that is longer.

    This is the rule by which a `Writer` fills its shards.
    """
    places: list[StretchPlace] = []
    room = most
    for number, stretch in enumerate(stretches):
        ends = np.cumsum(stretch.lengths)
        at = position = 0
        while position < len(ends):
            stop = int(np.searchsorted(ends, at + room, side="right"))
            if stop <= position:
                if places:
                    yield places
                    places, room = [], most
                    continue
                stop = position + 1
            places.append(StretchPlace(number, position, stop))
            room -= int(ends[stop - 1]) - at
            at, position = int(ends[stop - 1]), stop
        stretch.forget()
    if places:
        yield places
