"""Superwords: the merges of the authors' program, encoding, and what is refused."""

from __future__ import annotations

import json
import pickle
import random
from pathlib import Path
from typing import Any

import pytest

import jeton
from jeton.components import models, normalizers, pre_tokenizers
from jeton.errors import ArgumentError, ArgumentTypeError, TrainingError, UnsupportedError
from shared_data import SHARED, needed, needs

TEXTS = [
    "The end of the day, and the end of the week: all of the time.\n",
    "It is one of the best of the books; and of the 12 it is the one.",
    "One of the days. Of the week. Some of a day, most of a week, all of a time.",
] * 3


def trained(**parameters: Any) -> jeton.Tokenizer:
    parameters = {"pattern": "gpt4o", "superwords": "boundless", **parameters}
    return jeton.BPETrainer(300, **parameters).train(TEXTS)


def raw(token: str) -> bytes:
    alphabet = {character: byte for byte, character in enumerate(_printable())}
    return bytes(alphabet[character] for character in token)


def _printable() -> list[str]:
    kept = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = iter(range(256, 512))
    return [chr(byte if byte in kept else next(others)) for byte in range(256)]


def documents(table: dict[str, Any]) -> list[str]:
    """The texts that the authors trained on: the first lines of each file, interleaved."""
    count = int(table["corpus"]["lines"].split()[2])
    files = [SHARED / name for name in table["corpus"]["files"]]
    lines = [[line for line in _lines(path) if line.strip()][:count] for path in files]
    return [line for row in zip(*lines, strict=True) for line in row]


def _lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").split("\n")


TABLES = [(language, kind) for language in ("en", "ml") for kind in ("boundless", "super")]


@pytest.mark.large
@needs(SHARED / "variants")
@pytest.mark.parametrize(("language", "kind"), TABLES)
def test_merges_and_encodings_are_those_of_the_authors(language: str, kind: str) -> None:
    name = f"{language}_{kind}_of_word_tau1.1_pair.json"
    table = json.loads(needed(SHARED / "variants" / name).read_text(encoding="utf-8"))
    # Theirs has no tokens for the 13 bytes that UTF-8 never has.
    own: dict[str, Any] = {"superwords": kind}
    if kind == "super":
        own["superword_tokens"] = len(table["superwords"]["merges"])
    trainer = jeton.BPETrainer(len(table["vocabulary"]) + 13, pattern="gpt4o", **own)
    tok = trainer.train(documents(table))
    model = tok.stages.model
    assert isinstance(model, models.Superwords)
    assert isinstance(model.words, models.BPE)
    assert model.words.merges == [(raw(a), raw(b)) for a, b, _ in table["words"]["merges"]]
    assert model.merges == [(raw(a), raw(b)) for a, b, _ in table["superwords"]["merges"]]
    tokens = sorted(tok.vocab, key=tok.vocab.__getitem__)
    assert tokens[256:] == [raw(token) for token in table["vocabulary"][243:]]
    for text, expected in table["encodings"]:
        ids = tok.encode(text)
        assert [tok.decode([id]) for id in ids] == expected
        assert tok.decode(ids) == text


def joined(model: models.Superwords) -> list[bytes]:
    """The tokens that the merges across words make."""
    return [b"".join(it for it in pair if isinstance(it, bytes)) for pair in model.merges]


def test_superwords_cross_words_and_no_lines() -> None:
    tok = trained()
    assert b" of the" in tok.vocab
    assert tok.decode(tok.encode(TEXTS[0])) == TEXTS[0]
    assert [tok.decode([id]) for id in tok.encode(" of the")] == [" of the"]
    assert " of the" not in [tok.decode([id]) for id in tok.encode(" of\n the")]
    # A word that only begins like another is not whole.
    assert " of the" not in [tok.decode([id]) for id in tok.encode(" of these")]


def test_the_order_of_texts_does_not_matter() -> None:
    shuffled = TEXTS[:]
    random.Random(1).shuffle(shuffled)
    parameters: dict[str, Any] = {"pattern": "gpt4o", "superwords": "super"}
    one, other = (jeton.BPETrainer(300, **parameters).train(it) for it in (TEXTS, shuffled))
    assert one.vocab == other.vocab
    assert one.stages.model == other.stages.model


def test_files_and_lists_give_the_same(tmp_path: Path) -> None:
    path = tmp_path / "corpus.txt"
    path.write_text("".join(TEXTS), encoding="utf-8")
    parameters: dict[str, Any] = {"pattern": "gpt4o", "superwords": "boundless"}
    trainer = jeton.BPETrainer(300, **parameters)
    assert trainer.train(path).stages.model == trainer.train(["".join(TEXTS)]).stages.model
    assert trainer.train(path, memory="200MB").stages.model == trainer.train(path).stages.model


