"""How a word's tokens change with its case, the space before it or the mark after it."""

from __future__ import annotations

from collections.abc import Sequence

from jeton.analysis.values import Value

_HOW = "mean over 24 common English words"


def case_cost(tokens: Sequence[int], plain: Sequence[int]) -> Value:
    """The tokens of words in capitals divided by those in lower case: TIME by `time`.

    Unit: ratio, the mean over words; 1 if case costs nothing. Source: the consistency probes of
    TokEval-like suites.

    Args:
        tokens: The tokens of each word in capitals, within a sentence.
        plain: The tokens of the same in lower case.

    Example:
        TIME as `TI`, `ME` for `time`: 2 / 1; HOUSE as `HO`, `U`, `SE` for `hou`, `se`: 3 / 2.

        >>> case_cost([2, 3], [1, 2]).value
        1.75
    """
    return _mean_ratio(tokens, plain, f"{_HOW}, in capitals / in lower case")


def space_cost(tokens: Sequence[int], plain: Sequence[int]) -> Value:
    """The tokens of words at the start of a text divided by those after a space.

    Unit: ratio, the mean over words; 1 if it makes no difference. Source: as above.

    Example:
        `winter` as `win`, `ter` for ` winter`: 2 / 1.

        >>> space_cost([2], [1]).value
        2.0
    """
    return _mean_ratio(tokens, plain, f"{_HOW}, at the start of a text / after a space")


def punctuation_kept(kept: int, words: int) -> Value:
    """The share of words that keep their tokens when a mark follows directly.

    Unit: share, from 0 to 1. Source: as above.

    Args:
        kept: The number of words, each with each of `. , ! ? ; : )`, that keep their tokens.
        words: The number of words that were tried.

    Example:
        `time,` as ` time`, `,` keeps it, `time.` as ` ti`, `me.` does not: 1 of 2.

        >>> punctuation_kept(1, 2).value
        0.5
    """
    how = "24 common English words, each before seven marks"
    return Value.ratio(kept, words, "share of words", how)


def _mean_ratio(above: Sequence[int], below: Sequence[int], how: str) -> Value:
    ratios = [a / b for a, b in zip(above, below, strict=True) if b]
    return Value.ratio(sum(ratios), len(ratios), "ratio", how)
