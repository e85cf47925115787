"""Where a curve of growing costs and shrinking gains bends."""

from __future__ import annotations

from collections.abc import Sequence

from jeton.arguments import checked_iterable
from jeton.errors import ArgumentTypeError
from jeton.record import check_number


def bend(points: Sequence[tuple[float, float]]) -> float | None:
    """Where a rising curve bends: the x after which more x gives less and less y.

    The rule is Kneedle's (Satopää, Albrecht, Irwin and Raghavan, "Finding a 'Kneedle' in a
    Haystack: Detecting Knee Points in System Behavior", 2011), without smoothing: both axes are
    scaled to 0 … 1, and the knee is where y - x is largest, that is, where the curve is highest
    above the line from its first to its last point. It depends on the range of x, too: other end
    points give another line, and may give another bend.

    Args:
        points: Pairs of x and y.

    Returns:
        The x of the bend; `None` for fewer than three different x, or for a curve that is nowhere
        above its line.

    Example:
        For y = 0, 6, 8, 9, 10 at x = 0, 1, 2, 3, 4, scaled y - x is 0, 0.35, 0.3, 0.15, 0: the
        curve bends at 1.

        >>> bend([(0, 0), (1, 6), (2, 8), (3, 9), (4, 10)])
        1
        >>> bend([(0, 0), (1, 1), (2, 2)]) is None
        True
    """
    rising = sorted(_checked_points(points).items())
    if len(rising) < 3:
        return None
    (x_first, y_first), (x_last, y_last) = rising[0], rising[-1]
    if y_last <= y_first:
        return None
    above = [
        ((y - y_first) / (y_last - y_first) - (x - x_first) / (x_last - x_first), -x)
        for x, y in rising
    ]
    height, at = max(above)
    return -at if height > 1e-9 else None


def _checked_points(points: object) -> dict[float, float]:
    checked_points: dict[float, float] = {}
    points = checked_iterable("points", points, "pairs of numbers", but=(str, bytes, dict))
    for pair in points:
        if not isinstance(pair, Sequence) or len(pair) != 2 or isinstance(pair, (str, bytes)):
            raise ArgumentTypeError(f"points must be pairs of numbers, not {pair!r:.40}")
        for number in pair:
            check_number("each number of points", number)
        checked_points[pair[0]] = pair[1]
    return checked_points
