"""Parts of preparing by themselves: the journal, keys of documents, sinks, what is shown."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import click
import numpy as np
import pytest

from jeton.cli import prepare_progress
from jeton.corpora.token_blocks.blocks import Block, SourcePosition
from jeton.data import PrepareProgress, layouts
from jeton.data.preparing.document_keys import Keyed
from jeton.data.preparing.journal import Consumed, Journal
from jeton.data.preparing.sinks import ByHash, CutAtToken, Plain, Sink, hash_limit, split_lengths
from jeton.errors import FileError, FormatError

RUN = {"jeton": "1", "tokenizer": "d", "options": {"layout": "jeton"}, "inputs": {"train": []}}


# The journal


def nothing_read(_: object) -> dict[str, Consumed]:
    return {"train": Consumed(0, 0)}


def test_a_journal_gives_back_what_was_saved(tmp_path: Path) -> None:
    with Journal(tmp_path / "set") as journal:
        assert journal.begin(RUN, nothing_read) is None
        journal.save({"pass": 0})
        journal.add_digest(0, 3, 10, "aa")
        journal.save({"pass": 1})
    with Journal(tmp_path / "set") as journal:
        assert journal.begin(RUN, nothing_read) == {"pass": 1}
        journal.add_digest(1, 0, 20, "bb")
        assert journal.digests() == {0: {3: (10, "aa")}, 1: {0: (20, "bb")}}


def test_a_line_that_was_cut_short_is_no_digest(tmp_path: Path) -> None:
    with Journal(tmp_path) as journal:
        journal.begin(RUN, nothing_read)
        journal.add_digest(0, 0, 10, "aa")
        journal.save({})
        journal.save({})
    path = tmp_path / ".preparing" / "digests.jsonl"
    path.write_bytes(path.read_bytes() + b"[0, 1, 2")
    with Journal(tmp_path) as journal:
        journal.begin(RUN, nothing_read)
        journal.add_digest(0, 2, 30, "cc")
        assert journal.digests() == {0: {0: (10, "aa"), 2: (30, "cc")}}


def test_nothing_is_left_of_what_took_no_work(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), Journal(tmp_path / "set") as journal:
        journal.begin(RUN, nothing_read)
        journal.save({})
        raise ZeroDivisionError
    assert not (tmp_path / "set").exists()


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"tokenizer": "e"}, "the tokenizer is not the one"),
        ({"options": {"layout": "megatron"}}, "started with layout='jeton', not 'megatron'"),
        ({"inputs": {"train": [{"path": "a"}]}}, "the inputs are not those"),
        ({"jeton": "2"}, "was started by jeton 1, which may give other files"),
    ],
)
def test_another_run_is_told_by_what_differs(
    tmp_path: Path, changed: dict[str, Any], told: str
) -> None:
    with Journal(tmp_path) as journal:
        journal.begin(RUN, nothing_read)
        journal.save({})
        journal.save({})
    with Journal(tmp_path) as journal, pytest.raises(FileError, match=told):
        journal.begin({**RUN, **changed}, lambda _: {"train": Consumed(0, None)})


def test_a_state_that_is_no_state(tmp_path: Path) -> None:
    with Journal(tmp_path) as journal:
        journal.begin(RUN, nothing_read)
        journal.save({})
        journal.save({})
    (tmp_path / ".preparing" / "state.json").write_text("[]")
    with Journal(tmp_path) as journal, pytest.raises(FormatError, match="is damaged"):
        journal.begin(RUN, nothing_read)


# Sinks


def blocks(lengths: list[int], keys: list[int], cuts: list[int]) -> list[Block]:
    """Blocks of documents whose tokens count on, cut at some tokens."""
    ends = np.cumsum(lengths)
    flat = np.arange(ends[-1], dtype=np.uint16)
    found: list[Block] = []
    bounds = sorted({0, *cuts, len(flat)})
    for start, stop in pairwise(bounds):
        begins = [start, *(int(end) for end in ends if start < end < stop)]
        here = np.diff([*begins, stop])
        firsts = [
            number for number, end in enumerate(ends) if start <= end - lengths[number] < stop
        ]
        before = SourcePosition((start,)) if start in {0, *ends.tolist()} else None
        after = SourcePosition((stop,)) if stop in ends else None
        known = np.array([keys[number] for number in firsts], np.uint64)
        found.append(Block(flat[start:stop], here, known, before, after))
    return found


LENGTHS = [3, 4, 2, 5, 1]
KEYS = [1 << 60, 1 << 63, 5, (1 << 64) - 1, 1 << 62]
CUTS: list[list[int]] = [[], [3, 7], [1, 2, 5, 8, 10], [4, 11, 14]]


def written(folder: Path, split: str) -> list[list[int]]:
    """The documents of a split."""
    found: list[list[int]] = []
    for shard in layouts.read(folder, split=split):
        ends = [] if shard.ends is None else shard.ends.tolist()
        found += [shard.tokens[a:b].tolist() for a, b in pairwise([0, *ends])]
    return found


def two(folder: Path) -> tuple[layouts.Writer, layouts.Writer]:
    """Writers of both splits."""
    return (
        layouts.create("jeton", folder, split="train", dtype="uint16"),
        layouts.create("jeton", folder, split="val", dtype="uint16"),
    )


def rows(flat: list[int], lengths: list[int]) -> list[list[int]]:
    """Documents of flat tokens."""
    ends = np.cumsum(lengths).tolist()
    return [flat[end - length : end] for end, length in zip(ends, lengths, strict=True)]


def through(sink: Sink, given: list[Block], writers: list[layouts.Writer]) -> None:
    for block in given:
        sink.append(block)
        # It can go on after it, unless that is within a document.
        assert block.after is not None or sink.resume_point() is None
    sink.finish()
    for writer in writers:
        writer.finish()
    sink.close()


@pytest.mark.parametrize("cuts", CUTS)
def test_all_documents_go_to_one_split(tmp_path: Path, cuts: list[int]) -> None:
    train = layouts.create("jeton", tmp_path, dtype="uint16")
    through(Plain(train), blocks(LENGTHS, KEYS, cuts), [train])
    assert written(tmp_path, "train") == rows(list(range(15)), LENGTHS)


@pytest.mark.parametrize("cuts", CUTS)
def test_documents_with_a_small_key_validate(tmp_path: Path, cuts: list[int]) -> None:
    train, val = two(tmp_path)
    through(ByHash(train, val, Fraction(1, 2)), blocks(LENGTHS, KEYS, cuts), [train, val])
    every = rows(list(range(15)), LENGTHS)
    assert written(tmp_path, "train") == [every[1], every[3]]
    assert written(tmp_path, "val") == [every[0], every[2], every[4]]


@pytest.mark.parametrize("share", [Fraction(1, 10), Fraction(1, 2), Fraction(14, 15)])
@pytest.mark.parametrize("cuts", CUTS)
def test_a_split_parts_one_document(tmp_path: Path, cuts: list[int], share: Fraction) -> None:
    train, val = two(tmp_path)
    sink = CutAtToken(train, val, share, tmp_path, "uint16", None)
    through(sink, blocks(LENGTHS, KEYS, cuts), [train, val])
    at = int(15 * (1 - share))
    before, behind = split_lengths(np.array(LENGTHS), at)
    assert written(tmp_path, "train") == rows(list(range(at)), before.tolist())
    assert written(tmp_path, "val") == rows(list(range(at, 15)), behind.tolist())


@pytest.mark.parametrize(
    ("share", "limit"),
    [(Fraction(1, 2), 1 << 63), (Fraction(1, 3), -(-(1 << 64) // 3)), (Fraction(1), 2**64 - 1)],
)
def test_limit_of_keys(share: Fraction, limit: int) -> None:
    assert hash_limit(share) == limit


@pytest.mark.parametrize("cuts", CUTS)
def test_a_part_keeps_the_keys_of_its_documents(tmp_path: Path, cuts: list[int]) -> None:
    given = blocks(LENGTHS, KEYS, cuts)
    train = layouts.create("jeton", tmp_path, dtype="uint16")
    through(Keyed(train, tmp_path, None), given, [train])
    assert np.fromfile(tmp_path / Keyed.FILE, "<u8").tolist() == KEYS


def test_keys_behind_a_state_are_forgotten(tmp_path: Path) -> None:
    first, second = blocks(LENGTHS, KEYS, [7])
    train = layouts.create("jeton", tmp_path, dtype="uint16")
    sink = Keyed(train, tmp_path, None)
    sink.append(first)
    sink.sync()
    state, saved = json.loads(json.dumps(sink.state())), train.checkpoint()
    sink.append(second)
    sink.close()
    train.close()
    train = layouts.create("jeton", tmp_path, dtype="uint16", state=saved)
    through(Keyed(train, tmp_path, state), [second], [train])
    assert np.fromfile(tmp_path / Keyed.FILE, "<u8").tolist() == KEYS


# What is shown of the progress


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
