"""Times training against other libraries, and checks in the same run what each has trained.

    python benchmarks/train.py                       # everything, written to docs/benchmarks/
    python benchmarks/train.py --rows bpe-english --runs 1
    python benchmarks/train.py --rows growth --most 16 --out /tmp/figures

Needs the groups `benchmarks` and `development` of `pyproject.toml` and the texts of `../shared`.
Every training runs in a process of its own: wall time and processor time are those of the training
alone, without imports, and memory is the peak of the process, its interpreter included. Of several
runs the median counts.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.metadata
import json
import lzma
import os
import platform
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from training.libraries import TRAININGS

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data" / "text"
DOCS = Path(__file__).resolve().parents[1] / "docs" / "benchmarks"


@dataclass
class Outcome:
    """What one training took and made."""

    library: str
    wall: float
    cpu: float
    peak: int
    """Bytes."""
    phases: dict[str, float] = field(default_factory=dict)
    note: str = ""
    saved: str = ""
    """Where what was trained is, for the checks."""


@dataclass(frozen=True)
class Row:
    """A comparison: one text, one size, some libraries of which the first is jeton."""

    name: str
    text: str
    size: int
    trainings: tuple[str, ...]
    extension: str
    pattern: str = ""
    """How text is cut, by its name in jeton."""
    claims: tuple[tuple[str, float], ...] = ()
    """What share of whose time jeton may take."""


_BPE = ("jeton bpe", "gigatoken bpe", "gigabpe bpe", "tokenizers bpe", "rustbpe bpe")
ROWS = (
    Row(
        "bpe-english",
        "english-64mb",
        32_000,
        _BPE,
        ".json",
        "gpt2",
        (("gigatoken bpe", 1 / 3), ("tokenizers bpe", 1 / 8)),
    ),
    Row(
        "bpe-multilingual",
        "multilingual-64mb",
        100_000,
        _BPE,
        ".json",
        "gpt2",
        (("gigatoken bpe", 1 / 3), ("tokenizers bpe", 1 / 8)),
    ),
    Row(
        "wordpiece-english",
        "english-64mb",
        32_000,
        ("jeton wordpiece", "tokenizers wordpiece"),
        ".json",
        "",
        (("tokenizers wordpiece", 1 / 8),),
    ),
    Row(
        "unigram-english",
        "english-64mb",
        32_000,
        ("jeton unigram", "sentencepiece unigram", "tokenizers unigram"),
        ".model",
        "",
        (("sentencepiece unigram", 1 / 5), ("tokenizers unigram", 1 / 15)),
    ),
    Row(
        "variants-english",
        "english-64mb",
        32_000,
        ("jeton bpe", "jeton residues", "jeton super", "jeton boundless"),
        ".json",
        "gpt2",
    ),
    Row(
        "languages",
        "parallel",
        20_000,
        ("jeton fair bpe", "tokenizers fair bpe"),
        ".json",
        "gpt2",
        (("tokenizers fair bpe", 1 / 10),),
    ),
)


# One training, in a process of its own.


def _cpu() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def _peak() -> int:
    # Not `ru_maxrss`, which begins with the memory of the process that started this one.
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.split("VmHWM:")[1].split()[0]) * 1024


def _alone(order: dict[str, Any]) -> Outcome:
    """Trains as ordered, in this process."""
    saved = Path(order["saved"])
    train, save = TRAININGS[order["training"]](
        Path(order["text"]), order["size"], saved, order["pattern"]
    )
    wall, cpu = time.perf_counter(), _cpu()
    trained = train()
    outcome = Outcome(
        order["training"], time.perf_counter() - wall, _cpu() - cpu, _peak(), saved=str(saved)
    )
    save(trained)
    return outcome


def _phases(order: dict[str, Any]) -> Outcome:
    """Trains byte pair encoding with jeton, the phases apart."""
    import jeton

    trainer = jeton.BPETrainer(
        order["size"], pattern="gpt2", min_word_count=order.get("min_word_count", 0)
    )
    wall, cpu = time.perf_counter(), _cpu()
    base = _peak()
    counts = trainer.count(
        Path(order["text"]), documents="line", memory=order["memory"], temp_dir=order["folder"]
    )
    counted = time.perf_counter()
    peak_of_counting = _peak()
    tok = trainer.train(counts, memory=order["memory"])
    done = time.perf_counter()
    vocab = sum(id * len(token) for token, id in tok.vocab.items())
    return Outcome(
        "jeton bpe",
        done - wall,
        _cpu() - cpu,
        _peak(),
        {
            "counting": counted - wall,
            "merging": done - counted,
            "peak of counting": peak_of_counting,
            "peak before": base,
            "words": len(counts),
        },
        note=f"{vocab:x}",
    )


def _in_a_process(function: Callable[..., Outcome], order: dict[str, Any]) -> Outcome:
    command = [sys.executable, __file__, "--alone", function.__name__, json.dumps(order)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        lines = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
        return Outcome(order.get("training", "jeton bpe"), 0.0, 0.0, 0, note=lines[-1])
    return Outcome(**json.loads(done.stdout.splitlines()[-1]))


# What was trained, compared.


def _merges(path: Path) -> list[tuple[bytes, bytes]]:
    import jeton

    content = json.loads(path.read_text(encoding="utf-8"))
    if isinstance(content, list):
        return [(bytes.fromhex(left), bytes.fromhex(right)) for left, right in content]
    return list(jeton.load(path).vocab.merges)


def _bytes_per_token(path: Path, text: str) -> float:
    import jeton

    return len(text.encode()) / jeton.load(path).count(text)


def _check(row: Row, outcomes: list[Outcome], text: Path) -> list[str]:
    """What the trainings have in common, in words."""
    made = {o.library: Path(o.saved) for o in outcomes if o.saved and Path(o.saved).exists()}
    ours = made.pop(row.trainings[0], None)
    said = []
    for library, path in made.items():
        if ours is None:
            break
        if "bpe" in library:
            own, others = _merges(ours), _merges(path)
            pairs = enumerate(zip(own, others, strict=False))
            differing = (at for at, (left, right) in pairs if left != right)
            first = next(differing, min(len(own), len(others)))
            shared = len({a + b for a, b in own} & {a + b for a, b in others})
            name = library.split()[0]
            said.append(
                f"{name}: the first {first:,} of {len(own):,} merges are the same, and "
                f"{shared / len(own):.1%} of the tokens"
            )
        else:
            with text.open("rb") as file:
                sample = file.read(2_000_000).decode("utf-8", errors="ignore")
            own, other = _bytes_per_token(ours, sample), _bytes_per_token(path, sample)
            said.append(
                f"bytes per token: {row.trainings[0]} {own:.4f}, {library} {other:.4f}; "
                f"{other / own:.4f} times the tokens of {library}"
            )
    return said


# The rows, the growth, the budget.


def _median(outcomes: list[Outcome]) -> Outcome:
    whole = [outcome for outcome in outcomes if outcome.wall]
    if not whole:
        return outcomes[0]
    middle = sorted(whole, key=lambda outcome: outcome.wall)[len(whole) // 2]
    middle.cpu = statistics.median(outcome.cpu for outcome in whole)
    middle.peak = max(outcome.peak for outcome in whole)
    return middle


def _compare(row: Row, text: Path, runs: int, folder: Path) -> Iterator[str]:
    files = text.iterdir() if text.is_dir() else [text]
    size = sum(file.stat().st_size for file in files) / 1e6
    yield f"\n## {row.name}: {text.stem}, {size:.0f} MB, {row.size:,} tokens\n"
    yield "| library | wall, s | processor, s | peak, MB | wall / jeton's | |"
    yield "| --- | --- | --- | --- | --- | --- |"
    taken: dict[str, list[Outcome]] = {training: [] for training in row.trainings}
    for _ in range(runs):
        # Turn by turn, so that a busy moment of the machine does not fall on one library alone.
        for training in row.trainings:
            saved = folder / f"{training.replace(' ', '-')}{row.extension}"
            order = {
                "training": training,
                "text": str(text),
                "size": row.size,
                "saved": str(saved),
                "pattern": row.pattern,
            }
            if "tokenizers" in training and row.extension == ".model":
                order["saved"] = str(saved.with_suffix(".json"))
            taken[training].append(_in_a_process(_alone, order))
            outcome = taken[training][-1]
            print(f"{training}: {outcome.wall:.2f} s {outcome.note}", file=sys.stderr, flush=True)
    outcomes = [_median(taken[training]) for training in row.trainings]
    ours = outcomes[0]
    for outcome in outcomes:
        if not outcome.wall:
            yield f"| {outcome.library} | | | | | {outcome.note} |"
            continue
        claims = [share for library, share in row.claims if library == outcome.library]
        wanted = f"at least {1 / claims[0]:.0f} is the goal" if claims else outcome.note
        ratio = f"{outcome.wall / ours.wall:.2f}" if ours.wall else ""
        yield (
            f"| {outcome.library} | {outcome.wall:.2f} | {outcome.cpu:.2f} "
            f"| {outcome.peak / 1e6:.0f} | {ratio} | {wanted} |"
        )
    yield ""
    for said in _check(row, outcomes, text):
        yield f"- {said}"


def _mixed(megabytes: float, path: Path) -> None:
    """Writes text: that of English, and where it runs out, lines of its words mixed again.

    One word in twenty is made up, so that there are ever more distinct words.
    """
    numbers = random.Random(1)
    left = int(megabytes * 1e6)
    with lzma.open(SHARED / "english-64mb.txt.xz") as source, path.open("wb") as out:
        english = source.read(min(left, 64_000_000))
        out.write(english)
        left -= len(english)
        words = english[:8_000_000].split()
        letters = b"etaoinshrdlucmfwypvbgkjqxz"
        while left > 0:
            line = numbers.choices(words, k=200_000)
            for at in range(0, len(line), 20):
                line[at] = bytes(numbers.choices(letters, k=numbers.randint(4, 12)))
            for at in range(12, len(line), 13):
                line[at] += b"\n"
            block = b" ".join(line)[:left]
            out.write(block)
            left -= len(block)


def _growth(most: float, folder: Path) -> Iterator[tuple[float, Outcome]]:
    for megabytes in (size for size in (1, 4, 16, 64, 256, 1000) if size <= most):
        path = folder / "growing.txt"
        _mixed(megabytes, path)
        order = {"text": str(path), "size": 32_000, "memory": None, "folder": str(folder)}
        outcome = _in_a_process(_phases, order)
        print(f"{megabytes} MB: {outcome}", file=sys.stderr, flush=True)
        yield megabytes, outcome


def _growth_table(measured: list[tuple[float, Outcome]]) -> Iterator[str]:
    yield "\n## Growth: byte pair encoding, 32,000 tokens, GPT-2's pattern\n"
    yield "English up to 64 MB, then its words mixed anew, one in twenty made up.\n"
    yield "| text, MB | distinct words | counting, s | merging, s | peak, MB |"
    yield "| --- | --- | --- | --- | --- |"
    for megabytes, outcome in measured:
        phases = outcome.phases
        if not phases:
            yield f"| {megabytes:.0f} | {outcome.note} | | | |"
            continue
        yield (
            f"| {megabytes:.0f} | {phases['words']:,} | {phases['counting']:.2f} "
            f"| {phases['merging']:.2f} | {outcome.peak / 1e6:.0f} |"
        )


def _budget(megabytes: float, folder: Path) -> Iterator[str]:
    path = folder / "budget.txt"
    _mixed(megabytes, path)
    memory = int(megabytes * 1e5)
    # What is made up is distinct for ever; it fits no budget, so the rare is left out on request.
    order = {"text": str(path), "size": 32_000, "folder": str(folder), "min_word_count": 4}
    free = _in_a_process(_phases, {**order, "memory": None})
    held = _in_a_process(_phases, {**order, "memory": memory})
    yield f"\n## Memory: a budget of {memory / 1e6:.0f} MB for {megabytes:.0f} MB of text\n"
    yield "English, then its words mixed anew, one in twenty made up; `min_word_count=4`.\n"
    yield "| | wall, s | peak, MB | beside the interpreter, MB | |"
    yield "| --- | --- | --- | --- | --- |"
    for name, outcome in (("no budget", free), ("budget", held)):
        if not outcome.phases:
            yield f"| {name} | | | | {outcome.note} |"
            continue
        beside = outcome.peak - outcome.phases["peak before"]
        yield (
            f"| {name} | {outcome.wall:.2f} | {outcome.peak / 1e6:.0f} | {beside / 1e6:.0f} "
            f"| vocabulary {outcome.note} |"
        )
    if held.phases:
        beside = held.peak - held.phases["peak before"]
        same = "the same" if held.note == free.note else "ANOTHER"
        yield f"\n- {same} vocabulary; the budget was {'held' if beside <= memory else 'PASSED'}"


def _texts(rows: list[Row], megabytes: float, folder: Path) -> dict[str, Path]:
    texts = {}
    for name in dict.fromkeys(row.text for row in rows):
        if (SHARED / name).is_dir():
            texts[name] = SHARED / name
            continue
        path = folder / f"{name}.txt"
        with lzma.open(SHARED / f"{name}.txt.xz") as source:
            content = source.read(int(megabytes * 1e6))
        # Ends with a whole line.
        path.write_bytes(content[: content.rfind(b"\n") + 1] or content)
        texts[name] = path
    return texts


def _head() -> str:
    names = ("jeton", "gigatoken", "gigabpe", "tokenizers", "sentencepiece", "rustbpe")
    versions = []
    for name in names:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            versions.append(f"{name} {importlib.metadata.version(name)}")
    return (
        f"# Training, {time.strftime('%Y-%m-%d')}\n\n{platform.machine()}, {os.cpu_count()} cores, "
        f"Python {platform.python_version()}; {', '.join(versions)}. Made by `benchmarks/train.py`."
    )


def main() -> None:
    """Runs what was asked for, and writes the tables and the figure."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    names = [row.name for row in ROWS]
    parser.add_argument("--rows", nargs="*", default=[*names, "growth", "budget"])
    parser.add_argument("--mb", type=float, default=64, help="megabytes of each text at most")
    parser.add_argument("--runs", type=int, default=3, help="runs of each training")
    parser.add_argument("--most", type=float, default=1000, help="megabytes, growth up to them")
    parser.add_argument(
        "--budget", type=float, default=1000, help="megabytes, ten times the budget"
    )
    parser.add_argument("--out", type=Path, default=DOCS)
    parser.add_argument("--alone", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.alone:
        name, order = arguments.alone
        run = {"_alone": _alone, "_phases": _phases}[name]
        print(json.dumps(asdict(run(json.loads(order)))))
        return
    if unknown := set(arguments.rows) - {*names, "growth", "budget"}:
        sys.exit(f"no such rows: {', '.join(sorted(unknown))}; there are {', '.join(names)}")
    if not SHARED.is_dir():
        sys.exit("the benchmark reads ../shared/data, which is not here")
    rows = [row for row in ROWS if row.name in arguments.rows]
    lines = [_head()]
    arguments.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        texts = _texts(rows, arguments.mb, Path(folder))
        for row in rows:
            lines += _compare(row, texts[row.text], arguments.runs, Path(folder))
        if "growth" in arguments.rows:
            measured = list(_growth(arguments.most, Path(folder)))
            lines += _growth_table(measured)
            figure = arguments.out / "training-growth.svg"
            points = [(mb, outcome) for mb, outcome in measured if outcome.phases]
            seconds = {
                phase: [(mb, outcome.phases[phase]) for mb, outcome in points]
                for phase in ("counting", "merging")
            }
            memory = {"whole process": [(mb, outcome.peak / 1e6) for mb, outcome in points]}
            charts = {"seconds": seconds, "peak memory, MB": memory}
            _draw(charts, figure)
            lines.append(f"\n![Time and memory by the size of the text]({figure.name})")
        if "budget" in arguments.rows:
            lines += _budget(arguments.budget, Path(folder))
    table = "\n".join(lines) + "\n"
    (arguments.out / "training.md").write_text(table, encoding="utf-8")
    print(table)


def _draw(charts: Mapping[str, Mapping[str, Sequence[tuple[float, float]]]], path: Path) -> None:
    """Charts side by side, each with its lines of (megabytes, value), in powers of ten."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, len(charts), figsize=(9, 3.2), squeeze=False)
    for axis, (title, lines) in zip(axes[0], charts.items(), strict=True):
        for name, points in lines.items():
            axis.loglog(*zip(*points, strict=True), marker="o", label=name)
        axis.set(title=title, xlabel="megabytes of text")
        axis.legend()
    figure.savefig(path, format="svg", bbox_inches="tight")


if __name__ == "__main__":
    main()
