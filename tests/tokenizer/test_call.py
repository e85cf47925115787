"""`tok(...)` gives what transformers gives, and its windows cover every token."""

from __future__ import annotations

import itertools
import os
import random
from typing import Any, Literal

import numpy as np
import pytest

import jeton
from call_cases import (
    PUBLISHED,
    TOKENIZERS,
    bert,
    published,
    quietly,
    some_call,
    some_text,
    some_words,
    theirs,
)
from jeton import BatchEncoding
from jeton.errors import ArgumentError, JetonError
from peer_spans import all_spans, hold, joins

pytestmark = pytest.mark.filterwarnings("ignore:the words .* puts no space between words")


FULL = os.environ.get("JETON_PARITY") == "full"
BERT = bert()


# The same as transformers


def is_the_same(mine: Any, other: Any) -> bool:
    """Whether two columns hold the same numbers, in the same kind of thing."""
    if isinstance(other, np.ndarray):
        if other.dtype == object:
            # Its empty offsets have one axis, and numbers of another type.
            pairs = zip(mine, other, strict=True)
            return len(mine) == len(other) and all(
                one.tolist() == two.tolist() for one, two in pairs
            )
        return (
            isinstance(mine, np.ndarray)
            and mine.dtype == other.dtype
            and (mine.size == 0 == other.size or np.array_equal(mine, other))
        )
    return bool(mine == other)


def check_rows(mine: BatchEncoding, other: Any, normalizer: Any, numbers: random.Random) -> None:
    """Compares what two batches know of a row."""
    row = numbers.randrange(len(other.encodings))
    assert mine.sequence_ids(row) == other.sequence_ids(row)
    assert mine.word_ids(row) == other.word_ids(row)
    # Of an unknown token a Unigram of tokenizers tells the text.
    spelled = zip(mine.tokens(row), other.tokens(row), strict=True)
    assert all(one in (two, "<unk>") for one, two in spelled)
    assert mine[row].special_tokens_mask == list(
        map(bool, other.encodings[row].special_tokens_mask)
    )
    assert hold(mine[row].spans, other.encodings[row].offsets, normalizer)
    if mine[row].spans != other.encodings[row].offsets:
        return
    width = len(other.encodings[row].ids)
    token = numbers.randrange(width) if width else 0
    for name in ("token_to_sequence", "token_to_word", "token_to_chars"):
        assert getattr(mine, name)(row, token) == getattr(other, name)(row, token), name
    place = numbers.randrange(20)
    for text in {*other.sequence_ids(row)} - {None}:
        for name in ("char_to_token", "char_to_word", "word_to_tokens", "word_to_chars"):
            expected = quietly(getattr(other, name), row, place, text)
            # Asked for a word that is not there, transformers raises a TypeError.
            expected = None if isinstance(expected, TypeError) else expected
            assert getattr(mine, name)(row, place, text) == expected, name


def compare(tok: jeton.Tokenizer, rounds: int) -> None:
    """Calls a tokenizer and the same one of transformers, with texts and options at random."""
    other = theirs(tok)
    tok = tok.replace(roles={"pad": other.pad_token})
    compared = 0
    for seed in range(rounds):
        numbers = random.Random(seed)
        (text, pair), options = some_call(numbers)
        if pair in ("", []):
            continue  # where transformers forgets the second text
        other.truncation_side = numbers.choice(["right", "left"])
        expected = quietly(other, text, pair, **options)
        mine = quietly(
            tok,
            text,
            pair,
            **options,
            truncation_side=other.truncation_side,
            special="allow",
            return_token_type_ids=True,
        )
        if isinstance(mine, BaseException):
            assert isinstance(mine, JetonError), (seed, mine)
        if isinstance(expected, BaseException):
            # A stride that is too large is an error there even where there are no windows.
            assert isinstance(mine, JetonError) or "stride" in str(expected), (seed, expected)
            continue
        if isinstance(mine, ArgumentError):
            # Rows longer than max_length there.
            assert "no room for" in str(mine), (seed, mine)
            longest = max(len(row.ids) for row in expected.encodings)
            assert longest > options["max_length"], seed
            continue
        assert list(mine) == list(expected), seed
        for name in expected:
            if name == "offset_mapping" and joins(tok.stages.normalizer):
                spans, others = all_spans(mine[name]), all_spans(expected[name])
                assert hold(spans, others, tok.stages.normalizer), (seed, text, pair, options)
            # Type ids of windows but the first are those of no template there.
            elif name != "token_type_ids" or not options["return_overflowing_tokens"]:
                assert is_the_same(mine[name], expected[name]), (seed, name, text, pair, options)
        check_rows(mine, expected, tok.stages.normalizer, numbers)
        compared += 1
    assert compared > rounds // 2


@pytest.mark.parametrize("family", TOKENIZERS)
def test_the_call_is_that_of_transformers(family: str) -> None:
    compare(TOKENIZERS[family](), 5_000 if FULL else 150)


@pytest.mark.large
@pytest.mark.parametrize("name", PUBLISHED)
def test_the_call_of_real_vocabularies_is_that_of_transformers(name: str) -> None:
    compare(published(name), 5_000 if FULL else 60)


