"""The hits of a check: a range of a text, what it is, and how to spell it instead."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from jeton.errors import EncodeError

if TYPE_CHECKING:
    from jeton.encoding.base_tokenizer import BaseTokenizer


@dataclass(frozen=True, slots=True)
class Hit:
    """A range of a text that a check reports."""

    name: str
    start: int
    end: int
    what: str
    do: str
    instead: str | None = None
    """A replacement; `None` if there is none."""
    instead_ids: tuple[int, ...] | None = None
    """The ids of the replacement; `None` if they are those of its text."""
    apart: bool = False
    """Whether it is shown alone, without the word around it."""
    keeps: bool = False
    """Whether it is a finding even if both spellings have the same ids."""
    effect: str | None = None
    """What the tokenizer does with it; `None` if the ids show it."""


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
        """The ids of a text; empty if it cannot be encoded."""
        try:
            return tuple(self.tok.encode(text))
        except EncodeError:
            return ()

    def counts(self, texts: list[str]) -> list[int]:
        """How many tokens each text has; 0 if it cannot be encoded."""
        try:
            return self.tok.count_batch(texts)
        except EncodeError:
            return [len(self.ids(text)) for text in texts]


Check: TypeAlias = Callable[[GotchaSubject], Iterator[Hit]]
"""Finds the hits of one or a few names, in time linear in the text."""
