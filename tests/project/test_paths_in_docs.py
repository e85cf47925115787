"""Every path that the pages for maintainers name exists, so that none of them leads nowhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [
    ROOT / "CONTRIBUTING.md",
    ROOT / "docs" / "design.md",
    ROOT / "docs" / "fast-path.md",
    ROOT / "docs" / "glossary.md",
    *sorted((ROOT / "docs" / "algorithms").glob("*.md")),
]
FOLDERS = "benchmarks|crates|docs|examples|fuzz|python|site|testdata|tests"
PATH = re.compile(rf"`((?:{FOLDERS})(?:/[\w.-]+)*|[\w-]+\.(?:md|toml)|Makefile)/?`")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_paths_exist(page: Path) -> None:
    named = PATH.findall(page.read_text(encoding="utf-8"))
    assert [path for path in named if not (ROOT / path).exists()] == []


def test_maps_name_paths() -> None:
    for page in PAGES[:3]:
        assert len(PATH.findall(page.read_text(encoding="utf-8"))) > 5, page.name
