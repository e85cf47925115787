"""The part of a report that shows a sweep: how much text a token holds as vocabularies grow.

Look here for how a sweep is drawn, and how sizes are marked: the bend, the fewest operations, lost
text.
"""

from __future__ import annotations

from collections.abc import Iterator

from jeton.analysis.report.parts import cell, head, swatch
from jeton.analysis.report.svg_charts import COLOURS, Series, lines
from jeton.analysis.swept import Sweep
from jeton.display.notebooks import escaped


def ladder(sweep: Sweep | None) -> str:
    """A line and rows of a table for each family; empty without a sweep or without points."""
    if sweep is None or not sweep.points:
        return ""
    series = [_series(sweep, family, at) for at, family in enumerate(sweep.bends)]
    title = "Size and compression of the sweep"
    chart = lines(title, series, "tokens in the vocabulary", "bytes per token", x_log=True) or ""
    families = "".join(
        f"<li>{swatch(_colour(at))}{escaped(family)}{_lossy(sweep, family)}</li>"
        for at, family in enumerate(sweep.bends)
    )
    names = (
        "family",
        "vocabulary",
        "bytes per token",
        "bytes of the embedding",
        "share of the parameters",
        "operations per byte",
        "notes",
    )
    heads = "".join(map(head, names))
    skipped = "".join(
        f'<p class="quiet">{escaped(it.family)} of {it.size:,} tokens is skipped: '
        f"{escaped(it.reason)}</p>"
        for it in sweep.skipped
    )
    return (
        f'<p class="quiet">Trained on one corpus, measured on {sweep.held_out_bytes:,} bytes that '
        "were held out. A curve bends where it is highest above the line from its first to its "
        "last point (Kneedle), which also depends on the smallest and largest size.</p>"
        f'<div class="charts"><figure><h3>{title}</h3>{chart}'
        f'<figcaption><ul class="key">{families}</ul></figcaption></figure></div>{skipped}'
        '<div class="scroll" tabindex="0" role="region" aria-label="Ladder of sizes">'
        f'<table id="ladder"><thead><tr>{heads}</tr></thead>'
        f"<tbody>{''.join(_rows(sweep))}</tbody></table></div>"
    )


def _colour(at: int) -> int:
    """The colour of a family: counted from the end, because tokenizers have the first ones."""
    return COLOURS - 1 - at % COLOURS


def _series(sweep: Sweep, family: str, at: int) -> Series:
    points = sorted(
        (point.vocab_size, point.bytes_per_token)
        for point in sweep.points
        if point.family == family and point.bytes_per_token is not None
    )
    return Series(family, _colour(at), [x for x, _ in points], [y for _, y in points])


def _lossy(sweep: Sweep, family: str) -> str:
    most = max(point.inexact for point in sweep.points if point.family == family)
    if not most:
        return ""
    return f" ⚠ up to {most:,} of {sweep.held_out_lines:,} lines are not restored"


def _rows(sweep: Sweep) -> Iterator[str]:
    for family, bend in sweep.bends.items():
        for point in sweep.points:
            if point.family == family:
                notes = [
                    *["bends here"] * (point.vocab_size == bend),
                    *["fewest operations"] * (point.vocab_size == sweep.cheapest[family]),
                    *["largest with few rare tokens"]
                    * (point.vocab_size == sweep.supported[family]),
                    *[f"⚠ {point.inexact:,} lines are not restored"] * bool(point.inexact),
                ]
                yield (
                    f'<tr><th scope="row">{escaped(family)}</th>{cell(point.vocab_size)}'
                    f"{cell(point.bytes_per_token)}{cell(point.embedding_bytes)}"
                    f"{cell(point.share)}{cell(point.operations)}<td>{'; '.join(notes)}</td></tr>"
                )
