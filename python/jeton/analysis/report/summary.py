"""The main measures of a comparison: the columns of a report's first table, and of a notebook's."""

from __future__ import annotations

from typing import Final

from jeton.analysis.evaluation import Evaluation, Evaluations
from jeton.analysis.known_measures import MEASURES
from jeton.analysis.report.svg_charts import formatted
from jeton.analysis.values import Value
from jeton.display.notebooks import boxed, escaped, table

Column = tuple[str, str]
"""`("", measure)` over all corpora, or `("overall", measure)` for one that needs no corpus."""

SUMMARY: Final[tuple[Column, ...]] = (
    ("", "bytes_per_token"),
    ("", "fertility"),
    ("", "renyi_efficiency"),
    ("", "vocabulary_used"),
    ("", "unknown_rate"),
    ("", "exact_round_trips"),
    ("overall", "gini"),
    ("overall", "arithmetic_alignment"),
)


def measured_value(one: Evaluation, column: Column) -> Value | None:
    """The value of a column; `None` if it was not measured."""
    where, name = column
    measured = one.overall if where == "overall" else one.corpora.get("all")
    return None if measured is None else measured.values.get(name)


def value_of(one: Evaluation, column: Column) -> float | None:
    """The number of this value."""
    value = measured_value(one, column)
    return None if value is None else value.value


def summary_columns(evaluations: Evaluations) -> list[Column]:
    """The columns of the first table that have a value."""
    return [
        column
        for column in SUMMARY
        if any(value_of(one, column) is not None for one in evaluations.values())
    ]


def glance(title: str, evaluations: Evaluations) -> str:
    """The table in a notebook: a row per tokenizer, and the losses of each."""
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
