"""Windows: which tokens of each text a sequence holds, after truncation to a length.

Look here for how two texts share the room of a sequence (`share_room`), and for the windows that
cover the rest of a text (`windows_of`). Every step handles all samples at once, in arrays with an
entry per sample; arrays of two rows have one for the first texts and one for the second.

A text of 9 tokens in windows of 5 that overlap by a stride of 2, so each begins 5 - 2 = 3 later:

    tokens      0  1  2  3  4  5  6  7  8
    window 0    [------------]                starts 0, stops 5
    window 1             [------------]       starts 3, stops 8
    window 2                      [------]    starts 6, stops 9, where the text ends

There are 1 + ⌈(9 - 5) / 3⌉ = 3 of them. With `side="left"` they are counted from the end: 4 to 9,
1 to 6, 0 to 3.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from jeton.errors import ArgumentError

if TYPE_CHECKING:
    import numpy.typing as npt

    from jeton.encoding.calls.padding_arguments import Truncation


@dataclass(frozen=True)
class RowWindows:
    """Sequences, each with a window of the first text and of the second; one entry per sequence."""

    sample: npt.NDArray[np.int64]
    """The sample that the sequence belongs to."""
    starts: npt.NDArray[np.int64]
    """Texts × sequences: where the windows begin, in tokens of their text."""
    stops: npt.NDArray[np.int64]
    """Texts × sequences: where the windows end, in tokens of their text."""

    @classmethod
    def whole(cls, lengths: npt.NDArray[np.int64]) -> RowWindows:
        """One sequence per sample with all of its texts, whose numbers of tokens are `lengths`."""
        return cls(np.arange(lengths.shape[1]), np.zeros_like(lengths), lengths)


def share_room(
    lengths: npt.NDArray[np.int64],
    specials: npt.NDArray[np.int64],
    paired: npt.NDArray[np.bool_],
    truncation: Truncation,
) -> npt.NDArray[np.int64]:
    """How many tokens of each text a sequence may hold: texts × samples.

    Args:
        lengths: The number of tokens of the first texts, and of the second: texts × samples.
        specials: How many special tokens are around them.
        paired: Which samples have a second text.
        truncation: How texts are truncated.

    Example:
        Two texts of 9 and 4 tokens in a sequence of 10, 3 of them special: the longer text loses
        tokens until both are equally long, and keeps the odd one.

        >>> import numpy as np
        >>> from jeton.encoding.calls.padding_arguments import Truncation
        >>> lengths, specials = np.array([[9], [4]]), np.array([3])
        >>> truncation = Truncation("longest_first", 10, 0, "right")
        >>> share_room(lengths, specials, np.array([True]), truncation).tolist()
        [[4], [3]]
    """
    first, second = lengths
    room = truncation.max_length - specials
    if (room < 0).any():
        raise ArgumentError(
            f"max_length={truncation.max_length} has no room for the {int(specials.max())} special "
            "tokens around each text (give more, or add_special_tokens=False)"
        )
    excess = np.maximum(first + second - room, 0)
    if truncation.strategy == "longest_first":
        shorter = np.minimum(first, second)
        longer = np.maximum(shorter, room - shorter)
        both = shorter + longer > room
        shorter = np.where(both, room // 2, shorter)
        longer = np.where(both, room - room // 2, longer)
        is_first = first > second
        capacity = np.where([is_first, ~is_first], longer, shorter)
    else:
        text = int(truncation.strategy == "only_second")
        _check_enough(lengths, text, excess, room, paired, truncation)
        capacity = lengths.copy()
        capacity[text] -= excess
    return np.where(room == 0, 0, np.minimum(lengths, capacity))


def _check_enough(
    lengths: npt.NDArray[np.int64],
    text: int,
    excess: npt.NDArray[np.int64],
    room: npt.NDArray[np.int64],
    paired: npt.NDArray[np.bool_],
    truncation: Truncation,
) -> None:
    """Raises if the one text that is to be truncated has too few tokens to remove."""
    alone = np.where(paired, lengths[1], 0) if text else lengths[0]
    short = np.flatnonzero((excess > 0) & (alone <= excess) & (room > 0))
    if not short.size:
        return
    sample = int(short[0])
    strategy = f'truncation="{truncation.strategy}"'
    if text == 1 and not paired[sample]:
        raise ArgumentError(f"{strategy} cannot shorten sample {sample}: it has no second text")
    other = "first" if text else "second"
    raise ArgumentError(
        f"{strategy} cannot shorten sample {sample} to max_length={truncation.max_length}: its "
        f'{other} text alone has {int(lengths[1 - text][sample])} tokens (give "longest_first")'
    )


def windows_of(
    lengths: npt.NDArray[np.int64],
    room: npt.NDArray[np.int64],
    truncation: Truncation,
    *,
    overflowing: bool,
    second_first: bool,
) -> RowWindows:
    """The sequences of all samples.

    Args:
        lengths: The number of tokens of the first texts, and of the second: texts × samples.
        room: How many of them a sequence may hold: `share_room`.
        truncation: How texts are truncated.
        overflowing: Whether a sample has one sequence per window, and for a pair one per window of
            the first text and window of the second; otherwise it has its first sequence alone.
        second_first: Whether the second text comes before the first.

    Example:
        The windows drawn at the head of this file.

        >>> import numpy as np
        >>> from jeton.encoding.calls.padding_arguments import Truncation
        >>> lengths, room = np.array([[9], [0]]), np.array([[5], [0]])
        >>> for side in ("right", "left"):
        ...     windows = windows_of(
        ...         lengths,
        ...         room,
        ...         Truncation("only_first", 5, 2, side),
        ...         overflowing=True,
        ...         second_first=False,
        ...     )
        ...     print(windows.starts[0], windows.stops[0])
        [0 3 6] [5 8 9]
        [4 1 0] [9 6 3]
    """
    samples = np.arange(lengths.shape[1])
    if not overflowing:
        return _windows(samples, np.zeros_like(lengths), lengths, room, truncation)
    counts = [_count(text, lengths[text], room[text], truncation) for text in (0, 1)]
    sequences = counts[0] * counts[1]
    sample = np.repeat(samples, sequences)
    # The windows of the front text change slowest. Its window 0 comes last, except in sequence 0.
    outer, inner = counts[second_first], counts[not second_first]
    place = np.arange(len(sample)) - np.repeat(np.cumsum(sequences) - sequences, sequences)
    width, turns = inner[sample], ((outer - 1) * inner)[sample]
    later = (place > 0) & (place <= turns)
    slow = np.where(later, 1 + (place - 1) // width, 0)
    fast = np.where(later, (place - 1) % width, np.where(place > 0, place - turns, 0))
    numbers = np.stack([fast, slow] if second_first else [slow, fast])
    return _windows(sample, numbers, lengths, room, truncation)


def _count(
    text: int,
    length: npt.NDArray[np.int64],
    room: npt.NDArray[np.int64],
    truncation: Truncation,
) -> npt.NDArray[np.int64]:
    """How many windows of `room` tokens cover each text."""
    over = length > room
    stuck = np.flatnonzero(over & (room <= truncation.stride))
    if stuck.size:
        sample = int(stuck[0])
        which = ("first", "second")[text]
        if room[sample] == 0:
            raise ArgumentError(
                f"max_length={truncation.max_length} leaves no room for tokens of sample {sample}, "
                f"so no windows cover its {which} text (give a larger one)"
            )
        raise ArgumentError(
            f"stride={truncation.stride} is too large: the windows of sample {sample} hold only "
            f"{int(room[sample])} tokens of its {which} text (give a smaller stride, or a larger "
            "max_length)"
        )
    step = np.maximum(room - truncation.stride, 1)
    return np.where(over, 1 - (room - length) // step, 1)


def _windows(
    sample: npt.NDArray[np.int64],
    numbers: npt.NDArray[np.int64],
    lengths: npt.NDArray[np.int64],
    room: npt.NDArray[np.int64],
    truncation: Truncation,
) -> RowWindows:
    """The windows of these numbers: one of each text per sequence."""
    windows, wholes = room[:, sample], lengths[:, sample]
    offsets = numbers * (windows - truncation.stride)
    if truncation.side == "right":
        starts, stops = offsets, np.minimum(offsets + windows, wholes)
    else:
        stops = wholes - offsets
        starts = np.maximum(stops - windows, 0)
    return RowWindows(sample, starts, stops)
