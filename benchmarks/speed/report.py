"""The rows as a page of tables and as a picture."""

from __future__ import annotations

import html
import os
import platform
import statistics
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

from .libraries import LIBRARIES
from .measures import Row

TITLES = {
    "encode": "Encoding, one thread: MB of UTF-8 a second, first pass / later passes",
    "large": "The same, of 64 MB of text",
    "batch": "Encoding many documents at once, all cores: MB a second, first call / later calls",
    "short": "Short calls: µs a call",
    "decode": "Decoding to text, one thread: MB a second, first pass / later passes",
    "load": "Loading, all cores: ms by the wall clock, first time / later",
    "worst": "Worst cases: MB a second, and time a byte relative to English",
}


def version(name: str) -> str:
    """A library and its version, if it is here."""
    for library in LIBRARIES:
        if library.name == name:
            try:
                return f"{name} {library.version()}"
            except Exception:
                return f"{name} (not installed)"
    return name


def page(rows: Sequence[Row], origin: str) -> str:
    """All tables, in Markdown. The origin: the commit and the command."""
    libraries = dict.fromkeys(row.library for row in rows)
    cores = os.cpu_count()
    lines = [
        "# Speed",
        "",
        f"{time.strftime('%Y-%m-%d')}, {platform.machine()}, {cores} cores, Python "
        f"{platform.python_version()}; {', '.join(map(version, libraries))}{origin}",
        "",
        "Medians; a first pass is one with a tokenizer that has seen nothing. “differ” counts the "
        "documents, of those checked in the same run, whose ids or counts are not the judge's.",
        "",
    ]
    for section, title in TITLES.items():
        mine = [row for row in rows if row.section == section]
        if mine:
            lines += [f"## {title}", "", *_summary(mine), *_table(section, mine), ""]
    return "\n".join(lines)


def _figures(row: Row) -> str:
    if row.first is None and row.later is None:
        return "fails" if row.note.startswith("fails") else "–"
    digits = 2 if row.section == "short" else 1 if row.section == "load" else 0
    shown = [f"{x:.{digits}f}" for x in (row.first, row.later) if x is not None]
    differ = f" ({row.differ} differ)" if row.differ else ""
    return " / ".join(shown) + differ


def _table(section: str, rows: Sequence[Row]) -> list[str]:
    if section == "worst":
        return _worst(rows)
    timed = {row.library for row in rows if row.later is not None}
    libraries = [name for name in dict.fromkeys(row.library for row in rows) if name in timed]
    places = dict.fromkeys((row.family, row.text, row.size) for row in rows)
    lines = [
        "| family | text | characters | " + " | ".join(libraries) + " |",
        "| --- | --- | --- | " + " | ".join("---" for _ in libraries) + " |",
    ]
    for place in places:
        cells = []
        for library in libraries:
            found = [r for r in rows if (r.family, r.text, r.size) == place]
            found = [row for row in found if row.library == library]
            texts = [
                f"{row.output} {_figures(row)}".strip()
                if len(found) > 1 or row.output == "count"
                else _figures(row)
                for row in found
            ]
            cells.append("<br>".join(texts) or "–")
        lines.append(f"| {' | '.join(place)} | {' | '.join(cells)} |")
    notes = dict.fromkeys(f"{row.library}, {row.family}: {row.note}" for row in rows if row.note)
    return [*lines, "", *(f"- {note}" for note in notes)] if notes else lines


def _worst(rows: Sequence[Row]) -> list[str]:
    texts = list(dict.fromkeys(row.text for row in rows))
    lines = [f"| family | {' | '.join(texts)} |", "| --- |" + " --- |" * len(texts)]
    for family in dict.fromkeys(row.family for row in rows):
        rates = {row.text: row.first or 0.0 for row in rows if row.family == family}
        plain = rates.get("english", 0.0)
        cells = [f"{rate:.0f} ({plain / rate:.1f} ×)" for rate in rates.values() if rate]
        lines.append(f"| {family} | {' | '.join(cells)} |")
    return lines


