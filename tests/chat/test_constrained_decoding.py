"""`jeton.interop.grammars`: xgrammar, llguidance and outlines hold a model to a grammar."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import jeton
from jeton import samples
from jeton.errors import ArgumentError, ArgumentTypeError, UnknownTokenError

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


ONE = pytest.mark.parametrize(
    "library",
    # xgrammar imports torch
    [pytest.param(it, marks=[pytest.mark.large] * (it == "xgrammar")) for it in LIBRARIES],
)


def _takes(library: str, tok: jeton.Tokenizer, *, spaced: bool = False) -> Callable[[int], bool]:
    """What takes ids by the lines of the page for a library; `spaced`: those for SentencePiece."""
    pytest.importorskip(library)
    _, section = PAGE.read_text("utf-8").split("## Constrained decoding")
    first, *blocks = re.findall(r"^```py\n(.*?)^```", section, re.M | re.S)
    names: dict[str, Any] = {"tok": tok, "schema": json.dumps(SCHEMA)}
    exec(first, names)
    for code in [it for it in blocks if library in it][: 2 if spaced else 1]:
        exec(code, names)
    return LIBRARIES[library](names)


@ONE
@pytest.mark.parametrize("special", [["<|im_end|>"], ["Bergen", "<|im_end|>"]])
@pytest.mark.parametrize("gap", [0, 9])
def test_lines_for_a_library(library: str, special: list[str], gap: int) -> None:
    trained = jeton.BPETrainer(600, special_tokens=special).train(samples.read_all().values())
    behind = jeton.AddedToken("<|far|>", id=trained.vocab.max_id + 1 + gap, special=True)
    tok = trained.with_added_tokens([behind])
    assert (tok.vocab.max_id + 1 - tok.vocab_size) == gap
    for text, is_allowed in ((GIVEN, True), (FORBIDDEN, False)):
        take = _takes(library, tok)
        assert all(take(id) for id in tok.encode(text)) is is_allowed
    take = _takes(library, tok)
    assert all(take(id) for id in tok.encode('{"city": "'))
    # A control token is no text of the answer, however it is spelled.
    assert not take(tok.special_tokens[special[0]])


@ONE
def test_a_sentencepiece_model_begins_with_a_space(library: str) -> None:
    trainer = jeton.UnigramTrainer(40, special_tokens=["<|im_end|>"], hard_vocab_limit=False)
    tok = trainer.train(['{"city": "Bergen"}', '{"town": "Oslo"}'] * 9)
    ids = tok.encode('{"city": "Bergen"}')
    assert tok.vocab.token_bytes(ids[0])[:1] == b" "
    assert not _takes(library, tok)(ids[0])
    take = _takes(library, tok, spaced=True)
    assert all(take(id) for id in ids)
    assert not all(map(_takes(library, tok, spaced=True), tok.encode('{"town": "Bergen"}')))


def test_all_token_bytes_are_those_of_each_token() -> None:
    trained = jeton.BPETrainer(300, special_tokens=["<|a|>"]).train(["the weather"])
    tok = trained.with_added_tokens([jeton.AddedToken("<|far|>", id=400, special=True), "plain"])
    found = tok.vocab.all_token_bytes()
    assert len(found) == tok.vocab.max_id + 1 == 402
    special = {*tok.special_tokens.values()}
    for id, token in enumerate(found):
        with contextlib.suppress(UnknownTokenError):
            assert token == (b"" if id in special else tok.vocab.token_bytes(id))
    assert found[399] == found[400] == found[tok.special_tokens["<|a|>"]] == b""
    assert tok.vocab.all_token_bytes(size=500) == [*found, *[b""] * 98]
    with pytest.raises(ArgumentError, match="size must be at least 402, not 401"):
        tok.vocab.all_token_bytes(401)
    with pytest.raises(ArgumentTypeError, match="size must be an int"):
        tok.vocab.all_token_bytes("1")  # type: ignore[arg-type]


@pytest.mark.large
def test_xgrammar_gets_the_size_and_the_ends() -> None:
    pytest.importorskip("xgrammar")
    tok = jeton.BPETrainer(300, special_tokens=["<|end|>", "<|eot|>"]).train(["the weather"])
    with pytest.raises(ArgumentError, match="nothing says which token ends an answer"):
        tok.as_xgrammar()
    tok = tok.replace(roles={"eos": "<|end|>", "eot": "<|eot|>"})
    info = tok.as_xgrammar(size=512)
    assert (info.vocab_size, [*info.stop_token_ids]) == (512, [0, 1])
    assert [*tok.as_xgrammar(stop_ids=[1]).stop_token_ids] == [1]


def test_llguidance_knows_special_tokens_by_name() -> None:
    llguidance = pytest.importorskip("llguidance")
    tok = jeton.BPETrainer(300, special_tokens=["<|end|>", "<|do|>"]).train(["the weather"])
    with pytest.raises(ArgumentError, match="stop_ids is empty"):
        tok.as_llguidance(stop_ids=[])
    with pytest.raises(ArgumentTypeError, match="stop_ids must be an iterable of ints, not str"):
        tok.as_llguidance(stop_ids="0")  # type: ignore[arg-type]
    tokens = tok.replace(roles={"eos": "<|end|>"}).as_llguidance(size=512)
    assert (tokens.vocab_size, tokens.eos_token) == (512, 0)
    assert tokens.tokenize_str("the weather <|do|>") == tok.encode("the weather <|do|>")
    grammar = llguidance.LLMatcher.grammar_from_lark('start: "the" <|do|> "we"')
    matcher = llguidance.LLMatcher(tokens, grammar)
    ids = [*tok.encode("the"), tok.special_tokens["<|do|>"], *tok.encode("we")]
    assert all(matcher.consume_token(id) for id in ids) and matcher.is_accepting()
    matcher = llguidance.LLMatcher(tokens, grammar)
    assert not all(matcher.consume_token(id) for id in tok.encode("the<|do|>we"))
