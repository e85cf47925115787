"""Runs every target of fuzzing for its share of some minutes, on as many cores as there are.

    python fuzz/run.py [--minutes N] [TARGET]...

Inputs that reach something new are kept in `target/fuzz/TARGET`, and tried first the next time;
those of `fuzz/corpus/TARGET` are the project's own. An input that a target fails on is written to
`target/fuzz/failed`: `python fuzz/TARGET.py FILE` shows it again.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).parent
KEPT = HERE.parent / "target" / "fuzz"
TARGETS = sorted(folder.name for folder in (HERE / "corpus").iterdir())


def run(target: str, seconds: int) -> tuple[str, int, str]:
    """One target, for so long: its name, how it ended, and the last that it wrote."""
    grown, failed = KEPT / target, KEPT / "failed"
    for folder in (grown, failed):
        folder.mkdir(parents=True, exist_ok=True)
    command = [
        sys.executable,
        str(HERE / f"{target}.py"),
        f"-max_total_time={seconds}",
        "-timeout=60",
        "-rss_limit_mb=4096",
        "-max_len=65536",
        "-print_final_stats=1",
        f"-artifact_prefix={failed}/{target}-",
        str(grown),
        str(HERE / "corpus" / target),
    ]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return target, done.returncode, done.stdout.decode(errors="replace")[-4000:]


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--minutes", type=float, default=4, help="of all targets together")
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"of {', '.join(TARGETS)}")
    given = parser.parse_args()
    targets = given.targets or TARGETS
    for target in set(targets).difference(TARGETS):
        parser.error(f"there is no target {target}: it is one of {', '.join(TARGETS)}")
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
