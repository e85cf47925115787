"""The pictures of a report as files, drawn by matplotlib: SVG for documents, and PNG.

Look here for the list of pictures. The page draws its own without a library. For files matplotlib
is better: it writes both formats of a drawing, avoids overlaps, and is the tool for papers. It is
the extra `jeton[plots]`.
"""

from __future__ import annotations

import io
import os
import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

import jeton._core as _core
from jeton.analysis.evaluation import Evaluation
from jeton.analysis.report.parts import ReportedEvaluations, has, value_of
from jeton.arguments import checked_path
from jeton.display.human_readable import without_controls
from jeton.display.palette import SERIES
from jeton.errors import ArgumentError, ArgumentTypeError, UnsupportedError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["write_pictures"]

_COLOURS: Final = tuple(light for light, _ in SERIES)

_FORMATS: Final = ("svg", "png")


def write_pictures(
    evaluations: Mapping[str, Evaluation],
    folder: str | os.PathLike[str],
    formats: Iterable[str] = _FORMATS,
) -> list[str]:
    """Writes the pictures that have data; returns the names of the files."""
    kinds = _checked_formats(formats)
    target = os.path.expanduser(checked_path("folder", folder))
    try:
        import matplotlib
    except ModuleNotFoundError:
        raise UnsupportedError("pictures need matplotlib (pip install 'jeton[plots]')") from None
    report = ReportedEvaluations(evaluations)
    settings = {"svg.fonttype": "none", "svg.hashsalt": "jeton", "font.size": 9}
    pictures: list[tuple[str, bytes]] = []
    with matplotlib.rc_context(settings), warnings.catch_warnings():
        # Characters of a name that no font here has are drawn as boxes.
        warnings.filterwarnings("ignore", "Glyph .* missing from", UserWarning)
        for name, draw in _PICTURES.items():
            figure = draw(report)
            for kind in kinds if figure is not None else ():
                stamp: dict[str, Any] = {"Date": None} if kind == "svg" else {"Software": None}
                data = io.BytesIO()
                assert figure is not None
                figure.savefig(data, format=kind, dpi=200, metadata=stamp)
                pictures.append((f"{name}.{kind}", data.getvalue()))
    _core.write_into(target, pictures)
    return [name for name, _ in pictures]


def _checked_formats(formats: object) -> list[str]:
    if isinstance(formats, (str, bytes)) or not isinstance(formats, Iterable):
        raise ArgumentTypeError(
            f"formats must be an iterable of 'svg' and 'png', not {type(formats).__name__}"
        )
    names = []
    for name in formats:
        if not isinstance(name, str) or name not in _FORMATS:
            raise ArgumentError(f"formats may hold 'svg' and 'png', not {name!r:.40}")
        names.append(name)
    return sorted({*names}, reverse=True)


def _name(text: str) -> str:
    """A name that matplotlib draws as it is: not a formula, and not left out of a legend."""
    plain = without_controls(text).replace("\\", "＼").replace("$", "＄")
    plain = plain if len(plain) <= 24 else f"{plain[:23]}…"
    return f" {plain}" if plain.startswith("_") else plain


def _marked(report: ReportedEvaluations, place: int) -> str:
    """The name of a tokenizer, with a remark if it loses text."""
    return _name(report.names[place]) + (" (loses text)" if report.all[place].lossy else "")


def _room(report: ReportedEvaluations) -> float:
    """The width of the longest name in inches."""
    return 0.08 * max((len(_marked(report, at)) for at in range(len(report.all))), default=0)


def _axes(width: float, height: float, title: str) -> tuple[Figure, Axes]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    axes = figure.add_subplot()
    axes.set_title(title, loc="left", fontsize=11, color="#222222")
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color("#bbbbbb")
    axes.tick_params(colors="#555555")
    return figure, axes


def _bars(measure: str, title: str, unit: str) -> Callable[[ReportedEvaluations], Figure | None]:
    def draw(report: ReportedEvaluations) -> Figure | None:
        where = report.languages if measure == "tokens_per_line" else report.corpora
        rows = [
            [one[name][measure] if has(one, name) else None for name in where] for one in report.all
        ]
        if not any(value is not None for row in rows for value in row):
            return None
        room = 0.8 / len(rows)
        figure, axes = _axes(
            max(4.0, len(where) * (0.25 + len(rows) * 0.09)) + _room(report) + 1.5, 3.6, title
        )
        for place, row in enumerate(rows):
            axes.bar(
                [at - 0.4 + (place + 0.5) * room for at in range(len(where))],
                [value or 0.0 for value in row],
                room * 0.92,
                color=_COLOURS[place % len(_COLOURS)],
                label=_marked(report, place),
            )
        axes.set_xticks(range(len(where)), [_name(name) for name in where])
        axes.set_ylabel(unit, color="#555555")
        figure.legend(loc="outside right upper", frameon=False, fontsize=8)
        return figure

    return draw


