"""Crates beside the stages ask for the facts of a stage, and do not name it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TESTS = re.compile(r"#\[cfg\(test\)\]\s*(?:pub\([a-z]+\) )?mod \w+ \{.*", re.DOTALL)
KIND = re.compile(r"\b(Normalizer|PreTokenizer|Decoder)::([A-Z]\w*)")

ALLOWED = {
    # The strategy that runs this normalizer itself.
    "fast": {"Normalizer::SentencePiece"},
    # What stands in for a model that makes a token of each character.
    "training": {"PreTokenizer::FixedLength"},
    "core": {"PreTokenizer::FixedLength"},
}
"""The kinds of stages that a crate beside the stages and the formats may name."""


@pytest.mark.parametrize("crate", sorted(ALLOWED))
def test_other_crates_ask_for_facts(crate: str) -> None:
    named = set()
    source = ROOT / "crates" / crate / "src"
    for path in source.rglob("*.rs"):
        # A conversion from one kind of stage to another has to know both.
        if path.name.endswith("tests.rs") or source / "convert" in path.parents:
            continue
        code = re.sub(r"//.*", "", path.read_text("utf-8"))
        named |= {"::".join(kind) for kind in KIND.findall(TESTS.sub("", code))}
    assert named <= ALLOWED[crate]
