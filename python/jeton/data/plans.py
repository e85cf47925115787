"""How documents are packed into rows: methods that need only the lengths.

A plan is a list of segments in the order of rows. Each segment is a part of a document, in a row.

- **concatenate**: all documents follow one another and are split into rows. No token is lost; a
  document may begin in one row and continue in the next. Only the last row is padded.
- **bins**: no document is split. From the longest to the shortest, each goes into the fullest row
  with room for it, or begins a new row (best-fit decreasing). The rest of each row is padded.
- **pieces**: as bins, but documents longer than a row are split into rows and a rest. (TRL does
  this and calls it `bfd_split`.)
- **best_fit_crop**: each row begins with a document. Of the next `lookahead` documents, the longest
  that fits goes into the row, until none fits; then the shortest is cropped to fill the row, and
  its rest lost, of which `pack` warns. Only one row at the end is padded. (nanochat does this.)
"""

from __future__ import annotations

from bisect import bisect_right, insort
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

_Numbers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class RowPlan:
    """Which part of which document is in which row."""

    rows: _Numbers
    """Row `i` has the segments from `rows[i]` up to `rows[i + 1]`."""
    documents: _Numbers
    """The document of each segment."""
    starts: _Numbers
    """The first token of each segment in its document."""
    lengths: _Numbers
    """The number of tokens of each segment; never 0."""


def concatenate(lengths: _Numbers, row: int) -> RowPlan:
    """Documents one after another, split after every `row` tokens.

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


def best_fit_crop(lengths: _Numbers, row: int, lookahead: int) -> RowPlan:
    """Rows that begin with a document; the last document of a row may be cropped.

    Example:
        >>> import numpy as np
        >>> from jeton.data import plans
        >>> plan = plans.best_fit_crop(np.array([3, 4, 6, 2]), 8, lookahead=3)
        >>> plan.rows.tolist(), plan.documents.tolist(), plan.lengths.tolist()
        ([0, 2, 4], [2, 3, 1, 0], [6, 2, 4, 3])
    """
    rows, documents, parts = [0], list[int](), list[int]()
    waiting: list[tuple[int, int]] = []
    coming = iter(np.flatnonzero(lengths).tolist())
    sizes = lengths.tolist()
    room = row
    while True:
        while len(waiting) < lookahead and (number := next(coming, None)) is not None:
            # Negated, so that of equal lengths the first document sorts last.
            insort(waiting, (sizes[number], -number))
        if not waiting:
            break
        at = bisect_right(waiting, (room, 1)) - 1
        size, number = waiting.pop(max(at, 0))
        documents.append(-number)
        parts.append(min(size, room))
        room -= parts[-1]
        if room == 0:
            rows.append(len(documents))
            room = row
    if room < row:
        rows.append(len(documents))
    starts = np.zeros(len(documents), np.int64)
    return RowPlan(np.array(rows), np.array(documents, np.int64), starts, np.array(parts, np.int64))


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
    #: The rows by the room that they have; the bits of `rooms` are the keys.
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
    documents = np.array([number for members in rows for number in members], np.int64)
    return RowPlan(
        np.concatenate(([0], np.cumsum([len(members) for members in rows], dtype=np.int64))),
        documents,
        np.zeros(len(documents), np.int64),
        lengths[documents],
    )


def pieces(lengths: _Numbers, row: int) -> RowPlan:
    """Rows as `bins`, of documents of any length: those longer than a row are split into pieces, of
    which all but the last fill a row.

    Example:
        >>> import numpy as np
        >>> from jeton.data import plans
        >>> plan = plans.pieces(np.array([11, 5, 4]), 8)
        >>> plan.rows.tolist(), plan.documents.tolist(), plan.starts.tolist()
        ([0, 1, 3, 4], [0, 1, 0, 2], [0, 0, 8, 0])
    """
    counts = -(-lengths // row)
    documents = np.repeat(np.arange(len(lengths)), counts)
    firsts = np.cumsum(counts) - counts
    starts = (np.arange(len(documents)) - firsts[documents]) * row
    plan = bins(np.minimum(lengths[documents] - starts, row), row)
    return RowPlan(plan.rows, documents[plan.documents], starts[plan.documents], plan.lengths)
