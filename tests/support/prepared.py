"""What the tests of preparing share: documents, a tokenizer, and what a set must hold."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import jeton
from jeton import samples
from jeton.corpora.token_blocks import files
from jeton.corpora.token_blocks import rows as reading
from jeton.data import layouts
from jeton.data.preparing import pipeline, queue
from jeton.data.preparing.shuffling import numbers

END = "<|endoftext|>"

NAMES = sorted(layouts.LAYOUTS)


@pytest.fixture
def without_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only a power cut says whether the disk was waited for."""
    monkeypatch.setattr(os, "fsync", lambda _: None)


@pytest.fixture
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keeps what was done after every few documents, and tells of it."""
    monkeypatch.setattr(pipeline, "CHECKPOINT_SECONDS", 0)
    monkeypatch.setattr(pipeline, "TELL_SECONDS", 0)
    monkeypatch.setattr(reading, "_CHARACTERS", 500)
    monkeypatch.setattr(files, "_BYTES", 500)
    monkeypatch.setattr(queue, "_IN_MEMORY", 2000)


def tokenizer(**options: Any) -> jeton.Tokenizer:
    """A small tokenizer with an end of text."""
    trainer = jeton.BPETrainer(vocab_size=400, special_tokens=[END, "<|user|>"], **options)
    return trainer.train(samples.read_all().values())


def documents(count: int = 300) -> list[str]:
    """Documents of many lengths, some of them empty or twice there, one with a special token."""
    lines = [line for text in samples.read_all().values() for line in text.splitlines()]
    found = [lines[number * 7 % len(lines)] * (number % 4) for number in range(count - 2)]
    return [*found, f"a {END} in text", "\t  "]


def rows(
    tok: jeton.Tokenizer, texts: Iterable[str], *, place: str | None = "after"
) -> list[list[int]]:
    """The tokens of each document that is not empty, as a set holds them."""
    end = [] if place is None else [tok.special_tokens[END]]
    found = [tok.encode(text) for text in texts if text]
    return [end + ids if place == "before" else ids + end for ids in found]


def key(text: str) -> int:
    """What distinguishes documents, as it is documented."""
    begin = text.encode()[: 1 << 16].decode(errors="ignore").encode()
    return int.from_bytes(hashlib.sha256(begin).digest()[:8], "big")


def by_hash(texts: Iterable[str], share: Fraction) -> tuple[list[str], list[str]]:
    """The documents that train, and those that validate."""
    train: list[str] = []
    validate: list[str] = []
    for text in filter(None, texts):
        (validate if key(text) < share * 2**64 else train).append(text)
    return train, validate


def shuffled(
    texts: Iterable[str], seed: int, *, cut: tuple[jeton.Tokenizer, Fraction] | None = None
) -> list[str]:
    """The documents in the order of a seed; `cut` says what share of which tokens trains, if one
    cut parts them.

    The first of some copies is where its key says. Each other has a number of its own, on the side
    of the cut where it would be beside the first.
    """

    def drawn(number: int) -> int:
        return int(numbers(np.array([number % 2**64], np.uint64), seed)[0])

    found = list(filter(None, texts))
    seen: Counter[int] = Counter()
    places: list[tuple[int, int, int]] = []
    for text in found:
        places.append((drawn(key(text)), key(text), seen[key(text)]))
        seen[key(text)] += 1
    end = None
    if cut is not None:
        lengths = [len(row) for row in rows(cut[0], found)]
        left = int(sum(lengths) * cut[1])
        for at in sorted(range(len(found)), key=places.__getitem__):
            left -= lengths[at]
            if left < 0:
                end = places[at]
                break
    spread = []
    for number, of, copy in places:
        first, last = 0, 2**64
        if end is not None and (number, of, copy) < end:
            last = end[0]
        elif end is not None:
            first = end[0] + 1
        own = first + (drawn(number + copy) >> 32) * ((last - first) >> 32)
        stays = not copy or (number, of, copy) == end
        spread.append((number if stays else own, of, copy))
    return [found[at] for at in sorted(range(len(found)), key=spread.__getitem__)]


def flat(rows: Iterable[list[int]]) -> list[int]:
    """The tokens of documents, one after another."""
    return [token for row in rows for token in row]


def contents(folder: Path) -> dict[str, bytes]:
    """All files of a folder."""
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def tokens_of(folder: Path, split: str = "train", dtype: str = "uint16") -> list[int]:
    """The tokens of a split, by jeton's own readers."""
    shards = layouts.read(folder, split=split, dtype=dtype)
    return [token for shard in shards for token in shard.tokens[:].tolist()]


def lengths_of(folder: Path, split: str = "train") -> list[int] | None:
    """The lengths of the documents of a split, where its layout keeps them."""
    found: list[int] = []
    for shard in layouts.read(folder, split=split, dtype="uint16"):
        if shard.ends is None:
            return None
        found += np.diff(shard.ends, prepend=0).tolist()
    return found


class Stopped(BaseException):
    """What ends a run that a test stops."""


def stopping(after: int) -> Callable[[object], None]:
    """Stops a run when it has told so often how far it is."""
    left = iter(range(after))

    def watch(_: object) -> None:
        if next(left, None) is None:
            raise Stopped

    return watch


def looks_whole(folder: Path) -> bool:
    """Whether a reader would find a set."""
    return any(folder.glob("[!.]*"))


def killed(driver: str, given: Path, seconds: float) -> bool:
    """Whether a process that prepares, once it says that it is ready, was killed so much later."""
    command = [sys.executable, "-c", driver, str(given)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    time.sleep(seconds)
    process.kill()
    _, told = process.communicate()
    assert process.returncode in (0, -signal.SIGKILL), told.decode()
    return process.returncode != 0
