"""Batches: `TokenBatch`, and that many texts at once are encoded as each by itself."""

from __future__ import annotations

import importlib.resources
import pickle
import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import jeton
from jeton import TokenBatch
from jeton.errors import ArgumentError, ArgumentTypeError, EncodeError

ROWS = st.lists(st.lists(st.integers(0, 2**32 - 1), max_size=6), max_size=8)


@given(rows=ROWS, data=st.data())
def test_a_batch_is_a_sequence_of_rows(rows: list[list[int]], data: st.DataObject) -> None:
    batch = TokenBatch.from_rows(rows)
    assert batch.tolist() == rows == [row.tolist() for row in batch]
    assert len(batch) == len(rows)
    assert batch.lengths.tolist() == [len(row) for row in rows]
    assert batch.ids.dtype == np.uint32 and batch.offsets.dtype == np.int64
    cut = data.draw(st.slices(len(rows)))
    assert batch[cut].tolist() == rows[cut]
    for index in range(-len(rows), len(rows)):
        assert batch[index].tolist() == rows[index]
    for outside in (len(rows), -len(rows) - 1):
        with pytest.raises(IndexError):
            batch[outside]
    assert pickle.loads(pickle.dumps(batch)) == batch == TokenBatch(batch.ids, batch.offsets)
    assert batch != TokenBatch.from_rows([*rows, [1]])
    assert batch != rows


@given(rows=ROWS, multiple=st.integers(1, 4), left=st.booleans(), data=st.data())
def test_padding(rows: list[list[int]], multiple: int, left: bool, data: st.DataObject) -> None:
    length = data.draw(st.none() | st.integers(0, 8))
    padded = TokenBatch.from_rows(rows).pad(
        length,
        pad_id=7,
        side="left" if left else "right",
        multiple_of=multiple,
        truncate=True,
    )
    width = max(map(len, rows), default=0) if length is None else length
    width += -width % multiple
    assert padded.ids.shape == padded.mask.shape == (len(rows), width)
    for row, ids, mask in zip(rows, padded.ids.tolist(), padded.mask.tolist(), strict=True):
        filler = [7] * (width - len(row))
        if left:
            kept = row[max(0, len(row) - width) :]
            assert ids == filler + kept and mask == [False] * len(filler) + [True] * len(kept)
        else:
            kept = row[:width]
            assert ids == kept + filler and mask == [True] * len(kept) + [False] * len(filler)


def test_padding_refuses_to_cut_by_itself() -> None:
    batch = TokenBatch.from_rows([[1], [1, 2, 3]])
    with pytest.raises(ArgumentError, match=r"text 1 has 3 tokens.*truncate=True"):
        batch.pad(2, pad_id=0)
    wrong: list[Any] = [{"pad_id": -1}, {"side": "up"}, {"multiple_of": 0}, {"length": -1}]
    for options in wrong:
        with pytest.raises(ArgumentError):
            batch.pad(**{"pad_id": 0, "length": 3} | options)


def test_repr() -> None:
    assert repr(TokenBatch.from_rows([[1]])) == "TokenBatch(1 text, 1 token)"


@pytest.fixture(scope="module", params=["gpt2", "gpt4", "o200k", "whitespace"])
def trained(request: pytest.FixtureRequest) -> jeton.Tokenizer:
    trainer = jeton.BPETrainer(vocab_size=600, pattern=request.param, special_tokens=["<|end|>"])
    return trainer.train(jeton_samples())


def jeton_samples() -> list[str]:
    folder = importlib.resources.files("jeton") / "samples"
    return [path.read_text("utf-8") for path in folder.iterdir() if path.name.endswith(".txt")]


def texts_of_all_sizes() -> list[str]:
    """One huge text among many tiny ones, one without a place to cut, and an empty one."""
    numbers = random.Random(1)
    words = [
        *" ".join(jeton_samples()).split(" ")[:3000],
        "\n\n",
        " 12345",
        "'s",
        "héllo",
        "東京",
        "🎉",
    ]
    huge = " ".join(numbers.choices(words, k=120_000))
    tiny = [" ".join(numbers.choices(words, k=numbers.randrange(9))) for _ in range(500)]
    return [*tiny[:250], huge, "", "x" * 300_000, *tiny[250:], huge[: len(huge) // 2] + "<|end|>"]


def test_batches_lists_arrays_and_counts_agree(trained: jeton.Tokenizer) -> None:
    texts = texts_of_all_sizes()
    # Allowing special tokens rules out cutting a text in parts, so this is the plain way.
    expected = [trained.encode(text, special={"<|end|>"}) for text in texts[:-1]]
    assert trained.encode_batch(texts[:-1]).tolist() == expected
    assert [trained.encode(text) for text in texts[:-1]] == expected
    assert [trained.encode_array(text).tolist() for text in texts[:-1]] == expected
    assert trained.count_batch(texts[:-1]) == list(map(len, expected))
    assert [trained.count(text) for text in texts[:-1]] == list(map(len, expected))
    for special in ("allow", "ignore"):
        last = trained.encode_with_spans(texts[-1], special=special).ids
        assert trained.encode(texts[-1], special=special) == last
        assert trained.encode_batch([texts[-1]] * 2, special=special).tolist() == [last] * 2


@pytest.mark.parametrize("size", [0, 1, 2, 3, 1000])
def test_batches_of_any_size(trained: jeton.Tokenizer, size: int) -> None:
    texts = (texts_of_all_sizes()[:200] * 5)[:size]
    batch = trained.encode_batch(iter(texts))
    assert batch.tolist() == [trained.encode(text) for text in texts]
    assert batch.ids.dtype == np.uint32 and batch.offsets.dtype == np.int64
    assert batch == TokenBatch(batch.ids, batch.offsets)


def test_the_first_text_that_fails_is_named() -> None:
    tok = jeton.CharTrainer().train("ab")
    texts = ["ab" * 5000] * 40
    for wrong in (1, 17, 39):
        broken = [*texts[:wrong], "abc", *texts[wrong + 1 :], "c"]
        for call in (tok.encode_batch, tok.count_batch):
            with pytest.raises(EncodeError, match=rf"^texts\[{wrong}\]"):
                call(broken)
    broken_type: list[Any] = [*texts, 1]
    with pytest.raises(ArgumentTypeError, match=r"texts\[40\] must be a str, not int"):
        tok.encode_batch(broken_type)
