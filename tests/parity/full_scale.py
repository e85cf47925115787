"""Compares every pair of `pairs.py` over everything, on two processes, and prints a table.

Run it by hand: `python tests/parity/full_scale.py`. `JETON_PARITY_SECONDS` ends it in time; what it
did not come to is in the table.
"""

from __future__ import annotations

import lzma
import multiprocessing
import os
import sys
import sysconfig
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from queue import Empty
from typing import Any, Final

os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

import pairs as pairs_module
from nasty import strings
from pairs import Differences, Pair
from test_sentencepiece import nasty_strings

SHARED: Final = Path(__file__).resolve().parents[3] / "shared" / "data"
PARTS: Final = 96
STRINGS: Final = 1_000_000
PROCESSES: Final = 2
DOCUMENT: Final = 4_000


def documents() -> Iterator[str]:
    """All text beside the project, unpacked, in stretches, and the standard library's source."""
    for path in sorted((SHARED / "text").rglob("*.txt*")):
        if path.suffix == ".xz":
            text = lzma.decompress(path.read_bytes()).decode(errors="ignore")
        else:
            text = path.read_text(encoding="utf-8", errors="ignore")
        yield from (text[at : at + DOCUMENT] for at in range(0, len(text), DOCUMENT))
    for path in sorted(Path(sysconfig.get_paths()["stdlib"]).rglob("*.py")):
        if "site-packages" not in path.parts:
            yield path.read_text(encoding="utf-8", errors="replace")


def texts_of(part: int, texts: Sequence[str]) -> list[str]:
    """A part of the documents, and of the generated strings."""
    half = STRINGS // PARTS // 2
    return [
        *texts[part::PARTS],
        *strings(half, seed=part),
        *nasty_strings(half, seed=part),
    ]


def work(
    pairs: Sequence[Pair], texts: Sequence[str], tasks: Any, results: Any, deadline: float
) -> None:
    """Compares parts until there are none left, or no time."""
    os.nice(19)
    opened = {}
    while time.monotonic() < deadline:
        try:
            part, numbers = tasks.get_nowait()
        except Empty:
            break
        some = texts_of(part, texts)
        for number in numbers:
            if time.monotonic() > deadline:
                break
            if number not in opened:
                opened[number] = pairs[number].comparer()
            results.put((number, opened[number](some)))
    results.put(None)


def table(pairs: Sequence[Pair], found: Sequence[Differences], total: int) -> Iterator[str]:
    """A line for each published file, a line for each group of others."""
    groups: dict[str, list[int]] = {}
    for number, pair in enumerate(pairs):
        name = pair.name if pair.group == "published" else pair.group
        groups.setdefault(name, []).append(number)
    yield f"{'':42}{'pairs':>6}{'texts':>13}{'characters':>17}{'of all':>8}{'differences':>13}"
    for name, numbers in groups.items():
        rows = [found[number] for number in numbers]
        texts = sum(row.texts for row in rows)
        characters = sum(row.characters for row in rows)
        share = texts / total / len(numbers)
        count = sum(row.count for row in rows)
        yield f"{name:42}{len(rows):6}{texts:13,}{characters:17,}{share:8.0%}{count:13,}"


def main() -> int:
    seconds = float(os.environ.get("JETON_PARITY_SECONDS", "inf"))
    deadline = time.monotonic() + seconds
    texts = list(documents())
    folder = Path(os.environ.get("JETON_PARITY_MODELS") or tempfile.mkdtemp())
    folder.mkdir(exist_ok=True)
    lines = [line for text in texts[::40] for line in text[:2000].splitlines() if line.strip()]
    lines = [line[:1000] for line in lines][:20_000]
    pairs = list(pairs_module.real_pairs(SHARED / "vocab"))
    published = len(pairs)
    pairs += pairs_module.option_pairs(folder)
    pairs += pairs_module.trained_pairs(folder, lines)
    print(f"{len(pairs)} pairs, {len(texts):,} documents, {STRINGS:,} strings", flush=True)

    context = multiprocessing.get_context("fork")
    tasks, results = context.Queue(), context.Queue()
    # Some of everything first, then what is published.
    for part in range(PROCESSES):
        tasks.put((part, range(len(pairs))))
    for numbers in (range(published), range(published, len(pairs))):
        for part in range(PROCESSES, PARTS):
            tasks.put((part, numbers))
    workers = [
        context.Process(target=work, args=(pairs, texts, tasks, results, deadline))
        for _ in range(PROCESSES)
    ]
    time.sleep(0.5)
    for worker in workers:
        worker.start()
    found = [Differences() for _ in pairs]
    running = len(workers)
    while running:
        row = results.get()
        if row is None:
            running -= 1
            continue
        number, differences = row
        into = found[number]
        into.texts += differences.texts
        into.characters += differences.characters
        into.count += differences.count
        for what, text in differences.found[: 5 - len(into.found)]:
            into.found.append((what, text))
            print(f"{pairs[number].name}: {what}: {text!r}", flush=True)
    tasks.cancel_join_thread()
    print("\n".join(table(pairs, found, len(texts) + STRINGS // PARTS // 2 * 2 * PARTS)))
    return int(any(row.count for row in found))


if __name__ == "__main__":
    sys.exit(main())
