"""Trained tokenizers in the formats of others: written, read by their library, and equal in ids."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import jeton
import nasty

TEXTS = [
    "the weather there, then the theory: père 東京 🙂\n\n  x = 1\n",
    "she sells sea shells by the sea shore; the shells she sells are sea-shells\n",
    "don't can't won't 12345 67890 3.14159 <s> <unk> <0x41> ▁\n",
    "aaaaaaaa ababab      b  a\ttabs and\u00a0no-break spaces\r\n",
] * 7

ALPHABETS: dict[str, dict[str, Any]] = {
    "all characters": {},
    "coverage": {"character_coverage": 0.95},
    "limit": {"limit_alphabet": 12},
    "first met": {"tie_break": "first"},
    "short": {"max_token_length": 4},
}


@pytest.mark.parametrize("options", ALPHABETS.values(), ids=list(ALPHABETS))
def test_sentencepiece_style(options: dict[str, Any], tmp_path: Path) -> None:
    spm = pytest.importorskip("sentencepiece")
    tokenizers = pytest.importorskip("tokenizers")
    tok = jeton.BPETrainer(420, alphabet="sentencepiece", **options).train(TEXTS)
    tok.save(tmp_path / "x.model")
    tok.save(tmp_path / "x.json")
    judge = spm.SentencePieceProcessor(model_file=str(tmp_path / "x.model"))
    other = tokenizers.Tokenizer.from_file(str(tmp_path / "x.json"))
    assert judge.vocab_size() == tok.vocab_size == other.get_vocab_size()
    from_model = jeton.load(tmp_path / "x.model")
    from_json = jeton.load(tmp_path / "x.json")
    assert from_json == tok
    for text in [*TEXTS[:4], "".join(TEXTS), *nasty.strings(seed=11, count=1500)]:
        ids = tok.encode(text)
        assert judge.encode(text) == ids, text
        assert from_model.encode(text) == ids, text
        assert from_json.encode(text) == ids
        if not any(special in text for special in ("<s>", "</s>", "<unk>")):
            assert other.encode(text, add_special_tokens=False).ids == ids, text
    assert tok.decode(tok.encode("hello 東京!\n")) == "hello 東京!\n"


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
