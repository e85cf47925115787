"""A SentencePiece model as a value: composed in Python it is what the same bytes are as a file."""

from __future__ import annotations

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


def test_its_own_stages_are_part_of_the_model(proto: bytes) -> None:
    tok = jeton.Tokenizer(models.SentencePiece(proto))
    assert tok.normalizer is None and tok.decoder is None and tok.pre_tokenizer is None
    assert {"<s>", "</s>"} <= set(tok.special_tokens)
    assert tok.replace() == tok
    assert jeton.Tokenizer(tok.model, added_tokens=tok.added_tokens) == tok


def test_a_second_normalizer_or_decoder_is_refused(proto: bytes) -> None:
    with pytest.raises(jeton.errors.ArgumentError, match="normalizer of its own"):
        jeton.Tokenizer(models.SentencePiece(proto), normalizer=normalizers.NFC())
    with pytest.raises(jeton.errors.ArgumentError, match="decoder of its own"):
        jeton.Tokenizer(models.SentencePiece(proto), decoder=decoders.Fuse())
