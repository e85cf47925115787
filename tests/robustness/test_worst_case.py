"""Long texts made to be slow, for WordPiece, Unigram and SentencePiece: each comes to an end.

`benchmarks/growth.py` measures how time grows; here only that a million characters are encoded at
all, which a quadratic step would make impossible.
"""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest

import jeton

_SPEC = importlib.util.spec_from_file_location(
    "growth", Path(__file__).parents[2] / "benchmarks" / "growth.py"
)
assert _SPEC and _SPEC.loader
growth: Any = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(growth)

MODELS: dict[str, jeton.Tokenizer] = dict(growth.tokenizers())
TEXTS: dict[str, str] = growth.texts(1_000_000)


@pytest.mark.large
@pytest.mark.parametrize("text", ["equal", "nested", "random", "spaces"])
@pytest.mark.parametrize("model", [name for name in MODELS if "for nothing" not in name])
def test_a_million_characters(model: str, text: str) -> None:
    assert MODELS[model].count(TEXTS[text]) > 0
