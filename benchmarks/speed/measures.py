"""What is timed, and how: each function yields rows, one a library, of the same work.

A first pass is one with a tokenizer that has seen nothing; later passes are the median of several.
Where one thread is timed the process runs on one core, so no library can use another, and a first
pass is the median of several too: the first of all in a process pays for memory that others find.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

from .families import FAMILIES, MAIN, Family
from .libraries import LIBRARIES, Documents, Library, Skipped, as_input
from .texts import KINDS, WORST, documents, text_of, worst_of

LENGTHS = (100, 4_000, 1_000_000)
FASTEST = ("jeton", "gigatoken")
"""The libraries that are timed on all lengths and on much text."""
LARGE = 64.0
"""Megabytes of much text; of code, as much as the standard library has."""
CHECKED = 400
"""How many documents the ids are checked on."""
LONGEST_CHECKED = 100_000
"""Longer documents are not checked: some judges take minutes for one."""


@dataclass
class Row:
    """One measurement."""

    section: str
    family: str
    text: str
    size: str
    output: str
    library: str
    first: float | None = None
    """Megabytes a second; in the section of short calls microseconds, in that of loading
    milliseconds."""
    later: float | None = None
    differ: int | None = None
    """How many of the documents checked have other ids, or another count, than the family's judge
    gives."""
    note: str = ""

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class Plan:
    """How much is timed."""

    megabytes: float
    passes: int
    seconds: float
    """Later passes end after this time."""
    families: Sequence[str]
    texts: Sequence[str]
    lengths: Sequence[int]
    libraries: Sequence[str]

    def chosen_families(self) -> list[Family]:
        return [family for family in FAMILIES if family.name in self.families]

    def chosen_libraries(self) -> list[Library]:
        return [library for library in LIBRARIES if library.name in self.libraries]


Work: TypeAlias = "partial[Any]"
"""A call, with what it is called with."""

_ONE_CORE: list[bool] = []


def on_one_core() -> None:
    """Has this process, and so all libraries in it, run on one core."""
    _ONE_CORE.append(True)
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def timed(work: Callable[[], Any]) -> float:
    """Seconds of a call: of the processor on one core, where other processes would be counted by
    the wall clock, and by that where all cores work."""
    clock = time.process_time if _ONE_CORE else time.perf_counter
    start = clock()
    work()
    return clock() - start


def later_passes(plan: Plan, work: Callable[[], Any]) -> float:
    """The median of several calls."""
    seconds = [timed(work)]
    while len(seconds) < plan.passes and sum(seconds) < plan.seconds:
        seconds.append(timed(work))
    return statistics.median(seconds)


def first_passes(plan: Plan, fresh: Callable[[], Work]) -> tuple[float, Work]:
    """The median of several first calls, each of something fresh, and the last of these."""
    work = fresh()
    seconds = [timed(work)]
    while len(seconds) < plan.passes and sum(seconds) < plan.seconds:
        work = fresh()
        seconds.append(timed(work))
    return statistics.median(seconds), work


def encode(plan: Plan) -> Iterator[Row]:
    """One thread: documents of several lengths, first pass and later ones."""
    for family in plan.chosen_families():
        for text in plan.texts:
            whole = text_of(text, plan.megabytes)
            size = len(whole.encode())
            for length in plan.lengths if family.name in MAIN else (4_000,):
                texts = documents(whole, length)
                expected = _expected(family, texts)
                for library in plan.chosen_libraries():
                    slow = library.name not in FASTEST
                    if slow and (length != 4_000 or text not in KINDS[:3]):
                        continue
                    row = Row("encode", family.name, text, str(length), "", library.name)
                    yield from _encode(plan, library, family, row, texts, size, expected)


def large(plan: Plan) -> Iterator[Row]:
    """One thread, the fastest libraries: so much text that most words of the first pass repeat."""
    for text in plan.texts[:3]:
        whole = text_of(text, 4.0 if plan.megabytes <= 1 else LARGE)
        texts = documents(whole, 4_000)
        size = len(whole.encode())
        del whole
        for family in plan.chosen_families():
            if family.name not in MAIN:
                continue
            expected = _expected(family, texts)
            for library in plan.chosen_libraries():
                if library.name in FASTEST:
                    row = Row("large", family.name, text, "4000", "", library.name)
                    yield from _encode(plan, library, family, row, texts, size, expected)


def _encode(
    plan: Plan,
    library: Library,
    family: Family,
    row: Row,
    texts: list[str],
    size: int,
    expected: list[list[int]],
) -> Iterator[Row]:
    try:
        outputs = list(library.encoders(library.load(family)))
    except Exception as error:
        yield _failed(row, error)
        return
    for output in outputs:
        try:
            fresh = partial(_fresh, library, family, output, texts)
            first, one_pass = first_passes(plan, fresh)
            later = later_passes(plan, one_pass)
            call = one_pass.args[0]
            found = [call(text) for text in texts[: len(expected)]]
            if output == "count":
                differ = sum(count != len(ids) for count, ids in zip(found, expected, strict=True))
            else:
                lists = map(library.ids, found)
                differ = sum(a != b for a, b in zip(lists, expected, strict=True))
        except BaseException as error:  # some libraries panic
            if isinstance(error, KeyboardInterrupt):
                raise
            yield _failed(Row(**{**row.as_dict(), "output": output}), error)
            continue
        measured = {"output": output, "first": size / first / 1e6, "later": size / later / 1e6}
        yield Row(**{**row.as_dict(), **measured, "differ": differ})


def _fresh(library: Library, family: Family, output: str, texts: Sequence[str]) -> Work:
    return partial(_each, library.encoders(library.load(family))[output], texts)


def _each(call: Callable[[str], Any], texts: Sequence[str]) -> None:
    for text in texts:
        call(text)


def _expected(family: Family, texts: list[str]) -> list[list[int]]:
    """The ids that the family's judge gives, of the first documents."""
    judge = next(library for library in LIBRARIES if library.name == family.judge)
    some = [text for text in texts[:CHECKED] if len(text) <= LONGEST_CHECKED]
    try:
        call = judge.encoders(judge.load(family))["list"]
    except Exception as error:
        print(f"{family.name}: ids are not checked: {error}", file=sys.stderr)
        return []
    return [judge.ids(call(text)) for text in some]


