"""Trained tokenizers in the formats of others: written, read by their library, and equal in ids."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest

import jeton
import nasty
from conftest import Scale
from jeton.errors import TrainingError
from shared_data import SHARED, needs

PARALLEL = SHARED / "text" / "parallel"

TEXTS = [
    "the weather there, then the theory: père 東京 🙂\n\n  x = 1\n",
    "she sells sea shells by the sea shore; the shells she sells are sea-shells\n",
    "don't can't won't 12345 67890 3.14159 <s> <unk> <0x41> ▁\n",
    "aaaaaaaa ababab      b  a\ttabs and\u00a0no-break spaces\r\n",
] * 7

#: Parameters of `BPETrainer`, and of SentencePiece's trainer.
PIECES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "defaults": ({}, {}),
    "as Llama's": (
        {
            "character_coverage": 0.9995,
            "pad_id": 0,
            "unk_id": 1,
            "bos_id": 2,
            "eos_id": 3,
            "byte_fallback": True,
            "normalizer": "identity",
        },
        {
            "character_coverage": 0.9995,
            "pad_id": 0,
            "unk_id": 1,
            "bos_id": 2,
            "eos_id": 3,
            "byte_fallback": True,
            "normalization_rule_name": "identity",
        },
    ),
    "digits": ({"split_digits": True},) * 2,
    "any script": ({"split_by_unicode_script": False},) * 2,
    "numbers": ({"split_by_number": False, "split_by_unicode_script": False},) * 2,
    "suffixes": ({"treat_whitespace_as_suffix": True},) * 2,
    "spaces": ({"allow_whitespace_only_pieces": True, "remove_extra_whitespaces": False},) * 2,
    "across spaces": ({"split_by_whitespace": False},) * 2,
    "no prefix": ({"add_dummy_prefix": False},) * 2,
    "folded": ({"normalizer": "nmt_nfkc_cf"}, {"normalization_rule_name": "nmt_nfkc_cf"}),
    "coverage": ({"character_coverage": 0.98},) * 2,
    "short": ({"max_token_length": 4}, {"max_sentencepiece_length": 4}),
    "required": ({"initial_alphabet": "éß東"}, {"required_chars": "éß東"}),
    "symbols": (
        {"user_defined_symbols": ["the", "<sep>", "日本"], "special_tokens": ["<c>", "</s>"]},
        {"user_defined_symbols": ["the", "<sep>", "日本"], "control_symbols": ["<c>", "</s>"]},
    ),
    "no roles": ({"bos_id": None, "eos_id": None}, {"bos_id": -1, "eos_id": -1}),
}


def pieces_of(path: Path, size: int, options: dict[str, Any]) -> list[tuple[str, float]]:
    """The pieces that SentencePiece learns, and their scores."""
    spm = pytest.importorskip("sentencepiece")
    written = io.BytesIO()
    spm.SentencePieceTrainer.train(
        input=str(path),
        model_writer=written,
        vocab_size=size,
        model_type="bpe",
        minloglevel=2,
        max_sentence_length=1 << 30,
        **options,
    )
    judge = spm.SentencePieceProcessor(model_proto=written.getvalue())
    return [(judge.id_to_piece(id), judge.get_score(id)) for id in range(judge.vocab_size())]


def trained_as_sentencepiece(path: Path, size: int, name: str, tmp_path: Path) -> None:
    """Has both train on a file: pieces, scores and ids are equal."""
    spm = pytest.importorskip("sentencepiece")
    ours, theirs = PIECES[name]
    tok = jeton.BPETrainer(size, alphabet="sentencepiece", **ours).train(path)
    tok.save(tmp_path / "x.model")
    judge = spm.SentencePieceProcessor(model_file=str(tmp_path / "x.model"))
    pieces = [(judge.id_to_piece(id), judge.get_score(id)) for id in range(judge.vocab_size())]
    assert pieces == pieces_of(path, size, theirs)
    lines = path.read_text("utf-8").splitlines()[:300]
    for text in [*lines, *nasty.strings(seed=11, count=200)]:
        assert tok.encode(text) == judge.encode(text), text


@pytest.mark.large
@pytest.mark.parametrize("name", PIECES)
@needs(PARALLEL)
def test_pieces_are_those_of_sentencepiece(name: str, tmp_path: Path) -> None:
    for language in ("ru", "ja"):
        part = tmp_path / f"{language}.txt"
        part.write_bytes(b"".join((PARALLEL / part.name).read_bytes().splitlines(True)[:1000]))
        trained_as_sentencepiece(part, 2_500, name, tmp_path)


@pytest.mark.parametrize("size", [1_000, 4_000, 8_000])
@pytest.mark.parametrize("name", ["english.txt", "multilingual.txt", "tinyshakespeare.txt"])
@needs(SHARED / "text")
def test_pieces_of_longer_texts(name: str, size: int, tmp_path: Path, scale: Scale) -> None:
    if name == "multilingual.txt" and size == 1_000:
        pytest.skip("it has more characters")
    part = tmp_path / "part.txt"
    whole = (SHARED / "text" / name).read_bytes()
    lines = (whole if scale.full else whole[:1_500_000]).splitlines(True)
    part.write_bytes(b"".join(lines[:-1]))
    trained_as_sentencepiece(part, size, "defaults", tmp_path)


def test_a_run_gives_every_size() -> None:
    trainer = jeton.BPETrainer([60, 75, 90], alphabet="sentencepiece", user_defined_symbols=["th"])
    for size, tok in trainer.train_all(TEXTS).items():
        alone = jeton.BPETrainer(size, alphabet="sentencepiece", user_defined_symbols=["th"])
        assert tok == alone.train(TEXTS) and tok.vocab_size == size
    with pytest.raises(TrainingError, match=r"vocab_size 40 does not hold the \d+ characters"):
        jeton.BPETrainer([40, 90], alphabet="sentencepiece").train_all(TEXTS)
    with pytest.raises(TrainingError, match=r"vocab_size 900 is more than the \d+ pieces"):
        jeton.BPETrainer(900, alphabet="sentencepiece").train(TEXTS)


@pytest.mark.parametrize("rule", ["released", "published"])
def test_wordpiece(rule: Any, tmp_path: Path) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    from tokenizers.implementations import BertWordPieceTokenizer

    tok = jeton.WordPieceTrainer(160, rule=rule).train(TEXTS)
    assert tok == jeton.WordPieceTrainer(160, rule=rule).train(TEXTS)
    tok.save(tmp_path / "x.json")
    tok.save(tmp_path / "vocab.txt")
    judge = tokenizers.Tokenizer.from_file(str(tmp_path / "x.json"))
    bert = BertWordPieceTokenizer(str(tmp_path / "vocab.txt"))
    for text in [*TEXTS[:4], *nasty.strings(seed=12, count=1000)]:
        ids = tok.encode(text)
        if "[" not in text:
            assert judge.encode(text, add_special_tokens=False).ids == ids, text
            assert bert.encode(text, add_special_tokens=False).ids == ids, text


#: With each alphabet those that tokenizers can run before it.
PATTERNS = [
    *(("bytes", p) for p in ("gpt2", "gpt4", "gpt4o", "llama3", "qwen2", "whitespace", "none")),
    *(("characters", p) for p in ("qwen2", "whitespace", "none")),
]


@pytest.mark.parametrize(("alphabet", "pattern"), PATTERNS)
def test_every_pattern_and_alphabet(pattern: str, alphabet: Any, tmp_path: Path) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    options: dict[str, Any] = (
        {} if alphabet == "bytes" else {"special_tokens": ["<u>"], "unk_token": "<u>"}
    )
    tok = jeton.BPETrainer(400, pattern=pattern, alphabet=alphabet, **options).train(TEXTS)
    tok.save(tmp_path / "x.json")
    judge = tokenizers.Tokenizer.from_file(str(tmp_path / "x.json"))
    for text in [*TEXTS, *nasty.strings(seed=13, count=200)]:
        if "<u>" not in text:
            assert judge.encode(text, add_special_tokens=False).ids == tok.encode(text), text
    if alphabet == "bytes" and pattern != "whitespace":
        assert tok.decode(tok.encode(TEXTS[0])) == TEXTS[0]


def test_words_with_a_space_in_front() -> None:
    from jeton.components import pre_tokenizers

    stage = pre_tokenizers.ByteLevel(add_prefix_space=True)
    tok = jeton.BPETrainer(300, pre_tokenizer=stage).train(["shells and shells"] * 9)
    assert tok.encode("shells") == [tok.vocab[b" shells"]]
    tok = jeton.BPETrainer(40, pattern="gpt2", alphabet="characters").train(["a shell and shells"])
    assert b" shell" in tok.vocab
