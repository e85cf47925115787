"""Times `jeton.data.prepare`: beside `encode_batch` alone, the disk, and the ways of others.

    python benchmarks/prepare.py                          # 1 GB: half an hour, 10 GB of disk
    python benchmarks/prepare.py --megabytes 20 --runs 1  # whether it works
    python benchmarks/prepare.py --only speed stopping

Needs GPT-2's ranks of `../shared` and an optimised build. Each run is a process of its own, its
inputs are read from the disk and not from the system's cache, and of several runs the best counts.
`speed`: the share of `encode_batch` on the same text in memory. `others`: nanoGPT's way
(`datasets.map` with tiktoken), datatrove and Megatron's way, with the ids of all compared; a way
whose package is not installed is left out (Megatron's builder is in `megatron-core`). `memory`: the
peak of a tenth of the corpus beside that of all. `stopping`: how long Ctrl-C and SIGTERM take.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from preparing.corpus import SHARED, forget, make
from preparing.ways import WAYS, ids_of

SECTIONS = ("speed", "others", "memory", "stopping")
BLOCK = 1 << 24


def run(way: str, inputs: list[Path], folder: Path) -> dict[str, Any]:
    """What a way took, in a process of its own: seconds, and the peak of its memory in MB."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    forget(inputs)
    given = json.dumps({"way": way, "inputs": list(map(str, inputs)), "folder": str(folder)})
    command = [sys.executable, __file__, "--worker", "-"]
    done = subprocess.run(command, input=given, capture_output=True, text=True, check=False)
    if done.returncode:
        return {"failed": done.returncode, "told": done.stderr[-500:]}
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def worker() -> None:
    """The process of one run."""
    given = json.load(sys.stdin)
    folder = Path(given["folder"])
    try:
        seconds = WAYS[given["way"]](list(map(Path, given["inputs"])), folder)
    except ImportError as error:
        print(json.dumps({"missing": error.name}))
        return
    print(json.dumps({"seconds": seconds, "peak": peak()}))


def peak() -> float:
    """The most memory that this process has had, in MB."""
    try:
        # Of a process that was started by a larger one, getrusage tells the size of that one.
        status = Path("/proc/self/status").read_text()
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def best(way: str, inputs: list[Path], folder: Path, runs: int) -> dict[str, Any]:
    """The fastest of several runs."""
    found = [run(way, inputs, folder) for _ in range(runs)]
    return min(found, key=lambda it: it.get("seconds", 0.0))


def size_of(paths: list[Path]) -> int:
    """The bytes of files."""
    return sum(path.stat().st_size for path in paths)


