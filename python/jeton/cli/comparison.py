"""A comparison of tokenizers as tables for a terminal, as Markdown and as CSV.

Look here for how numbers are written, and for which value of a row is marked as the best.
"""

from __future__ import annotations

import csv
import io
import textwrap
from collections.abc import Iterable, Iterator, Sequence

from jeton.analysis import MEASURES, Comparison, Measured, Value
from jeton.analysis.evaluation import best_of
from jeton.cli.printing import styled
from jeton.cli.terminal import columns, heading, shorten, table, width_of
from jeton.display.human_readable import counted

_NAME = 11
"""Maximum columns of a tokenizer's name."""

_OF_CORPORA = ("bytes_per_token", "fertility", "exact_round_trips")
_OF_LANGUAGES = ("premium", "fertility")
Row = tuple[str, list[str], set[int]]
"""A title, a cell for each tokenizer, and which of these are the best."""


def measure_tables(comparison: Comparison, rows_shown: int | None = None) -> str:
    """Tables of measures, with one column per tokenizer. `rows_shown`: how many rows there are at
    most in all tables together; by default all."""
    lines: list[str] = []
    names = list(comparison)
    room = columns() - max(map(width_of, (it.title for it in MEASURES.values()))) - 4
    each = max(8, min(_NAME, max(width_of(_marked(comparison, name)) for name in names)))
    fitting = max(1, room // (each + 2))
    tables = [(title, rows) for title, rows in _tables(comparison) if rows]
    left_out = 0
    if rows_shown is not None:
        left_out = max(0, sum(len(rows) for _, rows in tables) - rows_shown)
        tables = list(_first_rows(tables, rows_shown))
    for title, rows in tables:
        for first in range(0, len(names), fitting):
            shown_names = names[first : first + fitting]
            lines += ["", heading(title), _table_text(comparison, shown_names, rows, first)]
    if left_out:
        lines += ["", styled(f"  … {counted(left_out, 'more row')} (--all)", dim=True)]
    is_judged = any(best for _, rows in tables for _, _, best in rows)
    lines += ["", *(["  * the best of its row"] if is_judged else [])]
    for note in _notes(comparison):
        wrapped = textwrap.wrap(note, columns() - 4, subsequent_indent="  ")
        lines += [styled(f"  {line}", fg="yellow") for line in wrapped]
    return "\n".join(lines[1:]).rstrip()


def _first_rows(
    tables: Iterable[tuple[str, list[Row]]], number: int
) -> Iterator[tuple[str, list[Row]]]:
    for title, rows in tables:
        if number > 0:
            yield title, rows[:number]
        number -= len(rows)


def _table_text(
    comparison: Comparison, names: Sequence[str], rows: Sequence[Row], first: int
) -> str:
    heads = (f"{shorten(_marked(comparison, name), _NAME)} " for name in names)
    lines = [("", *(styled(head, bold=True) for head in heads))]
    for title, cells, best in rows:
        indices = range(first, first + len(names))
        # A sign too: files have no colours, and some readers do not see them.
        cells_in_colour = (
            styled(f"{cells[at]}*", fg="green") if at in best else f"{cells[at]} " for at in indices
        )
        lines.append((styled(title, fg="cyan"), *cells_in_colour))
    return table(lines, "<" + ">" * len(names), gap=" ")


def _marked(comparison: Comparison, name: str) -> str:
    return f"{name} †" if comparison[name].is_lossy else name


def _tables(comparison: Comparison) -> Iterator[tuple[str, list[Row]]]:
    corpora = [name for name in comparison.corpora if name != "all"]
    measured = [comparison[name].corpora["all"] for name in comparison]
    size, documents = measured[0]["bytes"], measured[0]["documents"]
    if corpora:
        texts = counted(int(documents or 0), "text")
        title = f"{', '.join(corpora)} · {size or 0:,} bytes in {texts}"
        sizes = [f"{comparison[name].vocab_size:,}" for name in comparison]
        yield title, [("vocabulary", sizes, set()), *_rows(comparison, measured)]
    for name in _OF_CORPORA if len(corpora) > 1 else ():
        rows = [
            _row(comparison, [comparison[it][part] for it in comparison], name, part)
            for part in corpora
        ]
        yield MEASURES[name].title, [row for row in rows if row is not None]
    for name in _OF_LANGUAGES if comparison.languages else ():
        rows = [
            _row(comparison, [comparison[it].languages[part] for it in comparison], name, part)
            for part in comparison.languages
        ]
        if any(rows):
            yield f"{MEASURES[name].title}, by language", [row for row in rows if row is not None]
    yield (
        "numbers, code, words",
        _rows(comparison, [comparison[name].overall for name in comparison]),
    )


def _rows(comparison: Comparison, measured: Sequence[Measured]) -> list[Row]:
    rows = [
        _row(comparison, measured, name, measure.title)
        for name, measure in MEASURES.items()
        if name not in ("bytes", "characters", "words", "documents")
    ]
    return [row for row in rows if row is not None]


def _row(
    comparison: Comparison, measured: Sequence[Measured], measure: str, title: str
) -> Row | None:
    """The row of a measure; `None` if no tokenizer has a value."""
    values = [it.values.get(measure) for it in measured]
    if all(value is None for value in values):
        return None
    numbers = [None if value is None else value.value for value in values]
    best = best_of(measure, [comparison[name] for name in comparison], numbers)
    return title, [_number(value) for value in values], best


def _number(value: Value | None) -> str:
    """A number for people: shares in per cent.

    >>> _number(Value(0.1234, "share of words", "")), _number(Value(4.5, "bytes/token", ""))
    ('12.3%', '4.500')
    """
    if value is None or value.value is None:
        return "-"
    if value.unit.startswith("share"):
        return f"{value.value:.1%}" if value.value >= 0.001 or not value.value else "<0.1%"
    return f"{value.value:,}" if isinstance(value.value, int) else f"{value.value:,.3f}"


def _notes(comparison: Comparison) -> Iterator[str]:
    """What each tokenizer loses."""
    for name in comparison:
        if comparison[name].is_lossy:
            yield f"† {name} loses text: {'; '.join(comparison[name].lossy)}"


def changed(earlier: Comparison, current: Comparison) -> str:
    """Each change as a line, after the texts and tokenizers that the two do not share."""
    changes = earlier.changes(current)
    if not changes:
        return "\n" + heading("nothing has changed")
    lines = [*_unlike(earlier, current), *map(str, changes)]
    lines = [f"  {shorten(line, columns() - 2)}" for line in lines]
    return "\n".join(["", heading(f"{len(changes):,} values have changed"), *lines])


def _unlike(before: Comparison, after: Comparison) -> Iterator[str]:
    """Why values of the two cannot be compared: they have other texts or other names."""
    old, new = (
        {name: digest for one in it.evaluations.values() for name, digest in one.digests.items()}
        for it in (before, after)
    )
    for name, digest in new.items():
        if old.get(name, digest) != digest:
            yield f"{name}: the text has changed, so its values cannot be compared"
    if not {*before} & {*after}:
        yield f"no earlier tokenizer is measured: {', '.join(before)}; name them NAME=PATH"
    if not {*old} & {*new}:
        yield f"no earlier text is measured: {', '.join(old) or 'there is none'}"


def to_markdown(comparison: Comparison) -> str:
    """The same tables in Markdown."""
    parts = []
    for title, rows in _tables(comparison):
        lines = [
            f"### {title}",
            "",
            _line(["", *(_marked(comparison, name) for name in comparison)]),
        ]
        lines.append("| --- |" + " ---: |" * len(comparison))
        for name, cells, best in rows:
            row = [f"**{cell}**" if at in best else cell for at, cell in enumerate(cells)]
            lines.append(_line([name, *row]))
        parts.append("\n".join(lines))
    return "\n\n".join([*parts, *map(_escaped, _notes(comparison))])


def _line(cells: Sequence[str]) -> str:
    return (
        "| "
        + " | ".join(cell if cell.startswith("**") else _escaped(cell) for cell in cells)
        + " |"
    )


def _escaped(text: str) -> str:
    """A name as text of Markdown."""
    for character in "\\`*_[]<>|":
        text = text.replace(character, "\\" + character)
    return " ".join(text.split())


def to_csv(comparison: Comparison) -> str:
    """One line per value: its tokenizer and text, number (empty if not measured) and unit."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(["tokenizer", "where", "measure", "value", "unit", "how", "lossy"])
    for name, evaluation in comparison.evaluations.items():
        lossy = "; ".join(evaluation.lossy)
        for where, measured in evaluation.parts():
            for measure, value in measured.values.items():
                number = "" if value.value is None else repr(value.value)
                writer.writerow([name, where, measure, number, value.unit, value.how, lossy])
    return stream.getvalue()
