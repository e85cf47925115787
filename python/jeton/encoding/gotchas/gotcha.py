"""A finding: its name, where it is, the ids of both spellings, and what to do."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, TypeAlias

from jeton.errors import EncodeError

if TYPE_CHECKING:
    from jeton.encoding.base_tokenizer import BaseTokenizer

NAMES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "leading-space": "the first word has other tokens than after a space",
        "trailing-space": "a space at the end, which belongs to the next word",
        "case": "capitals that take more tokens than lower case",
        "digits": "a number whose tokens are not groups of digits from the right",
        "special-token": "the spelling of a special or added token of this tokenizer",
        "foreign-control": "the spelling of a control token of other models",
        "normalized": "text that the normalizer changes",
        "round-trip": "text that is different after encoding and decoding",
        "unknown": "text that becomes the unknown token",
        "no-token": "a character that cannot be encoded",
        "look-alike": "letters that look like those of another script",
        "full-width": "full-width and mathematical forms of ordinary characters",
        "ligature": "letters that are joined into one character, as in ﬁne",
        "typographic": "quotes, dashes and dots that are not those of a keyboard",
        "odd-space": "a space other than U+0020",
        "invisible": "invisible characters",
        "bidi": "characters that change the direction of writing",
        "hidden-text": "tag characters, which spell invisible text",
        "variation-selector": "a character that selects another look of the one before it",
        "control-character": "control characters, such as NULL and ESCAPE",
        "unicode-form": "letters whose accents are characters of their own",
        "line-end": "line ends that are not \\n",
        "replacement-character": "U+FFFD, left by wrong decoding",
        "surrogate": "half of a UTF-16 character",
    }
)
"""The meaning of each name, in the order of the findings."""


@dataclass(frozen=True, slots=True)
class Gotcha:
    """A part of a text that is not what it seems to be."""

    name: str
    """One of `NAMES`."""
    span: tuple[int, int]
    """Its first range in the text, in characters."""
    text: str
    """The text of that range."""
    times: int
    """How often it occurs in the text."""
    what: str
    """What it is."""
    effect: str
    """What this tokenizer does with it."""
    do: str
    """What to do about it."""
    spelling: str
    """The word around it, as in the text."""
    ids: tuple[int, ...]
    """The ids of `spelling`."""
    instead: str | None = None
    """Another spelling of the same."""
    instead_ids: tuple[int, ...] = ()
    """The ids of `instead`."""


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
