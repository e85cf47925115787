"""Where a text is expensive: the tokens of each of its sentences, in several tokenizers."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import numpy as np

from jeton.encoding.chunks.boundaries import ends
from jeton.play.token_details import shortened
from jeton.play.tokens import utf16_places

if TYPE_CHECKING:
    from jeton.argument_types import SpecialPolicy
    from jeton.play.documents import TabText
    from jeton.play.shelf import Card

_MAX_TEXT: Final = 200_000
"""Characters of a text that are looked at."""
_MAX_SENTENCES: Final = 500


def heat(document: TabText, cards: Sequence[Card], special: SpecialPolicy) -> dict[str, object]:
    """The sentences of a text, and for each card how many tokens begin in each of them."""
    units = document.units
    text = units.text(0, units.between_characters(_MAX_TEXT))
    borders = [0, *ends("sentence", text, 0, len(text))][: _MAX_SENTENCES + 1]
    if borders[-1] < len(text) and len(borders) <= _MAX_SENTENCES:
        borders.append(len(text))
    place = utf16_places(text)
    offsets = [place(border) for border in borders]
    found = []
    for card in cards:
        starts = document.tokens(card, special).starts
        counts = np.diff(np.searchsorted(starts, np.array(offsets, np.uint32)))
        found.append({"card": card.number, "counts": counts.tolist()})
    return {
        "sentences": [
            {"text": shortened(text[start:end].strip()), "characters": end - start}
            for start, end in itertools.pairwise(borders)
        ],
        "cards": found,
        "looked": borders[-1],
        "of": document.characters,
    }
