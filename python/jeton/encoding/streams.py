"""Streams: the text of ids while a model writes them, the ids of a text that arrives in parts.

`Tokenizer.decode_stream` and `Tokenizer.encode_stream` return them; `Tokenizer.counted_text`
returns a text that counts its tokens as it grows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain, repeat, takewhile
from typing import TYPE_CHECKING, TextIO, cast

from jeton._core import CountedText, DecodeStream
from jeton.arguments import check_kind, checked_errors, checked_iterable
from jeton.errors import ArgumentTypeError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from jeton._core import EncodeStream

__all__ = ["CountedText", "DecodeStream", "checked_stops", "encode_parts", "parts_of"]

_CHARACTERS = 1 << 18
"""How many characters of a file are read at a time."""


def checked_stops(stop: object, errors: object) -> list[str]:
    """The texts that end a stream, after `stop` and `errors` are checked."""
    checked_errors(errors)
    if isinstance(stop, str):
        return [stop]
    stop = checked_iterable("stop", stop, "a str or an iterable of them", but=(bytes, bytearray))
    stops = list(stop)
    for number, text in enumerate(stops):
        check_kind(f"stop[{number}]", text, str, "a str")
    return stops


def parts_of(texts: Iterable[str] | TextIO) -> Iterator[str]:
    """The parts of a text from an open file or an iterable."""
    read: Callable[[int], object] | None = getattr(texts, "read", None)
    if read is not None:
        first = read(_CHARACTERS)
        if not isinstance(first, str):
            raise ArgumentTypeError(
                "texts must be a file opened as text, not as bytes: open it without 'b'"
            )
        rest = cast("Iterator[str]", map(read, repeat(_CHARACTERS)))
        return takewhile(bool, chain([first], rest))
    texts = checked_iterable(
        "texts",
        texts,
        "an open file or an iterable of the parts of a text",
        but=(str, bytes, bytearray),
    )
    return iter(texts)


def _with_whole_pairs(parts: Iterator[str]) -> Iterator[str]:
    """The same text in parts that split no surrogate pair."""
    half = ""
    for part in parts:
        if half and isinstance(part, str):
            part, half = half + part, ""
        if isinstance(part, str) and "\ud800" <= part[-1:] <= "\udbff":
            part, half = part[:-1], part[-1]
        yield part
    if half:
        yield half


def encode_parts(stream: EncodeStream, parts: Iterator[str]) -> Iterator[npt.NDArray[np.uint32]]:
    """The ids of a text, as soon as they are certain."""
    # `encode` reads a surrogate pair as one character, but two parts may split it.
    for part in _with_whole_pairs(parts):
        ids = stream.push(part)
        if len(ids):
            yield ids
    ids = stream.finish()
    if len(ids):
        yield ids
