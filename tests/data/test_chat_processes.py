"""Conversations that several processes encode: the same files, errors and warnings as in one."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

import jeton
import jeton.chat
from chat_cases import byte_level
from jeton.chat import TEMPLATES
from jeton.chat.templates.limits import LimitError
from jeton.data import Conversations, PrepareProgress, prepare
from jeton.data.preparing import chat_processes, chats, pipeline
from jeton.errors import ChatWarning, FormatError, UnsupportedError

TOK = byte_level(TEMPLATES["chatml"])


def record(number: int) -> dict[str, Any]:
    words = " ".join(f"word{number}" for _ in range(number % 17 + 1))
    turns = [{"role": "user", "content": words}, {"role": "assistant", "content": f"no {number}"}]
    return {"messages": turns * (number % 3 + 1)}


RECORDS = [record(number) for number in range(300)]


@pytest.fixture
def several(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[chat_processes.ChatProcesses]]:
    """Three processes, from the second record on."""
    started: list[chat_processes.ChatProcesses] = []

    class Seen(chat_processes.ChatProcesses):
        def __init__(self, *given: Any) -> None:
            super().__init__(*given)
            started.append(self)

    monkeypatch.setattr(chat_processes, "process_count", lambda: 3)
    monkeypatch.setattr(chats, "_SECONDS", 0)
    monkeypatch.setattr(chat_processes, "ChatProcesses", Seen)
    monkeypatch.setattr(chat_processes, "_RECORDS", 5)
    yield started
    assert all(it.poll() is not None for some in started for it in some._processes)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


def written(data: Any, folder: Path, **options: Any) -> dict[str, bytes]:
    messages = Conversations(**{"template": "chatml", **options})
    prepare(data, TOK, folder, messages=messages, shuffle=1, validation=0.2, split="hash")
    return contents(folder)


def in_one(data: Any, folder: Path, **options: Any) -> dict[str, bytes]:
    """What a single process writes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chat_processes, "process_count", lambda: 0)
        return written(data, folder, **options)


@pytest.mark.large
def test_the_same_files(tmp_path: Path, several: list[Any]) -> None:
    lines = [json.dumps(it) for it in RECORDS]
    lines[40] = "no JSON"
    lines[77] = '{"messages": "[]"}'
    lines[99] = '{"messages": [{"role": "user", "text": "the content has another name"}]}'
    (tmp_path / "a.jsonl").write_text("\n".join(lines[:200]))
    (tmp_path / "b.jsonl").write_text("\n".join(lines[200:]))
    files = [tmp_path / "a.jsonl", tmp_path / "b.jsonl"]
    options: dict[str, Any] = {"bad_records": "drop", "max_tokens": 90, "too_long": "drop"}
    expected = in_one(files, tmp_path / "one", **options)
    assert not several
    assert written(files, tmp_path / "several", **options) == expected
    assert len(several) == 1
    chats_of_set = json.loads(expected["manifest.json"])["chats"]
    assert chats_of_set["bad"] == 3 and chats_of_set["too_long"] > 10


@pytest.mark.large
def test_a_stopped_run_resumes(
    tmp_path: Path, several: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pipeline, "CHECKPOINT_SECONDS", 0.0)
    monkeypatch.setattr(pipeline, "TELL_SECONDS", 0.0)
    monkeypatch.setattr(chats, "_TOKENS", 500)
    expected = in_one(RECORDS, tmp_path / "one")
    steps = 0

    def stop(progress: PrepareProgress) -> None:
        nonlocal steps
        steps += 1
        if progress.documents > 50:
            raise KeyboardInterrupt

    messages = Conversations(template="chatml")
    options: dict[str, Any] = {"shuffle": 1, "validation": 0.2, "split": "hash"}
    with pytest.raises(KeyboardInterrupt):
        prepare(RECORDS, TOK, tmp_path / "set", messages=messages, watch=stop, **options)
    assert steps > 2
    assert written(RECORDS, tmp_path / "set") == expected


@pytest.mark.large
def test_the_first_error_is_that_of_one_process(tmp_path: Path, several: list[Any]) -> None:
    records: list[Any] = [*RECORDS]
    records[150] = {"messages": []}
    records[151] = {"message": []}

    def read() -> Iterator[Any]:
        yield from records[:160]
        raise OSError("the disk is gone")

    with pytest.raises(FormatError, match=r"^record 151: .*no field 'messages'"):
        records[150] = RECORDS[150]
        written(read(), tmp_path / "a")
    records[151] = RECORDS[151]
    with pytest.raises(OSError, match="the disk is gone"):
        written(read(), tmp_path / "b")
    assert len(several) == 2


@pytest.mark.large
def test_records_and_templates_of_any_kind(tmp_path: Path, several: list[Any]) -> None:
    # A view of a mapping cannot be sent to a process.
    views = [MappingProxyType(it) for it in RECORDS[:30]]
    assert written(views, tmp_path / "a") == in_one(views, tmp_path / "b")
    # Warnings come once per kind, from whichever process.
    odd = [
        {"messages": [*it["messages"], {"role": "robot", "content": "c"}]} for it in RECORDS[:60]
    ]
    template = (
        "{% for m in messages if m.role != 'robot' %}{{ m.content + '<|im_end|>' }}{% endfor %}"
    )
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        written(odd, tmp_path / "c", template=template)
    assert {it.category for it in told} == {ChatWarning}
    assert len(told) == 1


@pytest.mark.large
def test_limits_hold_in_the_processes(tmp_path: Path, several: list[Any]) -> None:
    template = (
        "{% for it in messages %}{{ it.content }}{% endfor %}"
        "{% if '29' in messages[0].content %}{% for i in range(99999) %}{% for j in range(99999) %}"
        "{% endfor %}{% endfor %}{% endif %}"
    )
    with jeton.chat.limits(seconds=0.3), pytest.raises(LimitError, match=r"0\.3 s"):
        written(RECORDS[:40], tmp_path / "a", template=template)
    assert len(several) == 1


@pytest.mark.large
def test_a_process_that_dies_is_an_error(tmp_path: Path, several: list[Any]) -> None:
    def read() -> Iterator[Any]:
        for at, it in enumerate(RECORDS):
            if at == 200:
                for process in several[0]._processes:
                    process.kill()
            yield it

    with pytest.raises(UnsupportedError, match=r"died \(signal 9\).*RAYON_NUM_THREADS=1"):
        written(read(), tmp_path / "a")


def test_how_many_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    cores = len(os.sched_getaffinity(0))
    for limit, expected in (("", cores), ("0", cores), ("1", 0), ("9999", cores), ("x", cores)):
        monkeypatch.setenv("RAYON_NUM_THREADS", limit)
        assert chat_processes.process_count() == (expected if expected > 1 else 0)
    monkeypatch.setenv("RAYON_NUM_THREADS", "")
    monkeypatch.setattr("sys.frozen", True, raising=False)
    assert chat_processes.process_count() == 0
