"""Shuffles the documents of parts on all machines, into the order that one machine gives them.

`jeton.data.preparing.shuffling` defines the order. A task per shard of a part sorts its documents
by their numbers. Then a task per bucket, a range of numbers, finds the copies among its documents
and gives them numbers of their own; and another one brings the documents that belong to it, copies
of other buckets too, into order. Tokens are not copied again: the task that writes a file reads one
range of each sorted shard.
"""

from __future__ import annotations

import bisect
import hashlib
import json
import os
import shutil
import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from jeton.corpora.token_blocks.ids import Ids
from jeton.data import layouts
from jeton.data.layouts.shard import mapped
from jeton.data.manifest import Manifest
from jeton.data.preparing.document_keys import Keyed
from jeton.data.preparing.loss_mask_bits import marked
from jeton.data.preparing.pipeline import SetPlan
from jeton.data.preparing.shuffling import (
    RECORD,
    Boundary,
    boundary_in,
    bucket_of,
    buckets_for,
    copies_before,
    gathered,
    numbers_of_copies,
    ordered,
    records_of,
)
from jeton.data.preparing.sinks import some_at_a_time
from jeton.errors import FileError, FormatError
from jeton.ray.running import run_rows
from jeton.ray.stretches import Stretch

_AT_A_TIME = 1 << 22
"""About how many tokens are written at a time."""


def shuffled_stretches(
    plan: SetPlan, parts: list[tuple[Path, Manifest]], folder: Path, num_cpus: float
) -> list[Stretch]:
    """The documents of all parts in the order of their numbers.

    Whole files of an earlier call are kept, if it had the same parts and the same order.

    Args:
        plan: The plan of the set.
        parts: The parts, in their order.
        folder: Where all machines can write.
        num_cpus: How many cores a task takes.
    """
    shards = [
        {"number": number, **shard}
        for number, shard in enumerate(
            {"part": os.fsencode(part), "shard": at, "first": sum(documents[:at])}
            for part, manifest in parts
            for documents in ([it.documents for it in manifest.splits["train"].shards],)
            for at in range(len(documents))
        )
    ]
    tokens = sum(manifest.splits["train"].tokens for _, manifest in parts)
    buckets = buckets_for(tokens * np.dtype(plan.block_dtype).itemsize, plan.memory)
    order = [plan.seed, buckets, plan.by, str(plan.share), plan.block_dtype]
    known = json.dumps([order, *(manifest.to_json() for _, manifest in parts)]).encode()
    own = folder / hashlib.sha256(known).hexdigest()[:16]
    for other in folder.glob("*"):
        if other != own:
            shutil.rmtree(other)
    own.mkdir(parents=True, exist_ok=True)
    task = _ShuffleTask(plan, own.absolute(), len(shards), buckets)
    of_buckets = np.zeros(buckets, np.int64)
    for row in run_rows(shards, task.sort, num_cpus):
        of_buckets += np.array(row["tokens"], np.int64)
    if plan.by == "cut":
        task.boundary = task.boundary_at(int(tokens * (1 - plan.share)), of_buckets)
    rows = [{"bucket": bucket} for bucket in range(buckets)]
    run_rows(rows, task.find_copies, num_cpus)
    return [
        task.stretch(**row)
        for row in run_rows(rows, task.bring_into_order, num_cpus)
        if row["tokens"]
    ]


def _shard_file(folder: Path, shard: int, what: str) -> Path:
    """A file of a shard: its sorted `tokens`, or its `documents` as `RECORD`, sorted by number."""
    return folder / f"shard-{shard:06d}.{what}"


def _bucket_file(folder: Path, bucket: int, what: str) -> Path:
    """A file of a bucket: the `firsts` of its documents, their `copies`, sorted by the number that
    they get, or the `order` of the documents that belong there."""
    return folder / f"bucket-{bucket:04d}.{what}"


