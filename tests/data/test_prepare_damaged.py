"""Damaged sets and damaged work of a run: errors that name the file, and never another set."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from jeton.data import Manifest, PrepareProgress, TokenDataset, merge, prepare
from jeton.data.preparing import shuffling
from jeton.errors import FileError, FormatError, JetonError
from prepared import Stopped, contents, documents, often, stopping, tokenizer, without_waiting

pytestmark = pytest.mark.usefixtures(without_waiting.__name__, often.__name__)

TOK = tokenizer()
TEXTS = documents(200)


def begun(folder: Path, steps: int = 4, **options: Any) -> Path:
    """The folder of work that a stopped run leaves."""
    with pytest.raises(Stopped):
        prepare(TEXTS, TOK, folder, watch=stopping(steps), **options)
    return folder / ".preparing"


def _flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[3] ^= 4
    path.write_bytes(data)


def _first(pattern: str) -> Callable[[Path], Path]:
    return lambda work: max(work.glob(pattern), key=lambda path: path.stat().st_size)


DAMAGE: dict[str, tuple[str, dict[str, Any], int]] = {
    "the state": ("state.json", {}, 4),
    "what is prepared": ("run.json", {}, 4),
    "tokens of a shard that grows": ("set/.train-00000.bin.part", {}, 4),
    "ends of a shard that grows": ("set/.train-00000.ends.part", {}, 4),
    "a shard that is whole": ("set/train-00000.bin", {"shard_tokens": 900}, 4),
    "a shard of llm.c": ("set/train_000000.bin", {"layout": "llm.c", "shard_tokens": 900}, 4),
    "a shard of a table": ("set/train-0*.parquet", {"layout": "parquet", "shard_tokens": 900}, 4),
    "tokens of a bucket": ("bucket-*.tokens", {"shuffle": 1}, 4),
    "documents of a bucket": ("bucket-*.documents", {"shuffle": 1}, 4),
    "blocks that wait": ("queue-*", {"validation": 0.9}, 6),
    "keys of a part": ("set/train.keys", {"part": (1, 1)}, 4),
}


@pytest.mark.large
@pytest.mark.parametrize("name", DAMAGE)
def test_flipped_bits_of_what_waits_are_found(tmp_path: Path, name: str) -> None:
    pattern, options, steps = DAMAGE[name]
    if options.get("layout") == "parquet":
        pytest.importorskip("pyarrow")
    path = _first(pattern)(begun(tmp_path / "out", steps, **options))
    _flip(path)
    with pytest.raises(FormatError, match=rf"{path.name}: is damaged"):
        prepare(TEXTS, TOK, tmp_path / "out", **options)
    assert not (tmp_path / "out" / "manifest.json").exists()
    _flip(path)
    prepare(TEXTS, TOK, tmp_path / "out", **options)
    prepare(TEXTS, TOK, tmp_path / "whole", **options)
    assert contents(tmp_path / "out") == contents(tmp_path / "whole")


def test_flipped_bits_of_a_shuffle_that_reads_its_buckets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shuffling, "_AT_A_TIME", 300)
    stop = stopping(3)

    def watch(progress: PrepareProgress) -> None:
        if progress.phase == "shuffling":
            stop(progress)

    with pytest.raises(Stopped):
        prepare(TEXTS, TOK, tmp_path, shuffle=1, watch=watch)
    work = tmp_path / ".preparing"
    state = json.loads((work / "state.json").read_text().partition("\n")[0])
    assert state["pass"] == 1
    _flip(max(work.glob("bucket-*.tokens")))
    with pytest.raises(FormatError, match=r"bucket-\d+\.tokens: is damaged"):
        prepare(TEXTS, TOK, tmp_path, shuffle=1)


def test_flipped_bits_of_a_set_that_is_only_to_be_moved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from jeton.data.preparing.journal import Journal

    with monkeypatch.context() as patched, pytest.raises(Stopped):

        def stop(*_: object) -> None:
            raise Stopped

        patched.setattr(Journal, "publish", stop)
        prepare(TEXTS, TOK, tmp_path)
    path = tmp_path / ".preparing" / "set" / "train-00000.bin"
    _flip(path)
    with pytest.raises(FormatError, match=r"train-00000\.bin: is damaged since it was written"):
        prepare(TEXTS, TOK, tmp_path)
    _flip(path)
    prepare(TEXTS, TOK, tmp_path)


@pytest.mark.parametrize(
    "data", [b"", b"[]", b"{}", b"{}\n", b"\xff", b"[" * 100_000, b'{"a": 1}\n0']
)
@pytest.mark.parametrize("name", ["state.json", "run.json"])
def test_a_journal_of_anything(tmp_path: Path, name: str, data: bytes) -> None:
    work = begun(tmp_path)
    (work / name).write_bytes(data)
    with pytest.raises(FormatError, match=rf"{name}: is damaged; remove .* to start again"):
        prepare(TEXTS, TOK, tmp_path)


def test_the_state_is_checked_as_a_whole(tmp_path: Path) -> None:
    """Its CRC-32 is that of the line before, so a value that was changed is damage too."""
    path = begun(tmp_path) / "state.json"
    text, sum_of_text, _ = path.read_bytes().split(b"\n")
    assert sum_of_text == b"%08x" % zlib.crc32(text)
    state = json.loads(text)
    path.write_text(json.dumps({**state, "pass": "x"}) + f"\n{sum_of_text.decode()}\n")
    with pytest.raises(FormatError, match=r"state\.json: is damaged"):
        prepare(TEXTS, TOK, tmp_path)


CHANGES: dict[str, Callable[[dict[str, Any]], object]] = {
    "an end of text without a place": lambda it: it["end_of_text"].pop("place"),
    "an end of text at another place": lambda it: it["end_of_text"].update(place="around"),
    "an end of text without a token": lambda it: it["end_of_text"].pop("token"),
    "an end of text that is a number": lambda it: it.update(end_of_text=5),
    "a type of tokens": lambda it: it.update(dtype="float32"),
    "no options": lambda it: it.update(options=[]),
    "an option that is gone": lambda it: it["options"].pop("shuffle"),
    "a share of nothing": lambda it: it["options"].update(validation={"by": "cut", "share": "1/0"}),
    "a layout that is none": lambda it: it["options"].update(layout="x"),
    "a vocabulary without a size": lambda it: it["tokenizer"].pop("vocab_size"),
    "a tokenizer elsewhere": lambda it: it["tokenizer"].update(file="../tokenizer.json"),
    "a part that is a number": lambda it: it.update(part=1),
}


@pytest.mark.parametrize("name", CHANGES)
def test_manifests_that_are_damaged(tmp_path: Path, name: str) -> None:
    prepare(TEXTS, TOK, tmp_path, part=(1, 1))
    path = tmp_path / "manifest.json"
    record = json.loads(path.read_text())
    CHANGES[name](record)
    path.write_text(json.dumps(record))
    for call in (
        lambda: Manifest.read(tmp_path),
        lambda: TokenDataset(tmp_path),
        lambda: merge([tmp_path], tmp_path / "merged"),
    ):
        with pytest.raises(FormatError, match=r"manifest\.json: "):
            call()


def test_a_table_that_is_damaged(tmp_path: Path) -> None:
    """Whatever bytes are other ones, it is read as it was, or refused."""
    pytest.importorskip("pyarrow")
    prepare(TEXTS, TOK, tmp_path, layout="parquet")
    path = tmp_path / "train-00000.parquet"
    whole = path.read_bytes()
    refused = 0
    for at in range(0, len(whole), max(1, len(whole) // 300)):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 0x55]) + whole[at + 1 :])
        try:
            tokens = TokenDataset(tmp_path)
            tokens[:]
            _ = tokens.documents
        except JetonError as error:
            refused += 1
            assert path.name in str(error)
    assert refused > 50
    path.write_bytes(whole[:-9])
    with pytest.raises(FormatError, match=r"parquet: not a Parquet file"):
        TokenDataset(tmp_path)


def test_a_header_that_is_not_written_yet(tmp_path: Path) -> None:
    options: dict[str, Any] = {"layout": "llm.c"}
    path = begun(tmp_path / "out", **options) / "set" / ".train_000000.bin.part"
    data = path.read_bytes()
    path.write_bytes(b"\xff" * 1_024 + data[1_024:])
    prepare(TEXTS, TOK, tmp_path / "out", **options)
    prepare(TEXTS, TOK, tmp_path / "whole", **options)
    assert contents(tmp_path / "out") == contents(tmp_path / "whole")


def test_missing_shards_are_found(tmp_path: Path) -> None:
    work = begun(tmp_path, 6, validation=0.9)
    _first("queue-*")(work).unlink()
    with pytest.raises(FileError, match=r"queue-\d+: cannot be read since the state was saved"):
        prepare(TEXTS, TOK, tmp_path, validation=0.9)
