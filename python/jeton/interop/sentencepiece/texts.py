"""Encoded texts as objects: the results of `out_type="proto"`, `"immutable_proto"` and the like.

Look here for their attributes, which are those of sentencepiece's messages, and for the bytes of
such a message, which sentencepiece can read.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate

from jeton.loading.protocol_buffers import chunk, number


@dataclass(frozen=True)
class SentencePiece:
    """A piece of a text.

    Attributes:
        piece: Its spelling; for an unknown piece, its text.
        id: Its id.
        surface: The part of the text that it covers, or its decoded text.
        begin: Where that begins: in characters, or in bytes with `"proto"`.
        end: Where that ends.
    """

    piece: str
    id: int
    surface: str
    begin: int
    end: int
    _has_surface: bool = field(default=True, repr=False, compare=False)

    @property
    def piece_as_bytes(self) -> bytes:
        """The UTF-8 of `piece`."""
        return _bytes(self.piece)

    @property
    def surface_as_bytes(self) -> bytes:
        """The UTF-8 of `surface`."""
        return _bytes(self.surface)

    def _message(self) -> bytes:
        return b"".join(
            (
                chunk(1, _bytes(self.piece)),
                # Protocol buffers write negative numbers with 64 bits; ids have 32.
                number(2, self.id & 0xFFFFFFFF),
                chunk(3, _bytes(self.surface)) if self._has_surface else b"",
                number(4, self.begin),
                number(5, self.end),
            )
        )


@dataclass(frozen=True)
class SentencePieceText:
    """A text with its pieces.

    `"proto"` gives one only where protobuf is not installed; otherwise it gives protobuf's message
    of the same name.

    Attributes:
        text: The text.
        pieces: Its pieces; a list with `"proto"`, as in sentencepiece's own messages.
        score: The score of the segmentation if it is one of several; otherwise 0.

    Example:
        >>> import jeton
        >>> tok = jeton.UnigramTrainer(12).train(["low lower lowest"] * 9)
        >>> lower = tok.as_sentencepiece().encode("lower", out_type="immutable_proto")
        >>> [(piece.piece, piece.surface, piece.begin, piece.end) for piece in lower.pieces]
        [('▁low', 'low', 0, 3), ('e', 'e', 3, 4), ('r', 'r', 4, 5)]
    """

    text: str
    pieces: Sequence[SentencePiece]
    score: float = 0.0
    _has_score: bool = field(default=False, repr=False, compare=False)

    @property
    def text_as_bytes(self) -> bytes:
        """The UTF-8 of `text`."""
        return _bytes(self.text)

    def SerializeAsString(self) -> bytes:
        """The bytes of the message, as sentencepiece writes it."""
        return b"".join(
            (
                chunk(1, _bytes(self.text)),
                *(chunk(2, piece._message()) for piece in self.pieces),
                b"\x1d" + struct.pack("<f", self.score) if self._has_score else b"",
            )
        )

    SerializeToString = SerializeAsString


@dataclass(frozen=True)
class NBestSentencePieceText:
    """Several segmentations of a text, each with its score.

    Attributes:
        nbests: The segmentations.
    """

    nbests: tuple[SentencePieceText, ...]

    def SerializeAsString(self) -> bytes:
        """The bytes of the message, as sentencepiece writes it."""
        return b"".join(chunk(1, text.SerializeAsString()) for text in self.nbests)

    SerializeToString = SerializeAsString


def byte_positions(text: str) -> list[int] | range:
    """For each character of a text, and for its end, the number of bytes before it."""
    if text.isascii():
        return range(len(text) + 1)
    return list(accumulate((len(_bytes(character)) for character in text), initial=0))


def _bytes(text: str) -> bytes:
    """UTF-8; bytes of the argument that were not UTF-8 are unchanged."""
    return text.encode("utf-8", "surrogateescape")
