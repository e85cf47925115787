"""Columns of Arrow: read in place from every library that exports them, and given back."""

from __future__ import annotations

import gc
import pickle
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import jeton
from jeton.errors import ArgumentError, ArgumentTypeError, FormatError, JetonError
from kinds import byte_level, ranks, unigram, word_piece

pa = pytest.importorskip("pyarrow")

TEXTS = ["the weather", "", "père, 東京 🙂", "x" * 40, "\n\n  x = 1\n", "the"]


def _polars(**options: Any) -> Any:
    return pytest.importorskip("polars").Series(TEXTS, **options)


def _pandas(**options: Any) -> Any:
    return pytest.importorskip("pandas").Series(TEXTS, **options)


def _duckdb() -> Any:
    database = pytest.importorskip("duckdb").connect()
    database.execute("create table texts as select unnest(?) as text", [TEXTS])
    return database.sql("select text from texts")


COLUMNS: dict[str, Callable[[], Any]] = {
    "utf8": lambda: pa.array(TEXTS),
    "large utf8": lambda: pa.array(TEXTS, pa.large_string()),
    "view": lambda: pa.array(TEXTS, pa.string_view()),
    "binary": lambda: pa.array([text.encode() for text in TEXTS]),
    "large binary": lambda: pa.array([text.encode() for text in TEXTS], pa.large_binary()),
    "binary view": lambda: pa.array([text.encode() for text in TEXTS], pa.binary_view()),
    "dictionary": lambda: pa.array(TEXTS).dictionary_encode(),
    "small dictionary": lambda: pa.array(TEXTS, pa.dictionary(pa.int8(), pa.large_string())),
    "slice": lambda: pa.array(["before", *TEXTS, "after"])[1:-1],
    "slice of views": lambda: pa.array(["before", *TEXTS, "after"], pa.string_view())[1:-1],
    "slice of a dictionary": lambda: pa.array(["x", *TEXTS, "x"]).dictionary_encode()[1:-1],
    "chunks": lambda: pa.chunked_array([TEXTS[:1], [], TEXTS[1:4], TEXTS[4:]], pa.string()),
    "record batch": lambda: pa.record_batch({"text": TEXTS}),
    "slice of a table": lambda: pa.table({"text": ["x", *TEXTS, "x"]}).slice(1, len(TEXTS)),
    "stream": lambda: pa.RecordBatchReader.from_batches(
        pa.schema([("text", pa.string())]), iter([pa.record_batch({"text": TEXTS})])
    ),
    "polars": _polars,
    "polars categories": lambda: _polars(dtype=pytest.importorskip("polars").Categorical),
    "polars frame": lambda: _polars().to_frame(),
    "polars slice": lambda: _polars().extend(_polars())[: len(TEXTS)],
    "pandas": _pandas,
    "pandas objects": lambda: _pandas(dtype=object),
    "pandas categories": lambda: _pandas(dtype="category"),
    "pandas Arrow": lambda: _pandas(dtype=pytest.importorskip("pandas").ArrowDtype(pa.string())),
    "pandas frame": lambda: _pandas().to_frame(),
    "duckdb": _duckdb,
}


@pytest.mark.parametrize("name", COLUMNS)
def test_a_column_is_its_texts(name: str) -> None:
    tok = byte_level()
    expected = tok.encode_batch(TEXTS)
    assert tok.encode_batch(COLUMNS[name]()) == expected
    assert tok.count_batch(COLUMNS[name]()) == expected.lengths.tolist()


@pytest.mark.parametrize("make", [byte_level, ranks, unigram, word_piece])
def test_options_hold_for_columns_too(make: Callable[[], jeton.Tokenizer]) -> None:
    tok = make()
    texts = TEXTS + ["[SEP]<|end|>"] * 40
    for options in ({}, {"special": "allow"}, {"add_special_tokens": True}):
        assert tok.encode_batch(pa.array(texts), **options) == tok.encode_batch(texts, **options)


NULLS: dict[str, Callable[[], Any]] = {
    "utf8": lambda: pa.array(["the", None, "", None]),
    "view": lambda: pa.array(["the", None, "", None], pa.string_view()),
    "slice": lambda: pa.array([None, "the", None, "", None])[1:],
    "dictionary": lambda: pa.array(["the", None, "", None]).dictionary_encode(),
    "null words": lambda: pa.DictionaryArray.from_arrays([0, 1, 2, None], ["the", None, ""]),
    "null rows": lambda: pa.StructArray.from_arrays(
        [pa.array(["the", "the", "", "the"])], ["text"], mask=pa.array([False, True, False, True])
    ),
    "nothing but nulls": lambda: pa.chunked_array([["the"], [None, None, None]]),
    "list": lambda: ["the", None, "", None],
}


