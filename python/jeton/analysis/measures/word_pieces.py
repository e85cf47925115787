"""How words are split: fertility, words of several tokens, words of one token."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from jeton.analysis.values import Value

_HOW = "over words as often as they occur, each encoded alone as after a space"


def fertility(pieces: npt.ArrayLike, counts: npt.ArrayLike, how: str = _HOW) -> Value:
    """Tokens per word: Σ count · tokens / Σ count, each different word encoded alone.

    Unit: tokens per word; 1 is the minimum if nothing is lost. Source: Ács, "Exploring BERT's
    Vocabulary" (2019); Rust et al. (ACL 2021).

    Args:
        pieces: The number of tokens of each different word.
        counts: How often each word occurs.
        how: How these words were found.

    Example:
        `low` (1 token) five times and `lower` (`low`, `er`: 2 tokens) twice:
        (5 · 1 + 2 · 2) / 7 = 9 / 7.

        >>> round(fertility([1, 2], [5, 2]).value, 4)
        1.2857
    """
    tokens, words = np.asarray(pieces), np.asarray(counts)
    return Value.ratio(float((tokens * words).sum()), float(words.sum()), "tokens/word", how)


def fertility_by_spaces(tokens: int, words: int) -> Value:
    """Tokens per word between white space: all tokens of the texts by all such words.

    Punctuation belongs to the word beside it, and its tokens and those of white space count, so the
    value is higher than `fertility`. In scripts without spaces a line is a word.

    Unit: tokens per word. Source: Rust et al. (ACL 2021), whose words are those between the spaces
    of a corpus.

    Args:
        tokens: The number of tokens of the texts.
        words: The number of stretches without white space.

    Example:
        `low, lower` is two words; as `low`, `,`, ` low`, `er` it is four tokens.

        >>> fertility_by_spaces(4, 2).value
        2.0
    """
    return Value.ratio(tokens, words, "tokens/word", "all tokens by words between white space")


def continued_words(pieces: npt.ArrayLike, counts: npt.ArrayLike, how: str = _HOW) -> Value:
    """The share of words that are split into two tokens or more.

    Unit: share, from 0 to 1. Source: Rust et al. (ACL 2021), proportion of continued words.

    Example:
        `low` (1 token) five times and `lower` (2 tokens) twice: 2 of 7 words.

        >>> round(continued_words([1, 2], [5, 2]).value, 4)
        0.2857
    """
    tokens, words = np.asarray(pieces), np.asarray(counts)
    return Value.ratio(float(words[tokens > 1].sum()), float(words.sum()), "share of words", how)


def single_token_words(
    pieces: npt.ArrayLike, known: npt.ArrayLike, counts: npt.ArrayLike, how: str = _HOW
) -> Value:
    """The share of words that are one token other than the unknown token.

    Unit: share, from 0 to 1. Source: the complement of continued words, except that an unknown word
    does not count.

    Args:
        pieces: The number of tokens of each different word.
        known: Whether none of these is the unknown token.
        counts: How often each word occurs.
        how: How these words were found.

    Example:
        `low` (1 token) five times, `lower` (2 tokens) twice, and `été` (unknown) once: 5 of 8.

        >>> single_token_words([1, 2, 1], [True, True, False], [5, 2, 1]).value
        0.625
    """
    tokens, words = np.asarray(pieces), np.asarray(counts)
    single = words[(tokens == 1) & np.asarray(known, bool)]
    return Value.ratio(float(single.sum()), float(words.sum()), "share of words", how)
