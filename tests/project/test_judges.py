"""The libraries that tests compare with have versions that are written down."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def test_every_judge_has_a_version() -> None:
    tomllib = pytest.importorskip("tomllib")
    groups = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["dependency-groups"]
    wanted = [*groups["judges"], *groups["frameworks"]]
    lines = (ROOT / "tests" / "judges.txt").read_text("utf-8").splitlines()
    locked = {line.partition("==")[0] for line in lines if not line.startswith("#")}
    assert {re.split(r"[\[<>=;]", it)[0] for it in wanted} == locked, "`make judges` writes it anew"
