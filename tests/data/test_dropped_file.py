"""`dropped.jsonl`, which names the records that a token set left out: written, cut, damaged."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import jeton
from jeton import data
from jeton.corpora.dropped import DroppedRecord, RecordPlace
from jeton.data.manifest import Manifest
from jeton.data.preparing.dropped_file import DROPPED, dropped_of, written
from jeton.errors import FormatError, MissingFileError

RECORDS = [
    DroppedRecord(RecordPlace("a \n.jsonl", "line", 3), "not JSON"),
    DroppedRecord(RecordPlace(None, "document", 0), "no text “x”"),
    DroppedRecord(RecordPlace("b.csv", "record", 2**40), "2 fields"),
]
TOK = jeton.BPETrainer(260, special_tokens=["<|endoftext|>"]).train(["the theory there"])


def a_set(folder: Path) -> Manifest:
    """A set that left out the second record of three."""
    source = folder / "x.jsonl"
    source.write_text('{"text": "a"}\n[]\n{"text": "b"}\n')
    return data.prepare(source, TOK, folder / "set", bad_records="drop")


def test_records_come_back_as_they_were(tmp_path: Path) -> None:
    manifest = a_set(tmp_path)
    (tmp_path / "set" / DROPPED).write_bytes(written(RECORDS))
    assert dropped_of(tmp_path / "set", manifest) == tuple(RECORDS)


def test_a_set_names_what_it_left_out(tmp_path: Path) -> None:
    [record] = dropped_of(tmp_path / "set", a_set(tmp_path))
    assert record.place == RecordPlace(str(tmp_path / "x.jsonl"), "line", 2)


def test_there_is_no_file_if_nothing_is_left_out(tmp_path: Path) -> None:
    manifest = data.prepare(["a", "b"], TOK, tmp_path / "set", bad_records="drop")
    assert dropped_of(tmp_path / "set", manifest) == ()


@pytest.mark.parametrize("shuffle", [None, 1])
@pytest.mark.parametrize("validates", [False, True], ids=["one split", "two splits"])
def test_merged_parts_name_what_all_left_out(
    tmp_path: Path, shuffle: int | None, validates: bool
) -> None:
    def files(name: str, *contents: str) -> list[Path]:
        """Files of good and bad lines: `+` and `-`."""
        paths = [tmp_path / f"{name}{number}.jsonl" for number in range(len(contents))]
        for path, lines in zip(paths, contents, strict=True):
            path.write_text("".join('{"text": "the"}\n' if it == "+" else "{\n" for it in lines))
        return paths

    train = files("train", "+-", "---", "-+", "++")
    val = files("val", "+-", "-+", "--", "-+-") if validates else None

    def set_of(name: str, part: tuple[int, int] | None = None) -> Path:
        data.prepare(
            train,
            TOK,
            tmp_path / name,
            validation=val,
            shuffle=shuffle,
            part=part,
            bad_records="drop",
        )
        return tmp_path / name

    whole = set_of("whole")
    merged = tmp_path / "merged"
    data.merge([set_of(f"part{number}", (number, 4)) for number in range(1, 5)], merged)
    left_out = (whole / DROPPED).read_bytes()
    assert (merged / DROPPED).read_bytes() == left_out
    bad = Manifest.read(whole).bad_documents
    assert len(left_out.splitlines()) == Manifest.read(merged).bad_documents == bad


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"torn",
        b"[]",
        b'{"path": "a", "reason": "b"}',
        b'{"path": "a", "line": "1", "reason": "b"}',
        b'{"path": 1, "line": 1, "reason": "b"}',
        b'{"path": "a", "line": 1, "row": 1, "reason": "b"}',
        b"\xff",
        b"[" * 99_999,
    ],
    ids=lambda line: repr(line[:30]),
)
def test_a_damaged_file_is_named(tmp_path: Path, line: bytes) -> None:
    manifest = a_set(tmp_path)
    good = RECORDS[0].to_json().encode()
    (tmp_path / "set" / DROPPED).write_bytes(good + b"\n" + line + b"\n")
    with pytest.raises(FormatError, match=r"dropped\.jsonl: (line 2|not UTF-8)"):
        dropped_of(tmp_path / "set", manifest)


def test_a_file_that_is_gone_is_named(tmp_path: Path) -> None:
    manifest = a_set(tmp_path)
    (tmp_path / "set" / DROPPED).unlink()
    with pytest.raises(MissingFileError, match="dropped"):
        dropped_of(tmp_path / "set", manifest)
    assert json.loads(RECORDS[1].to_json())["path"] is None
