"""Encodings that are at hand: padded, cut, given special tokens, as tokenizers does it."""

from __future__ import annotations

import copy
import json
import pickle
import random
from typing import Any

import pytest

import jeton
from jeton.components import post_processors as pp

TOK = jeton.BPETrainer(300, pattern="gpt2").train(["the cat and the hat, the mat"] * 3)
TEXT = "the hat and the cat, hat"
ADDED = TOK.with_added_tokens(["[CLS]", "[SEP]"])
CLS, SEP = (ADDED.vocab[token] for token in ("[CLS]", "[SEP]"))


def columns(encoding: jeton.Encoding) -> dict[str, list[Any]]:
    """All columns of an encoding."""
    names = ("ids", "spans", "word_ids", "type_ids", "sequence_ids", "special_tokens_mask")
    return {name: getattr(encoding, name) for name in (*names, "attention_mask")}


def their_columns(encoding: Any) -> dict[str, list[Any]]:
    """The same of tokenizers'."""
    return {
        "ids": encoding.ids,
        "spans": encoding.offsets,
        "word_ids": encoding.word_ids,
        "type_ids": encoding.type_ids,
        "sequence_ids": encoding.sequence_ids,
        "special_tokens_mask": [bool(it) for it in encoding.special_tokens_mask],
        "attention_mask": [bool(it) for it in encoding.attention_mask],
    }


def of_tokenizers(tok: jeton.Tokenizer) -> Any:
    """tokenizers' tokenizer of the same stages."""
    tokenizers = pytest.importorskip("tokenizers")
    return tokenizers.Tokenizer.from_str(json.dumps(json.loads(tok.to_json())))


@pytest.mark.parametrize("side", ["right", "left"])
def test_padding_is_that_of_tokenizers(side: Any) -> None:
    theirs = of_tokenizers(TOK)
    for length in (0, 1, len(TOK.encode(TEXT)), 20, 50):
        expected = theirs.encode(TEXT)
        expected.pad(length, direction=side, pad_id=7, pad_type_id=3, pad_token="[P]")
        ours = TOK.encode_with_spans(TEXT).pad(
            length, side=side, pad_id=7, pad_type_id=3, pad_token="[P]"
        )
        # Where there is one text, tokenizers has padding belong to it.
        assert set(ours.sequence_ids[len(TOK.encode(TEXT)) :]) <= {0, None}
        assert {**columns(ours), "sequence_ids": expected.sequence_ids} == their_columns(expected)
        assert ours.tokens.count(b"[P]") == max(length - len(TOK.encode(TEXT)), 0)


def test_windows_are_those_of_tokenizers() -> None:
    theirs = of_tokenizers(TOK)
    numbers = random.Random(5)
    for _ in range(200):
        text = TEXT[: numbers.randrange(len(TEXT) + 1)]
        most = numbers.randrange(1, 12)
        stride = numbers.randrange(most)
        side: Any = numbers.choice(["right", "left"])
        expected = theirs.encode(text)
        expected.truncate(most, stride=stride, direction=side)
        whole = TOK.encode_with_spans(text)
        found = whole.windows(most, stride=stride, side=side)
        assert columns(found[0]) == columns(whole.truncate(most, side=side))
        assert list(map(columns, found)) == [
            their_columns(it) for it in [expected, *expected.overflowing]
        ], (text, most, stride, side)


PROCESSORS: dict[str, pp.PostProcessor | None] = {
    "none": None,
    "bert": pp.BertProcessing(sep=("[SEP]", SEP), cls=("[CLS]", CLS)),
    "roberta": pp.RobertaProcessing(sep=("[SEP]", SEP), cls=("[CLS]", CLS)),
    "template": pp.TemplateProcessing(
        "[CLS] $A [SEP]",
        "[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens={"[CLS]": CLS, "[SEP]": SEP},
    ),
    "byte level": pp.ByteLevel(trim_offsets=True),
}


@pytest.mark.parametrize("name", PROCESSORS)
def test_post_processing_is_that_of_tokenizers(name: str) -> None:
    tok = ADDED.replace(post_processor=PROCESSORS[name])
    theirs = of_tokenizers(tok)
    bare = of_tokenizers(ADDED.replace(post_processor=None))
    for one, two in [(TEXT, None), (TEXT, "the mat"), ("", "a"), ("a", "")]:
        for special in (True, False):
            texts = [it for it in (one, two) if it is not None]
            expected = theirs.post_process(*map(bare.encode, texts), add_special_tokens=special)
            ours = ADDED.replace(post_processor=None)
            at_hand = [ours.encode_with_spans(text) for text in texts]
            found = tok.stages.post_process(*at_hand, add_special_tokens=special)
            wanted = their_columns(expected)
            if name == "none":  # its texts keep the types that they had apart
                wanted["type_ids"] = found.type_ids
            assert columns(found) == wanted, (one, two, special)
            whole = tok.encode_with_spans(one, two, add_special_tokens=special)
            assert columns(found) == columns(whole)


def test_a_padded_encoding_stays_padded() -> None:
    padded = TOK.encode_with_spans("the hat").pad(6, pad_id=0, side="left")
    mask = padded.attention_mask
    assert mask.count(True) == len(TOK.encode("the hat")) and not mask[0]
    for other in (copy.copy(padded), copy.deepcopy(padded), pickle.loads(pickle.dumps(padded))):
        assert other == padded and other.attention_mask == mask
    assert padded.truncate(3).attention_mask == mask[:3]
    assert padded.pad(8, pad_id=0).attention_mask == [*mask, False, False]
    assert all(TOK.encode_with_spans("the hat").attention_mask)


WRONG: dict[str, Any] = {
    "a length below 0": lambda it: it.pad(-1, pad_id=0),
    "a side": lambda it: it.pad(9, pad_id=0, side="middle"),
    "an id below 0": lambda it: it.pad(9, pad_id=-1),
    "a length of truncation": lambda it: it.truncate(-1),
    "windows of nothing": lambda it: it.windows(0),
    "a stride that does not advance": lambda it: it.windows(2, stride=2),
}


@pytest.mark.parametrize("call", WRONG.values(), ids=WRONG.keys())
def test_wrong_sizes(call: Any) -> None:
    with pytest.raises(jeton.errors.ArgumentError):
        call(TOK.encode_with_spans(TEXT))