def test_superword_tokens_are_a_part_of_the_vocabulary() -> None:
    tok = trained(superwords="super", superword_tokens=7)
    model = tok.stages.model
    assert isinstance(model, models.Superwords)
    made = joined(model)
    assert tok.vocab_size == 300
    assert [tok.vocab[token] for token in made] == list(range(293, 300))


@pytest.mark.parametrize("most", [2, 3])
def test_tokens_have_at_most_so_many_words(most: int) -> None:
    tok = trained(superwords="super", superword_tokens=20, max_words_per_token=most)
    model = tok.stages.model
    assert isinstance(model, models.Superwords)
    assert max(token.count(b" ") for token in joined(model)) == most


def test_the_longest_token_has_the_length_that_was_asked_for() -> None:
    tok = trained(max_token_length=7)
    assert max(map(len, tok.vocab)) == 7
    assert b" of the" in tok.vocab


def test_numbers_join_if_all_words_may() -> None:
    text = ["page 1 2, " * 9]
    parameters: dict[str, Any] = {"pattern": "gpt2", "superwords": "super", "superword_tokens": 3}
    letters = jeton.BPETrainer(270, **parameters).train(text)
    every = jeton.BPETrainer(270, joining="all", **parameters).train(text)
    assert b" 1 2" not in letters.vocab
    assert b" 1 2" in every.vocab


def test_special_tokens_end_a_stretch() -> None:
    texts = ["one of<|end|> the" * 9, "it<|end|>"]
    trainer = jeton.BPETrainer(
        280, pattern="gpt4o", superwords="super", special_tokens=["<|end|>"], superword_tokens=4
    )
    with pytest.warns(UserWarning):
        tok = trainer.train(texts)
    assert b" of the" not in tok.vocab
    assert tok.encode("<|end|>", special="allow") == [0]


def test_a_saved_tokenizer_is_the_same(tmp_path: Path) -> None:
    tok = trained(special_tokens=["<|end|>"])
    path = tmp_path / "tok.json"
    tok.save(path)
    loaded = jeton.load(path)
    assert pickle.loads(pickle.dumps(tok)) == tok
    for text in [*TEXTS, " of the of the", "of<|end|> the", "é of the\n"]:
        assert loaded.encode(text) == tok.encode(text)
    assert loaded.vocab == tok.vocab
    assert loaded.stages.model == tok.stages.model
    loaded.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == path.read_bytes()


