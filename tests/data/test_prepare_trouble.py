"""What is in the way of preparing: other sets, other options, changed inputs, a full disk."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from pathlib import Path
from threading import Event
from typing import Any

import pytest

import jeton
from jeton.corpora.token_blocks import files
from jeton.data import layouts, prepare
from jeton.data.preparing import pipeline
from jeton.errors import ArgumentError, FileError, FormatError
from jeton.files import FileDigest
from prepared import (
    Stopped,
    contents,
    documents,
    looks_whole,
    often,
    stopping,
    tokenizer,
    without_waiting,
)

pytestmark = pytest.mark.usefixtures(without_waiting.__name__, often.__name__)

TOK = tokenizer()
TEXTS = documents(200)


def stopped(data: Any, out: Path, **options: Any) -> None:
    """Leaves a set that was begun and not finished."""
    with pytest.raises(Stopped):
        prepare(data, TOK, out, watch=stopping(3), **options)
    assert (out / ".preparing" / "state.json").exists()
    assert not looks_whole(out)


def test_a_whole_set_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_text("to be or not to be")
    first = prepare(tmp_path / "in.txt", TOK, tmp_path / "out")
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "out").iterdir()}
    assert prepare(tmp_path / "in.txt", TOK, tmp_path / "out") == first
    assert before == {path: path.stat().st_mtime_ns for path in (tmp_path / "out").iterdir()}


def test_a_folder_that_holds_another_set(tmp_path: Path) -> None:
    text = tmp_path / "in.txt"
    text.write_text("to be or not to be")
    out = tmp_path / "out"
    prepare(text, TOK, out)
    with pytest.raises(FileError, match="holds another set, with another layout"):
        prepare(text, TOK, out, layout="nanogpt")
    with pytest.raises(FileError, match="another tokenizer"):
        prepare(text, tokenizer(pattern="gpt2"), out)
    with pytest.raises(FileError, match="another end of text"):
        prepare(text, TOK, out, end_of_text=None)
    text.write_text("to be or not to bE")
    os.utime(text, (2**33, 2**33))
    with pytest.raises(FileError, match=r"in\.txt may have changed since; choose another folder"):
        prepare(text, TOK, out)
    with pytest.raises(FileError, match="its input may have changed since"):
        prepare(["to be or not to be"], TOK, out)
    (out / "manifest.json").write_text("{")
    with pytest.raises(FileError, match="is not a manifest"):
        prepare(text, TOK, out)
    (out / "manifest.json").unlink()
    with pytest.raises(FileError, match=r"tokenizer\.json: exists already"):
        prepare(text, TOK, out, layout="parquet")
    (out / "tokenizer.json").unlink()
    with pytest.raises(FileError, match=r"train-00000\.bin: exists already"):
        prepare(text, TOK, out)
    # Beside files of another kind there is room.
    assert prepare(text, TOK, out, layout="parquet").layout == "parquet"


@pytest.mark.parametrize("name", ["tokenizer.json", "tokenizer.model", "vocab.txt"])
def test_a_folder_that_holds_a_tokenizer(tmp_path: Path, name: str) -> None:
    """Often the one that the set is made with."""
    folder = tmp_path / "tok"
    folder.mkdir()
    (folder / name).write_text("kept")
    with pytest.raises(FileError, match=f"{name}: exists already"):
        prepare(documents(9), tokenizer(), folder)
    assert {path.name: path.read_text() for path in folder.iterdir()} == {name: "kept"}


def test_a_file_that_appears_while_a_set_grows(tmp_path: Path) -> None:
    folder = tmp_path / "set"

    def appears(progress: pipeline.PrepareProgress) -> None:
        (folder / "tokenizer.json").write_text("kept")

    with pytest.raises(FileError, match=r"tokenizer\.json: is from another program"):
        prepare(documents(9), tokenizer(), folder, watch=appears)
    assert (folder / "tokenizer.json").read_text() == "kept"
    (folder / "tokenizer.json").unlink()
    prepare(documents(9), tokenizer(), folder)
    assert jeton.load(folder / "tokenizer.json") == tokenizer()


def test_other_options_do_not_resume_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = tmp_path / "in.parquet"
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pa.table({"text": TEXTS * 9}), table, row_group_size=50)
    out = tmp_path / "out"
    stopped(table, out)
    with pytest.raises(FileError, match="started with layout='jeton', not 'nanogpt'; resume"):
        prepare(table, TOK, out, layout="nanogpt")
    with pytest.raises(FileError, match="the tokenizer is not the one"):
        prepare(table, tokenizer(pattern="gpt2"), out)
    with pytest.raises(FileError, match="the inputs are not those"):
        prepare(TEXTS, TOK, out)
    with monkeypatch.context() as patch:
        patch.setattr("jeton.data.preparing.pipeline.__version__", "999")
        with pytest.raises(FileError, match=r"was started by jeton .*, which may give other files"):
            prepare(table, TOK, out)
    parquet.write_table(pa.table({"text": TEXTS * 8}), table)
    with pytest.raises(FileError, match=r"in\.parquet has changed: it has [\d,]+ bytes, and had"):
        prepare(table, TOK, out)
    assert not looks_whole(out)


def test_files_of_a_begun_set_that_are_gone(tmp_path: Path) -> None:
    out = tmp_path / "out"
    stopped(TEXTS, out)
    (out / ".preparing" / "set" / ".train-00000.bin.part").unlink()
    with pytest.raises(FileError, match="is missing or truncated since the state was saved"):
        prepare(TEXTS, TOK, out)
    stopped(TEXTS, tmp_path / "other", shuffle=1)
    next((tmp_path / "other" / ".preparing").glob("bucket-*.tokens")).unlink()
    with pytest.raises(FileError, match=r"bucket-\d+\.tokens: is missing or truncated"):
        prepare(TEXTS, TOK, tmp_path / "other", shuffle=1)


def test_an_input_that_changes_while_it_is_read(tmp_path: Path) -> None:
    lines = tmp_path / "in.jsonl"
    lines.write_text("".join(json.dumps({"text": text}) + "\n" for text in TEXTS * 200))

    def grow(_: object) -> None:
        with lines.open("a") as file:
            file.write(json.dumps({"text": "more"}) + "\n")

    with pytest.raises(FileError, match=r"in\.jsonl: changed while it was read"):
        prepare(lines, TOK, tmp_path / "out", watch=grow)
    assert not looks_whole(tmp_path / "out")


def test_a_table_is_not_read_to_its_end_when_it_is_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pa.table({"text": TEXTS * 9}), tmp_path / "in.parquet", row_group_size=50)

    def endless(_: Path, stopped: Event) -> FileDigest:
        stopped.wait()
        return FileDigest(0, "")

    monkeypatch.setattr(files, "digest_of", endless)
    stopped(tmp_path / "in.parquet", tmp_path / "out")


def test_an_iterable_that_has_become_shorter(tmp_path: Path) -> None:
    stopped(iter(TEXTS), tmp_path)
    with pytest.raises(FormatError, match=r"gave \d+ documents in the first run, and only 3 now"):
        prepare(iter(TEXTS[:3]), TOK, tmp_path)


def test_two_at_once(tmp_path: Path) -> None:
    def again(_: object) -> None:
        with pytest.raises(FileError, match="another process is preparing a set in it"):
            prepare(TEXTS, TOK, tmp_path)

    prepare(TEXTS, TOK, tmp_path, watch=again)


def test_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    prepare(TEXTS, TOK, tmp_path / "whole")
    write = layouts.Writer._write
    writes = iter(range(5))

    def full(*arguments: Any) -> None:
        if next(writes, None) is None:
            raise OSError(errno.ENOSPC, "No space left on device", "train-00000.bin")
        write(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(layouts.Writer, "_write", full)
        with pytest.raises(FileError, match="No space left on device"):
            prepare(TEXTS, TOK, tmp_path / "out")
    assert not looks_whole(tmp_path / "out")
    prepare(TEXTS, TOK, tmp_path / "out")
    assert contents(tmp_path / "out") == contents(tmp_path / "whole")


LIMITED = """
import resource, signal, sys
import jeton
from jeton.data import prepare
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (40_000, 40_000))
try:
    prepare("in.jsonl", jeton.load("tok.json"), "out", layout=sys.argv[1], shuffle=1)