def _failed(row: Row, error: BaseException) -> Row:
    row.note = str(error).splitlines()[0][:120] if str(error) else type(error).__name__
    if not isinstance(error, Skipped):
        row.note = f"fails: {row.note}"
    return row


def batch(plan: Plan) -> Iterator[Row]:
    """All cores: many documents in one call, first call and later ones."""
    for family in plan.chosen_families():
        for text in plan.texts[:3]:
            whole = text_of(text, 2 * plan.megabytes)
            size = len(whole.encode())
            texts = documents(whole, 4_000)
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / "documents.txt"
                path.write_text(whole, "utf-8")
                given = Documents(texts, whole, path)
                for library in plan.chosen_libraries():
                    row = Row("batch", family.name, text, "4000", "", library.name)
                    try:
                        ways = list(library.batches(library.load(family)))
                        for way in ways:
                            call = library.batches(library.load(family))[way]
                            work = partial(call, given)
                            first, later = timed(work), later_passes(plan, work)
                            rates = {"first": size / first / 1e6, "later": size / later / 1e6}
                            yield Row(**{**row.as_dict(), "output": way, **rates})
                    except Exception as error:
                        yield _failed(row, error)


def short(plan: Plan) -> Iterator[Row]:
    """Microseconds a call on short texts."""
    whole = text_of("english", 0.2)
    for family in plan.chosen_families():
        if family.name not in ("cl100k", "Llama 2", "BERT"):
            continue
        for length in (20, 100, 500, 2_000):
            texts = documents(whole, length)[:200]
            for library in plan.chosen_libraries():
                row = Row("short", family.name, "english", str(length), "", library.name)
                try:
                    for output, call in library.encoders(library.load(family)).items():
                        best = _microseconds(call, texts)
                        yield Row(**{**row.as_dict(), "output": output, "later": best})
                except Exception as error:
                    yield _failed(row, error)


