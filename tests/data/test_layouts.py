"""Layouts of token sets: what is written is read back, whole, and after any interruption."""

from __future__ import annotations

import json
import random
import shutil
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jeton.data import TokenDataset, layouts
from jeton.errors import (
    ArgumentError,
    ArgumentTypeError,
    FileError,
    FormatError,
    MissingFileError,
    UnsupportedError,
)
from prepared import contents, without_waiting

pytestmark = pytest.mark.usefixtures(without_waiting.__name__)

NAMES = sorted(layouts.LAYOUTS)
DTYPES = ["uint16", "uint32"]
KEEPING_ENDS = ["datatrove", "jeton", "litdata", "mds", "megatron", "olmo", "parquet"]
SHARDED = [name for name in NAMES if name != "nanogpt"]


def documents(count: int, dtype: str, seed: int = 1) -> list[list[int]]:
    """Documents of many lengths, none among them, with the greatest ids of the type."""
    draw = random.Random(seed)
    # Megatron's and Parquet's ids are signed where they have 4 bytes.
    most = 2**16 - 1 if dtype == "uint16" else 2**31 - 1
    return [
        [draw.choice([0, most, draw.randrange(most)]) for _ in range(draw.choice([0, 1, 2, 9, 40]))]
        for _ in range(count)
    ]


def append(writer: layouts.Writer, documents: list[list[int]]) -> None:
    flat = np.array([token for document in documents for token in document], np.uint32)
    writer.append(flat, np.array([len(document) for document in documents], np.int64))


def write(folder: Path, name: str, given: list[list[int]], **options: Any) -> None:
    with layouts.create(name, folder, **options) as writer:
        append(writer, given)
        writer.finish()


def read_back(folder: Path, **options: Any) -> tuple[list[int], list[int] | None]:
    """All tokens, and all ends of documents."""
    tokens: list[int] = []
    ends: list[int] | None = []
    for shard in layouts.read(folder, **options):
        if shard.ends is None or ends is None:
            ends = None
        else:
            ends += [len(tokens) + int(end) for end in shard.ends]
        tokens += shard.tokens[0 : len(shard.tokens)].tolist()
    return tokens, ends


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", NAMES)
def test_written_sets_are_read_again(tmp_path: Path, name: str, dtype: str) -> None:
    given = documents(300, dtype)
    size = None if name == "nanogpt" else 500
    write(tmp_path, name, given, dtype=dtype, shard_tokens=size)
    tokens, ends = read_back(tmp_path, dtype=dtype if name == "nanogpt" else None)
    assert tokens == [token for document in given for token in document]
    if name in KEEPING_ENDS:
        assert ends == np.cumsum([len(document) for document in given]).tolist()
    else:
        assert ends is None
    shards = layouts.read(tmp_path, dtype=dtype if name == "nanogpt" else None)
    assert {shard.tokens.dtype.name for shard in shards} == {dtype}
    assert name == "nanogpt" or len(shards) > 5


@pytest.mark.large
@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    name=st.sampled_from(SHARDED),
    lengths=st.lists(st.integers(0, 12), min_size=1, max_size=30),
    size=st.integers(1, 20),
    cuts=st.lists(st.integers(0, 30), max_size=4),
)
def test_shards_hold_whole_documents(
    tmp_path_factory: pytest.TempPathFactory,
    name: str,
    lengths: list[int],
    size: int,
    cuts: list[int],
) -> None:
    folder, other = tmp_path_factory.mktemp("a"), tmp_path_factory.mktemp("b")
    given = [[7] * length for length in lengths]
    write(folder, name, given, dtype="uint16", shard_tokens=size)
    with layouts.create(name, other, dtype="uint16", shard_tokens=size) as writer:
        places = [0, *sorted(min(cut, len(given)) for cut in cuts), len(given)]
        for start, stop in pairwise(places):
            append(writer, given[start:stop])
        shards = writer.finish()
    assert contents(folder) == contents(other)
    assert sum(shard.documents for shard in shards) == len(given)
    at = 0
    for shard, after in zip(shards, [*shards[1:], None], strict=True):
        assert sum(lengths[at : at + shard.documents]) == shard.tokens
        assert shard.tokens <= size or shard.documents == 1
        at += shard.documents
        # The next document had no room.
        assert after is None or shard.tokens + lengths[at] > size
    shutil.rmtree(folder)
    shutil.rmtree(other)


