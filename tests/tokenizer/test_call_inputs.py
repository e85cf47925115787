"""What `tok(...)` takes: texts, pairs, words, columns, targets; and what it says of bad input."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import pytest

from call_cases import (
    bert,
)
from jeton.components import post_processors
from jeton.errors import ArgumentError, ArgumentTypeError, JetonError, UnsupportedError
from kinds import byte_level, characters, unigram, word_piece

BERT = bert()


def test_batches_and_pairs_are_told_apart() -> None:
    one, two = [1, 3, 2], [1, 3, 2, 4, 2]
    assert BERT("the")["input_ids"] == one
    assert BERT("the", "weather")["input_ids"] == two
    assert BERT(["the"])["input_ids"] == [one] == BERT(("the",))["input_ids"]
    assert BERT(["the"], ["weather"])["input_ids"] == [two]
    assert (
        BERT([("the", "weather")])["input_ids"] == [two] == BERT([["the", "weather"]])["input_ids"]
    )
    assert BERT(["the", ("the", "weather")])["input_ids"] == [one, two]
    assert BERT("the", "")["input_ids"] == [1, 3, 2, 2] == BERT(["the"], [""])["input_ids"][0]
    assert BERT([])["input_ids"] == []
    assert BERT([], padding=True, return_tensors="np")["input_ids"].shape == (0, 0)
    assert BERT(word for word in ["the", "weather"])["input_ids"] == [one, [1, 4, 2]]
    assert BERT(np.array(["the"]))["input_ids"] == [one]


def test_words() -> None:
    words: dict[str, Any] = {"is_split_into_words": True}
    assert BERT(["the", "weathers"], **words).word_ids() == [None, 0, 1, 1, None]
    assert BERT([["the"], ["un", "the"]], **words)["input_ids"] == [[1, 3, 2], [1, 6, 3, 2]]
    assert BERT(["the"], ["un"], **words).sequence_ids() == [None, 0, None, 1, None]
    batch = BERT([(["the"], ["un", "e"]), ["the"]], **words)
    assert batch["input_ids"] == [[1, 3, 2, 6, 9, 2], [1, 3, 2]]
    assert batch.word_ids(0) == [None, 0, None, 0, 1, None] and batch.word_ids(1) == [None, 0, None]
    assert BERT([["the"]], [["un"]], **words)["input_ids"] == [[1, 3, 2, 6, 2]]
    assert BERT([], **words)["input_ids"] == [1, 2]


@pytest.mark.parametrize("null", [None, math.nan, np.nan, np.float64("nan")])
def test_missing_texts(null: Any) -> None:
    with pytest.raises(ArgumentTypeError, match=r"text\[1\] is .*nulls=\"empty\""):
        BERT(["the", null])
    assert BERT(["the", null], nulls="empty")["input_ids"] == [[1, 3, 2], [1, 2]]
    assert BERT(["the"], [null], nulls="empty")["input_ids"] == [[1, 3, 2, 2]]
    with pytest.raises(ArgumentTypeError, match=r"text_pair\[0\] is "):
        BERT(["the"], [null])
    with pytest.raises(ArgumentTypeError, match=r"text\[0\]\[1\] is "):
        BERT([["the", null]], is_split_into_words=True)
    words = BERT([["the", null, "un"], null], is_split_into_words=True, nulls="empty")
    assert words.word_ids(0) == [None, 0, 2, None] and words.word_ids(1) == [None, None]


def test_missing_texts_of_pandas() -> None:
    pandas = pytest.importorskip("pandas")
    with pytest.raises(JetonError):
        BERT(pandas.Series(["the", None]))
    assert BERT(pandas.Series(["the", None]), nulls="empty")["input_ids"] == [[1, 3, 2], [1, 2]]
    assert BERT(["the", pandas.NA], nulls="empty")["input_ids"] == [[1, 3, 2], [1, 2]]


def test_columns() -> None:
    pa = pytest.importorskip("pyarrow")
    column = pa.array(["the weather", None, "un"])
    batch = BERT(column, nulls="empty", padding=True, return_tensors="np")
    assert batch["input_ids"].tolist() == [[1, 3, 4, 2], [1, 2, 10, 10], [1, 6, 2, 10]]
    assert batch.token_to_chars(0, 2) == (4, 11)
    assert BERT(pa.array(["the"]), ["un"])["input_ids"] == [[1, 3, 2, 6, 2]]
    with pytest.raises(ArgumentError, match="text has 2 entries and text_pair 1"):
        BERT(pa.array(["the", "un"]), ["un"])
    with pytest.raises(UnsupportedError, match=r"the words of a column's texts are not known"):
        batch.word_ids(0)


def test_targets() -> None:
    batch = BERT(["the"], text_target=["weather un"])
    assert batch["labels"] == [[1, 4, 6, 2]] and batch["input_ids"] == [[1, 3, 2]]
    assert BERT(text_target="weather")["input_ids"] == [1, 4, 2]


WRONG: dict[str, tuple[tuple[Any, ...], dict[str, Any], type[Exception], str]] = {
    "nothing": ((), {}, ArgumentError, "text is missing"),
    "a number": ((3,), {}, ArgumentTypeError, "text must be a str or a list of str, not int"),
    "bytes": ((b"the",), {}, ArgumentTypeError, "text must be a str or a list of str, not bytes"),
    "a dict": (({"a": 1},), {}, ArgumentTypeError, "not dict"),
    "a set": (({"a"},), {}, ArgumentTypeError, "not set"),
    "bytes in a batch": (
        (["a", b"b"],),
        {},
        ArgumentTypeError,
        r"text\[1\] must be a str, .*decode",
    ),
    "a number in a batch": (
        (["a", 3],),
        {},
        ArgumentTypeError,
        r"text\[1\] must be a str, not int",
    ),
    "three texts": (
        ([("a", "b", "c")],),
        {},
        ArgumentTypeError,
        r"text\[0\] .*is_split_into_words",
    ),
    "a pair of a text and a number": (([("a", 3)],), {}, ArgumentTypeError, r"text\[0\]\[1\] must"),
    "a text beside a batch": ((["a"], "b"), {}, ArgumentTypeError, "text_pair must be a list"),
    "a batch beside a text": (("a", ["b"]), {}, ArgumentTypeError, "text_pair must be a str, as"),
    "pairs beside a batch": (([("a", "b")], ["c"]), {}, ArgumentTypeError, r"text\[0\] must be a"),
    "too few second texts": ((["a", "b"], ["c"]), {}, ArgumentError, "text has 2 entries and text"),
    "one text as words": (
        ("a",),
        {"is_split_into_words": True},
        ArgumentTypeError,
        "list of words",
    ),
    "words and a text": (
        (["a", ["b"]],),
        {"is_split_into_words": True},
        ArgumentTypeError,
        r"text\[0\] must be a list of words, not str",
    ),
    "a number among words": (
        ([["a", 3]],),
        {"is_split_into_words": True},
        ArgumentTypeError,
        r"text\[0\]\[1\] must be a str, not int",
    ),
    "an array without an axis": (
        (np.array("a"),),
        {},
        ArgumentTypeError,
        "text must be a str or a list of str, not ndarray",
    ),
    "padding": (("a",), {"padding": "longst"}, ArgumentError, "did you mean 'longest'"),
    "padding by number": (("a",), {"padding": 3}, ArgumentTypeError, "padding must be one of True"),
    "truncation": (("a",), {"truncation": "first"}, ArgumentError, "truncation must be one of"),
    "max_length": (("a",), {"max_length": -1}, ArgumentError, "max_length must be at least 0"),
    "a bool for max_length": (
        ("a",),
        {"max_length": True},
        ArgumentTypeError,
        "max_length must be",
    ),
    "a row of a billion ids": (
        ("a",),
        {"padding": "max_length", "max_length": 2**40},
        ArgumentError,
        "max_length must be less than",
    ),
    "a multiple that overflows": (
        ("a",),
        {"padding": True, "pad_to_multiple_of": 2**62},
        ArgumentError,
        "pad_to_multiple_of must be less than",
    ),
    "no text, and nulls": ((None,), {"nulls": "empty"}, ArgumentError, "within a batch"),
    "rows of several lengths, the first empty": (
        (["", "a"],),
        {"add_special_tokens": False, "return_tensors": "pt"},
        ArgumentError,
        "rows have 0 to 1 tokens.*padding=True",
    ),
    "stride": (("a",), {"stride": -1}, ArgumentError, "stride must be at least 0"),
    "side": (("a",), {"padding_side": "up"}, ArgumentError, '"right", "left", not'),
    "other side": (("a",), {"truncation_side": 3}, ArgumentTypeError, "truncation_side must be"),
    "tensors": (("a",), {"return_tensors": "tf"}, ArgumentError, 'return_tensors .*"np", "pt"'),
    "flag": (("a",), {"return_length": 1}, ArgumentTypeError, "return_length must be a bool"),
    "flag or none": (("a",), {"return_attention_mask": 1}, ArgumentTypeError, "return_attention_m"),
    "unit": (("a",), {"unit": "chars"}, ArgumentError, "unit must be one of"),
    "nulls": (("a",), {"nulls": "skip"}, ArgumentError, "nulls must be one of"),
    "special": (("a",), {"special": "never"}, ArgumentError, "special"),
    "multiple": (("a",), {"pad_to_multiple_of": 0}, ArgumentError, "pad_to_multiple_of must be"),
    "multiple of another length": (
        ("a",),
        {"padding": True, "truncation": True, "max_length": 7, "pad_to_multiple_of": 8},
        ArgumentError,
        "max_length=7 is not a multiple of pad_to_multiple_of=8",
    ),
    "no room": (
        ("a",),
        {"max_length": 1},
        ArgumentError,
        "max_length=1 has no room for the 2 speci",
    ),
    "no room for windows": (
        ("a",),
        {"max_length": 2, "return_overflowing_tokens": True},
        ArgumentError,
        "max_length=2 leaves no room for tokens of sample 0",
    ),
    "stride and no way on": (
        ("a b c",),
        {"max_length": 4, "stride": 2, "return_overflowing_tokens": True},
        ArgumentError,
        "stride=2 is too large: the windows of sample 0 hold only 2 tokens of its first text",
    ),
    "a name": (
        ("a",),
        {"return_offset_mapping": True},
        ArgumentTypeError,
        "__call__ has no parameter .* .did you mean 'return_offsets_mapping'",
    ),
    "no second text": (
        ("a b c",),
        {"max_length": 4, "truncation": "only_second"},
        ArgumentError,
        "cannot shorten sample 0: it has no second text",
    ),
    "a second text that is too short": (
        (["a", "a b c d"], ["e", "e"]),
        {"max_length": 5, "truncation": "only_second"},
        ArgumentError,
        "cannot shorten sample 1 to max_length=5: its first text alone has 4 tokens",
    ),
    "rows of several lengths": (
        (["a", "a b"],),
        {"return_tensors": "pt"},
        ArgumentError,
        "rows have 3 to 4 tokens.*padding=True",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_calls(name: str) -> None:
    texts, options, kind, message = WRONG[name]
    with pytest.raises(kind, match=message):
        BERT(*texts, **options)


def test_padding_without_a_pad_token() -> None:
    tok = BERT.replace(added_tokens=[token for token in BERT.stages.added_tokens if token.id != 10])
    with pytest.raises(ArgumentError, match=r"the tokenizer has no pad token \(tok\.replace\("):
        tok(["a", "a b"], padding=True)
    assert tok(["a", "a b"])["input_ids"]


def test_a_template_that_repeats_a_text() -> None:
    tok = BERT.replace(
        post_processor=post_processors.TemplateProcessing("$A", "$A $B $A", special_tokens={})
    )
    assert tok("the un", "e")["input_ids"] == [3, 6, 9, 3, 6]
    with pytest.raises(UnsupportedError, match="more than once"):
        tok("the un", "e", max_length=3, return_overflowing_tokens=True)


GLUED: dict[str, tuple[Any, list[Any], bool]] = {
    "GPT-2": (lambda: byte_level("gpt2"), ["New", "York"], True),
    "a batch": (lambda: byte_level("gpt2"), [["x"], ["New", "York"]], True),
    "with spaces": (lambda: byte_level("gpt2"), ["New", " York"], False),
    "punctuation": (lambda: byte_level("gpt2"), ["York", "."], False),
    "Chinese": (lambda: byte_level("gpt2"), ["東京", "都"], False),
    "one word": (lambda: byte_level("gpt2"), ["New"], False),
    "BERT": (word_piece, ["the", "weather"], False),
    "T5": (unigram, ["the", "the"], False),
    "characters": (characters, ["the", "weather"], True),
}


@pytest.mark.parametrize("row", GLUED)
def test_words_without_spaces_are_said(row: str) -> None:
    make, words, glued = GLUED[row]
    tok = make()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        quiet = tok(words, is_split_into_words=True, verbose=False)
        assert caught == []
        assert tok(words, is_split_into_words=True) == quiet
    told = [str(it.message) for it in caught]
    if glued:
        assert len(told) == 1 and "this tokenizer puts no space between words" in told[0]
        assert caught[0].filename == __file__
    else:
        assert told == []
