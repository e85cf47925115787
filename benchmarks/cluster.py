"""Measures on one core what a cluster does on many, and adds up what a corpus of any size takes.

    python benchmarks/cluster.py                                   # the tables of docs/cluster.md
    python benchmarks/cluster.py --corpus 1e12 --cores 256 --storage 2e9

Needs the texts of `../shared`. Times are of one thread, in seconds of the processor, so that what
else runs on the machine counts little. Sizes beyond the texts are extrapolated: distinct words by
the power law that fits the last doubling (Heaps), the rest in proportion.
"""

from __future__ import annotations

import os

os.environ["RAYON_NUM_THREADS"] = "1"

import argparse
import json
import lzma
import math
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import jeton
from jeton import data
from jeton.training import BPETrainer

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"
TEXTS = ["english-64mb", "multilingual-64mb"]
DOCUMENT = 4_000
"""Characters."""
PIECE = 10**9
FAN = 8

T = TypeVar("T")


@dataclass
class Rates:
    """What one core does."""

    counted: float
    """Bytes of text a second, counted."""
    words: int
    """Distinct words of the whole text,"""
    half: int
    """and of its half."""
    size: int
    """Bytes of the text."""
    word_bytes: float
    """Bytes that a distinct word takes where counts are saved or sent."""
    merged: float
    """Distinct words a second that merging takes in."""
    encoded: float
    """Bytes of text a second that become a part of a set."""
    token_bytes: float
    """Bytes of tokens for each byte of text."""

    def distinct(self, size: float) -> float:
        """Distinct words of a text of this many bytes, about."""
        power = math.log2(self.words / self.half)
        return float(self.words * (size / self.size) ** power)


def timed(action: Callable[[], T]) -> tuple[T, float]:
    """What an action gives, and how long the processor took."""
    start = time.process_time()
    result = action()
    return result, time.process_time() - start


def measured(name: str, folder: Path) -> Rates:
    """The rates for one of the texts."""
    text = lzma.decompress((SHARED / "text" / f"{name}.txt.xz").read_bytes())
    path, half = folder / f"{name}.txt", folder / f"{name}-half.txt"
    path.write_bytes(text)
    half.write_bytes(text[: text.rindex(b"\n", 0, len(text) // 2) + 1])
    documents = folder / f"{name}.jsonl"
    with documents.open("w") as file:
        whole = text.decode()
        for at in range(0, len(whole), DOCUMENT):
            file.write(json.dumps({"text": whole[at : at + DOCUMENT]}, ensure_ascii=False) + "\n")
    trainer = BPETrainer(32_000)
    counts, counting = timed(lambda: trainer.count(path, documents="line"))
    of_half = trainer.count(half, documents="line")
    image = counts.core.to_bytes()
    _, merging = timed(lambda: counts.merged(counts))
    tokenizer = jeton.load(SHARED / "vocab" / "cl100k_base.tiktoken")
    out = folder / name
    manifest, encoding = timed(lambda: data.prepare(documents, tokenizer, out, part=(1, 1)))
    size = sum(file.bytes for name, file in manifest.files.items() if "tokenizer" not in name)
    return Rates(
        counted=len(text) / counting,
        words=len(counts),
        half=len(of_half),
        size=len(text),
        word_bytes=len(image) / len(counts),
        merged=2 * len(counts) / merging,
        encoded=len(text) / encoding,
        token_bytes=size / len(text),
    )


def hours(seconds: float) -> str:
    """A time to be read by people."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def amount(size: float) -> str:
    """A number of bytes to be read by people."""
    units = ["B", "kB", "MB", "GB", "TB"]
    while size >= 1000 and len(units) > 1:
        size, units = size / 1000, units[1:]
    return f"{size:.3g} {units[0]}"


def counting_table(rates: Rates, corpus: float, cores: int, storage: float) -> list[str]:
    """What counting takes, level by level of the tree."""
    pieces = corpus / PIECE
    first = max(corpus / rates.counted / cores, corpus / storage)
    rows = [
        "| level | tasks | words of each | sent | time |",
        "| --- | --- | --- | --- | --- |",
        f"| count | {pieces:,.0f} | {rates.distinct(PIECE):,.0f} "
        f"| {amount(pieces * rates.distinct(PIECE) * rates.word_bytes)} | {hours(first)} |",
    ]
    size, total = float(PIECE), first
    while size < corpus:
        children = min(FAN, corpus / size)
        taken = children * rates.distinct(size) / rates.merged
        size = min(corpus, size * FAN)
        tasks = max(1, round(corpus / size))
        taken *= math.ceil(tasks / cores)
        total += taken
        sent = tasks * rates.distinct(size) * rates.word_bytes
        rows.append(
            f"| merge | {tasks:,} | {rates.distinct(size):,.0f} | {amount(sent)} | {hours(taken)} |"
        )
    return [*rows, f"| in all | | | | {hours(total)} |"]


def preparing_table(rates: Rates, corpus: float, cores: int, storage: float) -> list[str]:
    """What preparing takes."""
    tokens = corpus * rates.token_bytes
    encode = max(corpus / rates.encoded / cores, (corpus + tokens) / storage)
    write = 3 * tokens / storage
    return [
        "| step | read and written | time |",
        "| --- | --- | --- |",
        f"| encode parts | {amount(corpus)} and {amount(tokens)} | {hours(encode)} |",
        f"| write files, and read them for their digests | {amount(2 * tokens)} and "
        f"{amount(tokens)} | {hours(write)} |",
        f"| in all | | {hours(encode + write)} |",
        f"| only if shuffled: sort parts, before files are written | {amount(tokens)} and "
        f"{amount(tokens)} | {hours(2 * tokens / storage)} |",
    ]


def arguments() -> Any:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--corpus", type=float, default=10e12, help="bytes of text")
    parser.add_argument("--cores", type=int, default=1024)
    parser.add_argument("--storage", type=float, default=10e9, help="bytes a second, of all nodes")
    return parser.parse_args()


def main() -> None:
    given = arguments()
    with tempfile.TemporaryDirectory() as folder:
        found = {name: measured(name, Path(folder)) for name in TEXTS}
    print("| one core | " + " | ".join(TEXTS) + " |")
    print("| --- |" + " --- |" * len(TEXTS))
    for what, shown in (
        ("text counted, MB/s", lambda rates: f"{rates.counted / 1e6:.0f}"),
        ("distinct words of 64 MB", lambda rates: f"{rates.words:,}"),
        ("they grow with the size to the power", lambda r: f"{math.log2(r.words / r.half):.2f}"),
        ("bytes of a word in saved counts", lambda rates: f"{rates.word_bytes:.1f}"),
        ("words merged, million/s", lambda rates: f"{rates.merged / 1e6:.1f}"),
        ("text encoded into a part (cl100k), MB/s", lambda rates: f"{rates.encoded / 1e6:.0f}"),
        ("bytes of tokens for a byte of text", lambda rates: f"{rates.token_bytes:.2f}"),
    ):
        print(f"| {what} | " + " | ".join(shown(rates) for rates in found.values()) + " |")
    for name, rates in found.items():
        print(f"\n{name}: {amount(given.corpus)}, {given.cores:,} cores\n")
        print("\n".join(counting_table(rates, given.corpus, given.cores, given.storage)))
        print()
        print("\n".join(preparing_table(rates, given.corpus, given.cores, given.storage)))


if __name__ == "__main__":
    main()
