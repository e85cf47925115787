"""Windows: which tokens of each text a sequence holds, after truncation to a length.

Look here for how two texts share the room of a sequence (`share_room`), and for the windows that
cover the rest of a text (`windows_of`). Every step handles all samples at once, in arrays with an
entry per sample.

A text of 9 tokens in windows of 5 that overlap by a stride of 2, so each begins 5 - 2 = 3 later:

    tokens      0  1  2  3  4  5  6  7  8
    window 0    [------------]                starts 0, stops 5
    window 1             [------------]       starts 3, stops 8
    window 2                      [------]    starts 6, stops 9, where the text ends

There are 1 + ⌈(9 - 5) / 3⌉ = 3 of them. With `side="left"` they are counted from the end: 4 to 9,
1 to 6, 0 to 3.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from jeton.errors import ArgumentError

if TYPE_CHECKING:
    import numpy.typing as npt

    from jeton.encoding.calls.padding_arguments import Truncation


@dataclass(frozen=True)
class PerText:
    """An array for the first texts and one for the second; an entry per sample or per sequence."""

    first: npt.NDArray[np.int64]
    second: npt.NDArray[np.int64]

    def __getitem__(self, text: int) -> npt.NDArray[np.int64]:
        return self.second if text else self.first

    def each(self, function: Callable[[int], npt.NDArray[np.int64]]) -> PerText:
        """What a function returns for text 0 and for text 1."""
        return PerText(function(0), function(1))


@dataclass(frozen=True)
class RowWindows:
    """Sequences, each with a window of the first text and of the second; one entry per sequence."""

    sample: npt.NDArray[np.int64]
    """The sample that the sequence belongs to."""
    starts: PerText
    """Where the windows begin, in tokens of their text."""
    stops: PerText
    """Where the windows end, in tokens of their text."""

    @classmethod
    def whole(cls, lengths: PerText) -> RowWindows:
        """One sequence per sample with all of its texts, whose numbers of tokens are `lengths`."""
        samples = np.arange(len(lengths.first))
        starts = np.zeros_like(samples)
        return cls(samples, PerText(starts, starts), lengths)


def share_room(
    lengths: PerText,
    specials: npt.NDArray[np.int64],
    paired: npt.NDArray[np.bool_],
    truncation: Truncation,
) -> PerText:
    """How many tokens of each text a sequence may hold.

    Args:
        lengths: The number of tokens of the first texts, and of the second.
        specials: How many special tokens are around them.
        paired: Which samples have a second text.
        truncation: How texts are truncated.

    Example:
        Two texts of 9 and 4 tokens in a sequence of 10, 3 of them special: the longer text loses
        tokens until both are equally long, and keeps the odd one.

        >>> import numpy as np
        >>> from jeton.encoding.calls.padding_arguments import Truncation
        >>> lengths, specials = PerText(np.array([9]), np.array([4])), np.array([3])
        >>> truncation = Truncation("longest_first", 10, 0, "right")
        >>> share_room(lengths, specials, np.array([True]), truncation)
        PerText(first=array([4]), second=array([3]))
    """
    first, second = lengths.first, lengths.second
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
        capacity = PerText(np.where(is_first, longer, shorter), np.where(is_first, shorter, longer))
    else:
        text = int(truncation.strategy == "only_second")
        _check_enough(lengths, text, excess, room, paired, truncation)
        rest = lengths[text] - excess
        capacity = PerText(first, rest) if text else PerText(rest, second)
    fits, nothing = excess == 0, room == 0
    return lengths.each(
        lambda text: np.where(
            fits,
            lengths[text],
            np.where(nothing, 0, np.minimum(lengths[text], capacity[text])),
        )
    )


def _check_enough(
    lengths: PerText,
    text: int,
    excess: npt.NDArray[np.int64],
    room: npt.NDArray[np.int64],
    paired: npt.NDArray[np.bool_],
    truncation: Truncation,
) -> None:
    """Raises if the one text that is to be truncated has too few tokens to remove."""
    alone = np.where(paired, lengths.second, 0) if text else lengths.first
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
    lengths: PerText,
    room: PerText,
    truncation: Truncation,
    *,
    overflowing: bool,
    second_first: bool,
) -> RowWindows:
    """The sequences of all samples.

    Args:
        lengths: The number of tokens of the first texts, and of the second.
        room: How many of them a sequence may hold: `share_room`.
        truncation: How texts are truncated.
        overflowing: Whether a sample has one sequence per window, and for a pair one per window of
            the first text and window of the second; otherwise it has its first sequence alone.
        second_first: Whether the second text comes before the first.

    Example:
        The windows drawn at the head of this file.

        >>> import numpy as np
        >>> from jeton.encoding.calls.padding_arguments import Truncation
        >>> lengths, room = (PerText(np.array([n]), np.array([0])) for n in (9, 5))
        >>> for side in ("right", "left"):
        ...     windows = windows_of(
        ...         lengths,
        ...         room,
        ...         Truncation("only_first", 5, 2, side),
        ...         overflowing=True,
        ...         second_first=False,
        ...     )
        ...     print(windows.starts.first, windows.stops.first)
        [0 3 6] [5 8 9]
        [4 1 0] [9 6 3]
    """
    samples = np.arange(len(lengths.first))
    if not overflowing:
        none = np.zeros_like(samples)
        return _windows(samples, PerText(none, none), lengths, room, truncation)
    counts = lengths.each(lambda text: _count(text, lengths[text], room[text], truncation))
    sequences = counts.first * counts.second
    sample = np.repeat(samples, sequences)
    # The windows of the front text change slowest. Its window 0 comes last, except in sequence 0.
    outer, inner = counts[second_first], counts[not second_first]
    place = np.arange(len(sample)) - np.repeat(np.cumsum(sequences) - sequences, sequences)
    width, turns = inner[sample], ((outer - 1) * inner)[sample]
    later = (place > 0) & (place <= turns)
    slow = np.where(later, 1 + (place - 1) // width, 0)
    fast = np.where(later, (place - 1) % width, np.where(place > 0, place - turns, 0))
    numbers = PerText(fast, slow) if second_first else PerText(slow, fast)
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
    numbers: PerText,
    lengths: PerText,
    room: PerText,
    truncation: Truncation,
) -> RowWindows:
    """The windows of these numbers: one of each text per sequence."""
    windows = lengths.each(lambda text: room[text][sample])
    offsets = lengths.each(lambda text: numbers[text] * (windows[text] - truncation.stride))
    wholes = lengths.each(lambda text: lengths[text][sample])
    if truncation.side == "right":
        starts = offsets
        stops = starts.each(lambda text: np.minimum(starts[text] + windows[text], wholes[text]))
    else:
        stops = wholes.each(lambda text: wholes[text] - offsets[text])
        starts = stops.each(lambda text: np.maximum(stops[text] - windows[text], 0))
    return RowWindows(sample, starts, stops)
