"""The parts of `jeton train` by themselves: what progress shows, what `--set` reads, and targets.

Look here for what a whole run is too quick to show; `test_cli_train.py` has the command.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import click
import pytest

import jeton
from jeton.cli import progress, train_progress
from jeton.cli.command import options_of
from jeton.cli.train import train
from jeton.cli.train_options import settings
from jeton.cli.train_progress import TerminalLine, TrainJsonLines, watcher
from jeton.cli.train_targets import rehearse, save
from jeton.components import normalizers
from jeton.corpora.progress import Progress
from jeton.errors import UnsupportedError

OPTIONS = options_of(train)


class Clock:
    """A clock that stands until it is set."""

    now = 100.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[Clock]:
    """The clock that progress looks at, inside a command."""
    clock = Clock()
    monkeypatch.setattr(train_progress, "time", clock)
    monkeypatch.setattr(progress, "time", clock)
    with click.Context(click.Command("train")):
        yield clock


class Screen:
    """A terminal, and what was written to it since that was last asked."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def isatty(self) -> bool:
        return True

    def shown(self) -> str:
        return self._capsys.readouterr().err


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Screen:
    """Standard error is a terminal."""
    screen = Screen(capsys)
    monkeypatch.setattr(progress, "sys", SimpleNamespace(stderr=screen))
    return screen


def test_json_lines(clock: Clock, capsys: pytest.CaptureFixture[str]) -> None:
    watch = TrainJsonLines()
    rows: list[tuple[float, Progress, dict[str, Any] | None]] = [
        (0.0, Progress("counting", 0, 100, 0), {"done": 0, "rate": 0.0, "left": None}),
        (0.9, Progress("counting", 10, 100, 30), None),
        (2.0, Progress("counting", 20, 100, 60), {"text": 60, "rate": 10.0, "left": 8.0}),
        (2.1, Progress("counting", 100, 100, 300), {"text": 300, "seconds": 2.1, "left": 0.0}),
        (3.0, Progress("merging", 256, 456), {"seconds": 3.0, "rate": 0.0, "left": None}),
        (3.5, Progress("merging", 300, 456), None),
        (5.0, Progress("merging", 356, 456), {"rate": 50.0, "left": 2.0}),
        (5.1, Progress("merging", 400, 400), {"done": 400, "total": 400, "left": 0.0}),
    ]
    for seconds, step, expected in rows:
        clock.now = 100.0 + seconds
        watch(step)
        lines = capsys.readouterr().err.splitlines()
        assert len(lines) == (expected is not None)
        for told in map(json.loads, lines):
            assert expected is not None and told == {**told, **expected}
            assert ("text" in told) == (step.phase == "counting")
    watch.close()


def test_json_lines_of_a_pipe(clock: Clock, capsys: pytest.CaptureFixture[str]) -> None:
    watch = TrainJsonLines()
    for text in range(1, 150):
        clock.now += 0.01
        watch(Progress("counting", 0, 0, text))
    first, second = map(json.loads, capsys.readouterr().err.splitlines())
    assert (first["text"], first["rate"], first["left"]) == (1, 100.0, None)
    assert (second["text"], second["rate"], second["left"]) == (101, 100.0, None)


def test_a_line_on_a_terminal(clock: Clock, screen: Screen) -> None:
    gone = "\x1b[?25h"  # the cursor is back
    watch = TerminalLine()
    rows = [
        (Progress("counting", 0, 20_000, 0), []),
        (Progress("counting", 2_000, 20_000, 10_000), ["counting", "10% of 20.0 kB"]),
        (Progress("counting", 20_000, 20_000, 60_000), ["100%", gone]),
        (Progress("merging", 256, 400), ["counted 60.0 kB in 3.0 s"]),
        (Progress("merging", 300, 400), ["75% of 400 tokens"]),
        (Progress("merging", 350, 350), ["100% of 350 tokens", gone]),
    ]
    for step, expected in rows:
        watch(step)
        clock.now += 1
        told = screen.shown()
        assert all(part in told for part in expected), told
        assert (gone in told) == (gone in expected)
    watch.close()
    assert screen.shown() == ""


