"""New pieces behind those of a SentencePiece BPE: their scores, and which merging never reaches.

Look here for the order of merging after `extend` and `merge`: the greatest score is merged first.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from jeton.edit.derivations import last_two
from jeton.loading.model_file import NORMAL, ModelPiece

__all__ = ["placed_behind"]

_DEEP = -(2.0**23)
"""From here down float32, which the file has, cannot count by one with certainty."""


def placed_behind(
    pieces: Sequence[ModelPiece], texts: Iterable[str]
) -> tuple[list[ModelPiece], list[str]]:
    """New pieces with falling scores, and the texts that no merging would reach.

    The scores go on below the lowest of the old. Models may put some pieces far below all else
    (Llama runs of spaces, to -1e9): new pieces come before those, and behind them only if they are
    a part of one, which would be cut otherwise.

    Args:
        pieces: Those there are.
        texts: Of the new ones, in the order in which they are merged.
    """
    scores = {piece.text: piece.score for piece in pieces if piece.kind == NORMAL}
    deep = [text for text, score in scores.items() if score < _DEEP]
    lowest = min((score for score in scores.values() if score >= _DEEP), default=0.0)
    lowest_of_all = min(scores.values(), default=0.0)
    placed, unreached = [], []
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
        placed.append(ModelPiece(text, score))
    return placed, unreached


def _below(score: float) -> float:
    """One less, or the next lower number that float32 has."""
    import numpy as np

    return float(
        min(np.float32(score - 1.0), np.nextafter(np.float32(score), np.float32(-math.inf)))
    )
