"""Answers of gpt-oss, read by jeton and by openai-harmony, the library of that format."""

from __future__ import annotations

import functools
import json
import random
from typing import Any

import pytest

import jeton
from conftest import Scale
from shared_data import SHARED, needs

VOCAB = SHARED / "vocab"
NAMES = "start end message channel constrain return call startoftext endoftext".split()
WORDS = ["Hello", "wo rld\n", "é🙂", "<|end|>", "<|channel|>final<|message|>", " {}", "\n\n"]


@functools.cache
def harmony() -> Any:
    openai_harmony = pytest.importorskip("openai_harmony")
    return openai_harmony.load_harmony_encoding("HarmonyGptOss")


@functools.cache
def tokenizer() -> jeton.Tokenizer:
    base = jeton.load(VOCAB / "o200k_base.tiktoken")
    ranks = {base.vocab.token_bytes(id): id for id in range(199_998)}
    names = [f"<|{name}|>" for name in NAMES]
    special = {it: harmony().encode(it, allowed_special="all")[0] for it in names}
    return jeton.Tokenizer.from_ranks(ranks, pattern="o200k", special_tokens=special)


def answer(rng: random.Random, tok: jeton.Tokenizer) -> list[int]:
    """Messages on the channels, whose words may spell control tokens."""
    ids: list[int] = []

    def write(*parts: str) -> None:
        for part in parts:
            ids.extend(
                [tok.special_tokens[part]] if part in tok.special_tokens else tok.encode(part)
            )

    for number, kind in enumerate(rng.choices("analysis commentary final call".split(), k=3)):
        if number:
            write("<|start|>", "assistant")
        text = "".join(rng.choices(WORDS, k=rng.randrange(1, 6)))
        if kind != "call":
            write("<|channel|>", kind, "<|message|>")
            ids += tok.encode(text)
            write("<|end|>")
            continue
        if rng.random() < 0.5:
            write("<|channel|>", "commentary to=functions.f ")
        else:
            write(" to=functions.f", "<|channel|>", "commentary ")
        write("<|constrain|>", "json", "<|message|>")
        ids += tok.encode(json.dumps({"a": text}))
        write("<|call|>")
    return ids


@pytest.mark.large
@needs(VOCAB)
def test_answers(scale: Scale, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TIKTOKEN_ENCODINGS_BASE", str(VOCAB))
    role = pytest.importorskip("openai_harmony").Role.ASSISTANT
    encoding, tok, rng = harmony(), tokenizer(), random.Random(5)
    for _ in range(scale.pipeline_strings * 4):
        ids = answer(rng, tok)
        words, reasoning, calls = "", "", []
        for message in encoding.parse_messages_from_completion_tokens(ids, role):
            text = "".join(content.text for content in message.content)
            if message.recipient and message.recipient.startswith("functions."):
                calls.append((message.recipient.removeprefix("functions."), json.loads(text)))
            elif message.channel == "analysis":
                reasoning += text
            else:
                words += text
        parsed = tok.parse(ids, format="gpt-oss")
        assert parsed.content == words
        assert parsed.message.get("reasoning_content", "").strip() == reasoning.strip()
        assert [(call.name, call.arguments) for call in parsed.calls] == calls
