"""Layouts of token sets as those read them for whom they are made: the rules of `peer_readers`."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import peer_readers
from jeton.data import layouts
from test_layouts import documents, write


def flat(given: list[list[int]]) -> list[int]:
    return [token for document in given for token in document]


def test_nanogpt(tmp_path: Path) -> None:
    given = documents(50, "uint16")
    write(tmp_path, "nanogpt", given, dtype="uint16")
    assert peer_readers.nanogpt(tmp_path, "train", "uint16") == flat(given)


@pytest.mark.parametrize("dtype, magic", [("uint16", 20240520), ("uint32", 20240801)])
def test_llmc(tmp_path: Path, dtype: str, magic: int) -> None:
    given = documents(80, dtype)
    write(tmp_path, "llm.c", given, dtype=dtype, shard_tokens=300)
    files = sorted(tmp_path.glob("train_*.bin"))
    assert len(files) > 1
    assert all(np.fromfile(file, np.int32, 1)[0] == magic for file in files)
    assert [token for file in files for token in peer_readers.llmc(file)] == flat(given)


@pytest.mark.parametrize("dtype", ["uint16", "uint32"])
def test_megatron(tmp_path: Path, dtype: str) -> None:
    given = documents(80, dtype)
    write(tmp_path, "megatron", given, dtype=dtype)
    assert peer_readers.megatron(tmp_path / "train") == given


def test_megatron_as_others_write_it(tmp_path: Path) -> None:
    """A document may have several sequences, and modes may follow."""
    index = b"MMIDIDX\0\0" + (1).to_bytes(8, "little") + b"\x04"
    index += (3).to_bytes(8, "little") + (3).to_bytes(8, "little")
    index += np.array([2, 1, 2], np.int32).tobytes() + np.array([0, 8, 12], np.int64).tobytes()
    index += np.array([0, 2, 3], np.int64).tobytes() + np.zeros(3, np.int8).tobytes()
    (tmp_path / "a_document.idx").write_bytes(index)
    np.array([1, 2, 3, 4, 70_000], np.int32).tofile(tmp_path / "a_document.bin")
    [shard] = layouts.read(tmp_path / "a_document.idx")
    assert shard.ends is not None and shard.ends.tolist() == [3, 5]
    assert shard.tokens[0:5].tolist() == [1, 2, 3, 4, 70_000]


@pytest.mark.parametrize("dtype", ["uint16", "uint32"])
def test_datatrove(tmp_path: Path, dtype: str) -> None:
    dataset = pytest.importorskip("datatrove.utils.dataset")
    given = [document for document in documents(80, dtype) if document]
    write(tmp_path, "datatrove", given, dtype=dtype, shard_tokens=300, tokenizer="toy")
    size = np.dtype(dtype).itemsize
    files = sorted((tmp_path / "train").glob("*.ds"))
    assert len(files) > 1
    at = 0
    for file in files:
        windows = dataset.DatatroveFileDataset(
            str(file), seq_len=6, token_size=size, return_positions=True
        )
        ends = np.fromfile(f"{file}.index", np.uint64)
        mine, at = given[at : at + len(ends)], at + len(ends)
        places = [place for document in mine for place in range(len(document))]
        for number in range(len(windows)):
            window = windows[number]
            start = number * 7
            assert window["input_ids"].tolist() == flat(mine)[start : start + 7]
            # It begins each window with position 0.
            expected = places[start : start + 7]
            zero = expected.index(0) if 0 in expected else 7
            assert window["positions"].tolist() == [*range(zero), *expected[zero:]]
        head, tokens, _ = Path(f"{file}.metadata").read_text().split("\n")
        assert (head, int(tokens)) == (f"toy|{size}", len(flat(mine)))
    assert at == len(given)
    folder = dataset.DatatroveFolderDataset(str(tmp_path / "train"), 6, "*.ds", token_size=size)
    assert len(folder) == sum((f.stat().st_size // size) // 7 for f in files)


def test_parquet(tmp_path: Path) -> None:
    given = documents(80, "uint32")
    write(tmp_path, "parquet", given, dtype="uint32", shard_tokens=300)
    files = sorted(tmp_path.glob("*.parquet"))
    assert len(files) > 1
    assert peer_readers.parquet(files, tmp_path / "cache") == given


def test_parquet_as_others_write_it(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    rows = [[1, 2, 3], [], [70_000], [5, 6]]
    table = pyarrow.table({"input_ids": rows, "length": [len(row) for row in rows]})
    parquet.write_table(table, tmp_path / "train.parquet", row_group_size=2)
    [shard] = layouts.read(tmp_path)
    assert shard.tokens[2:5].tolist() == [3, 70_000, 5]
    assert shard.ends is not None and shard.ends.tolist() == [3, 3, 4, 6]
