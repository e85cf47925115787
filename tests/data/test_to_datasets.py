"""Results as data sets of Hugging Face, and such data sets as corpora."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import jeton
from jeton import analysis, data
from jeton.errors import UnsupportedError
from test_token_dataset import ascending

pytestmark = pytest.mark.large
datasets = pytest.importorskip("datasets")

TOK = jeton.BPETrainer(262).train(["to be or not to be"])
TEXTS = [f"to be or not to be {number}" for number in range(400)]


def test_batches() -> None:
    batch = TOK.encode_batch(TEXTS)
    found = batch.to_datasets()
    assert isinstance(found, datasets.Dataset) and found.column_names == ["input_ids"]
    assert found["input_ids"][:] == batch.tolist()
    assert len(TOK.encode_batch([]).to_datasets()) == 0


def test_windows_rows_and_mixtures(tmp_path: Path) -> None:
    tokens = ascending(tmp_path / "set", 101)
    documents = [list(range(at, at + at % 7 + 2)) for at in range(30)]
    examples: list[Any] = [
        tokens.windows(8),
        data.pack(documents, 16, "bins", shift_labels=False),
        data.mix({str(tmp_path / "set"): 1}, tokens=100).windows(8),
    ]
    for some in examples:
        records, found = some.as_transformers(), some.to_datasets()
        assert len(found) == len(records) and set(found.column_names) == set(records[0])
        for at in range(len(records)):
            expected = {name: np.asarray(it).tolist() for name, it in records[at].items()}
            assert found[at] == expected
    # The data set is one of transformers' and of torch's.
    assert found.with_format("torch")[0]["input_ids"].shape == (8,)


def test_without_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(UnsupportedError, match="to_datasets needs datasets"):
        TOK.encode_batch(TEXTS).to_datasets()


def test_comparisons_and_sweeps_of_rows() -> None:
    found = datasets.Dataset.from_dict({"text": TEXTS, "n": range(len(TEXTS))})
    corpora: list[Any] = [TEXTS, found, found.to_iterable_dataset(), [{"text": it} for it in TEXTS]]
    tables = [analysis.compare({"a": TOK}, it)["a"] for it in corpora]
    assert all(it == tables[0] for it in tables)
    swept = [analysis.sweep(it, sizes=[270], families=["bpe"], held_out=0.2) for it in corpora]
    assert all(it == swept[0] for it in swept)