@pytest.mark.parametrize("name", NULLS)
def test_nulls_follow_the_option(name: str) -> None:
    tok = ranks()
    column = NULLS[name]
    assert tok.encode_batch(column(), nulls="empty").tolist() == [tok.encode("the"), [], [], []]
    assert tok.count_batch(column(), nulls="empty") == [1, 0, 0, 0]
    with pytest.raises(JetonError, match=r"texts\[1\].*(null|NoneType)"):
        tok.encode_batch(column())


def test_columns_of_nulls_and_of_nothing() -> None:
    tok = ranks()
    assert tok.encode_batch(pa.nulls(3), nulls="empty").tolist() == [[], [], []]
    empty = pa.array([None, None], pa.dictionary(pa.int32(), pa.string()))
    assert tok.count_batch(empty, nulls="empty") == [0, 0]
    for nothing in (pa.array([], pa.string()), pa.chunked_array([], pa.string()), pa.nulls(0)):
        assert tok.encode_batch(nothing).tolist() == []
        assert pa.array(tok.encode_batch(nothing)).to_pylist() == []


@pytest.mark.parametrize("many", [1, 5_000])
def test_bytes_that_are_not_utf8_follow_the_option(many: int) -> None:
    tok = byte_level()
    raw = [b"the", b"caf\xe9!", b"\xff\xfe"] * many
    for kind in (pa.binary(), pa.large_binary(), pa.binary_view()):
        column = pa.array(raw, kind)
        with pytest.raises(FormatError, match=r"texts\[1\]: not UTF-8 at byte 3 .*errors="):
            tok.encode_batch(column)
        for errors in ("replace", "ignore"):
            texts = [text.decode(errors=errors) for text in raw]
            assert tok.encode_batch(column, errors=errors) == tok.encode_batch(texts)
            assert tok.count_batch(column, errors=errors) == tok.count_batch(texts)
    # What says of itself that it is UTF-8 need not be.
    claimed = pa.Array.from_buffers(pa.string(), len(raw), pa.array(raw).buffers())
    with pytest.raises(FormatError, match="not UTF-8"):
        tok.encode_batch(claimed)


class Exports:
    """An object whose export does as a test wants."""

    def __init__(self, export: Callable[[], object]) -> None:
        self._export = export

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self._export()


def _fails() -> object:
    raise RuntimeError("the rows are gone")


def _released() -> object:
    column = pa.chunked_array([["the"]])
    capsule = column.__arrow_c_stream__()
    jeton.CharTrainer().train("the").encode_batch(Exports(lambda: capsule))
    return capsule


def _fails_later() -> Any:
    def batches() -> Any:
        yield pa.record_batch({"text": ["the"]})
        raise RuntimeError("the disk is gone")

    return pa.RecordBatchReader.from_batches(pa.schema([("text", pa.string())]), batches())


def _offsets(*offsets: int) -> Any:
    buffers = [None, pa.py_buffer(np.array(offsets, np.int32)), pa.py_buffer(b"the weather")]
    return pa.Array.from_buffers(pa.string(), len(offsets) - 1, buffers)


BAD: dict[str, tuple[Callable[[], Any], str]] = {
    "numbers": (lambda: pa.array([1, 2]), "holds Int64, not strings"),
    "lists": (lambda: pa.array([["a"]]), "not strings"),
    "numbers in words": (lambda: pa.array([1, 2]).dictionary_encode(), "not strings"),
    "two columns": (lambda: pa.table({"a": ["x"], "b": ["y"]}), "columns a, b: pass one"),
    "no columns": (lambda: pa.table({}), "table"),
    "an export that fails": (lambda: Exports(_fails), "the rows are gone"),
    "an export of nothing": (lambda: Exports(lambda: None), "no capsule"),
    "a capsule of another name": (lambda: Exports(pa.schema([]).__arrow_c_schema__), "no capsule"),
    "a stream that was read": (lambda: Exports(_released), "released"),
    "a stream that fails": (_fails_later, "the disk is gone"),
    "offsets that go back": (lambda: _offsets(0, 9, 3), "not valid Arrow"),
    "no column": (lambda: 3, "an iterable of str or a column of Arrow, not int"),
}


@pytest.mark.parametrize("name", BAD)
def test_values_that_are_not_columns_are_refused(name: str) -> None:
    make, told = BAD[name]
    for call in (ranks().encode_batch, ranks().count_batch):
        with pytest.raises(JetonError, match=told):
            call(make())


