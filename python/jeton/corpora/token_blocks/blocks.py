"""Blocks of tokens, which flow from inputs to files, and how the core makes them."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

import jeton._core as _core
from jeton.corpora.dropped import DroppedRecord, RecordPlace
from jeton.corpora.token_blocks.ids import Ids, dtype_for
from jeton.errors import ArgumentError, EncodeError, FormatError, JetonError

if TYPE_CHECKING:
    from jeton.encoding.base_tokenizer import BaseTokenizer


@dataclass(frozen=True)
class SourcePosition:
    """A position in a source, at the end of a document."""

    place: tuple[int, ...] = ()
    """Where reading resumes, in numbers that the source defines. Empty at the start."""
    documents: int = 0
    """The documents before this position, without empty ones."""
    bytes: int = 0
    """The size of these in bytes of UTF-8."""
    empty: int = 0
    """The empty documents that were left out."""
    bad: int = 0
    """The documents that were left out because they cannot be read or encoded."""
    chats: Mapping[str, int] | None = None
    """For conversations, the counts of truncated, left-out and learnt parts."""
    filtered: Mapping[str, int] | None = None
    """How many records each filter has left out, if there are filters."""

    def to_json(self) -> list[Any]:
        """The position as values for JSON."""
        numbers = [self.documents, self.bytes, self.empty, self.bad]
        return [list(self.place), *numbers, self.chats, self.filtered]

    @classmethod
    def from_json(cls, record: Any) -> SourcePosition:
        """The position that `to_json` gave."""
        place, *counts = record
        return cls(tuple(place), *counts)


@dataclass(frozen=True)
class Block:
    """The tokens of documents, one after another."""

    tokens: Ids
    """Ids; if documents have a loss mask, as `loss_mask_bits.py` marks them."""
    lengths: npt.NDArray[np.int64]
    """The number of tokens of each document in this block."""
    keys: npt.NDArray[np.uint64]
    """A hash of the text of each document that begins here; empty without keys."""
    before: SourcePosition | None
    """The position where the block begins; `None` within a document."""
    after: SourcePosition | None
    """The position where the block ends; `None` within a document."""
    read: int = 0
    """The approximate bytes of the input that were read so far, to show progress."""
    digests: tuple[tuple[int, int, str], ...] = ()
    """The number, size and SHA-256 of each file that ends in this block."""
    dropped: tuple[DroppedRecord, ...] = ()
    """The documents that were left out in this block, in order."""


def nothing(
    dtype: str,
    before: SourcePosition,
    after: SourcePosition,
    read: int,
    digests: tuple[tuple[int, int, str], ...] = (),
) -> Block:
    """A block without documents, which only advances the position."""
    keys = np.empty(0, np.uint64)
    return Block(np.empty(0, dtype), np.empty(0, np.int64), keys, before, after, read, digests)


@dataclass(frozen=True)
class Facts:
    """The facts about a source for a manifest."""

    inputs: tuple[dict[str, object], ...]
    """The files or other inputs."""
    read: SourcePosition
    """The counts of what was read."""


Blocks: TypeAlias = Generator[Block, None, None]
"""Blocks in order; closing them ends what reads and encodes."""


class DocumentSource(ABC):
    """A source of blocks."""

    @property
    def size(self) -> int:
        """The bytes to read; 0 if unknown."""
        return 0

    @abstractmethod
    def identity(self) -> list[dict[str, object]]:
        """The properties of the inputs that must not change before resuming, for JSON."""

    def consumed(self, start: SourcePosition) -> int | None:
        """How many entries of `identity` were read before `start`, and must be unchanged to resume;
        `None` if all must be."""
        del start
        return None

    @abstractmethod
    def blocks(self, start: SourcePosition) -> Blocks:
        """The blocks from `start` on."""

    def samples(self) -> list[tuple[SourcePosition, int]]:
        """Positions spread over the source, each with the bytes that come before it."""
        return [(SourcePosition(), 0)]

    def close(self) -> None:
        """Ends what it has started to read and encode."""
        return

    def facts(self, end: SourcePosition, digests: Mapping[int, tuple[int, str]]) -> Facts:
        """The facts for a manifest.

        Args:
            end: The position up to which it was read.
            digests: The size and SHA-256 of each input that has one.
        """
        inputs = []
        for number, entry in enumerate(self.identity()):
            entry.pop("mtime_ns", None)
            if number in digests:
                entry["bytes"], entry["sha256"] = digests[number]
            inputs.append(entry)
        return Facts(tuple(inputs), end)


@dataclass(frozen=True)
class DocumentEncoding:
    """How documents are read and become tokens."""

    tokenizer: BaseTokenizer
    field: str | None = None
    """The field or column of the text; `None` for the usual one."""
    errors: str = "strict"
    """What to do with bytes that are not UTF-8."""
    unit: bool | str = False
    """Whether a document of a text file is a line; or the text between documents."""
    start: tuple[int, ...] = ()
    """Tokens before those of each document."""
    end: tuple[int, ...] = ()
    """Tokens after those of each document."""
    keys: bool = False
    """Whether documents have keys."""
    drops_bad: bool = False
    """Whether documents that cannot be read or encoded are left out, and counted."""

    def of_files(self, paths: list[str], start: tuple[int, int, int, int]) -> _core.TokenBlocks:
        """The blocks of files; threads read ahead of the caller."""
        reading = (self.field, self.errors, self.unit, self.drops_bad)
        options = (list(self.start), list(self.end), self.keys)
        return _core.TokenBlocks(self.tokenizer._core, paths, *reading, start, options)

    @property
    def dtype(self) -> str:
        """The type of a token: `uint16` or `uint32`."""
        return dtype_for(self.tokenizer.vocab.max_id)

    def of_texts(
        self, texts: Any, name: Callable[[int], RecordPlace], first: int = 0
    ) -> list[_core._TokenBlock]:
        """The blocks of texts, on all cores.

        Args:
            texts: Texts or a column of Arrow; `None` gives no document.
            name: Returns the place of a text, by its index, for errors.
            first: The index of the first.
        """
        options = (list(self.start), list(self.end), self.keys)
        core = self.tokenizer._core
        try:
            return _core.blocks_of_texts(core, texts, self.errors, "empty", options)
        except JetonError as error:
            match = re.match(r"texts\[(\d+)\]: ", error.message)
            if self.drops_bad and isinstance(error, (FormatError, EncodeError, ArgumentError)):
                # Bisection finds the texts that fail.
                if len(texts) == 1:
                    # The block of a document that is left out.
                    empty = (np.empty(0, self.dtype), np.empty(0, np.int64))
                    no_keys = np.empty(0, np.uint64)
                    dropped = [("", "", first, str(error)[match.end() if match else 0 :])]
                    return [(*empty, False, no_keys, 0, 0, dropped, (0, 0, 0, 0), 0, [])]
                half = len(texts) // 2
                return [
                    *self.of_texts(texts[:half], name, first),
                    *self.of_texts(texts[half:], name, first + half),
                ]
            if match is None:
                raise
            place = name(first + int(match[1]))
            raise error.reworded(f"{place}: {error.message[match.end() :]}") from None
