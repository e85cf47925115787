"""Training that continues: given merges come first, and given ids stay."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import jeton
from edit_families import FAMILIES
from jeton import AddedToken
from jeton.components import models, normalizers
from jeton.errors import ArgumentError, ArgumentTypeError, TrainingError, TrainingWarning
from kinds import LLAMA
from shared_data import VOCABULARIES, needed

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
    assert trained(units + 70, start_from=part.vocab.merges) == whole


def test_ids_are_kept_and_new_ones_follow(tmp_path: Path) -> None:
    start = jeton.BPETrainer(300, special_tokens=["<|a|>"]).train(TEXTS)
    start.save(tmp_path / "start.json")
    for given in (start, jeton.load(tmp_path / "start.json")):
        trainer = jeton.BPETrainer(
            340, start_from=given, pattern="whitespace", special_tokens=["<|b|>"]
        )
        tok = trainer.train(["shells " * 9, "other<|b|>words<|a|>words"])
        assert {token: tok.vocab[token] for token in start.vocab} == start.vocab
        assert tok.vocab.merges[: len(start.vocab.merges)] == start.vocab.merges
        assert tok.special_tokens == {"<|a|>": 0, "<|b|>": 300}
        assert tok.vocab[b"shells"] > 300
        assert tok.encode("shells<|a|>", special="allow") == [tok.vocab[b"shells"], 0]
        # What was one token stays one, or becomes part of a longer one.
        assert len(tok.encode("the weather")) <= len(start.encode("the weather"))


def test_ranks_are_continued(tmp_path: Path) -> None:
    start = jeton.BPETrainer(290, pattern="gpt4").train(TEXTS)
    start.save(tmp_path / "x.tiktoken", lossy=True)
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
    start = jeton.BPETrainer(270, **LLAMA).train(["to be or not to be"] * 3)
    trainer = jeton.BPETrainer(
        start.vocab_size + 12, start_from=start, normalizer=normalizers.Lowercase()
    )
    tok = trainer.train(["Not to BE or to be"] * 5)
    new = [pair for pair in tok.vocab.merges if pair not in start.vocab.merges]
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
    with pytest.raises(ArgumentError, match="differs from that of start_from"):
        jeton.BPETrainer(90, start_from=start, **options)  # type: ignore[arg-type]
    jeton.BPETrainer(90, start_from=start, end_of_word_suffix="</w>").train(TEXTS)


@pytest.mark.parametrize("family", ["bpe", "bpe with bytes"])
def test_stages_of_the_tokenizer_are_kept(family: str) -> None:
    plain = jeton.Tokenizer.from_json(FAMILIES[family](1).to_json())
    model = plain.stages.model
    assert isinstance(model, models.BPE)
    model = replace(model, ignore_merges=True, dropout=0.25, fuse_unk=True)
    unknown = [AddedToken("<unk>", id=plain.vocab[b"<unk>"])] if b"<unk>" in plain.vocab else []
    start = plain.replace(
        model=model,
        added_tokens=[*plain.stages.added_tokens, *unknown, AddedToken("<|a|>", special=True)],
        roles={"eos": "<|a|>"},
        chat_template="{{ messages }}",
        model_max_length=77,
    )
    more = ["low lower lowest"] * 9
    for tok in (
        jeton.BPETrainer(new_tokens=3, start_from=start).train(more),
        jeton.edit.extend(start, more, 3).tok,
    ):
        trained = tok.stages.model
        assert isinstance(trained, models.BPE) and trained.merges is not None
        assert tok.vocab_size == start.vocab_size + 3
        assert trained == replace(model, vocab=trained.vocab, merges=trained.merges)
        assert tok.replace(model=model) == start and tok.roles == start.roles
        assert tok.settings.chat_template == "{{ messages }}"
        assert tok.settings.model_max_length == 77


@pytest.mark.large
def test_sentencepiece_models_are_continued(tmp_path: Path) -> None:
    start = jeton.BPETrainer(310, **LLAMA).train(TEXTS)
    start.save(tmp_path / "start.model")
    model = jeton.load(tmp_path / "start.model")
    longer = jeton.BPETrainer(340, start_from=model).train([*TEXTS, "don't, don't"])
    assert longer == jeton.BPETrainer(340, start_from=start).train([*TEXTS, "don't, don't"])
    assert {token: longer.vocab[token] for token in model.vocab} == model.vocab
    assert longer.roles == model.roles
    new = {token.decode() for token in longer.vocab if token not in model.vocab}
    assert len(new) == 30
    # As SentencePiece's: letters and punctuation are never one piece.
    assert not any(len({mark.isalpha() for mark in piece.strip("▁")}) > 1 for piece in new)
    unigram = jeton.UnigramTrainer(14).train(["to be or not to be"] * 3)
    with pytest.raises(
        ArgumentError, match="start_from: this SentencePiece model has no equivalent"
    ):
        jeton.BPETrainer(340, start_from=unigram)


def test_models_without_pieces_for_bytes_are_continued() -> None:
    texts = ["low lower lowest", "new newer newest"] * 9
    more = ["lowlands lower slowly"] * 9 + ["é low"] * 5
    plain = jeton.BPETrainer(26, alphabet="sentencepiece", normalizer="identity").train(texts)
    longer = jeton.BPETrainer(new_tokens=12, start_from=plain).train(more)
    assert longer.vocab_size == 38 and not longer.stages.model.byte_fallback  # type: ignore[attr-defined]
    assert {token: longer.vocab[token] for token in plain.vocab} == plain.vocab
    assert longer.decode(longer.encode("lowlands é")) == "lowlands é"
    assert longer.encode("lowest newer x")[-1] == longer.vocab[b"<unk>"]
    # The character map of the default has no equal with merges; the error says what to do.
    default = jeton.BPETrainer(26, alphabet="sentencepiece").train(texts)
    with pytest.raises(ArgumentError, match=r'start_from=tok.approximation\("tokenizer.json"\)'):
        jeton.BPETrainer(new_tokens=12, start_from=default)
    near = default.approximation("tokenizer.json")
    again = jeton.BPETrainer(new_tokens=12, start_from=near).train(more)
    assert {token: again.vocab[token] for token in default.vocab} == default.vocab


def test_a_vocabulary_that_ends_short_is_told() -> None:
    texts = ["to be or not to be"]
    for trainer, what in (
        (jeton.BPETrainer([300, 9_999]), "pairs to merge for only"),
        (jeton.WordPieceTrainer(9_999), "pairs to merge for only"),
        (jeton.UnigramTrainer(9_999, hard_vocab_limit=False), "substrings to learn for only"),
    ):
        with pytest.warns(TrainingWarning, match=f"vocab_size=9,999 was not reached: .* {what}"):
            trainer.train(texts)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        jeton.BPETrainer(258).train(texts)


# Ids with gaps, and how many tokens there are


def with_gaps() -> jeton.Tokenizer:
    """262 tokens with ids up to 400, as tiktoken's encodings have them."""
    tokens = [bytes([byte]) for byte in range(256)] + [b"th", b"he", b"the", b" t", b"er"]
    return jeton.Tokenizer.from_ranks(
        {token: rank for rank, token in enumerate(tokens)},
        pattern="gpt4",
        special_tokens={"<|e|>": 400},
    )