def test_a_failed_step_removes_its_progress_line(clock: Clock, screen: Screen) -> None:
    watch = TerminalLine()
    watch(Progress("counting", 0, 0, 0))
    clock.now += 1
    watch(Progress("counting", 0, 0, 5_000))
    told = screen.shown()
    assert "counting" in told and "5.0 kB  5.0 kB/s" in told
    watch.close()
    assert screen.shown().endswith("\x1b[2K")


def test_a_log_has_a_line_every_half_minute_though_phases_are_shorter(
    clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    bars = progress.ProgressBar()
    for number in range(8):
        for done in (0, 50, 100):
            bars.show(f"part {number}", done, 100, "{:,.0f}".format)
            clock.now += 4
    assert capsys.readouterr().err.splitlines() == [
        "part 2: 100% of 100, 12/s, 0 s left",
        "part 5: 50% of 100, 12/s, 4 s left",
    ]


def test_quiet_says_nothing(clock: Clock, screen: Screen) -> None:
    click.get_current_context().meta["jeton.cli.quiet"] = True
    steps = [
        Progress("counting", 9, 9, 9),
        Progress("seeding", 1, 1),
        Progress("fitting", 1, 2),
    ]
    for as_json in (False, True):
        watch = watcher(as_json)
        for step in steps:
            clock.now += 2
            watch(step)
        watch.close()
    assert screen.shown() == ""


@pytest.mark.parametrize(
    ("kind", "given", "expected"),
    [
        ("bpe", "limit_alphabet=9", 9),
        ("bpe", "limit_alphabet=null", None),
        ("bpe", "tie_break=first", "first"),
        ("bpe", 'tie_break="first"', "first"),
        ("bpe", "end_of_word_suffix==", "="),
        ("bpe", "end_of_word_suffix=", ""),
        ("bpe", "unk_token=12", "12"),
        ("bpe", "initial_alphabet=[1", "[1"),
        ("bpe", 'initial_alphabet=["a", "b"]', ["a", "b"]),
        ("bpe", 'normalizer={"type": "NFC"}', normalizers.NFC()),
        ("unigram", "required_chars=12", "12"),
        ("unigram", "shrinking_factor=0.5", 0.5),
        ("unigram", "split_digits=true", True),
        ("unigram", "split_digits=False", False),
        ("bpe", "limit_alphabet=None", None),
        ("unigram", "normalizer=nfkc", "nfkc"),
        ("char", "unk_token=" + "[" * 100_000, "[" * 100_000),
    ],
)
def test_settings(kind: str, given: str, expected: object) -> None:
    assert settings(kind, (given,), OPTIONS) == {given.partition("=")[0]: expected}


def test_the_last_setting_counts() -> None:
    given = ("tie_break=first", "limit_alphabet=3", "tie_break=alphabetic")
    assert settings("bpe", given, OPTIONS) == {"tie_break": "alphabetic", "limit_alphabet": 3}


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("", "it must be NAME=VALUE"),
        ("=3", "no such parameter"),
        ("tie_break =first", "did you mean 'tie_break'"),
        ("self=3", "no such parameter"),
        ("start_from=x", "an option of its own, --start-from"),
    ],
)
def test_settings_that_are_none(given: str, told: str) -> None:
    with pytest.raises(click.UsageError, match=told):
        settings("bpe", (given,), OPTIONS)


def test_a_dry_run_writes_nothing(tmp_path: Path) -> None:
    rehearse(jeton.BPETrainer(300), tmp_path / "a.json")
    # What it asks for is too much or too little for so short a text: training itself will tell.
    rehearse(jeton.BPETrainer(300, pattern="[x-z]+"), tmp_path / "a.unknown")
    with pytest.raises(UnsupportedError, match=f"^{tmp_path}/vocab.txt: "):
        rehearse(jeton.BPETrainer(300), tmp_path / "vocab.txt")
    assert list(tmp_path.iterdir()) == []


def test_a_failed_save_keeps_the_earlier_file(tmp_path: Path) -> None:
    tok = jeton.BPETrainer(258, pattern="gpt2").train(["hello hello"])
    (tmp_path / "a.model").write_text("mine", encoding="utf-8")
    characters = jeton.CharTrainer().train("hello")
    with pytest.raises(UnsupportedError, match=f"^{tmp_path}/a.model: "):
        save(characters, tmp_path / "a.model")
    assert [path.name for path in tmp_path.iterdir()] == ["a.model"]
    save(tok, tmp_path / "vocab.json")
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["a.model", "merges.txt", "vocab.json"]
