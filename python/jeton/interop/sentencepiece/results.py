"""Converts rows of pieces to the result of a call: ids, pieces, arrays, messages.

Look here for the forms of a result, and for texts that are bytes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from jeton.errors import ArgumentError, ArgumentTypeError
from jeton.interop.sentencepiece.texts import (
    NBestSentencePieceText,
    SentencePiece,
    SentencePieceText,
    byte_positions,
)

if TYPE_CHECKING:
    from jeton._core import SentencePieceReader

FORMS: Final[tuple[object, ...]] = (
    int,
    str,
    bytes,
    "numpy",
    "offset_mapping",
    "proto",
    "serialized_proto",
    "immutable_proto",
)
"""The forms of encoded texts."""

_BROKEN: Final = re.compile("[\udc80-\udcff]")
"""A byte that is not UTF-8, as `surrogateescape` reads it."""

_MESSAGES: Final = ("proto", "serialized_proto", "immutable_proto")


def form_of(out_type: object, return_type: object, default: object) -> object:
    """The form, from the two names of the argument."""
    if out_type is not None and return_type is not None:
        raise ArgumentError("out_type and return_type are the same argument; give one")
    form = return_type if out_type is None else out_type
    form = default if form is None else form
    if form not in FORMS:
        listed = ", ".join(
            form.__name__ if isinstance(form, type) else repr(form) for form in FORMS
        )
        raise ArgumentError(f"out_type={form!r} is not one of {listed}")
    return form


@dataclass(frozen=True)
class PieceRow:
    """A piece: its id, its text, where it begins and ends in characters, and its surface."""

    id: int
    piece: str
    begin: int
    end: int
    has_surface: bool
    surface: str | None = None
    """Its decoded text; `None` if that is the text from `begin` to `end`."""


class InputText:
    """A text argument, a `str` or bytes of UTF-8.

    Each byte that is not UTF-8 is read as a U+FFFD that no rule of normalization changes, and is
    the byte itself in surfaces. A surrogate pair in a `str` is read as its character, a lone
    surrogate as a U+FFFD.
    """

    __slots__ = ("is_broken", "is_bytes", "text")

    def __init__(self, value: object) -> None:
        self.is_bytes = isinstance(value, bytes)
        self.is_broken = False
        if isinstance(value, bytes):
            self.text = value.decode("utf-8", "surrogateescape")
            self.is_broken = _BROKEN.search(self.text) is not None
        elif isinstance(value, str):
            self.text = value
            try:
                value.encode()
            except UnicodeEncodeError:
                utf16 = value.encode("utf-16", "surrogatepass")
                self.text = utf16.decode("utf-16", "replace")
        else:
            raise ArgumentTypeError(f"a text must be a str or bytes, not {type(value).__name__}")

    def with_mark(self, mark: str) -> str:
        """The text with `mark` for each byte that is not UTF-8."""
        return _BROKEN.sub(mark, self.text)

    def normalize(self, reader: SentencePieceReader, marked: str, with_offsets: bool) -> Any:
        """The normalized text; on request with the source position of each character or byte.

        `reader` reads `marked`, this text or its form with a mark.
        """
        text, places = reader.normalize(marked)
        if not self.is_bytes:
            return (text, places or [0]) if with_offsets else text
        if not with_offsets:
            return text.encode()
        if not places:
            return b"", []
        before = byte_positions(self.text)
        offsets = [
            before[place]
            for character, place in zip(text, places, strict=False)
            for _ in character.encode()
        ]
        return text.encode(), [*offsets, before[places[-1]]]


def encoded_as(
    form: object,
    source: InputText,
    items: list[Any],
    return_bytes: bool | None = None,
) -> Any:
    """Rows (or, for an array, ids) of an encoded text in one of the forms."""
    if form is int:
        return [row.id for row in items]
    if form is str:
        return [row.piece for row in items]
    if form is bytes:
        return [row.piece.encode() for row in items]
    if form == "numpy":
        import numpy as np

        ids = np.array([row.id if isinstance(row, PieceRow) else row for row in items], np.int32)
        # Read-only, like sentencepiece's.
        ids.flags.writeable = False
        return ids.view()
    if form == "offset_mapping":
        as_bytes = source.is_bytes if return_bytes is None else return_bytes
        return _mapping(source.text, items, as_bytes)
    return _in_form(form, _message(source, items, in_bytes=form != "immutable_proto"))


def decoded_as(form: object, text: str, rows: list[PieceRow], as_bytes: bool) -> Any:
    """A decoded text, with the text of each piece, in one of the forms.

    Positions are in the joined surfaces, which the model may still normalize to give the text.
    """
    joined = InputText("".join(row.surface or "" for row in rows))
    if form == "offset_mapping":
        mapping = _mapping(joined.text, rows, as_bytes)
        return {"text": text.encode() if as_bytes else text, **mapping}
    message = _message(joined, rows, in_bytes=form != "immutable_proto")
    return _in_form(form, replace(message, text=text))


def nbest_as(form: object, source: InputText, paths: list[tuple[list[PieceRow], float]]) -> Any:
    """Segmentations in one of the forms; only messages have scores."""
    if form == "offset_mapping":
        raise ArgumentError("return_type='offset_mapping' is for one segmentation")
    if form in _MESSAGES:
        return _nbest_message(form, source, paths)
    return [encoded_as(form, source, rows) for rows, _ in paths]


def scored_as(form: object, source: InputText, paths: list[tuple[list[PieceRow], float]]) -> Any:
    """Segmentations with their scores in one of the forms."""
    if form in _MESSAGES:
        return _nbest_message(form, source, paths)
    return [(encoded_as(form, source, rows), score) for rows, score in paths]


def _nbest_message(
    form: object, source: InputText, paths: list[tuple[list[PieceRow], float]]
) -> Any:
    texts = (
        replace(
            _message(source, rows, in_bytes=form != "immutable_proto"), score=score, _has_score=True
        )
        for rows, score in paths
    )
    return _in_form(form, NBestSentencePieceText(tuple(texts)))


def _in_form(form: object, message: SentencePieceText | NBestSentencePieceText) -> Any:
    """A message, its bytes, or protobuf's message of these."""
    if form == "immutable_proto":
        return message
    written = message.SerializeAsString()
    if form == "serialized_proto":
        return written
    classes = _protobuf_classes()
    return message if classes is None else classes[type(message)].FromString(written)


