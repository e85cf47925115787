"""Stretches of documents in their order, by split and by file.

A part holds the documents of a stretch of the input; `shuffling.py` has those of a shuffled set.
Look here for how many machines split a set and fill its files by the same rules as one machine.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from jeton.corpora.token_blocks.ids import Ids
from jeton.data import layouts
from jeton.data.layouts.shard import mapped
from jeton.data.manifest import Manifest
from jeton.data.preparing.document_keys import Keyed
from jeton.data.preparing.loss_mask_bits import marked
from jeton.data.preparing.shuffling import RECORD, gathered
from jeton.data.preparing.sinks import hash_limit, some_at_a_time

_AT_A_TIME = 1 << 22
"""About how many tokens are copied at a time."""


@dataclass(frozen=True)
class Stretch(ABC):
    """Documents in their order, some of which are in a split."""

    size: int
    """The number of tokens of all documents."""
    begin: int | None = field(default=None, kw_only=True)
    """Documents that end up to this token are of another split, if the set is cut there."""
    end: int | None = field(default=None, kw_only=True)
    """Documents that begin from this token on are of another split."""
    limit: int | None = field(default=None, kw_only=True)
    """Documents with a key below it are for validation, if the set is split by a hash."""
    validates: bool = field(default=False, kw_only=True)
    """Whether these are the documents for validation."""

    def documents(self) -> npt.NDArray[np.void]:
        """The documents of the split as `RECORD`; of one that is cut its part."""
        documents = self._all_documents()
        if self.limit is not None:
            is_here = (documents["key"] < np.uint64(self.limit)) == self.validates
        else:
            is_here = np.ones(len(documents), np.bool_)
        ends = np.cumsum(documents["length"])
        starts = ends - documents["length"]
        if self.end is not None:
            is_here &= (starts < self.end) | (ends <= self.end)
            documents["length"] = np.minimum(ends, self.end) - starts
        if self.begin is not None:
            is_here &= ends > self.begin
            cut = np.maximum(self.begin - starts, 0)
            documents["start"] += cut
            documents["length"] -= cut
        found: npt.NDArray[np.void] = documents[is_here]
        return found

    def tokens(
        self, first: int, stop: int
    ) -> Iterator[tuple[npt.NDArray[np.integer], npt.NDArray[np.int64]]]:
        """The tokens, marked if there is a loss mask, and the lengths of documents, some at a
        time."""
        documents = self.documents()
        for low, high in some_at_a_time(np.cumsum(documents["length"]), _AT_A_TIME, first, stop):
            some = documents[low:high]
            yield gathered(some, self._tokens), np.ascontiguousarray(some["length"])

    @abstractmethod
    def _all_documents(self) -> npt.NDArray[np.void]:
        """The documents of this split or another, as `RECORD`."""

    @abstractmethod
    def _tokens(self, file: int, window: slice) -> Ids:
        """Tokens of a file that `RECORD` names."""


@dataclass(frozen=True)
class PartStretch(Stretch):
    """The documents of a part that are in one split."""

    folder: str
    """The part."""
    source: str
    """The split of the part."""

    def _all_documents(self) -> npt.NDArray[np.void]:
        lengths = [np.diff(shard.ends, prepend=0) for shard in self._shards]
        documents = np.zeros(sum(map(len, lengths)), RECORD)
        documents["length"] = np.concatenate(lengths)
        documents["start"] = np.concatenate([np.cumsum(some) - some for some in lengths])
        documents["file"] = np.repeat(np.arange(len(lengths)), [*map(len, lengths)])
        if self.limit is not None:
            documents["key"] = mapped(Path(self.folder) / Keyed.FILE, "uint64")
        return documents

    def _tokens(self, file: int, window: slice) -> Ids:
        shard = self._shards[file]
        tokens = shard.tokens[window]
        return tokens if shard.mask is None else marked(tokens, shard.mask[window])

    @cached_property
    def _shards(self) -> list[Any]:
        return layouts.read(self.folder, split=self.source, layout="jeton")


def part_stretches(parts: list[tuple[Path, Manifest]], split: str) -> list[Stretch]:
    """The documents of a split of all parts, in their order."""
    found = list[Stretch]()
    for folder, manifest in parts:
        if split in manifest.splits and manifest.splits[split].documents:
            found.append(PartStretch(manifest.splits[split].tokens, str(folder), split))
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
    at = int(sum(it.size for it in train) * (1 - share))
    stretches: dict[str, list[Stretch]] = {"train": [], "val": []}
    for whole in train:
        if at >= 0:
            stretches["train"].append(replace(whole, end=at))
        if at < whole.size:
            stretches["val"].append(replace(whole, begin=at if at >= 0 else None))
        at -= whole.size
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
        ends = np.cumsum(stretch.documents()["length"])
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
    if places:
        yield places
