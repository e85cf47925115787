"""Windows: which tokens of each text a row holds, once texts are cut to a length.

Look here for how two texts share the room of a row, and for the windows that cover what was cut.
All is done for all samples at once, in arrays with one entry a sample.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from jeton.errors import ArgumentError

if TYPE_CHECKING:
    import numpy.typing as npt

    from jeton.encoding.calls.padding_and_truncation import Truncation

__all__ = ["RowWindows", "cut", "share_room"]


@dataclass(frozen=True)
class RowWindows:
    """Rows, each with a window of the first text and of the second; one entry a row."""

    sample: npt.NDArray[np.int64]
    """Which sample the row is of."""
    starts: tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]
    """Where the window of the first text begins, and of the second: tokens of that text."""
    stops: tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]
    """Where they end."""

    @classmethod
    def whole(cls, lengths: tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]) -> RowWindows:
        """A row for each sample, with the whole of its texts, which have so many tokens."""
        samples = np.arange(len(lengths[0]))
        starts = np.zeros_like(samples)
        return cls(samples, (starts, starts), lengths)


def share_room(
    lengths: tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]],
    added: npt.NDArray[np.int64],
    paired: npt.NDArray[np.bool_],
    truncation: Truncation,
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """How many tokens of each text a row may hold.

    Args:
        lengths: The number of tokens of the first texts, and of the second.
        added: How many special tokens stand around them.
        paired: Which samples have a second text.
        truncation: How texts are cut.

    Raises:
        ArgumentError: There is no room for the special tokens, or a text cannot be cut so far.

    Example:
        Two texts of 9 and 4 tokens in a row of 10: the longer is cut until both are equally long.

        >>> import numpy as np
        >>> from jeton.encoding.calls.padding_and_truncation import Truncation
        >>> lengths, added = (np.array([9]), np.array([4])), np.array([3])
        >>> one, other = share_room(
        ...     lengths, added, np.array([True]), Truncation("longest_first", 10, 0, "right")
        ... )
        >>> int(one[0]), int(other[0])
        (4, 3)
    """
    first, second = lengths
    room = truncation.max_length - added
    if (room < 0).any():
        raise ArgumentError(
            f"max_length={truncation.max_length} has no room for the {int(added.max())} special "
            "tokens around each text (or give add_special_tokens=False)"
        )
    excess = np.maximum(first + second - room, 0)
    if truncation.strategy == "longest_first":
        shorter = np.minimum(first, second)
        longer = np.maximum(shorter, room - shorter)
        both = shorter + longer > room
        shorter = np.where(both, room // 2, shorter)
        longer = np.where(both, room - room // 2, longer)
        is_first = first > second
        kept = np.where(is_first, longer, shorter), np.where(is_first, shorter, longer)
    else:
        number = int(truncation.strategy == "only_second")
        _check_enough(lengths, number, excess, room, paired, truncation)
        rest = lengths[number] - excess
        kept = (rest, second) if number == 0 else (first, rest)
    fits, nothing = excess == 0, room == 0
    one, other = (
        np.where(fits, length, np.where(nothing, 0, np.minimum(length, most)))
        for length, most in zip(lengths, kept, strict=True)
    )
    return one, other


def _check_enough(
    lengths: tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]],
    number: int,
    excess: npt.NDArray[np.int64],
    room: npt.NDArray[np.int64],
    paired: npt.NDArray[np.bool_],
    truncation: Truncation,
) -> None:
    """Refuses to cut a text alone that has fewer tokens than are too many."""
    alone = lengths[number] if number == 0 else np.where(paired, lengths[number], 0)
    short = np.flatnonzero((excess > 0) & (alone <= excess) & (room > 0))
    if not short.size:
        return
    sample = int(short[0])
    strategy = f'truncation="{truncation.strategy}"'
    if number == 1 and not paired[sample]:
        raise ArgumentError(f"{strategy} cannot cut sample {sample}: it has no second text")
    other = "second" if number == 0 else "first"
    raise ArgumentError(
        f"{strategy} cannot cut sample {sample} to max_length={truncation.max_length}: its {other} "
        f'text alone has {int(lengths[1 - number][sample])} tokens (give "longest_first")'
    )


def cut(
    lengths: tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]],
    kept: tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]],
    truncation: Truncation,
    *,
    overflowing: bool,
    second_first: bool,
) -> RowWindows:
    """The rows of all samples.

    Args:
        lengths: The number of tokens of the first texts, and of the second.
        kept: How many of them a row may hold.
        truncation: How texts are cut.
        overflowing: Whether a sample has a row for each of its windows, and of two texts one for
            each window of the first with each of the second, or its first row alone.
        second_first: Whether the second text stands before the first.

    Raises:
        ArgumentError: Windows that would not come to an end.
    """
    samples = np.arange(len(lengths[0]))
    if not overflowing:
        return _windows(samples, (np.zeros_like(samples),) * 2, lengths, kept, truncation)
    counts = tuple(
        _count(number, length, most, truncation)
        for number, (length, most) in enumerate(zip(lengths, kept, strict=True))
    )
    rows = counts[0] * counts[1]
    sample = np.repeat(samples, rows)
    # The text that stands in front turns slowest, and its first window comes last but for row 0.
    outer, inner = reversed(counts) if second_first else counts
    place = np.arange(len(sample)) - np.repeat(np.cumsum(rows) - rows, rows)
    width, turns = inner[sample], ((outer - 1) * inner)[sample]
    later = (place > 0) & (place <= turns)
    slow = np.where(later, 1 + (place - 1) // width, 0)
    fast = np.where(later, (place - 1) % width, np.where(place > 0, place - turns, 0))
    number = (fast, slow) if second_first else (slow, fast)
    return _windows(sample, number, lengths, kept, truncation)


def _count(
    number: int,
    length: npt.NDArray[np.int64],
    most: npt.NDArray[np.int64],
    truncation: Truncation,
) -> npt.NDArray[np.int64]:
    """How many windows of `most` tokens cover each text."""
    over = length > most
    stuck = np.flatnonzero(over & (most <= truncation.stride))
    if stuck.size:
        sample = int(stuck[0])
        text = ("first", "second")[number]
        if most[sample] == 0:
            raise ArgumentError(
                f"max_length={truncation.max_length} leaves no room for tokens of sample {sample}, "
                f"so no windows cover its {text} text (give a larger one)"
            )
        raise ArgumentError(
            f"stride={truncation.stride} is too large: the windows of sample {sample} hold only "
            f"{int(most[sample])} tokens of its {text} text (give a smaller stride, or a larger "
            "max_length)"
        )
    step = np.maximum(most - truncation.stride, 1)
    return np.where(over, 1 - (most - length) // step, 1)


def _windows(
    sample: npt.NDArray[np.int64],
    numbers: tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]],
    lengths: tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]],
    kept: tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]],
    truncation: Truncation,
) -> RowWindows:
    """The windows of these numbers: of each text, one a row."""
    starts, stops = [], []
    for number, length, most in zip(numbers, lengths, kept, strict=True):
        whole, window = length[sample], most[sample]
        skipped = number * (window - truncation.stride)
        if truncation.side == "right":
            start = skipped
            stop = np.minimum(start + window, whole)
        else:
            stop = whole - skipped
            start = np.maximum(stop - window, 0)
        starts.append(start)
        stops.append(stop)
    return RowWindows(sample, (starts[0], starts[1]), (stops[0], stops[1]))
