"""Ids in any notation, as people paste them: lists, arrays, tensors, lines, hexadecimal."""

from __future__ import annotations

import re
from typing import Final

from jeton.display.human_readable import visible_pieces
from jeton.errors import ArgumentError
from jeton.play.shelf import Card
from jeton.play.token_details import shortened

_MAX_IDS: Final = 200_000
_MAX_BYTES: Final = 32 << 20
_MAX_TEXT: Final = 4 << 20
"""Characters of the ids as text."""
_NOISE: Final = re.compile(
    r"(?:dtype|device|shape|size)\s*=\s*(?:\([^()]*\)|[^,)\]>]*)|\b(?:u?int|float)\d+\b"
)
_NUMBER: Final = re.compile(r"(?<![\w.])-?\d[\w.]*")
_ID: Final = re.compile(r"(0x[0-9a-f]{1,9}|\d[\d_]{0,19})(?:\.0*)?", re.IGNORECASE)


def numbers_of(text: str) -> list[int]:
    """The whole numbers of a text, in their order.

    >>> numbers_of("tensor([[1, 22,\\n 3]], device='cuda:0')"), numbers_of("0x1F 7 | 8.0")
    ([1, 22, 3], [31, 7, 8])
    """
    if "..." in text or "…" in text:
        raise ArgumentError("some ids are left out where the text has dots: print all of them")
    if len(text) > _MAX_TEXT:
        raise ArgumentError(f"the page reads up to {_MAX_TEXT:,} characters of ids")
    numbers = []
    for number in _NUMBER.findall(_NOISE.sub("", text)):
        if number.startswith("-"):
            raise ArgumentError(f"an id is never negative: {number[:20]}")
        match = _ID.fullmatch(number)
        if match is None:
            raise ArgumentError(f"{number[:20]} is not an id, which is a whole number")
        digits = match[1].replace("_", "")
        numbers.append(int(digits, 16 if digits[:2] in ("0x", "0X") else 10))
        if len(numbers) > _MAX_IDS:
            raise ArgumentError(f"the page decodes up to {_MAX_IDS:,} ids")
    return numbers


def decoded(card: Card, text: str) -> dict[str, object]:
    """The tokens of the ids in a text, and the text that they decode to."""
    ids = numbers_of(text)
    tokenizer = card.tokenizer
    special = set(tokenizer.special_tokens.values())
    spellings = {id: tokenizer.vocab.spelling(id) for id in {*ids}}
    if sum(len(spellings[id]) for id in ids) > _MAX_BYTES:
        raise ArgumentError(f"the page decodes up to {_MAX_BYTES >> 20} MB of text")
    pieces = visible_pieces([spellings[id] for id in ids])
    tokens = [
        {"id": id, "shown": shortened(piece), "special": id in special}
        for id, piece in zip(ids, pieces, strict=True)
    ]
    return {"text": tokenizer.decode(ids, errors="replace") if ids else "", "tokens": tokens}
