"""Places for the names of points in a picture, so that they hide each other as little as possible.

Look here for which place beside its point a name takes.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

_WIDTH, _HEIGHT = 0.62, 1.15
"""The usual width and height of a character, as fractions of the font size."""

_PLACES = [(1, 0), (1, 1), (1, -1), (-1, 0), (-1, 1), (-1, -1), (0, 1), (0, -1)]
"""To the right, right and above, right and below, to the left, …: in the order of preference."""


def offsets(
    points: npt.NDArray[np.float64],
    labels: Sequence[str],
    size: float,
    *,
    radius: float = 2.5,
    room: tuple[float, float] = (-np.inf, np.inf),
) -> list[tuple[float, float]]:
    """For each label, the vector from its point to its lower left corner.

    Args:
        points: In typographic points (1/72 inch), of shape (labels, 2).
        labels: The texts.
        size: The font size.
        radius: The radius of a point.
        room: The left and the right end of the picture, which no label crosses if another place is
            free.

    Example:
        >>> import numpy as np
        >>> offsets(np.array([[0.0, 0.0], [9.0, 0.0]]), ["a", "b"], 8.0)  # b is right of a
        [(-8.46, -4.6), (3.5, -4.6)]
    """
    points = np.asarray(points, np.float64).reshape(-1, 2)
    boxes = np.empty((len(labels), 4))  # left, bottom, right, top
    dots = np.hstack([points - radius, points + radius])
    results: list[tuple[float, float]] = []
    for number, label in enumerate(labels):
        width, height = _WIDTH * size * max(len(label), 1), _HEIGHT * size
        best: tuple[float, tuple[float, float]] | None = None
        for preference, (right, up) in enumerate(_PLACES):
            gap = radius + 1
            dx = {1: gap, 0: -width / 2, -1: -gap - width}[right]
            dy = {1: gap / 2, 0: -height / 2, -1: -gap / 2 - height}[up]
            if right == 0:
                dy += up * gap / 2
            left, bottom = points[number] + (dx, dy)
            box = np.array([left, bottom, left + width, bottom + height])
            overlap = _overlap(box, boxes[:number]) + 2 * _overlap(box, np.delete(dots, number, 0))
            is_outside = left < room[0] or left + width > room[1]
            cost = overlap + 0.01 * preference + 1e9 * is_outside
            if best is None or cost < best[0]:
                best = cost, (dx, dy)
                boxes[number] = box
        assert best is not None
        results.append(best[1])
    return results


def _overlap(box: npt.NDArray[np.float64], others: npt.NDArray[np.float64]) -> float:
    """The area that a box shares with others."""
    low = np.maximum(box[:2], others[:, :2])
    high = np.minimum(box[2:], others[:, 2:])
    return float(np.clip(high - low, 0.0, None).prod(axis=1).sum())
