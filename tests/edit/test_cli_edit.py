"""`jeton edit`: each change on the command line, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

import jeton
from edit_families import FAMILIES, some_lines
from jeton import edit
from jeton.cli import main
from jeton.errors import FileError


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    FAMILIES["bpe"](1).save("old.json")
    FAMILIES["bpe"](2).save("other.json")
    (tmp_path / "in.txt").write_text("\n".join(some_lines(3)), encoding="utf-8")
    return tmp_path


CHANGES = {
    "prune": (["prune", "old.json", "in.txt", "--size", "280"], 280),
    "truncate": (["truncate", "old.json", "290"], 290),
    "extend": (["extend", "old.json", "in.txt", "-n", "7"], 313),
    "add": (["add", "old.json", "<|user|>"], 307),
}


@pytest.mark.parametrize("line, size", CHANGES.values(), ids=CHANGES.keys())
def test_changes(folder: Path, line: list[str], size: int) -> None:
    done = CliRunner().invoke(main, ["edit", *line, "-o", "new.json", "--map", "map.json"])
    assert done.exit_code == 0, done.output
    assert f"tokens after   {size}" in done.stdout
    assert jeton.load("new.json").vocab_size == size
    moved = json.loads((folder / "map.json").read_text())["moved"]
    assert len(moved) == jeton.load("old.json").vocab.max_id + 1
    again = CliRunner().invoke(main, ["edit", *line, "-o", "new.json"])
    assert again.exit_code == 1 and "--force" in again.output


def test_a_change_that_fails_leaves_no_map(folder: Path) -> None:
    (folder / "there").mkdir()
    line = ["edit", "truncate", "old.json", "290", "-o", "new", "--map", "map.json"]
    done = CliRunner().invoke(main, [*line, "--model", "there"])
    assert done.exit_code == 1 and "there/config.json: there is no such file" in done.output
    assert not (folder / "map.json").exists()


def test_without_room_for_the_map_there_is_no_tokenizer(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_room(*_: object) -> None:
        raise FileError("map.json: cannot be written: No space left on device")

    monkeypatch.setattr(edit.IdMap, "save", no_room)
    line = ["edit", "truncate", "old.json", "290", "-o", "new.json", "--map", "map.json"]
    done = CliRunner().invoke(main, line)
    assert done.exit_code == 1 and "map.json: cannot be written" in done.output
    assert not (folder / "new.json").exists()


def test_joined(folder: Path) -> None:
    done = CliRunner().invoke(main, ["edit", "merge", "old.json", "other.json", "-o", "new.json"])
    assert done.exit_code == 0, done.output
    assert jeton.load("new.json").vocab_size > jeton.load("old.json").vocab_size


@pytest.mark.parametrize("target", ["old.json", "other.json", "./other.json"])
def test_inputs_are_not_overwritten(folder: Path, target: str) -> None:
    line = ["edit", "merge", "old.json", "other.json", "-o", target, "--force"]
    before = {path: path.read_bytes() for path in folder.iterdir()}
    done = CliRunner().invoke(main, line)
    assert done.exit_code == 1 and "is one of the inputs" in done.stderr
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


@pytest.mark.parametrize(
    ("target", "ids"),
    [("new.json", "./new.json"), ("new.JSON", "new.JSON"), ("new", "new/tokenizer.json")],
)
def test_the_map_does_not_replace_the_tokenizer(folder: Path, target: str, ids: str) -> None:
    (folder / "new").mkdir()
    line = ["edit", "truncate", "old.json", "290", "-o", target, "--map", ids, "--force"]
    done = CliRunner().invoke(main, line)
    assert done.exit_code == 1, done.output
    assert f"Error: {ids}: the tokenizer goes there (name another file for the map)" in done.stderr
    assert sorted(path.name for path in folder.rglob("*")) == [
        "in.txt",
        "new",
        *("old.json", "other.json"),
    ]


def test_refused(folder: Path) -> None:
    line = ["edit", "prune", "old.json", "--size", "5", "-o", "new.json"]
    done = CliRunner().invoke(main, line, input="")
    assert done.exit_code == 1 and "cannot be reached" in done.output
    assert not (folder / "new.json").exists()


def test_leaves_are_counted_again_in_each_round(folder: Path) -> None:
    line = ["edit", "prune", "old.json", "in.txt", "--min-count", "3", "--leaves", "2"]
    done = CliRunner().invoke(main, [*line, "-o", "new.json"])
    assert done.exit_code == 0, done.output
    expected = edit.prune(jeton.load("old.json"), corpus=[Path("in.txt")], min_count=3, leaves=2)
    assert expected.removed and jeton.load("new.json") == expected.tok
    line[3] = "-"
    done = CliRunner().invoke(main, [*line, "-o", "more.json"], input="text")
    assert done.exit_code == 2 and "--leaves reads FILES in each round" in done.output
    assert not (folder / "more.json").exists()
