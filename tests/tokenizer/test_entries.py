"""Batches of pairs and of words are those of single calls, for every tokenizer."""

from __future__ import annotations

import math
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import jeton
from encode_fallback import encode_fallback
from jeton import errors
from kinds import KINDS, characters, word_piece
from test_spans import TOKENIZERS, UNITS, texts

SURROGATES = st.sampled_from(["", "\ud800", "é\ud800the", "\ud83d\ude42 the"])
TEXTS = st.one_of(texts(), SURROGATES)
WORDS = st.lists(TEXTS, max_size=6)


@pytest.fixture(scope="module", params=list(TOKENIZERS))
def tok(request: pytest.FixtureRequest) -> jeton.Tokenizer:
    return TOKENIZERS[request.param]()


def single(tok: jeton.Tokenizer, entry: Any, **options: Any) -> Any:
    """What the stages say of one entry; the kind of error of one that cannot be encoded."""
    first, second = entry if isinstance(entry, tuple) else (entry, None)
    try:
        row = encode_fallback(tok, first, second, **options)
    except errors.EncodeError as error:
        with pytest.raises(errors.EncodeError):
            tok.encode_with_spans(first, second, **options)
        return error
    assert tok.encode_with_spans(first, second, **options) == row
    return row


def check(tok: jeton.Tokenizer, entries: list[Any], **options: Any) -> None:
    """Ids, spans and counts of a batch are those of single calls."""
    rows = [single(tok, entry, **options) for entry in entries]
    ways = {name: value for name, value in options.items() if name != "unit"}
    unit = options.get("unit", "characters")
    failed = [number for number, row in enumerate(rows) if isinstance(row, errors.EncodeError)]
    calls: list[Any] = [
        lambda: tok.encode_batch(entries, spans=unit, **ways),
        lambda: tok.encode_batch(entries, **ways),
        lambda: tok.count_batch(entries, **ways),
    ]
    if failed:
        for call in calls:
            with pytest.raises(errors.EncodeError, match=rf"^texts\[{failed[0]}\]"):
                call()
        return
    batch = calls[0]()
    spans = batch.spans
    assert batch.tolist() == [row.ids for row in rows]
    for row, (start, end) in zip(rows, pairwise(batch.offsets), strict=True):
        assert spans[start:end].tolist() == [list(span) for span in row.spans]
    assert calls[1]() == batch
    if "seed" not in options:
        assert calls[2]() == [len(row) for row in rows]


@pytest.mark.large
@given(data=st.data())
def test_batches_are_single_calls(tok: jeton.Tokenizer, data: st.DataObject) -> None:
    is_split = data.draw(st.booleans())
    one = WORDS if is_split else TEXTS
    entries = data.draw(st.lists(st.one_of(one, st.tuples(one, one)), min_size=1, max_size=6))
    check(
        tok,
        entries,
        is_split_into_words=is_split,
        unit=data.draw(st.sampled_from(UNITS)),
        special=data.draw(st.sampled_from(["ignore", "allow"])),
        add_special_tokens=data.draw(st.booleans()),
    )


@pytest.mark.large
@given(words=WORDS)
def test_a_word_is_a_text_by_itself(tok: jeton.Tokenizer, words: list[str]) -> None:
    try:
        rows = [tok.encode_with_spans(word) for word in words]
    except errors.EncodeError:
        return
    together = tok.encode_with_spans(words, is_split_into_words=True)
    assert together.ids == [id for row in rows for id in row.ids]
    assert together.word_ids == [number for number, row in enumerate(rows) for _ in row.ids]
    if tok.stages.post_processor is None:
        assert together.spans == [span for row in rows for span in row.spans]


@pytest.mark.large
def test_large_batches_use_all_cores(tok: jeton.Tokenizer) -> None:
    parts = ["the weather", " there", "theory", "", "the"]
    words = [parts[number % 5 :] for number in range(4_000)]
    check(tok, words, is_split_into_words=True, add_special_tokens=True)
    check(tok, [(" ".join(row), "there") for row in words], add_special_tokens=True)
    check(tok, [*map(" ".join, words[:50]), ("the", "there")], add_special_tokens=True)


@pytest.mark.parametrize("make", [KINDS["byte-level"], KINDS["Unigram"]], ids=["BPE", "Unigram"])
def test_drawn_entries_are_those_of_single_calls(make: Any) -> None:
    tok = make()
    if isinstance(tok.stages.model, jeton.components.models.BPE):
        drawn: dict[str, Any] = {"dropout": 0.5, "seed": 5}
    else:
        tok = TOKENIZERS["SentencePiece Unigram"]()
        drawn = {"alpha": 0.3, "seed": 5}
    check(tok, [("the weather there", "theory"), "the theory"], **drawn)
    check(
        tok, [["the", "weather"], (["there"], ["theory", "the"])], is_split_into_words=True, **drawn
    )


