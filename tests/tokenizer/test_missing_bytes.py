"""Byte-level vocabularies without a token for every byte, as tokenizers trains them by default."""

from __future__ import annotations

import json
from typing import Any

import pytest

import jeton
from jeton.errors import EncodeError, UnsupportedError

TEXT = "the café, the cat"
STRANGE = "the caféz 🙂the\n cat"


def trained(unk_token: str | None = None, **options: Any) -> Any:
    """A byte-level BPE of tokenizers with the bytes of its corpus alone."""
    tokenizers = pytest.importorskip("tokenizers")
    made = tokenizers.Tokenizer(tokenizers.models.BPE(unk_token=unk_token, **options))
    made.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = tokenizers.decoders.ByteLevel()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=60, special_tokens=["<|end|>", "<unk>"], show_progress=False
    )
    made.train_from_iterator([TEXT] * 9, trainer)
    return made


KINDS: dict[str, dict[str, Any]] = {
    "dropped": {},
    "unknown": {"unk_token": "<unk>"},
    "unknown, one for several": {"unk_token": "<unk>", "fuse_unk": True},
}


@pytest.mark.parametrize("kind", KINDS)
def test_bytes_without_a_token(kind: str) -> None:
    other = trained(**KINDS[kind])
    tok = jeton.Tokenizer.from_json(other.to_str())
    for text in (TEXT, STRANGE, "zz", "", "é", "\U0001f642 "):
        expected, encoding = other.encode(text), tok.encode_with_spans(text)
        assert encoding.ids == tok.encode(text) == expected.ids, text
        assert encoding.spans == expected.offsets, text
        assert encoding.word_ids == expected.word_ids, text
        assert tok(text).tokens() == expected.tokens, text
        decoded = other.decode(expected.ids, skip_special_tokens=False)
        assert tok.decode(encoding.ids) == decoded, text
        parts = tok.encode_stream([text[:5], text[5:]])
        assert [id for ids in parts for id in ids.tolist()] == expected.ids, text
    assert json.loads(tok.to_json()) == json.loads(other.to_str())


def test_tokens_are_bytes() -> None:
    tok = jeton.Tokenizer.from_json(trained().to_str())
    the, cafe = tok.encode("the café")
    assert (tok.vocab.spelling(the), tok.vocab.spelling(cafe)) == (b"the", " café".encode())
    assert tok.vocab[" café".encode()] == cafe
    assert r"b' caf\xc3\xa9'" in repr(tok.encode_with_spans("the café"))
    assert "·café" in str(tok.explain("the café"))


def test_conversions_that_need_every_byte_are_refused() -> None:
    tok = jeton.Tokenizer.from_json(trained().to_str())
    with pytest.raises(UnsupportedError, match="no token for some byte"):
        tok.as_tiktoken()
    unknown = json.loads(trained("<unk>").to_str())
    unknown["model"]["unk_token"] = "<none>"
    tok = jeton.Tokenizer.from_json(json.dumps(unknown))
    assert tok.encode("the") == tok.encode("thethe")[:1]
    with pytest.raises(EncodeError, match='"z" is unknown, and so is the unknown token "<none>"'):
        tok.encode("z")
