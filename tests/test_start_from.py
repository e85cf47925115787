"""Training that continues: given merges come first, and given ids stay."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

import jeton
from jeton.components import normalizers
from jeton.errors import ArgumentError, ArgumentTypeError, TrainingError, TrainingWarning

TEXTS = [
    "the weather there, then the theory: père 東京 🙂\n\n  x = 1\n",
    "she sells sea shells by the sea shore; the shells she sells are sea-shells\n",
    "don't can't won't 12345 67890 3.14159<|end|>\n",
] * 7

OPTIONS = {
    "bytes": {"special_tokens": ["<|end|>"]},
    "characters": {"alphabet": "characters", "special_tokens": ["<u>"], "unk_token": "<u>"},
    "end of word": {
        "alphabet": "characters",
        "pattern": "whitespace",
        "end_of_word_suffix": "</w>",
    },
    "continuing": {
        "alphabet": "characters",
        "pattern": "whitespace",
        "continuing_subword_prefix": "##",
    },
    "sentencepiece": {"alphabet": "sentencepiece"},
}


@pytest.mark.parametrize("options", OPTIONS.values(), ids=list(OPTIONS))
@pytest.mark.parametrize("tie_break", ["huggingface", "lexicographic", "alphabetic", "first"])
def test_continued_on_the_same_corpus_is_trained_at_once(
    options: dict[str, object], tie_break: str
) -> None:
    def trained(size: int, **more: object) -> jeton.Tokenizer:
        return jeton.BPETrainer(size, tie_break=tie_break, **{**options, **more}).train(TEXTS)  # type: ignore[arg-type]

    units = trained(2_000, max_token_length=2).vocab_size
    whole = trained(units + 70)
    part = trained(units + 30)
    assert trained(units + 70, start_from=part) == whole
    if options.get("alphabet") != "sentencepiece":
        assert trained(units + 70, start_from=part.merges) == whole


def test_ids_are_kept_and_new_ones_follow(tmp_path: Path) -> None:
    start = jeton.BPETrainer(300, special_tokens=["<|a|>"]).train(TEXTS)
    start.save(tmp_path / "start.json")
    for given in (start, jeton.load(tmp_path / "start.json")):
        trainer = jeton.BPETrainer(
            340, start_from=given, pattern="whitespace", special_tokens=["<|b|>"]
        )
        tok = trainer.train(["shells " * 9, "other<|b|>words<|a|>words"])
        assert {token: tok.vocab[token] for token in start.vocab} == start.vocab
        assert tok.merges[: len(start.merges)] == start.merges
        assert tok.special_tokens == {"<|a|>": 0, "<|b|>": 300}
        assert tok.vocab[b"shells"] > 300
        assert tok.encode("shells<|a|>", special="allow") == [tok.vocab[b"shells"], 0]
        # What was one token stays one, or becomes part of a longer one.
        assert len(tok.encode("the weather")) <= len(start.encode("the weather"))


def test_ranks_are_continued(tmp_path: Path) -> None:
    start = jeton.BPETrainer(290, pattern="gpt4").train(TEXTS)
    start.save(tmp_path / "x.tiktoken")
    ranks = jeton.load(tmp_path / "x.tiktoken", pattern="gpt4", special_tokens={"<|e|>": 400})
    tok = jeton.BPETrainer(420, start_from=ranks).train(TEXTS)
    assert tok.special_tokens == {"<|e|>": 400}
    assert {token: tok.vocab[token] for token in ranks.vocab} == ranks.vocab
    assert sorted(set(tok.vocab.values()) - set(ranks.vocab.values()))[0] == 401


def test_starts_that_make_no_sense() -> None:
    with pytest.raises(ArgumentError, match=r"start_from\[0\] .*no token before this merge"):
        jeton.BPETrainer(300, start_from=[("ab", "c")]).train(["abc"])
    with pytest.raises(ArgumentTypeError, match=r"start_from\[0\] must be a pair"):
        jeton.BPETrainer(300, start_from=["ab"])  # type: ignore[list-item]
    with pytest.raises(ArgumentTypeError, match="has no merges"):
        jeton.BPETrainer(300, start_from=jeton.CharTrainer().train("abc"))
    start = jeton.BPETrainer(300).train(TEXTS)
    with pytest.raises(TrainingError, match="does not hold the 300 tokens to start from"):
        jeton.BPETrainer(280, start_from=start).train(TEXTS)


def test_marks_stay_when_a_normalizer_is_given() -> None:
    start = jeton.BPETrainer(270, alphabet="sentencepiece").train(["to be or not to be"] * 3)
    trainer = jeton.BPETrainer(
        start.vocab_size + 12, start_from=start, normalizer=normalizers.Lowercase()
    )
    tok = trainer.train(["Not to BE or to be"] * 5)
    new = tok.merges[len(start.merges) :]
    assert new
    assert not any("▁" in (left + right).decode()[1:] for left, right in new)
    assert tok.decode(tok.encode("TO be")) == "to be"


@pytest.mark.parametrize(
    "options",
    [
        {"end_of_word_suffix": "@"},
        {"continuing_subword_prefix": "##"},
        {"separate_suffix": True},
    ],
)
def test_given_merges_are_not_respelled(options: dict[str, object]) -> None:
    start = jeton.BPETrainer(80, **OPTIONS["end of word"]).train(TEXTS)  # type: ignore[arg-type]
    with pytest.raises(ArgumentError, match="is not what start_from has"):
        jeton.BPETrainer(90, start_from=start, **options)  # type: ignore[arg-type]
    jeton.BPETrainer(90, start_from=start, end_of_word_suffix="</w>").train(TEXTS)


def test_sentencepiece_models_are_continued(tmp_path: Path) -> None:
    start = jeton.BPETrainer(310, alphabet="sentencepiece").train(TEXTS)
    start.save(tmp_path / "start.model")
    model = jeton.load(tmp_path / "start.model")
    longer = jeton.BPETrainer(340, start_from=model).train(TEXTS)
    assert longer == jeton.BPETrainer(340, start_from=start).train(TEXTS)
    assert longer == jeton.BPETrainer(340, alphabet="sentencepiece").train(TEXTS)
    assert {token: longer.vocab[token] for token in model.vocab} == model.vocab
    unigram = jeton.UnigramTrainer(14).train(["to be or not to be"] * 3)
    with pytest.raises(ArgumentError, match="start_from: this SentencePiece model has no equal"):
        jeton.BPETrainer(340, start_from=unigram)


def test_a_vocabulary_that_ends_short_is_told() -> None:
    texts = ["to be or not to be"]
    for trainer, what in (
        (jeton.BPETrainer([300, 9_999]), "pairs to merge than for"),
        (jeton.WordPieceTrainer(9_999), "pairs to merge than for"),
        (jeton.UnigramTrainer(9_999, hard_vocab_limit=False), "substrings to learn than for"),
    ):
        with pytest.warns(TrainingWarning, match=f"vocab_size=9,999 was not reached: .* {what}"):
            trainer.train(texts)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        jeton.BPETrainer(258).train(texts)
