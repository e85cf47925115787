"""The modules of the Rust core stand in layers: each imports only from those below it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent.parent / "crates" / "core" / "src"

# From the ground up; `crates/core/src/lib.rs` says what each is.
LAYERS = """
error mem log interrupt nesting printable scripts simd published growth text pattern threads files
vocab tables encoding normalizer pre_tokenizer added_tokens post_processor decoder split merge
model stages roles format train fast tokenizer batch token_blocks convert measure
""".split()

USE = re.compile(r"\buse\s+crate::([^;]+);")
PATH = re.compile(r"\bcrate::(\w+)")
TESTS = re.compile(r"#\[cfg\(test\)\]\s*mod \w+ \{.*", re.DOTALL)


def layer_of(path: Path) -> str:
    return path.relative_to(SOURCE).parts[0].removesuffix(".rs")


def files() -> list[Path]:
    """The files of the core but for its face and for tests, which may use what they like."""
    names = {"lib.rs", "tests.rs", "golden.rs", "counting_tests.rs"}
    return [path for path in sorted(SOURCE.rglob("*.rs")) if path.name not in names]


def code_of(path: Path) -> str:
    text = re.sub(r"//.*", "", path.read_text(encoding="utf-8"))
    return TESTS.sub("", text)


def imported(code: str) -> Iterator[str]:
    """The top modules that a file names, in `use crate::{…}` or by a path."""
    for tree in USE.findall(code):
        if tree.startswith("{"):
            yield from re.findall(r"(?:^\{|,)\s*(\w+)(?=::|[,}\s])", tree)
    yield from PATH.findall(code)


def test_every_module_has_a_layer() -> None:
    modules = {layer_of(path) for path in SOURCE.rglob("*.rs")} - {"lib"}
    assert modules == set(LAYERS)


@pytest.mark.parametrize("path", files(), ids=lambda path: str(path.relative_to(SOURCE)))
def test_a_file_imports_from_lower_layers_only(path: Path) -> None:
    height = LAYERS.index(layer_of(path))
    upwards = {name for name in imported(code_of(path)) if name in LAYERS}
    upwards = {name for name in upwards if LAYERS.index(name) > height}
    assert not upwards, f"{path.name} is below {', '.join(sorted(upwards))}"
