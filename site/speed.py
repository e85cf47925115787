"""The picture of speed in the README, from the tables in docs/benchmarks.

Nothing is measured here: `python site/illustrations.py` draws it, after `benchmarks/encode.py` and
`benchmarks/train.py`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from jeton.display.views.frames import Bar, Bars, Frame
from pictures import of_frame

DOCS = Path(__file__).parent.parent / "docs"

Rates = Sequence[tuple[str, float]]


def rows(text: str, after: str) -> list[dict[str, str]]:
    """The rows of the first table after a line that begins with `after`, by column."""
    table = re.search(r"^\|.*(?:\n\|.*)*", text[text.index(f"\n{after}") + 1 :], re.MULTILINE)
    assert table is not None, after
    head, _, *body = (
        [cell.strip() for cell in line.strip("| ").split(" | ")] for line in table[0].split("\n")
    )
    return [dict(zip(head, row, strict=False)) for row in body]


def encoding() -> Rates:
    """Megabytes per second, to a list of ids, a tokenizer's first pass over o200k's English."""
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


def training() -> Rates:
    """Seconds for a byte pair encoding of 32,000 tokens from 64 MB of English."""
    text = (DOCS / "benchmarks" / "training.md").read_text(encoding="utf-8")
    return sorted(
        (
            (row["library"].removesuffix(" bpe"), float(row["wall, s"]))
            for row in rows(text, "## bpe-english")
        ),
        key=lambda bar: bar[1],
    )


def picture() -> str:
    """Both as bars."""
    fastest, slowest = encoding()[0][1], training()[-1][1]
    blocks = (
        Bars(
            tuple(_bar(name, value, fastest) for name, value in encoding()),
            "Encoding, MB of text per second: more is better. o200k, English, one thread, a list "
            "of ids",
        ),
        Bars(
            tuple(_bar(name, value, slowest) for name, value in training()),
            "Training, seconds: less is better. BPE of 32,000 tokens from 64 MB of English",
        ),
    )
    return of_frame(Frame("", "", blocks), "Speed of encoding and training beside other libraries")


def _bar(name: str, value: float, most: float) -> Bar:
    return Bar(name, value / most, f"{value:g}", "best" if name == "jeton" else "")
