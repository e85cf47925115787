"""`tok(...)`: rows for a model, with windows, padding and all that a result knows of them."""

from __future__ import annotations

import copy
import itertools
import json
import math
import os
import pickle
import random
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

import jeton
from call_cases import (
    PUBLISHED,
    TOKENIZERS,
    bert,
    gpt,
    published,
    quietly,
    roberta,
    some_call,
    some_text,
    some_words,
    theirs,
)
from jeton import BatchEncoding
from jeton.components import post_processors
from jeton.errors import ArgumentError, ArgumentTypeError, JetonError, UnsupportedError

FULL = os.environ.get("JETON_PARITY") == "full"
BERT = bert()


def rows_of(batch: Any) -> list[Any]:
    """The ids of a batch, row by row, whatever they are held in."""
    return [np.asarray(row).tolist() for row in batch["input_ids"]]


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


def check_rows(mine: BatchEncoding, other: Any, numbers: random.Random) -> None:
    """Compares what two batches know of a row."""
    row = numbers.randrange(len(other.encodings))
    assert mine.sequence_ids(row) == other.sequence_ids(row)
    assert mine.word_ids(row) == other.word_ids(row)
    # Of an unknown token a Unigram of tokenizers tells the text.
    spelled = zip(mine.tokens(row), other.tokens(row), strict=True)
    assert all(one in (two, "<unk>") for one, two in spelled)
    assert mine[row].spans == other.encodings[row].offsets
    assert mine[row].special_tokens_mask == list(
        map(bool, other.encodings[row].special_tokens_mask)
    )
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
            # Type ids of windows but the first are those of no template there.
            if name != "token_type_ids" or not options["return_overflowing_tokens"]:
                assert is_the_same(mine[name], expected[name]), (seed, name, text, pair, options)
        check_rows(mine, expected, numbers)
        compared += 1
    assert compared > rounds // 2


@pytest.mark.parametrize("family", TOKENIZERS)
def test_the_call_is_that_of_transformers(family: str) -> None:
    compare(TOKENIZERS[family](), 5_000 if FULL else 150)


@pytest.mark.parametrize("name", PUBLISHED)
def test_the_call_of_real_vocabularies_is_that_of_transformers(name: str) -> None:
    compare(published(name), 5_000 if FULL else 60)


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
    rows = batch._known
    start, stop = rows.offsets[row : row + 2]
    is_of_text = rows.texts[start:stop] == text
    ids = np.array(batch["input_ids"][row], np.int64)[is_of_text]
    first = rows.sides[text].offsets[rows.windows.sample[row]]
    return ids.tolist(), (rows.sources[start:stop][is_of_text] - first).tolist()


def test_texts_that_do_not_reach_the_limit_are_not_cut() -> None:
    whole = BERT(["the weather", "un"])
    assert BERT(["the weather", "un"], truncation=True, max_length=4) == whole
    assert BERT(["the weather", "un"], max_length=3)["input_ids"] == [[1, 3, 2], [1, 6, 2]]


# What was given


