"""Superwords over words without residues: the authors' merges, deletions and encodings; files."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any, Literal

import pytest

import jeton
from jeton import samples
from jeton.components import models, pre_tokenizers
from jeton.errors import ArgumentTypeError, FormatError, UnsupportedError
from shared_data import SHARED, needs
from test_residues import ALPHABET, lines_of, replayed, spelled_bytes

VARIANTS = SHARED / "variants"
TALES = samples.read("tales").splitlines()
SPLIT = pre_tokenizers.ByteLevel(add_prefix_space=False)


def trained(**parameters: Any) -> jeton.Tokenizer:
    parameters = {"superwords": "boundless", "drop_residues": 0.8, **parameters}
    return jeton.BPETrainer(600, **parameters).train(TALES)


def parts(tok: jeton.Tokenizer) -> tuple[models.PickyBPE, models.Superwords]:
    model = tok.stages.model
    assert isinstance(model, models.Superwords)
    assert isinstance(model.words, models.PickyBPE)
    return model.words, model


def joined(words: list[list[bytes]], model: models.Superwords) -> list[bytes]:
    """The tokens of words, by the definition: each supermerge over all whole words, in order."""

    def may_join(word: list[bytes]) -> bool:
        text = b"".join(word).decode()
        return len(word) == 1 and "\n" not in text and any(map(str.isalpha, text))

    symbols = [(word, may_join(word)) for word in words]
    for pair in model.merges:
        at = 0
        while at + 1 < len(symbols):
            (left, left_joins), (right, right_joins) = symbols[at : at + 2]
            if left_joins and right_joins and (left[0], right[0]) == pair:
                symbols[at : at + 2] = [([left[0] + right[0]], True)]
            at += 1
    return [token for word, _ in symbols for token in word]


@pytest.mark.large
@needs(VARIANTS)
@pytest.mark.parametrize("texts", ["en", "ml"])
def test_merges_deletions_and_encodings_are_those_of_the_authors(texts: str) -> None:
    path = VARIANTS / f"{texts}_boundless_of_word_tau0.9_bytes.json"
    expected = json.loads(path.read_text(encoding="utf-8"))
    size = len(expected["vocabulary"]) - ALPHABET + 256
    trainer = jeton.BPETrainer(
        size,
        pattern="gpt4o",
        superwords="boundless",
        drop_residues=expected["words"]["tau"],
        residues_become=expected["words"]["deleted_becomes"],
    )
    tok = trainer.train(lines_of(expected["corpus"]))
    words, model = parts(tok)
    of_words, of_superwords = expected["words"], expected["superwords"]
    merges = [*of_words["merges"], *of_superwords["merges"]]
    deleted = of_words["deletions_after_merge"]
    named = {part for left, right, _ in merges for part in (left, right)}
    named |= {*expected["vocabulary"], *(token for _, token in deleted)}
    bytes_of = spelled_bytes(sorted(named))
    assert [event for event in words.events if len(event) == 2] == [
        (bytes_of[left], bytes_of[right]) for left, right, _ in of_words["merges"]
    ]
    deletions = [(at, *event) for at, event in enumerate(words.events) if len(event) == 1]
    assert deletions == [(at, bytes_of[token]) for at, token in deleted]
    assert model.merges == [
        (bytes_of[left], bytes_of[right]) for left, right, _ in of_superwords["merges"]
    ]
    tokens = sorted(tok.vocab, key=tok.vocab.__getitem__)
    assert tokens[256:] == [bytes_of[token] for token in expected["vocabulary"][ALPHABET:]]
    for text, tokens in expected["encodings"]:
        ids = tok.encode(text)
        assert [tok.decode([id]) for id in ids] == tokens
        assert tok.decode(ids) == text


@pytest.mark.large
@pytest.mark.parametrize("become", ["pair", "bytes"])
@pytest.mark.parametrize("kind", ["super", "boundless"])
def test_encoding_is_that_of_the_definition(kind: str, become: str) -> None:
    tok = trained(superwords=kind, residues_become=become, pattern="gpt2")
    words, model = parts(tok)
    assert any(len(event) == 1 for event in words.events)
    assert model.merges and tok.vocab_size == 600
    split = jeton.BPETrainer(256, pattern="gpt2").train(["x"])
    for text in [*TALES[:40], "in the in the\nin the", "é of the…", ""]:
        pieces = [piece.text for piece in split.explain(text).model.pieces]
        expected = joined([replayed(piece.encode(), words) for piece in pieces], model)
        ids = tok.encode(text)
        assert [tok.vocab.token_bytes(id) for id in ids] == expected
        assert tok.decode(ids) == text
        assert list(tok.explain(text).ids) == ids


def test_superwords_are_a_part_of_the_vocabulary() -> None:
    _, model = parts(trained(superwords="super", superword_tokens=20))
    made = [left + right for left, right in model.merges]  # type: ignore[operator]
    tok = trained(superwords="super", superword_tokens=20)
    assert [tok.vocab[token] for token in made] == [*range(580, 600)]


@pytest.mark.parametrize("become", ["pair", "bytes"])
def test_a_saved_tokenizer_is_the_same(tmp_path: Path, become: Literal["pair", "bytes"]) -> None:
    tok = trained(special_tokens=["<|end|>"], residues_become=become)
    path = tmp_path / "tok.json"
    tok.save(path)
    assert jeton.load(path) == tok
    assert pickle.loads(pickle.dumps(tok)) == tok
    assert jeton.Tokenizer(tok.stages.model).stages.model == tok.stages.model
    jeton.load(path).save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == path.read_bytes()


@pytest.mark.parametrize("name", ["x.tiktoken", "x.model", "x.gguf", "vocab.json", "tekken.json"])
def test_other_formats_refuse_it_by_name(tmp_path: Path, name: str) -> None:
    with pytest.raises(UnsupportedError, match=r"Superwords|superwords"):
        trained().save(tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_tokenizers_refuses_the_file() -> None:
    tokenizers = pytest.importorskip("tokenizers")
    with pytest.raises(Exception, match=r"untagged|Superwords|variant"):
        tokenizers.Tokenizer.from_str(trained().to_json())


def _file(**changes: Any) -> str:
    file = json.loads(trained().to_json())
    file["model"] |= changes
    return json.dumps(file)


BROKEN: dict[str, tuple[dict[str, Any], str]] = {
    "an event of three tokens": ({"events": [["a", "b", "c"]]}, r"model.events\[0\]: expected"),
    "events that are no array": ({"events": {}}, "model.events: expected an array"),
    "no such residue": ({"residues_become": "x"}, "model.residues_become"),
    "a superword of an unknown token": ({"superwords": [["\u0120no", "such"]]}, r"superwords\[0\]"),
    "superwords that are no pairs": ({"superwords": [["a"]]}, "expected two tokens"),
    "no such rule of joining": ({"joining": "digits"}, "model.joining: expected"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_files_that_are_not_as_they_should_be(case: str) -> None:
    changes, message = BROKEN[case]
    with pytest.raises(FormatError, match=message):
        jeton.Tokenizer.from_json(_file(**changes))


def test_the_model_is_built_from_its_parts() -> None:
    vocab = {bytes([byte]): byte for byte in range(256)} | {b" the": 256, b" the the": 257}
    events: list[Any] = [(b" ", b"t"), (b" t", b"h"), (b" t",), (b" th", b"e"), (b" th",)]
    words = models.PickyBPE(vocab, events)
    tok = jeton.Tokenizer(models.Superwords(words, SPLIT, [(b" the", b" the")]))
    assert tok.encode(" the the th the") == [257, 32, 116, 104, 256]
    assert tok.stages.model == models.Superwords(words, SPLIT, [(b" the", b" the")])
    with pytest.raises(ArgumentTypeError, match="a BPE or a PickyBPE, not WordLevel"):
        models.Superwords(
            models.WordLevel({"a": 0}, "a"),  # type: ignore[arg-type]
            SPLIT,
            [],
        )