@pytest.mark.parametrize("asked", [{"vocab_size": 280}, {"new_tokens": 18}], ids=str)
def test_tokens_are_counted_and_not_ids(asked: dict[str, Any]) -> None:
    start = with_gaps()
    assert (start.vocab_size, start.vocab.max_id) == (262, 400)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tok = jeton.BPETrainer(start_from=start, **asked).train(TEXTS)
    assert tok.vocab_size == 280
    assert {token: tok.vocab[token] for token in start.vocab} == start.vocab
    new = sorted(set(tok.vocab.values()) - set(start.vocab.values()))
    assert new == [*range(401, 419)]
    assert tok.decode(tok.encode(TEXTS[0])) == TEXTS[0]


def test_sizes_of_starts_with_gaps() -> None:
    start = with_gaps()
    trainer = jeton.BPETrainer(new_tokens=[4, 9], start_from=start, special_tokens=["<|new|>"])
    sizes = trainer.train_all(TEXTS)
    assert list(sizes) == [266, 271]
    for size, tok in sizes.items():
        alone = jeton.BPETrainer(size, start_from=start, special_tokens=["<|new|>"]).train(TEXTS)
        assert tok == alone and tok.vocab_size == size
        assert tok.special_tokens == {"<|e|>": 400, "<|new|>": 401}
        assert len(tok.vocab.merges) - len(start.vocab.merges) == size - 263
    with pytest.warns(TrainingWarning, match=r"vocab_size=9,999 was not reached.* for only"):
        jeton.BPETrainer(9_999, start_from=start).train(["the the then"])


