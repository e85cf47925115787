"""Which tokens are around documents: an end of text, found or named, or the tokenizer's frame."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import Any

import jeton._core as _core
from jeton.arguments import checked_int
from jeton.errors import ArgumentError, ArgumentTypeError, UnknownTokenError
from jeton.tokenizer import Tokenizer

__all__ = ["Choice", "DocumentFrame", "EndOfText", "end_of_text_of", "frame_of"]

KNOWN = (
    "<|endoftext|>",
    "<|end_of_text|>",
    "<|end▁of▁sentence|>",
    "<｜end▁of▁sentence｜>",
    "<end_of_text>",
    "<|eos|>",
    "<eos>",
    "<EOS>",
    "</s>",
    "[EOS]",
    "<|EOS|>",
)
"""How tokens are spelled that end a text in published vocabularies."""


class Choice(enum.Enum):
    """A choice that is not spelled as a token."""

    AUTO = "the end of text that the tokenizer has"


@dataclass(frozen=True)
class EndOfText:
    """The token that separates documents."""

    token: str
    id: int
    place: str
    """Whether it stands `after` or `before` each document."""

    def to_json(self) -> dict[str, Any]:
        """What the manifest says of it."""
        return {"token": self.token, "id": self.id, "place": self.place}


def end_of_text_of(tokenizer: Tokenizer, given: object, *, place: object) -> EndOfText | None:
    """The token that is named, or the only one that the tokenizer has for it.

    Raises:
        ArgumentError: There is no such token; the tokenizer has none for that, or several.

    Example:
        >>> import jeton
        >>> trainer = jeton.BPETrainer(300, special_tokens=["<|endoftext|>", "<|user|>"])
        >>> end_of_text_of(trainer.train(["to be"]), Choice.AUTO, place="after")
        EndOfText(token='<|endoftext|>', id=0, place='after')
    """
    if not isinstance(place, str) or place not in ("after", "before"):
        raise ArgumentError(f'end_of_text_place must be "after" or "before", not {place!r}')
    special = tokenizer.special_tokens
    if given is None:
        return None
    if given is Choice.AUTO:
        found = [name for name in KNOWN if name in special]
        if len(found) != 1:
            has = "no end of text that is known" if not found else f"several: {', '.join(found)}"
            there = f"; its special tokens: {', '.join(list(special)[:8])}" if special else ""
            raise ArgumentError(
                f"the tokenizer has {has}{there} (name the token that separates documents by "
                "end_of_text, or give None for no token between them)"
            )
        return EndOfText(found[0], special[found[0]], place)
    if isinstance(given, str):
        if given in special:
            return EndOfText(given, special[given], place)
        try:
            return EndOfText(given, tokenizer.bytes_to_id(given), place)
        except UnknownTokenError:
            close = _core.did_you_mean(given, list(special))
            hint = f"did you mean {close!r}?" if close else "None is for no token"
            raise ArgumentError(
                f"end_of_text={given!r} is not a token of this tokenizer ({hint})"
            ) from None
    if isinstance(given, bool) or not hasattr(given, "__index__"):
        raise ArgumentTypeError(
            f"end_of_text must be a token, its id or None, not {type(given).__name__}"
        )
    number = checked_int("end_of_text", given, 0)
    try:
        token = tokenizer.token_spelling(number).decode("utf-8", "replace")
    except UnknownTokenError:
        raise ArgumentError(
            f"end_of_text={number} is not a token of this tokenizer, whose largest id is "
            f"{tokenizer.max_id}"
        ) from None
    return EndOfText(token, number, place)


@dataclass(frozen=True)
class DocumentFrame:
    """The ids that each document begins and ends with."""

    begin: list[int]
    end: list[int]

    @classmethod
    def of(cls, end: EndOfText | None) -> DocumentFrame:
        """That of an end of text, or of none."""
        ids = [] if end is None else [end.id]
        return cls([], ids) if end is None or end.place == "after" else cls(ids, [])


def frame_of(tokenizer: Tokenizer) -> tuple[DocumentFrame, EndOfText]:
    """What the post-processor puts around a text, and which of these tokens parts documents.

    Raises:
        ArgumentError: It puts nothing there, or does something else to ids.
    """
    found = tokenizer._core.frame(True)
    if found is None:
        raise ArgumentError(
            "frame: the post-processor of the tokenizer does more than putting tokens around a text"
        )
    frame = DocumentFrame(*found)
    if not frame.begin and not frame.end:
        raise ArgumentError(
            "frame: the post-processor of the tokenizer puts nothing around a text; leave it out"
        )
    id, place = (frame.end[-1], "after") if frame.end else (frame.begin[0], "before")
    return frame, EndOfText(tokenizer.token_spelling(id).decode("utf-8", "replace"), id, place)
