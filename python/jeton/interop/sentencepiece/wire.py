"""Protocol buffers' bytes: the fields of a message, written and read.

Look here for how the few messages of sentencepiece are kept without protobuf.
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
    """The fields of a message, in their order: each by its number, as a whole number or as bytes.

    Raises:
        FormatError: It is no message, or is cut short.
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
        raise FormatError(f"no message of protocol buffers: it breaks off at byte {at}")

    while at < len(message):
        key = varint()
        field, kind = key >> 3, key & 7
        if kind == 0:
            yield field, varint()
            continue
        size = {1: 8, 5: 4}.get(kind, -1) if kind != 2 else varint()
        if not 0 <= size <= len(message) - at:
            raise FormatError(f"no message of protocol buffers: it breaks off at byte {at}")
        yield field, message[at : at + size]
        at += size


def _varint(value: int) -> bytes:
    written = bytearray()
    while value >= 0x80:
        written.append(value & 0x7F | 0x80)
        value >>= 7
    written.append(value)
    return bytes(written)