except jeton.errors.FileError as error:
    sys.exit(str(error))
"""
"""Files may grow to 40 kB, and no further: what a full disk is to a writer."""


@pytest.mark.parametrize("layout", ["jeton", "megatron", "parquet"])
def test_files_that_the_system_has_no_room_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, layout: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    TOK.save("tok.json")
    Path("in.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in TEXTS * 9))
    command = [sys.executable, "-c", LIMITED, layout]
    failed = subprocess.run(command, capture_output=True, text=True)
    assert failed.returncode == 1 and "File too large" in failed.stderr, failed.stderr
    assert not Path("out").exists() or not looks_whole(Path("out"))
    tok = jeton.load("tok.json")
    options: dict[str, Any] = {"layout": layout, "shuffle": 1}
    prepare("in.jsonl", tok, "whole", **options)
    prepare("in.jsonl", tok, "out", **options)
    assert contents(Path("out")) == contents(Path("whole"))


def test_a_tokenizer_that_the_disk_has_no_room_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    jeton.load("jeton-4k").save("tok.json", lossy=True)
    Path("in.jsonl").write_text(json.dumps({"text": "to be or not to be"}))
    command = [sys.executable, "-c", LIMITED, "jeton"]
    failed = subprocess.run(command, capture_output=True, text=True)
    assert failed.returncode == 1
    assert "tokenizer.json: cannot be written: File too large" in failed.stderr
    assert not looks_whole(Path("out")) and not Path("out/tokenizer.json").exists()
    manifest = prepare("in.jsonl", jeton.load("tok.json"), "out", layout="jeton", shuffle=1)
    assert manifest.tokenizer["file"] == "tokenizer.json"
    assert jeton.load("out/tokenizer.json") == jeton.load("tok.json")


def test_immediate_failures_leave_no_files(tmp_path: Path) -> None:
    (tmp_path / "bad.txt").write_bytes(b"caf\xe9")
    with pytest.raises(FormatError, match="not UTF-8"):
        prepare(tmp_path / "bad.txt", TOK, tmp_path / "out")
    assert not (tmp_path / "out").exists()
    with pytest.raises(ArgumentError, match="leave shard_tokens out"):
        prepare(["to be"], TOK, tmp_path / "out", layout="nanogpt", shard_tokens=5)
    # So other options are no other set.
    prepare(tmp_path / "bad.txt", TOK, tmp_path / "out", errors="replace")


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is forbidden to root")
def test_no_permission(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(FileError, match="cannot be written: Permission denied"):
        prepare(["to be"], TOK, tmp_path / "out")
    tmp_path.chmod(0o700)


def test_a_file_where_the_folder_should_be(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("")
    with pytest.raises(FileError, match="cannot be written"):
        prepare(["to be"], TOK, tmp_path / "out")
