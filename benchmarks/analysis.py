"""What measuring costs beyond encoding: `analysis.compare` on five tokenizers.

Run it by hand: `python benchmarks/analysis.py --data ../shared/data`. It is compared with encoding
the same text with each of the five: `encode_batch` on all cores, on texts that are in memory
already, about a quarter of a megabyte each; measuring reads them from files. Half of the text is
English, half of many languages.

Every run is a process of its own, so that neither side finds caches that another run has filled,
and the two sides take turns in going first. Cold, tokenizers have encoded nothing before; warm,
both sides have encoded all of the text once. Seconds are of the clock and of the processor, the
least of the runs, and do not hold loading. Nothing is asserted; the aim is a ratio of 1.5 at most.
"""

from __future__ import annotations

import argparse
import json
import lzma
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import jeton
from jeton import analysis
from jeton.analysis.texts import LONGEST, cut

TOKENIZERS = (
    "o200k_base.tiktoken",
    "llama3_ranks.model",
    "neox/tokenizer.json",
    "llama2_sentencepiece_bpe.model",
    "bert_uncased_vocab.txt",
)

CORPORA = ("english", "multilingual")


def text_of(path: Path, size: int) -> str:
    """The first this many bytes of a compressed text, up to the end of a character."""
    with lzma.open(path) as file:
        return file.read(size).decode("utf-8", "ignore")


def loaded(data: Path) -> dict[str, jeton.Tokenizer]:
    """The tokenizers by name."""
    toks = {}
    for name in TOKENIZERS:
        encoding = "llama3" if name.startswith("llama3") else None
        toks[name] = jeton.load(data / "vocab" / name, encoding=encoding)
    return toks


def encoding(toks: dict[str, jeton.Tokenizer], folder: Path) -> tuple[float, float]:
    """The seconds, of the clock and of the processor, that encoding with all takes."""
    texts = [(folder / f"{name}.txt").read_text(encoding="utf-8") for name in CORPORA]
    parts = [part for text in texts for part in cut(text, LONGEST)]
    start = time.perf_counter(), time.process_time()
    for tok in toks.values():
        tok.encode_batch(parts)
    return time.perf_counter() - start[0], time.process_time() - start[1]


def measuring(toks: dict[str, jeton.Tokenizer], folder: Path) -> tuple[float, float]:
    """The same of measuring all."""
    corpora = {name: folder / f"{name}.txt" for name in CORPORA}
    start = time.perf_counter(), time.process_time()
    analysis.compare(toks, corpora)
    return time.perf_counter() - start[0], time.process_time() - start[1]


SIDES = {"encoding": encoding, "measuring": measuring}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--megabytes", type=int, default=100)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--side", choices=SIDES, help=argparse.SUPPRESS)
    parser.add_argument("--warm", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.side is not None:
        toks = loaded(given.data)
        if given.warm:
            encoding(toks, given.folder)
        print(json.dumps(SIDES[given.side](toks, given.folder)))
        return
    with TemporaryDirectory() as folder:
        for name in CORPORA:
            packed = given.data / "text" / f"{name}-64mb.txt.xz"
            text = text_of(packed, given.megabytes * 1_000_000 // len(CORPORA))
            (Path(folder) / f"{name}.txt").write_bytes(text.encode())
        for state in ("cold", "warm"):
            command = [sys.executable, __file__, "--data", str(given.data), "--folder", folder]
            told = f"{given.megabytes} MB, {state}"
            compared([*command, *(["--warm"] if state == "warm" else [])], given.runs, told)


def compared(command: list[str], runs: int, told: str) -> None:
    """Runs both sides by turns, and prints how they compare."""
    found: dict[str, list[tuple[float, float]]] = {side: [] for side in SIDES}
    for run in range(runs):
        for side in sorted(SIDES, reverse=bool(run % 2)):
            child = subprocess.run(
                [*command, "--side", side], check=True, capture_output=True, text=True
            )
            found[side].append(json.loads(child.stdout))
        (encode, _), (measure, _) = (found[side][-1] for side in SIDES)
        print(f"run {run + 1}: {encode:6.2f} s, {measure:6.2f} s, {measure / encode:.2f} times")
    least = {side: [min(column) for column in zip(*of, strict=True)] for side, of in found.items()}
    for side, (clock, processor) in least.items():
        print(f"{side:9} {clock:6.2f} s  {processor:6.2f} s of the processor")
    clock, processor = (a / b for a, b in zip(least["measuring"], least["encoding"], strict=True))
    print(f"{told}: {clock:.2f} times, {processor:.2f} times by the processor")


if __name__ == "__main__":
    main()
