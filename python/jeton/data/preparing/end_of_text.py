"""The tokens around documents: an end-of-text token, or those of the post-processor."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import TypeAlias

from jeton.arguments import checked_int, suggestion
from jeton.errors import ArgumentError, ArgumentTypeError, UnknownTokenError
from jeton.tokenizer import Tokenizer

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
"""The spellings of end-of-text tokens in published vocabularies."""


Frame: TypeAlias = tuple[tuple[int, ...], tuple[int, ...]]
"""The ids that each document begins and ends with."""


class Choice(enum.Enum):
    """A choice other than a token."""

    AUTO = "the tokenizer's end-of-text token"


@dataclass(frozen=True)
class EndOfText:
    """The token that separates documents."""

    token: str
    id: int
    place: str
    """Whether it comes `after` or `before` each document."""

    @property
    def frame(self) -> Frame:
        """The ids around each document."""
        return ((), (self.id,)) if self.place == "after" else ((self.id,), ())


def end_of_text_of(tokenizer: Tokenizer, option: object, *, place: object) -> EndOfText | None:
    """The end-of-text token that the caller names, or the only one of the tokenizer.

    Example:
        >>> import jeton
        >>> trainer = jeton.BPETrainer(300, special_tokens=["<|endoftext|>", "<|user|>"])
        >>> end_of_text_of(trainer.train(["to be"]), Choice.AUTO, place="after")
        EndOfText(token='<|endoftext|>', id=0, place='after')
    """
    if not isinstance(place, str) or place not in ("after", "before"):
        raise ArgumentError(f'end_of_text_place must be "after" or "before", not {place!r}')
    special = tokenizer.special_tokens
    if option is None:
        return None
    if option is Choice.AUTO:
        names = [name for name in KNOWN if name in special]
        if len(names) != 1:
            has = (
                f"several end-of-text tokens, {', '.join(names)}"
                if names
                else "no known end-of-text token"
            )
            there = f"; its special tokens: {', '.join(list(special)[:8])}" if special else ""
            raise ArgumentError(
                f"the tokenizer has {has}{there} (pass the token that separates documents as "
                "end_of_text, or None for no token between them)"
            )
        return EndOfText(names[0], special[names[0]], place)
    if isinstance(option, str):
        if option in special:
            return EndOfText(option, special[option], place)
        try:
            return EndOfText(option, tokenizer.vocab[option], place)
        except UnknownTokenError:
            raise ArgumentError(
                f"end_of_text={option!r} is not a token of this tokenizer",
                hint=suggestion(option, list(special)) or "None is for no token",
            ) from None
    if isinstance(option, bool) or not hasattr(option, "__index__"):
        raise ArgumentTypeError(
            f"end_of_text must be a token, its id or None, not {type(option).__name__}"
        )
    number = checked_int("end_of_text", option, 0)
    try:
        token = tokenizer.vocab.spelling(number).decode("utf-8", "replace")
    except UnknownTokenError:
        raise ArgumentError(
            f"end_of_text={number} is not a token of this tokenizer, whose largest id is "
            f"{tokenizer.vocab.max_id}"
        ) from None
    return EndOfText(token, number, place)


def frame_of(tokenizer: Tokenizer) -> tuple[Frame, EndOfText]:
    """The ids that the post-processor adds around a text, and which of them separates documents."""
    ids_around = tokenizer._core.frame(True)
    if ids_around is None:
        raise ArgumentError(
            "frame: the post-processor of the tokenizer does more than add tokens around a text"
        )
    begin, end = map(tuple, ids_around)
    if not begin and not end:
        raise ArgumentError(
            "frame: the post-processor of the tokenizer adds no tokens around a text; leave it out"
        )
    id, place = (end[-1], "after") if end else (begin[0], "before")
    token = tokenizer.vocab.spelling(id).decode("utf-8", "replace")
    return (begin, end), EndOfText(token, id, place)
