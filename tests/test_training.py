"""Trainers: worked examples, equality with tokenizers, and what a corpus may be."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import jeton
from jeton.components import normalizers, pre_tokenizers

TEXTS = [
    "the weather there, then the theory: père 東京 🙂\n\n  x = 1\n",
    "she sells sea shells by the sea shore; the shells she sells are sea-shells\n",
    "don't can't won't 12345 67890 3.14159\n",
] * 7


@pytest.mark.parametrize(
    ("corpus", "options", "merges", "text", "tokens"),
    [
        (
            ["low"] * 5 + ["lower"] * 2 + ["newest"] * 6 + ["widest"] * 3,
            {"end_of_word_suffix": "</w>", "separate_suffix": True},
            ["es", "est", "est</w>", "lo", "low"],
            "lowest",
            ["low", "est</w>"],
        ),
        (["a refrain from rain in a train"], {}, ["in", "ra", "rain"], "rain", ["rain"]),
        (["hello", "hello", "help"], {}, ["he"], "he", ["he"]),
    ],
    ids=["lowest", "refrain", "hello"],
)
def test_worked_examples(
    corpus: list[str], options: dict[str, bool], merges: list[str], text: str, tokens: list[str]
) -> None:
    characters = set("".join(corpus)) - {" "}
    size = len(characters) + len(merges) + ("end_of_word_suffix" in options)
    trainer = jeton.BPETrainer(
        size,
        pattern="whitespace",
        alphabet="characters",
        tie_break="first",
        **options,  # type: ignore[arg-type]
    )
    tok = trainer.train(corpus)
    assert [left + right for left, right in tok.merges] == [merge.encode() for merge in merges]
    assert [tok.id_to_bytes(id) for id in tok.encode(text)] == [token.encode() for token in tokens]


def test_equal_to_tokenizers(tmp_path: Path) -> None:
    pytest.importorskip("tokenizers")
    from tokenizers import Tokenizer, models, trainers
    from tokenizers import pre_tokenizers as theirs_pre

    theirs = Tokenizer(models.BPE())
    theirs.pre_tokenizer = theirs_pre.ByteLevel(add_prefix_space=False)
    theirs.train_from_iterator(
        TEXTS,
        trainers.BpeTrainer(
            vocab_size=400,
            special_tokens=["<|end|>"],
            initial_alphabet=theirs_pre.ByteLevel.alphabet(),
            show_progress=False,
        ),
    )
    ours = jeton.BPETrainer(
        400,
        pre_tokenizer=pre_tokenizers.ByteLevel(add_prefix_space=False),
        special_tokens=["<|end|>"],
    ).train(TEXTS)
    written = json.loads(ours.to_json())["model"]
    judge = json.loads(theirs.to_str())["model"]
    assert written["vocab"] == judge["vocab"]
    assert written["merges"] == judge["merges"]
    for text in TEXTS:
        assert ours.encode(text) == theirs.encode(text).ids


def test_a_corpus_in_files(tmp_path: Path) -> None:
    for number, text in enumerate(TEXTS):
        (tmp_path / f"{number:02}.txt").write_text(text, encoding="utf-8", newline="")
    trainer = jeton.BPETrainer(330, normalizer=normalizers.Lowercase())
    lines = [line for text in TEXTS for line in text.splitlines(keepends=True)]
    expected = trainer.train(lines)
    assert trainer.train(str(tmp_path)) == expected
    assert trainer.train(tmp_path) == expected
    assert trainer.train(str(tmp_path / "*.txt")) == expected
    assert trainer.train(iter(lines)) == expected
    assert expected.encode("THE") == expected.encode("the")
    (tmp_path / "x.bin").write_bytes(b"\xff\xfe")
    with pytest.raises(jeton.errors.FormatError, match=r"x\.bin.*UTF-8"):
        trainer.train(tmp_path)


def test_special_tokens_are_boundaries() -> None:
    tok = jeton.BPETrainer(300, pattern="none", special_tokens=["<|end|>"]).train(
        ["ab<|end|>cd"] * 100
    )
    assert tok.special_tokens == {"<|end|>": 0}
    assert not any(b"<" in left + right or b"bc" in left + right for left, right in tok.merges)


def test_characters() -> None:
    tok = jeton.CharTrainer().train("hello")
    assert tok.vocab == {b"e": 0, b"h": 1, b"l": 2, b"o": 3}
    tok = jeton.CharTrainer(unk_token="<UNK>", special_tokens=["<|end|>"]).train(["he", "llo"])
    assert tok.encode("help<|end|>", special="allow") == [2, 1, 3, 0, 5]
    assert tok.decode([2, 1, 0]) == "he<UNK>"
    assert tok.bytes_to_id("<UNK>") == 0


def test_a_path_is_no_text(tmp_path: Path) -> None:
    path = tmp_path / "text.txt"
    path.write_text("abc", encoding="utf-8")
    assert set(jeton.CharTrainer().train(path).vocab) == {b"a", b"b", b"c"}
    with pytest.raises(jeton.errors.ArgumentError, match="pathlib"):
        jeton.CharTrainer().train(str(path))
