"""Words that become one text without spaces between them, as GPT-2's do.

Look here for which tokenizers and words a call warns of.
"""

from __future__ import annotations

import itertools
import unicodedata
from typing import TYPE_CHECKING

from jeton.encoding.calls.inputs import Column
from jeton.errors import JetonError

if TYPE_CHECKING:
    from jeton.encoding.base_tokenizer import BaseTokenizer

__all__ = ["glued_words"]

_WITHOUT_SPACES = ("CJK", "HIRAGANA", "KATAKANA", "THAI", "LAO", "KHMER", "MYANMAR")
"""How the names of letters begin in whose scripts no space parts words."""


def glued_words(tokenizer: BaseTokenizer, column: Column) -> str | None:
    """A warning of words that have no space between them; `None` if the first two have one.

    Bert's tokens say where a word begins, and SentencePiece puts a space before each. Byte-level
    ones encode each word as it is: `["New", "York"]` has the tokens of `NewYork`.
    """
    words = _first_two(column)
    if words is None:
        return None
    first, second = words
    try:
        both, one, other = (
            tokenizer.decode(tokenizer.encode_with_spans(part, is_split_into_words=True).ids)
            for part in ([first, second], [first], [second])
        )
    except JetonError:
        return None
    if both != one + other:
        return None
    return (
        f"the words {first!r} and {second!r} have the tokens of {both!r}: this tokenizer puts no "
        f"space between words (give them with their spaces, as {' ' + second!r})"
    )


def _first_two(column: Column) -> tuple[str, str] | None:
    """The first two words that follow each other, if a space belongs between them."""
    if column.words is None or not isinstance(column.texts, list):
        return None
    start = 0
    for count in column.words:
        for first, second in itertools.pairwise(column.texts[start : start + count]):
            if first and second:
                return (first, second) if _needs_space(first[-1], second[0]) else None
        start += count
    return None


def _needs_space(before: str, behind: str) -> bool:
    letters = before.isalnum() and behind.isalnum()
    return letters and not unicodedata.name(behind, "").startswith(_WITHOUT_SPACES)
