"""A SentencePiece `.model` whose pieces get other ids.

Look here for how a class that counts its ids otherwise is had from the file: its pieces are put
into another order, as the file has them. Protocol buffers are read as far as that needs.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from jeton.components import normalizers
from jeton.errors import FormatError

__all__ = ["CONTROL", "NORMAL", "UNKNOWN", "UNUSED", "ModelFile", "Piece"]

NORMAL, UNKNOWN, CONTROL, UNUSED = 1, 2, 3, 5

_PIECES, _NORMALIZER, _SELF_TEST = 1, 3, 4


@dataclass(frozen=True)
class Piece:
    """A piece of a file."""

    text: str
    kind: int
    score: float = 0.0

    def field(self) -> bytes:
        """What a file holds of it."""
        text = self.text.encode()
        message = b"\x0a" + _varint(len(text)) + text + b"\x15" + struct.pack("<f", self.score)
        message += b"\x18" + _varint(self.kind)
        return b"\x0a" + _varint(len(message)) + message


@dataclass(frozen=True)
class ModelFile:
    """The pieces of a file, and what else is in it."""

    pieces: Sequence[Piece]
    rest: bytes
    """The other fields, but the texts that the file tests itself with."""
    normalizer: normalizers.SentencePiece

    @classmethod
    def of(cls, data: bytes) -> ModelFile:
        """Reads a file.

        Raises:
            FormatError: What is no such file.
        """
        pieces, rest = [], []
        normalizer = normalizers.SentencePiece()
        try:
            for number, value, raw in _fields(data):
                if number == _PIECES and isinstance(value, bytes):
                    pieces.append(_piece(value))
                    continue
                if number == _NORMALIZER and isinstance(value, bytes):
                    normalizer = _normalizer(normalizer, value)
                if number != _SELF_TEST:
                    rest.append(raw)
        except (IndexError, ValueError, struct.error) as error:
            raise FormatError(f"this is no SentencePiece model: {error}") from None
        return cls(pieces, b"".join(rest), normalizer)

    def with_pieces(self, pieces: Sequence[Piece]) -> bytes:
        """The file with these pieces, whose places are their ids."""
        return b"".join(piece.field() for piece in pieces) + self.rest

    def ids(self) -> dict[str, int]:
        """The place of each piece."""
        return {piece.text: id for id, piece in enumerate(self.pieces)}


def _fields(data: bytes) -> Iterator[tuple[int, int | bytes, bytes]]:
    """The fields of a message: number, value, and all bytes."""
    at = 0
    while at < len(data):
        start = at
        tag, at = _read_varint(data, at)
        value: int | bytes
        match tag & 7:
            case 0:
                value, at = _read_varint(data, at)
            case 1:
                value, at = data[at : at + 8], at + 8
            case 2:
                length, at = _read_varint(data, at)
                value, at = data[at : at + length], at + length
            case 5:
                value, at = data[at : at + 4], at + 4
            case kind:
                raise ValueError(f"a field of kind {kind}")
        if at > len(data):
            raise ValueError("it ends too early")
        yield tag >> 3, value, data[start:at]


def _piece(message: bytes) -> Piece:
    text, score, kind = "", 0.0, NORMAL
    for number, value, _ in _fields(message):
        match number, value:
            case 1, bytes():
                text = value.decode()
            case 2, bytes():
                (score,) = struct.unpack("<f", value)
            case 3, int():
                kind = value
    return Piece(text, kind, score)


def _normalizer(held: normalizers.SentencePiece, message: bytes) -> normalizers.SentencePiece:
    names = {3: "add_dummy_prefix", 4: "remove_extra_whitespaces", 5: "escape_whitespaces"}
    for number, value, _ in _fields(message):
        if number == 2 and isinstance(value, bytes):
            held = replace(held, charsmap=value or None)
        elif number in names and isinstance(value, int):
            held = replace(held, **{names[number]: bool(value)})  # type: ignore[arg-type]
    return held


def _read_varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
        if shift > 63:
            raise ValueError("a number without an end")


def _varint(value: int) -> bytes:
    encoded = bytearray()
    while value > 0x7F:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)
