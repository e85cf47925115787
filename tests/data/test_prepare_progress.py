"""What is shown of the progress of preparing: lines, bars, a log."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from typing import Any

import click
import pytest

from jeton.cli import prepare_progress
from jeton.data import PrepareProgress


@pytest.fixture
def command() -> Iterator[None]:
    """As in a command."""
    with click.Context(click.Command("prepare")):
        yield


def step(phase: Any, done: int, total: int = 100) -> PrepareProgress:
    return PrepareProgress(phase, done, total, 5, 70)


def test_progress_as_lines(
    command: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    times = iter([0.0, 0.0, 0.4, 2.0, 2.1])
    monkeypatch.setattr("jeton.cli.progress.time.monotonic", lambda: next(times))
    with prepare_progress.progress_shown(True) as watch:
        assert watch is not None
        # One a second, and the first of each phase. The work of an earlier run is not in the rate.
        for it in (
            step("encoding", 10),
            step("encoding", 12),
            step("encoding", 40),
            step("finishing", 0),
        ):
            watch(it)
    told = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    common = {"total": 100, "documents": 5, "tokens": 70}
    assert told == [
        {"phase": "encoding", "done": 10, **common, "seconds": 0.0, "rate": 0.0, "left": None},
        {"phase": "encoding", "done": 40, **common, "seconds": 2.0, "rate": 15.0, "left": 4.0},
        {"phase": "finishing", "done": 0, **common, "seconds": 2.1, "rate": 0.0, "left": None},
    ]


def test_the_disk_needed_is_said(command: None, capsys: pytest.CaptureFixture[str]) -> None:
    told = PrepareProgress("encoding", 1, 9, 5, 70, disk_needed=3_400_000, disk_free=5_000_000)
    for as_json in (True, False):
        with prepare_progress.progress_shown(as_json) as watch:
            assert watch is not None
            watch(told)
            watch(told)
    line, note = capsys.readouterr().err.splitlines()
    assert {"disk": 3_400_000, "free": 5_000_000}.items() <= json.loads(line).items()
    assert note == "the set needs about 3.4 MB of disk; 5.0 MB are free"


def test_progress_as_bars(command: None, monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setattr("jeton.cli.progress.ProgressBar.DELAY", 0.0)
    with prepare_progress.progress_shown(False) as watch:
        assert watch is not None
        watch(step("encoding", 40_000_000, 100_000_000))
        watch(step("shuffling", 1, 0))
    shown = terminal.getvalue()
    assert "encoding" in shown and "of 100.0 MB" in shown and "70 tokens" in shown


def test_a_log_has_a_line_every_half_minute(
    command: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = [0.0]
    monkeypatch.setattr("jeton.cli.progress.time.monotonic", lambda: now[0])
    with prepare_progress.progress_shown(False) as watch:
        assert watch is not None
        for now[0], done in ((0.0, 0), (29.0, 20), (31.0, 31), (50.0, 40), (62.0, 62), (90.0, 90)):
            watch(step("encoding", done * 10**6, 10**10))
    assert capsys.readouterr().err.splitlines() == [
        "encoding: 0% of 10.0 GB, 1.0 MB/s, 70 tokens, 2 h 46 min left",
        "encoding: 1% of 10.0 GB, 1.0 MB/s, 70 tokens, 2 h 45 min left",
    ]


def test_quiet_says_nothing(command: None, capsys: pytest.CaptureFixture[str]) -> None:
    click.get_current_context().meta["jeton.cli.quiet"] = True
    for as_json in (True, False):
        with prepare_progress.progress_shown(as_json) as watch:
            assert watch is None
    assert capsys.readouterr().err == ""
