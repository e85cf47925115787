"""The disk that a set needs is estimated before it is made."""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import jeton
from jeton.data import PrepareProgress, prepare
from jeton.data.preparing import disk
from jeton.errors import FileError, FormatError

TOK = jeton.Tokenizer.from_ranks(
    {bytes([byte]): byte for byte in range(256)},
    pattern="gpt2",
    special_tokens={"<|endoftext|>": 256, "<|im_start|>": 257, "<|im_end|>": 258},
)
LINES = "".join(f"line {number} of a text\n" for number in range(9_000))


@pytest.fixture(autouse=True)
def everything_is_sampled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disk, "_SMALL", 1 << 10)


def needed(data: Any, folder: Path, **options: Any) -> int:
    steps: list[PrepareProgress] = []
    prepare(data, TOK, folder, watch=steps.append, **options)
    assert len({(step.disk_needed, step.disk_free) for step in steps}) == 1
    return steps[0].disk_needed


def size_of(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.glob("train*.bin"))


def test_an_estimate_is_near_the_size_of_the_set(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(LINES)
    (tmp_path / "b.txt").write_text(LINES[: len(LINES) // 3])
    files = [tmp_path / "a.txt", tmp_path / "b.txt"]
    estimate = needed(files, tmp_path / "set", documents="line")
    documents = 12_000 * 8
    size = size_of(tmp_path / "set") + documents
    assert estimate == pytest.approx(size, rel=0.05)
    # Documents that are shuffled are on the disk twice.
    shuffled = needed(files, tmp_path / "shuffled", documents="line", shuffle=1)
    assert shuffled == pytest.approx(2 * size - documents, rel=0.05)


def test_conversations_are_sampled_too(tmp_path: Path) -> None:
    record = (
        '{"messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]}'
    )
    (tmp_path / "chats.jsonl").write_text(f"{record}\n" * 200)
    messages = jeton.data.Conversations("messages", template="chatml")
    estimate = needed(tmp_path / "chats.jsonl", tmp_path / "set", messages=messages)
    tokens = os.path.getsize(tmp_path / "set/train-00000.bin")
    assert estimate == pytest.approx(tokens * 1.5 + 200 * 8, rel=0.05)


def test_data_of_unknown_size_has_no_estimate(tmp_path: Path) -> None:
    assert needed(["a text"] * 2_000, tmp_path / "texts") == 0


def test_bad_input_is_the_error_of_the_work(tmp_path: Path) -> None:
    (tmp_path / "bad.txt").write_bytes(b"a line\n" * 500 + b"\xff\n")
    with pytest.raises(FormatError, match=r"bad\.txt: not UTF-8"):
        needed(tmp_path / "bad.txt", tmp_path / "set", documents="line")


@pytest.mark.parametrize(("share", "fails"), [(0.4, True), (0.6, False)])
def test_a_disk_that_is_too_full_is_an_error_before_the_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, share: float, fails: bool
) -> None:
    path = tmp_path / "a.txt"
    path.write_text(LINES)
    free = int(np.dtype("uint16").itemsize * len(LINES) * share)
    monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=free))
    if fails:
        with pytest.raises(FileError, match=r"the set needs about 0\.\d GB of disk, and"):
            prepare(path, TOK, tmp_path / "set")
        assert not (tmp_path / "set").exists()
    else:
        assert needed(path, tmp_path / "set") > free
