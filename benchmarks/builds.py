"""Compares two builds of jeton in turns, so that what else the machine does falls on both.

    python benchmarks/builds.py OLD NEW        # folders that hold a package jeton with its core
    python benchmarks/builds.py OLD NEW --family r50k "Llama 2" --rounds 21

Prints how many times as fast as OLD NEW is, by the median of the rounds, in the processor's time of
one core. `first` is with a tokenizer that has seen nothing. `list` makes a list of ids for each
text and drops it; `kept` keeps them all, so that Python's collector of cycles looks at them. Lists
cost more or less by where a process has its memory, so there are several of each build. The ids
must be the same. Needs the data of `../shared`.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from speed.families import FAMILIES
from speed.texts import KINDS, SHARED, documents, text_of

CALLS = ("first", "later", "batch", "count", "list", "kept")


class Build:
    """A process that imports one of the builds and answers with times."""

    def __init__(self, folder: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, __file__, "--worker"],
            env={**os.environ, "PYTHONPATH": str(folder)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def seconds(self, *asked: str) -> tuple[float, int]:
        """How long a call takes, and a number that depends on its ids."""
        assert self._process.stdin is not None and self._process.stdout is not None
        print(json.dumps(asked), file=self._process.stdin, flush=True)
        seconds, told = json.loads(self._process.stdout.readline())
        return seconds, told


def work() -> None:
    """Answers what `Build.seconds` asks. One tokenizer at a time is kept."""
    families = {family.name: family for family in FAMILIES}
    kept: tuple[str, str] | None = None
    for line in sys.stdin:
        name, kind, call = json.loads(line)
        if kept != (name, kind):
            kept = name, kind
            text = text_of(kind, 4)
            rows = documents(text, 2_000)
            tokenizer = families[name].load()
            for _ in range(2):
                tokenizer.encode_array(text)
        print(json.dumps(timed(call, families[name], tokenizer, text, rows)), flush=True)


def timed(call: str, family: Any, tokenizer: Any, text: str, rows: list[str]) -> tuple[float, int]:
    """The processor's time of a call, and a number that depends on its ids."""
    if call == "first":
        tokenizer = family.load()
        tokenizer.encode("x")
    array = (lambda: tokenizer.encode_array(text), lambda ids: int(ids.sum()))
    calls: dict[str, tuple[Callable[[], Any], Callable[[Any], int]]] = {
        "first": array,
        "later": array,
        "batch": (lambda: tokenizer.encode_batch(rows), lambda batch: int(batch.ids.sum())),
        "count": (lambda: tokenizer.count(text), int),
        "list": (lambda: [hash(tuple(tokenizer.encode(row)[::97])) for row in rows[:800]], sum),
        "kept": (
            lambda: [tokenizer.encode(row) for row in rows[:800]],
            lambda lists: sum(map(sum, lists)),
        ),
    }
    encode, told = calls[call]
    gc.collect()
    start = time.process_time()
    found = encode()
    seconds = time.process_time() - start
    return seconds, told(found)


def main() -> None:
    """Runs both builds and prints a table."""
    names = [family.name for family in FAMILIES]
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("builds", nargs="*", type=Path, metavar="OLD NEW")
    parser.add_argument("--family", nargs="+", choices=names, default=names)
    parser.add_argument("--text", nargs="+", choices=KINDS, default=["english", "multilingual"])
    parser.add_argument("--call", nargs="+", choices=CALLS, default=list(CALLS))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--processes", type=int, default=3, help="of each build, side by side")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if not SHARED.is_dir() or len(arguments.builds) != (0 if arguments.worker else 2):
        print("builds.py: skipped, since it takes two builds and the data of ../shared")
        return
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    if arguments.worker:
        work()
        return
    pairs = [[Build(it) for it in arguments.builds] for _ in range(arguments.processes)]
    calls = arguments.call
    print(f"| family | text | {' | '.join(calls)} |\n| --- | --- |{' --: |' * len(calls)}")
    for name in arguments.family:
        for kind in arguments.text:
            cells = [compared(pairs, arguments.rounds, name, kind, call) for call in calls]
            print(f"| {name} | {kind} | {' | '.join(cells)} |", flush=True)


def compared(pairs: list[list[Build]], rounds: int, *asked: str) -> str:
    """How many times as fast as the first build the second one is."""
    ratios = []
    for turn, pair in enumerate(pairs * rounds):
        order = (0, 1) if turn % 2 == 0 else (1, 0)
        found = {number: pair[number].seconds(*asked) for number in order}
        if found[0][1] != found[1][1]:
            return "ids differ"
        ratios.append(found[0][0] / found[1][0])
    return f"{statistics.median(ratios):.2f}"


if __name__ == "__main__":
    main()
