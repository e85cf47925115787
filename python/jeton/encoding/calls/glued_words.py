"""Warns if a tokenizer joins words without spaces, as GPT-2's does.

Look here for the tokenizers and words that a call warns about.
"""

from __future__ import annotations

import itertools
import unicodedata
from typing import TYPE_CHECKING

from jeton.encoding.calls.inputs import Column
from jeton.errors import JetonError

if TYPE_CHECKING:
    from jeton.encoding.base_tokenizer import BaseTokenizer

_WITHOUT_SPACES = ("CJK", "HIRAGANA", "KATAKANA", "THAI", "LAO", "KHMER", "MYANMAR")
"""How the Unicode names of letters begin, for scripts that do not separate words by spaces."""


def glued_words(tokenizer: BaseTokenizer, column: Column) -> str | None:
    """A warning about words that get no space between them; `None` if the first two get one.

    BERT's tokens mark where a word begins, and SentencePiece puts a space in front of each word.
    Byte-level tokenizers encode each word unchanged: `["New", "York"]` has the tokens of `NewYork`.
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
    """The first two neighbouring words, if a space belongs between them."""
    if column.words is None or not isinstance(column.texts, list):
        return None
    start = 0
    for count in column.words:
        for first, second in itertools.pairwise(column.texts[start : start + count]):
            if first and second:
                is_word = first[-1].isalnum() and second[0].isalnum()
                name = unicodedata.name(second[0], "")
                return (first, second) if is_word and not name.startswith(_WITHOUT_SPACES) else None
        start += count
    return None
