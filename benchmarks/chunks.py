"""Times chunking a book beside LangChain's splitters, and counts what each does wrong.

    python benchmarks/chunks.py                 # a minute
    python benchmarks/chunks.py --megabytes 4 --max-tokens 256

cl100k, on one core. `first` is with a tokenizer that has seen nothing, `later` the median of later
runs. `over` counts chunks that have more tokens than the limit when they are encoded by themselves,
`changed` those that are no part of the text, `left out` characters of the text, white space apart,
that no chunk holds. Needs the data of `../shared`, and langchain-text-splitters with tiktoken for
the columns beside ours.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Callable, Iterator

from speed.families import FAMILIES
from speed.libraries import Tiktoken
from speed.texts import KINDS, SHARED, text_of

import jeton

FAMILY = next(family for family in FAMILIES if family.name == "cl100k")
RUNS = 3

Split = Callable[[str], list[str]]


def main() -> None:
    """Prints a row for each text and splitter."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--megabytes", type=float, default=1.0)
    parser.add_argument("--max-tokens", type=int, default=512)
    parser.add_argument("--overlap", type=int, default=128)
    parser.add_argument("--text", nargs="+", choices=KINDS, default=["english", "multilingual"])
    arguments = parser.parse_args()
    if not SHARED.is_dir():
        print("chunks.py: skipped, since the texts and vocabularies of ../shared are not here")
        return
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, [min(os.sched_getaffinity(0))])
    print("| text | splitter | MB/s, first | later | chunks | over | changed | left out |")
    print("| --- | --- | --: | --: | --: | --: | --: | --: |")
    for kind in arguments.text:
        text = text_of(kind, arguments.megabytes)
        for name, split in splitters(arguments.max_tokens, arguments.overlap):
            print(f"| {kind} | {name} | {row(text, split, arguments.max_tokens)} |", flush=True)


def splitters(limit: int, overlap: int) -> Iterator[tuple[str, Split]]:
    """The ways to chunk, each with a tokenizer of its own."""
    for unit in ("sentence", "line", "word", "token"):
        yield f"jeton, {unit}", _ours(FAMILY.load(), limit, overlap, unit)
    try:
        from langchain_text_splitters import RecursiveCharacterTextSplitter, TokenTextSplitter
        from tiktoken import registry
    except ImportError as error:
        print(f"| - | without {error.name} | | | | | | |")
        return
    # By this name the splitters find it without a download.
    registry.ENCODINGS["cl100k_base"] = Tiktoken().load(FAMILY)
    given = {"encoding_name": "cl100k_base", "chunk_size": limit, "chunk_overlap": overlap}
    yield "LangChain, TokenTextSplitter", TokenTextSplitter(**given).split_text
    recursive = RecursiveCharacterTextSplitter.from_tiktoken_encoder(**given)
    yield "LangChain, RecursiveCharacterTextSplitter", recursive.split_text


def _ours(tok: jeton.Tokenizer, limit: int, overlap: int, unit: object) -> Split:
    def split(text: str) -> list[str]:
        return [chunk.text for chunk in tok.chunk(text, limit, overlap=overlap, at=unit)]  # type: ignore[arg-type]

    return split


def row(text: str, split: Split, limit: int) -> str:
    """The figures of a splitter."""
    times = []
    for _ in range(1 + RUNS):
        start = time.perf_counter()
        chunks = split(text)
        times.append(time.perf_counter() - start)
    size = len(text.encode()) / 1e6
    judge = FAMILY.load()
    over = sum(judge.count(chunk) > limit for chunk in chunks)
    changed, left_out = _held(text, chunks)
    return (
        f"{size / times[0]:.1f} | {size / statistics.median(times[1:]):.1f} | {len(chunks)} | "
        f"{over} | {changed} | {left_out}"
    )


def _held(text: str, chunks: list[str]) -> tuple[int, int]:
    """How many chunks are no part of the text, and how many characters are in none of them."""
    held = bytearray(len(text))
    changed, after = 0, 0
    for chunk in chunks:
        start = text.find(chunk, after)
        if start < 0:
            changed += 1
            continue
        held[start : start + len(chunk)] = b"\1" * len(chunk)
        after = start + 1
    left_out = sum(
        1 for character, there in zip(text, held, strict=True) if not there and character.strip()
    )
    return changed, left_out


if __name__ == "__main__":
    main()
