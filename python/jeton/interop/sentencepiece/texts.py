"""A text in pieces, as values: what `out_type="proto"`, `"immutable_proto"` and the like give.

Look here for the attributes, which are those of sentencepiece's messages, and for the bytes of such
a message, which sentencepiece reads.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from itertools import accumulate

from jeton.interop.sentencepiece.wire import chunk, number

__all__ = ["NBestSentencePieceText", "SentencePiece", "SentencePieceText", "byte_places"]


@dataclass(frozen=True)
class SentencePiece:
    """A piece of a text.

    Attributes:
        piece: How it is spelled; of an unknown piece, its text.
        id: Its id.
        surface: What stands there in the text, or what it becomes in decoded text.
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
                # Protocol buffers write negative numbers in 64 bits; ids have 32.
                number(2, self.id & 0xFFFFFFFF),
                chunk(3, _bytes(self.surface)) if self._has_surface else b"",
                number(4, self.begin),
                number(5, self.end),
            )
        )


@dataclass(frozen=True)
class SentencePieceText:
    """A text in pieces.

    Attributes:
        text: The text.
        pieces: Its pieces.
        score: The score of the segmentation, where it is one of several; otherwise 0.

    Example:
        >>> import jeton
        >>> tok = jeton.UnigramTrainer(12).train(["low lower lowest"] * 9)
        >>> told = tok.as_sentencepiece().encode("lower", out_type="immutable_proto")
        >>> [(piece.piece, piece.surface, piece.begin, piece.end) for piece in told.pieces]
        [('▁low', 'low', 0, 3), ('e', 'e', 3, 4), ('r', 'r', 4, 5)]
    """

    text: str
    pieces: tuple[SentencePiece, ...]
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


def byte_places(text: str) -> list[int] | range:
    """For each character of a text, and for its end, how many bytes stand before it."""
    if text.isascii():
        return range(len(text) + 1)
    return list(accumulate((len(_bytes(character)) for character in text), initial=0))


def _bytes(text: str) -> bytes:
    """UTF-8; what was no UTF-8 when it was given as bytes is as it was."""
    return text.encode("utf-8", "surrogateescape")
