"""Charts as inline SVG: bars, lines and points, without a library or a style attribute.

Look here for scales and ticks. Colours are classes, `s0` to `s11` for series and `h0` to `h10` for
shades, so that the page's style sheet can define them for light, dark and print.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from jeton.analysis.values import Value
from jeton.display.labels import offsets
from jeton.display.notebooks import escaped

COLOURS = 12
"""The number of colours for series in the style sheet; further series reuse them."""

SERIES_STYLE = "\n".join(
    f".s{at} rect, .s{at} circle, rect.s{at} {{ fill: var(--s{at}); }} "
    f".s{at} .line {{ stroke: var(--s{at}); }} .without{at} .chart .s{at} {{ display: none; }}"
    for at in range(COLOURS)
)
"""The rules of these colours; `without3` on a page hides the series of colour 3."""

_SHADES = 10
SHADES_STYLE = "\n".join(
    f".heat{at} {{ background: var(--heat{at}); }}" for at in range(_SHADES + 1)
)
"""The rules of the shades of a heat map."""


@dataclass(frozen=True)
class Series:
    """Points of one tokenizer.

    Attributes:
        place: Which tokenizer it is, for its colour.
    """

    name: str
    place: int
    x: Sequence[float]
    y: Sequence[float]


def number(value: float | None) -> str:
    """A number for people; a dash if it was not measured.

    >>> [number(it) for it in (None, 0, 3, 12345, 4.5, 0.5, 0.01234, 1e-7, 1234.5, 99.99)]
    ['–', '0', '3', '12,345', '4.500', '0.5000', '0.0123', '1e-07', '1,234.5', '99.99']
    """
    if value is None:
        return "–"
    if value == int(value) and abs(value) < 1e15:
        return f"{int(value):,}"
    if abs(value) < 0.001:
        return f"{value:.3g}"
    places = next(places for least, places in _PLACES if abs(value) >= least)
    return f"{value:,.{places}f}"


def formatted(value: Value | float | None) -> str:
    """A value or number for people: shares in per cent, and a dash if it was not measured.

    >>> [formatted(Value(it, "share of words", "")) for it in (0.1234, 0.00007, 0, 1, None)]
    ['12.3%', '<0.1%', '0%', '100%', '–']
    """
    if not isinstance(value, Value):
        return number(value)
    if value.value is None or not value.unit.startswith("share"):
        return number(value.value)
    if value.value in (0, 1):
        return f"{value.value:.0%}"
    return f"{value.value:.1%}" if value.value >= 0.001 else "<0.1%"


_PLACES = ((100, 1), (10, 2), (1, 3), (0, 4))


def _svg(width: int, height: int, title: str, described: str, parts: Iterator[str]) -> str:
    return (
        f'<svg viewBox="0 0 {width} {height}" role="img" class="chart">'
        f"<title>{escaped(title)}</title><desc>{escaped(described)}</desc>"
        f"{''.join(parts)}</svg>"
    )


def bars(
    title: str, rows: Sequence[tuple[str, int, float | None]], most: float, marked: Collection[str]
) -> str:
    """Horizontal bars, one per tokenizer: name, colour and value.

    Args:
        rows: The name, number and value of each tokenizer; the number selects the colour.
        most: The value that fills the width.
        marked: Names that get a ⚠.
    """
    height, label, width = 20, 88, 330
    room = width - label - 52

    def parts() -> Iterator[str]:
        for at, (name, place, value) in enumerate(rows):
            top = at * height
            label_text = name if len(name) <= 11 else f"{name[:10]}…"
            label_text += " ⚠" if name in marked else ""
            yield f'<g class="s{place % COLOURS}"><title>{escaped(name)}: {number(value)}</title>'
            yield f'<text x="{label - 6}" y="{top + 14}" class="end">{escaped(label_text)}</text>'
            length = 0.0 if value is None or most <= 0 else room * max(0.0, value) / most
            yield f'<rect x="{label}" y="{top + 3}" width="{length:.1f}" height="14" rx="2"/>'
            yield f'<text x="{label + length + 5:.1f}" y="{top + 14}">{number(value)}</text></g>'

    description = "; ".join(f"{name} {number(value)}" for name, _, value in rows)
    return _svg(width, height * len(rows) + 4, title, description, parts())


_WIDTH, _HEIGHT = 640, 340
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 16, 12, 46


@dataclass(frozen=True)
class _Axis:
    """Maps numbers to positions in a picture."""

    low: float
    high: float
    is_log: bool
    start: float
    end: float

    def at(self, value: float) -> float:
        low, high, value = (self._scaled(it) for it in (self.low, self.high, value))
        share = 0.5 if high == low else (value - low) / (high - low)
        return self.start + share * (self.end - self.start)

    def _scaled(self, value: float) -> float:
        return math.log10(max(value, 1e-12)) if self.is_log else value

    def ticks(self) -> list[float]:
        if not self.is_log:
            return _round_numbers(self.low, self.high)
        first, last = math.floor(math.log10(self.low)), math.ceil(math.log10(self.high))
        step = max(1, math.ceil((last - first) / 7))
        factors = (1, 2, 5) if last - first < 3 else (1,)
        every = [factor * 10.0**at for at in range(first, last + 1, step) for factor in factors]
        inside = [tick for tick in every if self.low <= tick <= self.high]
        return inside if len(inside) > 1 else [self.low, self.high]


def _round_numbers(low: float, high: float) -> list[float]:
    """About five round numbers from `low` to `high`.

    >>> _round_numbers(0, 4.7), _round_numbers(3, 3)
    ([0.0, 1.0, 2.0, 3.0, 4.0], [3])
    """
    if high <= low:
        return [low]
    rough = (high - low) / 5
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough)
    first = math.ceil(low / step - 1e-9)
    count = math.floor(high / step + 1e-9) - first + 1
    return [round((first + at) * step, 12) for at in range(count)]


def _axes(
    series: Sequence[Series], x_log: bool, y_log: bool, from_zero: bool
) -> tuple[_Axis, _Axis] | None:
    xs = [x for one in series for x in one.x if x > 0 or not x_log]
    ys = [y for one in series for y in one.y if y > 0 or not y_log]
    if not xs or not ys:
        return None
    low = min(0.0, *ys) if from_zero and not y_log else min(ys)
    high = max(ys)
    if not y_log:
        high += (high - low) * 0.06 or 1.0
        low -= 0 if from_zero else (high - low) * 0.08
    return (
        _Axis(min(xs), max(xs), x_log, _LEFT + 6, _WIDTH - _RIGHT - 6),
        _Axis(low, high, y_log, _HEIGHT - _BOTTOM, _TOP),
    )


def _frame(x: _Axis, y: _Axis, x_unit: str, y_unit: str) -> Iterator[str]:
    bottom, right = _HEIGHT - _BOTTOM, _WIDTH - _RIGHT
    for tick in y.ticks():
        at = y.at(tick)
        yield f'<path class="grid" d="M{_LEFT} {at:.1f}H{right}"/>'
        yield f'<text x="{_LEFT - 7}" y="{at + 4:.1f}" class="end tick">{_short(tick)}</text>'
    for tick in x.ticks():
        at = x.at(tick)
        yield f'<path class="grid" d="M{at:.1f} {_TOP}V{bottom}"/>'
        yield f'<text x="{at:.1f}" y="{bottom + 17}" class="middle tick">{_short(tick)}</text>'
    middle = (_LEFT + right) / 2
    yield f'<text x="{middle}" y="{_HEIGHT - 8}" class="middle unit">{escaped(x_unit)}</text>'
    up = (_TOP + bottom) / 2
    yield (
        f'<text x="14" y="{up}" class="middle unit" transform="rotate(-90 14 {up})">'
        f"{escaped(y_unit)}</text>"
    )


def _short(value: float) -> str:
    """A number beside an axis.

    >>> [_short(it) for it in (0, 0.25, 20, 3000, 2500000, 1e9)]
    ['0', '0.25', '20', '3k', '2.5M', '1G']
    """
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if abs(value) >= size:
            return f"{value / size:.3g}{letter}"
    return f"{value:.3g}"


def lines(
    title: str,
    series: Sequence[Series],
    x_unit: str,
    y_unit: str,
    *,
    x_log: bool = False,
    y_log: bool = False,
) -> str | None:
    """A line per tokenizer; `None` without points."""
    axes = _axes(series, x_log, y_log, from_zero=True)
    if axes is None:
        return None
    x, y = axes

    def parts() -> Iterator[str]:
        yield from _frame(x, y, x_unit, y_unit)
        for one in series:
            visible_points = [
                (a, b)
                for a, b in zip(one.x, one.y, strict=True)
                if (a > 0 or not x_log) and (b > 0 or not y_log)
            ]
            path = "L".join(f"{x.at(a):.1f} {y.at(b):.1f}" for a, b in visible_points)
            if path:
                yield f'<g class="s{one.place % COLOURS}"><title>{escaped(one.name)}</title>'
                yield f'<path class="line" d="M{path}"/></g>'

    return _svg(_WIDTH, _HEIGHT, title, _summary(series, x_unit, y_unit), parts())


def points(
    title: str, series: Sequence[Series], x_unit: str, y_unit: str, marked: Collection[str] = ()
) -> str | None:
    """A point per tokenizer, with its name, `x` on a logarithmic scale; `None` without points.

    Args:
        x_unit: The label of the x axis.
        y_unit: The label of the y axis.
        marked: Names that get a ⚠.
    """
    axes = _axes(series, x_log=True, y_log=False, from_zero=False)
    if axes is None:
        return None
    x, y = axes
    labels = [one.name + (" ⚠" if one.name in marked else "") for one in series]
    marks = np.array([(x.at(one.x[0]), y.at(one.y[0])) for one in series])
    # `offsets` counts upwards.
    room = (_LEFT, _WIDTH)
    corners = marks + np.array(offsets(marks * (1, -1), labels, 12, radius=5.5, room=room)) * (
        1,
        -1,
    )

    def parts() -> Iterator[str]:
        yield from _frame(x, y, x_unit, y_unit)
        for one, label, (across, down), (left, bottom) in zip(
            series, labels, marks.tolist(), corners.tolist(), strict=True
        ):
            tooltip = f"{one.name}: {number(one.x[0])} {x_unit}, {number(one.y[0])} {y_unit}"
            yield f'<g class="s{one.place % COLOURS}"><title>{escaped(tooltip)}</title>'
            yield f'<circle cx="{across:.1f}" cy="{down:.1f}" r="5.5"/>'
            yield f'<text x="{left:.1f}" y="{bottom - 3:.1f}">{escaped(label)}</text></g>'

    return _svg(_WIDTH, _HEIGHT, title, _summary(series, x_unit, y_unit), parts())


def _summary(series: Sequence[Series], x_unit: str, y_unit: str) -> str:
    """The chart in words, for screen readers."""
    parts = []
    for one in series:
        if one.x:
            last = f"{number(one.y[-1])} at {number(one.x[-1])}"
            first = f"{number(one.y[0])} at {number(one.x[0])}"
            parts.append(f"{one.name}: {first}" + (f" to {last}" if len(one.x) > 1 else ""))
    return f"{y_unit} by {x_unit}. {'; '.join(parts)}"


def standalone(
    charts: Sequence[tuple[str, str]], style: str, key: Sequence[tuple[int, str]] = ()
) -> str:
    """Charts below each other as one file of SVG; empty without charts.

    Args:
        charts: The title of each, and the chart.
        style: A style sheet without variables, which programs for pictures do not know.
        key: The numbers and names of the series, where the chart does not write them.
    """
    parts, width, height = [], 0, 0
    for title, chart in charts:
        size = re.match(r'<svg viewBox="0 0 (\d+) (\d+)"', chart)
        assert size is not None
        own_width, own_height = map(int, size.groups())
        parts.append(f'<text x="8" y="{height + 18}" font-weight="bold">{escaped(title)}</text>')
        place = f'<svg x="0" y="{height + 26}" width="{own_width}" height="{own_height}" '
        parts.append(chart.replace("<svg ", place, 1))
        width, height = max(width, own_width), height + own_height + 34
    for number_of_series, name in key:
        parts.append(
            f'<g class="s{number_of_series % COLOURS}"><circle cx="14" cy="{height + 8}" r="5"/>'
        )
        parts.append(f'<text x="26" y="{height + 12}">{escaped(name)}</text></g>')
        height += 20
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" class="chart">'
    ground = f'<rect width="{width}" height="{height}" fill="#ffffff"/>'
    return f"{head}<style>{style}</style>{ground}{''.join(parts)}</svg>" if charts else ""


def shade(value: float, low: float, high: float, scale: Callable[[float], float]) -> int:
    """The shade of a value, from 0 at `low` to 10 at `high`.

    >>> [shade(it, 1, 100, math.log) for it in (1, 10, 100, 1000)]
    [0, 5, 10, 10]
    """
    if high <= low:
        return 0
    share = (scale(value) - scale(low)) / (scale(high) - scale(low))
    return round(_SHADES * max(0.0, min(1.0, share)))
