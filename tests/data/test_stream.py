"""Texts that are encoded while a model trains: the tokens of a prepared set, and an exact state."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import jeton
from jeton.data import TokenDataset, TokenStream, prepare, stream, streaming
from jeton.errors import ArgumentError, ArgumentTypeError, FormatError

TOK = jeton.BPETrainer(300, special_tokens=["<|endoftext|>", "<|bos|>"]).train(["to be or not to"])


def texts(count: int = 60) -> list[str]:
    numbers = random.Random(3)
    words = ["to", "be", "or", "not", "", "ünder", "你好", "\n"]
    return [" ".join(numbers.choices(words, k=numbers.randrange(30))) for _ in range(count)]


TEXTS = texts()


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streaming, "_CHARACTERS", 200)


def files(folder: Path) -> list[Path]:
    """Records, lines and a table, plain and compressed."""
    parquet = pytest.importorskip("pyarrow.parquet")
    import pyarrow

    (folder / "a.jsonl").write_text("".join(json.dumps({"text": it}) + "\n" for it in TEXTS[:20]))
    lines = "".join(json.dumps({"text": it}) + "\n" for it in TEXTS[20:40])
    (folder / "b.jsonl.gz").write_bytes(gzip.compress(lines.encode()))
    parquet.write_table(pyarrow.table({"text": TEXTS[40:]}), folder / "c.parquet")
    return sorted(folder.iterdir())


def table(folder: Path) -> Any:
    return pytest.importorskip("pyarrow").table({"text": TEXTS, "n": range(len(TEXTS))})


def dataset(folder: Path) -> Any:
    return pytest.importorskip("datasets").Dataset.from_dict({"text": TEXTS})


KINDS: dict[str, Callable[[Path], Any]] = {
    "texts": lambda _: TEXTS,
    "records": lambda _: [{"text": it} for it in TEXTS],
    "an iterator": lambda _: iter(TEXTS),
    "files": files,
    "a table": table,
    "a data set": dataset,
}


def of_set(folder: Path, **options: Any) -> Any:
    prepare(TEXTS, TOK, folder, **options)
    return TokenDataset(folder)[:].astype(np.int64)


def taken(batches: Any) -> list[int]:
    return [id for x, _ in batches for id in x.ravel().tolist()]


@pytest.mark.large
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("frame", ["end", "begin", "none"])
def test_the_tokens_are_those_of_prepare(kind: str, frame: str, tmp_path: Path) -> None:
    frames: dict[str, dict[str, Any]] = {
        "end": {"end_of_text": "<|endoftext|>"},
        "begin": {"end_of_text": "<|bos|>", "end_of_text_place": "before"},
        "none": {"end_of_text": None},
    }
    options = frames[frame]
    expected = of_set(tmp_path / "set", **options)
    (tmp_path / "in").mkdir()
    batches = list(stream(KINDS[kind](tmp_path / "in"), TOK, 3, 7, **options))
    x, y = (np.concatenate([batch[at] for batch in batches]).ravel() for at in (0, 1))
    count = (len(expected) - 1) // 7 * 7
    assert x.tolist() == expected[:count].tolist()
    assert y.tolist() == expected[1 : count + 1].tolist()
    assert all(batch.x.shape == (3, 7) for batch in batches[:-1])
    assert all(batch.x.dtype == np.int64 for batch in batches)


@pytest.mark.large
@pytest.mark.parametrize("kind", KINDS)
def test_every_state_resumes(kind: str, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    make = KINDS[kind]
    data = make(tmp_path / "in")
    epochs = 1 if kind == "an iterator" else 2
    first = stream(data, TOK, 2, 5, end_of_text="<|endoftext|>", epochs=epochs)
    states, batches = [first.state_dict()], []
    for batch in first:
        batches.append(batch.x.tolist())
        states.append(first.state_dict())
    # At the end, the tokens that do not fill a window are taken too.
    states.append(first.state_dict())
    assert first.epoch == epochs and not list(first)
    chosen = range(0, len(states), max(1, len(states) // 12))
    for at in (*chosen, len(states) - 1):
        if kind == "an iterator":
            data = make(tmp_path / "in")
        again = stream(data, TOK, 2, 5, end_of_text="<|endoftext|>", epochs=epochs)
        again.load_state_dict(json.loads(json.dumps(states[at])))
        assert again.tokens == states[at]["token"] + states[at]["taken"]
        assert [batch.x.tolist() for batch in again] == batches[at:]


def test_three_ranks_go_on_as_two(tmp_path: Path) -> None:
    expected = of_set(tmp_path / "set", end_of_text="<|endoftext|>")

    def ranks(count: int) -> list[TokenStream]:
        options: dict[str, Any] = {"end_of_text": "<|endoftext|>", "world_size": count}
        return [stream(TEXTS, TOK, 2, 5, rank=rank, **options) for rank in range(count)]

    three = ranks(3)
    iterators = [iter(it) for it in three]
    windows = [next(it).x for _ in range(4) for it in iterators]
    state = three[0].state_dict()
    assert all(it.state_dict() == state for it in three)
    two = ranks(2)
    for it in two:
        it.load_state_dict(state)
    steps = [list(it) for it in two]
    for step in range(max(map(len, steps))):
        windows += [some[step].x for some in steps if step < len(some)]
    tokens = np.concatenate(windows).ravel()
    assert tokens.tolist() == expected[: (len(expected) - 1) // 5 * 5].tolist()


def test_epochs_follow_without_a_gap(tmp_path: Path) -> None:
    expected = of_set(tmp_path / "set", end_of_text="<|endoftext|>").tolist() * 3
    options: dict[str, Any] = {"end_of_text": "<|endoftext|>"}
    tokens = taken(stream(TEXTS, TOK, 1, 4, epochs=3, **options))
    assert tokens == expected[: (len(expected) - 1) // 4 * 4]
    endless = iter(stream(TEXTS, TOK, 1, 4, epochs=None, **options))
    some = [id for _ in range(300) for id in next(endless).x.ravel().tolist()]
    assert some[: len(expected)] == (expected * 9)[: min(len(some), len(expected))]


def test_the_last_windows_are_left_out_on_request() -> None:
    whole = list(stream(TEXTS, TOK, 4, 5, end_of_text=None))
    full = list(stream(TEXTS, TOK, 4, 5, end_of_text=None, drop_last=True))
    assert len(whole[-1].x) < 4 and len(full) == len(whole) - 1
    assert taken(full) == taken(whole[:-1])


def test_an_iteration_goes_on_where_the_last_one_stopped() -> None:
    batches = stream(TEXTS, TOK, 1, 5, end_of_text=None)
    rows = []
    while batches.epoch == 0:
        for at, batch in enumerate(batches):
            rows.append(batch.x.tolist())
            if at == 2:
                break
    assert rows == [batch.x.tolist() for batch in stream(TEXTS, TOK, 1, 5, end_of_text=None)]


def test_records_that_are_left_out_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    data = ["to be", 5, "or not"]
    with pytest.raises(ArgumentTypeError, match="document 1 must be a str"):
        list(stream(data, TOK, 1, 2, end_of_text=None))
    tokens = taken(stream(data, TOK, 1, 2, end_of_text=None, bad_records="drop"))
    assert TOK.decode(tokens) in "to beor not"
    assert "left out document 1: document 1 must be a str" in caplog.text


def test_a_slow_iterable_is_not_read_far_ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    read = []

    def slow() -> Any:
        for at in range(1_000):
            read.append(at)
            yield "to be or not to be "

    next(iter(stream(slow(), TOK, 1, 8, end_of_text=None)))
    assert len(read) < 100


BAD: dict[str, tuple[dict[str, Any], type[Exception], str]] = {
    "rank": ({"rank": 2, "world_size": 2}, ArgumentError, "rank is 2, but ranks run from 0"),
    "batch": ({"batch_size": 0}, ArgumentError, "batch_size"),
    "block": ({"block_size": 2.5}, ArgumentTypeError, "block_size"),
    "epochs": ({"epochs": 0}, ArgumentError, "epochs"),
    "epochs of an iterator": ({"data": iter(TEXTS), "epochs": 2}, ArgumentError, "read once"),
    "device": ({"device": "nowhere"}, Exception, "device"),
    "tokenizer": ({"tokenizer": 5}, ArgumentTypeError, "tokenizer must be a Tokenizer"),
    "data": ({"data": 5}, ArgumentTypeError, "data must be a path, paths, or an iterable"),
    "end": ({"end_of_text": "<|no|>"}, ArgumentError, r"<\|no\|>"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_arguments(name: str) -> None:
    options, error, match = BAD[name]
    arguments = {"data": TEXTS, "tokenizer": TOK, "batch_size": 1, "block_size": 4, **options}
    with pytest.raises(error, match=match):
        stream(**arguments)


def test_bad_states(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("to be\n" * 90)
    options: dict[str, Any] = {"end_of_text": None, "documents": "line"}
    batches = stream(path, TOK, 1, 4, **options)
    for _ in batches:
        pass
    state = batches.state_dict()
    other = jeton.BPETrainer(301).train(["to be or not to"])
    with pytest.raises(ArgumentError, match="saved with tokenizer="):
        stream(path, other, 1, 4, **options).load_state_dict(state)
    with pytest.raises(ArgumentError, match="saved with block_size=4, but here it is 5"):
        stream(path, TOK, 1, 5, **options).load_state_dict(state)
    for damaged in ({**state, "position": [1]}, {**state, "taken": -1}, {**state, "epoch": None}):
        with pytest.raises((ArgumentError, ArgumentTypeError)):
            batches.load_state_dict(damaged)
    with pytest.raises(ArgumentError, match="has no 'tokenizer'"):
        batches.load_state_dict({})
    with pytest.raises(ArgumentTypeError, match="must be a dict"):
        batches.load_state_dict(5)  # type: ignore[arg-type]
    path.write_text("or not\n" * 90)
    with pytest.raises(ArgumentError, match="files that were read before the state"):
        stream(path, TOK, 1, 4, **options).load_state_dict(state)
    half = stream(iter(TEXTS), TOK, 1, 4, end_of_text=None)
    for _ in half:
        pass
    short = stream(TEXTS[:5], TOK, 1, 4, end_of_text=None)
    short.load_state_dict({**half.state_dict(), "epoch": 0, "position": [[50], 50, 9, 0, 0, []]})
    with pytest.raises(FormatError, match="gave 50 documents in the first run"):
        list(short)


def test_data_that_is_empty_or_was_read() -> None:
    with pytest.raises(ArgumentError, match="data has no documents"):
        list(stream(["", ""], TOK, 1, 4, end_of_text=None))
    once = stream(iter(TEXTS), TOK, 1, 4, end_of_text=None)
    next(iter(once))
    with pytest.raises(ArgumentError, match="an iterator, which was read already"):
        next(iter(once))


@pytest.mark.large
def test_tensors() -> None:
    torch = pytest.importorskip("torch")
    batches = list(stream(TEXTS, TOK, 2, 4, end_of_text=None, device="cpu"))
    assert all(it.x.dtype == it.y.dtype == torch.int64 for it in batches)
    assert taken(batches) == taken(stream(TEXTS, TOK, 2, 4, end_of_text=None))
