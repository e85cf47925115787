"""The pictures of a report, as figures with captions.

Look here for which curves are drawn, and in which units.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from jeton.analysis.known_measures import MEASURES
from jeton.analysis.report.parts import ReportedEvaluations, has, safe_text, value_of
from jeton.analysis.report.svg_charts import Series, bars, lines, points
from jeton.display.human_readable import without_controls

__all__ = ["bar_panels", "curves"]


def bar_panels(report: ReportedEvaluations, measure: str, where: Iterable[str]) -> str:
    """A panel of bars for each corpus or language; empty without values."""
    panels: list[str] = []
    rows = {
        name: [
            (label, place, one[name][measure] if has(one, name) else None)
            for place, (label, one) in enumerate(zip(report.names, report.all, strict=True))
        ]
        for name in where
    }
    values = [value for of in rows.values() for *_, value in of if value is not None]
    if not values:
        return ""
    lossy = _lossy(report)
    for name, of in rows.items():
        title = f"{MEASURES[measure].title}: {without_controls(name)}"
        chart = bars(title, of, max(values), lossy)
        panels.append(f"<figure><h3>{safe_text(name)}</h3>{chart}</figure>")
    info = MEASURES[measure]
    better = f"; {info.better} is better" if info.better else ""
    return (
        f'<p class="quiet">{escape(info.title)}{better}. All panels have one scale; '
        "⚠ loses text.</p>"
        f'<div class="panels">{"".join(panels)}</div>'
    )


def _lossy(report: ReportedEvaluations) -> set[str]:
    return {name for name, one in zip(report.names, report.all, strict=True) if one.lossy}


def curves(report: ReportedEvaluations) -> str:
    """Sizes, lengths of tokens, ranks and frequencies; empty without any."""
    lossy = _lossy(report)
    sizes = [
        Series(name, place, (one.vocab_size,), (each,))
        for place, (name, one) in enumerate(zip(report.names, report.all, strict=True))
        if (each := value_of(one, ("", "bytes_per_token"))) is not None
    ]
    charts = [
        (
            "Size and compression",
            "Vocabularies by their size, over all corpora. Up and to the left is better; "
            "⚠ loses text.",
            points(
                "Size and compression", sizes, "tokens in the vocabulary", "bytes per token", lossy
            ),
        ),
        (
            "Lengths of tokens",
            "How much of the vocabulary has each length.",
            _lines_of(report, "token_lengths", "Lengths of tokens", "share of the vocabulary"),
        ),
        (
            "Lengths of tokens in text",
            "How much of the text's tokens has each length.",
            _lines_of(
                report, "token_lengths_in_text", "Lengths of tokens in text", "share of occurrences"
            ),
        ),
        (
            "Rank and frequency",
            "How often the token of each rank occurs; Zipf's law predicts a straight line.",
            _lines_of(report, "rank_frequency", "Rank and frequency", None, is_log=True),
        ),
        (
            "Types and tokens",
            "The number of different tokens seen so far as the text is read.",
            _lines_of(report, "type_token", "Types and tokens", None, is_log=True),
        ),
    ]
    figures = [
        f"<figure><h3>{escape(title)}</h3>{picture}<figcaption>{escape(caption)}</figcaption></figure>"
        for title, caption, picture in charts
        if picture is not None
    ]
    return f'<div class="charts">{"".join(figures)}</div>' if figures else ""


def _lines_of(
    report: ReportedEvaluations, curve: str, title: str, share: str | None, is_log: bool = False
) -> str | None:
    series, units = [], ("", "")
    for place, (name, one) in enumerate(zip(report.names, report.all, strict=True)):
        points_of_curve = one.curves.get(curve)
        if points_of_curve is None or not points_of_curve.x:
            continue
        total = sum(points_of_curve.y) or 1
        y = (
            points_of_curve.y
            if share is None
            else tuple(value / total for value in points_of_curve.y)
        )
        series.append(Series(name, place, points_of_curve.x, y))
        units = (points_of_curve.x_unit, points_of_curve.y_unit)
    if not series:
        return None
    return lines(title, series, units[0], share or units[1], x_log=is_log, y_log=is_log)
