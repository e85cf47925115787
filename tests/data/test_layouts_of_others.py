"""Token sets as other programs name and type them, opened by `TokenDataset`."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from jeton.data import TokenDataset, layouts
from jeton.errors import ArgumentError, FormatError, MissingFileError, UnsupportedError

ROWS = [[5, 7, 9], [1], [], [300, 2, 2]]
FLAT = [token for row in ROWS for token in row]


def _llmc(path: Path, tokens: list[int]) -> None:
    header = struct.pack("<3i", 20240520, 1, len(tokens)).ljust(1024, b"\0")
    path.write_bytes(header + np.array(tokens, "<u2").tobytes())


def _save_shards(folder: Path) -> None:
    shards = {"train_000001": FLAT[:2], "train_000002": FLAT[2:], "val_000000": [9]}
    for name, ids in shards.items():
        np.save(folder / f"edufineweb_{name}.npy", np.array(ids, np.uint16))


def _datatrove(path: Path, rows: list[list[int]]) -> None:
    path.write_bytes(np.array([token for row in rows for token in row], "<u2").tobytes())
    path.with_name(path.name + ".index").write_bytes(
        np.cumsum(list(map(len, rows))).astype("<i8").tobytes()
    )
    path.with_name(path.name + ".metadata").write_text("gpt2|2\n7\n7 T")


def _megatron(prefix: Path, rows: list[list[int]], kind: str, code: int) -> None:
    numbers = np.array([token for row in rows for token in row], kind)
    prefix.with_name(prefix.name + ".bin").write_bytes(numbers.tobytes())
    lengths = np.array(list(map(len, rows)), "<i4")
    starts = (np.cumsum(lengths) - lengths).astype("<i8") * numbers.itemsize
    head = struct.pack("<9sQBQQ", b"MMIDIDX\0\0", 1, code, len(rows), len(rows) + 1)
    tables = lengths.tobytes() + starts.tobytes() + np.arange(len(rows) + 1, dtype="<i8").tobytes()
    prefix.with_name(prefix.name + ".idx").write_bytes(head + tables)


def _parquet(path: Path, columns: dict[str, Any]) -> None:
    pa = pytest.importorskip("pyarrow")
    pytest.importorskip("pyarrow.parquet").write_table(pa.table(columns), path)


def _saved(path: Path, **splits: Any) -> None:
    datasets = pytest.importorskip("datasets")
    made = {name: datasets.Dataset.from_dict(columns) for name, columns in splits.items()}
    whole = made["only"] if list(made) == ["only"] else datasets.DatasetDict(made)
    whole.save_to_disk(path, **({"num_shards": 2} if list(made) == ["only"] else {}))


def _folder_of_llmc(at: Path) -> None:
    _llmc(at / "tinyshakespeare_train.bin", FLAT)
    _llmc(at / "tinyshakespeare_val.bin", [9])


def _folder_of_modded_nanogpt(at: Path) -> None:
    _llmc(at / "fineweb_val_000000.bin", [9])
    _llmc(at / "fineweb_train_000001.bin", FLAT[:3])
    _llmc(at / "fineweb_train_000002.bin", FLAT[3:])


FOLDERS: dict[str, tuple[Callable[[Path], object], bool]] = {
    "llm.c, one file a split": (_folder_of_llmc, False),
    "modded-nanogpt": (_folder_of_modded_nanogpt, False),
    "datatrove": (lambda at: _datatrove(at / "mine_00000_unshuffled.ds", ROWS), True),
    "Megatron": (lambda at: _megatron(at / "my-gpt2_text_document", ROWS, "<u2", 8), True),
    "parquet of the Hub": (lambda at: _parquet(at / "0000.parquet", {"input_ids": ROWS}), True),
    "parquet with a hyphen": (
        lambda at: _parquet(at / "my-ids.parquet", {"input_ids": ROWS}),
        True,
    ),
    "another column": (
        lambda at: _parquet(
            at / "a.parquet",
            {"n": [1, 2, 3, 4], "tokens": ROWS, "attention_mask": ROWS, "words": [["a"]] * 4},
        ),
        True,
    ),
    "save_to_disk": (lambda at: _saved(at, only={"input_ids": ROWS, "n": [1, 2, 3, 4]}), True),
    "save_to_disk, several splits": (
        lambda at: _saved(at, train={"ids": ROWS}, test={"ids": [[9]]}),
        True,
    ),
    "npy": (lambda at: np.save(at / "tokens.npy", np.array(FLAT, np.uint16)), False),
    "npy of int64": (lambda at: np.save(at / "tokens.npy", np.array(FLAT)), False),
    "npy in shards": (
        _save_shards,
        False,
    ),
}


@pytest.mark.parametrize("name", FOLDERS)
def test_a_folder_opens(tmp_path: Path, name: str) -> None:
    write, knows_documents = FOLDERS[name]
    write(tmp_path)
    tokens = TokenDataset(tmp_path)
    assert tokens[:].tolist() == FLAT
    assert [tokens[at : at + 1].tolist() for at in range(len(tokens))] == [[id] for id in FLAT]
    assert tokens.dtype == tokens[2:5].dtype
    x, y = tokens.windows_at(np.array([0, 1]), 4)
    assert x.tolist() == [FLAT[:4], FLAT[1:5]] and y[0].tolist() == FLAT[1:5]
    if knows_documents:
        assert [row.tolist() for row in tokens.documents] == ROWS


@pytest.mark.parametrize(
    ("kind", "code"),
    [("<u1", 1), ("<i1", 2), ("<i2", 3), ("<i4", 4), ("<i8", 5), ("<u2", 8)],
)
def test_types_of_an_index_of_megatron(tmp_path: Path, kind: str, code: int) -> None:
    rows = [[min(token, 100) for token in row] for row in ROWS]
    _megatron(tmp_path / "corpus.en", rows, kind, code)
    for path in (tmp_path / "corpus.en", tmp_path / "corpus.en.bin", tmp_path / "corpus.en.idx"):
        tokens = TokenDataset(path)
        assert [row.tolist() for row in tokens.documents] == rows
        assert tokens.dtype == ("uint32" if code in (4, 5) else "uint16")


def test_numbers_that_are_no_ids(tmp_path: Path) -> None:
    _megatron(tmp_path / "a", [[5, -1]], "<i8", 5)
    with pytest.raises(FormatError, match=r"a\.bin: holds -1 to 5 instead of ids"):
        TokenDataset(tmp_path / "a")[:]
    _megatron(tmp_path / "b", [[5, 1]], "<f4", 7)
    with pytest.raises(UnsupportedError, match="tokens of type 7 are not integers"):
        TokenDataset(tmp_path / "b")
    for name, array in (("c", np.zeros((2, 2), int)), ("d", np.zeros(3))):
        np.save(tmp_path / f"{name}.npy", array)
        with pytest.raises(
            FormatError, match=rf"{name}\.npy: expected one sequence of integers, not"
        ):
            TokenDataset(tmp_path / f"{name}.npy")
    (tmp_path / "e.npy").write_bytes((tmp_path / "c.npy").read_bytes()[:90])
    with pytest.raises(FormatError, match=r"e\.npy: is not a whole \.npy file"):
        TokenDataset(tmp_path / "e.npy")


def test_a_file_of_numpy_is_not_raw_tokens(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.array(FLAT, np.uint16))
    path = (tmp_path / "a.npy").rename(tmp_path / "train.bin")
    with pytest.raises(FormatError, match=r"train\.bin: is a numpy file, which begins with a"):
        TokenDataset(path, dtype="uint16")


def test_which_column(tmp_path: Path) -> None:
    columns = {"a": ROWS, "b": [[9]] * 4, "words": [["x"]] * 4}
    _parquet(tmp_path / "a.parquet", columns)
    with pytest.raises(FormatError, match="several columns of lists of numbers, a, b; pass one"):
        TokenDataset(tmp_path)
    assert TokenDataset(tmp_path, column="a")[:].tolist() == FLAT
    with pytest.raises(FormatError, match=r"has no column 'c' of lists .its columns: 'a', 'b'"):
        TokenDataset(tmp_path, column="c")
    with pytest.raises(FormatError, match="column 'words' holds lists of string, not ids"):
        TokenDataset(tmp_path, column="words")
    with pytest.raises(ArgumentError, match="layout 'npy' has no columns; leave column out"):
        np.save(tmp_path / "x.npy", np.array(FLAT))
        TokenDataset(tmp_path / "x.npy", column="a")


@pytest.mark.parametrize("kind", ["uint8", "int16", "uint64", "fixed"])
def test_lists_of_other_numbers(tmp_path: Path, kind: str) -> None:
    pa = pytest.importorskip("pyarrow")
    of = pa.list_(pa.int64(), 2) if kind == "fixed" else pa.list_(getattr(pa, kind)())
    _parquet(tmp_path / "a.parquet", {"tokens": pa.array([[5, 7], [9, 1]], of)})
    assert [row.tolist() for row in TokenDataset(tmp_path).documents] == [[5, 7], [9, 1]]


def test_files_beside_tokens_are_none(tmp_path: Path) -> None:
    _folder_of_llmc(tmp_path)
    (tmp_path / "notes.txt").write_text("x")
    assert layouts.splits(tmp_path) == ["tinyshakespeare_train", "tinyshakespeare_val"]
    assert TokenDataset(tmp_path, split="val")[:].tolist() == [9]
    with pytest.raises(MissingFileError, match="no split 'test'; it has tinyshakespeare_train, "):
        TokenDataset(tmp_path, split="test")
    with pytest.raises(MissingFileError, match="there is no such file or folder"):
        TokenDataset(tmp_path / "corpus")


def test_a_damaged_stream_of_arrow(tmp_path: Path) -> None:
    _saved(tmp_path, only={"input_ids": ROWS * 50})
    path = min(tmp_path.glob("*.arrow"))
    whole = path.read_bytes()
    for size in (0, 5, len(whole) // 2):
        path.write_bytes(whole[:size])
        with pytest.raises(FormatError, match=r"\.arrow: (not a stream of Arrow|cannot be read)"):
            TokenDataset(tmp_path)
    path.write_bytes(json.dumps([1]).encode() * 99)
    with pytest.raises(FormatError, match="not a stream of Arrow"):
        TokenDataset(tmp_path)


def test_a_saved_data_set_is_what_its_state_lists(tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    rows = datasets.Dataset.from_dict({"input_ids": ROWS})
    for shards in (3, 2):  # the second leaves files of the first
        rows.save_to_disk(tmp_path, num_shards=shards)
    assert len([*tmp_path.glob("*.arrow")]) == 5
    assert TokenDataset(tmp_path)[:].tolist() == FLAT
    (tmp_path / "data-00001-of-00002.arrow").unlink()
    with pytest.raises(MissingFileError, match=r"00001-of-00002\.arrow: is missing, and state"):
        TokenDataset(tmp_path)
    (tmp_path / "state.json").unlink()  # as the cache of `datasets` has none
    assert len(TokenDataset(tmp_path).shards) == 4


def test_notes_that_are_nested_too_deeply(tmp_path: Path) -> None:
    pa = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    deep = b"[" * 200_000
    for layout in ("mds", "litdata"):
        with layouts.create(layout, tmp_path / layout, dtype="uint16") as writer:
            writer.append(np.array(FLAT), np.array(list(map(len, ROWS))))
            writer.finish()
    (tmp_path / "litdata/train/index.json").write_bytes(deep)
    (tmp_path / "mds/train/shard.00000.mds").write_bytes(
        struct.pack("<2I", 0, 8 + len(deep)) + deep
    )
    table = pa.table({"input_ids": ROWS}).replace_schema_metadata({b"jeton": deep})
    (tmp_path / "parquet").mkdir()
    parquet.write_table(table, tmp_path / "parquet/train.parquet")
    for layout in ("mds", "litdata", "parquet"):
        with pytest.raises(FormatError, match=r"damaged|not an index of litdata|do not fit"):
            TokenDataset(tmp_path / layout)


def _indexed(folder: Path, layout: str) -> list[Path]:
    """Three shards of a layout with an index, each a document."""
    with layouts.create(layout, folder, dtype="uint16", shard_tokens=4) as writer:
        writer.append(np.arange(12, dtype=np.uint16), np.array([4, 4, 4]))
        writer.finish()
    return sorted(path for path in (folder / "train").iterdir() if path.name != "index.json")


INDEXED: dict[str, tuple[str, Callable[[Any], Any], str, str]] = {
    "mds": ("shards", lambda entry: entry["raw_data"], "basename", "bytes"),
    "litdata": ("chunks", lambda entry: entry, "filename", "chunk_bytes"),
}


@pytest.mark.parametrize("layout", INDEXED)
def test_an_index_gives_the_order_of_shards(tmp_path: Path, layout: str) -> None:
    shards, (of_all, of_one, name, _) = _indexed(tmp_path, layout), INDEXED[layout]
    # As several workers leave them: another order than that of the names, and leftovers.
    path = tmp_path / "train/index.json"
    index = json.loads(path.read_text())
    names = [of_one(it)[name] for it in index[of_all]]
    assert names == [it.name for it in shards]
    index[of_all] = [index[of_all][at] for at in (2, 0)]
    path.write_text(json.dumps(index))
    assert TokenDataset(tmp_path)[:].tolist() == [8, 9, 10, 11, 0, 1, 2, 3]
    path.unlink()
    if layout == "mds":
        assert len(TokenDataset(tmp_path)) == 12


@pytest.mark.parametrize("layout", INDEXED)
def test_shards_that_an_index_lists_must_be_whole(tmp_path: Path, layout: str) -> None:
    shards, (of_all, of_one, name, size) = _indexed(tmp_path, layout), INDEXED[layout]
    whole = shards[1].read_bytes()
    shards[1].write_bytes(whole[:-2])
    with pytest.raises(FormatError, match=rf"{shards[1].name}: .*truncated"):
        TokenDataset(tmp_path)
    shards[1].unlink()
    with pytest.raises(MissingFileError, match=rf"{shards[1].name}: is missing, and index\.json"):
        TokenDataset(tmp_path)
    assert layouts.splits(tmp_path) == ["train"]
    shards[1].write_bytes(whole)
    assert len(TokenDataset(tmp_path)) == 12
    path = tmp_path / "train/index.json"
    index = json.loads(path.read_text())
    for wrong, error in (
        ({name: 3}, "not an index of"),
        ({name: "../" + shards[0].name}, "in another folder"),
        ({name: "/etc/hosts"}, "in another folder"),
        ({size: "many"}, "not an index of"),
    ):
        changed = json.loads(json.dumps(index))
        of_one(changed[of_all][0]).update(wrong)
        path.write_text(json.dumps(changed))
        with pytest.raises(FormatError, match=error):
            TokenDataset(tmp_path)
    for damaged in ("", "[]", "{}", "null", json.dumps({of_all: 3}), "[" * 200_000):
        path.write_text(damaged)
        with pytest.raises(FormatError, match="not an index of"):
            TokenDataset(tmp_path)


def test_compressed_chunks_are_refused(tmp_path: Path) -> None:
    _indexed(tmp_path, "litdata")
    path = tmp_path / "train/index.json"
    index = json.loads(path.read_text())
    index["config"]["compression"] = "zstd"
    path.write_text(json.dumps(index))
    with pytest.raises(
        UnsupportedError, match=r"index\.json: the chunks are compressed, by 'zstd'"
    ):
        TokenDataset(tmp_path)
