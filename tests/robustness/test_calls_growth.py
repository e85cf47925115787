"""Each call of `benchmarks/calls_growth.py` runs on a short input, so that its table builds."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from typing import Any

import pytest

import jeton

_SPEC = importlib.util.spec_from_file_location(
    "calls_growth", Path(__file__).parents[2] / "benchmarks" / "calls_growth.py"
)
assert _SPEC and _SPEC.loader
calls_growth: Any = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(calls_growth)


@pytest.mark.parametrize("call", calls_growth.CALLS)
def test_each_call_of_the_table_runs(call: str) -> None:
    calls_growth.CALLS[call](1)()


OTHERS = {
    "approximation", "as_llguidance", "as_transformers", "as_xgrammar", "from_json", "from_ranks",
    "play", "replace", "save", "to_json", "with_added_tokens",
}  # fmt: skip
"""Methods whose time is that of a tokenizer, not of a text, ids or messages."""


def test_the_table_has_every_method_that_takes_text_ids_or_messages() -> None:
    methods = {
        name
        for name in dir(jeton.Tokenizer)
        if not name.startswith("_") and callable(getattr(jeton.Tokenizer, name))
    }
    told = {word for call in calls_growth.CALLS for word in re.findall(r"\w+", call)}
    assert methods - told == OTHERS