@pytest.mark.parametrize("name", NAMES)
def test_killed_and_gone_on(tmp_path: Path, name: str) -> None:
    given = documents(120, "uint16")
    size = None if name == "nanogpt" else 200
    options: dict[str, Any] = {"dtype": "uint16", "shard_tokens": size, "tokenizer": "toy"}
    write(tmp_path / "whole", name, given, **options)
    expected = contents(tmp_path / "whole")
    draw = random.Random(name)
    for attempt in range(6):
        folder = tmp_path / str(attempt)
        writer = layouts.create(name, folder, **options)
        saved = json.dumps(writer.checkpoint())
        last = False
        while not last:
            at = writer.documents
            append(writer, given[at : at + draw.randrange(1, 30)])
            last = writer.documents == len(given)
            if draw.random() < 0.5 or last:
                saved = json.dumps(writer.checkpoint(last=last))
            if draw.random() < 0.5:
                writer.close()
                writer = layouts.create(name, folder, **options, state=json.loads(saved))
                last = False
            names = {path.name for path in folder.rglob("*") if path.is_file()}
            assert {name for name in names if not name.startswith(".")} <= {
                Path(file).name for file in expected
            }
            last = last or json.loads(saved)["last"]
        if draw.random() < 0.5:
            writer = layouts.create(name, folder, **options, state=json.loads(saved))
        writer.finish()
        assert contents(folder) == expected


def test_a_state_knows_what_it_was_of(tmp_path: Path) -> None:
    with layouts.create("jeton", tmp_path, dtype="uint16") as writer:
        append(writer, [[1, 2], [3]])
        state = writer.checkpoint()
    with pytest.raises(ArgumentError, match="dtype='uint16', not 'uint32'"):
        layouts.create("jeton", tmp_path, dtype="uint32", state=state)
    (tmp_path / ".train-00000.bin.part").unlink()
    with pytest.raises(MissingFileError, match="is missing or truncated since the state was saved"):
        layouts.create("jeton", tmp_path, dtype="uint16", state=state)


def test_a_state_older_than_the_files(tmp_path: Path) -> None:
    with layouts.create("jeton", tmp_path, dtype="uint16") as writer:
        state = writer.checkpoint()
        append(writer, [[1, 2], [3]])
        writer.finish()
    with pytest.raises(FileError, match="newer than the saved state"):
        layouts.create("jeton", tmp_path, dtype="uint16", state=state)


def test_nothing_is_written_over(tmp_path: Path) -> None:
    write(tmp_path, "nanogpt", [[1]], dtype="uint16")
    with pytest.raises(FileError, match="exists already, from another run"):
        layouts.create("nanogpt", tmp_path, dtype="uint16")
    write(tmp_path, "nanogpt", [[2]], dtype="uint16", split="val")
    assert layouts.splits(tmp_path) == ["train", "val"]


@pytest.mark.parametrize("layout", ["mds", "litdata"])
def test_an_index_of_others_is_not_written_over(tmp_path: Path, layout: str) -> None:
    (tmp_path / "train").mkdir()
    (tmp_path / "train/index.json").write_text("of somebody")
    with pytest.raises(FileError, match=r"index\.json: exists already, from another run"):
        write(tmp_path, layout, [[1]], dtype="uint16")
    assert (tmp_path / "train/index.json").read_text() == "of somebody"


def test_no_documents_are_no_files(tmp_path: Path) -> None:
    for name in NAMES:
        write(tmp_path, name, [], dtype="uint16")
    assert contents(tmp_path) == {}


