"""How tokens are distributed: entropy, Rényi efficiency, the share of the vocabulary in use."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from jeton.analysis.values import Value

ALPHA = 2.5
"""The order of Rényi entropy that predicts translation quality best in the paper's experiments."""

RARE = 10
"""A token that occurs less often than this is rare."""


def _entropy(counts: npt.ArrayLike) -> float | None:
    numbers = np.asarray(counts, np.float64)
    numbers = numbers[numbers > 0]
    if not len(numbers):
        return None
    total = numbers.sum()
    # Plus 0.0: the entropy of one kind of token is 0, and not -0.
    return float(math.log2(total) - (numbers * np.log2(numbers)).sum() / total) + 0.0


def entropy(counts: npt.ArrayLike) -> Value:
    """Shannon entropy of single tokens: -Σ p · log₂ p.

    Unit: bits per token. Source: Shannon, "A Mathematical Theory of Communication" (1948).

    Args:
        counts: How often each token occurs.

    Example:
        Three tokens with p = 1/2, 1/4, 1/4: 1/2 · 1 + 1/4 · 2 + 1/4 · 2 = 1.5 bits.

        >>> entropy([2, 1, 1]).value
        1.5
    """
    return Value(_entropy(counts), "bits/token", "of the counts of all texts")


def bigram_entropy(pairs: npt.ArrayLike, how: str = "of all pairs within texts") -> Value:
    """Shannon entropy of pairs of neighbouring tokens: -Σ p(a, b) · log₂ p(a, b).

    Unit: bits per pair. Source: Shannon (1948), F₂ before subtracting the entropy of single tokens.

    Args:
        pairs: How often each pair occurs.
        how: Which pairs were counted.

    Example:
        `a b a b a` has the pairs ab, ba, ab, ba: two with p = 1/2, so 1 bit.

        >>> bigram_entropy([2, 2]).value
        1.0
    """
    return Value(_entropy(pairs), "bits/pair", how)


def conditional_entropy(
    pairs: npt.ArrayLike, firsts: npt.ArrayLike, how: str = "of all pairs within texts"
) -> Value:
    """How uncertain a token is once the one before it is known: H(a, b) - H(a).

    Unit: bits per token. Source: Shannon, "Prediction and Entropy of Printed English" (1951), F₂.

    Args:
        pairs: How often each pair occurs.
        firsts: How often each token is the first of a pair.
        how: Which pairs were counted.

    Example:
        `a b a b a`: pairs have 1 bit, first tokens (a, b, a, b) have 1 bit: 0 bits are left.

        >>> conditional_entropy([2, 2], [2, 2]).value
        0.0
    """
    both, first = _entropy(pairs), _entropy(firsts)
    difference = None if both is None or first is None else max(0.0, both - first)
    return Value(difference, "bits/token", how)


def _renyi(counts: npt.ArrayLike, kinds: int, how: str) -> Value:
    numbers = np.asarray(counts, np.float64)
    numbers = numbers[numbers > 0]
    total = numbers.sum()
    if not total or kinds < 2:
        return Value(None, "share", how)
    power = float(((numbers / total) ** ALPHA).sum())
    return Value(math.log(power) / (1 - ALPHA) / math.log(kinds) + 0.0, "share", how)


def renyi_efficiency(counts: npt.ArrayLike, vocabulary: int) -> Value:
    """Rényi entropy of order 2.5 divided by its maximum: log(Σ p^α) / (1 - α) / log |V|.

    Unit: share, from 0 to 1. Source: Zouhar et al., "Tokenization and the Noiseless Channel" (ACL
    2023), with the whole vocabulary as the normaliser.

    Args:
        counts: How often each token occurs.
        vocabulary: |V|, the number of tokens, used or not.

    Example:
        Two of four tokens with p = 1/2: Σ p^2.5 = 2 · 2^-2.5 = 2^-1.5, so the entropy is
        -1.5 / -1.5 = 1 bit, and log₂ 4 = 2 bits.

        >>> round(renyi_efficiency([7, 7, 0, 0], 4).value, 12)
        0.5
    """
    how = "of the counts of all texts, by log of the vocabulary's size, alpha = 2.5"
    return _renyi(counts, vocabulary, how)


def renyi_efficiency_used(counts: npt.ArrayLike) -> Value:
    """As `renyi_efficiency`, with the log of the number of tokens that occur as the normaliser.

    Unit: share, from 0 to 1. Source: as above; the authors' `tokenization-scorer` takes this one.

    Example:
        Two tokens occur equally often: 1 bit of log₂ 2 = 1 bit.

        >>> round(renyi_efficiency_used([7, 7, 0, 0]).value, 12)
        1.0
    """
    how = "of the counts of all texts, by log of the tokens that occur, alpha = 2.5"
    return _renyi(counts, int(np.count_nonzero(counts)), how)


def vocabulary_used(counts: npt.ArrayLike) -> Value:
    """The share of the vocabulary that occurs.

    Unit: share, from 0 to 1. Source: vocabulary utilisation, in many reports.

    Args:
        counts: How often each token occurs; special tokens are left out.

    Example:
        Of four tokens, three occur.

        >>> vocabulary_used([5, 1, 0, 2]).value
        0.75
    """
    numbers = np.asarray(counts)
    how = "of all tokens but special ones, in all texts together"
    return Value.ratio(int(np.count_nonzero(numbers)), numbers.size, "share of tokens", how)


def dead_tokens(counts: npt.ArrayLike) -> Value:
    """How many tokens of the vocabulary do not occur.

    Unit: tokens. Source: as `vocabulary_used`; the embeddings of such tokens are never trained.

    Example:
        >>> dead_tokens([5, 1, 0, 2]).value
        1
    """
    numbers = np.asarray(counts)
    how = "of all tokens but special ones, in all texts together"
    return Value(int(numbers.size - np.count_nonzero(numbers)), "tokens", how)


def rare_tokens(counts: npt.ArrayLike) -> Value:
    """How many tokens occur from 1 to 9 times.

    Unit: tokens; it grows and shrinks with the corpus, so compare it on one corpus only. Source:
    Gowda and May, "Finding the Optimal Vocabulary Size" (Findings of EMNLP 2020), on rare types.

    Example:
        Of tokens that occur 12, 9, 1 and 0 times, two are rare.

        >>> rare_tokens([12, 9, 1, 0]).value
        2
    """
    numbers = np.asarray(counts)
    rare = np.count_nonzero((numbers > 0) & (numbers < RARE))
    return Value(int(rare), "tokens", "that occur 1 to 9 times in all texts together")


def type_token_ratio(used: int, tokens: int) -> Value:
    """Different tokens divided by tokens; `Evaluation.curves["type_token"]` shows how it falls.

    Unit: share, from 0 to 1. Source: Heaps, "Information Retrieval" (1978), for the curve.

    Example:
        `a b a b a` has 2 different tokens of 5.

        >>> type_token_ratio(2, 5).value
        0.4
    """
    return Value.ratio(used, tokens, "share", "different tokens / tokens of all texts")
