"""Counts of a text that grows at either end, and of its ranges: those of the same text, whole."""

from __future__ import annotations

import random
from typing import Any

import pytest

import jeton
from jeton import samples
from jeton.errors import ArgumentError, ArgumentTypeError, UnsupportedError

BOOKS = "\n".join(samples.read_all().values())
TEXTS = list(samples.read_all().values())
NASTY = [
    "  ",
    "\n\n",
    "\t",
    "e\u0301",
    "東京",
    "🙂👍🏽",
    "<|e|>",
    "▁",
    "don't ",
    "12345 ",
    "\u00a0",
    "a" * 400,
]
SPECIAL: Any = {"special_tokens": ["<|e|>"]}

TOKENIZERS = {
    "bytes, gpt4": jeton.BPETrainer(600, pattern="gpt4", **SPECIAL).train(TEXTS),
    "bytes, qwen2": jeton.BPETrainer(600, pattern="qwen2", **SPECIAL).train(TEXTS),
    "white space": jeton.BPETrainer(600, pattern="whitespace", **SPECIAL).train(TEXTS),
    "SentencePiece": jeton.BPETrainer(1_500, alphabet="sentencepiece", byte_fallback=True).train(
        TEXTS
    ),
    "WordPiece": jeton.WordPieceTrainer(1_500).train(TEXTS),
    "Unigram": jeton.UnigramTrainer(1_200, style="huggingface").train(TEXTS),
}


@pytest.mark.parametrize("name", TOKENIZERS)
@pytest.mark.parametrize("special", ["ignore", "allow"])
@pytest.mark.parametrize("framed", [False, True])
def test_counts_are_those_of_the_text(name: str, special: Any, framed: bool) -> None:
    tok = TOKENIZERS[name]
    numbers = random.Random(name)
    options: Any = {"special": special, "add_special_tokens": framed}
    counted = tok.counted_text("the ", **options)
    whole = "the "
    for _ in range(25):
        size = numbers.randrange(1, 1_500)
        start = numbers.randrange(len(BOOKS) - size)
        more = BOOKS[start : start + size]
        if numbers.random() < 0.4:
            more = "".join(numbers.choices(NASTY, k=numbers.randrange(1, 30)))
        if numbers.random() < 0.5:
            counted.append(more)
            whole += more
        else:
            counted.prepend(more)
            whole = more + whole
        assert counted.count() == tok.count(whole, **options)
        for _ in range(4):
            start, stop = sorted(numbers.randrange(len(whole) + 1) for _ in range(2))
            assert counted.count(start, stop) == tok.count(whole[start:stop], **options)
    assert counted.text == whole and len(counted) == len(whole)


def test_ranges_are_those_of_slices() -> None:
    tok = TOKENIZERS["bytes, gpt4"]
    text = "the theory of the 🙂 thing"
    counted = tok.counted_text(text)
    for start in (None, 0, 3, -4, 99, -99):
        for stop in (None, 0, 7, -1, 99, -99, 10**30, -(10**30)):
            assert counted.count(start, stop) == tok.count(text[start:stop]), (start, stop)
    assert repr(counted) == f"<jeton.CountedText: {len(text)} characters>"


def test_tokenizers_without_split_points_are_refused() -> None:
    unigram = jeton.UnigramTrainer(1_200).train(TEXTS)
    with pytest.raises(UnsupportedError, match="cannot count a text in parts: no safe split"):
        unigram.counted_text()
    tok = TOKENIZERS["bytes, gpt4"]
    with pytest.raises(UnsupportedError, match='special cannot be "raise"'):
        tok.counted_text(special="raise")
    with pytest.raises(ArgumentError, match="lone surrogate at position 1"):
        tok.counted_text().append("a\ud800")
    counted: Any = tok.counted_text("a")
    for call, wrong in ((counted.append, b"a"), (counted.prepend, None), (counted.count, 1.0)):
        with pytest.raises(ArgumentTypeError):
            call(wrong)


def test_streams_and_counts_have_the_frame_once_without_a_fast_path() -> None:
    """What the post-processor adds stands around the whole, and not around each part."""
    from jeton.components import post_processors as pp
    from jeton.components import pre_tokenizers as p

    plain = jeton.BPETrainer(1_000, alphabet="characters", pre_tokenizer=p.WhitespaceSplit()).train(
        TEXTS
    )
    tok = plain.with_added_tokens(["[A]", "[B]"])
    a, b = (tok.vocab[name] for name in ("[A]", "[B]"))
    tok = tok.replace(post_processor=pp.BertProcessing(sep=("[B]", b), cls=("[A]", a)))
    text = (BOOKS + "\n") * 9
    ids = [
        id for part in tok.encode_stream([text], add_special_tokens=True) for id in part.tolist()
    ]
    assert ids == tok.encode(text, add_special_tokens=True)
    assert tok.counted_text(text, add_special_tokens=True).count() == len(ids)
