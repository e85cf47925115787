"""Reads and writes the fields of protocol buffers, without protobuf.

Look here for how the messages of sentencepiece are spelled as bytes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, TypeAlias

from jeton.errors import FormatError

VARINT: Final = 0
BYTES: Final = 2
FIXED32: Final = 5
"""The wire types of a number, of bytes with their length, and of four bytes."""

_FIXED64: Final = 1

Field: TypeAlias = tuple[int, int, bytes | int]
"""The number of a field, its wire type, and its value."""


def number(at: int, value: int) -> bytes:
    """A field that is a whole number, 0 or greater."""
    return field(at, VARINT, value)


def chunk(at: int, data: bytes) -> bytes:
    """A field that is a text, bytes or a message."""
    return field(at, BYTES, data)


def field(at: int, wire: int, value: bytes | int) -> bytes:
    """A field as bytes."""
    key = _varint(at << 3 | wire)
    if isinstance(value, int):
        return key + _varint(value)
    return key + (_varint(len(value)) if wire == BYTES else b"") + value


def fields(message: bytes) -> Iterator[Field]:
    """The fields of a message in order."""
    at = 0

    def varint() -> int:
        nonlocal at
        value = shift = 0
        while at < len(message) and shift < 64:
            byte = message[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value
        raise FormatError(f"not a message of protocol buffers: truncated at byte {at}")

    while at < len(message):
        key = varint()
        wire = key & 7
        if wire == VARINT:
            yield key >> 3, wire, varint()
            continue
        if wire not in (BYTES, FIXED32, _FIXED64):
            raise FormatError(
                f"not a message of protocol buffers: wire type {wire} at byte {at} is not known"
            )
        size = varint() if wire == BYTES else 4 if wire == FIXED32 else 8
        if size > len(message) - at:
            raise FormatError(f"not a message of protocol buffers: truncated at byte {at}")
        yield key >> 3, wire, message[at : at + size]
        at += size


def _varint(value: int) -> bytes:
    result = bytearray()
    while value >= 0x80:
        result.append(value & 0x7F | 0x80)
        value >>= 7
    result.append(value)
    return bytes(result)
