"""Blocks of tokens: what flows from inputs to files, and how the core makes them."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

import jeton._core as _core
from jeton.corpora.token_blocks.ids import Ids, dtype_for
from jeton.errors import ArgumentError, EncodeError, FormatError, JetonError

if TYPE_CHECKING:
    from jeton.encoding.base_tokenizer import BaseTokenizer

__all__ = ["Block", "DocumentEncoding", "DocumentSource", "Facts", "SourcePosition", "nothing"]


@dataclass(frozen=True)
class SourcePosition:
    """How far a source has been read, at the end of a document."""

    place: tuple[int, ...] = ()
    """Where it goes on: what that means is the source's. Empty at the start."""
    documents: int = 0
    """How many documents came before, those without text not counted."""
    bytes: int = 0
    """How many bytes of UTF-8 these have."""
    empty: int = 0
    """How many documents without text were left out."""
    bad: int = 0
    """How many documents were left out because they cannot be read or encoded."""
    counts: tuple[int, ...] = ()
    """What else the source counts; its `facts` give that names."""

    def to_json(self) -> list[Any]:
        """The same, for JSON."""
        numbers = [self.documents, self.bytes, self.empty, self.bad]
        return [list(self.place), *numbers, list(self.counts)]

    @classmethod
    def from_json(cls, record: Any) -> SourcePosition:
        """Undoes `to_json`."""
        place, documents, size, empty, bad, counts = record
        return cls(tuple(place), documents, size, empty, bad, tuple(counts))


@dataclass(frozen=True)
class Block:
    """The tokens of documents, one after another."""

    tokens: Ids
    """Ids; if documents have a loss mask, as `loss_mask_bits.py` marks them."""
    lengths: npt.NDArray[np.int64]
    """How many tokens each document has here."""
    keys: npt.NDArray[np.uint64]
    """A number that tells documents apart by their text, for each that begins here; none if they
    were not asked for."""
    before: SourcePosition | None
    """How far the source had been read where the block begins; `None` within a document."""
    after: SourcePosition | None
    """How far it has been read where the block ends; `None` within a document."""
    read: int = 0
    """How many bytes of the input were read up to here, about, to show how far it is."""
    digests: tuple[tuple[int, int, str], ...] = ()
    """Of each file that ends here: its number, its size and its SHA-256."""


def nothing(
    dtype: str,
    before: SourcePosition,
    after: SourcePosition,
    read: int,
    digests: tuple[tuple[int, int, str], ...] = (),
) -> Block:
    """A block without documents, which says how far a source is."""
    keys = np.empty(0, np.uint64)
    return Block(np.empty(0, dtype), np.empty(0, np.int64), keys, before, after, read, digests)


@dataclass(frozen=True)
class Facts:
    """What a manifest says of a source."""

    inputs: tuple[dict[str, Any], ...]
    """What it was made of."""
    documents: int
    """How many documents were read, those without text not counted."""
    bytes: int
    """How many bytes of UTF-8 these have."""
    empty: int
    """How many documents without text were left out."""
    bad: int
    """How many documents were left out because they cannot be read or encoded."""
    chats: Mapping[str, int] | None = None
    """Of conversations, what was cut, left out and is to be learnt."""


class DocumentSource(ABC):
    """What blocks come from."""

    @property
    def size(self) -> int:
        """How many bytes there are to read; 0 if that is not known."""
        return 0

    @abstractmethod
    def identity(self) -> list[dict[str, Any]]:
        """What must be the same when preparing goes on, for JSON; see `consumed`."""

    def consumed(self, start: SourcePosition) -> int | None:
        """How many entries of `identity` have been read up to some place, and so must be the same;
        `None` if all must be."""
        del start
        return None

    @abstractmethod
    def blocks(self, start: SourcePosition) -> Iterator[Block]:
        """The blocks from some place on."""

    def facts(self, end: SourcePosition, digests: Mapping[int, tuple[int, str]]) -> Facts:
        """What a manifest says of it.

        Args:
            end: How far it was read.
            digests: Of each input that has one, its size and its SHA-256.
        """
        inputs = []
        for number, entry in enumerate(self.identity()):
            entry.pop("mtime_ns", None)
            if number in digests:
                entry["bytes"], entry["sha256"] = digests[number]
            inputs.append(entry)
        return Facts(tuple(inputs), end.documents, end.bytes, end.empty, end.bad)


@dataclass(frozen=True)
class DocumentEncoding:
    """How documents become tokens."""

    tokenizer: BaseTokenizer
    start: tuple[int, ...] = ()
    """What the tokens of a document begin with."""
    end: tuple[int, ...] = ()
    """What they end with."""
    keys: bool = False
    """Whether documents have keys."""
    drops_bad: bool = False
    """Whether documents that cannot be read or encoded are left out, and counted."""

    def of_files(
        self,
        paths: list[str],
        field: str | None,
        errors: str,
        by_line: bool,
        start: tuple[int, int, int, int],
    ) -> _core.TokenBlocks:
        """The blocks of files, made by threads ahead of whoever takes them."""
        options = (list(self.start), list(self.end), self.keys)
        core = self.tokenizer._core
        return _core.TokenBlocks(
            core, paths, field, errors, by_line, self.drops_bad, start, options
        )

    @property
    def dtype(self) -> str:
        """The type of a token: `uint16` or `uint32`."""
        return dtype_for(self.tokenizer.max_id)

    def of_texts(
        self, texts: Any, errors: str, first: int, what: str = "document"
    ) -> list[_core._TokenBlock]:
        """The blocks of texts, of which the first is called `what` number `first`, on all cores."""
        options = (list(self.start), list(self.end), self.keys)
        core = self.tokenizer._core
        try:
            return _core.blocks_of_texts(core, texts, errors, "empty", options)
        except JetonError as error:
            if self.drops_bad and isinstance(error, (FormatError, EncodeError, ArgumentError)):
                # Halves lead to those that fail.
                if len(texts) == 1:
                    return [self._bad()]
                half = len(texts) // 2
                parts = (texts[:half], texts[half:])
                return [block for part in parts for block in self.of_texts(part, errors, first)]
            found = re.match(r"texts\[(\d+)\]: ", str(error))
            if found is None:
                raise
            number = first + int(found[1])
            raise type(error)(f"{what} {number}: {str(error)[found.end() :]}") from None

    def _bad(self) -> _core._TokenBlock:
        """The block of a document that is left out."""
        empty = (np.empty(0, self.dtype), np.empty(0, np.int64))
        return (*empty, False, np.empty(0, np.uint64), 0, 0, 1, (0, 0, 0, 0), 0, [])