def test_options_that_make_no_sense() -> None:
    tok: Any = ranks()
    for call in (tok.encode_batch, tok.count_batch):
        with pytest.raises(ArgumentError, match='nulls="emty": did you mean "empty"'):
            call(["the"], nulls="emty")
        with pytest.raises(ArgumentTypeError, match="nulls must be"):
            call(["the"], nulls=None)
        with pytest.raises(ArgumentError, match="errors cannot be"):
            call(["the"], errors="surrogateescape")
        with pytest.raises(ArgumentTypeError, match="errors must be"):
            call(["the"], errors=1)


def test_a_column_without_its_library_is_gone_through() -> None:
    class Column(list[str]):
        def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
            raise ImportError("pyarrow is not installed")

    column = Column(TEXTS)
    assert ranks().encode_batch(iter(column)) == ranks().encode_batch(TEXTS)
    assert ranks().encode_batch(column) == ranks().encode_batch(TEXTS)


@pytest.mark.large
@settings(max_examples=50)
@given(st.lists(st.text(max_size=20)), st.integers(0, 3), st.integers(0, 3))
def test_slices_of_columns_are_encoded(texts: list[str], before: int, after: int) -> None:
    tok = byte_level()
    padded = ["x"] * before + texts + ["y"] * after
    for kind in (pa.string(), pa.large_string(), pa.string_view()):
        column = pa.array(padded, kind).slice(before, len(texts))
        assert tok.encode_batch(column) == tok.encode_batch(texts)


# A batch as Arrow


def test_a_batch_is_a_column_of_lists() -> None:
    batch = ranks().encode_batch(TEXTS)
    lists = pa.array(batch)
    assert lists.type == pa.list_(pa.uint16())
    assert lists.to_pylist() == batch.tolist()
    lists.validate(full=True)
    assert pytest.importorskip("polars").Series(batch).to_list() == batch.tolist()


def test_ids_are_wide_where_the_tokenizer_has_many() -> None:
    wide = jeton.Tokenizer.from_ranks(
        {bytes([byte]): byte for byte in range(256)},
        pattern="gpt2",
        special_tokens={"<|end|>": 1 << 16},
    )
    # By what the tokenizer has, not by what is in a batch: all batches of a column have one type.
    assert pa.array(wide.encode_batch(["a"])).type == pa.list_(pa.uint32())
    narrow = ranks().encode_batch(TEXTS)
    for part in (narrow[1:3], narrow[::2], narrow[:0], pickle.loads(pickle.dumps(narrow))):
        assert pa.array(part).type == pa.list_(pa.uint16())
        assert pa.array(part).to_pylist() == part.tolist()
    assert pa.array(jeton.TokenBatch([1], [0, 1])).type == pa.list_(pa.uint32())


def test_a_reader_may_ask_for_another_type() -> None:
    batch = ranks().encode_batch(TEXTS)
    for item in (pa.uint16(), pa.uint32(), pa.int32(), pa.int64(), pa.uint64()):
        for kind in (pa.list_(item), pa.large_list(item)):
            lists = pa.array(batch, type=kind)
            assert lists.type == kind
            assert lists.to_pylist() == batch.tolist()
    large = jeton.TokenBatch([1 << 31], [0, 1])
    schema = pa.field("ids", pa.list_(pa.int32())).__arrow_c_schema__()
    imported = pa.Array._import_from_c_capsule(*large.__arrow_c_array__(schema))
    assert imported.type == pa.list_(pa.uint32())  # what has room for them
    with pytest.raises(ArgumentError, match="no capsule"):
        large.__arrow_c_array__(3)


def test_wide_ids_share_memory_that_stays() -> None:
    ids = np.arange(1000, dtype=np.uint32)
    batch = jeton.TokenBatch(ids, [0, 400, 1000])
    lists = pa.array(batch)
    assert lists.values.buffers()[1].address == ids.ctypes.data
    held = weakref.ref(ids)
    del batch, ids
    gc.collect()
    assert held() is not None
    assert lists.to_pylist()[1][-1] == 999
    del lists
    gc.collect()
    jeton.cache_limit()  # what other libraries let go of is let go of with the next call
    assert held() is None


def test_offsets_that_somebody_wrote_to_are_refused() -> None:
    pa = pytest.importorskip("pyarrow")
    tok = jeton.CharTrainer().train("abc")
    for wrong in (-1, 7, 1 << 40):
        for place in (0, 1, 2):
            batch = tok.encode_batch(["ab", "cab"])
            batch.offsets[place] = wrong
            with pytest.raises(ArgumentError, match="offsets must rise from 0 to the number"):
                pa.array(batch)
            with pytest.raises(ArgumentError, match="offsets must rise from 0 to the number"):
                batch.pad(pad_id=0)
    batch = tok.encode_batch(["ab", "cab"])
    batch.ids[0] = 70_000
    assert pa.array(batch).to_pylist() == [[70_000, 1], [2, 0, 1]]