@cache
def _protobuf_classes() -> dict[type, Any] | None:
    """protobuf's class of each message; `None` if protobuf is not installed."""
    try:
        from jeton.interop.sentencepiece import protobuf_messages
    except ImportError:
        return None
    return {
        SentencePieceText: protobuf_messages.SentencePieceText,
        NBestSentencePieceText: protobuf_messages.NBestSentencePieceText,
    }


def _message(source: InputText, rows: list[PieceRow], *, in_bytes: bool) -> SentencePieceText:
    text = source.text
    before = byte_positions(text) if in_bytes or source.is_bytes else range(len(text) + 1)
    pieces = [
        SentencePiece(
            row.piece,
            row.id,
            _surface(row, text),
            before[row.begin],
            before[row.end],
            row.has_surface,
        )
        for row in rows
    ]
    return SentencePieceText(text, pieces if in_bytes else tuple(pieces))


def _surface(row: PieceRow, text: str) -> str:
    if row.surface is not None:
        return row.surface
    return text[row.begin : row.end] if row.has_surface else ""


def _mapping(text: str, rows: list[PieceRow], as_bytes: bool) -> dict[str, Any]:
    before = byte_positions(text) if as_bytes else range(len(text) + 1)
    return {
        "ids": [row.id for row in rows],
        "pieces": [row.piece.encode() if as_bytes else row.piece for row in rows],
        "offsets": [(before[row.begin], before[row.end]) for row in rows],
    }