def disk(folder: Path, size: int) -> tuple[float, float]:
    """The bytes a second that the disk writes, and reads."""
    path, data = folder / "disk", os.urandom(BLOCK)
    start = time.perf_counter()
    with path.open("wb", buffering=0) as file:
        for _ in range(max(1, size // BLOCK)):
            file.write(data)
        os.fsync(file.fileno())
    written = path.stat().st_size / (time.perf_counter() - start)
    forget([path])
    start = time.perf_counter()
    with path.open("rb", buffering=0) as file:
        while file.read(BLOCK):
            pass
    read = path.stat().st_size / (time.perf_counter() - start)
    path.unlink()
    return written, read


def speed(corpus: dict[str, list[Path]], folder: Path, runs: int) -> None:
    """The share of `encode_batch` that preparing reaches."""
    written, read = disk(folder, size_of(corpus["lines"]))
    print(f"The disk alone writes {written / 1e6:,.0f} MB/s and reads {read / 1e6:,.0f} MB/s.\n")
    print("| input | way | MB/s | of `encode_batch` | peak of memory, MB |")
    print("| --- | --- | --: | --: | --: |")
    for kind, inputs in corpus.items():
        size, alone = size_of(inputs), 0.0
        ways = ["`encode_batch` in memory", "`jeton prepare`"]
        if kind == "lines":
            ways += [way for way in WAYS if way.startswith("`--layout")]
            ways.append("shuffled and split by a hash")
        for way in ways:
            found = best(way, inputs, folder / "out", runs)
            alone = alone or found["seconds"]
            print(
                f"| {kind} | {way} | {size / found['seconds'] / 1e6:,.1f} "
                f"| {alone / found['seconds']:.0%} | {found['peak']:,.0f} |",
                flush=True,
            )
    print()


def others(corpus: dict[str, list[Path]], folder: Path, runs: int) -> None:
    """Compares other libraries on JSON lines, with the ids of all."""
    inputs = corpus["lines"]
    print("| way | MB/s | `jeton prepare` is faster by |\n| --- | --: | --: |")
    ours, wanted = 0.0, ""
    for way in (
        "`--layout nanogpt`",
        "nanoGPT's: `datasets.map` with tiktoken, both cores",
        "Megatron's: its builder, with tokenizers",
        "datatrove",
    ):
        # Theirs take minutes.
        found = best(way, inputs, folder / "out", runs if not ours else 1)
        if "seconds" not in found:
            said = ", ".join(f"{what} {it}" for what, it in found.items())
            print(f"| {way} | | left out: {said} |")
            continue
        ours, ids = ours or found["seconds"], ids_of(folder / "out")
        wanted = wanted or ids
        note = "" if ids == wanted else " (OTHER IDS)"
        rate = size_of(inputs) / found["seconds"] / 1e6
        print(f"| {way}{note} | {rate:,.1f} | {found['seconds'] / ours:.1f} |", flush=True)
    print()


def memory(corpus: dict[str, list[Path]], folder: Path, runs: int) -> None:
    """Whether memory grows with the corpus.

    The tokenizer's cache of words fills up to its limit, and buckets up to what shuffling may take.
    """
    del runs
    print("| way | a tenth of the input: peak, MB | all of it: peak, MB |\n| --- | --: | --: |")
    inputs = corpus["lines"]
    tenth = make(folder / "tenth", size_of(inputs) // 10)["lines"]
    ways = (
        "`jeton prepare`, `jeton.set_cache_limit` at 10 MB",
        "`jeton prepare`",
        "`--layout megatron`",
        "shuffled and split by a hash",
    )
    for way in ways:
        peaks = [run(way, some, folder / "out")["peak"] for some in (tenth, inputs)]
        print(f"| {way} | {peaks[0]:,.0f} | {peaks[1]:,.0f} |", flush=True)
    print()


def stopping(corpus: dict[str, list[Path]], folder: Path, runs: int) -> None:
    """How long signals take, at random moments of the whole run."""
    inputs, out = corpus["lines"], folder / "out"
    whole = run("shuffled and split by a hash", inputs, out)["seconds"]
    draw = random.Random(1)
    vocabulary = str(SHARED / "vocab" / "r50k_base.tiktoken")
    print("| signal | median, s | longest, s |\n| --- | --: | --: |")
    for sent in (signal.SIGINT, signal.SIGTERM):
        times: list[float] = []
        while len(times) < max(5, 5 * runs):
            shutil.rmtree(out, ignore_errors=True)
            command = [sys.executable, "-m", "jeton", "prepare", vocabulary]
            command += [*map(str, inputs), "-o", str(out), "--progress", "json"]
            command += ["--shuffle", "1", "--validation", "0.01", "--split", "hash"]
            process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            assert process.stderr is not None
            process.stderr.readline()
            time.sleep(draw.uniform(0, whole))
            start = time.perf_counter()
            process.send_signal(sent)
            process.communicate()
            if process.returncode:
                times.append(time.perf_counter() - start)
        print(f"| {sent.name} | {statistics.median(times):.2f} | {max(times):.2f} |", flush=True)
    print()


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--megabytes", type=int, default=1000, help="of text")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--only", nargs="+", choices=SECTIONS, default=list(SECTIONS))
    parser.add_argument("--folder", type=Path, help="where the corpus is made, and stays")
    parser.add_argument("--worker", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.worker:
        worker()
        return
    if not (SHARED / "vocab" / "r50k_base.tiktoken").exists():
        print("prepare.py: skipped, since GPT-2's ranks of ../shared are not here")
        return
    with tempfile.TemporaryDirectory(prefix="prepare-") as made:
        folder = given.folder or Path(made)
        corpus = make(folder / "in", given.megabytes * 10**6)
        for kind, paths in corpus.items():
            print(f"{kind}: {size_of(paths) / 1e6:,.0f} MB in {len(paths):,} files")
        print()
        sections = {"speed": speed, "others": others, "memory": memory, "stopping": stopping}
        for section in given.only:
            sections[section](corpus, folder, given.runs)


if __name__ == "__main__":
    main()
