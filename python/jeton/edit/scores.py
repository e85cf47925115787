"""Scores of new pieces of a SentencePiece BPE, and which of them merging never reaches.

Look here for the order of merging after `extend` and `merge`: the greatest score is merged first.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from jeton.edit.derivations import last_two
from jeton.loading.model_file import NORMAL, ModelPiece

_DEEP = -(2.0**23)
"""Below this, float32, the type in the file, cannot represent all whole numbers."""


def with_scores(
    pieces: Sequence[ModelPiece], texts: Iterable[str]
) -> tuple[list[ModelPiece], list[str]]:
    """New pieces with decreasing scores, and the texts that merging would never reach.

    The scores continue below the lowest old score. Some models have pieces far below all others
    (Llama's runs of spaces, at -1e9): new pieces get higher scores than those, unless they are a
    part of one, which would then be split in another way. `texts`: the texts of the new pieces, in
    the order of merging.
    """
    scores = {piece.text: piece.score for piece in pieces if piece.kind == NORMAL}
    deep = [text for text, score in scores.items() if score < _DEEP]
    lowest = min((score for score in scores.values() if score >= _DEEP), default=0.0)
    lowest_of_all = min(scores.values(), default=0.0)
    new_pieces, unreached = [], []
    for text in texts:
        if any(text in other for other in deep):
            score = lowest_of_all = _below(lowest_of_all)
        else:
            score = lowest = _below(lowest)
        if len(text) > 1:
            parts = last_two(text, scores, scores.__getitem__)
            if parts is None or not all(part in scores for part in parts):
                unreached.append(text)
                continue
        scores[text] = score
        new_pieces.append(ModelPiece(text, score))
    return new_pieces, unreached


def _below(score: float) -> float:
    """The score minus one, or the next lower number in float32."""
    import numpy as np

    return float(
        min(np.float32(score - 1.0), np.nextafter(np.float32(score), np.float32(-math.inf)))
    )