def test_new_tokens_of_other_kinds() -> None:
    for options in OPTIONS.values():
        start = jeton.BPETrainer(2_000, max_token_length=2, **options).train(TEXTS)  # type: ignore[arg-type]
        tok = jeton.BPETrainer(new_tokens=9, start_from=start).train(TEXTS)
        assert tok.vocab_size == start.vocab_size + 9
        assert {token: tok.vocab[token] for token in start.vocab} == start.vocab


def test_new_tokens_that_make_no_sense() -> None:
    start = with_gaps()
    for options, message in (
        ({"new_tokens": 3, "vocab_size": 300}, "vocab_size and new_tokens both"),
        ({"new_tokens": 3, "start_from": None}, "give start_from, or vocab_size"),
        ({"new_tokens": 3, "start_from": [("t", "h")]}, "give start_from, or vocab_size"),
        ({"new_tokens": -1}, "new_tokens must be at least 0"),
        ({"new_tokens": []}, "new_tokens holds no sizes"),
        ({"new_tokens": "3"}, "new_tokens must be an int or a list of int, not str"),
    ):
        with pytest.raises((ArgumentError, ArgumentTypeError), match=message):
            jeton.BPETrainer(**{"start_from": start, **options})  # type: ignore[arg-type]


def test_new_characters_are_named_and_can_be_left_out() -> None:
    start = jeton.BPETrainer(270, **LLAMA).train(["to be or not to be"] * 3)
    there, new = start.vocab_size, "àéîõü"
    corpus = [f"to be {new} or not"]
    with pytest.raises(
        TrainingError,
        match=rf"vocab_size {there} does not hold the {there} tokens to start from and 5 "
        rf"characters of the corpus that are new \(ask for at least {there + 5}, or leave "
        "characters out: limit_alphabet=0 adds none",
    ):
        jeton.BPETrainer(there, start_from=start).train(corpus)
    tok = jeton.BPETrainer(there + 1, start_from=start, limit_alphabet=0).train(corpus)
    assert tok.vocab_size == there + 1
    assert not any(character.encode() in tok for character in new)
    assert tok.decode(tok.encode(corpus[0])) == corpus[0]
    with pytest.raises(TrainingError, match=r"tokens to start from and 2 new special tokens \("):
        jeton.BPETrainer(263, start_from=with_gaps(), special_tokens=["<a>", "<b>"]).train(TEXTS)


@pytest.mark.large
@pytest.mark.parametrize("name", ["cl100k_base.tiktoken", "o200k_base.tiktoken"])
def test_published_encodings_are_extended(name: str) -> None:
    path = needed(VOCABULARIES / name)
    start = jeton.load(path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tok = jeton.BPETrainer(new_tokens=9, start_from=start).train(
            ["quuxification blorptastic zzyzxian wugglefish " * 9]
        )
    assert tok.vocab_size == start.vocab_size + 9
    assert tok.vocab.max_id == start.vocab.max_id + 9
    assert tok.encode("The weather") == start.encode("The weather")
    assert len(tok.encode(" quuxification")) < len(start.encode(" quuxification"))
