"""A comparison in a notebook: a row per tokenizer with its main measures."""

from __future__ import annotations

from jeton.analysis.evaluation import Evaluations
from jeton.analysis.known_measures import MEASURES
from jeton.analysis.report.parts import measured_value
from jeton.analysis.report.svg_charts import formatted
from jeton.analysis.report.tables import summary_columns
from jeton.display.notebooks import boxed, escaped, table


def glance(title: str, evaluations: Evaluations) -> str:
    """The table, and the losses of each tokenizer."""
    columns = summary_columns(evaluations)
    rows = [
        (
            f"{name} ⚠" if one.lossy else name,
            f"{one.vocab_size:,}",
            *(formatted(measured_value(one, it)) for it in columns),
        )
        for name, one in evaluations.items()
    ]
    lossy = [
        f"<div>⚠ {escaped(name)} loses text: {escaped('; '.join(one.lossy))}</div>"
        for name, one in evaluations.items()
        if one.lossy
    ]
    heads = ["tokenizer", "vocabulary", *(MEASURES[name].title for _, name in columns)]
    return boxed(title, table(heads, rows) + "".join(lossy))
