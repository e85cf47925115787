"""Charts as SVG, written by hand so that no library is needed: what the benchmarks draw."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

__all__ = ["logarithmic"]

_COLOURS = ("#2a78b8", "#c8553d", "#3c8d5a", "#8a5aa8")
_WIDTH, _HEIGHT, _LEFT, _TOP = 330, 230, 60, 34


def logarithmic(charts: Mapping[str, Mapping[str, Sequence[tuple[float, float]]]]) -> str:
    """Charts side by side, each with its lines of (megabytes, value), all axes in powers of ten."""
    full = _LEFT + len(charts) * (_WIDTH + 90)
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {full} 320" '
        'font-family="sans-serif" font-size="12">',
        f'<rect width="{full}" height="320" fill="white"/>',
    ]
    for number, (title, lines) in enumerate(charts.items()):
        out += _chart(title, lines, _LEFT + number * (_WIDTH + 90), _TOP)
    return "\n".join([*out, "</svg>", ""])


def _chart(
    title: str, lines: Mapping[str, Sequence[tuple[float, float]]], x0: int, y0: int
) -> list[str]:
    points = [point for line in lines.values() for point in line if min(point) > 0]
    if not points:
        return []
    xs, ys = zip(*points, strict=True)
    across = _Axis(min(xs), max(xs), x0, x0 + _WIDTH)
    up = _Axis(min(ys), max(ys), y0 + _HEIGHT, y0)
    bottom = y0 + _HEIGHT
    out = [f'<text x="{x0}" y="{y0 - 14}" font-weight="bold">{title}</text>']
    for power in across.powers():
        x = across.place(power)
        out.append(f'<path d="M{x:.1f} {y0}v{_HEIGHT}" stroke="#ddd"/>')
        out.append(f'<text x="{x:.1f}" y="{bottom + 18}" text-anchor="middle">{power:g} MB</text>')
    for power in up.powers():
        y = up.place(power)
        out.append(f'<path d="M{x0} {y:.1f}h{_WIDTH}" stroke="#ddd"/>')
        out.append(f'<text x="{x0 - 6}" y="{y + 4:.1f}" text-anchor="end">{power:g}</text>')
    for row, (name, line) in enumerate(lines.items()):
        colour = _COLOURS[row % len(_COLOURS)]
        places = [(across.place(x), up.place(y)) for x, y in line if min(x, y) > 0]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        out.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        out += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in places]
        out.append(
            f'<text x="{x0 + _WIDTH - 4}" y="{bottom - 10 - 16 * row}" '
            f'text-anchor="end" fill="{colour}">{name}</text>'
        )
    return out


class _Axis:
    """A scale of powers of ten between two places on the page."""

    def __init__(self, least: float, most: float, start: float, end: float) -> None:
        self.low = math.floor(math.log10(least))
        self.high = max(self.low + 1, math.ceil(math.log10(most)))
        self.start, self.end = start, end

    def powers(self) -> list[float]:
        """The marks."""
        return [10.0**power for power in range(self.low, self.high + 1)]

    def place(self, value: float) -> float:
        """Where a value stands."""
        share = (math.log10(value) - self.low) / (self.high - self.low)
        return self.start + share * (self.end - self.start)
