"""Rows of one length: which id fills them, and what is cut of those that are longer."""

from __future__ import annotations

import json
import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import jeton
from jeton.components import post_processors
from jeton.errors import ArgumentError, UnsupportedError
from kinds import byte_level, ranks, word_piece

BERT = word_piece().with_added_tokens(["[PAD]"])
CLS, SEP, PAD = (BERT.special_tokens[name] for name in ("[CLS]", "[SEP]", "[PAD]"))
TEXTS = ["the weather weathers unable", "the", "", "the the the the the the"]


def test_truncate_is_a_bool() -> None:
    batch = jeton.CharTrainer().train("ab").encode_batch(["ab"])
    with pytest.raises(jeton.errors.ArgumentTypeError, match="truncate must be a bool, not str"):
        batch.pad(1, pad_id=0, truncate="no")  # type: ignore[arg-type]


def test_special_tokens_survive_truncation() -> None:
    batch = BERT.encode_batch(TEXTS, add_special_tokens=True)
    the, weather = BERT.vocab["the"], BERT.vocab["weather"]
    ids = batch.pad(4, truncate=True).ids.tolist()
    assert ids[0] == [CLS, the, weather, SEP]
    assert ids[1] == [CLS, the, SEP, PAD] and ids[2] == [CLS, SEP, PAD, PAD]
    left = batch.pad(4, truncate=True, side="left").ids.tolist()
    assert left[0] == [CLS, *BERT.encode(TEXTS[0])[-2:], SEP]
    assert left[1] == [PAD, CLS, the, SEP]
    assert batch.pad(2, truncate=True).ids.tolist() == [[CLS, SEP]] * 4
    with pytest.raises(ArgumentError, match="length=1 has no room for the 2 special tokens"):
        batch.pad(1, truncate=True)
    assert BERT.encode_batch(TEXTS).pad(2, truncate=True).ids[0].tolist() == [the, weather]


@given(
    words=st.lists(st.lists(st.sampled_from(["the ", "un", "weather ", ", "]), max_size=9)),
    width=st.integers(2, 9),
    left=st.booleans(),
)
def test_truncation_is_that_of_tokenizers(words: list[list[str]], width: int, left: bool) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    texts = ["".join(row) for row in words]
    side = "left" if left else "right"
    theirs = tokenizers.Tokenizer.from_str(BERT.to_json())
    theirs.enable_truncation(width, direction=side)
    theirs.enable_padding(direction=side, pad_id=PAD, pad_token="[PAD]", length=width)
    padded = BERT.encode_batch(texts, add_special_tokens=True).pad(
        width,
        truncate=True,
        side=side,  # type: ignore[arg-type]
    )
    expected = theirs.encode_batch(texts)
    assert padded.ids.tolist() == [encoding.ids for encoding in expected]
    assert padded.mask.astype(int).tolist() == [encoding.attention_mask for encoding in expected]


PAD_TOKENS = ["[PAD]", "<pad>", "<|pad|>", "<PAD>", "<|padding|>", "<|finetune_right_pad_id|>"]


@pytest.mark.parametrize("name", PAD_TOKENS)
def test_padding_is_the_pad_token(name: str) -> None:
    tok = jeton.CharTrainer(special_tokens=["<|end|>", name]).train("abc")
    batch = tok.encode_batch(["ab", "c"])
    for one in (batch, batch[:2], batch[::1], pickle.loads(pickle.dumps(batch)), batch[0:]):
        assert one.pad().ids.tolist() == [[0, 1], [2, 4]]
    assert batch[::-1].pad().ids.tolist() == [[2, 4], [0, 1]]


def test_a_role_says_what_pads() -> None:
    tok = jeton.CharTrainer(special_tokens=["<|end|>", "<pad>", "[PAD]"]).train("abc")
    padding_by_end = tok.replace(roles={"pad": "<|end|>"})
    assert padding_by_end.encode_batch(["ab", "c"]).pad().ids.tolist() == [[0, 1], [2, 3]]
    assert padding_by_end.encode_batch(["ab", "c"]).pad(pad_id=9).ids.tolist() == [[0, 1], [2, 9]]


def test_padding_is_never_a_guess() -> None:
    for special, why in (
        ([], "the tokenizer has no pad token"),
        (["<|end|>", "<padded>", "pad", "[pads]"], "the tokenizer has no pad token"),
        (["<pad>", "[PAD]"], "several pad tokens: <pad>, "),
    ):
        tok = jeton.CharTrainer(special_tokens=special).train("abc")
        # Rows that need none are refused as well, so that no data decides.
        for texts in (["ab", "c"], ["ab", "bc"], []):
            batch = tok.encode_batch(texts)
            with pytest.raises(ArgumentError) as caught:
                batch.pad()
            assert why in str(caught.value) and "give pad_id" in str(caught.value)
            assert batch.pad(pad_id=9).ids.shape[0] == len(texts)
    with pytest.raises(ArgumentError, match="does not come from a tokenizer"):
        jeton.TokenBatch.from_rows([[1]]).pad()
    # A pad token that is an added one and not special is text, and pads nothing.
    tok = byte_level().with_added_tokens([jeton.AddedToken("<pad>")])
    with pytest.raises(ArgumentError, match="no pad token"):
        tok.encode_batch(["x"]).pad()
    assert ranks().encode_batch(["ab", "a"]).pad().ids.tolist() == [[97, 98], [97, 301]]


@pytest.mark.parametrize("dtype", ["int64", np.int32, np.dtype(np.uint16), "uint32", np.uint8])
def test_the_type_of_ids(dtype: Any) -> None:
    tok = jeton.CharTrainer(special_tokens=["<pad>"]).train("abc")
    padded = tok.encode_batch(["ab", "c"]).pad(dtype=dtype)
    assert padded.ids.dtype == np.dtype(dtype)
    assert padded.ids.tolist() == [[0, 1], [2, 3]]
    assert tok.encode_batch(["ab", "c"]).pad().ids.dtype == np.uint32


def test_ids_that_a_type_does_not_hold() -> None:
    batch = jeton.TokenBatch.from_rows([[70_000], [1, 2]])
    with pytest.raises(ArgumentError, match="the largest id is 70000, which uint16 does not hold"):
        batch.pad(pad_id=0, dtype=np.uint16)
    with pytest.raises(ArgumentError, match="pad_id is -100, which uint32 does not hold"):
        batch.pad(pad_id=-100)
    assert batch.pad(pad_id=-100, dtype=np.int64).ids.tolist() == [[70_000, -100], [1, 2]]


def test_a_template_that_is_not_around_the_text() -> None:
    def of(template: str) -> jeton.Tokenizer:
        return BERT.replace(
            post_processor=post_processors.TemplateProcessing(
                template, "$A $B", special_tokens={"[CLS]": CLS, "[SEP]": SEP}
            )
        )

    twice = of("[CLS] $A [SEP] $A").encode_batch(TEXTS, add_special_tokens=True)
    with pytest.raises(UnsupportedError, match="ids cannot be truncated"):
        twice.pad(4, truncate=True)
    assert twice.pad(20).ids.shape == (4, 20)
    three = of("[CLS] [CLS] $A [SEP]").encode_batch(TEXTS, add_special_tokens=True)
    assert three.pad(3, truncate=True).ids.tolist() == [[CLS, CLS, SEP]] * 4
    assert json.loads(BERT.to_json())["padding"] is None
