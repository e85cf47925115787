"""The lines of `docs/howto/answers.md` for libraries that hold a model to a grammar."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import jeton
from jeton import samples

PAGE = Path(__file__).parents[2] / "docs" / "howto" / "answers.md"
SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
    "additionalProperties": False,
}
GIVEN = '{"city": "Bergen é🙂"}'
FORBIDDEN = '{"town": 1}'


def takes_of_xgrammar(names: dict[str, Any]) -> Callable[[int], bool]:
    """What says whether the next id is allowed, and takes it if it is."""
    take: Callable[[int], bool] = names["matcher"].accept_token
    return take


def takes_of_llguidance(names: dict[str, Any]) -> Callable[[int], bool]:
    take: Callable[[int], bool] = names["matcher"].consume_token
    return take


def takes_of_outlines_core(names: dict[str, Any]) -> Callable[[int], bool]:
    def take(id: int) -> bool:
        guide = names["guide"]
        if id not in guide.get_tokens():
            return False
        guide.advance(id)
        return True

    return take


LIBRARIES = {
    "xgrammar": takes_of_xgrammar,
    "llguidance": takes_of_llguidance,
    "outlines_core": takes_of_outlines_core,
}


@pytest.mark.parametrize(
    "library",
    # xgrammar imports torch
    [pytest.param(it, marks=[pytest.mark.large] * (it == "xgrammar")) for it in LIBRARIES],
)
@pytest.mark.parametrize("special", [["<|im_end|>"], ["Bergen", "<|im_end|>"]])
@pytest.mark.parametrize("gap", [0, 9])
def test_lines_for_a_library(library: str, special: list[str], gap: int) -> None:
    pytest.importorskip(library)
    trained = jeton.BPETrainer(600, special_tokens=special).train(samples.read_all().values())
    behind = jeton.AddedToken("<|far|>", id=trained.max_id + 1 + gap, special=True)
    tok = trained.with_added_tokens([behind])
    assert (tok.max_id + 1 - tok.vocab_size) == gap
    first, *blocks = re.findall(r"^```py\n(.*?)^```", PAGE.read_text("utf-8"), re.M | re.S)
    code = next(block for block in blocks if f"import {library}\n" in block)
    for text, is_allowed in ((GIVEN, True), (FORBIDDEN, False)):
        names: dict[str, Any] = {"tok": tok, "schema": json.dumps(SCHEMA)}
        exec(first + code, names)
        take = LIBRARIES[library](names)
        assert all(take(id) for id in tok.encode(text)) is is_allowed
    names = {"tok": tok, "schema": json.dumps(SCHEMA)}
    exec(first + code, names)
    take = LIBRARIES[library](names)
    assert all(take(id) for id in tok.encode('{"city": "'))
    # A control token is no text of the answer, however it is spelled.
    assert not take(tok.special_tokens[special[0]])
