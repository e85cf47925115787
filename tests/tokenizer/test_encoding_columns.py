"""The columns of an `Encoding` become lists when they are asked for, and equal the stages'."""

from __future__ import annotations

import copy
import dataclasses
import gc
import pickle
import sys
import threading
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import jeton
from encode_fallback import encode_fallback
from jeton.components import models, normalizers
from jeton.results import encoding as module
from kinds import byte_level, unigram, word_piece
from test_spans import TOKENIZERS, texts

COLUMNS = [field.name for field in dataclasses.fields(jeton.Encoding)]


@pytest.fixture(scope="module", params=list(TOKENIZERS))
def tok(request: pytest.FixtureRequest) -> jeton.Tokenizer:
    return TOKENIZERS[request.param]()


def made(encoding: jeton.Encoding) -> list[str]:
    """The columns that are lists by now."""
    return [name for name in COLUMNS if name in vars(encoding)]


TOKENS = 8


def encoded() -> jeton.Encoding:
    """The encoding of a pair, of `TOKENS` tokens."""
    return word_piece().encode_with_spans("the weathers", "unable", add_special_tokens=True)


# As the stages say


@pytest.mark.large
@given(data=st.data())
def test_every_column_is_that_of_the_stages(tok: jeton.Tokenizer, data: st.DataObject) -> None:
    is_split = data.draw(st.booleans())
    one: st.SearchStrategy[Any] = st.lists(texts(), max_size=5) if is_split else texts()
    entry = data.draw(one), data.draw(st.none() | one)
    options: dict[str, Any] = {
        "is_split_into_words": is_split,
        "special": data.draw(st.sampled_from(["ignore", "allow"])),
        "add_special_tokens": data.draw(st.booleans()),
    }
    try:
        expected = encode_fallback(tok, *entry, **options)
    except jeton.errors.EncodeError:
        return
    encoding = tok.encode_with_spans(*entry, **options)
    for name in data.draw(st.permutations(COLUMNS)):
        assert getattr(encoding, name) == getattr(expected, name), name
    assert [len(getattr(encoding, name)) for name in COLUMNS] == [len(encoding)] * len(COLUMNS)


def test_words_where_nothing_cuts_text_but_added_tokens() -> None:
    pieces = [("<unk>", 0.0), ("▁", -1.0), ("a", -2.0), ("b", -2.0), ("▁a", -2.5)]
    plain = jeton.Tokenizer(
        models.Unigram(pieces, unk_id=0),
        normalizer=normalizers.Sequence(
            [normalizers.Strip(), normalizers.Replace(" ", "▁")],
        ),
    )
    tok = plain.with_added_tokens([jeton.AddedToken("<x>", normalized=False)])
    for text in ("", "ab a", "<x>", "ab<x>a b<x><x>", "<x> <x>b", " ", "a <x>\u200b<x> b"):
        encoding, expected = tok.encode_with_spans(text), encode_fallback(tok, text)
        assert encoding.word_ids == expected.word_ids, text
        assert encoding == expected


def test_random_segmentations_keep_their_columns() -> None:
    """They would be others if the text were encoded again."""
    tok = byte_level()
    for seed in range(9):
        drawn = tok.encode_with_spans("the weather there", dropout=0.5, seed=seed)
        assert drawn == encode_fallback(tok, "the weather there", dropout=0.5, seed=seed)
        unseeded = tok.encode_with_spans("the weather there", dropout=0.5)
        assert len(unseeded.word_ids) == len(unseeded.tokens) == len(unseeded)


# Lists when they are asked for


