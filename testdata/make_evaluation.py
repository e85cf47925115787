"""Writes evaluation.json: what `analysis.compare` finds in a corpus that is made again each time.

It holds measuring to what it was: `tests/analysis/test_measures.py` measures the same corpus again, and each
number must be the same. Run it when a measure is meant to change: python testdata/make_evaluation.py
"""

from __future__ import annotations

import json
import random
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jeton
from jeton import analysis

HERE = Path(__file__).parent

LETTERS = ("abcdefghijklmnopqrstuvwxyz", "абвгдежзиклмнопрст", "あいうえおかき東京大学", "กขคงจฉชซ")
MARKS = (
    " ",
    " ",
    " ",
    " ",
    " ",
    ", ",
    ". ",
    "\n",
    "\n",
    "\n\n",
    "  ",
    "\t",
    " 12 ",
    " — ",
    "\u0301 ",
)


def texts(letters: str, size: int, seed: int) -> Iterator[str]:
    """Words of random letters, short ones often, up to this many characters."""
    draw = random.Random(seed)
    words = ["".join(draw.choices(letters, k=draw.randint(1, 9))) for _ in range(20_000)]
    written = 0
    while written < size:
        word = words[min(int(draw.expovariate(0.002)), len(words) - 1)]
        if draw.random() < 0.3:
            word = "".join(draw.choices(letters, k=draw.randint(3, 30))).capitalize()
        mark = draw.choice(MARKS)
        yield word + mark
        written += len(word) + len(mark)


def measured(folder: Path) -> dict[str, Any]:
    """What is found, by what found it and in what."""
    files = {}
    for number, letters in enumerate(LETTERS):
        files[str(number)] = folder / f"{number}.txt"
        size = 1_300_000 if number < 2 else 120_000
        files[str(number)].write_bytes("".join(texts(letters, size, number)).encode())
    records = ["".join(texts(LETTERS[0], 2_000, seed)) for seed in range(9, 40)]
    files["records"] = folder / "records.jsonl"
    lines = "".join(json.dumps({"text": text}) + "\n" for text in records)
    files["records"].write_bytes(lines.encode())
    files["broken"] = folder / "broken.txt"
    broken = b"\xef\xbb\xbfok \xff then \xe2\x82 and \xe2\x82\xac\xed\xa0\x80 x \xf0\x9f\x98"
    files["broken"].write_bytes(broken)
    train = ["".join(texts(letters, 20_000, 5)) for letters in LETTERS]
    toks = {
        "byte-level": jeton.BPETrainer(600, pattern="gpt4").train(train),
        "WordPiece": jeton.WordPieceTrainer(500).train(train),
        "characters": jeton.CharTrainer().train([*train, *records, "€\ufffd—"]),
    }
    corpora: dict[str, Any] = {**files, "texts": records[:7]}
    parallel = {"en": ["one line", "two of it"], "ru": ["аб вг", "где же"]}
    results = {"trained": analysis.compare(toks, corpora, parallel=parallel, errors="replace")}
    byte_level = {"byte-level": toks["byte-level"]}
    results["ignore"] = analysis.compare(byte_level, {"it": files["broken"]}, errors="ignore")
    return {
        f"{run}: {name}: {part}": json.loads(json.dumps(found))
        for run, result in results.items()
        for name, evaluation in result.evaluations.items()
        for part, found in parts_of(evaluation)
    }


def parts_of(evaluation: analysis.Evaluation) -> Iterator[tuple[str, Any]]:
    """The numbers of an evaluation, and how those were measured whose `how` has a number."""
    for place, measured in evaluation.parts():
        values = measured.values.items()
        hows = {value.how for _, value in values if any(map(str.isdigit, value.how))}
        numbers = {name: value.value for name, value in values}
        yield place, {"values": numbers, "hows": sorted(hows), "examples": measured.examples}
    for name, curve in evaluation.curves.items():
        yield f"curve {name}", curve.to_dict()
    yield "lossy", evaluation.lossy
    yield "digests", evaluation.digests


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        record = measured(Path(folder))
    lines = [f"{json.dumps(name)}: {json.dumps(part)}" for name, part in record.items()]
    text = ",\n".join(lines)
    (HERE / "evaluation.json").write_text(f"{{\n{text}\n}}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
