"""Documents in a random order by a seed, also when they do not fit in memory.

The order is that of a pseudo-random number which each document gets from its key and the seed;
among equal ones, that in which they came. So documents are first put into files by the highest
bits of their numbers, and then each file is sorted by itself: the order depends neither on how many
files there are, nor on memory, nor on how the documents were spread over machines.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import jeton._core as _core
from jeton.data.layouts.shard import mapped
from jeton.data.preparing.sinks import Sink
from jeton.errors import FileError
from jeton.token_blocks.blocks import Block, Progress, Source

__all__ = ["Buckets", "Shuffled", "buckets_for", "numbers"]

_ENTRY = np.dtype([("length", "<i8"), ("key", "<u8")])
_AT_A_TIME = 1 << 21
"""About how many tokens a block of shuffled documents has."""
_MOST_BUCKETS = 1 << 12


def numbers(keys: npt.NDArray[np.uint64], seed: int) -> npt.NDArray[np.uint64]:
    """A pseudo-random number for each key, by the finalizer of SplitMix64.

    Source: Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014.
    """
    with np.errstate(over="ignore"):
        mixed = keys + np.uint64((seed * 0x9E3779B97F4A7C15 + 0x9E3779B97F4A7C15) % 2**64)
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    shuffled: npt.NDArray[np.uint64] = mixed ^ (mixed >> np.uint64(31))
    return shuffled


def buckets_for(size: int, memory: int) -> int:
    """How many files documents of so many bytes are put into, each a part of the memory."""
    wanted = -(-size // max(1, memory // 4))
    return min(_MOST_BUCKETS, 1 << max(0, wanted - 1).bit_length())


class _Files:
    """The files of a bucket: its tokens, and the length and the key of each document."""

    def __init__(self, folder: Path, number: int) -> None:
        self.tokens = folder / f"bucket-{number:04d}.tokens"
        self.documents = folder / f"bucket-{number:04d}.documents"


class Buckets(Sink):
    """Puts documents into files by the highest bits of their numbers."""

    def __init__(
        self,
        folder: Path,
        *,
        dtype: str,
        seed: int,
        buckets: int,
        memory: int,
        state: dict[str, Any] | None,
    ) -> None:
        super().__init__()
        self._dtype, self._seed, self._buckets = np.dtype(dtype).newbyteorder("<"), seed, buckets
        self._files = [_Files(folder, number) for number in range(buckets)]
        self._most_waiting = max(1 << 20, memory // 4)
        self._waiting: list[list[npt.NDArray[Any]]] = [[] for _ in self._files]
        self._entries: list[list[npt.NDArray[Any]]] = [[] for _ in self._files]
        self._size = 0
        #: Of the document that is not finished: its bucket, its tokens so far, and its key.
        self._open: tuple[int, int, int] | None = None
        #: How many tokens and documents each bucket has.
        self._counts = np.zeros((buckets, 2), np.int64)
        if state is not None:
            self._counts[:] = state["counts"]
        self._met = int(self._counts[:, 0].sum())
        for files, (tokens, documents) in zip(self._files, self._counts.tolist(), strict=True):
            _cut(files.tokens, tokens * self._dtype.itemsize)
            _cut(files.documents, documents * _ENTRY.itemsize)

    @property
    def tokens(self) -> int:
        return self._met

    def _take(self, block: Block) -> None:
        tokens, lengths, keys = block.tokens, block.lengths, block.keys
        self._met += len(tokens)
        if not len(lengths):
            return
        if block.before is None:
            self._continue(tokens[: lengths[0]], last=len(lengths) > 1 or block.after is not None)
            tokens, lengths = tokens[lengths[0] :], lengths[1:]
        whole = len(lengths) - (block.after is None and len(lengths) > 0)
        if whole:
            self._put(tokens[: int(lengths[:whole].sum())], lengths[:whole], keys[:whole])
        if whole < len(lengths):
            self._open = (int(self._bucket(keys[-1:])[0]), 0, int(keys[-1]))
            self._continue(tokens[len(tokens) - int(lengths[-1]) :], last=False)
        if self._size >= self._most_waiting:
            self._flush()

    def _bucket(self, keys: npt.NDArray[np.uint64]) -> npt.NDArray[np.int64]:
        # A shift by all 64 bits would be none.
        high = numbers(keys, self._seed) >> np.uint64(32)
        shift = np.uint64(32 - (self._buckets - 1).bit_length())
        return (high >> shift).astype(np.int64)

    def _put(
        self,
        tokens: npt.NDArray[Any],
        lengths: npt.NDArray[np.int64],
        keys: npt.NDArray[np.uint64],
    ) -> None:
        """Puts whole documents into their buckets."""
        buckets = self._bucket(keys)
        order = np.argsort(buckets, kind="stable")
        sorted_tokens = _core.reordered(np.ascontiguousarray(tokens), np.cumsum(lengths), order)
        entries = np.empty(len(order), _ENTRY)
        entries["length"], entries["key"] = lengths[order], keys[order]
        ends = np.concatenate(([0], np.cumsum(entries["length"])))
        places = np.searchsorted(buckets[order], np.arange(self._buckets + 1))
        for bucket in np.unique(buckets).tolist():
            first, last = places[bucket], places[bucket + 1]
            self._add(bucket, sorted_tokens[ends[first] : ends[last]])
            self._entries[bucket].append(entries[first:last])

    def _continue(self, tokens: npt.NDArray[Any], *, last: bool) -> None:
        """Adds to the document that is not finished."""
        assert self._open is not None
        bucket, length, key = self._open
        length += len(tokens)
        self._add(bucket, tokens)
        self._open = (bucket, length, key)
        if last:
            self._entries[bucket].append(np.array([(length, key)], _ENTRY))
            self._open = None

    def _add(self, bucket: int, tokens: npt.NDArray[Any]) -> None:
        self._waiting[bucket].append(tokens)
        self._size += tokens.nbytes

    def _flush(self, sync: bool = False) -> None:
        for number, files in enumerate(self._files):
            tokens, entries = self._waiting[number], self._entries[number]
            for path, arrays in ((files.tokens, tokens), (files.documents, entries)):
                if arrays or (sync and path.exists()):
                    _append(path, arrays, sync)
            self._counts[number, 0] += sum(map(len, tokens))
            self._counts[number, 1] += sum(map(len, entries))
            tokens.clear()
            entries.clear()
        self._size = 0

    def sync(self) -> None:
        self._flush(sync=True)

    def state(self) -> dict[str, Any]:
        return {"counts": self._counts.tolist()}

    def finish(self) -> None:
        self._flush()


class Shuffled(Source):
    """The documents of buckets in the order of their numbers.

    A place is a bucket and how many of its documents came before.
    """

    def __init__(self, folder: Path, *, dtype: str, seed: int, buckets: int) -> None:
        self._dtype, self._seed = dtype, seed
        self._files = [_Files(folder, number) for number in range(buckets)]

    @property
    def size(self) -> int:
        """How many bytes their tokens have."""
        return sum(files.tokens.stat().st_size for files in self._files if files.tokens.exists())

    def identity(self) -> list[dict[str, Any]]:
        """They are made anew from what has one."""
        return []

    def blocks(self, start: Progress) -> Iterator[Block]:
        """The blocks from some place on."""
        first, row = start.place or (0, 0)
        progress, read = start, 0
        for number, files in enumerate(self._files):
            if number < first or not files.documents.exists():
                read += files.tokens.stat().st_size if files.tokens.exists() else 0
                continue
            tokens = mapped(files.tokens, self._dtype)
            entries = np.fromfile(files.documents, _ENTRY)
            ends = np.cumsum(entries["length"])
            order = np.argsort(numbers(entries["key"], self._seed), kind="stable")
            ordered = entries[order]
            ends_ordered = np.cumsum(ordered["length"])
            row = row if number == first else 0
            while row < len(order):
                before = int(ends_ordered[row - 1]) if row else 0
                stop = int(np.searchsorted(ends_ordered, before + _AT_A_TIME, side="right"))
                stop = max(stop, row + 1)
                chosen = ordered[row:stop]
                after = Progress((number, stop), start.documents)
                yield Block(
                    _core.reordered(tokens, ends, order[row:stop]),
                    np.ascontiguousarray(chosen["length"]),
                    np.ascontiguousarray(chosen["key"]),
                    progress,
                    after,
                    read + int(ends_ordered[stop - 1]) * tokens.dtype.itemsize,
                )
                progress, row = after, stop
            read += tokens.nbytes


def _append(path: Path, arrays: list[npt.NDArray[Any]], sync: bool) -> None:
    try:
        with path.open("ab") as file:
            for array in arrays:
                file.write(np.ascontiguousarray(array).data)
            if sync:
                file.flush()
                os.fsync(file.fileno())
    except OSError as error:
        raise FileError(f"{path}: cannot be written: {error.strerror}") from None


def _cut(path: Path, size: int) -> None:
    """Cuts a file to what it had."""
    if not size:
        path.unlink(missing_ok=True)
        return
    if not path.exists() or path.stat().st_size < size:
        raise FileError(
            f"{path}: is gone or cut short since it was written; remove its folder and begin anew"
        )
    os.truncate(path, size)
