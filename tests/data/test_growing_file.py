"""`GrowingFile`: files that go on from a saved state, and notice what has changed since."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from jeton.data.layouts.growing_file import GrowingFile
from jeton.errors import FormatError, MissingFileError


@pytest.mark.parametrize("head", [0, 3])
def test_data_after_a_state_is_removed(tmp_path: Path, head: int) -> None:
    path = tmp_path / "a"
    file = GrowingFile(path, head=head)
    file.append(b"one")
    file.sync()
    state = json.loads(json.dumps(file.state))
    file.append(b"two")
    file.close()
    path.write_bytes(b"x" * head + path.read_bytes()[head:])
    again = GrowingFile(path, state, head=head)
    again.append(b"three")
    again.close()
    assert path.read_bytes() == b"x" * head + b"onethree"
    assert again.state == GrowingFile(path, again.state, head=head).state


def test_a_file_without_data_begins_anew(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"of another run")
    file = GrowingFile(path)
    assert not path.exists()
    file.append(b"")
    assert path.read_bytes() == b""
    file.sync()
    file.close()


def test_a_file_is_opened_again_after_it_was_closed(tmp_path: Path) -> None:
    file = GrowingFile(tmp_path / "a", head=2)
    for data in (b"one", b"two"):
        file.append(data)
        file.close()
    assert (tmp_path / "a").read_bytes() == b"\0\0onetwo"


def test_data_moves_to_another_file(tmp_path: Path) -> None:
    file, target = GrowingFile(tmp_path / "a", head=1), GrowingFile(tmp_path / "b", head=1)
    file.append(b"one")
    state = file.state
    file.append(b"two")
    file.move_after(state, target)
    file.append(b"three")
    for it in (file, target):
        it.close()
    assert (tmp_path / "a").read_bytes() == b"\0onethree"
    assert (tmp_path / "b").read_bytes() == b"\0two"
    for name, same in {"a": file, "b": target}.items():
        GrowingFile(tmp_path / name, same.state, head=1)


def test_a_file_that_is_not_as_it_was_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a"
    file = GrowingFile(path)
    file.append(b"one")
    file.close()
    path.write_bytes(b"two and more")
    with pytest.raises(FormatError, match="a: is damaged since it was written; remove it and"):
        GrowingFile(path, file.state, remedy="remove it")
    path.write_bytes(b"on")
    with pytest.raises(MissingFileError, match="a: is missing or truncated since the state was"):
        GrowingFile(path, file.state)
    path.unlink()
    with pytest.raises(MissingFileError, match="remove its folder and start again"):
        GrowingFile(path, file.state)
