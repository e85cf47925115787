"""The pictures of a report, for the page and as files.

Look here for which curves are drawn, and in which units. `svg_charts.py` draws them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib.resources import files
from typing import Final

import jeton._core as _core
from jeton.analysis.evaluation import Evaluations, names_of_corpora, names_of_languages
from jeton.analysis.known_measures import MEASURES
from jeton.analysis.report.summary import value_of
from jeton.analysis.report.svg_charts import SERIES_STYLE, Series, bars, lines, points, standalone
from jeton.analysis.swept import Sweep
from jeton.arguments import checked_path
from jeton.display import palette
from jeton.display.human_readable import without_controls


@dataclass(frozen=True)
class Chart:
    """A drawn chart."""

    file: str
    title: str
    caption: str
    svg: str


def write_pictures(evaluations: Evaluations, folder: str | os.PathLike[str]) -> list[str]:
    """Writes the pictures that have data as SVG; returns the names of the files."""
    target = os.path.expanduser(checked_path("folder", folder))
    style, key = _style(), list(enumerate(evaluations))
    pictures = {
        file: standalone(bar_panels(evaluations, measure, where), style)
        for file, measure, where in (
            ("compression", "bytes_per_token", names_of_corpora(evaluations)),
            ("languages", "tokens_per_line", names_of_languages(evaluations)),
            ("premiums", "premium", names_of_languages(evaluations)),
        )
    } | {it.file: standalone([(it.title, it.svg)], style, key) for it in curve_charts(evaluations)}
    written = [(f"{file}.svg", svg.encode()) for file, svg in pictures.items() if svg]
    _core.write_into(target, written)
    return [name for name, _ in written]


def _style() -> str:
    """The rules of the page for charts, with the light colours themselves: a file has no theme."""
    light = {**palette.LIGHT, **{f"s{at}": it for at, (it, _) in enumerate(palette.SERIES)}}
    sheet = files(__package__).joinpath("report.css").read_text(encoding="utf-8")
    of_charts = [line for line in sheet.splitlines() if line.startswith(".chart")]
    rules = "\n".join([*of_charts, SERIES_STYLE])
    return re.sub(r"var\(--([\w-]+)\)", lambda name: light[name[1]], rules)


def bar_panels(
    evaluations: Evaluations, measure: str, where: Iterable[str]
) -> list[tuple[str, str]]:
    """Bars for each corpus or language by its name; none without values."""
    rows = {
        name: [
            (label, place, one[name][measure] if name in one else None)
            for place, (label, one) in enumerate(evaluations.items())
        ]
        for name in where
    }
    values = [value for of in rows.values() for *_, value in of if value is not None]
    if not values:
        return []
    lossy, title = _lossy(evaluations), MEASURES[measure].title
    return [
        (name, bars(f"{title}: {without_controls(name)}", of, max(values), lossy))
        for name, of in rows.items()
    ]


def _lossy(evaluations: Evaluations) -> set[str]:
    return {name for name, one in evaluations.items() if one.lossy}


_CURVES: Final = (
    ("token_lengths", "token-lengths", "Lengths of tokens", "share of the vocabulary",
     "How much of the vocabulary has each length."),
    ("token_lengths_in_text", "token-lengths-in-text", "Lengths of tokens in text",
     "share of occurrences", "How much of the text's tokens has each length."),
    ("rank_frequency", "rank-frequency", "Rank and frequency", None,
     "How often the token of each rank occurs; Zipf's law predicts a straight line."),
    ("type_token", "types-tokens", "Types and tokens", None,
     "The number of different tokens seen so far as the text is read."),
)  # fmt: skip
"""Curves with their file, title, unit of y if that is a share, and caption."""


def curve_charts(evaluations: Evaluations) -> Iterator[Chart]:
    """The charts of sizes, lengths, ranks and frequencies that have data."""
    sizes = [
        Series(name, place, (one.vocab_size,), (each,))
        for place, (name, one) in enumerate(evaluations.items())
        if (each := value_of(one, ("", "bytes_per_token"))) is not None
    ]
    title, caption = "Size and compression", "Vocabularies by their size, over all corpora."
    caption += " Up and to the left is better; ⚠ loses text."
    units = "tokens in the vocabulary", "bytes per token"
    if svg := points(title, sizes, *units, _lossy(evaluations)):
        yield Chart("sizes", title, caption, svg)
    for curve, file, title, share, caption in _CURVES:
        if svg := _lines_of(evaluations, curve, title, share):
            yield Chart(file, title, caption, svg)


def _lines_of(evaluations: Evaluations, curve: str, title: str, share: str | None) -> str | None:
    """The curve of each tokenizer; those without a share are drawn on logarithmic scales."""
    series, units = [], ("", "")
    for place, (name, one) in enumerate(evaluations.items()):
        drawn = one.curves.get(curve)
        if drawn is None or not drawn.x:
            continue
        total = (sum(drawn.y) or 1) if share else 1
        series.append(Series(name, place, drawn.x, tuple(value / total for value in drawn.y)))
        units = (drawn.x_unit, drawn.y_unit)
    is_log = share is None
    return lines(title, series, units[0], share or units[1], x_log=is_log, y_log=is_log)


def ladder_chart(sweep: Sweep | None) -> Chart | None:
    """How much text a token holds as the vocabularies of a sweep grow, a line for each family."""
    if sweep is None:
        return None
    series = []
    for at, family in enumerate(sweep.bends):
        points = sorted(
            (it.vocab_size, it.bytes_per_token)
            for it in sweep.points
            if it.family == family and it.bytes_per_token is not None
        )
        # Colours are counted from the end, because tokenizers have the first ones.
        series.append(Series(family, -1 - at, [x for x, _ in points], [y for _, y in points]))
    title, units = (
        "Size and compression of the sweep",
        ("tokens in the vocabulary", "bytes per token"),
    )
    return Chart("", title, "", lines(title, series, *units, x_log=True) or "")
