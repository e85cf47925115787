"""`TokenBatch`: many texts in two arrays."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jeton import TokenBatch
from jeton.errors import ArgumentError

ROWS = st.lists(st.lists(st.integers(0, 2**32 - 1), max_size=6), max_size=8)


@given(rows=ROWS, data=st.data())
def test_it_is_a_sequence_of_rows(rows: list[list[int]], data: st.DataObject) -> None:
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
        batch.pad(2)
    wrong: list[Any] = [{"pad_id": -1}, {"side": "up"}, {"multiple_of": 0}, {"length": -1}]
    for options in wrong:
        with pytest.raises(ArgumentError):
            batch.pad(**options)


def test_repr() -> None:
    assert repr(TokenBatch.from_rows([[1]])) == "TokenBatch(1 text, 1 token)"
