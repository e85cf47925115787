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
    from jeton.encoding.calls.frames import Frame
    from jeton.encoding.calls.padding_arguments import Padding
    from jeton.encoding.calls.windows import RowWindows


@dataclass(frozen=True)
class _SpecialPart:
    """One special token of a frame, in all rows that have it."""

    id: int
    type_id: int
    places: npt.NDArray[np.int64]
    """Its position in each of these rows, counted over all rows."""


@dataclass(frozen=True)
class _TextPart:
    """The windows of one text of a frame, in all rows that have it."""

    number: int
    """Which text, 0 or 1."""
    side: EncodedTexts
    """The texts that it belongs to."""
    type_id: int
    places: npt.NDArray[np.int64] | slice
    """The positions of its tokens, row by row."""
    tokens: npt.NDArray[np.int64] | slice
    """The tokens at these positions, as indices into those of its side."""
    lengths: npt.NDArray[np.int64]
    """How many tokens each window has."""


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
                lengths[rows] += 1 if piece.text is None else self._window_lengths[piece.text][rows]
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
            padding, lambda special: special.id, lambda text: text.side.ids[text.tokens]
        )

    @cached_property
    def mask(self) -> npt.NDArray[np.int64]:
        """1 for a token and 0 for padding."""
        return self._column(0, lambda _: 1, lambda _: 1)

    @cached_property
    def type_ids(self) -> npt.NDArray[np.int64]:
        """The type ids."""
        padding = 0 if self.padding is None else self.padding.type_id
        return self._column(padding, lambda special: special.type_id, lambda text: text.type_id)

    @cached_property
    def special(self) -> npt.NDArray[np.int64]:
        """1 for added special tokens and padding, 0 for the tokens of texts."""
        return self._column(1, lambda _: 1, lambda _: 0)

    @cached_property
    def texts(self) -> npt.NDArray[np.int64]:
        """The text that each token belongs to, 0 or 1; -1 for special tokens and padding."""
        return self._column(-1, lambda _: -1, lambda text: text.number)

    @cached_property
    def sources(self) -> npt.NDArray[np.int64]:
        """The index of each token in its side; -1 for special tokens and padding."""
        return self._column(
            -1, lambda _: -1, lambda text: np.arange(len(text.side.ids))[text.tokens]
        )

    @cached_property
    def spans(self) -> npt.NDArray[np.int64]:
        """Where each token came from, of shape (positions, 2); (0, 0) outside of the texts."""
        spans = np.zeros((int(self.offsets[-1]), 2), np.int64)
        _, texts = self._parts
        for text in texts:
            spans[text.places] = text.side.spans(text.tokens, text.lengths)
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
        self,
        padding: int,
        of_special: Callable[[_SpecialPart], int],
        of_text: Callable[[_TextPart], int | npt.NDArray[np.integer]],
    ) -> npt.NDArray[np.int64]:
        """A column with one entry per position.

        Args:
            of_special: Returns the entry of a special token.
            of_text: Returns the entry of all tokens of a text, or an array with one per token.
        """
        column = np.full(int(self.offsets[-1]), padding, np.int64)
        specials, texts = self._parts
        for special in specials:
            column[special.places] = of_special(special)
        for text in texts:
            entries = of_text(text)
            # Most type ids equal that of padding, which is there already.
            if not isinstance(entries, int) or entries != padding:
                column[text.places] = entries
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

    @cached_property
    def _window_lengths(self) -> npt.NDArray[np.int64]:
        lengths: npt.NDArray[np.int64] = self.windows.stops - self.windows.starts
        return lengths

    @cached_property
    def _parts(self) -> tuple[list[_SpecialPart], list[_TextPart]]:
        """The positions of the special tokens of each frame, and of its texts."""
        specials: list[_SpecialPart] = []
        texts: list[_TextPart] = []
        starts = self.offsets[:-1]
        if self.padding is not None and self.padding.side == "left":
            starts = starts + self.widths - self.lengths
        for rows, frame in self._kinds:
            place = starts[rows]
            for piece in frame:
                if piece.text is None:
                    specials.append(_SpecialPart(piece.id, piece.type_id, place))
                    place = place + 1
                    continue
                side = self.sides[piece.text]
                begins = side.offsets[:-1][self.windows.sample]
                first = (begins + self.windows.starts[piece.text])[rows]
                lengths = self._window_lengths[piece.text][rows]
                texts.append(
                    _TextPart(
                        number=piece.text,
                        side=side,
                        type_id=piece.type_id,
                        places=_ranges(place, lengths),
                        tokens=_ranges(first, lengths),
                        lengths=lengths,
                    )
                )
                place = place + lengths
        return specials, texts


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
