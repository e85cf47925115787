"""A comparison of tokenizers as tables for a terminal, as Markdown and as CSV.

Look here for how numbers are written, and for which of a row is marked as the best.
"""

from __future__ import annotations

import csv
import io
import textwrap
from collections.abc import Iterator, Sequence

from jeton.analysis import MEASURES, Comparison, Measured, Value
from jeton.cli.printing import styled
from jeton.cli.terminal import columns, heading, shorten, table, width_of
from jeton.display.human_readable import counted

__all__ = ["changed", "measure_tables", "to_csv", "to_markdown"]

_NAME = 11
"""How many columns the name of a tokenizer takes at most."""

_OF_CORPORA = ("bytes_per_token", "fertility", "exact_round_trips")
_OF_LANGUAGES = ("premium", "fertility")
_COMPRESSION = {"tokens", "tokens_per_line", "premium", "fertility", "single_token_words", "gini"}
"""What a tokenizer that loses text may be good at for that."""

Row = tuple[str, list[str], set[int]]
"""A title, a cell for each tokenizer, and which of these are the best."""


def measure_tables(found: Comparison) -> str:
    """Tables of all measures, a column a tokenizer."""
    lines: list[str] = []
    names = list(found)
    room = columns() - max(map(width_of, (it.title for it in MEASURES.values()))) - 4
    each = max(8, min(_NAME, max(width_of(_marked(found, name)) for name in names)))
    fitting = max(1, room // (each + 2))
    tables = list(_tables(found))
    for title, rows in tables:
        for first in range(0, len(names), fitting):
            chosen = names[first : first + fitting]
            lines += ["", heading(title), _table_text(found, chosen, rows, first)]
    is_judged = any(best for _, rows in tables for _, _, best in rows)
    lines += ["", *(["  * the best of its row"] if is_judged else []), *_lossy(found)]
    return "\n".join(lines[1:]).rstrip()


def _table_text(found: Comparison, names: Sequence[str], rows: Sequence[Row], first: int) -> str:
    heads = (f"{shorten(_marked(found, name), _NAME)} " for name in names)
    drawn = [("", *(styled(head, bold=True) for head in heads))]
    for title, cells, best in rows:
        chosen = range(first, first + len(names))
        # A sign, too: colours are lost in a file, and on some eyes.
        shown = (
            styled(f"{cells[at]}*", fg="green") if at in best else f"{cells[at]} " for at in chosen
        )
        drawn.append((styled(title, fg="cyan"), *shown))
    return table(drawn, "<" + ">" * len(names), gap=" ")


def _marked(found: Comparison, name: str) -> str:
    return f"{name} †" if found[name].is_lossy else name


def _tables(found: Comparison) -> Iterator[tuple[str, list[Row]]]:
    corpora = [name for name in found.corpora if name != "all"]
    measured = [found[name].corpora["all"] for name in found]
    size, documents = measured[0]["bytes"], measured[0]["documents"]
    if corpora:
        texts = counted(int(documents or 0), "text")
        told = f"{', '.join(corpora)} · {size or 0:,} bytes in {texts}"
        yield told, [_sizes(found), *_rows(found, measured, set())]
    for name in _OF_CORPORA if len(corpora) > 1 else ():
        rows = [_row(found, [found[it][part] for it in found], name, part) for part in corpora]
        yield MEASURES[name].title, [row for row in rows if row is not None]
    for name in _OF_LANGUAGES if found.languages else ():
        rows = [
            _row(found, [found[it].languages[part] for it in found], name, part)
            for part in found.languages
        ]
        kept = [row for row in rows if row is not None]
        if kept:
            yield f"{MEASURES[name].title}, by language", kept
    yield "numbers, code, words", _rows(found, [found[name].overall for name in found], set())


def _sizes(found: Comparison) -> Row:
    return "vocabulary", [f"{found[name].vocab_size:,}" for name in found], set()


def _rows(found: Comparison, measured: Sequence[Measured], without: set[str]) -> list[Row]:
    left_out = {"bytes", "characters", "words", "documents", *without}
    rows = [
        _row(found, measured, name, measure.title)
        for name, measure in MEASURES.items()
        if name not in left_out
    ]
    return [row for row in rows if row is not None]


def _row(found: Comparison, measured: Sequence[Measured], measure: str, title: str) -> Row | None:
    """The row of a measure; `None` if nobody has it."""
    values = [it.values.get(measure) for it in measured]
    if all(value is None for value in values):
        return None
    better = MEASURES[measure].better
    judged = {
        at: value.value
        for at, (name, value) in enumerate(zip(found, values, strict=True))
        if value is not None
        and value.value is not None
        and not (found[name].is_lossy and _is_compression(measure))
    }
    best: set[int] = set()
    if better is not None and len(set(judged.values())) > 1:
        extreme = (max if better == "higher" else min)(judged.values())
        best = {at for at, value in judged.items() if value == extreme}
    return title, [_written(value) for value in values], best


def _is_compression(measure: str) -> bool:
    return measure in _COMPRESSION or MEASURES[measure].family in ("compression", "word_pieces")


def _written(value: Value | None) -> str:
    """A number as people read it: shares as per cent.

    >>> _written(Value(0.1234, "share of words", "")), _written(Value(4.5, "bytes/token", ""))
    ('12.3%', '4.500')
    """
    if value is None or value.value is None:
        return "-"
    if value.unit.startswith("share"):
        return f"{value.value:.1%}" if value.value >= 0.001 or not value.value else "<0.1%"
    return f"{value.value:,}" if isinstance(value.value, int) else f"{value.value:,.3f}"


def _lossy(found: Comparison) -> Iterator[str]:
    for name in found:
        if found[name].is_lossy:
            told = f"† {name} loses text: {'; '.join(found[name].lossy)}"
            for line in textwrap.wrap(told, columns() - 4, subsequent_indent="  "):
                yield styled(f"  {line}", fg="yellow")


def changed(before: Comparison, after: Comparison) -> str:
    """What is otherwise than before, a line each, beneath what the two do not share."""
    changes = before.changes(after)
    if not changes:
        return "\n" + heading("nothing has changed")
    lines = [*_unlike(before, after), *map(str, changes)]
    lines = [f"  {shorten(line, columns() - 2)}" for line in lines]
    return "\n".join(["", heading(f"{len(changes):,} values have changed"), *lines])


def _unlike(before: Comparison, after: Comparison) -> Iterator[str]:
    """Why values of the two do not tell one tokenizer from another: other texts, other names."""
    old, new = (
        {name: digest for one in it.evaluations.values() for name, digest in one.digests.items()}
        for it in (before, after)
    )
    for name, digest in new.items():
        if old.get(name, digest) != digest:
            yield f"{name}: the text is another than before, so its values do not compare"
    if not {*before} & {*after}:
        yield f"no tokenizer of before is measured: {', '.join(before)}; name them NAME=PATH"
    if not {*old} & {*new}:
        yield f"no text of before is measured: {', '.join(old) or 'there is none'}"


def to_markdown(found: Comparison) -> str:
    """The same tables in Markdown."""
    parts = []
    for title, rows in _tables(found):
        lines = [f"### {title}", "", _line(["", *(_marked(found, name) for name in found)])]
        lines.append("| --- |" + " ---: |" * len(found))
        for name, cells, best in rows:
            marked = [f"**{cell}**" if at in best else cell for at, cell in enumerate(cells)]
            lines.append(_line([name, *marked]))
        parts.append("\n".join(lines))
    notes = [
        f"† {name} loses text: {'; '.join(found[name].lossy)}"
        for name in found
        if found[name].is_lossy
    ]
    return "\n\n".join([*parts, *map(_escaped, notes)])


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


def to_csv(found: Comparison) -> str:
    """A line a value: where it is of, its number (empty if not measured), unit and aggregation."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(["tokenizer", "where", "measure", "value", "unit", "how", "lossy"])
    for name, evaluation in found.evaluations.items():
        lossy = "; ".join(evaluation.lossy)
        for where, measured in evaluation.parts():
            for measure, value in measured.values.items():
                number = "" if value.value is None else repr(value.value)
                writer.writerow([name, where, measure, number, value.unit, value.how, lossy])
    return stream.getvalue()
