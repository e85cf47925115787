"""Rows: special tokens, windows of texts and padding, each at its position.

Look here for how a column such as `input_ids` is filled: not token by token, but by writing each
part of the frame into all rows at once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from jeton.errors import ArgumentError

if TYPE_CHECKING:
    import numpy.typing as npt

    from jeton.encoding.calls.encoded_texts import EncodedTexts
    from jeton.encoding.calls.frames import Frame, FramePart
    from jeton.encoding.calls.padding_arguments import Padding
    from jeton.encoding.calls.windows import RowWindows


@dataclass(frozen=True)
class _RowPart:
    """One part of a frame, a special token or a text, in all rows that have it."""

    of_frame: FramePart
    side: EncodedTexts | None
    """The texts that it belongs to; `None` for a special token."""
    places: npt.NDArray[np.int64] | slice
    """The positions of its tokens, row by row."""
    tokens: npt.NDArray[np.int64] | slice
    """The tokens at these positions, as indices into those of its side."""
    lengths: npt.NDArray[np.int64]
    """How many tokens it has in each row."""


@dataclass
class BatchRows:
    """The rows of a call, one after another.

    Attributes:
        sides: The first texts and the second ones.
        windows: The part of its texts that each row holds.
        frames: The special tokens around one text, and around two.
        paired: Which rows have two texts.
        padding: How rows are padded to the same length; `None` if they are not.
    """

    sides: tuple[EncodedTexts, EncodedTexts]
    windows: RowWindows
    frames: tuple[Frame | None, Frame | None]
    paired: npt.NDArray[np.bool_]
    padding: Padding | None

    def __len__(self) -> int:
        return len(self.paired)

    def __getstate__(self) -> dict[str, object]:
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @cached_property
    def lengths(self) -> npt.NDArray[np.int64]:
        """How many tokens each row has, including special ones."""
        lengths = np.zeros(len(self), np.int64)
        for rows, frame in self._kinds:
            for piece in frame:
                lengths[rows] += self._lengths_of(piece, rows)
        return lengths

    @cached_property
    def widths(self) -> npt.NDArray[np.int64]:
        """The length of each row in tokens, including padding."""
        if self.padding is None:
            return self.lengths
        longest = int(self.lengths.max()) if len(self) else 0
        width = longest if self.padding.length is None else self.padding.length
        width += -width % self.padding.multiple_of
        if width >= 2**31:
            option = "pad_to_multiple_of" if self.padding.multiple_of >= 2**31 else "max_length"
            raise ArgumentError(f"{option} must be less than 2**31, since rows have that many ids")
        return np.maximum(self.lengths, width)

    @cached_property
    def width(self) -> int | None:
        """The length of all rows in tokens; `None` if they differ."""
        widths = self.widths
        if not len(widths):
            return 0
        return int(widths[0]) if (widths == widths[0]).all() else None

    @cached_property
    def offsets(self) -> npt.NDArray[np.int64]:
        """Row `i` has the positions from `offsets[i]` up to `offsets[i + 1]`."""
        return np.concatenate([[0], np.cumsum(self.widths)])

    # Columns, one entry per position

    @cached_property
    def ids(self) -> npt.NDArray[np.int64]:
        """The ids."""
        padding = 0 if self.padding is None else self.padding.id
        return self._column(
            padding, lambda it: it.of_frame.id if it.side is None else it.side.ids[it.tokens]
        )

    @cached_property
    def mask(self) -> npt.NDArray[np.int64]:
        """1 for a token and 0 for padding."""
        return self._column(0, lambda _: 1)

    @cached_property
    def type_ids(self) -> npt.NDArray[np.int64]:
        """The type ids."""
        padding = 0 if self.padding is None else self.padding.type_id
        return self._column(padding, lambda it: it.of_frame.type_id)

    @cached_property
    def special(self) -> npt.NDArray[np.int64]:
        """1 for added special tokens and padding, 0 for the tokens of texts."""
        return self._column(1, lambda it: int(it.side is None))

    @cached_property
    def texts(self) -> npt.NDArray[np.int64]:
        """The text that each token belongs to, 0 or 1; -1 for special tokens and padding."""
        return self._column(-1, lambda it: -1 if it.of_frame.text is None else it.of_frame.text)

    @cached_property
    def sources(self) -> npt.NDArray[np.int64]:
        """The index of each token in its side; -1 for special tokens and padding."""
        return self._column(
            -1, lambda it: -1 if it.side is None else np.arange(len(it.side.ids))[it.tokens]
        )

    @cached_property
    def spans(self) -> npt.NDArray[np.int64]:
        """Where each token came from, of shape (positions, 2); (0, 0) outside of the texts."""
        spans = np.zeros((int(self.offsets[-1]), 2), np.int64)
        for part in self._parts:
            if part.side is not None:
                spans[part.places] = part.side.spans(part.tokens, part.lengths)
        return spans

    def word_ids(self, row: int) -> list[int | None]:
        """The word of its text that each token of a row belongs to."""
        start, stop = self.offsets[row : row + 2]
        texts, sources = self.texts[start:stop], self.sources[start:stop]
        sample = int(self.windows.sample[row])
        words = np.full(stop - start, -1)
        for number, side in enumerate(self.sides):
            of_text = texts == number
            if of_text.any():
                words[of_text] = side.word_ids(sample)[sources[of_text] - side.offsets[sample]]
        return [None if word < 0 else word for word in words.tolist()]

    def _column(
        self, padding: int, entries_of: Callable[[_RowPart], int | npt.NDArray[np.integer]]
    ) -> npt.NDArray[np.int64]:
        """A column with one entry per position. `entries_of`: returns the entry of all tokens of a
        part, or an array with one per token."""
        column = np.full(int(self.offsets[-1]), padding, np.int64)
        for part in self._parts:
            entries = entries_of(part)
            # Most type ids equal that of padding, which is there already.
            if not isinstance(entries, int) or entries != padding:
                column[part.places] = entries
        return column

    @cached_property
    def _kinds(self) -> list[tuple[npt.NDArray[np.int64] | slice, Frame]]:
        """The rows of one text and those of two, each with its frame."""
        single, pair = self.frames
        kinds: list[tuple[npt.NDArray[np.int64] | slice, Frame]] = []
        for is_pair, frame in ((False, single), (True, pair)):
            rows = np.flatnonzero(self.paired == is_pair)
            if frame is not None and len(rows):
                kinds.append((slice(None) if len(rows) == len(self) else rows, frame))
        return kinds

    def _lengths_of(
        self, piece: FramePart, rows: npt.NDArray[np.int64] | slice
    ) -> npt.NDArray[np.int64]:
        """How many tokens a part of a frame has in each of these rows."""
        windows = self.windows.stops - self.windows.starts
        every = np.ones(len(self), np.int64) if piece.text is None else windows[piece.text]
        lengths: npt.NDArray[np.int64] = every[rows]
        return lengths

    @cached_property
    def _parts(self) -> list[_RowPart]:
        """The positions of the special tokens of each frame, and of its texts."""
        parts: list[_RowPart] = []
        starts = self.offsets[:-1]
        if self.padding is not None and self.padding.side == "left":
            starts = starts + self.widths - self.lengths
        for rows, frame in self._kinds:
            place = starts[rows]
            for piece in frame:
                lengths = self._lengths_of(piece, rows)
                side: EncodedTexts | None = None
                tokens: npt.NDArray[np.int64] | slice = slice(0)
                if piece.text is not None:
                    side = self.sides[piece.text]
                    begins = side.offsets[:-1][self.windows.sample]
                    first = (begins + self.windows.starts[piece.text])[rows]
                    tokens = _ranges(first, lengths)
                parts.append(_RowPart(piece, side, _ranges(place, lengths), tokens, lengths))
                place = place + lengths
        return parts


def _ranges(
    starts: npt.NDArray[np.int64], lengths: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64] | slice:
    """The numbers of the ranges with these starts and lengths, one range after another.

    Example:
        >>> import numpy as np
        >>> _ranges(np.array([3, 9]), np.array([2, 3]))
        array([ 3,  4,  9, 10, 11])
    """
    ends = np.cumsum(lengths)
    shifts = starts - (ends - lengths)
    if len(shifts) and (shifts == shifts[0]).all():
        return slice(int(shifts[0]), int(shifts[0] + ends[-1]))
    numbers: npt.NDArray[np.int64] = np.arange(ends[-1] if len(ends) else 0)
    numbers += np.repeat(shifts, lengths)
    return numbers
