"""A SentencePiece model as a value: composed in Python it is what the same bytes are as a file."""

from __future__ import annotations

import dataclasses
import io
from pathlib import Path

import pytest

import jeton
from jeton.components import decoders, models, normalizers

sentencepiece = pytest.importorskip("sentencepiece")


@pytest.fixture(scope="module")
def proto() -> bytes:
    """A small model, trained here."""
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(["the weather there", "then the theory"] * 20),
        model_writer=model,
        vocab_size=40,
        model_type="bpe",
        hard_vocab_limit=False,
        minloglevel=2,
    )
    return model.getvalue()


def test_composed_equals_loaded(proto: bytes, tmp_path: Path) -> None:
    path = tmp_path / "made.model"
    path.write_bytes(proto)
    loaded, composed = jeton.load(path), jeton.Tokenizer(models.SentencePiece(proto))
    assert composed == loaded
    assert composed.encode("the weather") == loaded.encode("the weather")
    assert composed.decode(composed.encode("the weather")) == "the weather"


def test_its_stages_show_and_compose_again(proto: bytes) -> None:
    tok = jeton.Tokenizer(models.SentencePiece(proto))
    assert isinstance(tok.stages.normalizer, normalizers.SentencePiece)
    assert tok.stages.normalizer.charsmap and tok.stages.normalizer.add_dummy_prefix
    assert isinstance(tok.stages.decoder, decoders.SentencePiece)
    assert tok.stages.pre_tokenizer is None
    assert {"<s>", "</s>"} <= set(tok.special_tokens)
    assert tok.replace() == tok
    composed = jeton.Tokenizer(
        tok.stages.model,
        normalizer=tok.stages.normalizer,
        decoder=tok.stages.decoder,
        added_tokens=tok.stages.added_tokens,
    )
    assert composed == tok
    assert "bytes>" in repr(tok.stages.normalizer) and len(repr(tok.stages.normalizer)) < 100


def test_a_user_defined_piece_that_the_normalizer_does_not_know() -> None:
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(["x y xy yx"] * 9),
        model_writer=model,
        vocab_size=8,
        model_type="bpe",
        hard_vocab_limit=False,
        user_defined_symbols=["▁x"],
        minloglevel=2,
    )
    tok = jeton.Tokenizer(models.SentencePiece(model.getvalue()))
    assert isinstance(tok.stages.normalizer, normalizers.SentencePiece)
    without = dataclasses.replace(tok.stages.normalizer, user_defined_symbols=())
    composed = jeton.Tokenizer(tok.stages.model, normalizer=without, decoder=tok.stages.decoder)
    for text in ("x", "x y", "xy x", "y x"):
        assert composed.encode(text) == composed.encode_with_spans(text).ids


def test_its_stages_can_be_replaced(proto: bytes, tmp_path: Path) -> None:
    tok = jeton.Tokenizer(models.SentencePiece(proto))
    assert isinstance(tok.stages.normalizer, normalizers.SentencePiece)
    plain = dataclasses.replace(tok.stages.normalizer, add_dummy_prefix=False)
    changed = tok.replace(normalizer=plain, decoder=decoders.Fuse())
    assert changed.stages.normalizer == plain
    assert changed.encode("the") != tok.encode("the")
    assert changed.decode(changed.encode("the the")) == "the▁the"
    assert tok.replace(normalizer=normalizers.Sequence([])).encode("▁the") == tok.encode("the")
    with pytest.raises(jeton.errors.UnsupportedError, match="cannot hold the normalizer"):
        changed.save(tmp_path / "changed.model")
