"""The documents of a part by split and by file.

A part holds the documents of a stretch of the input. Look here for how many machines split a set
and fill its files by the same rules as one machine.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from jeton.data.dataset import TokenDataset
from jeton.data.layouts.shard import mapped
from jeton.data.manifest import Manifest
from jeton.data.preparing.document_keys import Keyed
from jeton.data.preparing.sinks import hash_limit, split_lengths

_AT_A_TIME = 1 << 22
"""About how many tokens are copied at a time."""


@dataclass(frozen=True)
class PartStretch:
    """The documents of a part that are in one split."""

    folder: str
    """The part."""
    source: str
    """The split of the part."""
    begin: int
    """The token of the part with which the stretch begins; it may be inside a document."""
    end: int
    """The token after which it ends."""
    limit: int | None = None
    """Documents with a key below it are for validation, if the set is split by a hash."""
    validates: bool = False
    """Whether these are the documents for validation."""

    @cached_property
    def lengths(self) -> npt.NDArray[np.int64]:
        """How many tokens each document of the stretch has."""
        all_of_part = self._tokens.documents.lengths
        if self.limit is not None:
            return all_of_part[self._chosen]
        up_to, _ = split_lengths(all_of_part, self.end)
        return split_lengths(up_to, self.begin)[1]

    def forget(self) -> None:
        """Releases the data of the part."""
        for name in ("lengths", "_tokens", "_chosen"):
            self.__dict__.pop(name, None)

    def tokens(
        self, first: int, stop: int
    ) -> Iterator[tuple[npt.NDArray[np.integer], npt.NDArray[np.int64]]]:
        """The tokens and the lengths of documents, some at a time."""
        lengths = self.lengths
        ends = np.cumsum(lengths)
        while first < stop:
            before = int(ends[first - 1]) if first else 0
            until = int(np.searchsorted(ends, before + _AT_A_TIME, side="right"))
            until = min(stop, max(first + 1, until))
            if self.limit is None:
                at = self.begin
                tokens = self._tokens[at + before : at + int(ends[until - 1])]
            else:
                tokens = self._chosen_tokens(first, until)
            yield tokens, lengths[first:until]
            first = until

    def _chosen_tokens(self, first: int, stop: int) -> npt.NDArray[np.integer]:
        numbers = np.flatnonzero(self._chosen)[first:stop]
        offsets = self._tokens.documents.offsets[numbers[0] : numbers[-1] + 2]
        mask = self._chosen[numbers[0] : numbers[-1] + 1]
        tokens = self._tokens[int(offsets[0]) : int(offsets[-1])]
        result: npt.NDArray[np.integer] = tokens[np.repeat(mask, np.diff(offsets))]
        return result

    @cached_property
    def _tokens(self) -> TokenDataset:
        return TokenDataset(self.folder, split=self.source, layout="jeton")

    @cached_property
    def _chosen(self) -> npt.NDArray[np.bool_]:
        """Which documents of the part are in the stretch."""
        validates = mapped(Path(self.folder) / Keyed.FILE, "uint64") < np.uint64(self.limit or 0)
        mask: npt.NDArray[np.bool_] = validates == self.validates
        return mask


def stretches_of(
    parts: list[tuple[Path, Manifest]], by: str | None, share: Fraction
) -> dict[str, list[PartStretch]]:
    """The stretches of each split, in the order of the parts.

    Args:
        by: How the set is split: `"hash"`, `"cut"`, `"data"` or not at all.
        share: How much of it validates.
    """
    total = sum(manifest.splits["train"].tokens for _, manifest in parts)
    limit = int(total * (1 - share))
    stretches: dict[str, list[PartStretch]] = (
        {"train": []} if by is None else {"train": [], "val": []}
    )
    before = 0
    for folder, manifest in parts:
        path = str(folder)
        for source, source_split in manifest.splits.items():
            if not source_split.documents:
                continue
            whole = PartStretch(path, source, 0, source_split.tokens)
            if source != "train" or by in (None, "data"):
                stretches[source].append(whole)
            elif by == "hash":
                for split in stretches:
                    keys = hash_limit(share)
                    stretches[split].append(
                        PartStretch(path, source, 0, source_split.tokens, keys, split == "val")
                    )
            else:
                at = min(max(limit - before, 0), source_split.tokens)
                if at:
                    stretches["train"].append(PartStretch(path, source, 0, at))
                if at < source_split.tokens:
                    stretches["val"].append(PartStretch(path, source, at, source_split.tokens))
        before += manifest.splits["train"].tokens
    return stretches


class StretchPlace(NamedTuple):
    """Some documents of a stretch."""

    stretch: int
    first: int
    stop: int


def files_of(stretches: list[PartStretch], most: int) -> Iterator[list[StretchPlace]]:
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
