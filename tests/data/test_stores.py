"""Files of object stores are read as those of this machine; sets are written to stores whole."""

from __future__ import annotations

import gzip
import itertools
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest
from click.testing import CliRunner

import jeton
from jeton import data
from jeton.cli import main
from jeton.data import StorePath, TokenDataset, prepare
from jeton.errors import (
    ArgumentError,
    FileError,
    FormatError,
    JetonError,
    MissingFileError,
    TrainingWarning,
    UnsupportedError,
)
from jeton.stores import local_copies
from jeton.stores.files import listed
from jeton.stores.urls import scrubbed, shown
from prepared import NAMES, documents, tokenizer
from store_servers import KEYS, WebFiles, gs_server, hub_server, s3_server, web_server

fsspec = pytest.importorskip("fsspec")

TOK = tokenizer()
TEXTS = [text.strip() or "x" for text in documents(200) if text]


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache of its own for each test."""
    monkeypatch.setenv("JETON_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def memory() -> Iterator[Any]:
    """The store `memory://`, empty."""
    system = fsspec.filesystem("memory")
    yield system
    system.store.clear()
    system.pseudo_dirs[:] = [""]


def jsonl(texts: list[str]) -> bytes:
    return b"".join(json.dumps({"text": text, "n": len(text)}).encode() + b"\n" for text in texts)


def corpus() -> dict[str, bytes]:
    """Files of every kind, with their documents."""
    return {
        "a.jsonl": jsonl(TEXTS[:20]),
        "b/c.jsonl.gz": gzip.compress(jsonl(TEXTS[20:40]), mtime=0),
        "b/a b#1.jsonl": jsonl(TEXTS[40:50]),
        "z.txt": TEXTS[50].encode(),
        "t.csv": b'text,n\n"one, two",1\nthree,2\n',
        ".hidden.jsonl": b"not JSON\n",
        "b/.git/x.jsonl": b"not JSON\n",
    }


def put_corpus(system: Any, folder: Path, files: dict[str, bytes]) -> None:
    """The same files in `memory://b/corpus` and in a folder."""
    for name, content in files.items():
        system.pipe(f"/b/corpus/{name}", content)
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)


def contents(system: Any, root: str) -> dict[str, bytes]:
    return {name[len(root) + 1 :]: system.cat(name) for name in system.find(root)}


def files_in(folder: Path) -> dict[str, bytes]:
    paths = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


def without_inputs(files: dict[str, bytes]) -> dict[str, Any]:
    """The files of a set; of its manifest everything but where the inputs came from."""
    manifest = json.loads(files["manifest.json"])
    digests = [entry.get("sha256") for entry in manifest.pop("inputs")]
    return {**files, "manifest.json": (manifest, digests)}


# Reading


@pytest.mark.parametrize("options", [{}, {"validation": 0.2, "shuffle": 3}], ids=str)
def test_a_corpus_is_read_from_a_store_as_from_a_folder(
    memory: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: dict[str, Any]
) -> None:
    monkeypatch.setattr(local_copies, "_GROUP", 2000)
    put_corpus(memory, tmp_path / "corpus", corpus())
    prepare(tmp_path / "corpus", TOK, tmp_path / "local", **options)
    prepare("memory://b/corpus", TOK, tmp_path / "remote", **options)
    local, remote = files_in(tmp_path / "local"), files_in(tmp_path / "remote")
    assert without_inputs(local) == without_inputs(remote)
    names = [entry["path"] for entry in json.loads(remote["manifest.json"])["inputs"]]
    assert names == [
        f"memory://b/corpus/{name}"
        for name in ("a.jsonl", "b/a b#1.jsonl", "b/c.jsonl.gz", "t.csv", "z.txt")
    ]


CALLS: dict[str, Callable[[Any], object]] = {
    "train": lambda where: jeton.BPETrainer(300).train(where).digest,
    "count": lambda where: [*jeton.BPETrainer(300).count(where)],
    "usage": lambda where: TOK.usage(where).counts.tolist(),
    "evaluate": lambda where: str(jeton.analysis.evaluate(TOK, where)),
    "stream": lambda where: next(iter(data.stream(where, TOK, 2, 8))).x.tolist(),
    "records": lambda where: prepare(where, TOK, os.environ["JETON_CACHE_DIR"] + f"/{time.time()}",
                                     filter="n >= 3").documents,
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_calls_on_a_corpus_take_urls(memory: Any, tmp_path: Path, name: str) -> None:
    files = {key: it for key, it in corpus().items() if key.endswith((".jsonl", ".gz"))}
    put_corpus(memory, tmp_path / "corpus", files)
    assert CALLS[name]("memory://b/corpus/") == CALLS[name](tmp_path / "corpus")


def test_tables_are_read(memory: Any, tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    parquet.write_table(pyarrow.table({"text": TEXTS[:9]}), tmp_path / "t.parquet")
    memory.pipe("/b/t.parquet", (tmp_path / "t.parquet").read_bytes())
    prepare("memory://b/t.parquet", TOK, tmp_path / "remote")
    prepare(TEXTS[:9], TOK, tmp_path / "local")
    assert (tmp_path / "remote/train-00000.bin").read_bytes() == (
        tmp_path / "local/train-00000.bin"
    ).read_bytes()


def test_patterns_lists_and_repeats(memory: Any, tmp_path: Path) -> None:
    put_corpus(memory, tmp_path / "corpus", corpus())
    both = [StorePath("memory://b/corpus/*.jsonl"), tmp_path / "corpus" / "z.txt"]
    manifest = prepare(both, TOK, tmp_path / "set")
    assert [entry["path"] for entry in manifest.inputs] == [
        "memory://b/corpus/a.jsonl",
        str(tmp_path / "corpus/z.txt"),
    ]
    with pytest.warns(TrainingWarning, match="1 file is in the corpus more than once"):
        prepare([both[0], StorePath("memory://b/corpus/a.jsonl")], TOK, tmp_path / "again")
    # The name of a file may look like a pattern.
    memory.pipe("/b/odd[1]*.txt", b"one")
    memory.pipe("/b/odd1x.txt", b"two")
    assert prepare("memory://b/odd[1]*.txt", TOK, tmp_path / "odd").documents == 1


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        (".git/*.txt", [".git/a.txt"]),
        (".git/.*.txt", [".git/.b.txt"]),
        (".git", [".git/a.txt"]),
        ("*/*.txt", ["c/e.txt"]),
        ("**/.git/*.txt", [".git/.git/c.txt", ".git/a.txt", "c/.git/d.txt"]),
    ],
)
def test_hidden_files_are_read_where_a_pattern_says_so(
    memory: Any, pattern: str, names: list[str]
) -> None:
    for name in (".git/a.txt", ".git/.b.txt", ".git/.git/c.txt", "c/.git/d.txt", "c/e.txt"):
        memory.pipe(f"/b/{name}", b"text")
    found = [str(it).removeprefix("memory://b/") for it in listed(f"memory://b/{pattern}")]
    assert found == names


def test_a_list_of_urls_is_a_list_of_texts(tmp_path: Path) -> None:
    manifest = prepare(["https://example.org/a"], TOK, tmp_path / "set")
    assert "path" not in manifest.inputs[0]


def test_errors_and_dropped_records_name_the_url(
    memory: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    memory.pipe("/b/bad.jsonl", jsonl(["a"]) + b'{"text": 3}\n' + jsonl(["b"]))
    with pytest.raises(FormatError, match=r"^memory://b/bad\.jsonl: line 2"):
        prepare("memory://b/bad.jsonl", TOK, tmp_path / "set")
    prepare("memory://b/bad.jsonl", TOK, tmp_path / "set", bad_records="drop")
    [line] = (tmp_path / "set/dropped.jsonl").read_text().splitlines()
    assert json.loads(line)["path"] == "memory://b/bad.jsonl"
    with pytest.warns(TrainingWarning, match="left out 1 record"):
        jeton.BPETrainer(260).train("memory://b/bad.jsonl", bad_records="drop")
    assert "memory://b/bad.jsonl: line 2" in caplog.text


def test_counting_resumes_from_a_checkpoint(memory: Any, tmp_path: Path) -> None:
    put_corpus(memory, tmp_path / "corpus", {"a.jsonl": jsonl(TEXTS), "b.jsonl": jsonl(TEXTS[:9])})
    trainer = jeton.BPETrainer(300)
    checkpoint = tmp_path / "counting"
    counts = trainer.count("memory://b/corpus", checkpoint=checkpoint)
    assert counts == trainer.count(tmp_path / "corpus")
    assert trainer.count("memory://b/corpus", checkpoint=checkpoint) == counts
    memory.pipe("/b/corpus/b.jsonl", jsonl(TEXTS[:8]))
    with pytest.raises(FileError, match="other files were counted"):
        trainer.count("memory://b/corpus", checkpoint=checkpoint)


@pytest.mark.parametrize(
    ("url", "error", "message"),
    [
        ("memory://b/none.txt", MissingFileError, "memory://b/none.txt: there is no such file"),
        ("memory://b/none/*.txt", MissingFileError, "holds no files"),
        ("ftp://host/a.txt", UnsupportedError, r"ftp:// cannot be read here; jeton takes s3://"),
        ("simplecache::s3://b/a", UnsupportedError, "chains of schemes"),
        ("s3::http://b/a", UnsupportedError, "chains of schemes"),
        ("memory://b/a\n", ArgumentError, "unprintable"),
        (Path("s3://b/a.txt"), ArgumentError, "pathlib drops a slash"),
    ],
)
def test_urls_that_cannot_be_read_are_refused(
    memory: Any, tmp_path: Path, url: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        prepare(url, TOK, tmp_path / "set")
    assert not (tmp_path / "set").exists()


@pytest.mark.parametrize(
    "call",
    [
        lambda url: TOK.save(url),
        lambda url: jeton.load(url),
        lambda url: jeton.BPETrainer(300).count(["a"]).save(url),
        lambda url: data.layouts.create("jeton", url, dtype="uint16"),
    ],
)
def test_calls_that_take_no_url_say_so(call: Callable[[str], object]) -> None:
    with pytest.raises(UnsupportedError, match=r"s3://b/x\.json is a URL, which is not taken"):
        call("s3://b/x.json")


def test_a_missing_package_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(UnsupportedError, match=r"s3:// needs fsspec and s3fs \(pip install 'jeton"):
        prepare("s3://b/a.txt", TOK, tmp_path / "set")


@pytest.mark.large
def test_a_truncated_download_is_repeated_and_then_an_error(
    memory: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory.pipe("/b/a.txt", b"to be or not to be")
    whole, failures = type(memory).get_file, itertools.count()

    def truncated(self: Any, path: str, target: str, **options: Any) -> None:
        whole(self, path, target, **options)
        if next(failures) < times:
            os.truncate(target, 5)

    monkeypatch.setattr(type(memory), "get_file", truncated)
    times = 2
    assert prepare("memory://b/a.txt", TOK, tmp_path / "set").bytes == 18
    times = 99
    with pytest.raises(FileError, match=r"a\.txt: cannot be read: EOFError: 5 bytes arrived of 18"):
        prepare("memory://b/a.txt", TOK, tmp_path / "other")


def test_a_file_that_changes_while_it_is_read_is_an_error(
    memory: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory.pipe("/b/a.txt", b"to be or not to be")
    whole = type(memory).get_file

    def changed(self: Any, path: str, target: str, **options: Any) -> None:
        memory.pipe("/b/a.txt", b"to be or not to bE")
        whole(self, path, target, **options)

    monkeypatch.setattr(type(memory), "get_file", changed)
    with pytest.raises(FileError, match=r"memory://b/a\.txt: changed while it was read"):
        prepare("memory://b/a.txt", TOK, tmp_path / "set")


def test_errors_hide_secrets(memory: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_SECRET_KEY", "hunter2hunter2")

    def denied(*_: object, **__: object) -> None:
        raise PermissionError("no https://me:pass@host/a?sig=abc for hunter2hunter2")

    monkeypatch.setattr(type(memory), "info", denied)
    with pytest.raises(FileError, match=r"cannot be read: PermissionError") as caught:
        prepare("memory://b/a.txt", TOK, tmp_path / "set")
    assert not any(it in str(caught.value) for it in ("hunter2", "pass@", "sig=abc"))
    assert caught.value.__cause__ is None and caught.value.__suppress_context__
    assert scrubbed("x" * 1000) == "x" * 300 + "…"


@pytest.mark.parametrize(
    "url",
    [
        "https://hunter2@host/a.txt",
        "https://me:p@hunter2@host/a.txt",
        "HTTPS://me:hunter2@host/a.txt",
        "s3://key:hunter2@bucket/a.txt",
        Path("https://me:hunter2@host/a.txt?sig=hunter2"),
        "https://host/a.txt?sig=hunter2",
    ],
)
def test_urls_are_shown_without_secrets(url: str | Path) -> None:
    assert "hunter2" not in shown(os.fspath(url)) + scrubbed(f"no {url}!")
    with pytest.raises(JetonError) as caught:
        TOK.save(url)
    assert "hunter2" not in str(caught.value)


def test_urls_keep_what_is_no_secret() -> None:
    for url in ("hf://gpt2@main/a.txt", "hf://datasets/a/b@v1/c.txt", "https://host/a@b.txt"):
        assert shown(url) == scrubbed(url) == url


# Sets


@pytest.mark.parametrize("layout", NAMES)
def test_a_set_is_written_to_a_store_and_read_from_it(
    memory: Any, tmp_path: Path, layout: Any
) -> None:
    how: dict[str, Any] = {"layout": layout, "validation": 0.2, "shuffle": 5}
    prepare(TEXTS, TOK, tmp_path / "local", **how)
    manifest = prepare(TEXTS, TOK, "memory://b/set/", **how)
    assert contents(memory, "/b/set") == files_in(tmp_path / "local")
    for split in ("train", "val"):
        there = TokenDataset("memory://b/set", split=split)
        assert there[:].tolist() == TokenDataset(tmp_path / "local", split=split)[:].tolist()
    assert data.layouts.splits("memory://b/set") == ["train", "val"]
    assert data.Manifest.read("memory://b/set") == manifest
    assert data.verify("memory://b/set") == []


def test_a_complete_set_is_returned_and_another_refused(memory: Any, tmp_path: Path) -> None:
    text = tmp_path / "a.txt"
    text.write_text("to be or not to be")
    manifest = prepare(text, TOK, "memory://b/set")
    before = contents(memory, "/b/set")
    assert prepare(text, TOK, "memory://b/set") == manifest
    assert contents(memory, "/b/set") == before
    with pytest.raises(FileError, match=r"^memory://b/set: holds another set, with another layout"):
        prepare(text, TOK, "memory://b/set", layout="nanogpt")
    os.utime(text, (2e9, 2e9))
    with pytest.raises(FileError, match="may have changed since"):
        prepare(text, TOK, "memory://b/set")


@pytest.mark.parametrize(
    ("layout", "name"),
    [("jeton", "train-00000.bin"), ("mds", "train/index.json"), ("litdata", "train/index.json")],
)
def test_files_of_others_are_not_replaced(memory: Any, layout: Any, name: str) -> None:
    memory.pipe(f"/b/set/{name}", b"of somebody")
    with pytest.raises(FileError, match=f"memory://b/set/{re.escape(name)}: exists already"):
        prepare(TEXTS, TOK, "memory://b/set", layout=layout)
    assert contents(memory, "/b/set") == {name: b"of somebody"}


def test_a_set_that_was_removed_is_made_again_after_another_was_refused(memory: Any) -> None:
    memory.pipe("/b/a.txt", b"to be or not to be")
    prepare(StorePath("memory://b/a.txt"), TOK, "memory://b/set")
    before = contents(memory, "/b/set")
    with pytest.raises(FileError, match="holds another set, with another layout"):
        prepare(StorePath("memory://b/a.txt"), TOK, "memory://b/set", layout="nanogpt")
    memory.rm("/b/set", recursive=True)
    prepare(StorePath("memory://b/a.txt"), TOK, "memory://b/set")
    assert contents(memory, "/b/set") == before


def test_errors_of_the_data_and_of_the_callback_stay_as_they_are(memory: Any) -> None:
    def broken() -> Iterator[str]:
        yield "to be"
        raise ConnectionResetError("the source of the data broke")

    def watch(_: object) -> None:
        raise BrokenPipeError("nobody watches")

    with pytest.raises(ConnectionResetError, match="the source of the data broke"):
        prepare(broken(), TOK, "memory://b/set")
    with pytest.raises(BrokenPipeError, match="nobody watches"):
        prepare(TEXTS, TOK, "memory://b/another", watch=watch)


def test_a_cache_that_cannot_be_written_is_named(
    memory: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepare(TEXTS, TOK, "memory://b/set")
    (tmp_path / "file").touch()
    monkeypatch.setenv("JETON_CACHE_DIR", str(tmp_path / "file"))
    for call in (
        lambda: prepare(TEXTS, TOK, "memory://b/new"),
        lambda: TokenDataset("memory://b/set"),
    ):
        with pytest.raises(FileError, match=r"cannot be written: .*JETON_CACHE_DIR"):
            call()


def test_parts_are_merged_in_a_store(memory: Any, tmp_path: Path) -> None:
    put_corpus(memory, tmp_path / "corpus", {f"{at}.jsonl": jsonl(TEXTS[at::3]) for at in range(3)})
    how: dict[str, Any] = {"validation": 0.2, "shuffle": 5}
    for part in (1, 2):
        prepare("memory://b/corpus", TOK, f"memory://b/part-{part}", part=(part, 2), **how)
    data.merge(["memory://b/part-2", "memory://b/part-1"], "memory://b/merged")
    prepare("memory://b/corpus", TOK, "memory://b/set", **how)
    assert contents(memory, "/b/merged") == contents(memory, "/b/set")


def test_mixtures_and_loaders_read_stores(memory: Any, tmp_path: Path) -> None:
    for name in "ab":
        prepare(TEXTS[ord(name) % 2 :: 2], TOK, f"memory://b/{name}")
    mixture = data.mix({"memory://b/a": 0.5, "memory://b/b": 0.5}, tokens=400)
    mixture.save(tmp_path / "mixture.json")
    again = data.Mixture.read(tmp_path / "mixture.json")
    batches = [next(iter(it.loader(8, 4)))[0].tolist() for it in (mixture, again)]
    assert batches[0] == batches[1]


def test_a_copy_follows_the_store(memory: Any, cache: Path) -> None:
    prepare(TEXTS, TOK, "memory://b/set")
    before = TokenDataset("memory://b/set")[:].tolist()
    [copied] = cache.glob("stores/*/copy/train-00000.bin")
    at = copied.stat().st_mtime_ns
    TokenDataset("memory://b/set")
    assert copied.stat().st_mtime_ns == at  # not fetched again
    memory.rm("/b/set", recursive=True)
    prepare(TEXTS[:30], TOK, "memory://b/set")
    assert TokenDataset("memory://b/set")[:].tolist() != before
    memory.rm("/b/set", recursive=True)
    with pytest.raises(MissingFileError, match="memory://b/set: holds no files"):
        TokenDataset("memory://b/set")


def test_a_copy_has_no_files_that_an_interrupted_one_left(
    memory: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepare(TEXTS, TOK, "memory://b/set", shard_tokens=600)
    whole = type(memory).get_file

    def get_file(self: Any, source: str, *arguments: Any, **options: Any) -> None:
        if source.endswith("train-00000.bin"):
            time.sleep(0.2)  # until the others are there
            raise Killed
        whole(self, source, *arguments, **options)

    with monkeypatch.context() as patch, pytest.raises(Killed):
        patch.setattr(type(memory), "get_file", get_file)
        TokenDataset("memory://b/set")
    memory.rm("/b/set", recursive=True)
    manifest = prepare(TEXTS[:20], TOK, "memory://b/set", shard_tokens=600)
    there = TokenDataset("memory://b/set")
    assert len(there) == manifest.splits["train"].tokens
    assert not [*there.path.glob(".*.part")]


def test_copying_stops_where_a_file_fails(memory: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    prepare(TEXTS, TOK, "memory://b/set")
    whole, ended = type(memory).get_file, []

    def get_file(self: Any, source: str, target: str, callback: Any, **options: Any) -> None:
        if source.endswith("manifest.json"):
            raise Killed
        for _ in range(300):
            callback.relative_update(0)
            time.sleep(0.01)
        whole(self, source, target, **options)
        ended.append(source)

    monkeypatch.setattr(type(memory), "get_file", get_file)
    with pytest.raises(Killed):
        TokenDataset("memory://b/set")
    assert ended == []


def test_a_single_file_of_a_set_is_refused(memory: Any) -> None:
    prepare(TEXTS, TOK, "memory://b/set")
    with pytest.raises(FileError, match="is a file; name the folder of the set"):
        TokenDataset("memory://b/set/train-00000.bin")


class Killed(BaseException):
    """What a test raises in place of a kill."""


@pytest.mark.parametrize("after", range(6))
def test_writing_resumes_wherever_it_was_stopped(
    memory: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, after: int
) -> None:
    how: dict[str, Any] = {"shard_tokens": 600, "validation": 0.2}
    prepare(TEXTS, TOK, tmp_path / "local", **how)
    whole, calls, names = type(memory).put_file, itertools.count(), []

    def put_file(self: Any, source: str, target: str, **options: Any) -> None:
        if next(calls) == after:
            raise Killed
        whole(self, source, target, **options)
        names.append(target.rpartition("/")[2])

    with monkeypatch.context() as patch:
        patch.setattr(type(memory), "put_file", put_file)
        with pytest.raises(Killed):
            prepare(TEXTS, TOK, "memory://b/set", **how)
    assert "manifest.json" not in names
    with pytest.raises(FileError, match="memory://b/set: is still being written"):
        TokenDataset("memory://b/set")
    with pytest.raises(FileError, match="another set is being written"):
        write_other()
    monkeypatch.setattr(type(memory), "put_file", put_file)
    calls = itertools.count(99)
    prepare(TEXTS, TOK, "memory://b/set", **how)
    assert names[-1] == "manifest.json"
    assert contents(memory, "/b/set") == files_in(tmp_path / "local")
    assert len(names) == len(set(names))  # nothing is written twice


def test_a_set_that_is_finished_while_its_files_are_listed_is_not_read_in_part(
    memory: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepare(TEXTS, TOK, tmp_path / "local")
    files = files_in(tmp_path / "local")
    for name in (".writing", "train-00000.bin", "train-00000.ends"):
        memory.pipe(f"/b/set/{name}", files.get(name, b"mark"))
    whole = type(memory).find

    def find(self: Any, *arguments: Any, **options: Any) -> Any:
        found = whole(self, *arguments, **options)
        for name, content in files.items():
            memory.pipe(f"/b/set/{name}", content)
        memory.rm("/b/set/.writing")
        return found

    with monkeypatch.context() as patch:
        patch.setattr(type(memory), "find", find)
        with pytest.raises(FileError, match="memory://b/set: is still being written"):
            TokenDataset("memory://b/set")
    TokenDataset("memory://b/set")


def write_other() -> None:
    """Another machine, with a cache of its own, begins another set in the same place."""
    cache = os.environ["JETON_CACHE_DIR"]
    os.environ["JETON_CACHE_DIR"] = f"{cache}-2"
    try:
        prepare(TEXTS[:30], TOK, "memory://b/set")
    finally:
        os.environ["JETON_CACHE_DIR"] = cache


def test_of_two_machines_that_begin_at_once_one_writes(
    memory: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = type(memory).pipe_file

    def pipe_file(self: Any, path: str, value: bytes, mode: str = "overwrite") -> None:
        whole(self, path, b"the mark of another")
        whole(self, path, value, mode)

    monkeypatch.setattr(type(memory), "pipe_file", pipe_file)
    with pytest.raises(FileError, match="another set is being written"):
        prepare(TEXTS, TOK, "memory://b/set")
    assert contents(memory, "/b/set") == {".writing": b"the mark of another"}


def test_another_machine_finishes_what_one_began(
    memory: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepare(TEXTS, TOK, tmp_path / "local")
    whole, calls = type(memory).put_file, itertools.count()

    def put_file(self: Any, *arguments: Any, **options: Any) -> None:
        if next(calls) == 2:
            raise Killed
        whole(self, *arguments, **options)

    with monkeypatch.context() as patch:
        patch.setattr(type(memory), "put_file", put_file)
        with pytest.raises(Killed):
            prepare(TEXTS, TOK, "memory://b/set")
    monkeypatch.setenv("JETON_CACHE_DIR", str(tmp_path / "cache of another"))
    prepare(TEXTS, TOK, "memory://b/set")
    assert contents(memory, "/b/set") == files_in(tmp_path / "local")


def test_web_servers_are_not_written_to(tmp_path: Path) -> None:
    pytest.importorskip("aiohttp")
    with pytest.raises(UnsupportedError, match="a web server can only be read"):
        prepare(TEXTS, TOK, "https://example.org/set")


# The command line


def test_commands_take_urls(memory: Any, tmp_path: Path) -> None:
    put_corpus(memory, tmp_path / "corpus", {"a.jsonl": jsonl(TEXTS), "b.jsonl": jsonl(["b"])})
    TOK.save(tmp_path / "tok.json")

    def run(*arguments: str, code: int = 0) -> str:
        result = CliRunner().invoke(main, arguments, catch_exceptions=False)
        assert result.exit_code == code, result.output
        return result.output

    tok, corpus = str(tmp_path / "tok.json"), "memory://b/corpus/*.jsonl"
    run("train", corpus, "-o", str(tmp_path / "new.json"), "--vocab-size", "300")
    assert "memory://b/set" in run("prepare", tok, corpus, "-o", "memory://b/set")
    there = run("encode", tok, "memory://b/corpus/")
    here = str(tmp_path / "corpus")
    assert there == run("encode", tok, here)
    counts = run("count", tok, "memory://b/corpus/", "--format", "jsonl")
    counted_here = run("count", tok, here, "--format", "jsonl")
    assert counts.replace("memory://b", str(tmp_path)) == counted_here
    assert "all as they were written" in run("data", "verify", "memory://b/set")
    assert run("data", "show", "memory://b/set", "--at", "0", "--text").startswith(TEXTS[0][:20])
    mixture = str(tmp_path / "mixture.json")
    assert "total" in run("data", "mix", "memory://b/set=1.0", "-o", mixture)
    run("prepare", tok, corpus, "-o", "memory://b/part", "--part", "1/1")
    run("data", "merge", "memory://b/part", "-o", "memory://b/merged")
    assert memory.cat("/b/merged/train-00000.bin") == memory.cat("/b/set/train-00000.bin")
    assert "is a URL, which is not taken here" in run("diff", "s3://b/a", "b", code=2)


def test_commands_that_judge_take_urls(memory: Any, tmp_path: Path) -> None:
    chat = json.dumps([{"role": "user", "content": "a b"}])
    files = {"a.txt": "\n".join(TEXTS), "b.txt": "a b c\n" * 40, "chats.jsonl": chat + "\n"}
    put_corpus(memory, tmp_path / "corpus", {name: it.encode() for name, it in files.items()})
    TOK.save(tmp_path / "tok.json")
    jeton.CharTrainer().train([*TEXTS, "a b\n", "c"]).save(tmp_path / "other.json")
    toks = str(tmp_path / "tok.json"), str(tmp_path / "other.json")
    chatty = str(tmp_path / "chatty")
    TOK.save(chatty, chat_template="{% for it in messages %}{{ it.content }}{% endfor %}")
    folders = "memory://b/corpus", str(tmp_path / "corpus")

    def run(*arguments: str) -> list[str]:
        """What a command prints for files of the store, and for the same files here."""
        printed = []
        for folder in folders:
            words = [word.replace("CORPUS", folder) for word in arguments]
            result = CliRunner().invoke(main, words, catch_exceptions=False)
            assert result.exit_code == 0, result.output
            # Lines and columns are as long as the path leaves room.
            text = re.sub(" +|─+", " ", result.stdout.replace(folder, "CORPUS"))
            printed.append(text)
        return printed

    for command in (
        ["compare", *toks, "--corpus", "CORPUS/a.txt", "--corpus", "b=CORPUS/b.txt"],
        ["compare", *toks, "--parallel", "en=CORPUS/a.txt", "--parallel", "de=CORPUS/a.txt"],
        ["diff", *toks, "CORPUS/a.txt"],
        ["inspect", toks[0], "CORPUS/b.txt"],
        ["inspect", toks[0], "--corpus", "CORPUS/a.txt"],
        ["cost", toks[0], "CORPUS/a.txt", "CORPUS/b.txt", "--input-price", "1"],
        ["cost", chatty, "CORPUS/chats.jsonl", "--messages", "--lines", "--input-price", "1"],
        ["sweep", "x=CORPUS/a.txt", "CORPUS/b.txt", "--sizes", "300", "--family", "bpe"],
    ):
        there, here = run(*command)
        assert there == here and there
    sets = [str(tmp_path / f"{number}.json") for number in range(2)]
    for folder, target in zip(folders, sets, strict=True):
        words = ["train", f"en={folder}/a.txt", f"de={folder}/b.txt", "--languages", "base"]
        words += ["-o", target, "--vocab-size", "270"]
        result = CliRunner().invoke(main, words, catch_exceptions=False)
        assert result.exit_code == 0, result.output
    assert Path(sets[0]).read_bytes() == Path(sets[1]).read_bytes()
    result = CliRunner().invoke(main, ["train", "en=memory://b/corpus/a.txt", "-o", sets[0]])
    assert result.exit_code == 2 and "goes with --languages" in result.output


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("encode TOK ftp://me:hunter2@b/a.txt", "ftp://b/a.txt: ftp:// cannot be read here"),
        ("encode TOK s3::http://me:hunter2@b/a.txt", "fsspec's chains of schemes cannot be read"),
        ("prepare TOK a.txt -o set --validation ftp://b/a", "ftp:// cannot be read here"),
        ("compare TOK --corpus ftp://me:hunter2@b/a.txt", "ftp:// cannot be read here"),
        ("compare TOK --corpus news=ftp://me:hunter2@b/a", "ftp:// cannot be read here"),
        ("compare TOK --parallel de=ftp://me:hunter2@b/a.txt", "ftp:// cannot be read here"),
        ("compare TOK --morphemes s3://b/a.txt --corpus a", "is a URL, which is not taken here"),
        ("compare TOK --parallel https://b/a?sig=hunter2", "is not LANGUAGE=FILE"),
        ("sweep news=ftp://b/a.txt", "ftp:// cannot be read here"),
        ("diff TOK s3://b/tok.json", "is a URL, which is not taken here"),
    ],
)
def test_commands_refuse_urls_that_they_cannot_read(
    tmp_path: Path, words: str, message: str
) -> None:
    TOK.save(tmp_path / "tok.json")
    given = [str(tmp_path / "tok.json") if word == "TOK" else word for word in words.split()]
    result = CliRunner().invoke(main, given)
    assert isinstance(result.exception, SystemExit) and result.exit_code in (1, 2)
    assert message in result.output and "hunter2" not in result.output


# Web servers


@pytest.fixture
def web() -> Iterator[WebFiles]:
    pytest.importorskip("aiohttp")
    with web_server() as served:
        yield served


@pytest.mark.large
def test_files_and_folders_of_a_web_server(web: WebFiles, tmp_path: Path) -> None:
    for name, content in corpus().items():
        web.files[f"/corpus/{name}"] = content
        (tmp_path / "corpus" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "corpus" / name).write_bytes(content)
    there = prepare(f"{web.url}/corpus/", TOK, tmp_path / "remote")
    here = prepare(tmp_path / "corpus", TOK, tmp_path / "local")
    assert there.documents == here.documents and there.bytes == here.bytes
    with_token = f"{web.url}/corpus/a.jsonl?token=secret"
    TOK.save(tmp_path / "tok.json")
    counted = CliRunner().invoke(main, ["count", str(tmp_path / "tok.json"), with_token])
    assert counted.exit_code == 0 and "secret" not in counted.output
    one = prepare(with_token, TOK, tmp_path / "one")
    assert one.documents == 20
    assert "secret" not in (tmp_path / "one/manifest.json").read_text()


@pytest.mark.large
def test_pages_that_are_sorted_otherwise_and_files_elsewhere_are_no_files_of_a_folder(
    web: WebFiles,
) -> None:
    web.files |= {"/b/c/a.txt": b"one", "/b/c/d/e.txt": b"two", "/style.css": b"three"}
    others = '<a href="?C=M;O=D">x</a><a href="/b/">x</a><a href="/style.css">x</a>'
    web.files["/b/c/"] = f'{others}<a href="a.txt">x</a><a href="d/">x</a>'.encode()
    web.files["/b/c/d/"] = f'{others}<a href="e.txt">x</a><a href="/b/c/">x</a>'.encode()
    assert [str(it) for it in listed(f"{web.url}/b/c/")] == [
        f"{web.url}/b/c/a.txt",
        f"{web.url}/b/c/d/e.txt",
    ]


@pytest.mark.large
@pytest.mark.parametrize("name", ["set", "my%20set", "50%25"])
def test_a_set_of_a_web_server_is_read(web: WebFiles, tmp_path: Path, name: str) -> None:
    prepare(TEXTS, TOK, tmp_path / "set")
    for file, content in files_in(tmp_path / "set").items():
        web.files[f"/{unquote(name)}/{file}"] = content
    there = TokenDataset(f"{web.url}/{name}")
    assert there[:].tolist() == TokenDataset(tmp_path / "set")[:].tolist()


@pytest.mark.large
def test_a_mixture_shows_no_secrets(web: WebFiles, tmp_path: Path) -> None:
    prepare(TEXTS, TOK, tmp_path / "set")
    web.files = {f"/set/{name}": content for name, content in files_in(tmp_path / "set").items()}
    url = web.url.replace("://", "://me:hunter2@") + "/set"
    for sources in ({url: 1.0}, [url], ["1.0", url]):
        mixture = data.mix(sources)
        assert [*mixture.sets] == [f"{web.url}/set"]
        assert "hunter2" not in f"{mixture!r} {mixture}"
        mixture.save(tmp_path / "mixture.json")
        assert data.Mixture.read(tmp_path / "mixture.json").tokens == mixture.tokens


@pytest.mark.large
@pytest.mark.parametrize(
    ("fault", "value", "message"),
    [
        ("status", 404, "a.jsonl: there is no such file"),
        ("status", 403, r"a.jsonl: cannot be read: .*403.*\(set credentials"),
        ("status", 500, "a.jsonl: cannot be read: .*500"),
        ("truncated", 99, "a.jsonl: cannot be read: "),
        ("without_size", None, "does not say how many bytes"),
        ("changing", None, "a.jsonl: changed while it was read"),
    ],
)
def test_faults_of_a_web_server(
    web: WebFiles, tmp_path: Path, fault: str, value: int | None, message: str
) -> None:
    web.files["/a.jsonl"] = jsonl(TEXTS)
    faulty = getattr(web, fault)
    if value is None:
        faulty.add("/a.jsonl")
    else:
        faulty["/a.jsonl"] = value
    with pytest.raises((FileError, UnsupportedError), match=message):
        prepare(f"{web.url}/a.jsonl", TOK, tmp_path / "set")
    assert not (tmp_path / "set").exists()


@pytest.mark.large
def test_a_web_server_that_breaks_off_once_is_asked_again(web: WebFiles, tmp_path: Path) -> None:
    web.files["/a.jsonl"] = jsonl(TEXTS)
    web.truncated["/a.jsonl"] = 1
    assert prepare(f"{web.url}/a.jsonl", TOK, tmp_path / "set").documents == len(TEXTS)


@pytest.mark.large
def test_a_server_that_does_not_answer(tmp_path: Path) -> None:
    pytest.importorskip("aiohttp")
    with pytest.raises(FileError, match=r"http://127\.0\.0\.1:9/a\.txt: cannot be read: Client"):
        prepare("http://127.0.0.1:9/a.txt", TOK, tmp_path / "set")


# S3


@pytest.fixture(scope="module")
def server() -> Iterator[dict[str, str]]:
    pytest.importorskip("s3fs")
    pytest.importorskip("moto")
    with s3_server() as environment:
        yield environment


@pytest.fixture
def s3(server: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Any:
    """The store `s3://`, with an empty bucket."""
    for name, value in server.items():
        monkeypatch.setenv(name, value)
    system = fsspec.filesystem("s3", skip_instance_cache=True)
    if system.exists("bucket"):
        system.rm("bucket", recursive=True)
    system.mkdir("bucket")
    return system


@pytest.fixture
def gs(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The store `gs://`, with an empty bucket."""
    pytest.importorskip("gcsfs")
    pytest.importorskip("gcp_storage_emulator")
    with gs_server() as environment:
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        system = fsspec.filesystem("gs", skip_instance_cache=True)
        system.mkdir("bucket")
        yield system


