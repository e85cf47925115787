"""What trainers and encodings look like to people: what they were asked for, in a line or two."""

from __future__ import annotations

from typing import Any

import pytest

import jeton
from jeton.components import normalizers, pre_tokenizers

TRAINERS: dict[str, tuple[Any, str]] = {
    "BPE": (
        lambda: jeton.BPETrainer(),
        "BPETrainer(vocab_size=30000, pattern='gpt4', special_tokens=[])",
    ),
    "BPE, several sizes": (
        lambda: jeton.BPETrainer([300, 400], pattern="o200k", special_tokens=["<a>"]),
        "BPETrainer(vocab_size=[300, 400], pattern='o200k', special_tokens=['<a>'])",
    ),
    "BPE, other parameters": (
        lambda: jeton.BPETrainer(300, tie_break="first", min_frequency=2),
        "BPETrainer(vocab_size=300, pattern='gpt4', special_tokens=[], "
        "min_frequency=2, tie_break='first')",
    ),
    "BPE, components": (
        lambda: jeton.BPETrainer(
            300, pre_tokenizer=pre_tokenizers.Whitespace(), normalizer=normalizers.NFC()
        ),
        "BPETrainer(vocab_size=300, special_tokens=[], normalizer=NFC(), "
        "pre_tokenizer=Whitespace())",
    ),
    "WordPiece": (
        lambda: jeton.WordPieceTrainer(rule="published"),
        "WordPieceTrainer(vocab_size=30000, special_tokens=['[PAD]', '[UNK]', '[CLS]', '[SEP]', "
        "'[MASK]'], rule='published')",
    ),
    "Unigram": (
        lambda: jeton.UnigramTrainer(999, byte_fallback=True),
        "UnigramTrainer(vocab_size=999, style='sentencepiece', special_tokens=[], "
        "byte_fallback=True)",
    ),
    "characters": (
        lambda: jeton.CharTrainer(unk_token="?"),
        "CharTrainer(unk_token='?', special_tokens=[])",
    ),
    "words": (
        lambda: jeton.WordLevelTrainer(99),
        "WordLevelTrainer(vocab_size=99, pattern='whitespace', special_tokens=['[UNK]'])",
    ),
}


@pytest.mark.parametrize(("make", "expected"), TRAINERS.values(), ids=list(TRAINERS))
def test_a_trainer_shows_what_it_was_asked_for(make: Any, expected: str) -> None:
    assert repr(make()) == expected


def test_long_arguments_are_cut() -> None:
    many = [f"<|reserved_{number}|>" for number in range(999)]
    trainer = jeton.BPETrainer(2_000, special_tokens=iter(many), pattern=r"\w+|" + "x" * 999)
    assert len(repr(trainer)) < 200
    start = jeton.BPETrainer(300).train(["the weather"] * 9)
    continued = jeton.BPETrainer(new_tokens=9, start_from=start)
    assert f"vocab_size={start.vocab_size + 9}" in repr(continued)
    assert "start_from=<jeton.Tokenizer: BPE" in repr(continued)


def test_an_encoding_is_short() -> None:
    tok = jeton.CharTrainer().train("hello")
    assert repr(tok.encode_with_spans("hole" * 150)) == (
        "Encoding(600 tokens: ids=[1, 3, 2, 0, 1, 3, …], "
        "tokens=[b'h', b'o', b'l', b'e', b'h', b'o', …], "
        "spans=[(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 6), …])"
    )
    assert repr(tok.encode_with_spans("h")) == (
        "Encoding(1 token: ids=[1], tokens=[b'h'], spans=[(0, 1)])"
    )
    assert repr(tok.encode_with_spans("")) == "Encoding(0 tokens: ids=[], tokens=[], spans=[])"


def test_a_tokenizer_of_one_token() -> None:
    assert repr(jeton.WordLevelTrainer(1).train(["a"])) == (
        "<jeton.Tokenizer: WordLevel, 1 token, 1 special>"
    )


def test_a_padded_batch_is_short() -> None:
    tok = jeton.CharTrainer().train("hello")
    shown = repr(tok.encode_batch(["hole" * 20] * 12).pad(80, pad_id=0))
    assert shown.startswith("PaddedBatch(ids=array([[1, 3, 2, ..., 3, 2, 0],") and len(shown) < 999
    assert repr(tok.encode_batch(["h"]).pad(2, pad_id=3)) == (
        "PaddedBatch(ids=array([[1, 3]], dtype=uint32), mask=array([[ True, False]]))"
    )
