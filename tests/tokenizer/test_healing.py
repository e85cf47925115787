"""Healing the end of a prompt: `tok.heal` (`encoding/healing.py`)."""

from __future__ import annotations

import pytest

import jeton
from jeton.errors import ArgumentTypeError, UnknownTokenError
from kinds import KINDS

BYTE_LEVEL = jeton.BPETrainer(300, pattern="gpt4").train(["the lowest of the low"] * 5)


def test_healing_leaves_what_nothing_continues() -> None:
    assert BYTE_LEVEL.heal([]) == ([], b"", [])
    whole = BYTE_LEVEL.encode("the lowest")
    healed = BYTE_LEVEL.heal(whole)
    if not healed.prefix:
        assert healed.ids == whole


@pytest.mark.parametrize("text", ["the lo", "th", "xyz the", "🙂 l"])
def test_a_healed_prompt_and_its_prefix_are_the_prompt(text: str) -> None:
    healed = BYTE_LEVEL.heal(BYTE_LEVEL.encode(text))
    assert BYTE_LEVEL.decode_bytes(healed.ids) + healed.prefix == text.encode()
    longest = max((len(BYTE_LEVEL.vocab.token_bytes(id)) for id in healed.allowed), default=0)
    assert not healed.prefix or longest > 0
    for id in range(BYTE_LEVEL.vocab_size):
        token = BYTE_LEVEL.vocab.token_bytes(id)
        fits = token.startswith(healed.prefix) or healed.prefix.startswith(token)
        assert (id in healed.allowed) == (bool(healed.prefix) and fits)


def test_special_tokens_are_not_healed() -> None:
    tok = jeton.BPETrainer(270, special_tokens=["<|end|>"]).train(["<|end|> the the"])
    ids = [*tok.encode("a"), tok.special_tokens["<|end|>"]]
    assert tok.heal(ids).ids == ids


def test_ids_that_are_none_are_refused() -> None:
    with pytest.raises(UnknownTokenError, match="9999"):
        BYTE_LEVEL.heal([9999])
    with pytest.raises(ArgumentTypeError):
        BYTE_LEVEL.heal("text")  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_every_kind_keeps_a_prefix_of_the_ids(kind: str) -> None:
    tok = KINDS[kind]()
    for text in ("the lo", "low", "e"):
        try:
            ids = tok.encode(text, add_special_tokens=False)
        except jeton.JetonError:
            continue
        healed = tok.heal(ids)
        assert healed.ids == ids[: len(healed.ids)]
        taken = b"".join(tok.vocab.token_bytes(id) for id in ids[len(healed.ids) :])
        assert healed.prefix == taken.removeprefix(b"##")
        assert bool(healed.prefix) == (len(healed.ids) < len(ids))
