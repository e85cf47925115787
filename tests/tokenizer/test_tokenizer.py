"""What every tokenizer promises in Python, whatever its kind."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import jeton
from jeton import errors
from jeton.components import normalizers, pre_tokenizers
from kinds import byte_level, each_kind, ranks, word_piece

BYTE_LEVEL = byte_level()
RANKS = ranks()

TEXTS = [
    "",
    "the weather",
    "  the\n\n\ttheory ",
    "père 東京 🙂🙂",
    "<|end|> and <|end|>x, [CLS]",
    "\x00\x7f\u200d\ufeff\u0301",
    "a" * 3_000,
    "x\ud800y \ud83d\ude42",
]


@each_kind
@pytest.mark.parametrize("text", TEXTS)
def test_all_ways_to_encode_agree(tok: jeton.Tokenizer, text: str) -> None:
    ways: list[Any] = [{}, {"special": "allow"}, {"add_special_tokens": True}]
    for kept in ways:
        ids = tok.encode(text, **kept)
        assert all(type(id) is int for id in ids)
        array = tok.encode_array(text, **kept)
        assert array.dtype == np.uint32 and array.tolist() == ids
        assert tok.encode_batch([text, "", text], **kept).tolist()[::2] == [ids, ids]
        assert tok.count(text, **kept) == len(ids)
        assert tok.count_batch([text], **kept) == [len(ids)]
        encoding = tok.encode_with_spans(text, **kept)
        assert encoding.ids == ids
        assert encoding.tokens == [tok.vocab.spelling(id) for id in ids]
        assert len(encoding.spans) == len(encoding.word_ids) == len(encoding.type_ids) == len(ids)
        assert len(encoding.sequence_ids) == len(encoding.special_tokens_mask) == len(ids)
        assert len(encoding) == len(ids)


@each_kind
@pytest.mark.parametrize("text", TEXTS)
def test_all_ways_to_decode_agree(tok: jeton.Tokenizer, text: str) -> None:
    ids = tok.encode(text, special="allow")
    decoded = tok.decode(ids)
    assert tok.decode_batch([ids, []]) == [decoded, tok.decode([])]
    assert tok.decode_bytes(ids).decode("utf-8", "replace") == decoded
    for given_ids in (tuple(ids), iter(ids), np.array(ids, np.int64), np.array(ids, np.uint32)):
        assert tok.decode(given_ids) == decoded


@given(text=st.text(st.characters(exclude_categories=["Cs"])))
@settings(max_examples=200)
def test_byte_level_comes_back(text: str) -> None:
    for tokenizer in (BYTE_LEVEL, RANKS):
        ids = tokenizer.encode(text)
        assert tokenizer.decode(ids) == text
        assert tokenizer.decode(ids, errors="strict") == text
        spans = tokenizer.encode_with_spans(text, unit="bytes").spans
        assert b"".join(text.encode()[start:end] for start, end in spans if end > start) or not text


@given(text=st.text(st.characters(categories=["Cs", "L", "Zs", "So"])))
@settings(max_examples=300)
def test_surrogates_are_mended_as_tiktoken_does(text: str) -> None:
    mended = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    assert RANKS.encode(text) == RANKS.encode(mended)
    assert RANKS.count(text) == RANKS.count(mended)
    assert RANKS.encode_batch([text]).tolist() == [RANKS.encode(mended)]


@pytest.mark.parametrize("block", ["ascii and é, at odd places ", "漢字 in ASCII ", "🙂é漢a"])
def test_long_strings_become_the_same_utf8(block: str) -> None:
    text = block * (4_500_000 // len(block)) + "end"
    encoded = text.encode()
    assert BYTE_LEVEL.decode_bytes(BYTE_LEVEL.encode_array(text)) == encoded
    lone = text[:-1] + "\ud800"
    mended = BYTE_LEVEL.decode_bytes(BYTE_LEVEL.encode_array(lone))
    assert mended == encoded[:-1] + "\ufffd".encode()


def test_spans_count_the_callers_characters() -> None:
    text = "\ud83d\ude42 x\ud800é"
    tok = jeton.CharTrainer(unk_token="?").train("x é")
    assert tok.encode_with_spans(text).spans == [(0, 2), (2, 3), (3, 4), (4, 5), (5, 6)]
    in_bytes = tok.encode_with_spans(text, unit="bytes").spans
    assert in_bytes == [(0, 4), (4, 5), (5, 6), (6, 9), (9, 11)]
    pair = tok.encode_with_spans("x", text)
    assert pair.spans[1:] == tok.encode_with_spans(text).spans
    assert pair.sequence_ids == [0, 1, 1, 1, 1, 1]


def test_special_policies() -> None:
    bpe = BYTE_LEVEL
    end, longer = bpe.special_tokens.values()
    text = "<|end|>x<|end|>"
    assert not {end, longer} & set(bpe.encode(text))
    assert bpe.decode(bpe.encode(text)) == text
    assert bpe.encode(text, special="allow") == [longer, end]
    assert bpe.encode(text, special={"<|end|>"})[0] == end
    assert bpe.encode(text, special=["<|end|>x", "<|end|>"]) == [longer, end]
    assert bpe.encode(text, special=set()) == bpe.encode(text)
    assert bpe.decode([longer, end], skip_special_tokens=True) == ""
    with pytest.raises(errors.SpecialTokenError, match=r"<\|end\|>"):
        bpe.encode(text, special="raise")
    with pytest.raises(errors.SpecialTokenError, match=r"texts\[1\]"):
        bpe.encode_batch(["", text], special="raise")
    assert bpe.encode("the", special="raise") == bpe.encode("the")


def test_pairs_and_special_tokens_of_the_template() -> None:
    tok = word_piece()
    encoding = tok.encode_with_spans("the weathers", "unable", add_special_tokens=True)
    assert encoding.tokens == [
        b"[CLS]", b"the", b"weather", b"##s", b"[SEP]", b"un", b"##able", b"[SEP]",
    ]  # fmt: skip
    assert encoding.type_ids == [0, 0, 0, 0, 0, 1, 1, 1]
    assert encoding.sequence_ids == [None, 0, 0, 0, None, 1, 1, None]
    assert encoding.word_ids == [None, 0, 1, 1, None, 0, 0, None]
    assert encoding.special_tokens_mask == [True, False, False, False, True, False, False, True]
    assert encoding.spans[2:4] == [(4, 11), (11, 12)]
    assert tok.decode(encoding.ids, skip_special_tokens=True) == "the weathers unable"


def test_dropout_is_reproducible() -> None:
    bpe = BYTE_LEVEL
    text = "the theory of the weather there " * 5
    drawn = bpe.encode(text, dropout=0.5, seed=1)
    assert (
        drawn
        == bpe.encode(text, dropout=0.5, seed=1)
        == bpe.encode_array(text, dropout=0.5, seed=1).tolist()
    )
    assert drawn == bpe.encode_with_spans(text, dropout=0.5, seed=1).ids
    assert drawn == bpe.encode_batch([text], dropout=0.5, seed=1).tolist()[0]
    assert drawn != bpe.encode(text, dropout=0.5, seed=2)
    assert drawn != bpe.encode(text)
    assert bpe.decode(drawn) == text
    assert bpe.encode(text, dropout=0.0) == bpe.encode(text)
    assert len(bpe.encode(text, dropout=1.0)) == len(text)


@each_kind
def test_a_tokenizer_has_its_stages(tok: jeton.Tokenizer) -> None:
    vocab = tok.vocab
    assert len(vocab) == tok.vocab_size
    assert list(vocab.values()) == sorted(vocab.values())
    assert max(vocab.values()) == tok.vocab.max_id
    for token, id in vocab.items():
        assert tok.vocab.spelling(id) == token
        assert tok.vocab[token] == id
    for name, id in tok.special_tokens.items():
        assert tok.vocab[name] == id
    for left, right in tok.vocab.merges:
        assert left + right in vocab
    assert tok.vocab.padded_size(64) % 64 == 0
    assert 0 <= tok.vocab.padded_size(64) - (tok.vocab.max_id + 1) < 64
    assert tok.vocab.padded_size(1) == tok.vocab.max_id + 1


@each_kind
def test_tokenizers_are_compared_by_value(tok: jeton.Tokenizer) -> None:
    again = pickle.loads(pickle.dumps(tok))
    assert again == tok and hash(again) == hash(tok) and again is not tok
    assert {tok: 1}[again] == 1
    assert copy.copy(tok) is tok and copy.deepcopy([tok])[0] is tok
    assert again.encode("the weather é") == tok.encode("the weather é")
    assert tok != "tok" and tok != again.with_added_tokens(["<new>"])
    assert repr(tok).startswith("<jeton.Tokenizer: ")
    rebuilt = jeton.Tokenizer(
        tok.stages.model,
        normalizer=tok.stages.normalizer,
        pre_tokenizer=tok.stages.pre_tokenizer,
        post_processor=tok.stages.post_processor,
        decoder=tok.stages.decoder,
        added_tokens=tok.stages.added_tokens,
    )
    assert rebuilt == tok == tok.replace()


def test_editing_gives_another_one() -> None:
    bpe = BYTE_LEVEL
    before = pickle.dumps(bpe)
    lower = bpe.replace(normalizer=normalizers.Lowercase())
    assert lower.encode("THE") == bpe.encode("the") != bpe.encode("THE")
    assert lower.replace(normalizer=None) == bpe
    with pytest.raises(TypeError, match=r"^Tokenizer\.replace\(\) got an unexpected"):
        bpe.replace(normaliser=None)  # type: ignore[call-arg]
    more = bpe.with_added_tokens(["<|a|>", jeton.AddedToken("foo", single_word=True)])
    assert more.special_tokens["<|a|>"] == bpe.vocab.max_id + 1
    assert more.vocab["foo"] == bpe.vocab.max_id + 2
    assert more.encode("foo") == [bpe.vocab.max_id + 2]
    assert more.replace(added_tokens=bpe.stages.added_tokens) == bpe
    assert pickle.dumps(bpe) == before


def test_invalid_utf8_follows_errors() -> None:
    ids = [0xE6, 0x97, 97]
    assert RANKS.decode_bytes(ids) == b"\xe6\x97a"
    assert RANKS.decode(ids) == "\ufffda"
    assert RANKS.decode(ids, errors="ignore") == "a"
    assert RANKS.decode(ids, errors="backslashreplace") == "\\xe6\\x97a"
    assert RANKS.decode_batch([ids, [98]], errors="ignore") == ["a", "b"]
    with pytest.raises(errors.DecodeError) as caught:
        RANKS.decode(ids, errors="strict")
    assert isinstance(caught.value, UnicodeDecodeError)
    assert (caught.value.object, caught.value.start, caught.value.end) == (b"\xe6\x97a", 0, 2)


@given(data=st.binary())
def test_bytes_decode_as_python_decodes(data: bytes) -> None:
    ids = list(data)
    assert RANKS.decode_bytes(ids) == data
    for handler in ("replace", "ignore", "backslashreplace"):
        assert RANKS.decode(ids, errors=handler) == data.decode("utf-8", handler)


@pytest.mark.parametrize("dtype", [">u2", "<u2", ">u4", "<i4", ">i4", ">i8", ">u8", "i1"])
def test_ids_in_any_byte_order(dtype: str) -> None:
    assert ranks().decode(np.array([104, 105], dtype)) == "hi"
    assert ranks().decode(np.array([104, 0, 105], dtype)[::2]) == "hi"


def test_closed_alphabet_names_the_character() -> None:
    tok = jeton.CharTrainer().train("hello")
    with pytest.raises(errors.EncodeError, match=r"'x'.*position 2"):
        tok.encode("hexe")


def test_composed_tokenizers_obey_the_rules() -> None:
    tok = jeton.Tokenizer(
        jeton.components.models.WordLevel({"a": 0, "b": 1, "?": 2}, unk_token="?"),
        pre_tokenizer=pre_tokenizers.Sequence(
            [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.FixedLength(1)]
        ),
    )
    assert tok.encode("ab c") == [0, 1, 2]
    assert tok.decode([0, 1]) == "a b"
    assert pickle.loads(pickle.dumps(tok)) == tok


def test_the_largest_id_costs_nothing() -> None:
    largest = 2**24 - 1
    tok = RANKS.replace(added_tokens=[jeton.AddedToken("<|last|>", largest, special=True)])
    assert tok.vocab[b"<|last|>"] == tok.vocab.max_id == largest
    assert len(tok.vocab) == tok.vocab_size
    assert tok.encode("<|last|>", special="allow") == [largest]
    assert tok.decode([largest]) == "<|last|>"
    assert list(tok.vocab.values()) == sorted(tok.vocab.values())
