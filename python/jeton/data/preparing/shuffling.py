"""Shuffles documents by a seed, even if they do not fit in memory.

Each document gets a pseudo-random number from its key and the seed, and documents are ordered by
these numbers. First they go into files (buckets) by the highest bits of their numbers, then each
file is sorted. So the order depends neither on the number of files, nor on memory, nor on how
documents are distributed over machines.

Copies of a document have the same key, so they have the same number and are in the same file. When
the file is read, each copy but the first gets its own number, and is recorded for the file of that
number. If a cut splits the set afterwards, copies stay on their side of it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import jeton._core as _core
from jeton.corpora.token_blocks.blocks import Block, Blocks, DocumentSource, SourcePosition
from jeton.corpora.token_blocks.ids import Ids
from jeton.data.layouts.growing_file import GrowingFile, check_sum
from jeton.data.layouts.shard import mapped
from jeton.data.preparing.sinks import Sink, some_at_a_time

_ENTRY = np.dtype([("length", "<i8"), ("key", "<u8")])
RECORD = np.dtype(
    [
        ("number", "<u8"),
        ("key", "<u8"),
        ("copy", "<u4"),
        ("file", "<u4"),
        ("start", "<i8"),
        ("length", "<i8"),
    ]
)
"""A document: number and key for the order, the copies before it, and the place of its tokens."""
_COPIES_IN_MEMORY = 1 << 20
"""Maximum records of copies in memory."""
_AT_A_TIME = 1 << 21
"""Approximate number of tokens of a block of shuffled documents."""
_MAX_BUCKETS = 1 << 12


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
    """The number of files for documents of `size` bytes, so that each fits into the memory."""
    count = -(-size // max(1, memory // 4))
    return min(_MAX_BUCKETS, 1 << max(0, count - 1).bit_length())


def copies_before(keys: npt.NDArray[np.uint64]) -> npt.NDArray[np.int64]:
    """For each key, how often it occurs before.

    >>> copies_before(np.array([7, 9, 7, 7], np.uint64)).tolist()
    [0, 0, 1, 2]
    """
    order = np.argsort(keys, kind="stable")
    in_order = keys[order]
    begins = np.flatnonzero(np.append(True, in_order[1:] != in_order[:-1]))[: len(keys)]
    counts = np.empty(len(keys), np.int64)
    counts[order] = np.arange(len(keys)) - np.repeat(begins, np.diff(begins, append=len(keys)))
    return counts


def records_of(
    lengths: npt.NDArray[np.int64], keys: npt.NDArray[np.uint64], file: int, seed: int
) -> npt.NDArray[np.void]:
    """The documents of a file as `RECORD`, in their order there; none counts as a copy."""
    records = np.zeros(len(lengths), RECORD)
    records["length"], records["key"], records["file"] = lengths, keys, file
    records["start"] = np.cumsum(lengths) - lengths
    records["number"] = numbers(keys, seed)
    return records


def ordered(records: npt.NDArray[np.void]) -> npt.NDArray[np.void]:
    """Documents ordered by number; copies with equal numbers in their original order."""
    in_order: npt.NDArray[np.void] = records[
        np.lexsort((records["copy"], records["key"], records["number"]))
    ]
    return in_order


def bucket_of(document_numbers: npt.NDArray[np.uint64], buckets: int) -> npt.NDArray[np.int64]:
    """The bucket of each number, by its highest bits."""
    # In two steps, because a shift by all 64 bits would do nothing.
    shift = np.uint64(32 - (buckets - 1).bit_length())
    return ((document_numbers >> np.uint64(32)) >> shift).astype(np.int64)


@dataclass(frozen=True)
class Boundary:
    """The document that a cut is in: those before it train, the others validate."""

    number: int
    copy: int


def boundary_in(records: npt.NDArray[np.void], at: int) -> Boundary:
    """The document with the token at `at`, once these documents are in order."""
    records = ordered(records)
    row = np.searchsorted(np.cumsum(records["length"]), at, side="right")
    return Boundary(int(records["number"][row]), int(records["copy"][row]))


def numbers_of_copies(
    copies: npt.NDArray[np.void], seed: int, boundary: Boundary | None
) -> npt.NDArray[np.uint64]:
    """A number for each copy, from the number of copies before it, on its side of a cut."""
    before, copy = copies["number"], copies["copy"]
    random_numbers = numbers(before + copy, seed) >> np.uint64(32)
    if boundary is None:
        return random_numbers << np.uint64(32)
    at = np.uint64(boundary.number)
    trains = (before < at) | ((before == at) & (copy < boundary.copy))
    number = np.where(
        trains,
        random_numbers * np.uint64(boundary.number >> 32),
        at + np.uint64(1) + random_numbers * np.uint64((2**64 - 1 - boundary.number) >> 32),
    )
    return np.where((before == at) & (copy == boundary.copy), before, number)


def gathered(records: npt.NDArray[np.void], tokens_of: Callable[[int, slice], Ids]) -> Ids:
    """The tokens of documents, one after another; `tokens_of` gives a range of those of a file."""
    pieces = []
    for file in np.unique(records["file"]).tolist():
        some = records[records["file"] == file]
        bounds = np.stack((some["start"], some["start"] + some["length"]), 1).ravel()
        low, high = int(bounds.min()), int(bounds.max())
        tokens = tokens_of(file, slice(low, high))
        pieces.append(_core.reordered(tokens, bounds - low, np.arange(1, len(bounds), 2)))
    tokens_of_all: Ids = pieces[0]
    if len(pieces) > 1:
        by_file = np.argsort(records["file"], kind="stable")
        ends = np.cumsum(records["length"][by_file])
        tokens_of_all = _core.reordered(np.concatenate(pieces), ends, np.argsort(by_file))
    return tokens_of_all


class _BucketFiles:
    """The files of a bucket: its tokens, the length and key of each document, and copies from other
    buckets that belong there."""

    def __init__(self, folder: Path, number: int) -> None:
        self.tokens = folder / f"bucket-{number:04d}.tokens"
        self.documents = folder / f"bucket-{number:04d}.documents"
        self.copies = folder / f"bucket-{number:04d}.copies"


class Buckets(Sink):
    """Distributes documents to files by the highest bits of their numbers."""

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
        self._most_waiting = max(1 << 20, memory // 4)
        self._waiting: list[list[Ids]] = [[] for _ in range(buckets)]
        self._entries: list[list[npt.NDArray[np.void]]] = [[] for _ in range(buckets)]
        self._size = 0
        #: The bucket, the tokens so far and the key of the unfinished document.
        self._open: tuple[int, int, int] | None = None
        paths = [_BucketFiles(folder, number) for number in range(buckets)]
        states = [((0, 0), (0, 0))] * buckets if state is None else state["files"]
        #: The tokens of each bucket, and its documents.
        self._files = [
            (GrowingFile(path.tokens, of_tokens), GrowingFile(path.documents, of_documents))
            for path, (of_tokens, of_documents) in zip(paths, states, strict=True)
        ]
        sizes = (tokens.state[0] for tokens, _ in self._files)
        self._token_count = sum(sizes) // self._dtype.itemsize

    @property
    def tokens(self) -> int:
        return self._token_count

    def _take(self, block: Block) -> None:
        tokens, lengths, keys = block.tokens, block.lengths, block.keys
        self._token_count += len(tokens)
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
        return bucket_of(numbers(keys, self._seed), self._buckets)

    def _put(
        self,
        tokens: Ids,
        lengths: npt.NDArray[np.int64],
        keys: npt.NDArray[np.uint64],
    ) -> None:
        """Distributes whole documents to their buckets."""
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

    def _continue(self, tokens: Ids, *, last: bool) -> None:
        """Appends to the unfinished document."""
        assert self._open is not None
        bucket, length, key = self._open
        length += len(tokens)
        self._add(bucket, tokens)
        self._open = (bucket, length, key)
        if last:
            self._entries[bucket].append(np.array([(length, key)], _ENTRY))
            self._open = None

    def _add(self, bucket: int, tokens: Ids) -> None:
        self._waiting[bucket].append(tokens)
        self._size += tokens.nbytes

    def _flush(self, sync: bool = False) -> None:
        waiting = zip(self._files, self._waiting, self._entries, strict=True)
        for (tokens, documents), tokens_here, entries_here in waiting:
            for file, arrays in ((tokens, tokens_here), (documents, entries_here)):
                if arrays:
                    file.append(np.concatenate(arrays).data)
                if sync:
                    file.sync()
                file.close()
            tokens_here.clear()
            entries_here.clear()
        self._size = 0

    def sync(self) -> None:
        self._flush(sync=True)

    def state(self) -> dict[str, Any]:
        return {"files": [[file.state for file in files] for files in self._files]}

    def finish(self) -> None:
        self._flush()

    def handover(self) -> Any:
        return [[file.state[1] for file in files] for files in self._files]


class Shuffled(DocumentSource):
    """The documents of buckets in the order of their numbers.

    A place is a bucket and the number of its documents before it. `validation` is the share that a
    cut takes from the end, if there is a cut.
    """

    def __init__(
        self,
        folder: Path,
        *,
        dtype: str,
        seed: int,
        buckets: int,
        validation: Fraction | None,
        sums: Callable[[], list[list[int]]],
    ) -> None:
        self._dtype, self._seed, self._validation = np.dtype(dtype), seed, validation
        #: The CRC-32 of the files of each bucket, when these are written.
        self._sums = sums
        self._files = [_BucketFiles(folder, number) for number in range(buckets)]

    @property
    def size(self) -> int:
        """The bytes of their tokens."""
        return sum(self._bytes(number) for number in range(len(self._files)))

    def identity(self) -> list[dict[str, object]]:
        """Empty: buckets are derived from sources that have an identity."""
        return []

    def blocks(self, start: SourcePosition) -> Blocks:
        """The blocks from `start` on."""
        for files, (_, of_documents) in zip(self._files, self._sums(), strict=True):
            check_sum(files.documents, of_documents)
        self._note_copies()
        first, row = start.place or (0, 0)
        progress, read = start, 0
        for number in range(first, len(self._files)):
            check_sum(self._files[number].tokens, self._sums()[number][0])
            records = self._in_order(number)
            row = row if number == first else 0
            for begin, stop in some_at_a_time(np.cumsum(records["length"]), _AT_A_TIME, row):
                some = records[begin:stop]
                tokens = gathered(some, self._tokens)
                read += tokens.nbytes
                after = SourcePosition((number, stop), start.documents)
                lengths, keys = (np.ascontiguousarray(some[name]) for name in ("length", "key"))
                yield Block(tokens, lengths, keys, progress, after, read)
                progress = after

    def _bytes(self, number: int) -> int:
        path = self._files[number].tokens
        return path.stat().st_size if path.exists() else 0

    def _records(self, number: int) -> npt.NDArray[np.void]:
        """The documents of a bucket, with the numbers of their keys."""
        path = self._files[number].documents
        entries = np.fromfile(path, _ENTRY) if path.exists() else np.empty(0, _ENTRY)
        records = records_of(entries["length"], entries["key"], number, self._seed)
        records["copy"] = copies_before(entries["key"])
        return records

    def _in_order(self, number: int) -> npt.NDArray[np.void]:
        """The documents that belong to a bucket, in order."""
        records, path = self._records(number), self._files[number].copies
        records = records[records["copy"] == 0]
        if path.exists():
            records = np.concatenate((records, np.fromfile(path, RECORD)))
        return ordered(records)

    def _note_copies(self) -> None:
        """Gives each copy its own number, and records it for the bucket of that number."""
        copies_of = [GrowingFile(files.copies) for files in self._files]
        boundary = None if self._validation is None else self._boundary(self._validation)
        waiting: list[npt.NDArray[np.void]] = []
        for number in range(len(self._files)):
            records = self._records(number)
            copies = records[records["copy"] > 0]
            copies["number"] = numbers_of_copies(copies, self._seed, boundary)
            waiting.append(copies)
            if sum(map(len, waiting)) >= _COPIES_IN_MEMORY or number + 1 == len(self._files):
                some = np.concatenate(waiting)
                waiting.clear()
                buckets = bucket_of(some["number"], len(self._files))
                for bucket in np.unique(buckets).tolist():
                    copies_of[bucket].append(some[buckets == bucket].data)
                    copies_of[bucket].close()

    def _boundary(self, share: Fraction) -> Boundary | None:
        """The document that a cut is in while all copies of a document are adjacent."""
        limit = int(self.size // self._dtype.itemsize * (1 - share))
        before = 0
        for number in range(len(self._files)):
            tokens = self._bytes(number) // self._dtype.itemsize
            if before + tokens > limit:
                return boundary_in(self._records(number), limit - before)
            before += tokens
        return None

    def _tokens(self, number: int, window: slice) -> Ids:
        return mapped(self._files[number].tokens, self._dtype.name)[window]
