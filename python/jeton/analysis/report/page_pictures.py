"""The pictures of a report: as figures with captions for the page, and as files.

Look here for which curves are drawn, and in which units. `svg_charts.py` draws them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from typing import Final

import jeton._core as _core
from jeton.analysis.evaluation import Evaluations, names_of_corpora, names_of_languages
from jeton.analysis.known_measures import MEASURES
from jeton.analysis.report.parts import value_of
from jeton.analysis.report.svg_charts import Series, bars, lines, points, standalone
from jeton.arguments import checked_path
from jeton.display import palette
from jeton.display.human_readable import without_controls
from jeton.display.notebooks import escaped


@dataclass(frozen=True)
class _Chart:
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
        file: standalone(_panels(evaluations, measure, where), style)
        for file, measure, where in (
            ("compression", "bytes_per_token", names_of_corpora(evaluations)),
            ("languages", "tokens_per_line", names_of_languages(evaluations)),
            ("premiums", "premium", names_of_languages(evaluations)),
        )
    } | {it.file: standalone([(it.title, it.svg)], style, key) for it in _curve_charts(evaluations)}
    written = [(f"{file}.svg", svg.encode()) for file, svg in pictures.items() if svg]
    _core.write_into(target, written)
    return [name for name, _ in written]


def _style() -> str:
    """The rules of the page for charts, with the light colours themselves: a file has no theme."""
    light = {**palette.LIGHT, **{f"s{at}": it for at, (it, _) in enumerate(palette.SERIES)}}
    sheet = files(__package__).joinpath("report.css").read_text(encoding="utf-8")
    rules = "\n".join(line for line in sheet.splitlines() if line.startswith((".chart", ".s")))
    return re.sub(r"var\(--([\w-]+)\)", lambda name: light[name[1]], rules)


def bar_panels(evaluations: Evaluations, measure: str, where: Iterable[str]) -> str:
    """A panel of bars for each corpus or language; empty without values."""
    panels = "".join(
        f"<figure><h3>{escaped(name)}</h3>{chart}</figure>"
        for name, chart in _panels(evaluations, measure, where)
    )
    info = MEASURES[measure]
    better = f"; {info.better} is better" if info.better else ""
    about = f"{escape(info.title)}{better}. All panels have one scale; ⚠ loses text."
    return f'<p class="quiet">{about}</p><div class="panels">{panels}</div>' if panels else ""


def _panels(evaluations: Evaluations, measure: str, where: Iterable[str]) -> list[tuple[str, str]]:
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


def curves(evaluations: Evaluations) -> str:
    """Sizes, lengths of tokens, ranks and frequencies; empty without any."""
    figures = [
        f"<figure><h3>{escape(it.title)}</h3>{it.svg}"
        f"<figcaption>{escape(it.caption)}</figcaption></figure>"
        for it in _curve_charts(evaluations)
    ]
    return f'<div class="charts">{"".join(figures)}</div>' if figures else ""


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


def _curve_charts(evaluations: Evaluations) -> Iterator[_Chart]:
    """The charts that have data."""
    sizes = [
        Series(name, place, (one.vocab_size,), (each,))
        for place, (name, one) in enumerate(evaluations.items())
        if (each := value_of(one, ("", "bytes_per_token"))) is not None
    ]
    title, caption = "Size and compression", "Vocabularies by their size, over all corpora."
    caption += " Up and to the left is better; ⚠ loses text."
    units = "tokens in the vocabulary", "bytes per token"
    if svg := points(title, sizes, *units, _lossy(evaluations)):
        yield _Chart("sizes", title, caption, svg)
    for curve, file, title, share, caption in _CURVES:
        if svg := _lines_of(evaluations, curve, title, share):
            yield _Chart(file, title, caption, svg)


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
