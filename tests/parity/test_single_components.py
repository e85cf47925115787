"""Components called by themselves, against tokenizers' `normalize_str` and its like."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

import nasty

pytest.importorskip("tokenizers")
pytest.importorskip("sentencepiece")

from tokenizers import AddedToken, NormalizedString, Tokenizer, models
from tokenizers import normalizers as theirs_normalizers
from tokenizers import pre_tokenizers as theirs_pre

import jeton
import pipelines
from conftest import Scale
from jeton.components import decoders, normalizers, post_processors, pre_tokenizers
from peer_spans import joins, without_removed

NUMBERS = range(60)
TOKENS = (
    "Ġthe", "Ã", "©", "##ing", "un", "▁a", "▁", "b▁", "low</w>", "</w>", "<0xE2>", "<0x82>", "<0xAC>",
    "<0x41>", "<0xZZ>", ".", "n't", "e", "e", "[UNK]", " ", "", "日本", "ﬁ", "👩‍👧", " do not", "'s", "_x_",
)  # fmt: skip


def texts(scale: Scale, seed: int) -> list[str]:
    return [pipelines.PUNCTUATED, "", *nasty.strings(scale.pipeline_strings // 4, seed=seed)]


@pytest.mark.parametrize("number", NUMBERS)
def test_normalizers(number: int, scale: Scale) -> None:
    rng = random.Random(number)
    theirs = rng.choice(pipelines.NORMALIZERS)(rng)
    if number % 3 == 0:
        theirs = theirs_normalizers.Sequence([theirs, rng.choice(pipelines.NORMALIZERS)(rng)])
    ours = normalizers.from_json(theirs.__getstate__().decode())
    for text in texts(scale, number):
        expected = theirs.normalize_str(text)
        assert ours(text) == expected, (ours, text)
        normalized, spans = ours.with_spans(text)
        assert normalized == expected
        assert len(spans) == len(normalized)
        in_bytes = ours.with_spans(text, unit="bytes").spans
        starts = [len(text[:at].encode()) for at in range(len(text) + 1)]
        assert in_bytes == [(starts[start], starts[end]) for start, end in spans]


@pytest.mark.parametrize("number", NUMBERS)
def test_pre_tokenizers(number: int, scale: Scale) -> None:
    rng = random.Random(number)
    theirs = rng.choice(pipelines.PRE_TOKENIZERS)(rng)
    if number % 3 == 0:
        theirs = theirs_pre.Sequence([theirs, rng.choice(pipelines.PRE_TOKENIZERS)(rng)])
    ours = pre_tokenizers.from_json(theirs.__getstate__().decode())
    for text in texts(scale, number):
        assert ours(text) == theirs.pre_tokenize_str(text), (ours, text)


@pytest.mark.parametrize("number", NUMBERS)
def test_decoders(number: int) -> None:
    rng = random.Random(number)
    from tokenizers import decoders as theirs_decoders

    theirs = rng.choice(pipelines.DECODERS)(rng)
    if number % 3 == 0:
        theirs = theirs_decoders.Sequence([theirs, rng.choice(pipelines.DECODERS)(rng)])
    ours = decoders.from_json(theirs.__getstate__().decode())
    for _ in range(60):
        tokens = rng.choices(TOKENS, k=rng.randint(0, 8))
        try:
            expected = theirs.decode(tokens)
        except BaseException as panic:
            # A panic of tokenizers says nothing of what is right.
            if type(panic).__name__ != "PanicException":
                raise
            continue
        assert ours(tokens) == expected, (ours, tokens)
        assert ours(tuple(tokens)) == ours(iter(tokens))


PROCESSORS: dict[str, dict[str, Any]] = {
    "BERT": {"type": "BertProcessing", "sep": ["[SEP]", 1], "cls": ["[CLS]", 0]},
    "RoBERTa": {
        "type": "RobertaProcessing",
        "sep": ["[SEP]", 1],
        "cls": ["[CLS]", 0],
        "trim_offsets": True,
        "add_prefix_space": False,
    },
    "byte level": {
        "type": "ByteLevel",
        "add_prefix_space": True,
        "trim_offsets": True,
        "use_regex": True,
    },
    "template": json.loads(
        post_processors.TemplateProcessing(
            "[CLS] $A [SEP]:3",
            "[CLS] $B:1 [SEP] $A:7 [SEP]:2",
            special_tokens={"[CLS]": 0, "[SEP]": 1},
        ).to_json()
    ),
}
PROCESSORS["sequence"] = {
    "type": "Sequence",
    "processors": [PROCESSORS["byte level"], PROCESSORS["template"]],
}


@pytest.mark.parametrize("name", PROCESSORS)
def test_post_processors(name: str, scale: Scale) -> None:
    """`process` of two encodings that no post-processor has seen."""
    stored = PROCESSORS[name]
    letters = sorted(theirs_pre.ByteLevel.alphabet())
    vocab = {"[CLS]": 0, "[SEP]": 1, **{letter: id for id, letter in enumerate(letters, 2)}}
    vocab["ĠĠ"] = len(vocab)
    theirs = Tokenizer(models.BPE(vocab, [("Ġ", "Ġ")]))
    theirs.pre_tokenizer = theirs_pre.ByteLevel(add_prefix_space=False)
    theirs.add_special_tokens([AddedToken("[CLS]"), AddedToken("[SEP]")])
    ours = jeton.Tokenizer.from_json(theirs.to_str())
    file = json.loads(theirs.to_str())
    file["post_processor"] = stored
    judge = Tokenizer.from_str(json.dumps(file)).post_processor
    call = post_processors.from_json(json.dumps(stored))
    assert [call.added(pair=pair) for pair in (False, True)] == [
        judge.num_special_tokens_to_add(pair) for pair in (False, True)
    ]
    some = [text for text in texts(scale, 5) if "[" not in text]
    for text, other in zip(some, [*some[1:], ""], strict=True):
        for add in (True, False):
            for pair in (None, other):
                encodings = [theirs.encode(text, add_special_tokens=False)]
                mine = [ours.encode_with_spans(text)]
                if pair is not None:
                    encodings.append(theirs.encode(pair, add_special_tokens=False))
                    mine.append(ours.encode_with_spans(pair))
                expected = judge.process(*encodings, add_special_tokens=add)
                got = call(*mine, add_special_tokens=add)
                where = (text, pair, add)
                assert got.ids == expected.ids, where
                assert got.spans == expected.offsets, where
                assert got.type_ids == expected.type_ids, where
                assert got.word_ids == expected.word_ids, where
                assert got.sequence_ids == expected.sequence_ids, where
                assert got.special_tokens_mask == [bool(m) for m in expected.special_tokens_mask]
                assert [token for token in got.tokens if token.startswith(b"[")] == [
                    token.encode() for token in expected.tokens if token.startswith("[")
                ]


def test_spans_of_normalized_text_are_those_of_the_library() -> None:
    """The spans that an encoding has are made of these."""
    rng = random.Random(4)
    for maker in pipelines.NORMALIZERS:
        theirs = maker(rng)
        ours = normalizers.from_json(theirs.__getstate__().decode())
        for text in nasty.strings(30, seed=8):
            normalized, spans = ours.with_spans(text)
            assert theirs.normalize_str(text) == normalized
            # What a map removes moves the spans of what is around it.
            kept = without_removed(text) if "Precompiled" in repr(theirs) else text
            judge = NormalizedString(kept)
            theirs.normalize(judge)
            if judge.normalized != normalized:
                # The characters kept others apart.
                assert kept != text
                continue
            for at, (start, end) in enumerate(spans):
                part: Any = judge[at : at + 1]
                assert str(part.normalized) == normalized[at]
                mine = text[start:end] if kept == text else without_removed(text[start:end])
                if joins(theirs):
                    assert str(part.original) in mine, (ours, text, at)
                else:
                    assert str(part.original) == mine, (ours, text, at)
