"""Encoding by the stages, one after another: the plain way, which the sooner ways must equal."""

from __future__ import annotations

from typing import Any

import jeton


def encode_fallback(
    tok: jeton.Tokenizer,
    text: Any,
    text_pair: Any = None,
    *,
    is_split_into_words: bool = False,
    special: Any = "ignore",
    add_special_tokens: bool = False,
    unit: str = "characters",
    **drawn: Any,
) -> jeton.Encoding:
    """What `encode_with_spans` means; its arguments."""
    names = ("dropout", "alpha", "nbest_size", "seed")
    dropout, alpha, nbest_size, seed = (drawn.get(name) for name in names)
    encoded = tok._core.encode_with_spans(
        text,
        text_pair,
        is_split_into_words,
        special,
        add_special_tokens,
        unit,
        (dropout, alpha, nbest_size, seed) if drawn else None,
        True,
    )
    return jeton.Encoding._of_core(encoded)
