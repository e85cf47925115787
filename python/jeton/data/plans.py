"""How documents are laid into rows: three methods, which see lengths only.

A plan is a list of segments in the order of rows: each a stretch of a document, in a row.

- **concatenate**: all documents one after another, cut into rows. No token is lost; a document may
  begin in one row and go on in the next. Only the last row is padded.
- **best_fit**: each row begins with a document. Of the next documents (`lookahead` of them) the
  longest that fits goes into the row, until none fits; then the shortest is cropped to what is
  left, and its rest dropped. No row is padded but one at the end. (The way of nanochat.)
- **bins**: no document is cut. The longest first, each goes into the fullest row that has room for
  it, or else begins a row (best-fit decreasing). What is left of rows is padded.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["RowPlan", "best_fit", "bins", "concatenate"]

_Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class RowPlan:
    """Which stretch of which document lies in which row."""

    rows: _Numbers
    """Row `i` has the segments from `rows[i]` up to `rows[i + 1]`."""
    documents: _Numbers
    """The document of each segment."""
    starts: _Numbers
    """With which token of its document each segment begins."""
    lengths: _Numbers
    """How many tokens each segment has; never 0."""


def concatenate(lengths: _Numbers, row: int) -> RowPlan:
    """Documents one after another, cut at every `row` tokens.

    Example:
        >>> import numpy as np
        >>> from jeton.data import plans
        >>> plan = plans.concatenate(np.array([3, 4]), 5)
        >>> plan.rows.tolist(), plan.documents.tolist(), plan.lengths.tolist()
        ([0, 2, 3], [0, 1, 1], [3, 2, 2])
    """
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if len(ends) else 0
    cuts = np.unique(np.concatenate((ends, np.arange(0, total, row), [0, total])))
    starts = cuts[:-1]
    documents = np.searchsorted(ends, starts, side="right")
    count = -(-total // row)
    return RowPlan(
        np.searchsorted(starts, np.arange(count + 1) * row),
        documents,
        starts - (ends - lengths)[documents],
        np.diff(cuts),
    )


def best_fit(lengths: _Numbers, row: int, lookahead: int) -> RowPlan:
    """Rows that begin with a document; the last document of a row may be cropped.

    Example:
        >>> import numpy as np
        >>> from jeton.data import plans
        >>> plan = plans.best_fit(np.array([3, 4, 6, 2]), 8, lookahead=3)
        >>> plan.rows.tolist(), plan.documents.tolist(), plan.lengths.tolist()
        ([0, 2, 4], [2, 3, 1, 0], [6, 2, 4, 3])
    """
    laid = _Laid()
    waiting: list[tuple[int, int]] = []
    coming = iter(np.flatnonzero(lengths).tolist())
    sizes = lengths.tolist()
    left = row
    while True:
        while len(waiting) < lookahead and (number := next(coming, None)) is not None:
            # The first of several of one length is the last of them here.
            insort(waiting, (sizes[number], -number))
        if not waiting:
            return laid.plan(ended=left < row)
        at = bisect_right(waiting, (left, 1)) - 1
        size, number = waiting.pop(max(at, 0))
        laid.add(-number, min(size, left))
        left -= min(size, left)
        if left == 0:
            laid.end_row()
            left = row


def bins(lengths: _Numbers, row: int) -> RowPlan:
    """Rows of whole documents, none of which may be longer than a row.

    Example:
        >>> import numpy as np
        >>> from jeton.data import plans
        >>> plan = plans.bins(np.array([3, 5, 4, 2]), 8)
        >>> plan.rows.tolist(), plan.documents.tolist(), plan.lengths.tolist()
        ([0, 2, 4], [1, 0, 2, 3], [5, 3, 4, 2])
    """
    order = np.argsort(-lengths, kind="stable")
    rows: list[list[int]] = []
    #: The rows that have so much room, and which room there is at all, as bits of one number.
    by_room: dict[int, list[int]] = {}
    rooms = 0
    for number in order[: np.count_nonzero(lengths)].tolist():
        size = int(lengths[number])
        fitting = rooms >> size
        if fitting:
            room = size + (fitting & -fitting).bit_length() - 1
            at = by_room[room].pop()
            if not by_room[room]:
                rooms ^= 1 << room
            rows[at].append(number)
        else:
            at, room = len(rows), row
            rows.append([number])
        if room > size:
            by_room.setdefault(room - size, []).append(at)
            rooms |= 1 << (room - size)
    documents = np.array([number for found in rows for number in found], np.int64)
    return RowPlan(
        np.concatenate(([0], np.cumsum([len(found) for found in rows], dtype=np.int64))),
        documents,
        np.zeros(len(documents), np.int64),
        lengths[documents],
    )


class _Laid:
    """Segments that each begin a document, as they are laid into rows."""

    def __init__(self) -> None:
        self._rows: list[int] = [0]
        self._documents: list[int] = []
        self._lengths: list[int] = []

    def add(self, document: int, length: int) -> None:
        self._documents.append(document)
        self._lengths.append(length)

    def end_row(self) -> None:
        self._rows.append(len(self._documents))

    def plan(self, *, ended: bool) -> RowPlan:
        if ended:
            self.end_row()
        documents = np.array(self._documents, np.int64)
        return RowPlan(
            np.array(self._rows, np.int64),
            documents,
            np.zeros(len(documents), np.int64),
            np.array(self._lengths, np.int64),
        )
