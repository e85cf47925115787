"""What a check gives: a place in a text, what it is, and how else it could be spelled."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from jeton.errors import EncodeError

if TYPE_CHECKING:
    from jeton.encoding.base_tokenizer import BaseTokenizer

__all__ = ["Check", "GotchaSubject", "Hit"]


@dataclass(frozen=True, slots=True)
class Hit:
    """A place in a text."""

    name: str
    start: int
    end: int
    what: str
    do: str
    instead: str | None = None
    """What could stand in its place; `None` if nothing can."""
    instead_ids: tuple[int, ...] | None = None
    """The ids of that, where they are not those of its text."""
    apart: bool = False
    """Whether it is told by itself, without the word around it."""
    keeps: bool = False
    """Whether it is told also if both spellings have the same ids."""
    effect: str | None = None
    """What the tokenizer does with it, where the ids do not say so."""


class GotchaSubject:
    """A text, and the tokenizer that it is for."""

    def __init__(self, tok: BaseTokenizer, text: str) -> None:
        self.tok = tok
        self.text = text

    @functools.cached_property
    def is_encoded(self) -> bool:
        """Whether the whole text can be encoded."""
        try:
            self.tok.count(self.text)
        except EncodeError:
            return False
        return True

    def ids(self, text: str) -> tuple[int, ...]:
        """The ids of a text; none where it cannot be encoded."""
        try:
            return tuple(self.tok.encode(text))
        except EncodeError:
            return ()

    def counts(self, texts: list[str]) -> list[int]:
        """How many tokens each text has; none where it cannot be encoded."""
        try:
            return self.tok.count_batch(texts)
        except EncodeError:
            return [len(self.ids(text)) for text in texts]


Check: TypeAlias = Callable[[GotchaSubject], Iterator[Hit]]
"""Finds what has one or a few of the names, in time that is linear in the text."""