def test_what_is_a_batch_and_what_a_pair() -> None:
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
    with pytest.raises(UnsupportedError, match="words of a text in a column"):
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
        "max_length=7 is no multiple of pad_to_multiple_of=8",
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
        "windows of sample 0 hold 2 tokens of its first text, which stride=2",
    ),
    "no second text": (
        ("a b c",),
        {"max_length": 4, "truncation": "only_second"},
        ArgumentError,
        "cannot cut sample 0: it has no second text",
    ),
    "a second text that is too short": (
        (["a", "a b c d"], ["e", "e"]),
        {"max_length": 5, "truncation": "only_second"},
        ArgumentError,
        "cannot cut sample 1 to max_length=5: its first text alone has 4 tokens",
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
    tok = BERT.replace(added_tokens=[token for token in BERT.added_tokens if token.id != 10])
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


# What the tokenizer says

SECTIONS: dict[str, Any] = {
    "padding": {
        "strategy": "BatchLongest",
        "direction": "Left",
        "pad_to_multiple_of": 4,
        "pad_id": 9,
        "pad_type_id": 1,
        "pad_token": "e",
    },
    "truncation": {
        "direction": "Left",
        "max_length": 4,
        "strategy": "OnlyFirst",
        "stride": 1,
    },
}


def test_a_file_says_how_rows_are_padded_and_cut() -> None:
    tok = jeton.Tokenizer.from_json(json.dumps({**json.loads(BERT.to_json()), **SECTIONS}))
    tokenizers = pytest.importorskip("tokenizers")
    texts = ["the weather un e", "the"]
    expected = tokenizers.Tokenizer.from_str(tok.to_json()).encode_batch(texts)
    batch = tok(texts)
    assert batch["input_ids"] == [row.ids for row in expected] == [[1, 6, 9, 2], [9, 1, 3, 2]]
    assert batch["token_type_ids"] == [row.type_ids for row in expected]
    windows = tok(texts[:1], return_overflowing_tokens=True)["input_ids"]
    assert windows[1:] == [row.ids for row in expected[0].overflowing]
    assert tok(texts, padding=False, truncation=False) == BERT(texts)
    assert tok(texts, max_length=3)["input_ids"] == [[9, 1, 9, 2], [9, 1, 3, 2]]
    assert tok(texts, padding=False)["input_ids"] == [[1, 6, 9, 2], [1, 3, 2]]
    assert tok.encode(texts[0]) == BERT.encode(texts[0])
    again = jeton.Tokenizer.from_json(tok.to_json())
    assert again.padding == SECTIONS["padding"] and again.truncation == SECTIONS["truncation"]
    assert again(texts) == batch


def test_a_file_says_how_long_rows_are() -> None:
    section = {**SECTIONS["padding"], "strategy": {"Fixed": 6}, "pad_to_multiple_of": None}
    tok = BERT.replace(padding=section)
    assert tok("the")["input_ids"] == [9, 9, 9, 1, 3, 2]
    assert tok("the", padding="max_length", max_length=4)["input_ids"] == [9, 1, 3, 2]


def test_a_folder_says_which_columns_a_model_takes(tmp_path: Any) -> None:
    def told(**config: Any) -> jeton.Tokenizer:
        BERT.save(tmp_path / "folder", roles={"pad": "[PAD]"})
        path = tmp_path / "folder" / "tokenizer_config.json"
        stored = json.loads(path.read_text())
        del stored["model_input_names"]
        path.write_text(json.dumps({**stored, **config}))
        return jeton.load(tmp_path / "folder")

    assert list(BERT("the")) == ["input_ids", "token_type_ids", "attention_mask"]
    assert list(gpt()("the")) == ["input_ids", "attention_mask"]
    assert list(told(tokenizer_class="DistilBertTokenizer")("the")) == [
        "input_ids",
        "attention_mask",
    ]
    assert list(told(tokenizer_class="BertTokenizerFast")("the"))[1] == "token_type_ids"
    assert list(told()("the")) == ["input_ids", "attention_mask"]
    assert list(told(model_input_names=["input_ids"])("the")) == ["input_ids"]
    left = told(tokenizer_class="LlamaTokenizer", truncation_side="left", model_max_length=4)
    batch = left(["the weather un", "e"], padding=True, truncation=True)
    assert batch["input_ids"] == [[1, 4, 6, 2], [10, 1, 9, 2]]
    assert left("e", padding="max_length")["input_ids"] == [10, 1, 9, 2]
    right = left(["the weather un", "e"], padding=True, truncation=True, padding_side="right")
    assert right["input_ids"][1] == [1, 9, 2, 10]


def test_arguments_without_effect_are_told() -> None:
    for options, message in (
        ({"truncation": True}, "truncation cuts nothing"),
        ({"padding": "max_length"}, "pads nothing"),
        ({"padding": True, "max_length": 3}, "max_length has no effect"),
    ):
        with pytest.warns(UserWarning, match=message):
            BERT("the", **options)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            BERT("the", verbose=False, **options)


# What a result is


def test_a_result_is_a_mapping() -> None:
    batch = BERT(["the weather", "un"], return_offsets_mapping=True)
    assert isinstance(batch, Mapping) and dict(**batch) == batch.data
    assert batch.input_ids is batch["input_ids"] and "labels" not in batch
    batch["labels"] = [1, 0]
    assert batch.pop("offset_mapping")[1] == [(0, 0), (0, 2), (0, 0)]
    assert list(batch) == ["input_ids", "token_type_ids", "attention_mask", "labels"]
    assert batch[:1] == {name: column[:1] for name, column in batch.items()}
    assert batch[1].tokens == [b"[CLS]", b"un", b"[SEP]"] == batch[-1].tokens
    assert batch == BatchEncoding(dict(batch)) and len(batch) == 4
    with pytest.raises(AttributeError, match="no column and no method 'nothing'"):
        batch.nothing  # noqa: B018
    with pytest.raises(KeyError):
        batch["nothing"]
    with pytest.raises(IndexError, match="row 2 of a batch of 2"):
        batch.tokens(2)
    assert repr(batch).startswith("BatchEncoding(input_ids: [[1, 3, 4, 2], [1, 6, 2]], ")
    assert repr(BERT("the", return_tensors="np")).startswith(
        "BatchEncoding(input_ids: ndarray 1×3,"
    )


def test_a_result_of_columns_knows_nothing_else() -> None:
    batch = BatchEncoding({"input_ids": [[1]]})
    assert not batch.is_fast and batch.encodings is None and batch.n_sequences is None
    with pytest.raises(UnsupportedError, match="made of columns"):
        batch.tokens()


def test_what_a_result_knows_of_its_rows() -> None:
    batch = BERT("the weathers", "un, the", padding="max_length", max_length=12)
    assert batch.is_fast and batch.n_sequences == 2
    assert batch.tokens()[:5] == ["[CLS]", "the", "weather", "##s", "[SEP]"]
    assert batch.char_to_token(5) == 2 and batch.char_to_token(0, 5, 1) == 7
    assert batch.char_to_token(3) is None and batch.char_to_token(99) is None
    assert batch.token_to_chars(3) == (11, 12) and batch.token_to_chars(0) is None
    assert batch.token_to_chars(99) is None and batch.token_to_word(-1) is None
    assert batch.word_to_tokens(1) == (2, 4) and batch.word_to_tokens(9) is None
    assert batch.word_to_chars(1) == (4, 12) and batch.word_to_chars(9) is None
    assert batch.char_to_word(11) == 1 and batch.char_to_word(0, 4, 1) == 2
    assert batch.token_to_sequence(1) == 0 and batch.token_to_sequence(0, 5) == 1


def test_offsets_count_what_was_asked_for() -> None:
    tok = gpt()
    for unit, ends in (("characters", 2), ("bytes", 6), ("utf-16", 3)):
        batch = tok("é🙂", return_offsets_mapping=True, unit=unit)  # type: ignore[arg-type]
        assert max(end for _, end in batch["offset_mapping"]) == ends
        assert tok("é🙂", unit=unit)[0].spans == batch["offset_mapping"]  # type: ignore[arg-type]


@pytest.mark.parametrize("tensors", [None, "np", "pt"])
def test_a_result_is_copied_and_pickled(tensors: Any) -> None:
    if tensors == "pt":
        pytest.importorskip("torch")
    tok = roberta()
    batch = tok(["the weather", "un"], padding=True, return_tensors=tensors)
    for again in (pickle.loads(pickle.dumps(batch)), copy.copy(batch), copy.deepcopy(batch)):
        assert rows_of(again) == rows_of(batch) and again.tokens(1) == batch.tokens(1)
        assert again.word_ids(0) == batch.word_ids(0) and again[0] == batch[0]
    assert pickle.dumps(pickle.loads(pickle.dumps(batch)))


def test_tensors() -> None:
    torch = pytest.importorskip("torch")
    batch = BERT(["the weather", "un"], padding=True, return_tensors="pt")
    assert batch["input_ids"].dtype == torch.int64
    assert batch.to("cpu") is batch and batch["input_ids"].device.type == "cpu"
    lists = BERT(["the weather", "un"], padding=True)
    assert torch.equal(lists.to_torch()["input_ids"], batch["input_ids"])
    assert lists.to_torch().tokens(1) == lists.tokens(1)
    assert batch.to_numpy()["input_ids"].tolist() == lists["input_ids"]
    assert lists.convert_to_tensors("pt")["attention_mask"].tolist() == [[1, 1, 1, 1], [1, 1, 1, 0]]
    single = BERT("the").convert_to_tensors("np", prepend_batch_axis=True)
    assert single["input_ids"].shape == (1, 3)
    with pytest.raises(ArgumentError, match="rows of input_ids are not equally long"):
        BERT(["the", "the un"]).to_torch()
    collated = torch.utils.data.default_collate([BERT("the").to_torch(), BERT("un").to_torch()])
    assert collated["input_ids"].tolist() == [[1, 3, 2], [1, 6, 2]]


def test_other_results_become_arrays_and_tensors() -> None:
    batch = BERT.encode_batch(["the weather", "un"])
    assert [row.tolist() for row in batch.to_numpy()] == [[3, 4], [6]]
    assert {row.dtype for row in batch.to_numpy()} == {np.dtype(np.int64)}
    ids, mask = batch.pad().to_numpy()
    assert ids.tolist() == [[3, 4], [6, 10]] and mask.tolist() == [[1, 1], [1, 0]]
    encoding = BERT.encode_with_spans("the un")
    assert encoding.to_numpy().tolist() == [3, 6] and encoding.to_numpy().dtype == np.int64
    torch = pytest.importorskip("torch")
    assert torch.equal(encoding.to_torch(), torch.tensor([3, 6]))
    assert torch.equal(batch.to_torch()[0], torch.tensor([3, 4]))
    assert torch.equal(batch.pad().to_torch()[1], torch.tensor([[1, 1], [1, 0]]))


def test_words_of_a_tokenizer_that_draws_at_random() -> None:
    from jeton.components import models

    merges = [(b"l", b"o"), (b"lo", b"w")]
    vocab = {b"l": 0, b"o": 1, b"w": 2, b"lo": 3, b"low": 4}
    tok = jeton.Tokenizer(models.BPE(vocab, merges=merges, dropout=0.5))
    batch = tok(["lowlowlowlowlowlowlow"] * 9, return_offsets_mapping=True)
    assert [row[-1][1] for row in batch["offset_mapping"]] == [21] * 9
    with pytest.raises(UnsupportedError, match="draws at random"):
        for row in range(9):
            batch.word_ids(row)
    assert tok([["low", "lo"]], is_split_into_words=True).word_ids(0)[-1] == 1
    with pytest.raises(UnsupportedError, match="draws at random"):
        for _ in range(9):
            tok("lowlowlowlowlowlowlow").tokens()


def test_where_transformers_differs() -> None:
    """The table in `docs/calls.md`: what transformers does that jeton does not."""
    tok, other = BERT.replace(roles={"pad": "[PAD]"}), theirs(BERT)
    sep = tok.special_tokens["[SEP]"]

    def kind(call: Any, *texts: Any, **options: Any) -> str:
        return type(quietly(call, *texts, **options)).__name__

    assert sep in other("a [SEP] b")["input_ids"][1:-1]
    assert sep not in tok("a [SEP] b")["input_ids"][1:-1]
    assert kind(other, []) == "IndexError" and tok([])["input_ids"] == []
    assert other("the", "")["input_ids"] != other(["the"], [""])["input_ids"][0]
    for missing in (None, math.nan):
        assert "1" not in str(quietly(other, ["the", missing]))
        assert "text[1]" in str(quietly(tok, ["the", missing]))
    options: dict[str, Any] = {
        "truncation": True,
        "max_length": 7,
        "return_overflowing_tokens": True,
    }
    t5 = TOKENIZERS["T5"]()
    options["return_token_type_ids"] = True
    windows = theirs(t5)("the weather", "the un the", **options)
    mine = t5("the weather", "the un the", **options)
    assert mine["input_ids"] == windows["input_ids"]
    assert any(map(any, windows["token_type_ids"])) and not any(map(any, mine["token_type_ids"]))
    assert len(other("the un e", truncation=True, max_length=1)["input_ids"]) == 5
    options["max_length"] = 2
    assert max(map(len, other("the un e", **options)["input_ids"])) > 2
    options.update(max_length=4, stride=2)
    assert kind(other, "the un e", **options) == "PanicException"
    assert kind(tok, "the un e", **options) == "ArgumentError"
    before = tok.to_json()
    for call in (tok, other):
        call("the", truncation=True, max_length=4, padding="max_length")
    assert tok.to_json() == before and other.backend_tokenizer.truncation["max_length"] == 4
    assert kind(other("the un").word_to_chars, 9) == "TypeError"
    assert (
        other("the un").char_to_token(0, 1, 1) == 1 and tok("the un").char_to_token(0, 1, 1) is None
    )
    assert "東京" in theirs(t5)("東京").tokens() and "<unk>" in t5("東京").tokens()


def test_a_column_of_datasets() -> None:
    datasets = pytest.importorskip("datasets")
    column = datasets.Dataset.from_dict({"text": ["the", "un"]})["text"]
    assert BERT(column)["input_ids"] == [[1, 3, 2], [1, 6, 2]]
    mapped = datasets.Dataset.from_dict({"text": ["the", "un"]}).map(
        lambda rows: BERT(rows["text"]), batched=True
    )
    assert mapped["input_ids"][1] == [1, 6, 2]
