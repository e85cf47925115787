"""Killed, stopped, out of disk: nothing looks whole, and the same call goes on to the same files.

`JETON_KILLS=50` kills fifty times for each layout; without it, a few times.
"""

from __future__ import annotations

import gzip
import json
import os
import random
import shutil
import time
from pathlib import Path
from typing import Any

import pytest

from jeton.corpora.token_blocks import files
from jeton.data import Manifest, merge, prepare, verify
from jeton.data.preparing import parts, shuffling
from prepared import (
    NAMES,
    Stopped,
    contents,
    documents,
    killed,
    looks_whole,
    often,
    stopping,
    tokenizer,
    without_waiting,
)

pytestmark = pytest.mark.usefixtures(without_waiting.__name__, often.__name__)

KILLS = int(os.environ.get("JETON_KILLS", "2"))
TOK = tokenizer()
TEXTS = documents(400)
VARIANTS: list[dict[str, Any]] = [
    {"validation": 0.3},
    {"shuffle": 7},
    {"part": (1, 1)},
    {"validation": 0.3, "split": "hash"},
    {"validation": 0.3, "shuffle": 7},
    {},
]
"""What is killed, in turn."""

DRIVER = """
import json, sys
import jeton
from jeton.data import prepare
from jeton.data.preparing import pipeline, queue
from jeton.corpora.token_blocks import rows
pipeline.CHECKPOINT_SECONDS = 0
rows._CHARACTERS = 500
queue._IN_MEMORY = 2000
given = json.load(open(sys.argv[1]))
tok = jeton.load(given["tokenizer"])
options = given["options"]
options["part"] = options.get("part") and tuple(options["part"])
print("ready", flush=True)
prepare(given["texts"], tok, given["folder"], **options)
"""


@pytest.mark.large
@pytest.mark.parametrize("layout", NAMES)
def test_killed_at_any_moment(tmp_path: Path, layout: Any) -> None:
    draw = random.Random(layout)
    TOK.save(tmp_path / "tok.json")
    wholes: dict[int, dict[str, bytes]] = {}
    seconds = 0.0
    kills = attempt = 0
    while kills < KILLS:
        variant = (attempt + len(layout)) % len(VARIANTS)
        options = {"layout": layout, **VARIANTS[variant]}
        if variant not in wholes:
            before = time.monotonic()
            prepare(TEXTS, TOK, tmp_path / f"whole-{variant}", **options)
            seconds = max(seconds, time.monotonic() - before)
            wholes[variant] = contents(tmp_path / f"whole-{variant}")
        folder = tmp_path / str(attempt)
        given = {"texts": TEXTS, "tokenizer": str(tmp_path / "tok.json"), "folder": str(folder)}
        (tmp_path / "given.json").write_text(json.dumps({**given, "options": options}))
        # Also where it has gone on already.
        for _ in range(draw.choice([1, 1, 2, 3])):
            kills += killed(DRIVER, tmp_path / "given.json", draw.uniform(0, seconds))
            if (folder / "manifest.json").exists():
                # What has its name is whole, and the manifest comes last.
                assert verify(folder) == []
                shutil.rmtree(folder / ".preparing", ignore_errors=True)
                break
            names = {path.name for path in folder.glob("[!.]*")}
            assert names < set(wholes[variant]) | {"train", "val"}
        else:
            prepare(TEXTS, TOK, folder, **options)
        assert contents(folder) == wholes[variant]
        attempt += 1


@pytest.mark.large
@pytest.mark.parametrize("variant", range(len(VARIANTS)))
def test_stopped_after_every_few_blocks(tmp_path: Path, variant: int) -> None:
    options = VARIANTS[variant]
    prepare(TEXTS, TOK, tmp_path / "whole", **options)
    out = tmp_path / "out"
    for stops in range(200):
        try:
            prepare(TEXTS, TOK, out, watch=stopping(stops % 5 + 1), **options)
            break
        except Stopped:
            assert not looks_whole(out)
    assert 3 < stops < 199
    assert contents(out) == contents(tmp_path / "whole")


