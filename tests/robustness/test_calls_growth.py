"""Each call of `benchmarks/calls_growth.py` runs on a short input, so that its table builds."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest

_SPEC = importlib.util.spec_from_file_location(
    "calls_growth", Path(__file__).parents[2] / "benchmarks" / "calls_growth.py"
)
assert _SPEC and _SPEC.loader
calls_growth: Any = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(calls_growth)


@pytest.mark.parametrize("call", calls_growth.CALLS)
def test_each_call_of_the_table_runs(call: str) -> None:
    calls_growth.CALLS[call](1)()
