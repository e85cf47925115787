"""Compares every pair of `pairs.py` over everything: the published files first, then trained models.

Run it by hand: `python tests/parity/full_scale.py --state FILE`. It may be stopped at any time;
started again with the same file, it goes on after the last part that it finished. `--table` prints
what the file says.
"""

from __future__ import annotations

import argparse
import functools
import hashlib
import json
import lzma
import multiprocessing
import os
import sys
import sysconfig
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
os.environ.setdefault("RAYON_NUM_THREADS", "1")

import jeton
import pairs as pairs_module
from nasty import strings
from pairs import Comparer, Pair
from shared_data import SHARED
from test_sentencepiece import nasty_strings

PARTS: Final = 96
STRINGS: Final = 1_000_000
DOCUMENT: Final = 4_000

#: So many models of small option combinations come with the others; what is left comes last.
COMBINATIONS: Final = 24


@dataclass(frozen=True)
class Row:
    """What comparing one part of all texts found for one pair."""

    group: str
    pair: str
    part: int
    texts: int
    characters: int
    differences: int
    #: What differed and in which text, the first few.
    found: list[list[str]]
    #: The compiled core that was compared.
    build: str
    seconds: float


def documents(shared: Path) -> list[str]:
    """All text beside the project, unpacked, in stretches, and the standard library's source.

    Of equal stretches, which smaller files share with larger ones, one is kept.
    """

    def everything() -> Iterator[str]:
        for path in sorted((shared / "text").rglob("*.txt*")):
            if path.suffix == ".xz":
                text = lzma.decompress(path.read_bytes()).decode(errors="ignore")
            else:
                text = path.read_text(encoding="utf-8", errors="ignore")
            yield from (text[at : at + DOCUMENT] for at in range(0, len(text), DOCUMENT))
        for path in sorted(Path(sysconfig.get_paths()["stdlib"]).rglob("*.py")):
            if "site-packages" not in path.parts:
                yield path.read_text(encoding="utf-8", errors="replace")

    return list(dict.fromkeys(everything()))


def phases(shared: Path, folder: Path, texts: Sequence[str]) -> Iterator[list[Pair]]:
    """Pairs in the order of their weight; each phase is trained when the one before it is done."""
    lines = [line for text in texts[::40] for line in text[:2000].splitlines() if line.strip()]
    lines = [line[:1000] for line in lines][:20_000]
    yield list(pairs_module.real_pairs(shared / "vocab"))
    combinations = list(pairs_module.option_pairs(folder))
    yield [*pairs_module.trained_pairs(folder, lines), *combinations[:COMBINATIONS]]
    yield combinations[COMBINATIONS:]


class Comparison:
    """The work of one phase; a process opens a pair and draws a part when it first needs them."""

    def __init__(self, pairs: Sequence[Pair], texts: Sequence[str], deadline: float) -> None:
        self.pairs = pairs
        self.texts = texts
        self.deadline = deadline
        self.build = hashlib.sha256(Path(jeton._core.__file__).read_bytes()).hexdigest()[:12]
        self.opened: Callable[[int], Comparer] = functools.cache(
            lambda number: pairs[number].comparer()
        )
        self.part: Callable[[int], list[str]] = functools.lru_cache(1)(self._draw)

    def _draw(self, part: int) -> list[str]:
        """A part of the documents, and of the generated strings."""
        half = STRINGS // PARTS // 2
        return [
            *self.texts[part::PARTS],
            *strings(half, seed=part),
            *nasty_strings(half, seed=part),
        ]

    def __call__(self, task: tuple[int, int]) -> Row | None:
        """Compares one part of one pair, if there is time."""
        part, number = task
        if time.monotonic() > self.deadline:
            return None
        pair, some = self.pairs[number], self.part(part)
        compare = self.opened(number)
        start = time.process_time()
        differences = compare(some)
        return Row(
            group=pair.group,
            pair=pair.name,
            part=part,
            texts=differences.texts,
            characters=differences.characters,
            differences=differences.count,
            found=[list(found) for found in differences.found],
            build=self.build,
            seconds=round(time.process_time() - start, 2),
        )


_comparison: Comparison


def _task(task: tuple[int, int]) -> Row | None:
    return _comparison(task)


def compared(
    comparison: Comparison, tasks: Sequence[tuple[int, int]], processes: int
) -> Iterator[Row]:
    """The rows of tasks, as they are done."""
    global _comparison
    _comparison = comparison
    if processes == 1:
        yield from filter(None, map(_task, tasks))
        return
    with multiprocessing.get_context("fork").Pool(processes) as pool:
        yield from filter(None, pool.imap_unordered(_task, tasks))


def rows_of(state: Path) -> list[Row]:
    """What a state file holds; a line that was cut when the program was stopped is left out."""
    rows = []
    lines = state.read_text(encoding="utf-8").splitlines() if state.exists() else []
    for line in lines:
        try:
            rows.append(Row(**json.loads(line)))
        except ValueError:
            continue
    return rows


def table(rows: Sequence[Row]) -> Iterator[str]:
    """A line for each published file, a line for each group of others."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        name = row.pair if row.group == "published" else row.group
        groups.setdefault(name, []).append(row)
    yield f"{'':42}{'pairs':>6}{'texts':>13}{'characters':>17}{'of all':>8}{'differences':>13}"
    for name, some in groups.items():
        pairs = len({row.pair for row in some})
        texts = sum(row.texts for row in some)
        characters = sum(row.characters for row in some)
        share = len(some) / pairs / PARTS
        count = sum(row.differences for row in some)
        yield f"{name:42}{pairs:6}{texts:13,}{characters:17,}{share:8.1%}{count:13,}"
    builds = ", ".join(sorted({row.build for row in rows}))
    yield f"processor time {sum(row.seconds for row in rows):,.0f} s; builds {builds}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--state", type=Path, required=True, help="what is done, a line a part")
    parser.add_argument("--models", type=Path, help="where trained models are (beside the state)")
    parser.add_argument("--shared", type=Path, default=SHARED, help="text and vocabularies")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after these")
    parser.add_argument("--pairs", default="", help="only pairs whose group or name holds this")
    parser.add_argument("--table", action="store_true", help="only print what the state says")
    options = parser.parse_args()
    if not options.table:
        compare_all(options)
    rows = rows_of(options.state)
    print("\n".join(table(rows)))
    return int(any(row.differences for row in rows))


def compare_all(options: argparse.Namespace) -> None:
    """Does what the state does not have yet, and writes it down part by part."""
    deadline = time.monotonic() + options.seconds
    texts = documents(options.shared)
    print(f"{len(texts):,} documents, {STRINGS // PARTS // 2 * 2 * PARTS:,} strings", flush=True)
    folder = options.models or options.state.with_suffix(".models")
    folder.mkdir(parents=True, exist_ok=True)
    done = {(row.group, row.pair, row.part) for row in rows_of(options.state)}
    for pairs in phases(options.shared, folder, texts):
        tasks = [
            (part, number)
            for part in range(PARTS)
            for number, pair in enumerate(pairs)
            if (pair.group, pair.name, part) not in done
            and (options.pairs in pair.name or options.pairs in pair.group)
        ]
        comparison = Comparison(pairs, texts, deadline)
        with options.state.open("a", encoding="utf-8") as state:
            for row in compared(comparison, tasks, options.processes):
                state.write(json.dumps(asdict(row)) + "\n")
                state.flush()
                for what, text in row.found:
                    print(f"{row.pair}: {what}: {text!r}", flush=True)
        if time.monotonic() > deadline:
            return


if __name__ == "__main__":
    sys.exit(main())
