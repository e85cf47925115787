"""Sizes of tests: what `pytest --size` leaves out and says; and the versions of the judges."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
THREE = """
import pytest
def test_small(): pass
@pytest.mark.medium
def test_medium(): pass
@pytest.mark.large
def test_large(): pass
def test_absent(): pytest.importorskip("no_such_package")
"""


@pytest.mark.parametrize(
    "size, left_out", [("small", ["2 tests larger"]), ("medium", ["1 tests larger"]), ("large", [])]
)
def test_the_end_of_a_run_says_what_was_not_run(
    size: str, left_out: list[str], tmp_path: Path
) -> None:
    (tmp_path / "test_three.py").write_text(THREE, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "conftest", "--size", size]
    markers = ["-o", "markers=medium\nlarge", "-o", "addopts="]
    run = subprocess.run(
        [*command, *markers, f"--rootdir={tmp_path}", "test_three.py"],
        cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT), "PATH": ""},
        capture_output=True,
        text=True,
    )
    said = re.findall(r"NOT run: (\d+ tests larger|\d+ .* packages \(.*\))", run.stdout)
    assert said == [
        *left_out,
        "1 tests and files of tests for want of packages (no_such_package 1)",
    ]
    passed = {"small": 1, "medium": 2, "large": 3}[size]
    assert f"{passed} passed, 1 skipped" in run.stdout, run.stdout


def test_every_judge_has_a_version() -> None:
    tomllib = pytest.importorskip("tomllib")
    groups = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["dependency-groups"]
    wanted = [*groups["judges"], *groups["frameworks"]]
    lines = (ROOT / "tests" / "judges.txt").read_text("utf-8").splitlines()
    locked = {line.partition("==")[0] for line in lines if not line.startswith("#")}
    assert {re.split(r"[\[>=;]", it)[0] for it in wanted} == locked, "`make judges` writes it anew"
