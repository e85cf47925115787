"""Conversations that are prepared are never half done: stopped, gone on, in parts."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from jeton.data import (
    Conversations,
    TokenDataset,
    layouts,
    merge,
    prepare,
    verify,
)
from jeton.errors import ArgumentError, ArgumentTypeError, FileError, FormatError
from prepared import Stopped, contents, looks_whole, stopping
from prepared_chats import CHATML, LAYOUTS, RECORDS, TOK, lines, often

pytestmark = pytest.mark.usefixtures(often.__name__)

VARIANTS: list[dict[str, Any]] = [
    {"validation": 0.3},
    {"shuffle": 7, "layout": "parquet"},
    {"part": (1, 1)},
    {"validation": 0.3, "split": "hash", "layout": "datatrove"},
    {"validation": 0.3, "shuffle": 7, "shard_tokens": 700},
    {},
]


def asked_of(variant: int) -> Conversations:
    return Conversations(
        template="chatml",
        max_tokens=[None, 60][variant % 2],
        bad_records="drop",
    )


MIXED = [record for number, it in enumerate(RECORDS) for record in [it, {"id": number}][:2]]


@pytest.mark.large
@pytest.mark.parametrize(
    ("variant", "kind"),
    [*enumerate(["jsonl", "jsonl.gz", "parquet", "list", "jsonl", "list"]), (5, "parquet")],
)
def test_stopped_after_every_few_blocks(tmp_path: Path, variant: int, kind: str) -> None:
    options = {**VARIANTS[variant], "messages": asked_of(variant)}
    data: Any = MIXED
    if kind != "list":
        data = tmp_path / f"in.{kind}"
        if kind == "parquet":
            pyarrow = pytest.importorskip("pyarrow")
            table = pyarrow.Table.from_pylist([{"messages": None, **it} for it in MIXED])
            pytest.importorskip("pyarrow.parquet").write_table(table, data, row_group_size=30)
        else:
            lines(data, MIXED)
            if kind == "jsonl.gz":
                data.write_bytes(gzip.compress(data.read_bytes()))
    whole = prepare(data, TOK, tmp_path / "whole", **options)
    assert whole.chats is not None and whole.chats["bad"] == len(RECORDS)
    out = tmp_path / "out"
    for stops in range(200):
        try:
            prepare(data, TOK, out, watch=stopping(stops % 5 + 1), **options)
            break
        except Stopped:
            assert not looks_whole(out)
    assert 2 < stops < 199
    assert contents(out) == contents(tmp_path / "whole")


def test_a_run_resumes_only_with_the_same_arguments(tmp_path: Path) -> None:
    out = tmp_path / "out"
    with pytest.raises(Stopped):
        prepare(RECORDS, TOK, out, messages=CHATML, watch=stopping(3))
    for other in (
        Conversations(template="llama3"),
        Conversations(template="chatml", roles=["user"]),
        Conversations(template="chatml", max_tokens=1000),
        None,
    ):
        with pytest.raises(FileError, match="started with messages="):
            prepare(RECORDS, TOK, out, messages=other, end_of_text=None)
    prepare(RECORDS, TOK, out, messages=CHATML)
    with pytest.raises(FileError, match="another messages"):
        path = lines(tmp_path / "in.jsonl", RECORDS)
        prepare(path, TOK, out, messages=Conversations(template="chatml", max_tokens=9))


@pytest.mark.large
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("options", [{}, {"validation": 0.3, "shuffle": 3}])
def test_parts_make_the_same_set(tmp_path: Path, layout: Any, options: dict[str, Any]) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    for number in range(5):
        lines(folder / f"{number}.jsonl", MIXED[number * 48 :][:48])
    asked = Conversations(template="chatml", max_tokens=60, bad_records="drop")
    given: dict[str, Any] = {**options, "layout": layout, "messages": asked}
    prepare(folder, TOK, tmp_path / "whole", **given)
    parts = [tmp_path / f"part-{number}" for number in (1, 2, 3)]
    for number, part in enumerate(parts, 1):
        prepare(folder, TOK, part, part=(number, 3), **given)
        assert verify(part) == []
    merge(reversed(parts), tmp_path / "merged")
    assert contents(tmp_path / "merged") == contents(tmp_path / "whole")


@pytest.mark.parametrize("layout", ["jeton", "datatrove"])
def test_a_mask_that_is_damaged_or_gone(tmp_path: Path, layout: Any) -> None:
    prepare(RECORDS, TOK, tmp_path, layout=layout, messages=CHATML)
    name = {"jeton": "train-00000.mask", "datatrove": "train/00000.ds.loss"}[layout]
    whole = (tmp_path / name).read_bytes()
    (tmp_path / name).write_bytes(bytes([whole[0] ^ 1]) + whole[1:])
    assert [damage.file for damage in verify(tmp_path)] == [name]
    (tmp_path / name).write_bytes(whole[:-1])
    with pytest.raises(FormatError, match="truncated or damaged"):
        TokenDataset(tmp_path)
    (tmp_path / name).unlink()
    with pytest.raises(FormatError, match="has no loss mask, and the set has one"):
        TokenDataset(tmp_path)
    assert [damage.what for damage in verify(tmp_path)] == ["is missing"]


def test_a_writer_takes_masks(tmp_path: Path) -> None:
    ids, lengths = np.arange(5), np.array([2, 3])
    with layouts.create("jeton", tmp_path / "a", dtype="uint16", masks=True) as writer:
        wrong: list[tuple[Any, str]] = [
            (None, "pass a mask"),
            ([1], "mask has 1 values for 5 tokens"),
            ([0, 1, 2, 0, 0], "must hold bools"),
            ([0.5] * 5, "must be an array of bools"),
        ]
        for given, told in wrong:
            with pytest.raises((ArgumentError, ArgumentTypeError), match=told):
                writer.append(ids, lengths, mask=given)
        writer.append(ids, lengths, mask=[True, False, True, True, False])
        writer.append(ids[:0], lengths[:0], mask=[])
        writer.finish()
    mask = TokenDataset(tmp_path / "a").mask
    assert mask is not None and mask[1:4].tolist() == [False, True, True]
    with layouts.create("jeton", tmp_path / "b", dtype="uint16") as writer:
        with pytest.raises(ArgumentError, match="masks=True"):
            writer.append(ids, lengths, mask=[1] * 5)
        writer.append(ids, lengths)
        writer.finish()
    assert TokenDataset(tmp_path / "b").mask is None
    with pytest.raises(ArgumentTypeError, match="masks must be a bool"):
        layouts.create("jeton", tmp_path / "c", dtype="uint16", masks=1)  # type: ignore[arg-type]
