"""How much the parity suites compare: a sample by default, everything with JETON_PARITY=full."""

from __future__ import annotations

import os
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from shared_data import SHARED, VOCABULARIES, needed


@dataclass(frozen=True)
class Scale:
    """How much to compare."""

    full: bool
    #: Generated strings for a real vocabulary.
    strings: int
    #: Generated strings for a composed pipeline.
    pipeline_strings: int
    #: Bytes of each text file and of the standard library's source.
    bytes: int


@pytest.fixture(scope="session")
def scale() -> Scale:
    """The scale that JETON_PARITY asks for."""
    if os.environ.get("JETON_PARITY") == "full":
        return Scale(full=True, strings=1_000_000, pipeline_strings=5_000, bytes=1 << 40)
    return Scale(full=False, strings=10_000, pipeline_strings=150, bytes=300_000)


@pytest.fixture(scope="session")
def vocabularies() -> Path:
    """The folder of real vocabularies, or a skip where there is none."""
    return needed(VOCABULARIES)


def _take(path: Path, limit: int) -> str:
    with path.open("rb") as file:
        return file.read(min(limit, path.stat().st_size)).decode("utf-8", errors="ignore")


@pytest.fixture(scope="session")
def documents(scale: Scale) -> list[str]:
    """Real text as documents: paragraphs of prose in many languages, files of source code."""
    return list(_documents(scale))


def _documents(scale: Scale) -> Iterator[str]:
    for path in sorted((SHARED / "text").rglob("*.txt")):
        text = _take(path, scale.bytes)
        yield from (text[at : at + 4000] for at in range(0, len(text), 4000))
    budget = scale.bytes
    for path in sorted(Path(sysconfig.get_paths()["stdlib"]).rglob("*.py")):
        if "site-packages" in path.parts:
            continue
        budget -= path.stat().st_size
        if budget < 0:
            return
        yield path.read_text(encoding="utf-8", errors="replace")
