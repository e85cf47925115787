"""How a tokenizer splits text written for this test: numbers, code, variants of words.

Look here for the texts of measures that need no corpus, and for how the splits of a piece of text
are found.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Sequence
from typing import Final

from jeton.tokenizer import Tokenizer

Piece = tuple[str, int, int]
"""A text, and where the examined piece starts and ends in it."""

_random = random.Random(20)

NUMBERS: Final = tuple(
    str(_random.randrange(10 ** (digits - 1), 10**digits))
    for digits in (5, 7, 11)
    for _ in range(40)
)
"""Numbers of 5, 7 and 11 digits: no group size divides these lengths, so left and right differ."""


def _sums() -> Iterator[tuple[str, str, str]]:
    for digits in itertools.product(range(3, 8), repeat=2):
        for _ in range(4):
            a, b = (_random.randrange(10 ** (length - 1), 10**length) for length in digits)
            yield str(a), str(b), str(a + b)


SUMS: Final = tuple(_sums())
"""Sums of numbers of 3 to 7 digits: a + b = c."""

OPERATORS: Final = (
    "==", "!=", "<=", ">=", "->", "=>", "+=", "-=", "*=", "/=", "//", "**", "&&", "||", "<<", ">>",
    "::", ":=", "++", "--", "===", "!==", "??", "?.", "...",
)  # fmt: skip
"""Operators of more than one character, of the common languages."""

INDENTS: Final = tuple(
    [" " * (4 * depth) for depth in range(1, 7)] + ["\t" * n for n in range(1, 5)]
)
"""Indentation of one to six levels by four spaces, and of one to four by tabs."""

IDENTIFIERS: Final = tuple(
    tuple(name.split("|"))
    for name in (
        "get|_user|_name", "max|_length", "is|_valid", "read|_file", "to|_string", "user|_id",
        "parse|_json|_response", "num|_layers", "hidden|_size", "last|_modified|_time",
        "get|User|Name", "max|Length", "is|Valid", "read|File", "to|String", "user|Id",
        "parse|Json|Response", "Http|Request", "Array|List", "on|Click", "String|Builder",
    )
)  # fmt: skip
"""Identifiers in their parts, in snake_case and in camelCase."""

WORDS: Final = (
    "time", "house", "water", "people", "language", "school", "number", "history", "world", "music",
    "morning", "question", "winter", "garden", "doctor", "letter", "island", "market", "silver",
    "weather", "library", "mountain", "teacher", "computer",
)  # fmt: skip
"""Common English words, in lower case."""


class PieceCuts:
    """Where a tokenizer splits a piece of a text.

    Attributes:
        ids: The tokens of the piece, without tokens of white space before it.
        inside: The places inside the piece where tokens begin, in characters from its start.
        only: Whether the tokens hold only the piece and white space.
        length: The length of the piece in characters.
    """

    def __init__(self, piece: Piece, ids: Sequence[int], spans: Sequence[Sequence[int]]) -> None:
        text, start, end = piece
        blank = text[start:end].isspace()
        self.length = end - start
        self.ids: list[int] = []
        self.inside: list[int] = []
        self.only = True
        for id, (first, last) in zip(ids, spans, strict=True):
            if first >= end or last <= start or (text[first:last].isspace() and not blank):
                continue
            self.ids.append(id)
            self.only &= not (text[first:start].strip() or text[end:last].strip())
            if start < first < end and self.inside[-1:] != [first - start]:
                self.inside.append(first - start)

    @property
    def sizes(self) -> list[int]:
        """The length of each part in characters."""
        return [b - a for a, b in itertools.pairwise([0, *self.inside, self.length])]


def cuts_of(tok: Tokenizer, pieces: Sequence[Piece]) -> list[PieceCuts]:
    """Where a tokenizer splits each piece."""
    batch = tok.encode_batch([text for text, _, _ in pieces], spans="characters")
    ids, places, offsets = batch.ids.tolist(), batch.spans.tolist(), batch.offsets.tolist()
    return [
        PieceCuts(piece, ids[start:end], places[start:end])
        for piece, (start, end) in zip(pieces, itertools.pairwise(offsets), strict=True)
    ]


def within(before: str, piece: str, after: str = "") -> Piece:
    """A piece with the text around it."""
    return before + piece + after, len(before), len(before) + len(piece)
