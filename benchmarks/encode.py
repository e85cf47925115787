"""Times jeton against other libraries, and checks in the same run that the ids are the same.

    python benchmarks/encode.py                                 # everything, more than an hour
    python benchmarks/encode.py --quick                         # less text, fewer passes
    python benchmarks/encode.py --only encode short --family cl100k --library jeton gigatoken
    python benchmarks/encode.py --out docs/benchmarks           # write encode.md and encode.svg

Needs the `benchmarks` group of `pyproject.toml` and the data of `../shared`; a library that is not
installed, or cannot load a family, is left out with the reason. Each section runs in a process of
its own, on one core where one thread is timed.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path

from speed.families import FAMILIES
from speed.libraries import LIBRARIES
from speed.measures import LENGTHS, SECTIONS, Plan, Row, run
from speed.report import page, write
from speed.texts import KINDS, SHARED


def main() -> None:
    """Runs the sections and shows the tables."""
    families = [family.name for family in FAMILIES]
    libraries = [library.name for library in LIBRARIES]
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=SECTIONS, default=list(SECTIONS))
    parser.add_argument("--family", nargs="+", choices=families, default=families)
    parser.add_argument("--text", nargs="+", choices=KINDS, default=list(KINDS))
    parser.add_argument("--library", nargs="+", choices=libraries, default=libraries)
    parser.add_argument("--length", nargs="+", type=int, default=list(LENGTHS))
    parser.add_argument("--mb", type=float, help="megabytes of each text")
    parser.add_argument("--quick", action="store_true", help="less text, fewer passes")
    parser.add_argument("--out", type=Path, help="a folder for the page and the picture")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if not SHARED.is_dir():
        print("encode.py: skipped, since the texts and vocabularies of ../shared are not here")
        return
    quick = arguments.quick
    plan = Plan(
        megabytes=arguments.mb or (1.0 if quick else 3.0),
        passes=3 if quick else 5,
        seconds=0.2 if quick else 1.0,
        families=arguments.family,
        texts=arguments.text,
        lengths=arguments.length,
        libraries=arguments.library,
    )
    if arguments.worker:
        for row in run(arguments.only[0], plan):
            print(json.dumps(row.as_dict()), flush=True)
        return
    rows: list[Row] = []
    for section in arguments.only:
        command = [sys.executable, __file__, *sys.argv[1:], "--only", section, "--worker"]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
        rows += [Row(**json.loads(line)) for line in done.stdout.splitlines()]
        if done.returncode != 0:
            print(f"{section}: ended with {done.returncode}", file=sys.stderr)
    command = "python benchmarks/encode.py --quick" if quick else "python benchmarks/encode.py"
    origin = f"{_commit()}. Made by `{command}`."
    print(page(rows, origin))
    if arguments.out:
        write(arguments.out, rows, origin)


def _commit() -> str:
    """Which jeton was timed."""
    here = Path(__file__).resolve().parent
    git = ["git", "-C", str(here), "rev-parse", "--short", "HEAD"]
    found = subprocess.run(git, capture_output=True, text=True, check=False).stdout.strip()
    return f" at {found}" if found else ""


if __name__ == "__main__":
    main()
