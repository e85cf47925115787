"""Writes `tests/judges.txt`: current versions of the libraries that jeton is tested against.

`make judges` runs it; look there for a library's version. The libraries are those of the groups
`judges` and `frameworks` in `pyproject.toml`, in the newest versions that pip finds to go together.
"""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import date
from pathlib import Path

FILE = Path(__file__).with_suffix(".txt")
GROUPS = ["--group", "judges", "--group", "frameworks"]


def main() -> None:
    plan = subprocess.run(
        f"{sys.executable} -m pip install --dry-run --ignore-installed --quiet --report -".split()
        + GROUPS,
        cwd=FILE.parents[1],
        stdout=subprocess.PIPE,
        check=True,
    )
    found = [it["metadata"] for it in json.loads(plan.stdout)["install"] if it["requested"]]
    lines = sorted(f"{it['name'].lower().replace('_', '-')}=={it['version']}\n" for it in found)
    python = "{}.{}".format(*sys.version_info)
    FILE.write_text(
        "# What jeton is tested against: constraints for pip. `make judges` moves them forward.\n"
        f"# Written on {date.today()} by Python {python}.\n" + "".join(lines),
        encoding="utf-8",
    )


if __name__ == "__main__":
    main()
