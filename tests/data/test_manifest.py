"""Manifests: what they say, what is refused, and what is found to be damaged."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from jeton.data import Manifest, Mixture, TokenDataset, mix, prepare, verify
from jeton.errors import FileError, FormatError, MissingFileError
from prepared import NAMES, Stopped, documents, stopping, tokenizer, without_waiting

pytestmark = pytest.mark.usefixtures(without_waiting.__name__)

TOK = tokenizer()


@pytest.fixture
def made(tmp_path: Path) -> Path:
    """A folder that holds a set."""
    prepare(documents(40), TOK, tmp_path / "set", validation=0.5, shard_tokens=300)
    return tmp_path / "set"


@pytest.mark.parametrize("layout", NAMES)
def test_damage_is_named(tmp_path: Path, layout: Any) -> None:
    prepare(documents(40), TOK, tmp_path, layout=layout, validation=0.5)
    names = list(Manifest.read(tmp_path).files)
    assert len(names) >= 3
    for name in names:
        path = tmp_path / name
        raw = path.read_bytes()
        for changed, told in (
            (raw[: len(raw) // 2], "is truncated"),
            (raw + b"\0", "is longer than it was"),
            (bytes([raw[0] ^ 1]) + raw[1:], "is damaged: its SHA-256"),
            (None, "is missing"),
        ):
            path.unlink() if changed is None else path.write_bytes(changed)
            [damage] = verify(tmp_path)
            assert damage.file == name
            assert damage.what.startswith(told)
            assert str(damage) == f"{name}: {damage.what}"
        path.write_bytes(raw)
    assert verify(tmp_path) == []


def test_verifying_stops_in_the_middle_of_a_file(made: Path) -> None:
    # Reading it to its end would take long.
    path = made / "val-00000.bin"
    os.truncate(path, 2**40)
    record = json.loads((made / "manifest.json").read_text())
    record["files"][path.name]["bytes"] = 2**40
    (made / "manifest.json").write_text(json.dumps(record))
    assert next(iter(record["files"])) != path.name
    stop = stopping(0)
    with pytest.raises(Stopped):
        verify(made, watch=lambda name, _: stop(name))


def test_files_that_do_not_belong_to_it(made: Path) -> None:
    (made / "notes.txt").write_text("mine")
    assert verify(made) == []
    first = next(made.glob("train-*.bin"))
    (made / "train-99999.bin").write_bytes(first.read_bytes())
    [damage] = verify(made)
    assert str(damage) == "train-99999.bin: is not in the manifest"


def test_every_file_is_told_of(made: Path) -> None:
    told: list[tuple[str, int]] = []
    assert verify(made, watch=lambda name, size: told.append((name, size))) == []
    manifest = Manifest.read(made)
    assert told == [(name, file.bytes) for name, file in manifest.files.items()]


def test_written_manifests_are_read_again(made: Path) -> None:
    manifest = Manifest.read(made)
    assert Manifest.from_json(manifest.to_json()) == manifest
    assert (made / "manifest.json").read_text("utf-8") == manifest.to_json()
    assert set(manifest.files) == {path.name for path in made.iterdir()} - {"manifest.json"}


def test_a_folder_in_place_of_a_manifest_is_an_error(made: Path) -> None:
    mix({made: 1}).save(made.parent / "mixture.json")
    (made / "manifest.json").unlink()
    (made / "manifest.json").mkdir()
    for call in (
        lambda: Manifest.read(made),
        lambda: TokenDataset(made),
        lambda: Mixture.read(made.parent / "mixture.json"),
        lambda: prepare(documents(40), TOK, made),
    ):
        with pytest.raises(FileError, match=r"manifest\.json: cannot be read: is a directory"):
            call()


def test_a_missing_manifest_is_an_error(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "no"):
        with pytest.raises(MissingFileError, match="there is no such file; a set"):
            Manifest.read(folder)
        with pytest.raises(MissingFileError):
            verify(folder)


def _with(*path: str, value: object) -> Callable[[dict[str, Any]], object]:
    def change(record: dict[str, Any]) -> object:
        at: Any = record
        for name in path[:-1]:
            at = at[name]
        at[path[-1]] = value
        return record

    return change


BAD: dict[str, tuple[Callable[[dict[str, Any]], object], str]] = {
    "a list": (lambda record: [record], "is not a manifest of a token set"),
    "nothing": (lambda record: None, "is not a manifest"),
    "a later format": (_with("format", value=2), "has format 2, and this version of jeton reads 1"),
    "no layout": (_with("layout", value="luck"), "names a layout 'luck' that is not known"),
    "no documents": (_with("documents", value=-1), "has -1 where a number should be"),
    "documents that are true": (_with("documents", value=True), "has True where a number"),
    "no tokenizer": (_with("tokenizer", value=None), "is not a manifest"),
    "a tokenizer without a digest": (_with("tokenizer", "digest", value=3), "names no digest"),
    "splits in a list": (_with("splits", value=[]), "is not a manifest"),
    "a file above": (
        _with("files", value={"../../etc/passwd": {"bytes": 1, "sha256": ""}}),
        "names a file '../../etc/passwd' that is not in its folder",
    ),
    "a name that is no text": (
        _with("files", value={"\ud800": {"bytes": 1, "sha256": ""}}),
        "no file of a set has such a name",
    ),
    "a name with U+0000": (
        _with("files", value={"a\0": {"bytes": 1, "sha256": ""}}),
        "no file of a set has such a name",
    ),
    "a file elsewhere": (
        _with("files", value={"/etc/passwd": {"bytes": 1, "sha256": ""}}),
        "is not in its folder",
    ),
    "a size that is none": (
        _with("files", value={"a": {"bytes": "1", "sha256": ""}}),
        "has '1' where a number should be",
    ),
    "half a part": (_with("part", value=[1]), "is not a manifest"),
}


@pytest.mark.parametrize("name", BAD)
def test_other_json_is_not_a_manifest(made: Path, name: str) -> None:
    change, told = BAD[name]
    path = made / "manifest.json"
    path.write_text(json.dumps(change(json.loads(path.read_text()))))
    for read in (Manifest.read, verify, TokenDataset):
        with pytest.raises(FormatError, match=told) as caught:
            read(made)
        assert str(caught.value).startswith(str(path))


@pytest.mark.parametrize("raw", [b"", b"{", b"\xff\xfe", b"[" * 100_000, b'{"format": 1}'])
def test_a_manifest_that_is_not_json_is_an_error(made: Path, raw: bytes) -> None:
    (made / "manifest.json").write_bytes(raw)
    with pytest.raises(FormatError, match=r"manifest\.json"):
        Manifest.read(made)
