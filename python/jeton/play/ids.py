"""Ids in any notation, as people paste them: lists, arrays, tensors, lines, hexadecimal."""

from __future__ import annotations

import re
from typing import Any, Final

from jeton.errors import ArgumentError
from jeton.play.shelf import Card
from jeton.play.token_details import token_text

__all__ = ["decoded", "numbers_of"]

_MAX_IDS: Final = 200_000
_MAX_BYTES: Final = 32 << 20
_NOISE: Final = re.compile(
    r"(?:dtype|device|shape|size)\s*=\s*[^,)\]]*(?:\([^)]*\))?|\b(?:u?int|float)\d+\b"
)
_NUMBER: Final = re.compile(r"(?<![\w.])(-?)(0x[0-9a-f]+|\d[\d_]*)(\.0*)?(?![\w.])", re.IGNORECASE)


def numbers_of(text: str) -> list[int]:
    """The whole numbers of a text, in their order.

    >>> numbers_of("tensor([[1, 22,\\n 3]], device='cuda:0')"), numbers_of("0x1F 7 | 8.0")
    ([1, 22, 3], [31, 7, 8])
    """
    found = []
    for sign, number, _ in _NUMBER.findall(_NOISE.sub("", text)):
        if sign:
            raise ArgumentError(f"an id is never negative: -{number[:20]}")
        found.append(int(number.replace("_", ""), 16 if number[:2] in ("0x", "0X") else 10))
        if len(found) > _MAX_IDS:
            raise ArgumentError(f"the page decodes up to {_MAX_IDS:,} ids")
    return found


def decoded(card: Card, text: str) -> dict[str, Any]:
    """The tokens of the ids in a text, and the text that they decode to."""
    ids = numbers_of(text)
    known = card.tokenizer
    special = set(known.special_tokens.values())
    spellings = {id: known.token_spelling(id) for id in {*ids}}
    if sum(len(spellings[id]) for id in ids) > _MAX_BYTES:
        raise ArgumentError(f"the page decodes up to {_MAX_BYTES >> 20} MB of text")
    tokens = [
        {"id": id, "shown": token_text(spellings[id]), "special": id in special} for id in ids
    ]
    return {"text": known.decode(ids, errors="replace") if ids else "", "tokens": tokens}
