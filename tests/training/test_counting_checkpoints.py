"""Counting resumes from its checkpoint, with the counts of a run that nothing stopped."""

from __future__ import annotations

import gzip
import os
import random
from pathlib import Path
from typing import Any

import pytest

import jeton
from jeton.corpora import checkpoints
from jeton.corpora.progress import Progress
from jeton.errors import ArgumentError, FileError, FormatError, JetonError, TrainingWarning

TRAINER = jeton.BPETrainer(300, pattern="gpt2")


@pytest.fixture
def corpus(tmp_path: Path) -> list[Path]:
    """Lines, records, compressed text, separated values and whole documents."""
    numbers = random.Random(5)
    words = ["to", "be", "or", "not", "that", "is", "the", "question", "ünder", "你好"]
    folder = tmp_path / "corpus"
    folder.mkdir()
    lines = [" ".join(numbers.choices(words, k=9)) for _ in range(400)]
    (folder / "a.jsonl").write_text("".join(f'{{"text": "{line}"}}\n' for line in lines))
    (folder / "b.txt").write_text("\n".join(lines[:150]))
    (folder / "c.txt.gz").write_bytes(gzip.compress("\n".join(lines[50:]).encode()))
    (folder / "d.csv").write_text("text\n" + "\n".join(lines[70:]))
    for number in range(7):
        (folder / f"e{number}.txt").write_text("\n".join(lines[number : number + 20]))
    return sorted(folder.iterdir())


@pytest.fixture
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pieces of some lines, with a checkpoint after each."""
    monkeypatch.setattr(checkpoints, "_PIECE", 1_000)
    monkeypatch.setattr(checkpoints, "_SECONDS", 0.0)


class Stop(Exception):
    pass


@pytest.mark.usefixtures("small_pieces")
@pytest.mark.parametrize("documents", ["file", "line"])
def test_a_run_that_is_stopped_again_and_again(
    corpus: list[Path], tmp_path: Path, documents: Any
) -> None:
    checkpoint = tmp_path / "counts.checkpoint"
    reported: list[int] = []
    total = sum(path.stat().st_size for path in corpus)
    calls = runs = 0

    def watch(step: Progress) -> None:
        nonlocal calls
        calls += 1
        assert step.phase == "counting" and step.total == total and step.done <= total
        reported.append(step.done)
        if calls == 3 and runs < 200:
            raise Stop

    while True:
        calls, runs = 0, runs + 1

        try:
            counts = TRAINER.count(corpus, documents=documents, checkpoint=checkpoint, watch=watch)
        except Stop:
            continue
        break
    assert runs > 5
    assert reported[-1] == total
    assert counts == TRAINER.count(corpus, documents=documents)
    # The file stays: the same call has nothing left to do.
    again = TRAINER.count(corpus, documents=documents, checkpoint=checkpoint)
    assert again == counts


def test_a_run_without_a_stop_and_other_limits(corpus: list[Path], tmp_path: Path) -> None:
    trainer = jeton.WordPieceTrainer(300, min_word_count=40, max_word_length=4)
    with pytest.warns(TrainingWarning) as plain:
        expected = trainer.count(corpus, memory="64MB")
    with pytest.warns(TrainingWarning) as told:
        counts = trainer.count(corpus, memory="64MB", checkpoint=tmp_path / "c")
    assert counts == expected
    assert {str(it.message) for it in told} == {str(it.message) for it in plain}
    assert jeton.WordCounts.count(corpus, checkpoint=tmp_path / "d") == jeton.WordCounts.count(
        corpus
    )


@pytest.mark.usefixtures("small_pieces")
def test_records_that_were_left_out_are_counted_over_all_runs(tmp_path: Path) -> None:
    for number in range(3):
        (tmp_path / f"{number}.jsonl").write_text('{"text": "a b"}\nno record\n' * 90)
    files = sorted(tmp_path.glob("*.jsonl"))
    how: dict[str, Any] = {"bad_records": "drop", "checkpoint": tmp_path / "c"}

    def stop(step: Progress) -> None:
        raise Stop

    with pytest.raises(Stop):
        TRAINER.count(files, watch=stop, **how)
    for _ in range(2):
        with pytest.warns(TrainingWarning, match="left out 270 records"):
            counts = TRAINER.count(files, **how)
        assert counts["a"] == 270


def test_bad_checkpoints(corpus: list[Path], tmp_path: Path) -> None:
    checkpoint = tmp_path / "c"
    TRAINER.count(corpus, checkpoint=checkpoint)
    with pytest.raises(FileError, match="other files were counted, or with other settings"):
        TRAINER.count(corpus[1:], checkpoint=checkpoint)
    with pytest.raises(FileError, match="other settings; remove it"):
        jeton.BPETrainer(300, pattern="gpt4").count(corpus, checkpoint=checkpoint)
    with pytest.raises(FileError, match="other settings"):
        TRAINER.count(corpus, documents="line", checkpoint=checkpoint)
    whole = checkpoint.read_bytes()
    for damaged in (b"", b"text", whole[:-9], whole[:40], whole[:-1] + b"\0"):
        checkpoint.write_bytes(damaged)
        with pytest.raises(FormatError, match=r"c: is (damaged|not a checkpoint)"):
            TRAINER.count(corpus, checkpoint=checkpoint)
    with pytest.raises(FileError, match="cannot be read"):
        TRAINER.count(corpus, checkpoint=tmp_path)
    with pytest.raises(JetonError, match="folder"):
        TRAINER.count(corpus, checkpoint=tmp_path / "no/such/c")


def test_data_that_cannot_be_read_again(tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match="checkpoint is for files"):
        TRAINER.count(["a text"], checkpoint=tmp_path / "c")
    with pytest.raises(ArgumentError, match="checkpoint is for counting"):
        TRAINER.count(jeton.WordCounts([("a", 1)]), checkpoint=tmp_path / "c")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ArgumentError, match="a pipe cannot be read again"):
        TRAINER.count([tmp_path / "pipe"], checkpoint=tmp_path / "c")


def test_a_file_that_changes_while_it_is_counted(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("a b c\n")

    def change(step: Progress) -> None:
        path.write_text("a b c d\n")

    with pytest.raises(FileError, match=r"a\.txt: changed while it was counted"):
        TRAINER.count([path], checkpoint=tmp_path / "c", watch=change)
    assert not (tmp_path / "c").exists()
