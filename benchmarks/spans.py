"""Times ids with spans against ids alone, and checks in the same run that they are the stages'.

    python benchmarks/spans.py                       # a few minutes
    python benchmarks/spans.py --mb 1 --text english --family cl100k

One thread: the process is held to one core. `first` is the first text of a tokenizer that was just
loaded, `later` the median of those after it. tokenizers, where it is installed, finds its offsets
by `encode(...).offsets`. Needs the data of `../shared`.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from speed.families import FAMILIES, Family
from speed.texts import KINDS, SHARED, text_of

PASSES = 5
CHECKED = 200_000
"""How many characters the stages, which are slow, are asked about."""
OFFSETS = 300_000
"""How many characters tokenizers is timed on."""


def main() -> None:
    """Prints a row for each family and text."""
    names = [family.name for family in FAMILIES]
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--mb", type=float, default=2.0, help="megabytes of each text")
    parser.add_argument("--family", nargs="+", choices=names, default=names)
    parser.add_argument("--text", nargs="+", choices=KINDS, default=["english", "multilingual"])
    parser.add_argument("--unit", choices=["characters", "bytes", "utf-16"], default="characters")
    arguments = parser.parse_args()
    if not SHARED.is_dir():
        print("spans.py: skipped, since the texts and vocabularies of ../shared are not here")
        return
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])
    print("MB/s (first, later)    ids         with spans  ratio  tokenizers")
    for kind in arguments.text:
        # Less than what all cores would share.
        text = text_of(kind, arguments.mb)
        pieces = [text[at : at + 50_000] for at in range(0, len(text), 50_000)]
        for family in FAMILIES:
            if family.name in arguments.family:
                print(row(family, kind, pieces, arguments.unit), flush=True)


def row(family: Family, kind: str, pieces: list[str], unit: Any) -> str:
    """The figures of a family and a text."""
    size = sum(len(piece.encode()) for piece in pieces) / 1e6
    ids = _times(family.load().encode_array, pieces)
    tok = family.load()
    spans = _times(lambda piece: tok.encode_array_with_spans(piece, unit=unit), pieces)
    checked = "".join(pieces)[:CHECKED]
    expected = tok.encode_with_spans(checked, unit=unit)
    own_ids, own_spans = tok.encode_array_with_spans(checked, unit=unit)
    assert own_ids.tolist() == expected.ids, "ids differ"
    assert np.array_equal(own_spans, np.array(expected.spans).reshape(-1, 2)), "spans differ"
    (first_ids, later_ids), (first, later) = ids, spans
    return (
        f"{family.name:<13}{kind:<12}{size / first_ids:>5.0f} {size / later_ids:>5.0f}"
        f"  {size / first:>5.0f} {size / later:>5.0f}"
        f"  {first_ids / first:.2f} {later_ids / later:.2f}  {_offsets(family, pieces)}"
    )


def _times(call: Callable[[str], object], pieces: list[str]) -> tuple[float, float]:
    """Seconds of the first pass and of a later one."""
    times = []
    for _ in range(PASSES + 1):
        start = time.perf_counter()
        for piece in pieces:
            call(piece)
        times.append(time.perf_counter() - start)
    return times[0], statistics.median(times[1:])


def _offsets(family: Family, pieces: list[str]) -> str:
    """The speed of tokenizers, where it reads this family."""
    try:
        import tokenizers

        peer = tokenizers.Tokenizer.from_file(str(family.json()))
    except Exception as error:
        return f"- ({type(error).__name__})"
    text = "".join(pieces)[:OFFSETS]
    some = [text[at : at + 50_000] for at in range(0, len(text), 50_000)]
    start = time.perf_counter()
    for piece in some:
        _ = peer.encode(piece, add_special_tokens=False).offsets
    return f"{len(text.encode()) / 1e6 / (time.perf_counter() - start):.1f}"


if __name__ == "__main__":
    main()
