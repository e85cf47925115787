"""How digits are grouped, and whether the groups of sums are aligned."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from jeton.analysis.values import Value


def grouping_of(sizes: Sequence[int]) -> str:
    """How a number is grouped whose tokens have these numbers of digits.

    `"single"`: each digit a token. `"left"`: equal groups from the left, the last shorter or equal.
    `"right"`: equal groups from the right, as thousands are written. `"mixed"`: anything else, one
    token included.

    Example:
        1|2|3|4|5, 123|45, 12|345 and 1|234|5:

        >>> [grouping_of(sizes) for sizes in ([1] * 5, [3, 2], [2, 3], [1, 3, 1])]
        ['single', 'left', 'right', 'mixed']
    """
    if len(sizes) > 1 and set(sizes) == {1}:
        return "single"
    if len(sizes) > 1 and len(set(sizes[:-1])) == 1 and sizes[-1] < sizes[0]:
        return "left"
    if len(sizes) > 1 and len(set(sizes[1:])) == 1 and sizes[0] < sizes[-1]:
        return "right"
    return "mixed"


def digit_grouping(numbers: Sequence[Sequence[int]], kind: str) -> Value:
    """The share of numbers whose digits are grouped in the way `kind`; see `grouping_of`.

    Unit: share, from 0 to 1; the four kinds add up to 1. Source: Singh and Strouse, "Tokenization
    counts: the impact of tokenization on arithmetic in frontier LLMs" (2024).

    Args:
        numbers: The digits in each token, of each number.
        kind: `"left"`, `"right"`, `"single"` or `"mixed"`.

    Example:
        12345 as 123|45, 1234567 as 123|456|7 and 54321 as 5432|1 are from the left, 13579 as 13|579
        is from the right: 3 of 4.

        >>> digit_grouping([[3, 2], [3, 3, 1], [4, 1], [2, 3]], "left").value
        0.75
    """
    matches = sum(grouping_of(sizes) == kind for sizes in numbers)
    how = "of 120 numbers of 5, 7 and 11 digits, a fixed choice"
    return Value.ratio(matches, len(numbers), "share of numbers", how)


def arithmetic_alignment(sums: Sequence[Sequence[Sequence[int]]]) -> Value:
    """The share of sums a + b = c whose tokens hold the same places of a decimal number.

    Splits are counted from the right; two numbers are aligned if they have the same splits where
    both have digits. A sum is aligned if every two of its numbers are.

    Unit: share, from 0 to 1. Source: the argument of Singh and Strouse (2024) for groups from the
    right, as a measure.

    Args:
        sums: For each sum, the digits in each token of `a`, of `b` and of `c`.

    Example:
        999 + 2 = 1001 as 999, 2, 1|001: the only split is at 3 from the right, where 999 and 2 have
        no digits left: aligned. As 100|1 the split is at 1, inside 999: not aligned.

        >>> arithmetic_alignment([[[3], [1], [1, 3]], [[3], [1], [3, 1]]]).value
        0.5
    """
    aligned = sum(
        all(_is_aligned(a, b) for a, b in itertools.combinations(numbers, 2)) for numbers in sums
    )
    how = "of 100 sums of numbers of 3 to 7 digits, a fixed choice"
    return Value.ratio(aligned, len(sums), "share of sums", how)


def _is_aligned(a: Sequence[int], b: Sequence[int]) -> bool:
    shorter = min(sum(a), sum(b))
    cuts = (
        {place for place in itertools.accumulate(reversed(sizes)) if place < shorter}
        for sizes in (a, b)
    )
    first, second = cuts
    return first == second
