"""What a corpus may be: paths of every kind, in the order given; pipes that wait; and nothing.

Look here for interrupts while a pipe is read, and for tables; `test_training.py` has the rest.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

import jeton
from jeton.errors import FormatError, TrainingError, TrainingWarning


def words(data: Any, **options: Any) -> list[str]:
    counts = jeton.WordCounts.count(data, pattern="whitespace", **options)
    return [word for word, _ in counts.items()]


@pytest.mark.parametrize("pipe", ["standard input", "silent FIFO", "FIFO nobody writes to"])
def test_an_interrupt_while_a_pipe_brings_nothing(pipe: str, tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    target = tmp_path / "tokenizer.json"
    source = "-" if pipe == "standard input" else str(fifo)
    with subprocess.Popen(
        [sys.executable, "-m", "jeton", "train", source, "-o", str(target)],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # What runs in the background ignores SIGINT, and so do its children.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    ) as process:
        assert process.stderr
        writer = os.open(fifo, os.O_RDWR) if pipe == "silent FIFO" else None
        try:
            wait_for_the_reader(process)
            process.send_signal(signal.SIGINT)
            assert process.wait(10) == 130
        finally:
            process.kill()
            if writer is not None:
                os.close(writer)
        assert process.stderr.read().decode().startswith("jeton: interrupted")
    assert not target.exists()


def wait_for_the_reader(process: subprocess.Popen[bytes]) -> None:
    """Until the process has been at rest for a while, so that it waits for the pipe."""
    stat = Path(f"/proc/{process.pid}/stat")
    if not stat.exists():
        time.sleep(5)
        return
    until, last, since = time.monotonic() + 60, "", time.monotonic()
    while time.monotonic() < until and time.monotonic() - since < 1.5:
        time.sleep(0.1)
        used = " ".join(stat.read_text().rsplit(")")[-1].split()[11:12])
        state = stat.read_text().rsplit(")")[-1].split()[0]
        if used != last or state != "S":
            last, since = used, time.monotonic()


def test_a_fifo_is_read_whole(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    writer = threading.Thread(target=fifo.write_text, args=("one two three\n",))
    writer.start()
    assert words(fifo) == ["one", "two", "three"]
    writer.join()


def test_tables_are_counted_where_they_stand(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    names = ["a.txt", "b.PARQUET", "c.txt", "d.parquet"]
    paths = [tmp_path / name for name in names]
    for path in paths:
        if path.suffix == ".txt":
            path.write_text(path.stem)
        else:
            parquet.write_table(pyarrow.table({"text": [path.stem]}), path)
    assert words(paths) == ["a", "b", "c", "d"]
    assert words(paths[::-1]) == ["d", "c", "b", "a"]
    steps: list[Any] = []
    words(paths, watch=steps.append)
    size = sum(path.stat().st_size for path in paths)
    assert [step.text for step in steps] == [1, 2, 3, 4, 4]
    assert all(step.total == size for step in steps)
    done = [step.done for step in steps]
    assert done == sorted(done) and done[-1] == size


def test_a_column_that_holds_no_text(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "numbers.parquet"
    texts = pyarrow.array(["one", None, "one"])
    parquet.write_table(
        pyarrow.table({"text": [1, 2, 3], "lists": [["x"]] * 3, "few": texts.dictionary_encode()}),
        path,
    )
    for column, kind in (("text", "int64"), ("lists", "list")):
        steps: list[object] = []
        (tmp_path / "a.txt").write_text("a")
        with pytest.raises(
            FormatError, match=rf"numbers\.parquet: column '{column}' holds {kind}.*, not text"
        ):
            words([tmp_path / "a.txt", path], field=column, watch=steps.append)
        assert not steps, "nothing was counted"
    assert words(path, field="few") == ["one"]


def test_any_iterable_of_paths(tmp_path: Path) -> None:
    for name in "abc":
        (tmp_path / f"{name}.txt").write_text(name)
    paths = sorted(tmp_path.glob("*.txt"))
    assert sorted(words(tmp_path.glob("*.txt"))) == ["a", "b", "c"]
    assert words(path for path in paths[::-1]) == ["c", "b", "a"]
    assert words(set(paths)) == ["a", "b", "c"]
    assert words(dict.fromkeys(paths)) == ["a", "b", "c"]
    assert words(iter([str(paths[0])])) == words([str(paths[0]), "a text"])[:-2] != ["a"]


@pytest.mark.parametrize("kind", [jeton.BPETrainer, jeton.WordPieceTrainer, jeton.UnigramTrainer])
def test_an_empty_corpus(kind: Any, tmp_path: Path) -> None:
    path = tmp_path / "empty.txt"
    path.touch()
    empty: list[Iterable[object]] = [[], [""], iter(()), [path], jeton.WordCounts()]
    for corpus in empty:
        with pytest.raises(TrainingError, match="the corpus has no words to learn from"):
            kind(300).train(corpus)


def test_rare_words_of_counts_are_left_out() -> None:
    texts = ["often often rare"]
    counts = jeton.WordCounts.count(texts, pattern="gpt2")
    trainer = jeton.BPETrainer(300, pattern="gpt2", min_word_count=1)
    assert trainer.train(counts).vocab_size > 260
    texts *= 2
    counts = jeton.WordCounts.count([*texts, "once"], pattern="gpt2")
    trainer = jeton.BPETrainer(300, pattern="gpt2", min_word_count=2)
    with pytest.warns(TrainingWarning, match="1 distinct words .* min_word_count=2 times"):
        kept = trainer.train(counts)
    assert kept == jeton.BPETrainer(300, pattern="gpt2").train(counts.at_least(2))
    with pytest.raises(TrainingError, match="min_word_count too high"), pytest.warns():
        jeton.BPETrainer(300, pattern="gpt2", min_word_count=9).train(counts)
