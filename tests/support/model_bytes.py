"""Small SentencePiece `.model` files, byte by byte."""

from __future__ import annotations

import struct

__all__ = ["BPE", "GOOD", "UNK", "field", "piece", "varint"]


def varint(number: int) -> bytes:
    """A number as protocol buffers write it."""
    digits = bytearray()
    while number >= 0x80:
        digits.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*digits, number])


def field(number: int, value: bytes) -> bytes:
    """A field of text, of bytes or of a message."""
    return varint(number << 3 | 2) + varint(len(value)) + value


def piece(text: str | bytes, score: float = -1.0, kind: int = 1) -> bytes:
    """A piece of a `.model` file."""
    spelled = text.encode() if isinstance(text, str) else text
    number = struct.pack("<Bf", 2 << 3 | 5, score)
    return field(1, field(1, spelled) + number + bytes([3 << 3, kind]))


UNK = piece("<unk>", 0.0, 2)
GOOD = UNK + piece("▁") + piece("a")
BPE = field(2, bytes([3 << 3, 2]))
"""What follows the pieces of a model that is a BPE."""
