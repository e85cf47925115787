"""A comparison in a notebook: a row per tokenizer with its main measures."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jeton.analysis.known_measures import MEASURES
from jeton.analysis.report.parts import measured_value
from jeton.analysis.report.svg_charts import formatted
from jeton.analysis.report.tables import summary_columns
from jeton.display.notebooks import boxed, escaped, table

if TYPE_CHECKING:
    from jeton.analysis.comparison import Comparison


def glance(comparison: Comparison) -> str:
    """The table, and the losses of each tokenizer."""
    columns = summary_columns(comparison)
    rows = [
        (
            f"{name} ⚠" if one.lossy else name,
            f"{one.vocab_size:,}",
            *(formatted(measured_value(one, it)) for it in columns),
        )
        for name, one in comparison.evaluations.items()
    ]
    lossy = [
        f"<div>⚠ {escaped(name)} loses text: {escaped('; '.join(one.lossy))}</div>"
        for name, one in comparison.evaluations.items()
        if one.lossy
    ]
    heads = ["tokenizer", "vocabulary", *(MEASURES[name].title for _, name in columns)]
    return boxed(repr(comparison).strip("<>"), table(heads, rows) + "".join(lossy))
