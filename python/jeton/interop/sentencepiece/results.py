"""From rows of pieces to what a caller asked for: ids, pieces, arrays, messages.

Look here for the forms of a result, and for texts that are given as bytes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from jeton.errors import ArgumentError, ArgumentTypeError
from jeton.interop.sentencepiece.texts import (
    NBestSentencePieceText,
    SentencePiece,
    SentencePieceText,
    byte_places,
)

if TYPE_CHECKING:
    from jeton._core import SentencePieceReader

__all__ = ["FORMS", "InputText", "PieceRow", "decoded", "encoded", "form_of", "nbest", "scored"]

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
"""What encoding can give."""

_MESSAGES: Final = ("proto", "serialized_proto", "immutable_proto")


def form_of(out_type: object, return_type: object, default: object) -> object:
    """The form that these two names of one argument ask for."""
    if out_type is not None and return_type is not None:
        raise ArgumentError("out_type and return_type are two names of one argument; give one")
    form = return_type if out_type is None else out_type
    form = default if form is None else form
    if form not in FORMS:
        listed = ", ".join(
            form.__name__ if isinstance(form, type) else repr(form) for form in FORMS
        )
        raise ArgumentError(f"out_type={form!r} is none of {listed}")
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
    """What it became in decoding; `None` where it is what stands there."""


class InputText:
    """A text that was given, as `str` or as bytes of UTF-8.

    What is no UTF-8 is as a U+FFFD for each of its bytes, and is itself again in surfaces.
    """

    __slots__ = ("is_bytes", "text")

    def __init__(self, given: object) -> None:
        self.is_bytes = isinstance(given, bytes)
        if isinstance(given, bytes):
            self.text = given.decode("utf-8", "surrogateescape")
        elif isinstance(given, str):
            self.text = given if given.isascii() else _mended(given)
        else:
            raise ArgumentTypeError(f"a text must be a str or bytes, not {type(given).__name__}")

    def normalized(self, reader: SentencePieceReader, with_offsets: bool) -> Any:
        """The text as normalized, with where each character or byte of it comes from on request."""
        text, places = reader.normalize(self.text)
        if not self.is_bytes:
            return (text, places or [0]) if with_offsets else text
        if not with_offsets:
            return text.encode()
        if not places:
            return b"", []
        before = byte_places(self.text)
        offsets = [
            before[place]
            for character, place in zip(text, places, strict=False)
            for _ in character.encode()
        ]
        return text.encode(), [*offsets, before[places[-1]]]


def _mended(text: str) -> str:
    """A text without surrogates: pairs are the characters that they spell, others U+FFFD."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def encoded(
    given: InputText,
    items: list[Any],
    form: object,
    return_bytes: bool | None = None,
) -> Any:
    """Rows (or ids, for an array of these) in the form that was asked for."""
    if form is int:
        return [row.id for row in items]
    if form is str:
        return [row.piece for row in items]
    if form is bytes:
        return [row.piece.encode() for row in items]
    if form == "numpy":
        import numpy as np

        ids = np.array([row.id if isinstance(row, PieceRow) else row for row in items], np.int32)
        # As sentencepiece's, it cannot be written to.
        ids.flags.writeable = False
        return ids.view()
    if form == "offset_mapping":
        as_bytes = given.is_bytes if return_bytes is None else return_bytes
        return _mapping(given.text, items, as_bytes)
    message = _message(given, items, in_bytes=form != "immutable_proto")
    return message.SerializeAsString() if form == "serialized_proto" else message


def decoded(text: str, rows: list[PieceRow], form: object, as_bytes: bool) -> Any:
    """A decoded text with what each piece became, in the form that was asked for.

    Places are those in the surfaces joined, which the model may normalize at last.
    """
    joined = InputText("".join(row.surface or "" for row in rows))
    if form == "offset_mapping":
        mapping = _mapping(joined.text, rows, as_bytes)
        return {"text": text.encode() if as_bytes else text, **mapping}
    message = replace(_message(joined, rows, in_bytes=form != "immutable_proto"), text=text)
    return message.SerializeAsString() if form == "serialized_proto" else message


def nbest(given: InputText, paths: list[tuple[list[PieceRow], float]], form: object) -> Any:
    """Segmentations in the form that was asked for, with scores in messages alone."""
    if form == "offset_mapping":
        raise ArgumentError("return_type='offset_mapping' is for one segmentation")
    if form in _MESSAGES:
        return _nbest_message(given, paths, form)
    return [encoded(given, rows, form) for rows, _ in paths]


def scored(given: InputText, paths: list[tuple[list[PieceRow], float]], form: object) -> Any:
    """Segmentations with their scores in the form that was asked for."""
    if form in _MESSAGES:
        return _nbest_message(given, paths, form)
    return [(encoded(given, rows, form), score) for rows, score in paths]


def _nbest_message(
    given: InputText, paths: list[tuple[list[PieceRow], float]], form: object
) -> Any:
    texts = (
        replace(
            _message(given, rows, in_bytes=form != "immutable_proto"), score=score, _has_score=True
        )
        for rows, score in paths
    )
    message = NBestSentencePieceText(tuple(texts))
    return message.SerializeAsString() if form == "serialized_proto" else message


def _message(given: InputText, rows: list[PieceRow], *, in_bytes: bool) -> SentencePieceText:
    text = given.text
    before = byte_places(text) if in_bytes or given.is_bytes else range(len(text) + 1)
    return SentencePieceText(
        text,
        tuple(
            SentencePiece(
                row.piece,
                row.id,
                _surface(row, text),
                before[row.begin],
                before[row.end],
                row.has_surface,
            )
            for row in rows
        ),
    )


def _surface(row: PieceRow, text: str) -> str:
    if row.surface is not None:
        return row.surface
    return text[row.begin : row.end] if row.has_surface else ""


def _mapping(text: str, rows: list[PieceRow], as_bytes: bool) -> dict[str, Any]:
    before = byte_places(text) if as_bytes else range(len(text) + 1)
    return {
        "ids": [row.id for row in rows],
        "pieces": [row.piece.encode() if as_bytes else row.piece for row in rows],
        "offsets": [(before[row.begin], before[row.end]) for row in rows],
    }
