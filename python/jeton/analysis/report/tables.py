"""The tables of a report: at a glance, the heat map of premiums, all values.

Look here for the columns of the first table, and for which value is the best of its column.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Final

from jeton.analysis.evaluation import Evaluations, best_of, names_of_languages
from jeton.analysis.known_measures import MEASURES
from jeton.analysis.report.parts import cell, head, marked, measured_value, swatch, value_of
from jeton.analysis.report.svg_charts import shade
from jeton.analysis.values import Measured
from jeton.display.notebooks import escaped

SUMMARY: Final = (
    ("", "bytes_per_token"),
    ("", "fertility"),
    ("", "renyi_efficiency"),
    ("", "vocabulary_used"),
    ("", "unknown_rate"),
    ("", "exact_round_trips"),
    ("overall", "gini"),
    ("overall", "arithmetic_alignment"),
)
"""The columns of the first table: measures over all corpora, or overall."""


def glance(evaluations: Evaluations) -> str:
    """A row per tokenizer with its main measures, and a list of losses."""
    columns = summary_columns(evaluations)
    heads = "".join(head(MEASURES[name].title) for _, name in columns)
    every = [*evaluations.values()]
    best = [best_of(it[1], every, [value_of(one, it) for one in every]) for it in columns]
    rows = []
    for place, (name, one) in enumerate(evaluations.items()):
        cells = "".join(
            cell(
                measured_value(one, it),
                is_best=place in places,
            )
            for it, places in zip(columns, best, strict=True)
        )
        rows.append(
            f'<tr><th scope="row">{swatch(place)}{marked(one, name)} '
            f'<small class="quiet">{escaped(one.kind)}</small></th>'
            f"{cell(one.vocab_size)}{cells}</tr>"
        )
    return (
        '<div class="scroll" tabindex="0" role="region" aria-label="At a glance">'
        '<table id="glance"><caption>Over all corpora; ★ is the best; where tokens are '
        "counted, of those that lose no text. Click a head to sort.</caption><thead><tr>"
        f"{head('tokenizer')}{head('vocabulary')}{heads}</tr></thead>"
        f"<tbody>{''.join(rows)}</tbody></table></div>{_lossy(evaluations)}"
    )


def summary_columns(evaluations: Evaluations) -> list[tuple[str, str]]:
    """The columns of the first table that have a value."""
    return [
        column
        for column in SUMMARY
        if any(value_of(one, column) is not None for one in evaluations.values())
    ]


def _lossy(evaluations: Evaluations) -> str:
    rows = "".join(
        f"<li><b>{escaped(name)}</b>: {escaped('; '.join(one.lossy))}</li>"
        for name, one in evaluations.items()
        if one.lossy
    )
    if not rows:
        return ""
    return (
        '<div class="lossy"><b>⚠ Some tokenizers lose text.</b> That may be why they need fewer '
        f"tokens; it is not better compression.<ul>{rows}</ul></div>"
    )


def premiums(evaluations: Evaluations) -> str:
    """The heat map of premiums of languages; empty without any."""
    languages = names_of_languages(evaluations)
    by_name = {
        name: [one.languages[language]["premium"] if language in one else None
               for language in languages]
        for name, one in evaluations.items()
    }  # fmt: skip
    numbers = [value for row in by_name.values() for value in row if value is not None]
    if not numbers:
        return ""
    high = max(numbers)
    heads = "".join(head(language) for language in languages)
    rows = []
    for place, (name, values) in enumerate(by_name.items()):
        cells = "".join(
            '<td data-v="">–</td>'
            if value is None
            else f'<td data-v="{value!r}" class="heat{_shade(value, high)}">{value:.2f}</td>'
            for value in values
        )
        label = f"{swatch(place)}{marked(evaluations[name], name)}"
        rows.append(f'<tr><th scope="row">{label}</th>{cells}</tr>')
    how = next(
        (
            value.how
            for one in evaluations.values()
            for language in one.languages.values()
            if (value := language.values.get("premium")) is not None
        ),
        "",
    )
    return (
        '<div class="scroll" tabindex="0" role="region" aria-label="Premiums"><table class="heat"'
        f' id="heat"><caption>How many times as many tokens the same text needs: {escaped(how)}. '
        "Colours by the logarithm; 1 is as many.</caption>"
        f"<thead><tr>{head('tokenizer')}{heads}</tr></thead>"
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


def _shade(premium: float, high: float) -> int:
    # No logarithm of a language without a token, whose premium is 0.
    return 0 if premium <= 0 else shade(premium, 1.0, max(high, 1.01), math.log)


def values(evaluations: Evaluations) -> str:
    """All values, to sort and filter."""
    places = list(dict.fromkeys(where for one in evaluations.values() for where, _ in one.parts()))
    parts_of_each = [dict(one.parts()) for one in evaluations.values()]
    rows = [row for where in places for row in _value_rows(where, parts_of_each)]
    choices = "".join(f"<option>{escaped(where)}</option>" for where in places)
    heads = "".join(head(name + (" ⚠" if one.lossy else "")) for name, one in evaluations.items())
    return (
        '<div class="tools"><label>Filter <input id="filter" type="search" '
        'placeholder="fertility, premium …"></label><label>Where <select id="where">'
        f'<option value="">everywhere</option>{choices}</select></label>'
        '<output id="kept" class="quiet" aria-live="polite"></output></div>'
        '<div class="scroll" tabindex="0" role="region" aria-label="All values">'
        '<table id="values"><caption>A dash means not measured; ⚠ loses text. '
        "Point at a measure for its formula and source, at a unit for how its values were "
        "aggregated.</caption><thead><tr>"
        f"{head('where')}{head('measure')}{head('unit')}{heads}</tr></thead>"
        f"<tbody>{''.join(rows)}</tbody></table></div>"
    )


def _value_rows(where: str, parts_of_each: Sequence[dict[str, Measured]]) -> Iterator[str]:
    measured = [parts.get(where) for parts in parts_of_each]
    names = dict.fromkeys(name for one in measured if one is not None for name in one.values)
    for name in names:
        values = [None if one is None else one.values.get(name) for one in measured]
        first = next(value for value in values if value is not None)
        title = _title_with_formula(name)
        cells = "".join(cell(value) for value in values)
        yield (
            f'<tr data-where="{escaped(where)}"><td>{escaped(where)}</td>'
            f'<td class="left">{title}</td>'
            f'<td class="left quiet"><abbr title="{escaped(first.how)}">'
            f"{escaped(first.unit)}</abbr></td>{cells}</tr>"
        )


def _title_with_formula(measure: str) -> str:
    """The title of a measure, with its formula and source as a tooltip."""
    description = MEASURES.get(measure)
    if description is None:
        return escaped(measure)
    about = f"{description.formula} ({description.source})"
    return f'<abbr title="{escaped(about)}">{escaped(description.title)}</abbr>'
