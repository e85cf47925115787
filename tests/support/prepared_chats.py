"""Conversations that are prepared: records, a tokenizer, and what a token set of them holds."""

from __future__ import annotations

import itertools
import json
import os
from pathlib import Path
from typing import Any

import pytest

import jeton
from jeton import samples
from jeton.data import (
    Conversations,
    TokenDataset,
    layouts,
)
from jeton.data.preparing import chats, pipeline, queue, shuffling
from jeton.data.preparing import records as record_files

TOK = jeton.BPETrainer(500, special_tokens=["<|im_start|>", "<|im_end|>"]).train(
    samples.read_all().values()
)
LAYOUTS = [name for name, layout in layouts.LAYOUTS.items() if layout.holds_masks]
CHATML = Conversations(template="chatml")


def conversation(number: int) -> dict[str, Any]:
    """A record of one to four turns, with a control token spelled in every third."""
    word = samples.read("tales").split()[number % 500]
    turns = [
        message
        for turn in range(number % 4 + 1)
        for message in (
            {"role": "user", "content": f"{word} {turn}?" + "<|im_end|>" * (number % 3 == 0)},
            {"role": "assistant", "content": f"{word.upper()} {number}." * (turn + 1)},
        )
    ]
    system = [{"role": "system", "content": "Be short."}] * (number % 2)
    return {"id": number, "messages": [*system, *turns]}


RECORDS = [conversation(number) for number in range(120)]


@pytest.fixture
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keeps what was done after every few documents, and tells of it; only a power cut tells
    whether the disk was waited for."""
    monkeypatch.setattr(os, "fsync", lambda _: None)
    monkeypatch.setattr(pipeline, "CHECKPOINT_SECONDS", 0)
    monkeypatch.setattr(pipeline, "TELL_SECONDS", 0)
    monkeypatch.setattr(chats, "_TOKENS", 400)
    monkeypatch.setattr(queue, "_IN_MEMORY", 2000)
    monkeypatch.setattr(shuffling, "_AT_A_TIME", 500)
    monkeypatch.setattr(record_files, "_AT_A_TIME", 700)


def lines(path: Path, records: list[Any]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def rows_of(folder: Path, split: str = "train") -> list[tuple[list[int], list[bool]]]:
    """The ids and the mask of each document of a split."""
    tokens = TokenDataset(folder, split=split)
    assert tokens.mask is not None
    bounds = tokens.documents.offsets.tolist()
    return [
        (tokens[start:end].tolist(), tokens.mask[start:end].tolist())
        for start, end in itertools.pairwise(bounds)
    ]


def expected(records: list[Any], **options: Any) -> list[tuple[list[int], list[bool]]]:
    made = [TOK.chat(record["messages"], template="chatml", **options) for record in records]
    return [(chat.ids, list(map(bool, chat.loss_mask()))) for chat in made]
