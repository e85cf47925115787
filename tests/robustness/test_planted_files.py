"""What a stranger puts in a shared folder: links under names written beside, pipes, devices.

Nothing planted is followed or opened, and nothing is waited for: a record is a file, of a size that
such records have.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import socket
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import jeton
import jeton._core as _core
from edit_families import FAMILIES
from jeton import analysis, data, edit, files
from jeton.cli import main
from jeton.data.preparing import pipeline
from jeton.errors import FileError, FormatWarning, JetonError
from jeton.tiktoken.load import dump_tiktoken_bpe, load_tiktoken_bpe

needs_links = pytest.mark.skipif(os.name != "posix", reason="links and pipes of POSIX")

COMMANDS = {
    "encode": (["encode", "tok.json", "a.txt", "-o", "out.npy"], ["out.npy"]),
    "encode with offsets": (
        ["encode", "tok.json", "a.txt", "-o", "out.npy", "--offsets", "at.npy"],
        ["out.npy", "at.npy"],
    ),
    "decode": (["decode", "tok.json", "ids.txt", "-o", "out.txt"], ["out.txt"]),
    "check": (["check", "tok.json", "-o", "out.txt"], ["out.txt"]),
    "compare": (
        ["compare", "tok.json", "--corpus", "a.txt", "--format", "json", "-o", "out.json"],
        ["out.json"],
    ),
    "diff": (["diff", "tok.json", "b.json", "a.txt", "-o", "out.txt"], ["out.txt"]),
    "report": (
        ["report", "tok.json", "--corpus", "a.txt", "-o", "out.html", "--save", "out.json"],
        ["out.html", "out.json"],
    ),
    "learn": (["learn", "bytes", "a", "--html", "out.html"], ["out.html"]),
    "samples": (["samples", "essays", "-o", "out.txt"], ["out.txt"]),
    "convert": (["convert", "tok.json", "out.tiktoken"], ["out.tiktoken"]),
    "edit": (
        ["edit", "truncate", "tok.json", "260", "-o", "out.json", "--map", "map.json"],
        ["out.json", "map.json"],
    ),
    "train": (["train", "a.txt", "-o", "out.json", "--vocab-size", "270"], ["out.json"]),
}
"""What writes, and the files that it writes."""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    jeton.BPETrainer(280).train(["low lower lowest"] * 3).save("tok.json")
    jeton.BPETrainer(270).train(["a ab abab"] * 3).save("b.json")
    Path("a.txt").write_text("low lower\n")
    Path("ids.txt").write_text("1 2 3\n")
    return tmp_path


def plant(folder: Path, victim: Path) -> None:
    """Links to a file of the user under all names that are written beside in a while."""
    path, descriptor = _core.create_beside(folder / "x")
    os.close(descriptor)
    os.unlink(path)
    name = re.fullmatch(r"\.jeton-(\d+)-(\d+)\.tmp", Path(path).name)
    assert name is not None
    for number in range(int(name[2]) + 1, int(name[2]) + 80):
        (folder / f".jeton-{name[1]}-{number}.tmp").symlink_to(victim)
    for number in range(80):
        (folder / f".jeton-{name[1]}-{number}.part").symlink_to(victim)


@needs_links
@pytest.mark.parametrize("line, written", COMMANDS.values(), ids=COMMANDS.keys())
def test_a_planted_link_is_not_written_through(
    here: Path, tmp_path_factory: pytest.TempPathFactory, line: list[str], written: list[str]
) -> None:
    victim = tmp_path_factory.mktemp("home") / "precious"
    victim.write_text("kept")
    plant(here, victim)
    planted = {path.name for path in here.iterdir() if path.is_symlink()}
    done = CliRunner().invoke(main, line, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    assert victim.read_text() == "kept"
    for name in written:
        assert not Path(name).is_symlink() and Path(name).stat().st_size
    assert {path.name for path in here.iterdir() if path.is_symlink()} == planted
    left = {path.name for path in here.iterdir() if path.name.startswith(".jeton-")}
    assert left == planted, "nothing of its own is left"


@needs_links
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o666])
def test_a_replaced_file_keeps_its_permissions(tmp_path: Path, mode: int) -> None:
    target = tmp_path / "x"
    target.write_text("secret")
    target.chmod(mode)
    path, file = files.create_beside(target)
    with file:
        assert path.stat().st_mode & 0o777 == mode, "before anything is written"
    assert not path.is_symlink() and path.parent == target.parent


@needs_links
def test_pictures_and_ranks_are_written_whole(tmp_path: Path) -> None:
    victim, target = tmp_path / "precious", tmp_path / "x.tiktoken"
    victim.write_text("kept")
    plant(tmp_path, victim)
    dump_tiktoken_bpe({b"a": 0, b"b": 1}, target)
    assert load_tiktoken_bpe(str(target)) == {b"a": 0, b"b": 1}
    assert victim.read_text() == "kept"


def _manifest(path: Path) -> None:
    data.Manifest.read(path.parent)


def _index(path: Path) -> None:
    np.arange(4, dtype="<u2").tofile(path.with_suffix(".bin"))
    data.TokenDataset(path.parent, split="train")


def _config(path: Path) -> None:
    tok = FAMILIES["bpe"](1)
    edit.rewrite_checkpoint(path.parent, edit.truncate(tok, 290), path.parent.parent / "out")


def _shard_index(path: Path) -> None:
    (path.parent / "config.json").write_text('{"vocab_size": 400}')
    _config(path)


READERS: dict[str, tuple[str, Callable[[Path], Any]]] = {
    "a tokenizer": ("tokenizer.json", jeton.load),
    "word counts": ("x.counts", jeton.WordCounts.load),
    "a manifest": ("manifest.json", _manifest),
    "an index of Megatron": ("train.idx", _index),
    "a comparison": ("x.json", analysis.Comparison.load),
    "a sweep": ("x.json", analysis.Sweep.load),
    "a health": ("x.json", analysis.Health.load),
    "a usage": ("x.json", analysis.Usage.load),
    "an id map": ("x.json", edit.IdMap.load),
    "a model's configuration": ("config.json", _config),
    "a model's list of shards": ("model.safetensors.index.json", _shard_index),
    "embeddings": ("x.safetensors", lambda path: analysis.check(_tok(), embeddings=path)),
    "ranks": ("x.tiktoken", lambda path: load_tiktoken_bpe(str(path))),
    "a vocabulary of SentencePiece": (
        "x.vocab",
        lambda path: (
            FAMILIES["sentencepiece unigram"](1).as_sentencepiece().LoadVocabulary(str(path), 1)
        ),
    ),
}


def _tok() -> jeton.Tokenizer:
    return FAMILIES["bpe"](1)


def _pipe(path: Path) -> None:
    os.mkfifo(path)


def _device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def _socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as opened:
        opened.bind(os.fspath(path))


def _vast(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(1 << 42)


def _folder(path: Path) -> None:
    path.mkdir()


@needs_links
@pytest.mark.parametrize("make", [_pipe, _device, _socket, _vast, _folder])
@pytest.mark.parametrize("name, read", READERS.values(), ids=READERS.keys())
def test_records_are_files(
    tmp_path: Path, name: str, read: Callable[[Path], Any], make: Callable[[Path], None]
) -> None:
    path = tmp_path / "set" / name
    path.parent.mkdir()
    try:
        make(path)
    except OSError as error:
        pytest.skip(f"cannot be made here: {error}")
    if make is _folder and name == "tokenizer.json":
        pytest.skip("a folder of that name is a tokenizer's")
    if make is _vast and name in ("x.safetensors", "x.counts"):
        pytest.skip("tokens, tensors and counts may be as large")
    with pytest.raises(JetonError) as raised:
        read(path)
    assert name in str(raised.value), raised.value


def model(folder: Path, tok: jeton.Tokenizer) -> None:
    """A small checkpoint."""
    rows = tok.vocab.max_id + 1
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(f'{{"vocab_size": {rows}, "hidden_size": 2}}')
    table = {"dtype": "F32", "shape": [rows, 2], "data_offsets": [0, rows * 8]}
    header = json.dumps({"model.embed_tokens.weight": table})
    content = struct.pack("<Q", len(header)) + header.encode() + bytes(rows * 8)
    (folder / "model.safetensors").write_bytes(content)


@pytest.fixture
def stranger(tmp_path: Path) -> Iterator[tuple[Path, Path, Any]]:
    """A stranger's folder, a secret of the user, and a change of its vocabulary."""
    pytest.importorskip("torch")
    pytest.importorskip("safetensors", reason="safetensors is not installed")
    tok = FAMILIES["bpe"](1)
    model(tmp_path / "model", tok)
    secret = tmp_path / "home" / "secret"
    secret.parent.mkdir()
    secret.write_text('{"secret": "xyzzy"}')
    yield tmp_path / "model", secret, edit.truncate(tok, 290)


