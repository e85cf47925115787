"""Token sets as those read them for whom they are made: the documents, or the flat tokens.

nanoGPT's, llm.c's, Megatron's and OLMo-core's rules stand here in their own words; datatrove and
datasets read by themselves.
"""

from __future__ import annotations

import gzip
import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

LLMC = {20240520: (1, "uint16"), 20240801: (7, "uint32")}
"""llm.c's magic numbers: the version of each, and the type of its tokens."""


def nanogpt(folder: Path, split: str, dtype: str) -> list[int]:
    """The tokens of a split: nanoGPT's train.py maps the file and knows no more of it."""
    data = np.memmap(folder / f"{split}.bin", dtype=dtype, mode="r")
    found: list[int] = data.tolist()
    return found


def llmc(path: Path) -> list[int]:
    """The tokens of a shard: 256 numbers of 4 bytes say what it is and how many follow."""
    header = np.fromfile(path, np.int32, 256)
    version, dtype = LLMC[int(header[0])]
    assert header[1] == version and not header[3:].any()
    assert path.stat().st_size == 1024 + int(header[2]) * np.dtype(dtype).itemsize
    assert header[2] > 0
    found: list[int] = np.fromfile(path, dtype, offset=1024).tolist()
    return found


def megatron(prefix: Path) -> list[list[int]]:
    """The documents of a shard, as Megatron's indexed dataset reads them."""
    index = Path(f"{prefix}.idx").read_bytes()
    assert index[:9] == b"MMIDIDX\x00\x00"
    assert int.from_bytes(index[9:17], "little") == 1
    kind: Any = {4: np.int32, 8: np.uint16}[index[17]]
    sequences = int.from_bytes(index[18:26], "little")
    entries = int.from_bytes(index[26:34], "little")
    lengths = np.frombuffer(index, np.int32, sequences, 34)
    pointers = np.frombuffer(index, np.int64, sequences, 34 + lengths.nbytes)
    first = np.frombuffer(index, np.int64, entries, 34 + lengths.nbytes + pointers.nbytes)
    assert len(index) == 34 + lengths.nbytes + pointers.nbytes + first.nbytes
    assert first.tolist() == list(range(sequences + 1))
    buffer = Path(f"{prefix}.bin").read_bytes()
    return [
        np.frombuffer(buffer, kind, length, pointer).tolist()
        for length, pointer in zip(lengths, pointers, strict=True)
    ]


def datatrove(path: Path, size: int) -> list[list[int]]:
    """The documents of a shard: the tokens as datatrove gives them in one window."""
    dataset = pytest.importorskip("datatrove.utils.dataset")
    total = path.stat().st_size // size
    window = dataset.DatatroveFileDataset(str(path), seq_len=total - 1, token_size=size)[0]
    ends: npt.NDArray[np.uint64] = np.fromfile(f"{path}.index", np.uint64)
    tokens = window["input_ids"].tolist()
    starts = [0, *ends.tolist()]
    return [tokens[start:end] for start, end in pairwise(starts)]


def parquet(paths: list[Path], cache: Path) -> list[list[int]]:
    """The rows of a split, as datasets reads them."""
    datasets = pytest.importorskip("datasets")
    read = datasets.Dataset.from_parquet(list(map(str, paths)), cache_dir=str(cache))
    found: list[list[int]] = read["input_ids"][:]
    return found


def olmo(path: Path, dtype: str) -> list[list[int]]:
    """The documents of a shard: OLMo-core maps the file, and takes the first two cells of lines."""
    data = np.memmap(path, dtype=dtype, mode="r")
    with gzip.open(path.with_name(path.name.removesuffix(".npy") + ".csv.gz"), "rt") as lines:
        bounds = [tuple(map(int, line.split(",")[:2])) for line in lines]
    return [data[start:end].tolist() for start, end in bounds]


def mds(folder: Path) -> list[list[int]]:
    """The samples of a split, a seek for each as streaming does it, by the entries of its index."""
    found = []
    for shard in json.loads((folder / "index.json").read_text())["shards"]:
        data = (folder / shard["raw_data"]["basename"]).read_bytes()
        assert len(data) == shard["raw_data"]["bytes"] and shard["column_names"] == ["tokens"]
        dtype = shard["column_encodings"][0].removeprefix("ndarray:")
        for number in range(shard["samples"]):
            begin, end = np.frombuffer(data, "<u4", 2, 4 + 4 * number).tolist()
            assert int.from_bytes(data[begin : begin + 4], "little") == end - begin - 4
            axes, width = data[begin + 4] >> 2, 1 << (data[begin + 4] & 3)
            start = begin + 5 + width
            assert axes == 1
            length = int.from_bytes(data[begin + 5 : start], "little")
            found.append(np.frombuffer(data[start:end], dtype, length).tolist())
    return found
