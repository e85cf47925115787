"""A finding: its name, where it is, the ids of both spellings, and what to do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

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