def _microseconds(call: Callable[[Any], Any], items: Sequence[Any]) -> float:
    """The median over rounds of a call's mean time."""

    def one_pass() -> None:
        for item in items:
            call(item)

    for _ in range(3):
        one_pass()
    return statistics.median(timed(one_pass) for _ in range(25)) / len(items) * 1e6


def decode(plan: Plan) -> Iterator[Row]:
    """One thread: ids to text."""
    for family in plan.chosen_families():
        for text in plan.texts[:3]:
            texts = documents(text_of(text, plan.megabytes / 2), 4_000)
            encode_ids = family.load().encode
            rows = [encode_ids(document) for document in texts]
            size = sum(len(document.encode()) for document in texts)
            for library in plan.chosen_libraries():
                row = Row("decode", family.name, text, "4000", "", library.name)
                try:
                    for kind, call in library.decoders(library.load(family)).items():
                        inputs = [as_input(kind, ids) for ids in rows]

                        def one_pass(
                            call: Callable[[Any], Any] = call, inputs: list[Any] = inputs
                        ) -> None:
                            for item in inputs:
                                call(item)

                        rates = {
                            "first": size / timed(one_pass) / 1e6,
                            "later": size / later_passes(plan, one_pass) / 1e6,
                        }
                        yield Row(**{**row.as_dict(), "output": kind, **rates})
                except Exception as error:
                    yield _failed(row, error)


def load(plan: Plan) -> Iterator[Row]:
    """Milliseconds from a file to a tokenizer."""
    for family in plan.chosen_families():
        # The file is there before anything is timed.
        assert family.path.is_file()
        if family.kind == "json":
            family.json()
        for library in plan.chosen_libraries():
            row = Row("load", family.name, "", "", "", library.name)
            try:
                work = partial(library.load, family)
                first, later = timed(work), later_passes(plan, work)
                yield Row(**{**row.as_dict(), "first": first * 1e3, "later": later * 1e3})
            except Exception as error:
                yield _failed(row, error)


def worst(plan: Plan) -> Iterator[Row]:
    """jeton on texts that caches and merges dread, one call each, first pass."""
    ordinary = text_of("english", 1)
    for family in plan.chosen_families():
        for kind in ("english", *WORST):
            text = ordinary if kind == "english" else worst_of(kind)
            size = len(text.encode())
            rates = []
            for _ in range(3):
                call = family.load().encode_array
                rates.append(size / timed(partial(call, text)) / 1e6)
            yield Row("worst", family.name, kind, "", "numpy", "jeton", statistics.median(rates))


SECTIONS: dict[str, tuple[Callable[[Plan], Iterator[Row]], bool]] = {
    "load": (load, False),
    "short": (short, True),
    "decode": (decode, True),
    "worst": (worst, True),
    "batch": (batch, False),
    "large": (large, True),
    "encode": (encode, True),
}
"""What is timed, in this order, and whether it is timed on one core."""


def run(section: str, plan: Plan) -> Iterator[Row]:
    """The rows of a section."""
    measure, one_core = SECTIONS[section]
    if one_core:
        on_one_core()
    for row in measure(plan):
        figures = " / ".join(f"{x:.1f}" for x in (row.first, row.later) if x is not None)
        place = " ".join(filter(None, (row.family, row.text, row.size, row.output)))
        print(f"{section}: {place}: {row.library} {figures or row.note}", file=sys.stderr)
        yield row