def everything(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


@needs_links
@pytest.mark.parametrize(
    "name",
    ["notes.txt", "generation_config.json", "chat_template.jinja", "tokenizer_config.json",
     "additional_chat_templates/x.jinja"],
)  # fmt: skip
def test_links_that_lead_out_of_a_checkpoint_are_named_and_not_copied(
    tmp_path: Path, stranger: tuple[Path, Path, Any], name: str
) -> None:
    folder, secret, edited = stranger
    _tok().save(folder)
    (folder / "kept.md").write_text("kept")
    (folder / "also.md").symlink_to("kept.md")
    (folder / name).parent.mkdir(exist_ok=True)
    (folder / name).unlink(missing_ok=True)
    (folder / name).symlink_to(secret)
    with pytest.warns(FormatWarning, match=re.escape(name)):
        edit.rewrite_checkpoint(folder, edited, tmp_path / "out")
    assert b"xyzzy" not in everything(tmp_path / "out")
    assert (tmp_path / "out" / "kept.md").read_text() == "kept"
    assert (tmp_path / "out" / "also.md").read_text() == "kept", "that leads nowhere else"


@needs_links
@pytest.mark.parametrize("name", ["config.json", "model.safetensors"])
def test_paths_in_a_model_must_not_leave_its_folder(
    tmp_path: Path, stranger: tuple[Path, Path, Any], name: str
) -> None:
    folder, secret, edited = stranger
    (folder / name).rename(secret)
    (folder / name).symlink_to(secret)
    with pytest.raises(FileError, match=f"{name}: is a link that leads out of the folder"):
        edit.rewrite_checkpoint(folder, edited, tmp_path / "out")
    assert not (tmp_path / "out").exists()


@needs_links
def test_a_folder_that_leads_out_is_not_copied(
    tmp_path: Path, stranger: tuple[Path, Path, Any]
) -> None:
    folder, secret, edited = stranger
    _tok().save(folder)
    secret.rename(secret.with_name("x.jinja"))
    (folder / "additional_chat_templates").symlink_to(secret.parent)
    with pytest.warns(FormatWarning, match="additional_chat_templates/x.jinja"):
        edit.rewrite_checkpoint(folder, edited, tmp_path / "out")
    assert b"xyzzy" not in everything(tmp_path / "out")


@needs_links
def test_snapshots_of_the_hub_are_links_and_are_followed(
    tmp_path: Path, stranger: tuple[Path, Path, Any]
) -> None:
    folder, _, edited = stranger
    (folder / "README.md").write_text("of the hub")
    snapshot, blobs = (tmp_path / "models--x" / name for name in ("snapshots/1f", "blobs"))
    snapshot.mkdir(parents=True)
    blobs.mkdir()
    for number, path in enumerate(sorted(folder.iterdir())):
        path.rename(blobs / str(number))
        (snapshot / path.name).symlink_to(f"../../blobs/{number}")
    edit.rewrite_checkpoint(snapshot, edited, tmp_path / "out")
    assert (tmp_path / "out" / "README.md").read_text() == "of the hub"


WORKING_FILES = [
    "lock",
    "run.json",
    "run.new",
    "state.new",
    "manifest.json",
    "set",
]


@needs_links
@pytest.mark.parametrize("name", [*WORKING_FILES, "set/train.bin", "set/.x"])
@pytest.mark.parametrize("kind", ["link", "hard link", "pipe"])
def test_nothing_planted_where_a_set_grows_is_opened(tmp_path: Path, name: str, kind: str) -> None:
    victim, folder = tmp_path / "precious", tmp_path / "set"
    victim.write_text("kept")
    place = folder / ".preparing" / name
    place.parent.mkdir(parents=True)
    if kind == "link":
        place.symlink_to(victim)
    elif kind == "hard link":
        os.link(victim, place)
    else:
        os.mkfifo(place)
    tok = jeton.BPETrainer(270, special_tokens=["<|endoftext|>"]).train(["a b"])
    with pytest.raises(FileError, match=r"\.preparing"):
        data.prepare(["a b"], tok, folder)
    assert victim.read_text() == "kept"


@needs_links
def test_the_folder_where_a_set_grows_is_ones_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tok = jeton.BPETrainer(270, special_tokens=["<|endoftext|>"]).train(["a b"])
    elsewhere, folder = tmp_path / "elsewhere", tmp_path / "set"
    elsewhere.mkdir()
    folder.mkdir()
    (folder / ".preparing").symlink_to(elsewhere)
    with pytest.raises(FileError, match="not a folder"):
        data.prepare(["a b"], tok, folder)
    assert not any(elsewhere.iterdir())

    work = folder / ".preparing"
    work.unlink()
    work.mkdir(0o777)
    work.chmod(0o777)
    modes = []

    def look(_: object) -> None:
        modes.append(work.stat().st_mode & 0o777)

    monkeypatch.setattr(pipeline, "TELL_SECONDS", 0)
    data.prepare(["a b"], tok, folder, watch=look)
    assert set(modes) == {0o700}
    if os.geteuid() == 0:
        shutil.rmtree(folder)
        work.mkdir(parents=True)
        os.chown(work, 12345, 12345)
        with pytest.raises(FileError, match="belongs to another user"):
            data.prepare(["a b"], tok, folder)


@needs_links
def test_a_set_is_not_published_through_a_link(tmp_path: Path) -> None:
    elsewhere, folder = tmp_path / "elsewhere", tmp_path / "set"
    elsewhere.mkdir()
    folder.mkdir()
    tok = jeton.BPETrainer(270, special_tokens=["<|endoftext|>"]).train(["a b"])
    for name in ("train", "val"):
        (folder / name).symlink_to(elsewhere)
    with pytest.raises(FileError, match="link"):
        data.prepare(["a b"] * 9, tok, folder, layout="datatrove", validation=0.3)
    assert not any(elsewhere.iterdir())
