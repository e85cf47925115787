"""Elements that the parts of a report share, escaped: names, swatches, heads and cells."""

from __future__ import annotations

from jeton.analysis.evaluation import Evaluation
from jeton.analysis.report.svg_charts import COLOURS, formatted, number
from jeton.analysis.values import Value
from jeton.display.notebooks import escaped


def marked(one: Evaluation, name: str) -> str:
    """The name of a tokenizer, with a mark if it loses text."""
    mark = ' <abbr title="loses text; see below">⚠</abbr>' if one.lossy else ""
    return f"{escaped(name)}{mark}"


def swatch(place: int) -> str:
    """A square in the colour of a tokenizer."""
    return (
        '<svg class="swatch" viewBox="0 0 10 10" aria-hidden="true">'
        f'<rect class="s{place % COLOURS}" width="10" height="10" rx="2"/></svg>'
    )


def head(text: str) -> str:
    """The head of a column, which sorts the table."""
    return f'<th scope="col"><button type="button">{escaped(text)}</button></th>'


def cell(value: Value | float | None, is_best: bool = False) -> str:
    """A number as a sortable cell; a dash if it was not measured."""
    plain, text = (
        (value.value, formatted(value)) if isinstance(value, Value) else (value, number(value))
    )
    sort_key = "" if plain is None else repr(plain)
    best = ' class="best"' if is_best else ""
    return f'<td data-v="{sort_key}"{best}>{text}</td>'


def measured_value(one: Evaluation, column: tuple[str, str]) -> Value | None:
    """A value over all corpora, or, for `("overall", measure)`, one that needs no corpus."""
    where, name = column
    measured = one.overall if where == "overall" else one.corpora.get("all")
    return None if measured is None else measured.values.get(name)


def value_of(one: Evaluation, column: tuple[str, str]) -> float | None:
    """The number of this value."""
    value = measured_value(one, column)
    return None if value is None else value.value
