"""Times ids with spans against ids alone, and checks in the same run that they are the stages'.

    python benchmarks/spans.py                           # some minutes
    python benchmarks/spans.py --mb 1 --text english --family cl100k
    python benchmarks/spans.py --out docs/benchmarks     # write spans.md

Of single texts, one thread and its own time: the process is held to one core, and what other
processes do there is not counted. The first figure is of the first pass over the texts with a
tokenizer that was just loaded, the second of the fastest pass after it. tokenizers and morpheme,
where they are installed, find their offsets by `encode(...).offsets`. Of batches, all cores and the
time on the clock. All units are timed and checked. Needs the data of `../shared`.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import platform
import tempfile
import textwrap
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Literal

import numpy as np
from speed.families import FAMILIES, Family
from speed.texts import KINDS, SHARED, documents, text_of

import jeton

Unit = Literal["characters", "bytes", "utf-16"]
PASSES = 9
BATCHES = 25
"""How often a batch is encoded, once without spans and once with them in each unit."""
CHECKED = 200_000
"""How many characters the stages, which are slow, are asked about."""
OFFSETS = 300_000
"""How many characters tokenizers is timed on."""
DOCUMENT = 2_000
"""How many characters a text of a batch has."""
UNITS: tuple[Unit, ...] = ("characters", "bytes", "utf-16")
"""The tables of speeds have the first."""
#: The stages of published files in the manner of SentencePiece, by what they are called here.
SHAPES = {
    "Unigram, XLM-R style": ("Unigram", True),
    "BPE with a character map": ("T5 style, a BPE", False),
}


def main() -> None:
    """Prints a row for each family and text."""
    names = [family.name for family in FAMILIES] + list(SHAPES)
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--mb", type=float, default=2.0, help="megabytes of each text")
    parser.add_argument("--batch-mb", type=float, default=4.0, help="megabytes of each batch")
    parser.add_argument("--family", nargs="+", choices=names, default=names)
    parser.add_argument("--text", nargs="+", choices=KINDS, default=["english", "multilingual"])
    parser.add_argument("--out", type=Path, help="the folder that spans.md is written to")
    arguments = parser.parse_args()
    if not SHARED.is_dir():
        print("spans.py: skipped, since the texts and vocabularies of ../shared are not here")
        return
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else float("nan")
    batches = [
        "| family | text | ids, MB/s | with spans, MB/s | of the speed of ids |",
        "| --- | --- | --: | --: | --: |",
    ]
    units = [
        "| family | text | one text: characters | bytes | UTF-16 | batch: characters | bytes "
        "| UTF-16 |",
        "| --- | --- | --: | --: | --: | --: | --: | --: |",
    ]
    shares: dict[tuple[str, str], list[float]] = {}
    print("\n".join(batches))
    # First, since threads that begin later are held to one core too.
    for kind in arguments.text:
        texts = documents(text_of(kind, arguments.batch_mb), DOCUMENT)
        for name, make, _ in tokenizers_of(arguments.family):
            line, shares[name, kind] = batch_row(name, make, kind, texts)
            batches.append(line)
            print(line, flush=True)
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])
    lines = [
        "| family | text | ids, MB/s | with spans, MB/s | of the speed of ids "
        "| tokenizers with offsets, MB/s | morpheme with offsets, MB/s |",
        "| --- | --- | --: | --: | --: | --: | --: |",
    ]
    print("\n".join(lines))
    for kind in arguments.text:
        text = text_of(kind, arguments.mb)
        # Less than what all cores would share.
        pieces = [text[at : at + 50_000] for at in range(0, len(text), 50_000)]
        for name, make, file in tokenizers_of(arguments.family):
            line, of_units = row(name, make, file, kind, pieces)
            lines.append(line)
            print(line, flush=True)
            figures = [f"{share:.0%}" for share in of_units + shares[name, kind]]
            units.append(f"| {name} | {kind} | {' | '.join(figures)} |")
    print("\n".join(units))
    if arguments.out:
        above = heads(arguments.mb, arguments.batch_mb, load)
        page = "\n".join([*above[0], *lines, "", *above[1], *batches, "", *above[2], *units, ""])
        (arguments.out / "spans.md").write_text(page, "utf-8")


def heads(megabytes: float, batch: float, load: float) -> tuple[list[str], list[str], list[str]]:
    """What stands above the tables of single texts, of batches and of units."""
    made = (
        f"{time.strftime('%Y-%m-%d')}, {platform.machine()}, {os.cpu_count()} cores, Python "
        f"{platform.python_version()}; the load of the machine was {load:.1f} when it began. Made "
        "by `python benchmarks/spans.py --out docs/benchmarks`."
    )
    meaning = (
        f"{megabytes:g} MB of each text in pieces of 50,000 characters, one thread, by the time "
        "that the thread itself took. `encode_array` gives ids, with `spans=` also "
        "where each came from, in characters. Figures are of the first pass, with a tokenizer that "
        "has seen nothing, and of later ones. Ids and spans were checked in the same run against "
        "those of the stages, run one after another. tokenizers reads no `.model` file that "
        "`tokenizer.json` cannot hold."
    )
    batches = (
        f"{batch:g} MB of each text in texts of {DOCUMENT:,} characters, all cores, by the clock. "
        "`encode_batch` gives the ids of all texts as one array, and with `spans=` also "
        "the spans of all tokens as one array, in characters. Figures are of the fastest of "
        f"{BATCHES} later passes, without spans and with them in turn; each result was dropped "
        "before the next pass. Ids and spans were checked in the "
        "same run against those of each text by itself."
    )
    units = (
        "The speed with spans in each unit, of the speed of ids: the same texts, and later passes "
        "as above, in the same run."
    )
    above = [
        textwrap.wrap(it, 100, break_on_hyphens=False) for it in (made, meaning, batches, units)
    ]
    single = ["# Speed: spans", "", *above[0], "", "## Single texts", "", *above[1], ""]
    return single, ["## Batches", "", *above[2], ""], ["## Units", "", *above[3], ""]


def tokenizers_of(
    names: list[str],
) -> Iterator[tuple[str, Callable[[], jeton.Tokenizer], Callable[[], Path]]]:
    """The tokenizers of these names: how to load each, and a file of it for tokenizers."""
    for family in FAMILIES:
        if family.name in names:
            yield family.name, family.load, family.json
    families = {family.name: family for family in FAMILIES}
    for name, (of, parts) in SHAPES.items():
        if name in names:
            path = shaped(families[of], parts)
            yield name, partial(jeton.load, path), partial(Path, path)


def shaped(family: Family, parts: bool) -> Path:
    """A `tokenizer.json` with the pieces and the character map of a `.model` file, and the stages
    that published files have: words parted by white space, or spaces written as marks."""
    path = Path(tempfile.mkdtemp(prefix="jeton-benchmark-")) / "tokenizer.json"
    family.load().approximation("tokenizer.json").save(path)
    file = json.loads(path.read_text("utf-8"))
    file["normalizer"] = file["normalizer"]["normalizers"][0]
    marks = {
        "type": "Metaspace",
        "replacement": "▁",
        "prepend_scheme": "always",
        "split": True,
    }
    stages = [{"type": "WhitespaceSplit"}, marks]
    file["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": stages} if parts else marks
    for token in file["added_tokens"]:
        token["normalized"] = False
    if file["model"]["type"] == "Unigram":
        file["model"]["byte_fallback"] = False
    path.write_text(json.dumps(file), "utf-8")
    return path


def row(
    name: str,
    load: Callable[[], jeton.Tokenizer],
    file: Callable[[], Path],
    kind: str,
    pieces: list[str],
) -> tuple[str, list[float]]:
    """The figures of a family and a text, and of each unit the share of the speed of ids."""
    size = sum(len(piece.encode()) for piece in pieces) / 1e6
    ids = _times(load().encode_array, pieces)
    spans = []
    for unit in UNITS:
        tok = load()
        spans.append(_times(partial(tok.encode_array, spans=unit), pieces))
        checked = "".join(pieces)[:CHECKED]
        encoded = tok._core.encode_with_spans(
            checked, None, False, "ignore", False, unit, None, True
        )
        expected = jeton.Encoding._of_core(encoded)
        own_ids, own_spans = tok.encode_array(checked, spans=unit)
        assert own_ids.tolist() == expected.ids, "ids differ"
        assert np.array_equal(own_spans, np.array(expected.spans).reshape(-1, 2)), "spans differ"
    (first_ids, later_ids), (first, later) = ids, spans[0]
    peers = " | ".join(_offsets(peer, file, pieces) for peer in ("tokenizers", "morpheme"))
    line = (
        f"| {name} | {kind} | {size / first_ids:.0f} / {size / later_ids:.0f} "
        f"| {size / first:.0f} / {size / later:.0f} "
        f"| {first_ids / first:.0%} / {later_ids / later:.0%} | {peers} |"
    )
    return line, [later_ids / of_unit for _, of_unit in spans]


def batch_row(
    name: str, load: Callable[[], jeton.Tokenizer], kind: str, texts: list[str]
) -> tuple[str, list[float]]:
    """The figures of a family and a batch, and of each unit the share of the speed of ids."""
    size = sum(len(text.encode()) for text in texts) / 1e6
    tok = load()
    with_spans = [partial(tok.encode_batch, texts, spans=unit) for unit in UNITS]
    for unit, call in zip(UNITS, with_spans, strict=True):
        batch = call()
        spans = batch.spans
        for number in range(min(len(texts), CHECKED // DOCUMENT)):
            own_ids, own_spans = tok.encode_array(texts[number], spans=unit)
            rows = slice(batch.offsets[number], batch.offsets[number + 1])
            assert np.array_equal(batch[number], own_ids), "ids differ"
            assert np.array_equal(spans[rows], own_spans), "spans differ"
        assert np.array_equal(tok.encode_batch(texts).ids, batch.ids), "ids differ"
        del batch, spans, rows
    calls: list[Callable[[], object]] = [partial(tok.encode_batch, texts), *with_spans]
    rounds = [[_clocked(call) for call in calls] for _ in range(BATCHES)]
    ids, *of_units = (min(times) for times in zip(*rounds, strict=True))
    figures = f"{size / ids:.0f} | {size / of_units[0]:.0f} | {ids / of_units[0]:.0%}"
    return f"| {name} | {kind} | {figures} |", [ids / of_unit for of_unit in of_units]


def _clocked(call: Callable[[], object]) -> float:
    """Seconds by the clock, without the time that it takes to drop what was made."""
    start = time.perf_counter()
    made = call()
    seconds = time.perf_counter() - start
    del made
    return seconds


def _times(call: Callable[[str], object], pieces: list[str]) -> tuple[float, float]:
    """Seconds of the first pass and of the fastest later one."""
    times = []
    for _ in range(PASSES + 1):
        start = time.thread_time()
        for piece in pieces:
            call(piece)
        times.append(time.thread_time() - start)
    return times[0], min(times[1:])


def _offsets(library: str, file: Callable[[], Path], pieces: list[str]) -> str:
    """The speed of tokenizers or morpheme, where it reads this family."""
    try:
        peer = importlib.import_module(library).Tokenizer.from_file(str(file()))
    except Exception:
        return "–"
    text = "".join(pieces)[:OFFSETS]
    some = [text[at : at + 50_000] for at in range(0, len(text), 50_000)]
    start = time.thread_time()
    for piece in some:
        _ = peer.encode(piece, add_special_tokens=False).offsets
    return f"{len(text.encode()) / 1e6 / (time.thread_time() - start):.1f}"


if __name__ == "__main__":
    main()