def _summary(rows: Sequence[Row]) -> list[str]:
    """jeton against the best of all others, the median over texts of each family."""
    section = rows[0].section
    if section == "worst":
        return []
    faster_is_more = section not in ("short", "load")
    lines = ["| family | output | first | later |", "| --- | --- | --- | --- |"]
    for family in dict.fromkeys(row.family for row in rows):
        outputs = dict.fromkeys(
            r.output for r in rows if r.family == family and r.library == "jeton"
        )
        for output in outputs:
            cells = [
                _ratio([r for r in rows if r.family == family], output, when, faster_is_more)
                for when in ("first", "later")
            ]
            if any(cells):
                lines.append(f"| {family} | {output} | {' | '.join(c or '–' for c in cells)} |")
    return [*lines, ""] if len(lines) > 2 else []


def _ratio(rows: Iterable[Row], output: str, when: str, faster_is_more: bool) -> str:
    """The median ratio to the fastest other library, and which that most often is."""
    rows = list(rows)
    ratios: list[float] = []
    rivals: list[str] = []
    for place in dict.fromkeys((row.text, row.size) for row in rows):
        here = [r for r in rows if (r.text, r.size) == place and getattr(r, when) is not None]
        ours = [r for r in here if r.library == "jeton" and r.output == output]
        # Other libraries have other ways to encode many documents, and the best counts.
        same = [r for r in here if r.section == "batch" or r.output == output]
        others = [r for r in same if r.library != "jeton"]
        if not others:
            others = [r for r in here if r.library != "jeton"]
        if not ours or not others:
            continue
        choose = max if faster_is_more else min
        rival = choose(others, key=lambda row: getattr(row, when))
        ratio = getattr(ours[0], when) / getattr(rival, when)
        ratios.append(ratio if faster_is_more else 1 / ratio)
        rivals.append(rival.library)
    if not ratios:
        return ""
    return f"{statistics.median(ratios):.2f} × {statistics.mode(rivals)}"


def picture(rows: Sequence[Row]) -> str:
    """Bars: encoding documents of 4,000 characters, the best output of each library, as SVG."""
    shown = [r for r in rows if r.section == "encode" and r.size == "4000" and r.later]
    groups: list[tuple[str, list[tuple[str, float]]]] = []
    for family, text in dict.fromkeys((row.family, row.text) for row in shown):
        best: dict[str, float] = {}
        for row in shown:
            if (row.family, row.text) == (family, text) and row.output != "count":
                best[row.library] = max(best.get(row.library, 0.0), row.later or 0.0)
        groups.append((f"{family}, {text}", sorted(best.items(), key=lambda bar: -bar[1])))
    widest = max((rate for _, bars in groups for _, rate in bars), default=1.0)
    parts: list[str] = []
    y = 40
    for title, bars in groups:
        parts.append(f'<text x="10" y="{y + 12}" font-weight="bold">{html.escape(title)}</text>')
        y += 20
        for library, rate in bars:
            width = max(1.0, 480 * rate / widest)
            colour = "#c2452d" if library == "jeton" else "#8a94a6"
            parts.append(f'<text x="120" y="{y + 11}" text-anchor="end">{library}</text>')
            parts.append(
                f'<rect x="128" y="{y}" width="{width:.0f}" height="13" fill="{colour}"/>'
                f'<text x="{134 + width:.0f}" y="{y + 11}">{rate:.0f}</text>'
            )
            y += 17
        y += 10
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="680" height="{y + 10}" '
        'font-family="sans-serif" font-size="12">'
        f'<rect width="680" height="{y + 10}" fill="white"/>'
        '<text x="10" y="22" font-size="14">MB of UTF-8 a second, one thread, documents of 4,000 '
        "characters, later passes</text>" + "".join(parts) + "</svg>\n"
    )


def write(folder: Path, rows: Sequence[Row], origin: str) -> None:
    """The page and the picture, into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    text = page(rows, origin)
    if any(row.section == "encode" for row in rows):
        (folder / "encode.svg").write_text(picture(rows), "utf-8")
        text = text.replace("# Speed\n", "# Speed\n\n![Encoding](encode.svg)\n", 1)
    (folder / "encode.md").write_text(text, "utf-8")
