"""The cost of the same content in each language: tokens per line, premium, Gini."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from jeton.analysis.values import Value


def tokens_per_line(tokens: int, lines: int) -> Value:
    """Tokens divided by lines, for text that says the same in every language.

    Unit: tokens per line. Source: Petrov et al., "Language Model Tokenizers Introduce Unfairness
    Between Languages" (NeurIPS 2023).

    Example:
        3 lines with 4, 5 and 6 tokens: 15 / 3.

        >>> tokens_per_line(15, 3).value
        5.0
    """
    return Value.ratio(tokens, lines, "tokens/line", "tokens of all aligned lines / lines")


def premium(tokens: int, pivot_tokens: int, pivot: str) -> Value:
    """The tokens of a language divided by those of the pivot, for the same lines.

    Unit: ratio; 1.5 means half as many again as the pivot. Source: Petrov et al. (NeurIPS 2023);
    here of the sums, so that long lines weigh more.

    Args:
        tokens: The tokens of all lines in the language.
        pivot_tokens: The tokens of the same lines in the pivot.
        pivot: The name of the pivot.

    Example:
        German 30 tokens, English 20: 30 / 20.

        >>> premium(30, 20, "en").value
        1.5
    """
    how = f"tokens of all aligned lines / those of {pivot}"
    return Value.ratio(tokens, pivot_tokens, "ratio", how)


def gini(costs: Sequence[float]) -> Value:
    """How unequal the costs of languages are: Σᵢ Σⱼ |cᵢ - cⱼ| / (2 · n² · mean).

    Unit: from 0 (all the same) to 1 - 1/n (one pays all). Source: Gini (1912), on tokens per line
    as in Foroutan et al., "Parity-Aware Byte-Pair Encoding" (2025).

    Args:
        costs: The tokens per line of each language.

    Example:
        Costs 1, 1 and 4: the differences of all pairs, both ways, are 2 · (0 + 3 + 3) = 12, and
        12 / (2 · 9 · 2) = 1/3.

        >>> round(gini([1, 1, 4]).value, 12)
        0.333333333333
    """
    numbers = np.asarray(costs, np.float64)
    how = f"over {len(numbers)} languages, each with the same weight"
    if len(numbers) < 2:
        return Value(None, "index", how)
    differences = float(np.abs(numbers[:, None] - numbers).sum())
    return Value.ratio(differences, 2 * len(numbers) * float(numbers.sum()), "index", how)