@pytest.mark.large
def test_files_go_on_in_the_middle_of_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    lines = "".join(json.dumps({"text": text}) + "\n" for text in TEXTS)
    (folder / "a.jsonl").write_text(lines * 60)
    with gzip.open(folder / "b.jsonl.gz", "wt", compresslevel=1) as file:
        file.write(lines * 40)
    for number in range(30):
        (folder / f"c{number}.txt").write_text("\n".join(TEXTS) * (number + 1))
    pytest.importorskip("pyarrow.parquet").write_table(
        pytest.importorskip("pyarrow").table({"text": TEXTS * 3}),
        folder / "d.parquet",
        row_group_size=100,
    )
    monkeypatch.setattr(files, "_BYTES", 50_000)
    options: dict[str, Any] = {"shard_tokens": 40_000, "validation": 0.2, "split": "hash"}
    prepare(folder, TOK, tmp_path / "whole", **options)
    for stops in range(100):
        try:
            prepare(folder, TOK, tmp_path / "out", watch=stopping(stops % 3 + 1), **options)
            break
        except Stopped:
            assert not looks_whole(tmp_path / "out")
    assert 3 < stops < 99
    assert contents(tmp_path / "out") == contents(tmp_path / "whole")


def test_killed_while_files_are_moved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    options: dict[str, Any] = {"layout": "megatron", "validation": 0.5}
    prepare(TEXTS, TOK, tmp_path / "whole", **options)
    move = os.replace
    for moves in range(1, 7):
        out = tmp_path / str(moves)
        left = iter(range(moves))

        def replace(source: Any, target: Any, out: Path = out, left: Any = left) -> None:
            if Path(target).parent == out and next(left, None) is None:
                raise Stopped
            move(source, target)

        with monkeypatch.context() as patch:
            patch.setattr(os, "replace", replace)
            try:
                assert prepare(TEXTS, TOK, out, **options).layout == "megatron"
                continue
            except Stopped:
                names = {path.name for path in out.glob("[!.]*")}
                assert "manifest.json" not in names
                assert "train.bin" not in names or names >= {"val.bin", "val.idx", "train.idx"}
        assert prepare(TEXTS, TOK, out, **options) == Manifest.read(tmp_path / "whole")
        assert contents(out) == contents(tmp_path / "whole")


def test_killed_when_the_set_is_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "in.txt").write_text("\n".join(TEXTS))
    out = tmp_path / "out"
    steps: list[object] = []

    def stop(*_: Any, **__: Any) -> None:
        raise Stopped

    with monkeypatch.context() as patch, pytest.raises(Stopped):
        patch.setattr("jeton.data.preparing.journal.shutil.rmtree", stop)
        prepare(tmp_path / "in.txt", TOK, out, shuffle=1)
    assert verify(out) == [] and (out / ".preparing").exists()
    # What is left is removed, and nothing is done again.
    whole = prepare(tmp_path / "in.txt", TOK, out, shuffle=1, watch=steps.append)
    assert not steps and whole == Manifest.read(out)
    assert not (out / ".preparing").exists()


@pytest.mark.large
def test_a_merge_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "_AT_A_TIME", 500)
    monkeypatch.setattr(shuffling, "_AT_A_TIME", 500)
    options: dict[str, Any] = {"validation": 0.4, "split": "hash", "shuffle": 3}
    prepare(TEXTS, TOK, tmp_path / "whole", **options)
    prepare(TEXTS, TOK, tmp_path / "part", part=(1, 1), **options)
    for stops in range(60):
        try:
            merge([tmp_path / "part"], tmp_path / "out", watch=stopping(stops % 3 + 1))
            break
        except Stopped:
            assert not looks_whole(tmp_path / "out")
    assert 1 < stops < 59
    assert contents(tmp_path / "out") == contents(tmp_path / "whole")
