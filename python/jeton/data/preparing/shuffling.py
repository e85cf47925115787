"""Documents in a random order by a seed, also when they do not fit in memory.

The order is that of a pseudo-random number which each document gets from its key and the seed, so
documents are first put into files by the highest bits of their numbers, and then each file is
sorted by itself: the order depends neither on how many files there are, nor on memory, nor on how
the documents were spread over machines.

Copies of a document have its key, and so its number and its file. So they are known when the file
is read; each but the first gets a number of its own there, and is noted for the file that this
number belongs to. Where one cut parts the set afterwards, copies stay on their side of it.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import jeton._core as _core
from jeton.corpora.token_blocks.blocks import Block, DocumentSource, SourcePosition
from jeton.data.layouts.shard import mapped
from jeton.data.preparing.sinks import Sink
from jeton.errors import FileError, FormatError

__all__ = ["Buckets", "Shuffled", "buckets_for", "numbers"]

_ENTRY = np.dtype([("length", "<i8"), ("key", "<u8")])
_RECORD = np.dtype(
    [
        ("number", "<u8"),
        ("key", "<u8"),
        ("copy", "<u4"),
        ("bucket", "<u2"),
        ("start", "<i8"),
        ("length", "<i8"),
    ]
)
"""A document: what it is ordered by, how many copies came before, and where its tokens are."""
_COPIES_IN_MEMORY = 1 << 20
"""How many records of copies wait for the disk."""
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


def copies_before(keys: npt.NDArray[np.uint64]) -> npt.NDArray[np.int64]:
    """For each key, how often it came before.

    >>> copies_before(np.array([7, 9, 7, 7], np.uint64)).tolist()
    [0, 0, 1, 2]
    """
    order = np.argsort(keys, kind="stable")
    in_order = keys[order]
    begins = np.flatnonzero(np.append(True, in_order[1:] != in_order[:-1]))[: len(keys)]
    found = np.empty(len(keys), np.int64)
    found[order] = np.arange(len(keys)) - np.repeat(begins, np.diff(begins, append=len(keys)))
    return found


class _BucketFiles:
    """The files of a bucket: its tokens, the length and the key of each document, and the copies
    of others that belong there."""

    def __init__(self, folder: Path, number: int) -> None:
        self.tokens = folder / f"bucket-{number:04d}.tokens"
        self.documents = folder / f"bucket-{number:04d}.documents"
        self.copies = folder / f"bucket-{number:04d}.copies"


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
        self._files = [_BucketFiles(folder, number) for number in range(buckets)]
        self._most_waiting = max(1 << 20, memory // 4)
        self._waiting: list[list[npt.NDArray[Any]]] = [[] for _ in self._files]
        self._entries: list[list[npt.NDArray[Any]]] = [[] for _ in self._files]
        self._size = 0
        #: Of the document that is not finished: its bucket, its tokens so far, and its key.
        self._open: tuple[int, int, int] | None = None
        #: How many tokens and documents each bucket has, and the CRC-32 of both files.
        self._counts = np.zeros((buckets, 4), np.int64)
        if state is not None:
            self._counts[:] = state["counts"]
        self._met = int(self._counts[:, 0].sum())
        for files, (tokens, documents, *sums) in zip(
            self._files, self._counts.tolist(), strict=True
        ):
            _cut(files.tokens, tokens * self._dtype.itemsize)
            _cut(files.documents, documents * _ENTRY.itemsize)
            check_sum(files.tokens, sums[0])
            check_sum(files.documents, sums[1])

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
        return _bucket_of(numbers(keys, self._seed), self._buckets)

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
            for at, path, arrays in ((2, files.tokens, tokens), (3, files.documents, entries)):
                if arrays or (sync and path.exists()):
                    before = int(self._counts[number, at])
                    self._counts[number, at] = _append(path, arrays, sync, before)
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

    def handover(self) -> Any:
        return self._counts[:, 2:].tolist()


def _bucket_of(drawn: npt.NDArray[np.uint64], buckets: int) -> npt.NDArray[np.int64]:
    """The bucket of each number, by its highest bits."""
    # A shift by all 64 bits would be none.
    shift = np.uint64(32 - (buckets - 1).bit_length())
    return ((drawn >> np.uint64(32)) >> shift).astype(np.int64)


@dataclass(frozen=True)
class _Boundary:
    """The document that a cut lies in: those before it train, the others validate."""

    number: int
    copy: int


class Shuffled(DocumentSource):
    """The documents of buckets in the order of their numbers.

    A place is a bucket and how many of its documents came before. `validation` is the share that
    one cut parts from the end, if one does.
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
        #: The CRC-32 of the files of each bucket, once these are written.
        self._sums = sums
        self._files = [_BucketFiles(folder, number) for number in range(buckets)]

    @property
    def size(self) -> int:
        """How many bytes their tokens have."""
        return sum(self._bytes(number) for number in range(len(self._files)))

    def identity(self) -> list[dict[str, Any]]:
        """They are made anew from what has one."""
        return []

    def blocks(self, start: SourcePosition) -> Iterator[Block]:
        """The blocks from some place on."""
        for files, (_, of_documents) in zip(self._files, self._sums(), strict=True):
            check_sum(files.documents, of_documents)
        self._note_copies()
        first, row = start.place or (0, 0)
        progress, read = start, 0
        for number in range(first, len(self._files)):
            check_sum(self._files[number].tokens, self._sums()[number][0])
            records = self._in_order(number)
            ends = np.cumsum(records["length"])
            row = row if number == first else 0
            while row < len(records):
                before = int(ends[row - 1]) if row else 0
                stop = int(np.searchsorted(ends, before + _AT_A_TIME, side="right"))
                stop = max(stop, row + 1)
                some = records[row:stop]
                tokens = self._tokens(some)
                read += tokens.nbytes
                after = SourcePosition((number, stop), start.documents)
                lengths, keys = (np.ascontiguousarray(some[name]) for name in ("length", "key"))
                yield Block(tokens, lengths, keys, progress, after, read)
                progress, row = after, stop

    def _bytes(self, number: int) -> int:
        path = self._files[number].tokens
        return path.stat().st_size if path.exists() else 0

    def _records(self, number: int) -> npt.NDArray[Any]:
        """The documents of a bucket, each by the number of its key."""
        path = self._files[number].documents
        entries = np.fromfile(path, _ENTRY) if path.exists() else np.empty(0, _ENTRY)
        records = np.empty(len(entries), _RECORD)
        records["length"], records["key"] = entries["length"], entries["key"]
        records["start"] = np.cumsum(entries["length"]) - entries["length"]
        records["bucket"] = number
        records["copy"] = copies_before(entries["key"])
        records["number"] = numbers(entries["key"], self._seed)
        return records

    def _in_order(self, number: int) -> npt.NDArray[Any]:
        """The documents that belong to a bucket, in their order."""
        records, path = self._records(number), self._files[number].copies
        records = records[records["copy"] == 0]
        if path.exists():
            records = np.concatenate((records, np.fromfile(path, _RECORD)))
        return _ordered(records)

    def _note_copies(self) -> None:
        """Gives copies numbers of their own, and notes each for the bucket of its number."""
        for files in self._files:
            files.copies.unlink(missing_ok=True)
        boundary = None if self._validation is None else self._boundary(self._validation)
        waiting: list[npt.NDArray[Any]] = []
        for number in range(len(self._files)):
            records = self._records(number)
            copies = records[records["copy"] > 0]
            copies["number"] = self._number_of_copies(copies, boundary)
            waiting.append(copies)
            if sum(map(len, waiting)) >= _COPIES_IN_MEMORY or number + 1 == len(self._files):
                some = np.concatenate(waiting)
                waiting.clear()
                buckets = _bucket_of(some["number"], len(self._files))
                for bucket in np.unique(buckets).tolist():
                    _append(self._files[bucket].copies, [some[buckets == bucket]])

    def _number_of_copies(
        self, copies: npt.NDArray[Any], boundary: _Boundary | None
    ) -> npt.NDArray[np.uint64]:
        """A number for each copy that depends on how many came before it, on its side of a cut."""
        before, copy = copies["number"], copies["copy"]
        drawn = numbers(before + copy, self._seed) >> np.uint64(32)
        if boundary is None:
            return drawn << np.uint64(32)
        at = np.uint64(boundary.number)
        trains = (before < at) | ((before == at) & (copy < boundary.copy))
        number = np.where(
            trains,
            drawn * np.uint64(boundary.number >> 32),
            at + np.uint64(1) + drawn * np.uint64((2**64 - 1 - boundary.number) >> 32),
        )
        return np.where((before == at) & (copy == boundary.copy), before, number)

    def _boundary(self, share: Fraction) -> _Boundary | None:
        """Where a cut lies while all copies of a document are side by side."""
        limit = int(self.size // self._dtype.itemsize * (1 - share))
        before = 0
        for number in range(len(self._files)):
            tokens = self._bytes(number) // self._dtype.itemsize
            if before + tokens > limit:
                records = _ordered(self._records(number))
                row = np.searchsorted(np.cumsum(records["length"]), limit - before, side="right")
                return _Boundary(int(records["number"][row]), int(records["copy"][row]))
            before += tokens
        return None

    def _tokens(self, records: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """The tokens of documents, of which copies lie in other buckets."""
        pieces = []
        for bucket in np.unique(records["bucket"]).tolist():
            some = records[records["bucket"] == bucket]
            bounds = np.stack((some["start"], some["start"] + some["length"]), 1).ravel()
            tokens = mapped(self._files[bucket].tokens, self._dtype.name)
            pieces.append(_core.reordered(tokens, bounds, np.arange(1, len(bounds), 2)))
        found: npt.NDArray[Any] = pieces[0]
        if len(pieces) > 1:
            by_bucket = np.argsort(records["bucket"], kind="stable")
            ends = np.cumsum(records["length"][by_bucket])
            found = _core.reordered(np.concatenate(pieces), ends, np.argsort(by_bucket))
        return found


def _ordered(records: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Documents by their numbers; copies in the order in which they came, where these are equal."""
    found: npt.NDArray[Any] = records[
        np.lexsort((records["copy"], records["key"], records["number"]))
    ]
    return found


def _append(
    path: Path, arrays: list[npt.NDArray[Any]], sync: bool = False, sum_before: int = 0
) -> int:
    """Appends to a file; gives the CRC-32 of all of it, from that of what it had."""
    try:
        with path.open("ab") as file:
            for array in arrays:
                data = np.ascontiguousarray(array).data
                file.write(data)
                sum_before = zlib.crc32(data, sum_before)
            if sync:
                file.flush()
                os.fsync(file.fileno())
    except OSError as error:
        raise FileError(f"{path}: cannot be written: {error.strerror}") from None
    return sum_before


def check_sum(path: Path, expected: int) -> None:
    """Refuses a file that does not have this CRC-32; one that is not there has 0.

    Raises:
        FormatError: It is damaged.
        FileError: It cannot be read.
    """
    found = 0
    try:
        with path.open("rb") as file:
            while some := file.read(1 << 20):
                found = zlib.crc32(some, found)
    except FileNotFoundError:
        pass
    except OSError as error:
        raise FileError(f"{path}: cannot be read: {error.strerror}") from None
    if found != expected:
        raise FormatError(
            f"{path}: is damaged since it was written; remove its folder and begin anew"
        )


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