@pytest.fixture
def hf(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The store `hf://`, with an empty data set `me/texts`."""
    constants = pytest.importorskip("huggingface_hub.constants")
    with hub_server() as hub:
        monkeypatch.setattr(constants, "ENDPOINT", hub.url)
        files = "{repo_id}/resolve/{revision}/{filename}"
        monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", f"{hub.url}/{files}")
        system = fsspec.filesystem("hf", skip_instance_cache=True)
        root = "datasets/me/texts/"
        # Its library writes no file below a folder named .git.
        system.pipe = lambda path, content: hub.files.update({path.removeprefix(root): content})
        yield system


@pytest.mark.large
@pytest.mark.parametrize(
    ("store", "root", "layout"),
    [
        ("s3", "bucket", "jeton"),
        ("s3", "bucket", "parquet"),
        ("gs", "bucket", "jeton"),
        ("hf", "datasets/me/texts", "jeton"),
    ],
)
def test_a_corpus_and_a_set_in_a_store(
    store: str, root: str, layout: Any, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    system = request.getfixturevalue(store)
    url = f"{store}://{root}"
    files = {**corpus(), "ä ü+&=%20/#.jsonl": jsonl(["odd"])}
    for name, content in files.items():
        system.pipe(f"{root}/corpus/{name}", content)
        (tmp_path / "corpus" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "corpus" / name).write_bytes(content)
    how: dict[str, Any] = {"layout": layout, "validation": 0.2, "shuffle": 1}
    prepare(f"{url}/corpus/", TOK, f"{url}/set", **how)
    prepare(tmp_path / "corpus", TOK, tmp_path / "local", **how)
    system.invalidate_cache()
    there = {name: system.cat(f"{root}/set/{name}") for name in files_in(tmp_path / "local")}
    assert without_inputs(there) == without_inputs(files_in(tmp_path / "local"))
    remote, local = TokenDataset(f"{url}/set"), TokenDataset(tmp_path / "local")
    assert remote[:].tolist() == local[:].tolist()
    assert data.verify(f"{url}/set") == []
    assert prepare(f"{url}/corpus/", TOK, f"{url}/set", **how).documents


@pytest.mark.large
def test_faults_of_s3(s3: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(MissingFileError, match=r"s3://none/a\.txt: there is no such file"):
        prepare("s3://none/a.txt", TOK, tmp_path / "set")
    with pytest.raises(FileError, match=r"s3://none/set/?\S*: (cannot be written|there is no)"):
        prepare(["a"], TOK, "s3://none/set")
    # What was prepared is there, and is written once the bucket is.
    s3.mkdir("none")
    assert prepare(["a"], TOK, "s3://none/set").documents == 1


@pytest.mark.large
def test_kills_at_any_time_leave_a_set_in_s3_that_is_resumed(
    s3: Any, server: dict[str, str], tmp_path: Path
) -> None:
    texts = [f"{at} {TEXTS[at % len(TEXTS)]}" for at in range(20_000)]
    for at in range(4):
        s3.pipe(f"bucket/corpus/{at}.jsonl", jsonl(texts[at::4]))
    TOK.save(tmp_path / "tokenizer.json")
    how = ["--shard-tokens", "20000", "--validation", "0.1", "--shuffle", "1", "--split", "hash"]

    def started(target: str) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [
                *(sys.executable, "-m", "jeton", "prepare", str(tmp_path / "tokenizer.json")),
                *("s3://bucket/corpus/*.jsonl", "-o", target, *how),
            ],
            env={**os.environ, **server, "JETON_CACHE_DIR": str(tmp_path / "cache")},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    begin = time.monotonic()
    _, output = started(str(tmp_path / "local")).communicate()
    takes = time.monotonic() - begin
    assert b"train:" in output and not any(it.encode() in output for it in KEYS.values())
    expected = files_in(tmp_path / "local")
    for kill in range(60):
        process = started("s3://bucket/set")
        try:
            _, output = process.communicate(timeout=takes * (0.3 + kill % 8 * 0.12 + kill / 30))
            assert process.returncode == 0, output
            break
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            if s3.exists("bucket/set/manifest.json"):
                break
    names = {name.removeprefix("bucket/set/") for name in s3.find("bucket/set")}
    assert names - {".writing"} == set(expected)
    assert {name: s3.cat(f"bucket/set/{name}") for name in expected} == expected
    assert kill >= 1
