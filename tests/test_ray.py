"""Counting on a cluster: what one machine makes, whichever node is lost."""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import threading
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import jeton
import jeton.ray
from jeton import samples
from jeton.errors import (
    ArgumentError,
    ArgumentTypeError,
    FormatError,
    MissingFileError,
)
from jeton.ray.pieces import pieces_of

pytest.importorskip("ray.data")


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    """A small cluster on this machine: a head without cores, and a node with one."""
    import ray.data
    from ray.cluster_utils import Cluster

    node = {"object_store_memory": 80_000_000}
    # A node that is lost is noticed soon.
    soon = {
        "health_check_initial_delay_ms": 2_000,
        "health_check_period_ms": 1_000,
        "health_check_failure_threshold": 5,
    }
    head = {**node, "num_cpus": 0, "_system_config": soon}
    found = Cluster(initialize_head=True, head_node_args=head)
    try:
        found.add_node(num_cpus=1, **node)
        ray.init(address=found.address, log_to_driver=False, logging_level="error")
        context = ray.data.DataContext.get_current()
        context.enable_progress_bars = False
        # Nothing waits for a cluster that is gone.
        context.execution_no_progress_timeout_s = 120
        yield found
    finally:
        ray.shutdown()
        with contextlib.suppress(Exception):
            found.shutdown()