class _ShuffleTask:
    """The steps of a shuffle, on any machine. A step whose files are there is done.

    Attributes:
        boundary: The document that a cut is in, if there is a cut.
    """

    def __init__(self, plan: SetPlan, folder: Path, shards: int, buckets: int) -> None:
        self._plan, self._shards, self._buckets = plan, shards, buckets
        self._seed = plan.seed or 0
        self._folder = folder
        self.boundary: Boundary | None = None

    def sort(self, number: int, part: bytes, shard: int, first: int) -> dict[str, Any]:
        """Sorts a shard of a part; returns the number of its tokens in each bucket.

        Args:
            number: The number of the shard in all parts.
            part: The folder of the part.
            shard: The number of the shard in it.
            first: How many documents of the part are before it.
        """
        documents = _shard_file(self._folder, number, "documents")
        if not documents.exists():  # it comes last
            self._sort(number, Path(os.fsdecode(part)), shard, first)
        records = mapped(documents, RECORD)
        of_buckets = np.zeros(self._buckets, np.int64)
        np.add.at(of_buckets, bucket_of(records["number"], self._buckets), records["length"])
        return {"tokens": of_buckets.tolist()}

    def _sort(self, number: int, folder: Path, shard: int, first: int) -> None:
        opened = layouts.read(folder, split="train", layout="jeton")[shard]
        if opened.ends is None:
            raise FormatError(f"{folder}: does not say where its documents end")
        tokens: Any = opened.tokens
        if opened.mask is not None:
            tokens = marked(tokens[:], opened.mask[:])
        lengths = np.diff(opened.ends, prepend=0)
        keys = np.array(mapped(folder / Keyed.FILE, "uint64")[first : first + len(lengths)])
        records = records_of(lengths, keys, number, self._seed)
        # Stable: copies stay in their order.
        records = records[np.argsort(records["number"], kind="stable")]
        with _renamed_when_whole(_shard_file(self._folder, number, "tokens")) as file:
            for low, high in some_at_a_time(np.cumsum(records["length"]), _AT_A_TIME):
                some = gathered(records[low:high], lambda _, window: tokens[window])
                file.write(np.ascontiguousarray(some).data)
        records["start"] = np.cumsum(records["length"]) - records["length"]
        _write(_shard_file(self._folder, number, "documents"), records)

    def boundary_at(self, token: int, of_buckets: npt.NDArray[np.int64]) -> Boundary | None:
        """The document with the token at `token`, if all copies of a document were adjacent."""
        ends = np.cumsum(of_buckets)
        bucket = int(np.searchsorted(ends, token, side="right"))
        if bucket == len(ends):
            return None
        return boundary_in(
            self._with_copies(bucket), token - int(ends[bucket] - of_buckets[bucket])
        )

    def find_copies(self, bucket: int) -> dict[str, Any]:
        """Splits a bucket into first occurrences and copies, and numbers the copies."""
        if _bucket_file(self._folder, bucket, "copies").exists():  # they come last
            return {"bucket": bucket}
        records = self._with_copies(bucket)
        is_copy = records["copy"] > 0
        copies = records[is_copy]
        copies["number"] = numbers_of_copies(copies, self._seed, self.boundary)
        _write(_bucket_file(self._folder, bucket, "firsts"), records[~is_copy])
        _write(
            _bucket_file(self._folder, bucket, "copies"),
            copies[np.argsort(copies["number"], kind="stable")],
        )
        return {"bucket": bucket}

    def bring_into_order(self, bucket: int) -> dict[str, Any]:
        """Brings the documents that belong to a bucket into order; returns how many tokens they
        have."""
        order = _bucket_file(self._folder, bucket, "order")
        if not order.exists():
            firsts = np.fromfile(_bucket_file(self._folder, bucket, "firsts"), RECORD)
            files = (_bucket_file(self._folder, it, "copies") for it in range(self._buckets))
            copies = self._in_bucket(bucket, files)
            _write(order, ordered(np.concatenate([firsts, *copies])))
        return {"bucket": bucket, "tokens": int(mapped(order, RECORD)["length"].sum())}

    def stretch(self, bucket: int, tokens: int) -> Stretch:
        """The documents of a bucket, which has `tokens` tokens."""
        return _BucketStretch(tokens, str(self._folder), bucket, self._plan.block_dtype)

    def _with_copies(self, bucket: int) -> npt.NDArray[np.void]:
        """The documents that a bucket has by their keys, with how many copies are before each."""
        files = (_shard_file(self._folder, it, "documents") for it in range(self._shards))
        records = np.concatenate([*self._in_bucket(bucket, files)])
        records["copy"] = copies_before(records["key"])
        return records

    def _in_bucket(self, bucket: int, files: Iterable[Path]) -> Iterator[npt.NDArray[np.void]]:
        """The documents of files, sorted by number, whose numbers are of a bucket."""
        size = 2**64 // self._buckets
        for records in (mapped(path, RECORD) for path in files):
            first, stop = (
                bisect.bisect_left(records["number"], it * size, key=int)
                for it in (bucket, bucket + 1)
            )
            yield np.array(records[first:stop])


@dataclass(frozen=True)
class _BucketStretch(Stretch):
    """The documents of a bucket, in order, that are in one split."""

    folder: str
    """The folder of the shuffle."""
    bucket: int
    dtype: str
    """The type of the tokens."""

    def _all_documents(self) -> npt.NDArray[np.void]:
        return np.fromfile(_bucket_file(Path(self.folder), self.bucket, "order"), RECORD)

    def _tokens(self, file: int, window: slice) -> Ids:
        return mapped(_shard_file(Path(self.folder), file, "tokens"), self.dtype)[window]


@contextmanager
def _renamed_when_whole(path: Path) -> Iterator[BinaryIO]:
    """A file that has its name only when it is whole: a task may run twice."""
    attempt = path.with_name(f".{uuid.uuid4().hex}")
    try:
        with attempt.open("wb") as file:
            yield file
        os.replace(attempt, path)
    except OSError as error:
        attempt.unlink(missing_ok=True)
        raise FileError(f"{path}: cannot be written: {error.strerror}") from None


def _write(path: Path, records: npt.NDArray[np.void]) -> None:
    with _renamed_when_whole(path) as file:
        file.write(np.ascontiguousarray(records).data)