@pytest.mark.parametrize(
    "null",
    [None, math.nan, np.float32("nan"), np.float64("nan")],
    ids=["None", "NaN", "float32", "float64"],
)
def test_missing_entries_follow_nulls(null: Any) -> None:
    tok = word_piece()
    batch = tok.encode_batch(["the", null, "un"], nulls="empty", add_special_tokens=True)
    assert batch.tolist() == [[1, 3, 2], [1, 2], [1, 6, 2]]
    assert tok.count_batch([null, "the"], nulls="empty") == [0, 1]
    assert tok.encode_batch([("the", null), null], nulls="empty").tolist() == [[3], []]
    words = [["the", null, "un"], null, (null, ["the"])]
    split = tok.encode_batch(words, is_split_into_words=True, nulls="empty")
    assert split.tolist() == [[3, 6], [], [3]]
    spans = tok.encode_batch([null, "the"], nulls="empty", spans="characters").spans
    assert spans.tolist() == [[0, 3]]
    name = type(null).__name__
    with pytest.raises(errors.ArgumentTypeError, match=rf'texts\[1\] .* {name} \(nulls="empty"'):
        tok.encode_batch(["the", null])
    with pytest.raises(errors.ArgumentTypeError, match=r"texts\[0\]\[1\]"):
        tok.encode_batch([("the", null)])
    with pytest.raises(errors.ArgumentTypeError, match=r"texts\[0\]\[1\]\[2\]"):
        tok.encode_batch([(["the"], ["a", "b", null])], is_split_into_words=True)


def test_nulls_of_pandas() -> None:
    pd = pytest.importorskip("pandas")
    tok = characters()
    for series in (
        pd.Series(["the", None]),
        pd.Series(["the", math.nan], dtype=object),
        pd.Series(["the", pd.NA], dtype=object),
    ):
        assert tok.encode_batch(list(series), nulls="empty").tolist() == [tok.encode("the"), []]
        with pytest.raises(errors.JetonError, match=r"texts\[1\]"):
            tok.encode_batch(list(series))


WRONG: dict[str, tuple[Any, bool, str]] = {
    "a list of two": (
        [["a", "b"]],
        False,
        r"texts\[0\] must be a str, not list \(a pair is a tuple",
    ),
    "one in a tuple": ([("a",)], False, r"texts\[0\] must be a str, not tuple \(a pair is a tuple"),
    "three in a tuple": (["a", ("a", "b", "c")], False, r"texts\[1\] must be a str, not tuple"),
    "a number in a pair": ([("a", 5)], False, r"texts\[0\]\[1\] must be a str, not int"),
    "words in a pair": ([("a", ["b"])], False, r"texts\[0\]\[1\] must be a str, not list"),
    "a text for words": ([["a"], "ab"], True, r"texts\[1\] must be a list of words .* not str"),
    "bytes for words": ([b"ab"], True, r"texts\[0\] must be a list of words"),
    "a set of words": ([{"a", "b"}], True, r"texts\[0\] must be a list of words"),
    "a dict of words": ([{"a": 1}], True, r"texts\[0\] must be a list of words"),
    "a number for words": ([5], True, r"texts\[0\] must be a list of words"),
    "a number among words": ([["a", 5]], True, r"texts\[0\]\[1\] must be a str, not int"),
    "a text and words": ([(["a"], 5)], True, r"texts\[0\]\[1\] must be a list of words"),
    "words within words": ([[["a"]]], True, r"texts\[0\]\[0\] must be a str, not list"),
    "a text alone": ("ab", True, r"texts must be an iterable"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_entries_are_named(name: str) -> None:
    entries, is_split, message = WRONG[name]
    tok = characters()
    for call in (tok.encode_batch, partial(tok.encode_batch, spans="bytes"), tok.count_batch):
        with pytest.raises(errors.ArgumentTypeError, match=message):
            call(entries, is_split_into_words=is_split)


def test_errors_say_where_in_an_entry() -> None:
    tok = jeton.CharTrainer().train("ab")
    with pytest.raises(errors.EncodeError, match=r"^texts\[1\]: second text: "):
        tok.encode_batch(["a", ("b", "x")])
    with pytest.raises(errors.EncodeError, match=r"^texts\[0\]: first text: word 2: "):
        tok.encode_batch([(["a", "b", "x"], ["a"])], is_split_into_words=True)
    with pytest.raises(errors.EncodeError, match=r"^word 1: "):
        tok.encode_with_spans(["a", "x"], is_split_into_words=True)
    with pytest.raises(errors.ArgumentTypeError, match=r"text_pair\[1\] must be a str"):
        tok.encode_with_spans(["a"], ["a", 5], is_split_into_words=True)  # type: ignore[list-item]


def test_rows_of_pairs_are_cut_only_without_special_tokens() -> None:
    tok = word_piece()
    pairs = [("the weather", "un"), ("the", "the")]
    batch = tok.encode_batch(pairs)
    assert batch.pad(2, truncate=True, pad_id=0).ids.tolist() == [[3, 4], [3, 3]]
    with pytest.raises(errors.UnsupportedError, match="cannot be truncated"):
        tok.encode_batch(pairs, add_special_tokens=True).pad(2, truncate=True, pad_id=0)