@pytest.mark.parametrize("name", ["tok.tiktoken", "tok.model", "tok.gguf", "vocab.json"])
def test_other_formats_refuse_superwords_by_name(tmp_path: Path, name: str) -> None:
    with pytest.raises(UnsupportedError, match=r"Superwords|superwords"):
        trained().save(tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_tokenizers_refuses_the_file_by_name(tmp_path: Path) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    path = tmp_path / "tok.json"
    trained().save(path)
    with pytest.raises(Exception, match=r"untagged|Superwords|variant"):
        tokenizers.Tokenizer.from_file(str(path))


def test_a_stream_gives_the_ids_of_the_whole() -> None:
    tok = trained()
    text = "".join(TEXTS)
    parts = [text[at : at + 7] for at in range(0, len(text), 7)]
    assert [id for ids in tok.encode_stream(parts) for id in ids] == tok.encode(text)


def test_spans_and_steps_are_those_of_the_tokens() -> None:
    tok = trained()
    text = "Most of the time of the"
    encoding = tok.encode_with_spans(text)
    ids = tok.encode(text)
    assert encoding.ids == ids
    assert [text[start:end] for start, end in encoding.spans] == [tok.decode([id]) for id in ids]
    assert [token.id for token in tok.explain(text).tokens] == ids


def test_the_fast_path_takes_superwords() -> None:
    assert trained().stages.encoding_plan().strategy == "byte_level"


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"superwords": "bpe"}, 'one of "super", "boundless"'),
        ({"superwords": None, "joining": "all"}, "joining is for superwords"),
        ({"superwords": None, "superword_tokens": 3}, "superword_tokens is for superwords"),
        ({"superword_tokens": 3}, "superword_tokens is for superwords='super'"),
        ({"superwords": "super", "superword_tokens": 0}, "superword_tokens cannot be 0"),
        ({"superwords": "super", "superword_tokens": 300}, "no room for words"),
        ({"max_words_per_token": 1}, "at least 2"),
        ({"joining": "digits"}, "digits"),
        ({"alphabet": "characters", "pattern": "whitespace"}, "bytes"),
        ({"alphabet": "sentencepiece", "pattern": None}, "sentencepiece"),
        ({"languages": "base"}, "languages"),
        ({"drop_residues": 1.5}, "drop_residues"),
        ({"residues_become": "bytes"}, "set drop_residues"),
        ({"tie_break": "first"}, "tie_break"),
        ({"start_from": [(b"a", b"b")]}, "start_from"),
    ],
)
def test_parameters_that_contradict_are_named(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(ArgumentError, match=message):
        jeton.BPETrainer(300, **{"superwords": "boundless", "pattern": "gpt4o", **parameters})


def test_several_sizes_are_refused() -> None:
    with pytest.raises(ArgumentError, match="one vocab_size"):
        jeton.BPETrainer([300, 400], superwords="boundless")


def test_a_corpus_that_is_read_only_once_is_refused() -> None:
    trainer = jeton.BPETrainer(300, superwords="boundless")
    with pytest.raises(ArgumentError, match="iterator"):
        trainer.train(iter(TEXTS))
    with pytest.raises(ArgumentError, match="neighbouring words"):
        trainer.train(trainer.count(TEXTS))


def test_a_corpus_that_changes_between_readings_is_an_error() -> None:
    class Changing:
        readings = 0

        def __iter__(self) -> Any:
            self.readings += 1
            return iter(TEXTS[: 3 + self.readings])

    with pytest.raises(TrainingError, match="first time"):
        jeton.BPETrainer(300, superwords="boundless").train(Changing())


@pytest.mark.parametrize(
    "parameters", [{"pattern": "none"}, {"pattern": "whitespace"}, {"pre_tokenizer": None}]
)
def test_a_pattern_that_does_not_split_is_refused(parameters: dict[str, Any]) -> None:
    if parameters == {"pre_tokenizer": None}:
        parameters = {"pre_tokenizer": pre_tokenizers.ByteLevel(add_prefix_space=True)}
    with pytest.raises((ArgumentError, UnsupportedError), match="pattern"):
        jeton.BPETrainer(300, superwords="boundless", **parameters).train(TEXTS)


def test_a_normalizer_comes_before_the_words() -> None:
    tok = trained(normalizer=normalizers.NFC())
    assert b" of the" in tok.vocab
    assert tok.encode(" of the e\u0301") == tok.encode(" of the é")
    lower = trained(normalizer=normalizers.Lowercase())
    assert lower.encode(" OF THE") == lower.encode(" of the")


def test_the_model_is_built_from_its_parts() -> None:
    model = trained().stages.model
    assert isinstance(model, models.Superwords)
    again = jeton.Tokenizer(model)
    assert again.stages.model == model
    assert again.encode(" of the") == trained().encode(" of the")
    with pytest.raises(ArgumentTypeError, match="BPE"):
        models.Superwords(model, model.pre_tokenizer, [])  # type: ignore[arg-type]
    with pytest.raises(jeton.errors.FormatError, match="not in the vocabulary"):
        jeton.Tokenizer(
            models.Superwords(model.words, model.pre_tokenizer, [(b" of", b" unheard of")])
        )


def test_pruning_is_refused_by_name() -> None:
    tok = trained(special_tokens=["<|end|>"])
    with pytest.raises(UnsupportedError, match="Superwords"):
        jeton.edit.prune(tok, corpus=TEXTS)
    renamed = jeton.edit.rename(tok, {"<|end|>": "<|stop|>"}).tok
    assert renamed.encode("<|stop|> of the", special="allow")[0] == tok.vocab["<|end|>"]


def test_the_command_line_trains_superwords(tmp_path: Path) -> None:
    from click.testing import CliRunner

    from jeton.cli import main

    corpus, target = tmp_path / "corpus.txt", tmp_path / "tok.json"
    corpus.write_text("".join(TEXTS), encoding="utf-8", newline="")
    command = ["train", str(corpus), "--vocab-size", "300", "--superwords", "boundless"]
    result = CliRunner().invoke(main, [*command, "--pattern", "gpt4o", "-o", str(target)])
    assert result.exit_code == 0, result.output
    text = "Most of the time of the"
    expected = jeton.BPETrainer(300, pattern="gpt4o", superwords="boundless").train(corpus)
    assert jeton.load(target).encode(text) == expected.encode(text)
    refused = [("x.tiktoken", []), ("x.json", ["--save-counts", str(tmp_path / "counts")])]
    for name, more in refused:
        result = CliRunner().invoke(main, [*command, "-o", str(tmp_path / name), *more])
        assert result.exit_code != 0
        assert not (tmp_path / name).exists()