CALLS: list[tuple[str, dict[str, Any], type[Exception], str]] = [
    ("layout", {"layout": "nanogtp"}, ArgumentError, "did you mean 'nanogpt'"),
    ("type of layout", {"layout": 3}, ArgumentTypeError, "layout must be a str"),
    ("dtype", {"dtype": "int64"}, ArgumentError, "uint16"),
    ("type of dtype", {"dtype": np.uint16}, ArgumentTypeError, "dtype must be one of"),
    ("split", {"split": "../x"}, ArgumentError, "split cannot be"),
    ("split with a number", {"split": "train_1"}, ArgumentError, "number"),
    ("shard of one file", {"layout": "nanogpt", "shard_tokens": 5}, ArgumentError, "one file"),
    ("empty shards", {"shard_tokens": 0}, ArgumentError, "at least 1"),
    ("large shards", {"layout": "llm.c", "shard_tokens": 2**31}, ArgumentError, "holds at most"),
    ("folder", {"folder": 3}, ArgumentTypeError, "folder must be a path"),
]


@pytest.mark.parametrize("what, options, error, told", CALLS, ids=[call[0] for call in CALLS])
def test_arguments(
    tmp_path: Path, what: str, options: dict[str, Any], error: type[Exception], told: str
) -> None:
    with pytest.raises(error, match=told):
        layouts.create(**{"layout": "jeton", "folder": tmp_path, "dtype": "uint16", **options})


APPENDED: list[tuple[str, Any, Any, type[Exception], str]] = [
    ("lengths", [1, 2], [3], ArgumentError, "add up to 3, but there are 2 tokens"),
    ("negative", [1], [2, -1], ArgumentError, "must not be negative"),
    ("large", [65_536], [1], ArgumentError, "token 65536 does not fit uint16"),
    ("below zero", [-1], [1], ArgumentError, "token -1 does not fit"),
    ("floats", [1.5], [1], ArgumentTypeError, "tokens must be an array of ints"),
    ("two axes", [[1]], [1], ArgumentTypeError, "one axis"),
    ("text", "abc", [1], ArgumentTypeError, "tokens must be"),
]


@pytest.mark.parametrize("what, tokens, lengths, error, told", APPENDED, ids=lambda it: str(it)[:9])
def test_blocks_that_do_not_fit_are_refused(
    tmp_path: Path, what: str, tokens: Any, lengths: Any, error: type[Exception], told: str
) -> None:
    with layouts.create("jeton", tmp_path, dtype="uint16") as writer:
        append(writer, [[1, 2]])
        with pytest.raises(error, match=told):
            writer.append(tokens, lengths)
        append(writer, [[3]])
        writer.finish()
    assert read_back(tmp_path) == ([1, 2, 3], [2, 3])
    with pytest.raises(ArgumentError, match="has ended"):
        append(writer, [[1]])


