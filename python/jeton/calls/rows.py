"""Rows: special tokens, windows of texts and padding, put where they belong.

Look here for how a column such as `input_ids` comes about: without a step for each token, by
writing each piece of the frame into all rows at once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from jeton.errors import ArgumentError

if TYPE_CHECKING:
    import numpy.typing as npt

    from jeton.calls.encoded_texts import EncodedTexts
    from jeton.calls.frames import Frame, Piece
    from jeton.calls.front_spaces import FrontSpaces
    from jeton.calls.padding_and_truncation import Padding
    from jeton.calls.windows import Windows

__all__ = ["Rows"]


@dataclass(frozen=True)
class _Part:
    """Where one piece of a frame goes, in all rows that have it."""

    piece: Piece
    places: npt.NDArray[np.int64] | slice
    """Places in all rows, one row after another."""
    source: npt.NDArray[np.int64] | slice
    """The tokens that go there: places in the ids of a side."""
    begins: npt.NDArray[np.int64]
    """Where the piece begins in each row that has it."""
    first: npt.NDArray[np.int64]
    """The first token of each window."""
    lengths: npt.NDArray[np.int64]


@dataclass
class Rows:
    """The rows of a call, one after another.

    Attributes:
        sides: The first texts and the second ones.
        windows: What each row holds of them.
        frames: What stands around one text, and around two.
        paired: Which rows have two.
        padding: How rows are made equally long, if they are.
        front_spaces: Set where spans leave spaces out, but for one at the front of each window.
    """

    sides: tuple[EncodedTexts, EncodedTexts]
    windows: Windows
    frames: tuple[Frame | None, Frame | None]
    paired: npt.NDArray[np.bool_]
    padding: Padding | None
    front_spaces: FrontSpaces | None

    def __len__(self) -> int:
        return len(self.paired)

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @cached_property
    def lengths(self) -> npt.NDArray[np.int64]:
        """How many tokens each row has, special ones among them."""
        lengths = np.zeros(len(self), np.int64)
        for rows, frame in self._kinds:
            for piece in frame:
                lengths[rows] += 1 if piece.text is None else self._window_lengths[piece.text][rows]
        return lengths

    @cached_property
    def widths(self) -> npt.NDArray[np.int64]:
        """How long each row is, padding included."""
        if self.padding is None:
            return self.lengths
        longest = int(self.lengths.max()) if len(self) else 0
        width = longest if self.padding.length is None else self.padding.length
        width += -width % self.padding.multiple_of
        if width >= 2**31:
            asked = "pad_to_multiple_of" if self.padding.multiple_of >= 2**31 else "max_length"
            raise ArgumentError(f"{asked} must be less than 2**31: a row has that many ids")
        return np.maximum(self.lengths, width)

    @cached_property
    def width(self) -> int | None:
        """How long all rows are; `None` where they are not equally long."""
        widths = self.widths
        if not len(widths):
            return 0
        return int(widths[0]) if (widths == widths[0]).all() else None

    @cached_property
    def offsets(self) -> npt.NDArray[np.int64]:
        """Row `i` has the places from `offsets[i]` up to `offsets[i + 1]`."""
        return np.concatenate([[0], np.cumsum(self.widths)])

    # Columns, one entry a place

    @cached_property
    def ids(self) -> npt.NDArray[np.int64]:
        """The ids."""
        padding = 0 if self.padding is None else self.padding.id
        return self._column(padding, lambda piece: piece.id, lambda side: side.ids)

    @cached_property
    def mask(self) -> npt.NDArray[np.int64]:
        """1 for a token and 0 for padding."""
        return self._column(0, lambda _: 1, None)

    @cached_property
    def type_ids(self) -> npt.NDArray[np.int64]:
        """The type ids."""
        padding = 0 if self.padding is None else self.padding.type_id
        return self._column(padding, lambda piece: piece.type_id, None)

    @cached_property
    def special(self) -> npt.NDArray[np.int64]:
        """1 for what is not a token of a text: special tokens that were added, and padding."""
        return self._column(1, lambda piece: int(piece.text is None), None)

    @cached_property
    def texts(self) -> npt.NDArray[np.int64]:
        """Which text each token is of, 0 or 1; -1 for what is of none."""
        return self._column(-1, lambda piece: -1 if piece.text is None else piece.text, None)

    @cached_property
    def sources(self) -> npt.NDArray[np.int64]:
        """Which token of its side each is; -1 for what is of no text."""
        return self._column(-1, lambda _: -1, lambda side: np.arange(len(side.ids)))

    @cached_property
    def spans(self) -> npt.NDArray[np.int64]:
        """Where each token came from, of shape (places, 2); 0 and 0 for what is of no text."""
        spans = np.zeros((int(self.offsets[-1]), 2), np.int64)
        for part in self._parts:
            if part.piece.text is None:
                continue
            side = self.sides[part.piece.text]
            if self.front_spaces is None:
                spans[part.places] = side.spans[part.source]
            else:
                spans[part.places] = side.joined_spans(self.front_spaces)[part.source]
                self._show_first(spans, part, side)
        return spans

    def _show_first(self, spans: npt.NDArray[np.int64], part: _Part, side: EncodedTexts) -> None:
        """Puts the space at the front of the first token of each window into its span."""
        assert self.front_spaces is not None
        filled = part.lengths > 0
        first, places = part.first[filled], part.begins[filled]
        begins = side.begins_text(first)
        spans[places[begins]] = side.spans[first[begins]]
        first, places = first[~begins], places[~begins]
        spans[places] = self.front_spaces.shown(side.ids[first], side.spans[first])

    def word_ids(self, row: int) -> list[int | None]:
        """Which word of its text each token of a row belongs to."""
        start, stop = self.offsets[row : row + 2]
        texts, sources = self.texts[start:stop], self.sources[start:stop]
        sample = int(self.windows.sample[row])
        words = np.full(stop - start, -1)
        for number, side in enumerate(self.sides):
            of_text = texts == number
            if of_text.any():
                words[of_text] = side.word_ids(sample)[sources[of_text] - side.offsets[sample]]
        return [None if word < 0 else word for word in words.tolist()]

    # How a column is filled

    def _column(
        self,
        padding: int,
        of_piece: Callable[[Piece], int],
        of_side: Callable[[EncodedTexts], npt.NDArray[Any]] | None,
    ) -> npt.NDArray[np.int64]:
        """One entry a place: of padding, of each piece, or of each token of a text."""
        column = np.full(int(self.offsets[-1]), padding, np.int64)
        for part in self._parts:
            if part.piece.text is not None and of_side is not None:
                column[part.places] = of_side(self.sides[part.piece.text])[part.source]
            elif (value := of_piece(part.piece)) != padding:
                column[part.places] = value
        return column

    @cached_property
    def _kinds(self) -> list[tuple[npt.NDArray[np.int64] | slice, Frame]]:
        """The rows of one text and those of two, with what stands around."""
        single, pair = self.frames
        kinds: list[tuple[npt.NDArray[np.int64] | slice, Frame]] = []
        for is_pair, frame in ((False, single), (True, pair)):
            rows = np.flatnonzero(self.paired == is_pair)
            if frame is not None and len(rows):
                kinds.append((slice(None) if len(rows) == len(self) else rows, frame))
        return kinds

    @cached_property
    def _window_lengths(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        starts, stops = self.windows.starts, self.windows.stops
        return stops[0] - starts[0], stops[1] - starts[1]

    @cached_property
    def _parts(self) -> list[_Part]:
        """Where each piece of a frame goes."""
        starts = self.offsets[:-1]
        if self.padding is not None and self.padding.side == "left":
            starts = starts + self.widths - self.lengths
        parts = []
        for rows, frame in self._kinds:
            place = starts[rows].copy()
            for piece in frame:
                if piece.text is None:
                    one = np.ones(len(place), np.int64)
                    parts.append(_Part(piece, place.copy(), slice(0), place.copy(), place[:0], one))
                    place += 1
                    continue
                side = self.sides[piece.text]
                lengths = self._window_lengths[piece.text][rows]
                first = side.offsets[:-1][self.windows.sample] + self.windows.starts[piece.text]
                first = first[rows]
                parts.append(
                    _Part(
                        piece,
                        _ranges(place, lengths),
                        _ranges(first, lengths),
                        place.copy(),
                        first,
                        lengths,
                    )
                )
                place += lengths
        return parts


def _ranges(
    starts: npt.NDArray[np.int64], lengths: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64] | slice:
    """The numbers of ranges of these starts and lengths, one range after another.

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
