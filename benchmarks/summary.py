"""Draws docs/pictures/speed.svg, the picture in the README, from the tables in docs/benchmarks.

    python benchmarks/summary.py

Nothing is measured here: run it after `encode.py` and `train.py`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

DOCS = Path(__file__).parent.parent / "docs"
TARGET = DOCS / "pictures" / "speed.svg"
OURS, THEIRS = "#2a78b8", "#b5bcc4"

Bars = Sequence[tuple[str, float]]


def rows(text: str, after: str) -> list[dict[str, str]]:
    """The rows of the first table behind a line that begins with `after`, by column."""
    table = re.search(r"^\|.*(?:\n\|.*)*", text[text.index(f"\n{after}") + 1 :], re.MULTILINE)
    assert table is not None, after
    head, _, *body = (
        [cell.strip() for cell in line.strip("| ").split(" | ")] for line in table[0].split("\n")
    )
    return [dict(zip(head, row, strict=False)) for row in body]


def encoding() -> Bars:
    """Megabytes a second, to a list of ids, a tokenizer's first pass over o200k's English."""
    text = (DOCS / "benchmarks" / "encode.md").read_text(encoding="utf-8")
    [row] = [
        row
        for row in rows(text, "| family | text | characters |")
        if (row["family"], row["text"], row["characters"]) == ("o200k", "english", "4000")
    ]
    found = []
    for library, cell in list(row.items())[3:]:
        rate = re.search(r"(?:^|list )([\d.]+) / ", cell)
        if rate is not None:
            differ = re.search(r"list [^<]*\((\d+) differs?\)", cell)
            name = f"{library} ({differ[1]} differ)" if differ else library
            found.append((name, float(rate[1])))
    return sorted(found, key=lambda bar: -bar[1])


def training() -> Bars:
    """Seconds for a byte pair encoding of 32,000 tokens from 64 MB of English."""
    text = (DOCS / "benchmarks" / "training.md").read_text(encoding="utf-8")
    return sorted(
        (
            (row["library"].removesuffix(" bpe"), float(row["wall, s"]))
            for row in rows(text, "## bpe-english")
        ),
        key=lambda bar: bar[1],
    )


def chart(title: str, unit: str, bars: Bars, left: int) -> list[str]:
    """A title, and a bar for each library."""
    most = max(value for _, value in bars)
    out = [
        f'<text x="{left}" y="28" font-weight="bold">{title}</text>',
        f'<text x="{left}" y="46" fill="#667">{unit}</text>',
    ]
    for number, (name, value) in enumerate(bars):
        y, width = 62 + 26 * number, max(2.0, 230 * value / most)
        mine = name == "jeton"
        weight = ' font-weight="bold"' if mine else ""
        out += [
            f'<text x="{left + 118}" y="{y + 14}" text-anchor="end"{weight}>{name}</text>',
            f'<rect x="{left + 126}" y="{y}" width="{width:.1f}" height="19" rx="2" '
            f'fill="{OURS if mine else THEIRS}"/>',
            f'<text x="{left + 132 + width:.1f}" y="{y + 14}"{weight}>{value:g}</text>',
        ]
    return out


def drawing() -> str:
    """The picture."""
    left = chart(
        "Encoding, one thread: MB of text a second",
        "o200k, English, cold tokenizer, list of ids; more is better",
        encoding(),
        20,
    )
    right = chart(
        "Training a BPE: seconds",
        "32,000 tokens from 64 MB of English; less is better",
        training(),
        460,
    )
    height = 76 + 26 * max(len(encoding()), len(training()))
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 880 {height}" '
            'font-family="sans-serif" font-size="13" fill="#223">',
            f'<rect width="880" height="{height}" rx="6" fill="white"/>',
            *left,
            *right,
            "</svg>",
            "",
        ]
    )


if __name__ == "__main__":
    TARGET.write_text(drawing(), encoding="utf-8")
    print(TARGET)
