"""Sinks of blocks: they write splits, and decide which split a document belongs to.

Each has a state for JSON to resume from. Look here for how a set is split: by a hash of each
document, or by one cut.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from jeton.corpora.token_blocks.blocks import Block, SourcePosition
from jeton.data.layouts import Writer
from jeton.data.preparing.queue import DocumentQueue, QueueEntry


class Sink(ABC):
    """Takes the blocks of one source, in order."""

    def __init__(self) -> None:
        self._after: SourcePosition | None = None

    def append(self, block: Block) -> None:
        """Takes a block."""
        self._take(block)
        self._after = block.after

    @abstractmethod
    def _take(self, block: Block) -> None: ...

    @property
    def tokens(self) -> int:
        """The number of tokens that it holds and has not passed on."""
        return 0

    def resume_point(self) -> SourcePosition | None:
        """The position from which the source must resume if only the blocks passed on are kept;
        `None` within a document, or before the first block."""
        return self._after

    def state(self) -> dict[str, Any]:
        """The state at that position, for JSON."""
        return {}

    def handover(self) -> Any:
        """Data about its files for the next pass, for JSON; call it after `finish`."""
        return None

    def sync(self) -> None:
        """Brings the tokens that it holds to the disk."""
        return

    def finish(self) -> None:
        """Passes on the tokens that it holds: there are no more blocks."""
        return

    def close(self) -> None:
        """Closes its files."""
        return


class Plain(Sink):
    """One split of all documents."""

    def __init__(self, writer: Writer) -> None:
        super().__init__()
        self._writer = writer

    def _take(self, block: Block) -> None:
        self._writer.append(block.tokens, block.lengths, unfinished=block.after is None)


class ByHash(Sink):
    """Documents whose key is below a share of all keys validate, the others train.

    The key depends only on the document, which so stays in its split when the corpus grows.
    """

    def __init__(self, train: Writer, validation: Writer, share: Fraction) -> None:
        super().__init__()
        self._writers = (train, validation)
        self._limit = hash_limit(share)
        #: Whether the unfinished document validates.
        self._open = False

    def _take(self, block: Block) -> None:
        if not len(block.lengths):
            return
        unfinished = block.after is None
        validates = block.keys < np.uint64(self._limit)
        if block.before is None:
            validates = np.concatenate(([self._open], validates))
        of_tokens = np.repeat(validates, block.lengths)
        for writer, documents, tokens in (
            (self._writers[0], ~validates, ~of_tokens),
            (self._writers[1], validates, of_tokens),
        ):
            if documents.any():
                writer.append(
                    block.tokens[tokens],
                    block.lengths[documents],
                    unfinished=unfinished and bool(documents[-1]),
                )
        self._open = bool(validates[-1])


def hash_limit(share: Fraction) -> int:
    """The limit below which keys must be, so that this share of documents validates."""
    return min(2**64 - 1, math.ceil(share * 2**64))


class CutAtToken(Sink):
    """The first documents train and the last validate, split at one token.

    Of N tokens, ⌊N (1 - share)⌋ train. This part of the tokens seen so far certainly trains, so
    only the rest must wait until N is known. A document on both sides is split.
    """

    def __init__(
        self,
        train: Writer,
        validation: Writer,
        share: Fraction,
        folder: Path,
        dtype: str,
        state: dict[str, Any] | None,
    ) -> None:
        super().__init__()
        self._train, self._validation = train, validation
        self._share = share
        self._queue = DocumentQueue(folder, dtype, None if state is None else state["queue"])
        #: Whether the last training document is unfinished.
        self._open = False
        #: The number of tokens seen, and how many of them train.
        self._token_count: int = 0 if state is None else state["met"]
        self._train_count: int = 0 if state is None else state["passed"]

    def _take(self, block: Block) -> None:
        self._queue.put(QueueEntry(block.tokens, block.lengths, block.after is None))
        self._token_count += len(block.tokens)
        limit = self._limit()
        while (entry := self._queue.first()) and self._train_count + len(entry.tokens) <= limit:
            self._pass_on(entry)

    def _pass_on(self, entry: QueueEntry) -> None:
        self._queue.get()
        self._open = entry.unfinished
        self._train.append(entry.tokens, entry.lengths, unfinished=self._open)
        self._train_count += len(entry.tokens)

    @property
    def tokens(self) -> int:
        return self._token_count - self._train_count

    def _limit(self) -> int:
        return int(self._token_count * (1 - self._share))

    def resume_point(self) -> SourcePosition | None:
        return None if self._open else self._after

    def sync(self) -> None:
        self._queue.sync()

    def state(self) -> dict[str, Any]:
        return {"met": self._token_count, "passed": self._train_count, "queue": self._queue.state()}

    def finish(self) -> None:
        limit = self._limit()
        while entry := self._queue.first():
            tokens, lengths, unfinished = entry
            room = max(0, limit - self._train_count)
            if len(tokens) <= room:
                self._pass_on(entry)
                continue
            self._queue.get()
            self._train_count += len(tokens)
            before, after = split_lengths(lengths, room)
            if len(before):
                self._train.append(tokens[:room], before)
                self._open = False
            self._end_train()
            self._validation.append(tokens[room:], after, unfinished=unfinished)
        self._end_train()

    def _end_train(self) -> None:
        """Ends the training document that continues after the cut."""
        if self._open:
            self._train.append(np.empty(0, np.uint16), np.zeros(1, np.int64))
            self._open = False


def some_at_a_time(
    ends: npt.NDArray[np.integer], tokens: int, first: int = 0, stop: int | None = None
) -> Iterator[tuple[int, int]]:
    """Ranges of documents, each with about so many tokens, and with one document at least.

    Args:
        ends: The number of tokens up to the end of each document.
        tokens: The maximum number of tokens of a range of several documents.
        first, stop: The documents that the ranges cover.

    >>> [*some_at_a_time(np.cumsum([3, 4, 9, 2, 2]), 8)]
    [(0, 2), (2, 3), (3, 5)]
    """
    stop = len(ends) if stop is None else stop
    while first < stop:
        before = int(ends[first - 1]) if first else 0
        until = int(np.searchsorted(ends, before + tokens, side="right"))
        until = min(stop, max(first + 1, until))
        yield first, until
        first = until


def split_lengths(
    lengths: npt.NDArray[np.int64], at: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The lengths of documents before and after a token; one on both sides is in both.

    >>> split_lengths(np.array([3, 4, 2]), 5)
    (array([3, 2]), array([2, 2]))
    >>> split_lengths(np.array([3, 4, 2]), 7)
    (array([3, 4]), array([2]))
    """
    ends = np.cumsum(lengths)
    whole = int(np.searchsorted(ends, at, side="right"))
    inside = at - (int(ends[whole - 1]) if whole else 0)
    if not inside:
        return lengths[:whole], lengths[whole:]
    rest = int(lengths[whole]) - inside
    return (
        np.append(lengths[:whole], inside),
        np.concatenate(([rest], lengths[whole + 1 :])).astype(np.int64),
    )