@pytest.mark.parametrize("name", NAMES)
def test_files_that_are_cut_short(tmp_path: Path, name: str) -> None:
    write(tmp_path, name, documents(50, "uint16"), dtype="uint16", tokenizer="toy")
    for file, whole in contents(tmp_path).items():
        if file.endswith((".metadata", "index.json")):
            continue
        for cut in (1, 2, 5, 8, len(whole) // 2, len(whole) - 1, len(whole)):
            (tmp_path / file).write_bytes(whole[:-cut])
            if name == "nanogpt" and cut % 2 == 0:
                continue  # Nothing in it tells how long it was.
            with pytest.raises((FormatError, MissingFileError)):
                read_back(tmp_path, layout=name, dtype="uint16" if name == "nanogpt" else None)
        (tmp_path / file).write_bytes(whole)
    assert read_back(tmp_path, layout=name, dtype="uint16")[0]


@pytest.mark.parametrize("name", KEEPING_ENDS)
def test_files_that_were_changed(tmp_path: Path, name: str) -> None:
    """Whatever a byte becomes: the same tokens of documents, others, or a clear error."""
    write(tmp_path, name, documents(20, "uint16"), dtype="uint16")
    draw = random.Random(name)
    for file, whole in contents(tmp_path).items():
        for _ in range(60):
            broken = bytearray(whole)
            broken[draw.randrange(len(broken))] = draw.randrange(256)
            (tmp_path / file).write_bytes(broken)
            try:
                tokens, ends = read_back(tmp_path, layout=name)
                assert ends is not None and ends[-1] == len(tokens)
            except (FormatError, MissingFileError, UnsupportedError):
                pass
        (tmp_path / file).write_bytes(whole)


def test_a_flat_file_has_no_type(tmp_path: Path) -> None:
    np.arange(10, dtype=np.uint16).tofile(tmp_path / "some.bin")
    with pytest.raises(ArgumentError, match='pass dtype="uint16"'):
        layouts.read(tmp_path / "some.bin")
    [shard] = layouts.read(tmp_path / "some.bin", dtype="uint16")
    assert shard.tokens[2:4].tolist() == [2, 3]
    assert isinstance(shard.tokens, np.memmap)


@pytest.mark.parametrize("name", NAMES)
def test_a_layout_is_detected_by_its_files(tmp_path: Path, name: str) -> None:
    size, dtype = (None, "uint16") if name == "nanogpt" else (4, None)
    for split in ("train", "val"):
        with layouts.create(name, tmp_path, split=split, dtype="uint16", shard_tokens=size) as it:
            it.append(np.arange(1, 10), np.array([4, 4, 1]))
            shards = it.finish()
    assert layouts.splits(tmp_path) == ["train", "val"]
    found = [shard.path for shard in layouts.read(tmp_path, split="val", dtype=dtype)]
    assert found == [tmp_path / shard.files[0] for shard in shards]
    with pytest.raises(MissingFileError, match="there is no split 'test'; it has train, val"):
        layouts.read(tmp_path, split="test")
    # A file by itself, or one that lies beside it.
    for file in shards[0].files:
        assert [it.path for it in layouts.read(tmp_path / file, dtype=dtype)] == found[:1]
    with pytest.raises(ArgumentError, match="is a file; name its folder"):
        layouts.splits(found[0])


def test_missing_files_are_errors(tmp_path: Path) -> None:
    with pytest.raises(MissingFileError, match="no such file or folder"):
        layouts.read(tmp_path / "nothing")
    with pytest.raises(MissingFileError, match="no tokens of a known layout"):
        layouts.read(tmp_path)
    write(tmp_path, "jeton", [[1]], dtype="uint16")
    with pytest.raises(MissingFileError, match="no split 'val'; it has train"):
        layouts.read(tmp_path, split="val")
    write(tmp_path, "nanogpt", [[1]], dtype="uint16")
    with pytest.raises(ArgumentError, match="layouts jeton and nanogpt"):
        layouts.read(tmp_path)
    assert layouts.read(tmp_path, layout="jeton")[0].tokens[0:1].tolist() == [1]


def test_no_permission(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(FileError, match="cannot be written"):
        layouts.create("jeton", tmp_path / "file" / "folder", dtype="uint16")


def test_types_by_vocabulary() -> None:
    assert layouts.dtype_for(65_535) == "uint16"
    assert layouts.dtype_for(65_536) == "uint32"
    with pytest.raises(ArgumentError, match="no layout has room"):
        layouts.dtype_for(2**31)


def test_a_folder_that_spark_wrote(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    job = "864874e8-0c94-41e5-a050-a0fad9c67a2d-c000"
    for number, rows in enumerate([[[1, 2], []], [], [[3]]]):
        ids = pa.array(rows, pa.list_(pa.field("element", pa.int32())))
        table = pa.table({"text": ["x"] * len(rows), "input_ids": ids})
        parquet.write_table(table, tmp_path / f"part-0000{number}-{job}.snappy.parquet")
    (tmp_path / "_SUCCESS").touch()
    assert layouts.splits(tmp_path) == ["part"]
    tokens = TokenDataset(tmp_path)
    assert [ids.tolist() for ids in tokens.documents] == [[1, 2], [], [3]]
