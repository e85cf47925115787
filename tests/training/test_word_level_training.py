"""WordLevelTrainer: tokenizers' vocabulary, its parameters, and what is no word."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

import jeton
from jeton import samples
from jeton.components import normalizers, pre_tokenizers
from jeton.errors import ArgumentError, ArgumentTypeError, EncodeError, TrainingError

TEXTS = list(samples.read_all().values())


@pytest.mark.parametrize(
    "options",
    [
        {"vocab_size": 100_000},
        {"vocab_size": 500},
        {"vocab_size": 500, "min_frequency": 9},
        {"vocab_size": 3, "special_tokens": ["[UNK]", "[PAD]", "[MASK]"]},
    ],
    ids=["all words", "some", "frequent ones", "no word"],
)
def test_equal_to_tokenizers(options: dict[str, Any], tmp_path: Path) -> None:
    pytest.importorskip("tokenizers")
    from tokenizers import Tokenizer, models, trainers
    from tokenizers import normalizers as theirs_normalizers
    from tokenizers import pre_tokenizers as theirs_pre

    options = {"special_tokens": ["[UNK]"], **options}
    draw = random.Random(1)
    texts = [*TEXTS, " ".join("".join(draw.choices("abé東🙂", k=3)) for _ in range(2_000))]
    theirs = Tokenizer(models.WordLevel(unk_token="[UNK]"))
    theirs.normalizer = theirs_normalizers.Lowercase()
    theirs.pre_tokenizer = theirs_pre.Whitespace()
    theirs.train_from_iterator(texts, trainers.WordLevelTrainer(show_progress=False, **options))
    ours = jeton.WordLevelTrainer(
        normalizer=normalizers.Lowercase(), pre_tokenizer=pre_tokenizers.Whitespace(), **options
    ).train(texts)
    assert {token.decode(): id for token, id in ours.vocab.items()} == theirs.get_vocab()
    ours.save(tmp_path / "tokenizer.json")
    read = Tokenizer.from_file(str(tmp_path / "tokenizer.json"))
    for text in texts:
        assert ours.encode(text) == theirs.encode(text).ids == read.encode(text).ids
    assert jeton.load(tmp_path / "tokenizer.json") == ours


def test_a_closed_vocabulary_refuses_other_words() -> None:
    tok = jeton.WordLevelTrainer(9, special_tokens=["<s>"], unk_token=None).train(["to be <s> to"])
    assert tok.vocab == {b"<s>": 0, b"to": 1, b"be": 2}
    assert jeton.Tokenizer.from_json(tok.to_json()) == tok
    with pytest.raises(EncodeError, match='"not" is unknown, and there is no unknown token'):
        tok.encode("to be or not to be".replace("or ", ""))


def test_counts_are_trained_from() -> None:
    trainer = jeton.WordLevelTrainer(300)
    counts = trainer.count(TEXTS)
    assert trainer.train(counts) == trainer.train(TEXTS)
    assert trainer.train(jeton.WordCounts(counts.items())) == trainer.train(TEXTS)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"vocab_size": -1}, ArgumentError, "vocab_size"),
        ({"vocab_size": "9"}, ArgumentTypeError, "vocab_size must be an int"),
        ({"vocab_size": 2**40}, ArgumentError, "larger than the largest id"),
        ({"vocab_size": 0}, ArgumentError, "does not hold the 1 special tokens"),
        ({"min_frequency": 1.5}, ArgumentTypeError, "min_frequency must be an int"),
        ({"special_tokens": "[UNK]"}, ArgumentTypeError, "special_tokens"),
        ({"special_tokens": ["[UNK]", "[UNK]"]}, ArgumentError, "twice"),
        ({"special_tokens": ["[UNK]", ""]}, ArgumentError, "an empty string"),
        ({"unk_token": ""}, ArgumentError, "unk_token is empty"),
        ({"unk_token": 3}, ArgumentTypeError, "unk_token must be a str"),
        ({"unk_token": "\ud800"}, ArgumentError, "surrogate"),
        ({"pattern": "gpt2", "pre_tokenizer": pre_tokenizers.Digits()}, ArgumentError, "give one"),
        ({"vocab_siez": 3}, ArgumentTypeError, "did you mean 'vocab_size'"),
    ],
)
def test_contradicting_arguments_are_refused(
    options: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        jeton.WordLevelTrainer(**options)


def test_no_words() -> None:
    with pytest.raises(TrainingError, match="no words"):
        jeton.WordLevelTrainer(9).train([" \n "])


def test_fewer_words_than_asked_for() -> None:
    with pytest.warns(jeton.errors.TrainingWarning, match="enough words for only 3 tokens"):
        jeton.WordLevelTrainer(9).train(["to be"])
