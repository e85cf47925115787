"""Trains larger and larger vocabularies, until enough of the tokens are new.

Look here for the sizes of the independent trainings of `extend`.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Container, Iterable, Mapping

from jeton.errors import ArgumentTypeError, TrainingWarning, warn_caller
from jeton.tokenizer import Tokenizer


def check_corpus(corpus: object) -> None:
    """Checks that an argument is texts or files, before anything is read."""
    if isinstance(corpus, (bytes, Mapping)) or not isinstance(corpus, (Iterable, os.PathLike)):
        raise ArgumentTypeError(
            f"corpus must be an iterable of texts or a path, not {type(corpus).__name__}"
        )


def train_until(
    train: Callable[[int], Tokenizer],
    tokens: Callable[[Tokenizer], Iterable[str]],
    old_tokens: Container[str],
    n: int,
) -> Tokenizer:
    """A tokenizer with `n` new tokens, or as many as the corpus has.

    Args:
        train: Trains a tokenizer of a size.
        tokens: Returns the tokens of a tokenizer that count.
        old_tokens: The tokens that are not new.
        n: The number of new tokens.

    Warns:
        TrainingWarning: There are fewer.
    """
    size, before = 2 * n + 1_000, -1
    while True:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", TrainingWarning)
            tok = train(size)
        new = sum(text not in old_tokens for text in tokens(tok))
        if new < n and tok.vocab_size == before:
            warn_caller(
                f"n={n:,} was not reached: the corpus is enough for {new:,} new tokens",
                TrainingWarning,
            )
        if new >= n or tok.vocab_size == before:
            return tok
        size, before = 2 * size, tok.vocab_size
