"""A finding: its name, where it is, the ids of both spellings, and what to do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

__all__ = ["NAMES", "Gotcha"]

NAMES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "leading-space": "the first word has other tokens than behind a space",
        "trailing-space": "a space at the end, which belongs to the next word",
        "case": "capitals that take more tokens than lower case",
        "digits": "a number that is cut where no digit group begins",
        "special-token": "a special or added token of this tokenizer, spelled in the text",
        "foreign-control": "what spells a control token of other models",
        "normalized": "text that the normalizer changes",
        "round-trip": "text that does not come back when its ids are decoded",
        "unknown": "text that becomes the token for unknown text",
        "no-token": "a character that cannot be encoded",
        "look-alike": "letters that look like those of another script",
        "full-width": "full-width and mathematical forms of ordinary characters",
        "ligature": "letters that are joined to one character, as in ﬁne",
        "typographic": "quotes, dashes and dots that are not those of the keyboard",
        "odd-space": "a space that is not the ordinary one",
        "invisible": "characters that nobody sees",
        "bidi": "characters that turn the direction of writing around",
        "hidden-text": "tag characters, which spell text that nobody sees",
        "variation-selector": "a character that asks for another look of the one before it",
        "control-character": "control characters of the first computers",
        "unicode-form": "letters whose accents are characters of their own",
        "line-end": "line ends that are not \\n",
        "replacement-character": "U+FFFD, what wrong decoding leaves behind",
        "surrogate": "half of a character of UTF-16",
    }
)
"""What each name stands for, in the order in which they are told."""


@dataclass(frozen=True, slots=True)
class Gotcha:
    """Something in a text that is not what it seems to be."""

    name: str
    """One of `NAMES`."""
    span: tuple[int, int]
    """Where it first stands, in characters."""
    text: str
    """What stands there."""
    times: int
    """How often the text has it."""
    what: str
    """What it is."""
    effect: str
    """What this tokenizer does with it."""
    do: str
    """What to do about it."""
    spelling: str
    """The word around it, as it is written."""
    ids: tuple[int, ...]
    """The ids of `spelling`."""
    instead: str | None = None
    """Another spelling of the same."""
    instead_ids: tuple[int, ...] = ()
    """The ids of `instead`."""
