"""How a tokenizer says that it encodes text: for published tokenizers, in the log, in the CLI."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

import jeton
from jeton.components import normalizers
from shared_data import VOCABULARIES, needed

PUBLISHED = [
    ("cl100k_base.tiktoken", "byte_level"),
    ("o200k_base.tiktoken", "byte_level"),
    ("r50k_base.tiktoken", "byte_level"),
    ("gpt2_vocab.json", "byte_level"),
    # Its vocabulary has no token for 13 bytes that no UTF-8 holds.
    ("neox", "cached_pieces"),
    ("llama3_ranks.model", "byte_level"),
    ("llama2_sentencepiece_bpe.model", "sentencepiece"),
    ("t5_style_unigram.model", "sentencepiece"),
    ("bert_uncased_vocab.txt", "whitespace_words"),
]
"""A file and the strategy."""


def published(name: str) -> jeton.Tokenizer:
    return jeton.load(needed(VOCABULARIES / name))


@pytest.mark.parametrize(("name", "strategy"), PUBLISHED)
def test_published_tokenizers(name: str, strategy: str) -> None:
    plan = published(name).stages.encoding_plan()
    assert plan.strategy == strategy, plan
    assert plan.is_fast


@pytest.mark.large
@pytest.mark.parametrize(
    ("name", "strategy", "stage"),
    [
        ("llama2_sentencepiece_bpe.model", "metaspace", "model"),
        # Its character map is followed by expressions, which no strategy takes.
        ("t5_style_unigram.model", "stages", "pre-tokenizer"),
    ],
)
def test_models_as_tokenizer_json(name: str, strategy: str, stage: str) -> None:
    plan = published(name).approximation("tokenizer.json").stages.encoding_plan()
    assert plan.strategy == strategy, plan
    assert list(plan.passed_over.values())[-1].stage == stage


def trained() -> jeton.Tokenizer:
    return jeton.BPETrainer(300, pattern="gpt2").train(["the weather, the theory"] * 9)


@pytest.mark.parametrize("pattern", ["gpt2", "cl100k"])
def test_empty_marks_of_parts_of_words_are_none(pattern: str) -> None:
    """As the `tokenizer.json` of GPT-2 and of those made by its converter has them."""
    corpus = ["the weather, the theory, père 東京 🙂"] * 9
    tok = jeton.BPETrainer(300, pattern=pattern).train(corpus)
    file = json.loads(tok.to_json())
    for name in ("continuing_subword_prefix", "end_of_word_suffix"):
        file["model"][name] = ""
    other = jeton.Tokenizer.from_json(json.dumps(file))
    assert other.stages.encoding_plan().strategy == "byte_level"
    for text in ("the weather", " père 東京 🙂\n\n  x", "\x00 the\u0301", ""):
        assert other.encode_with_spans(text) == tok.encode_with_spans(text)
    assert json.loads(other.to_json()) == file


def test_a_plan_names_its_strategy_and_obstacles() -> None:
    plan = trained().stages.encoding_plan()
    assert (plan.strategy, plan.passed_over, plan.detours) == ("byte_level", {}, ())
    assert plan.is_fast
    slower = trained().replace(normalizer=normalizers.Lowercase()).stages.encoding_plan()
    assert slower.strategy == "cached_pieces"
    assert list(slower.passed_over) == [
        "byte_level",
        "sentencepiece",
        "metaspace",
        "whitespace_words",
    ]
    obstacle = slower.passed_over["byte_level"]
    assert (obstacle.stage, obstacle.kind) == ("normalizer", "Lowercase")
    assert f"not byte_level: normalizer Lowercase: {obstacle.why}" in str(slower)
    stages = trained().replace(pre_tokenizer=None).stages.encoding_plan()
    assert stages.strategy == "stages"
    assert not stages.is_fast
    assert "no pre-tokenizer" in str(stages)


SCRIPT = """
import jeton
tok = jeton.BPETrainer(300, pattern="gpt2").train(["the weather, the theory"] * 9)
print("built", flush=True)
tok.replace(normalizer=jeton.components.normalizers.Lowercase())
"""


@pytest.mark.parametrize(("topics", "told"), [("plan", True), ("x, plan", True), ("", False)])
def test_log(topics: str, told: bool) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        env={**os.environ, "JETON_LOG": topics},
        capture_output=True,
        text=True,
        check=True,
    )
    lines = done.stderr.splitlines()
    assert ("jeton plan: byte_level. Byte-level BPE" in done.stderr) == told
    slower = [line for line in lines if line.startswith("jeton plan: cached_pieces.")]
    assert len(slower) == told
    assert done.stdout == "built\n"
    if told:
        at = lines.index(slower[0])
        assert lines[at + 1].startswith("  not byte_level: normalizer Lowercase: ")
