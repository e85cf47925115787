"""A comparison as a page: one self-contained file, which works offline and can be mailed.

Look here for the values of the page: the columns of the first table, the premiums, the notes of a
sweep. `report.html` lays them out, `svg_charts.py` draws the pictures as SVG, `report.css` has the
style, `jeton.display.palette` the colours, `report.js` sorts and filters. The page loads nothing.
Its policy allows only this script and style, by their hashes: a text that looks like a script could
not run even if it were not escaped.
"""

from __future__ import annotations

import base64
import hashlib
import math
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from typing import Any

from jinja2 import Environment, StrictUndefined

from jeton._core import __version__
from jeton.analysis.evaluation import Evaluations, best_of, names_of_corpora, names_of_languages
from jeton.analysis.known_measures import MEASURES
from jeton.analysis.report import samples
from jeton.analysis.report.page_pictures import bar_panels, curve_charts, ladder_chart
from jeton.analysis.report.summary import measured_value, summary_columns, value_of
from jeton.analysis.report.svg_charts import COLOURS, SERIES_STYLE, SHADES_STYLE, formatted, shade
from jeton.analysis.swept import Point, Sweep
from jeton.analysis.values import Value
from jeton.display import palette
from jeton.display.human_readable import counted, without_controls
from jeton.tokenizer import Tokenizer


def page(
    evaluations: Evaluations,
    title: str,
    tokenizers: Mapping[str, Tokenizer],
    texts: Mapping[str, Sequence[str]],
    sweep: Sweep | None,
) -> str:
    """The whole page.

    Args:
        title: The title.
        tokenizers: The tokenizers that split lines, by their names.
        texts: Lines by the name of the corpus or language; one of each is shown.
        sweep: A sweep of sizes to draw too.
    """
    every = [*evaluations.values()]
    columns = summary_columns(evaluations)
    rules = (palette.css("body"), _file("report.css"), SERIES_STYLE, SHADES_STYLE)
    style = "\n" + "\n".join(rules) + "\n"
    script = "\n" + _file("report.js")
    template = Environment(
        autoescape=True,
        # Markup is a subclass, and safe already.
        finalize=lambda text: without_controls(text) if type(text) is str else text,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    ).from_string(_file("report.html"))
    page = template.render(
        evaluations=evaluations,
        title=title,
        tokenizers=tokenizers,
        sweep=sweep,
        style=style,
        script=script,
        policy=f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}; "
        "base-uri 'none'; form-action 'none'",
        about=_about(evaluations),
        footer=_footer(evaluations),
        measures=MEASURES,
        colours=COLOURS,
        corpora=names_of_corpora(evaluations),
        languages=names_of_languages(evaluations),
        columns=[
            (it, best_of(it[1], every, [value_of(one, it) for one in every])) for it in columns
        ],
        titles=[MEASURES[name].title for _, name in columns],
        lossy={name: "; ".join(one.lossy) for name, one in evaluations.items() if one.lossy},
        places={name: place for place, name in enumerate(evaluations)},
        parts=list(dict.fromkeys(where for one in every for where, _ in one.parts())),
        marked_names=[f"{name}{' ⚠' * one.is_lossy}" for name, one in evaluations.items()],
        rows=_rows(evaluations),
        premiums=_premiums(evaluations),
        charts=list(curve_charts(evaluations)),
        ladder_chart=ladder_chart(sweep),
        notes=lambda point: "; ".join(_notes(sweep, point)),
        samples=samples.typical_lines(tokenizers, texts),
        split_line=samples.split_line,
        bar_panels=bar_panels,
        measured_value=measured_value,
        formatted=formatted,
        sort_key=_sort_key,
    )
    return page.lstrip()  # where its macros were


def _hash(text: str) -> str:
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


def _file(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def _about(evaluations: Evaluations) -> str:
    summary = counted(len(evaluations), "tokenizer")
    corpora = [name for name in names_of_corpora(evaluations) if name != "all"]
    languages = names_of_languages(evaluations)
    if corpora:
        summary += f" on {', '.join(corpora)}"
    if languages:
        summary += f"; parallel text in {', '.join(languages)}"
    version = next((it.version for it in evaluations.values()), __version__)
    return f"{summary}. Measured by jeton {version}."


def _footer(evaluations: Evaluations) -> str:
    digests = "; ".join(f"{name} {one.tokenizer[:12]}" for name, one in evaluations.items())
    texts = dict(pair for one in evaluations.values() for pair in one.digests.items())
    of_texts = "; ".join(f"{name} {it[:12]}" for name, it in texts.items())
    return f"SHA-256 of tokenizers: {digests}. Of texts: {of_texts or 'none'}."


def _sort_key(value: Value | float | None) -> str:
    """The number by which a column is sorted; empty if there is none."""
    number = value.value if isinstance(value, Value) else value
    return "" if number is None else repr(number)


def _rows(evaluations: Evaluations) -> Iterator[tuple[str, str, list[Value | None]]]:
    """The place, the measure and the values of each row of the table of all values."""
    parts_of_each = [dict(one.parts()) for one in evaluations.values()]
    for where in dict.fromkeys(where for parts in parts_of_each for where in parts):
        measured = [parts[where].values if where in parts else {} for parts in parts_of_each]
        for name in dict.fromkeys(name for values in measured for name in values):
            yield where, name, [values.get(name) for values in measured]


def _premiums(evaluations: Evaluations) -> dict[str, Any] | None:
    """The premiums of languages by tokenizer, how they are aggregated, and their shades."""
    languages = names_of_languages(evaluations)
    values = {
        name: [one.languages[it].values.get("premium") if it in one.languages else None
               for it in languages]
        for name, one in evaluations.items()
    }  # fmt: skip
    measured = [it for row in values.values() for it in row if it is not None]
    numbers = [it.value for it in measured if it.value is not None]
    if not numbers:
        return None
    high = max(*numbers, 1.01)
    return {
        "how": measured[0].how,
        "rows": {name: [it and it.value for it in row] for name, row in values.items()},
        # No logarithm of a language without a token, whose premium is 0.
        "shade": lambda it: 0 if it <= 0 else shade(it, 1.0, high, math.log),
    }


def _notes(sweep: Sweep | None, point: Point) -> Iterator[str]:
    """The marks of a size of a sweep."""
    assert sweep is not None
    if point.vocab_size == sweep.bends[point.family]:
        yield "bends here"
    if point.vocab_size == sweep.cheapest[point.family]:
        yield "fewest operations"
    if point.vocab_size == sweep.supported[point.family]:
        yield "largest with few rare tokens"
    if point.inexact:
        yield f"⚠ {point.inexact:,} lines are not restored"
