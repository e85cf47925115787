"""Counting and preparing on a cluster: what one machine makes, whichever node is lost."""

from __future__ import annotations

import contextlib
import faulthandler
import gzip
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import jeton
import jeton.ray
from jeton import data, samples
from jeton.corpora.pieces import pieces_of
from jeton.errors import (
    ArgumentError,
    ArgumentTypeError,
    FileError,
    FormatError,
    MissingFileError,
)
from jeton.ray import running, shuffling
from prepared import contents

pytestmark = pytest.mark.large

pytest.importorskip("ray.data")


@contextlib.contextmanager
def within(seconds: int) -> Iterator[None]:
    """Ends what takes longer by an error, and where no signal reaches it by that of the process."""

    def late(*_: object) -> None:
        pytest.fail(f"not done in {seconds} s")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(seconds)
    faulthandler.dump_traceback_later(seconds + 30, exit=True, file=sys.__stderr__ or 2)
    try:
        yield
    finally:
        signal.alarm(0)
        faulthandler.cancel_dump_traceback_later()
        signal.signal(signal.SIGALRM, before)


@pytest.fixture(autouse=True)
def without_end() -> Iterator[None]:
    """A cluster may wait for what never comes."""
    with within(240):
        yield


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
    with within(120):
        found = Cluster(initialize_head=True, head_node_args=head)
    try:
        with within(120):
            found.add_node(num_cpus=1, **node)
            ray.init(address=found.address, log_to_driver=False, logging_level="error")
        context = ray.data.DataContext.get_current()
        context.enable_progress_bars = False
        # Nothing waits for a cluster that is gone.
        context.execution_no_progress_timeout_s = 120
        yield found
    finally:
        with within(120):
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
    pieces = list(pieces_of(corpus, 10_000, None, unit=True))
    assert [piece.path for piece in pieces if not piece.stop] == [
        bytes(corpus[1]),
        bytes(corpus[3]),
    ]
    for path in (corpus[0], corpus[2]):
        mine = [piece for piece in pieces if piece.path == bytes(path)]
        assert len(mine) > 3
        assert mine[0].start == 0 and mine[-1].stop == path.stat().st_size
        assert all(a.stop == b.start for a, b in pairwise(mine))
    # A file that is one document is not divided.
    whole = [piece for piece in pieces_of(corpus, 10_000, None, unit=False) if not piece.stop]
    assert bytes(corpus[0]) in [piece.path for piece in whole] and len(whole) == 3


TRAINERS: list[tuple[str, Any]] = [
    ("bytes", jeton.BPETrainer(500)),
    ("rare words", jeton.WordPieceTrainer(500, min_word_count=3)),
    ("long words", jeton.BPETrainer(500, max_word_length=5)),
    ("whole texts", jeton.UnigramTrainer(1_000)),
    ("characters", jeton.CharTrainer()),
]


@pytest.mark.parametrize("documents", ["file", "line"])
@pytest.mark.parametrize("what, trainer", TRAINERS, ids=[what for what, _ in TRAINERS])
@pytest.mark.filterwarnings("ignore::jeton.errors.TrainingWarning")
def test_counts_are_those_of_one_machine(
    cluster: Any, corpus: list[Path], what: str, trainer: Any, documents: Any
) -> None:
    counts = jeton.ray.count(corpus, trainer, documents=documents, piece_size=20_000)
    assert counts == trainer.count(corpus, documents=documents)
    assert trainer.train(counts).vocab == trainer.train(corpus, documents=documents).vocab


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
    raw = ray.data.from_items([{"text": text.encode()} for text in TEXTS], override_num_blocks=5)
    assert jeton.ray.count(raw, trainer) == trainer.count(TEXTS)
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

    is_over = threading.Event()

    def kill() -> None:
        while not is_over.wait(0.05):
            if len(list(notes.glob(f"{lost.node_id} *"))) >= 2:
                cluster.remove_node(lost, allow_graceful=False)
                return

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        yield slow
    finally:
        is_over.set()
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
        jeton.ray.count(tmp_path, jeton.BPETrainer(300), documents="line", piece_size=3_000)
    assert type(told.value) is FormatError and str(told.value).endswith('errors="ignore")')
    counts = jeton.ray.count(tmp_path, jeton.BPETrainer(300), errors="replace")
    assert counts == jeton.BPETrainer(300).count(tmp_path, errors="replace")