@pytest.mark.parametrize("side", ["left", "right"])
def test_no_window_begins_before_its_text(side: Literal["left", "right"]) -> None:
    tok = TOKENIZERS["bytes that are dropped"]()
    other = theirs(tok)
    other.truncation_side = side
    tok = tok.replace(roles={"pad": other.pad_token})
    options: dict[str, Any] = {
        "add_special_tokens": False,
        "truncation": True,
        "return_overflowing_tokens": True,
        "return_offsets_mapping": True,
    }
    for parts in itertools.product(["\n", " ", "the", "="], repeat=4):
        text = "".join(parts)
        for length in (1, 2, 3):
            expected = other([text], max_length=length, **options)
            mine = tok([text], max_length=length, truncation_side=side, **options)
            assert mine["offset_mapping"] == expected["offset_mapping"], (text, length)


def test_special_tokens_in_text_are_text() -> None:
    tok = TOKENIZERS["BERT"]()
    tok = tok.replace(roles={"pad": "[PAD]"})
    assert tok.special_tokens["[SEP]"] not in tok("a [SEP] b")["input_ids"][1:-1]
    assert tok("a [SEP] b", special="allow")["input_ids"][2] == tok.special_tokens["[SEP]"]
    assert tok("a [SEP] b")["input_ids"] == tok.encode("a [SEP] b", add_special_tokens=True)
    with pytest.raises(jeton.errors.SpecialTokenError):
        tok("a [SEP] b", special="raise")


def test_a_short_text_alone_goes_the_way_of_all() -> None:
    for family, make in TOKENIZERS.items():
        tok = make()
        for seed in range(60):
            numbers = random.Random(seed)
            text, pair = some_text(numbers), numbers.choice([None, some_text(numbers)])
            options: dict[str, Any] = {
                "add_special_tokens": numbers.random() < 0.8,
                "max_length": numbers.choice([None, 5, 20]),
                "truncation": numbers.choice([None, True]),
                "return_offsets_mapping": numbers.random() < 0.5,
                "return_special_tokens_mask": numbers.random() < 0.5,
                "return_length": numbers.random() < 0.5,
                "return_tensors": "np",
                "verbose": False,
            }
            alone = tok(text, pair, **options)
            batch = tok([text], None if pair is None else [pair], **options)
            assert list(alone) == list(batch), (family, seed)
            for name, column in batch.items():
                assert column.tolist() == alone[name].tolist(), (family, seed, name)
                assert column.shape == alone[name].shape and column.dtype == alone[name].dtype
            assert alone.encodings == batch.encodings, (family, seed)


# Windows


@pytest.mark.parametrize("family", TOKENIZERS)
def test_windows_cover_every_token(family: str) -> None:
    tok = TOKENIZERS[family]()
    covered = 0
    for seed in itertools.count():
        covered += is_covered(tok, random.Random(seed))
        if covered == (12_500 if FULL else 150):
            break


def is_covered(tok: jeton.Tokenizer, numbers: random.Random) -> bool:
    """Whether some texts were cut, each token of which is in a window then, in its order."""
    is_split, is_pair = numbers.random() < 0.3, numbers.random() < 0.5
    make: Any = some_words if is_split else some_text
    texts: Any = [make(numbers) for _ in range(numbers.randint(1, 3))]
    pairs: Any = [make(numbers) for _ in texts] if is_pair else None
    most, stride = numbers.randint(1, 24), numbers.choice([0, 0, 1, 2, 4])
    whole = tok(texts, pairs, is_split_into_words=is_split)
    try:
        batch = tok(
            texts,
            pairs,
            truncation=numbers.choice(["longest_first", "only_first", "only_second"]),
            truncation_side=numbers.choice(["left", "right"]),
            max_length=most,
            stride=stride,
            is_split_into_words=is_split,
            return_overflowing_tokens=True,
        )
    except ArgumentError:
        return False
    seen: dict[tuple[int, int], list[int]] = {}
    for row, sample in enumerate(batch["overflow_to_sample_mapping"]):
        assert len(batch["input_ids"][row]) <= most
        for text in (0, 1):
            ids, places = tokens_of(batch, row, text)
            every, _ = tokens_of(whole, sample, text)
            assert places == list(range(places[0], places[-1] + 1) if places else ())
            assert ids == [every[place] for place in places]
            seen.setdefault((sample, text), []).extend(places)
    for (sample, text), covered in seen.items():
        assert set(covered) == set(range(len(tokens_of(whole, sample, text)[0])))
    return len(batch["input_ids"]) > len(texts)


def tokens_of(batch: BatchEncoding, row: int, text: int) -> tuple[list[int], list[int]]:
    """The tokens of a text that a row holds, and which tokens of it they are."""
    rows = batch._rows_of_call
    start, stop = rows.offsets[row : row + 2]
    is_of_text = rows.texts[start:stop] == text
    ids = np.array(batch["input_ids"][row], np.int64)[is_of_text]
    first = rows.sides[text].offsets[rows.windows.sample[row]]
    return ids.tolist(), (rows.sources[start:stop][is_of_text] - first).tolist()


def test_texts_that_do_not_reach_the_limit_are_not_cut() -> None:
    whole = BERT(["the weather", "un"])
    assert BERT(["the weather", "un"], truncation=True, max_length=4) == whole
    assert BERT(["the weather", "un"], max_length=3)["input_ids"] == [[1, 3, 2], [1, 6, 2]]
