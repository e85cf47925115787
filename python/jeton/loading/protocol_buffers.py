"""Reads and writes the fields of protocol buffers.

Look here for how the few messages of sentencepiece work without protobuf.
"""

from __future__ import annotations

from collections.abc import Iterator

from jeton.errors import FormatError

__all__ = ["chunk", "fields", "number"]


def number(field: int, value: int) -> bytes:
    """A field that is a whole number, 0 or greater."""
    return _varint(field << 3) + _varint(value)


def chunk(field: int, data: bytes) -> bytes:
    """A field that is a text, bytes or a message."""
    return _varint(field << 3 | 2) + _varint(len(data)) + data


def fields(message: bytes) -> Iterator[tuple[int, int | bytes]]:
    """The fields of a message in order: the number of each, and its value as an int or bytes.

    Raises:
        FormatError: It is not a message, or is truncated.
    """
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
        field, kind = key >> 3, key & 7
        if kind == 0:
            yield field, varint()
            continue
        size = {1: 8, 5: 4}.get(kind, -1) if kind != 2 else varint()
        if not 0 <= size <= len(message) - at:
            raise FormatError(f"not a message of protocol buffers: truncated at byte {at}")
        yield field, message[at : at + size]
        at += size


def _varint(value: int) -> bytes:
    result = bytearray()
    while value >= 0x80:
        result.append(value & 0x7F | 0x80)
        value >>= 7
    result.append(value)
    return bytes(result)