@pytest.fixture
def threads_take_turns_often() -> Iterator[None]:
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("threads_take_turns_often")
def test_threads_that_ask_at_once_get_one_list() -> None:
    for _ in range(50):
        encoding, together = encoded(), threading.Barrier(4)
        lists: list[Any] = []

        def ask(
            encoding: jeton.Encoding = encoding,
            lists: list[Any] = lists,
            together: threading.Barrier = together,
        ) -> None:
            together.wait()
            lists.append(encoding.tokens)

        threads = [threading.Thread(target=ask) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len({id(it) for it in lists}) == 1


def test_columns_are_made_when_they_are_asked_for() -> None:
    encoding = encoded()
    assert len(encoding) == TOKENS and made(encoding) == []
    assert repr(encoding).startswith("Encoding(8 tokens: ids=[1, 3, 4, 5, 2, 6, …]")
    assert encoding.to_numpy().tolist() == [1, 3, 4, 5, 2, 6, 7, 2]
    assert "8 tokens" in encoding._repr_html_()
    assert made(encoding) == []
    assert encoding.spans is encoding.spans
    assert made(encoding) == ["spans"]


def test_encoding_makes_no_object_a_token() -> None:
    tok = byte_level()
    text = "the weather there, " * 20_000
    tok.encode_with_spans(text)
    before = sys.getallocatedblocks()
    encoding = tok.encode_with_spans(text)
    assert sys.getallocatedblocks() - before < 1_000
    assert len(encoding) > 50_000


def test_long_columns_are_made_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = encoded()
    columns = {name: getattr(expected, name) for name in COLUMNS}
    for part in (1, 3, 7, 8):
        monkeypatch.setattr(module, "AT_ONCE", part)
        encoding = encoded()
        assert {name: getattr(encoding, name) for name in COLUMNS} == columns


class Interrupted:
    """A core in which Ctrl-C is pressed when the third part of a column is asked for."""

    def __init__(self) -> None:
        self.asked = 0

    def __len__(self) -> int:
        return 9

    def rows(self, column: str, start: int, stop: int) -> list[object]:
        self.asked += 1
        if self.asked == 3:
            raise KeyboardInterrupt
        return [Part() for _ in range(start, min(stop, 9))]


class Part:
    """An object that says when it is freed."""

    freed = 0

    def __del__(self) -> None:
        Part.freed += 1


def test_an_interrupt_does_not_wait_until_what_was_made_is_freed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "AT_ONCE", 3)
    encoding = jeton.Encoding._of_core(Interrupted())  # type: ignore[arg-type]
    try:
        encoding.spans  # noqa: B018
    except KeyboardInterrupt:
        assert Part.freed == 0
    gc.collect()
    assert Part.freed == 6
    assert made(encoding) == []
    assert len(encoding.spans) == 9


# What an encoding is otherwise

COPIES: dict[str, Callable[[jeton.Encoding], jeton.Encoding]] = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda it: pickle.loads(pickle.dumps(it)),
    "pickle, the oldest": lambda it: pickle.loads(pickle.dumps(it, 0)),
    "replace": lambda it: dataclasses.replace(it),
    "by its columns": lambda it: jeton.Encoding(**dataclasses.asdict(it)),
}


@pytest.mark.parametrize("name", COPIES)
def test_copies_are_equal(name: str) -> None:
    encoding = encoded()
    again = COPIES[name](encoding)
    assert type(again) is jeton.Encoding and again == encoded() == encoding
    assert len(again) == TOKENS and repr(again) == repr(encoding)
    assert again.to_numpy().tolist() == encoding.ids == again.ids
    assert dataclasses.replace(again, ids=[0] * TOKENS) != again


def test_lists_that_were_written_to_stay_so() -> None:
    encoding = encoded()
    encoding.ids[0] = 9
    encoding.ids.append(8)
    assert len(encoding) == TOKENS + 1 and encoding.to_numpy().tolist()[0] == 9
    assert "ids=[9, 3" in repr(encoding) and encoding != encoded()
    assert copy.copy(encoding).ids is encoding.ids
    assert pickle.loads(pickle.dumps(encoding)).ids == encoding.ids


def test_an_encoding_is_frozen_and_has_no_hash() -> None:
    encoding = encoded()
    with pytest.raises(dataclasses.FrozenInstanceError):
        encoding.ids = []  # type: ignore[misc]
    with pytest.raises(TypeError, match="unhashable"):
        hash(encoding)
    for name in ("offsets", "_nothing", "__nothing__"):
        with pytest.raises(AttributeError, match=f"'Encoding' object has no attribute '{name}'"):
            getattr(encoding, name)
    with pytest.raises(jeton.errors.ArgumentTypeError, match="ids must be a list, not tuple"):
        jeton.Encoding((), [], [], [], [], [], [])  # type: ignore[arg-type]


class Mine(jeton.Encoding):
    """A class of the caller."""

    note: str


def test_classes_of_the_caller() -> None:
    encoding = encoded()
    mine = Mine(**dataclasses.asdict(encoding))
    object.__setattr__(mine, "note", "mine")
    again = pickle.loads(pickle.dumps(mine))
    assert type(again) is Mine and again == mine and again.note == "mine"
    assert mine != encoding


class Text(str):
    """A text that leads to its encoding."""

    encoding: jeton.Encoding


def test_a_text_that_leads_to_its_encoding_is_freed() -> None:
    text = Text("the weather")
    text.encoding = unigram().encode_with_spans(text)
    ref = weakref.ref(text)
    del text
    gc.collect()
    assert ref() is None