TEXTS = list(samples.read_all().values())


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Files of all kinds."""
    folder = tmp_path_factory.mktemp("corpus")
    plain, packed, lines = folder / "a.txt", folder / "b.txt.gz", folder / "c.jsonl"
    plain.write_text("\ufeff" + "\n".join(TEXTS), encoding="utf-8")
    packed.write_bytes(gzip.compress(TEXTS[0].encode()))
    import pyarrow
    from pyarrow import parquet

    lines.write_text("".join(json.dumps({"text": text}) + "\n" for text in TEXTS), encoding="utf-8")
    parquet.write_table(pyarrow.table({"text": [*TEXTS, None]}), folder / "d.parquet")
    return [plain, packed, lines, folder / "d.parquet"]


def test_pieces_have_each_line_once(corpus: list[Path]) -> None:
    pieces = list(pieces_of(corpus, 10_000))
    assert [piece.path for piece in pieces if not piece.stop] == [
        bytes(corpus[1]),
        bytes(corpus[3]),
    ]
    for path in (corpus[0], corpus[2]):
        mine = [piece for piece in pieces if piece.path == bytes(path)]
        assert len(mine) > 3
        assert mine[0].start == 0 and mine[-1].stop == path.stat().st_size
        assert all(a.stop == b.start for a, b in pairwise(mine))


TRAINERS: list[tuple[str, Any]] = [
    ("bytes", jeton.BPETrainer(500)),
    ("rare words", jeton.WordPieceTrainer(500, min_word_count=3)),
    ("long words", jeton.BPETrainer(500, max_word_length=5)),
    ("whole texts", jeton.UnigramTrainer(1_000)),
    ("characters", jeton.CharTrainer()),
]


@pytest.mark.parametrize("what, trainer", TRAINERS, ids=[what for what, _ in TRAINERS])
@pytest.mark.filterwarnings("ignore::jeton.errors.TrainingWarning")
def test_counts_are_those_of_one_machine(
    cluster: Any, corpus: list[Path], what: str, trainer: Any
) -> None:
    counts = jeton.ray.count(corpus, trainer, piece_size=20_000)
    assert counts == trainer.count(corpus)
    assert trainer.train(counts).vocab == trainer.train(corpus).vocab


def test_words_that_are_cut_are_told(cluster: Any, corpus: list[Path]) -> None:
    trainer = jeton.BPETrainer(500, max_word_length=5)
    with pytest.warns(jeton.errors.TrainingWarning) as expected:
        trainer.count(corpus[:1])
    with pytest.warns(jeton.errors.TrainingWarning) as told:
        jeton.ray.count(corpus[:1], trainer, piece_size=20_000)
    assert [str(it.message) for it in told] == [str(it.message) for it in expected]


def test_datasets(cluster: Any) -> None:
    import ray.data

    trainer = jeton.BPETrainer(500)
    rows = [{"text": text, "other": 1} for text in [*TEXTS, None]]
    dataset = ray.data.from_items(rows, override_num_blocks=5)
    assert jeton.ray.count(dataset, trainer) == trainer.count(TEXTS)
    with pytest.raises(FormatError, match=r"no column 'body' \(it has text, other\)"):
        jeton.ray.count(dataset, trainer, field="body")
    with pytest.raises(FormatError, match="column 'other' of the dataset holds int64, not text"):
        jeton.ray.count(dataset, trainer, field="other")
    empty = jeton.ray.count(dataset.filter(lambda row: False), trainer)
    assert len(empty) == 0


@contextlib.contextmanager
def killed(cluster: Any, lost: Any, notes: Path) -> Iterator[Any]:
    """Gives a slow step for datasets, and kills a node as soon as it is at its second block."""
    import ray

    def slow(batch: Any) -> Any:
        node = ray.get_runtime_context().get_node_id()
        (notes / f"{node} {os.getpid()} {time.monotonic_ns()}").touch()
        time.sleep(0.4)
        return batch

    def kill() -> None:
        for _ in range(600):
            if len(list(notes.glob(f"{lost.node_id} *"))) >= 2:
                cluster.remove_node(lost, allow_graceful=False)
                return
            time.sleep(0.05)

    killer = threading.Thread(target=kill)
    killer.start()
    yield slow
    killer.join()
    assert lost not in cluster.list_all_nodes()


def test_a_node_that_is_lost(cluster: Any, tmp_path: Path) -> None:
    import ray.data

    lost = cluster.add_node(num_cpus=1, object_store_memory=80_000_000)
    trainer = jeton.BPETrainer(500)
    rows = [{"text": text} for text in TEXTS * 8]
    with killed(cluster, lost, tmp_path) as slow:
        dataset = ray.data.from_items(rows, override_num_blocks=16).map_batches(slow)
        counts = jeton.ray.count(dataset, trainer)
    assert len(list(tmp_path.iterdir())) > 16, "nothing had to be done again"
    assert counts == trainer.count(TEXTS * 8)


CALLS: list[tuple[str, Any, dict[str, Any], type[Exception], str]] = [
    ("texts", ["some text"], {}, ArgumentTypeError, "for texts that are here"),
    ("number", 3, {}, ArgumentTypeError, "data must be"),
    ("nothing there", "nowhere/*.txt", {}, MissingFileError, "there is no such file"),
    ("standard input", "-", {}, ArgumentError, "cannot be read from a cluster"),
    ("piece", "-", {"piece_size": 0}, ArgumentError, "piece_size must be at least 1"),
    ("trainer", "-", {"trainer": 3}, ArgumentTypeError, "trainer must be one of jeton"),
    ("errors", "-", {"errors": "strikt"}, ArgumentError, "did you mean 'strict'"),
    ("field", "-", {"field": 3}, ArgumentTypeError, "field must be a str"),
]


@pytest.mark.parametrize("what, given, options, error, told", CALLS, ids=[it[0] for it in CALLS])
def test_arguments(
    what: str, given: Any, options: dict[str, Any], error: type[Exception], told: str
) -> None:
    with pytest.raises(error, match=told):
        jeton.ray.count(given, **{"trainer": jeton.BPETrainer(300), **options})


def test_errors_of_a_task(cluster: Any, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"line\n" * 2_000 + b"caf\xe9\n")
    with pytest.raises(FormatError, match=r"a\.txt.*not UTF-8 at byte 10003") as told:
        jeton.ray.count(tmp_path, jeton.BPETrainer(300), piece_size=3_000)
    assert type(told.value) is FormatError and str(told.value).endswith('errors="ignore")')
    counts = jeton.ray.count(tmp_path, jeton.BPETrainer(300), errors="replace")
    assert counts == jeton.BPETrainer(300).count(tmp_path, errors="replace")
