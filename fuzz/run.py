"""Runs every target of fuzzing for its share of some minutes, on as many cores as there are.

    python fuzz/run.py [--minutes N] [TARGET]...

A target is a program of `fuzz/core`, which tells libFuzzer what an input reaches in the core, or
one beside this file, which tells it what is reached in Python; or `templates` or `token_sets`,
which try inputs at random and watch from outside what they take. Inputs that reach something new
are kept in `target/fuzz/TARGET`, and tried first the next time. Those of `fuzz/corpus/TARGET` are
the project's own, and begin both TARGET and core_TARGET. An input that a target fails on is written
to `target/fuzz/failed`, and `python fuzz/run.py --again FILE TARGET` shows it again.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).parent.resolve()
CORE = HERE / "core"
KEPT = HERE.parent / "target" / "fuzz"
TARGETS = sorted(folder.name for folder in (HERE / "corpus").iterdir())


def is_of_core(target: str) -> bool:
    return (CORE / "src" / "bin" / f"{target}.rs").exists()


def command(target: str) -> list[str]:
    """What a target is started by, before the options of libFuzzer; in the folder `CORE`."""
    if is_of_core(target):
        return ["cargo", "run", "--release", "--quiet", "--bin", target, "--"]
    return [sys.executable, str(HERE / f"{target}.py")]


def run(target: str, seconds: int) -> tuple[str, int, str]:
    """One target, for so long: its name, how it ended, and the last that it wrote."""
    grown, failed = KEPT / target, KEPT / "failed"
    for folder in (grown, failed):
        folder.mkdir(parents=True, exist_ok=True)
    options = [
        f"-max_total_time={seconds}",
        "-timeout=20",
        "-rss_limit_mb=2048",
        "-max_len=65536",
        "-print_final_stats=1",
        f"-artifact_prefix={failed}/{target}-",
        str(grown),
        *(str(HERE / "corpus" / name) for name in sorted({target, target.removeprefix("core_")})),
    ]
    done = subprocess.run(
        [*command(target), *options], cwd=CORE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    )
    return target, done.returncode, done.stdout.decode(errors="replace")[-8000:]


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--minutes", type=float, default=4, help="of all targets together")
    parser.add_argument("--again", metavar="FILE", type=Path, help="try this input, and no other")
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"of {', '.join(TARGETS)}")
    given = parser.parse_args()
    targets = given.targets or TARGETS
    for target in set(targets).difference(TARGETS):
        parser.error(f"there is no target {target}: it is one of {', '.join(TARGETS)}")
    if any(map(is_of_core, targets)):
        subprocess.run(["cargo", "build", "--release", "--quiet"], cwd=CORE, check=True)
    if given.again:
        file = str(given.again.resolve())
        return max(subprocess.run([*command(it), file], cwd=CORE).returncode for it in targets)
    cores = min(len(targets), os.cpu_count() or 1)
    seconds = max(1, int(given.minutes * 60 * cores / len(targets)))
    failed = False
    with ThreadPoolExecutor(cores) as pool:
        for target, code, written in pool.map(lambda it: run(it, seconds), targets):
            failed |= code != 0
            runs = [line for line in written.splitlines() if "number_of_executed_units" in line]
            print(f"{target}: {'FAILED' if code else 'nothing found'} {' '.join(runs)}", flush=True)
            if code:
                print(written)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
