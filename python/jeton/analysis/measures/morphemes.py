"""Whether tokens begin where morphemes do: precision, recall and F1 of boundaries."""

from __future__ import annotations

from jeton.analysis.values import Value

_HOW = "of the boundaries inside all words, each word after a space"


def morpheme_precision(right: int, cuts: int) -> Value:
    """The share of splits inside words that are boundaries of morphemes.

    Unit: share, from 0 to 1. Source: the boundary evaluation of Morpho Challenge (Kurimo et al.,
    2010); on tokenizers, Bostrom and Durrett (Findings of EMNLP 2020).

    Args:
        right: The number of splits that are boundaries of morphemes.
        cuts: The number of splits.

    Example:
        un|believ|able, split as un|be|lievable: splits at 2 and 4, boundaries at 2 and 8. 1 of 2.

        >>> morpheme_precision(1, 2).value
        0.5
    """
    return Value.ratio(right, cuts, "share of splits", _HOW)


def morpheme_recall(right: int, boundaries: int) -> Value:
    """The share of boundaries of morphemes where a token begins.

    Unit: share, from 0 to 1. Source: as `morpheme_precision`.

    Example:
        un|believ|able, split as un|believable: 1 of 2 boundaries.

        >>> morpheme_recall(1, 2).value
        0.5
    """
    return Value.ratio(right, boundaries, "share of boundaries", _HOW)


def morpheme_f1(right: int, cuts: int, boundaries: int) -> Value:
    """The harmonic mean of precision and recall: 2 · right / (splits + boundaries).

    Unit: share, from 0 to 1. Source: as `morpheme_precision`.

    Example:
        One split, which is right, and two boundaries: 2 · 1 / (1 + 2).

        >>> round(morpheme_f1(1, 1, 2).value, 4)
        0.6667
    """
    return Value.ratio(2 * right, cuts + boundaries, "share", _HOW)
