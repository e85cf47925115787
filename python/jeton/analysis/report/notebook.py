"""A comparison in a notebook: a row per tokenizer with its main measures."""

from __future__ import annotations

from collections.abc import Mapping

from jeton.analysis.evaluation import Evaluation
from jeton.analysis.known_measures import MEASURES
from jeton.analysis.report.parts import ReportedEvaluations, measured_value, value_of
from jeton.analysis.report.svg_charts import formatted
from jeton.analysis.report.tables import SUMMARY
from jeton.display.notebooks import boxed, escaped, table


def glance(title: str, evaluations: Mapping[str, Evaluation]) -> str:
    """The table, and the losses of each tokenizer."""
    report = ReportedEvaluations(evaluations)
    columns = [it for it in SUMMARY if any(value_of(one, it) is not None for one in report.all)]
    rows = [
        (
            f"{name} ⚠" if one.lossy else name,
            f"{one.vocab_size:,}",
            *(formatted(measured_value(one, it)) for it in columns),
        )
        for name, one in zip(report.names, report.all, strict=True)
    ]
    lossy = [
        f"<div>⚠ {escaped(name)} loses text: {escaped('; '.join(one.lossy))}</div>"
        for name, one in zip(report.names, report.all, strict=True)
        if one.lossy
    ]
    heads = ["tokenizer", "vocabulary", *(MEASURES[name].title for _, name in columns)]
    return boxed(title, table(heads, rows) + "".join(lossy))
