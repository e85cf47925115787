"""Whether tokens begin where morphemes do: precision, recall and F1 of boundaries."""

from __future__ import annotations

from jeton.analysis.values import Value

__all__ = ["morpheme_f1", "morpheme_precision", "morpheme_recall"]

_HOW = "of the boundaries inside all words given, each word behind a space"


def morpheme_precision(right: int, cuts: int) -> Value:
    """The share of cuts inside words that are boundaries of morphemes.

    Unit: share, from 0 to 1. Source: the boundary evaluation of Morpho Challenge (Kurimo et al.,
    2010); on tokenizers, Bostrom and Durrett (Findings of EMNLP 2020).

    Args:
        right: How many cuts are boundaries of morphemes.
        cuts: How many cuts there are.

    Example:
        un|believ|able, cut as un|be|lievable: cuts at 2 and 4, boundaries at 2 and 8. 1 of 2.

        >>> morpheme_precision(1, 2).value
        0.5
    """
    return Value.ratio(right, cuts, "share of cuts", _HOW)


def morpheme_recall(right: int, boundaries: int) -> Value:
    """The share of boundaries of morphemes where a token begins.

    Unit: share, from 0 to 1. Source: as `morpheme_precision`.

    Example:
        un|believ|able, cut as un|believable: 1 of 2 boundaries.

        >>> morpheme_recall(1, 2).value
        0.5
    """
    return Value.ratio(right, boundaries, "share of boundaries", _HOW)


def morpheme_f1(right: int, cuts: int, boundaries: int) -> Value:
    """The harmonic mean of precision and recall: 2 · right / (splits + boundaries).

    Unit: share, from 0 to 1. Source: as `morpheme_precision`.

    Example:
        One cut, which is right, and two boundaries: 2 · 1 / (1 + 2).

        >>> round(morpheme_f1(1, 1, 2).value, 4)
        0.6667
    """
    return Value.ratio(2 * right, cuts + boundaries, "share", _HOW)