def _premiums(report: ReportedEvaluations) -> Figure | None:
    from matplotlib.colors import LogNorm

    values = [
        [
            (one[name]["premium"] if has(one, name) else None) or float("nan")
            for name in report.languages
        ]
        for one in report.all
    ]
    numbers = [value for row in values for value in row if value == value]
    if not numbers:
        return None
    size = _room(report) + 1.0 + 0.55 * len(report.languages), 1.0 + 0.34 * len(values)
    figure, axes = _axes(*size, "How many times as many tokens the same text needs")
    norm = LogNorm(1.0, max(1.01, *numbers), clip=True)
    axes.imshow(values, cmap="YlOrRd", norm=norm, aspect="auto")
    axes.set_xticks(range(len(report.languages)), [_name(name) for name in report.languages])
    axes.set_yticks(range(len(values)), [_marked(report, place) for place in range(len(values))])
    for down, row in enumerate(values):
        for across, value in enumerate(row):
            if value == value:
                colour = "white" if norm(value) > 0.6 else "#222222"
                axes.text(across, down, f"{value:.2f}", ha="center", va="center", color=colour)
    axes.spines[:].set_visible(False)
    return figure


def _curve(
    curve: str, title: str, *, is_log: bool = False, of_all: str | None = None
) -> Callable[[ReportedEvaluations], Figure | None]:
    def draw(report: ReportedEvaluations) -> Figure | None:
        each_curve = [one.curves.get(curve) for one in report.all]
        first = next((it for it in each_curve if it is not None and it.x), None)
        if first is None:
            return None
        figure, axes = _axes(6.4, 3.8, title)
        for place, it in enumerate(each_curve):
            if it is not None and it.x:
                total = (sum(it.y) or 1) if of_all else 1
                y = [value / total for value in it.y]
                colour = _COLOURS[place % len(_COLOURS)]
                axes.plot(it.x, y, color=colour, lw=1.5, label=_name(report.names[place]))
        if is_log:
            axes.set_xscale("log")
            axes.set_yscale("log")
        axes.set_xlabel(first.x_unit, color="#555555")
        axes.set_ylabel(of_all or first.y_unit, color="#555555")
        axes.legend(frameon=False, fontsize=8)
        return figure

    return draw


def _sizes(report: ReportedEvaluations) -> Figure | None:
    from matplotlib.ticker import LogLocator, NullLocator

    each = [value_of(one, ("", "bytes_per_token")) for one in report.all]
    if not any(value is not None for value in each):
        return None
    figure, axes = _axes(6.4, 3.8, "Size and compression")
    for place, value in enumerate(each):
        if value is not None:
            at = report.all[place].vocab_size, value
            colour = _COLOURS[place % len(_COLOURS)]
            axes.scatter(*at, s=30, color=colour)
            label = _marked(report, place)
            axes.annotate(label, at, (5, 4), textcoords="offset points", color=colour, fontsize=8)
    axes.set_xscale("log")
    axes.margins(0.15)
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.xaxis.set_major_formatter(
        lambda value, _: f"{value / 1000:g}k" if value >= 1000 else f"{value:g}"
    )
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_xlabel("tokens in the vocabulary", color="#555555")
    axes.set_ylabel("bytes per token", color="#555555")
    return figure


_PICTURES: Final[dict[str, Callable[[ReportedEvaluations], Figure | None]]] = {
    "compression": _bars("bytes_per_token", "Compression by corpus", "bytes per token"),
    "languages": _bars("tokens_per_line", "Cost by language", "tokens per line"),
    "premiums": _premiums,
    "sizes": _sizes,
    "token-lengths": _curve("token_lengths", "Lengths of tokens", of_all="share of the vocabulary"),
    "rank-frequency": _curve("rank_frequency", "Rank and frequency", is_log=True),
    "types-tokens": _curve("type_token", "Types and tokens", is_log=True),
}
