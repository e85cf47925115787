"""Spans beside those of tokenizers.

There a token has the span of the first of the characters that it was composed of, and of the last
of those that it replaces.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

Spans = Sequence[Sequence[int]]


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
