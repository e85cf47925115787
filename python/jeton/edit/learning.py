"""Training again for more tokens, until enough of them are new: what extending shares.

Look here for how many tokens of a new language an independent training is asked for.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Container, Iterable
from typing import TypeAlias

from jeton.errors import TrainingWarning, warn_caller
from jeton.tokenizer import Tokenizer

__all__ = ["Corpus", "learned"]

Corpus: TypeAlias = str | os.PathLike[str] | Iterable[str] | Iterable[os.PathLike[str]]
"""Texts, or files: a path, a pattern of paths, or several paths."""


def learned(
    train: Callable[[int], Tokenizer],
    tokens: Callable[[Tokenizer], Iterable[str]],
    known: Container[str],
    n: int,
) -> Tokenizer:
    """A training with `n` tokens that are not known, or as many as the corpus supports.

    Args:
        train: Trains for a size.
        tokens: The tokens of a training that count.
        known: The tokens there are.
        n: How many new ones there shall be.

    Warns:
        TrainingWarning: There are fewer.
    """
    size, before = 2 * n + 1_000, -1
    while True:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", TrainingWarning)
            trained = train(size)
        new = sum(text not in known for text in tokens(trained))
        if new < n and trained.vocab_size == before:
            warn_caller(
                f"n={n:,} was not reached: the corpus supports {new:,} new tokens", TrainingWarning
            )
        if new >= n or trained.vocab_size == before:
            return trained
        size, before = 2 * size, trained.vocab_size