# Preparing


def documents() -> list[str]:
    """Some hundred texts."""
    return [part for text in TEXTS for part in text.split("\n\n") if part]


@pytest.fixture(scope="module")
def tokenizer() -> jeton.Tokenizer:
    return jeton.BPETrainer(500, special_tokens=["<|endoftext|>"]).train(documents())


@pytest.fixture(scope="module")
def shards(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """JSON lines in several files."""
    folder = tmp_path_factory.mktemp("shards")
    texts = documents()
    for number in range(12):
        lines = [json.dumps({"text": text}) + "\n" for text in texts[number::12]]
        (folder / f"{number:02d}.jsonl").write_text("".join(lines), encoding="utf-8")
    return sorted(folder.iterdir())


SETS: list[tuple[str, dict[str, Any]]] = [
    ("one split", {}),
    ("cut", {"layout": "llm.c", "validation": 0.1}),
    ("hash", {"layout": "datatrove", "validation": 0.3, "split": "hash"}),
    ("data", {"layout": "parquet", "validation": True}),
    ("shuffled into one file", {"layout": "megatron", "shuffle": 3, "shard_tokens": None}),
    ("shuffled", {"shuffle": 3}),
    ("shuffled, cut", {"layout": "olmo", "shuffle": 3, "validation": 0.2, "split": "cut"}),
    ("shuffled, hash", {"layout": "llm.c", "shuffle": 4, "validation": 0.2, "split": "hash"}),
    ("shuffled, data", {"layout": "npy", "shuffle": 0, "validation": True}),
    ("one file", {"layout": "nanogpt", "shard_tokens": None, "end_of_text_place": "before"}),
]


@pytest.mark.parametrize("what, options", SETS, ids=[what for what, _ in SETS])
def test_files_are_those_of_one_machine(
    cluster: Any,
    shards: list[Path],
    tokenizer: jeton.Tokenizer,
    tmp_path: Path,
    what: str,
    options: dict[str, Any],
) -> None:
    options = {"shard_tokens": 3_000, **options}
    if "validation" in options and options["validation"] is True:
        options["validation"] = shards[:3]
    data.prepare(shards, tokenizer, tmp_path / "one", **options)
    prepare = jeton.ray.prepare
    manifest = prepare(shards, tokenizer, tmp_path / "many", part_size=20_000, **options)
    assert contents(tmp_path / "many") == contents(tmp_path / "one")
    # Whole already: neither read nor written again.
    assert prepare(shards, tokenizer, tmp_path / "many", **options) == manifest


@pytest.mark.parametrize("options", [{}, {"filter": lambda document: True}])
def test_another_part_size_after_an_interruption(
    cluster: Any,
    shards: list[Path],
    tokenizer: jeton.Tokenizer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    options: dict[str, Any],
) -> None:
    one = tmp_path / "all.jsonl"
    one.write_bytes(b"".join(path.read_bytes() for path in shards))
    files = [one, *shards]
    data.prepare(files, tokenizer, tmp_path / "one", **options)

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("jeton.ray.preparing.written_in_parallel", interrupted)
        with pytest.raises(KeyboardInterrupt):
            jeton.ray.prepare(files, tokenizer, tmp_path / "many", part_size=5_000, **options)
    jeton.ray.prepare(files, tokenizer, tmp_path / "many", part_size=9_000, **options)
    assert contents(tmp_path / "many") == contents(tmp_path / "one")


@pytest.mark.parametrize("options", [{}, {"shuffle": 1}, {"layout": "nanogpt"}])
def test_nothing_is_left_if_no_document_is_left(
    cluster: Any,
    shards: list[Path],
    tokenizer: jeton.Tokenizer,
    tmp_path: Path,
    options: dict[str, Any],
) -> None:
    options["filter"] = lambda document: False
    told = r"there is no document for training.* is left out \([\d,]+ left out by filters\)"
    with pytest.raises(ArgumentError, match=told):
        jeton.ray.prepare(shards, tokenizer, tmp_path / "many", part_size=20_000, **options)
    assert contents(tmp_path / "many") == {}


@pytest.mark.parametrize("validation", [None, 0.3, 0.999])
def test_copies_are_shuffled_as_on_one_machine(
    cluster: Any,
    tokenizer: jeton.Tokenizer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    validation: float | None,
) -> None:
    monkeypatch.setattr("jeton.ray.shuffling.buckets_for", lambda size, memory: 16)
    # Two texts a hundred times each, in all files, beside others.
    texts = [*documents()[:40], *["again and again"] * 100, *["over and over"] * 100]
    for number in range(5):
        lines = [json.dumps({"text": text}) + "\n" for text in texts[number::5]]
        (tmp_path / f"{number}.jsonl").write_text("".join(lines), encoding="utf-8")
    files = sorted(tmp_path.glob("*.jsonl"))
    options: dict[str, Any] = {"shard_tokens": 300, "shuffle": 7, "validation": validation}
    options["split"] = "cut"
    data.prepare(files, tokenizer, tmp_path / "one", **options)
    jeton.ray.prepare(files, tokenizer, tmp_path / "many", part_size=1, **options)
    assert contents(tmp_path / "many") == contents(tmp_path / "one")


@pytest.fixture(scope="module")
def chats(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Conversations in one file of JSON lines, with empty lines and some that are not fit."""
    path, texts = tmp_path_factory.mktemp("chats") / "chats.jsonl", documents()
    lines = []
    for number, text in enumerate(texts):
        turns = [
            {"role": "user", "content": f"{number} <|im_end|>?", "refusal": f"no {number}"},
            {"role": "assistant", "content": text},
            {"role": "user", "content": "Again?"},
            {"role": "assistant", "content": "No."},
        ]
        fields = {"messages": turns if number % 9 else [], "score": number % 5}
        lines.append(json.dumps(fields) + "\n" + "\n" * (number % 4 == 0))
    path.write_text("".join(lines), encoding="utf-8")
    return path


TEMPLATE = (
    "{% for it in messages %}{{ '<|im_start|>' + it.role + '\n' + it.content + '<|im_end|>\n' }}"
    "{% endfor %}"
)

CHATS: list[tuple[str, dict[str, Any]]] = [
    ("in order", {}),
    ("cut", {"validation": 0.2, "split": "cut", "layout": "olmo"}),
    ("hash", {"validation": 0.2, "split": "hash", "layout": "datatrove"}),
    ("shuffled", {"validation": 0.2, "split": "cut", "shuffle": 2}),
    ("filtered", {"filter": "score >= 2", "layout": "parquet"}),
]


@pytest.mark.parametrize("what, options", CHATS, ids=[what for what, _ in CHATS])
@pytest.mark.parametrize("is_table", [False, True], ids=["lines", "table"])
def test_chats_are_those_of_one_machine(
    cluster: Any, chats: Path, tmp_path: Path, what: str, options: dict[str, Any], is_table: bool
) -> None:
    file = chats
    if is_table:
        import pyarrow
        from pyarrow import parquet

        rows = [json.loads(line) for line in chats.read_text("utf-8").splitlines() if line]
        file = tmp_path / "chats.parquet"
        parquet.write_table(pyarrow.Table.from_pylist(rows), file, row_group_size=50)
    tok = jeton.BPETrainer(500, special_tokens=["<|im_start|>", "<|im_end|>"]).train(documents())
    how = data.Conversations(template=TEMPLATE, max_tokens=200, bad_records="drop")
    options = {"shard_tokens": 3_000, "messages": how, **options}
    with pytest.warns(jeton.errors.ChatWarning, match=r"messages\[0\]\.refusal") as expected:
        data.prepare([file], tok, tmp_path / "one", **options)
    with pytest.warns(jeton.errors.ChatWarning, match=r"messages\[0\]\.refusal") as told:
        jeton.ray.prepare([file], tok, tmp_path / "many", part_size=20_000, **options)
    kinds = [
        {str(it.message) for it in some if it.category is jeton.errors.ChatWarning}
        for some in (expected, told)
    ]
    assert (
        len(kinds[0])
        == len(kinds[1])
        == sum(it.category is jeton.errors.ChatWarning for it in told)
    )
    assert contents(tmp_path / "many") == contents(tmp_path / "one")
    manifest = data.Manifest.read(tmp_path / "many")
    assert manifest.bad_documents and manifest.chats and manifest.chats["truncated"]


def test_bad_chats_of_a_piece_are_named(cluster: Any, chats: Path, tmp_path: Path) -> None:
    path, lines = tmp_path / "chats.jsonl", chats.read_text("utf-8").splitlines()
    whole = [line for line in lines if line and "[]" not in line]
    path.write_text("\n".join([*whole, '{"messages": 3}']), encoding="utf-8")
    tok = jeton.BPETrainer(500, special_tokens=["<|im_start|>", "<|im_end|>"]).train(documents())
    how = data.Conversations(template=TEMPLATE)
    with pytest.raises(FormatError, match=rf"chats\.jsonl: line {len(whole) + 1}"):
        jeton.ray.prepare(path, tok, tmp_path / "set", messages=how, part_size=20_000)


def test_chats_of_a_dataset_when_a_node_is_lost(cluster: Any, chats: Path, tmp_path: Path) -> None:
    import ray.data

    lost = cluster.add_node(num_cpus=1, object_store_memory=80_000_000)
    notes = tmp_path / "notes"
    notes.mkdir()
    rows = [json.loads(line) for line in chats.read_text("utf-8").splitlines() if line]
    rows = [{"messages": json.dumps(row["messages"])} for row in rows if row["messages"]]
    tok = jeton.BPETrainer(500, special_tokens=["<|im_start|>", "<|im_end|>"]).train(documents())
    options: dict[str, Any] = {"shard_tokens": 3_000, "shuffle": 1}
    options["messages"] = data.Conversations(template=TEMPLATE)
    with killed(cluster, lost, notes) as slow, pytest.warns(jeton.errors.ChatWarning):
        dataset = ray.data.from_items(rows, override_num_blocks=12).map_batches(slow)
        jeton.ray.prepare(dataset, tok, tmp_path / "many", **options)
    assert len(list(notes.iterdir())) > 12, "nothing had to be done again"
    with pytest.warns(jeton.errors.ChatWarning):
        data.prepare(rows, tok, tmp_path / "one", **options)
    assert tokens_of(tmp_path / "many") == tokens_of(tmp_path / "one")


def test_prepared_from_datasets(cluster: Any, tokenizer: jeton.Tokenizer, tmp_path: Path) -> None:
    import ray.data

    texts = documents()
    train = ray.data.from_items([{"body": text} for text in texts[9:]], override_num_blocks=5)
    val = ray.data.from_items([{"body": text} for text in texts[:9]], override_num_blocks=2)
    options: dict[str, Any] = {"shard_tokens": 3_000, "field": "body"}
    jeton.ray.prepare(train, tokenizer, tmp_path / "many", validation=val, **options)
    rows = [{"body": text} for text in texts]
    data.prepare(rows[9:], tokenizer, tmp_path / "one", validation=rows[:9], **options)
    assert tokens_of(tmp_path / "many") == tokens_of(tmp_path / "one")
    assert data.verify(tmp_path / "many") == []


def tokens_of(folder: Path) -> dict[str, bytes]:
    """All files but the manifest, which names the inputs."""
    return {name: file for name, file in contents(folder).items() if name != "manifest.json"}


def test_preparing_when_a_node_is_lost(
    cluster: Any, tokenizer: jeton.Tokenizer, tmp_path: Path
) -> None:
    import ray.data

    lost = cluster.add_node(num_cpus=1, object_store_memory=80_000_000)
    notes = tmp_path / "notes"
    notes.mkdir()
    texts = documents()
    rows = [{"text": text} for text in texts]
    with killed(cluster, lost, notes) as slow:
        dataset = ray.data.from_items(rows, override_num_blocks=12).map_batches(slow)
        manifest = jeton.ray.prepare(dataset, tokenizer, tmp_path / "many", shard_tokens=3_000)
    assert len(list(notes.iterdir())) > 12, "nothing had to be done again"
    data.prepare(texts, tokenizer, tmp_path / "one", shard_tokens=3_000)
    assert tokens_of(tmp_path / "many") == tokens_of(tmp_path / "one")
    assert manifest.documents == len(texts)


def test_the_same_call_goes_on(
    cluster: Any, shards: list[Path], tokenizer: jeton.Tokenizer, tmp_path: Path
) -> None:
    inputs = [tmp_path / path.name for path in shards]
    for path, source in zip(inputs, shards, strict=True):
        path.write_bytes(source.read_bytes())
    broken = inputs[7].read_bytes()
    inputs[7].write_bytes(broken[:-9] + b"\xff" * 8 + b"\n")
    many = tmp_path / "many"
    options: dict[str, Any] = {"shard_tokens": 3_000, "part_size": 1}
    with pytest.raises(FormatError, match=r"07\.jsonl"):
        jeton.ray.prepare(inputs, tokenizer, many, **options)
    assert set(contents(many)) and not (many / "manifest.json").exists()
    kept = {path: path.stat().st_mtime_ns for path in many.glob(".parts/0*/manifest.json")}
    assert kept
    with pytest.raises(FileError, match="holds another set, with another"):
        jeton.ray.prepare(inputs, tokenizer, many, **options, end_of_text=None)
    inputs[7].write_bytes(broken)
    jeton.ray.prepare(inputs, tokenizer, many, **options)
    data.prepare(inputs, tokenizer, tmp_path / "one", shard_tokens=3_000)
    assert contents(many) == contents(tmp_path / "one")


def test_a_shuffle_goes_on_with_the_files_that_are_whole(
    cluster: Any,
    shards: list[Path],
    tokenizer: jeton.Tokenizer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    many, whole = tmp_path / "many", dict[Path, int]()
    run_rows = running.run_rows

    def interrupted(rows: list[Any], work: Any, num_cpus: float) -> list[Any]:
        if work.__name__ == "bring_into_order":
            files = many.glob(".parts/shuffle/*/*")
            now = {path: path.stat().st_mtime_ns for path in files}
            if not whole:
                whole.update(now)
                raise FileError("the disk is full")
            assert now == whole
        return run_rows(rows, work, num_cpus)

    monkeypatch.setattr(shuffling, "run_rows", interrupted)
    options: dict[str, Any] = {"shard_tokens": 3_000, "shuffle": 3}
    with pytest.raises(FileError, match="the disk is full"):
        jeton.ray.prepare(shards, tokenizer, many, **options, part_size=1)
    (many / ".parts" / "shuffle" / "of-another-call").mkdir()
    jeton.ray.prepare(shards, tokenizer, many, **options, part_size=1)
    assert any(path.name.endswith(".copies") for path in whole)
    data.prepare(shards, tokenizer, tmp_path / "one", **options)
    assert contents(many) == contents(tmp_path / "one")


PREPARED: list[tuple[str, Any, dict[str, Any], type[Exception], str]] = [
    ("texts", ["some text"], {}, ArgumentError, "for texts that are here"),
    ("nothing there", "nowhere/*.txt", {}, MissingFileError, "there is no such file"),
    ("layout", "-", {"layout": "nanogtp"}, ArgumentError, "did you mean 'nanogpt'"),
    ("part", "-", {"part_size": 0}, ArgumentError, "part_size must be at least 1"),
]


@pytest.mark.parametrize(
    "what, given, options, error, told", PREPARED, ids=[it[0] for it in PREPARED]
)
def test_arguments_of_prepare(
    tokenizer: jeton.Tokenizer,
    tmp_path: Path,
    what: str,
    given: Any,
    options: dict[str, Any],
    error: type[Exception],
    told: str,
) -> None:
    with pytest.raises(error, match=told):
        jeton.ray.prepare(given, tokenizer, tmp_path / "set", **options)
    assert not (tmp_path / "set").exists()
