"""Spans beside those of tokenizers.

There a token has the span of the first of the characters that it was composed of, and of the last
of those that it replaces. What a character map removes moves the spans of what is around it;
there the spans are compared that tokenizers has of the text without those characters.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

Spans = Sequence[Sequence[int]]

# What the character maps of SentencePiece remove.
REMOVED = frozenset(map(chr, (*range(1, 9), 0xB, *range(0xE, 0x20), 0x7F, 0x8F, 0x9F)))


def all_spans(column: Any) -> Spans:
    """The spans of one text, or of all rows of a column."""
    if isinstance(column, np.ndarray) and column.dtype != object:
        spans: Spans = column.reshape(-1, 2).tolist()
        return spans
    rows = [[row] if isinstance(row, tuple) else row for row in column]
    return [tuple(span) for row in rows for span in row]


def joins(normalizer: Any) -> bool:
    """Whether a normalizer may make one character of several, or move one."""
    kinds = ("NFC", "NFKC", "NFD", "NFKD", "Replace", "Precompiled")
    return any(name in repr(normalizer) for name in kinds)


def hold(mine: Spans, theirs: Spans, normalizer: Any) -> bool:
    """Whether spans are those of tokenizers, or hold them where characters are joined."""
    mine, theirs = [tuple(span) for span in mine], [tuple(span) for span in theirs]
    if not joins(normalizer):
        return mine == theirs
    return len(mine) == len(theirs) and all(
        start <= begin and finish <= end
        for (start, end), (begin, finish) in zip(mine, theirs, strict=True)
    )


def agree(mine: Spans, row: Any, given: Any, normalizer: Any, encode: Callable[[Any], Any]) -> bool:
    """Whether spans are those of a row of tokenizers, by the rules above.

    Args:
        mine: The spans of jeton.
        row: What tokenizers makes of `given`.
        given: A text, the words of one, or a tuple of two such.
        normalizer: That of tokenizers.
        encode: What tokenizers makes of such a text; no row where it refuses.
    """
    texts = given if isinstance(given, tuple) else (given,)
    lists = [[text] if isinstance(text, str) else list(text) for text in texts]
    joined = "".join("".join(words) for words in lists)
    if "Precompiled" not in repr(normalizer) or REMOVED.isdisjoint(joined):
        return hold(mine, row.offsets, normalizer)
    kept = [without_removed(text) for text in texts]
    again = encode(tuple(kept) if isinstance(given, tuple) else kept[0])
    if not hasattr(again, "ids") or again.ids != row.ids:
        # The characters kept others apart.
        return len(mine) == len(row.offsets)
    theirs = []
    columns = zip(mine, again.offsets, again.sequence_ids, again.word_ids, strict=True)
    for span, (start, end), sequence, word in columns:
        if sequence is None or start == end:
            theirs.append(span)
            continue
        words = lists[sequence]
        text = words[0] if isinstance(texts[sequence], str) else words[word]
        places = [at for at, character in enumerate(text) if character not in REMOVED]
        theirs.append((places[start], places[end - 1] + 1))
    return hold(mine, theirs, normalizer)


def without_removed(text: Any) -> Any:
    """A text, or each of some words, without the characters that a map removes."""
    if isinstance(text, str):
        return "".join(character for character in text if character not in REMOVED)
    return [without_removed(word) for word in text]
