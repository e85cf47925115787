"""Documents that are appended in pieces: the files are those of whole documents."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from jeton.data import layouts
from jeton.errors import ArgumentError
from prepared import contents, without_waiting

pytestmark = pytest.mark.usefixtures(without_waiting.__name__)

NAMES = sorted(layouts.LAYOUTS)


def append(writer: layouts.Writer, pieces: list[list[int]], unfinished: bool = False) -> None:
    flat = np.array([token for piece in pieces for token in piece], np.uint32)
    writer.append(flat, np.array(list(map(len, pieces)), np.int64), unfinished=unfinished)


@pytest.mark.large
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("size", [1, 7, 60, 1000])
def test_pieces_are_documents(tmp_path: Path, name: str, size: int) -> None:
    draw = random.Random(f"{name} {size}")
    given = [list(range(draw.choice([0, 1, 5, 30, 90]))) for _ in range(60)]
    options: dict[str, Any] = {"dtype": "uint16", "tokenizer": "toy"}
    if name != "nanogpt":
        options["shard_tokens"] = size
    with layouts.create(name, tmp_path / "whole", **options) as writer:
        append(writer, given)
        shards = writer.finish()
    flat = [token for document in given for token in document]
    ends = np.cumsum(list(map(len, given))).tolist()
    for attempt in range(4):
        folder = tmp_path / str(attempt)
        writer = layouts.create(name, folder, **options)
        saved = json.dumps(writer.checkpoint())
        at = writer.documents
        start, number = 0, 0
        while number < len(given):
            # To some place within a document, or at its end.
            stop = min(len(flat), start + draw.randrange(1, 50))
            pieces = []
            while number < len(given) and ends[number] <= stop:
                pieces.append(flat[start : ends[number]])
                start, number = ends[number], number + 1
            unfinished = number < len(given) and draw.random() < 0.7
            if unfinished:
                pieces.append(flat[start:stop])
                start = stop
            append(writer, pieces, unfinished)
            assert writer.documents == number
            assert writer.tokens == start
            if draw.random() < 0.3:
                saved, at = json.dumps(writer.checkpoint()), number
            if draw.random() < 0.2:
                # What is not finished is forgotten.
                writer.close()
                writer = layouts.create(name, folder, **options, state=json.loads(saved))
                number, start = at, ends[at - 1] if at else 0
                assert (writer.documents, writer.tokens) == (number, start)
        assert writer.finish() == shards
        assert contents(folder) == contents(tmp_path / "whole")


def test_unfinished_folders_are_not_token_sets(tmp_path: Path) -> None:
    with layouts.create("jeton", tmp_path, dtype="uint16") as writer:
        append(writer, [[1, 2], [3]], unfinished=True)
        with pytest.raises(ArgumentError, match="the last document is not finished"):
            writer.finish()
        append(writer, [[]])
        assert [shard.documents for shard in writer.finish()] == [2]


def test_a_document_in_pieces_may_be_too_long(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(type(layouts.LAYOUTS["megatron"]), "most_document", 5)
    with layouts.create("megatron", tmp_path, dtype="uint16") as writer:
        append(writer, [[1, 2, 3]], unfinished=True)
        with pytest.raises(ArgumentError, match="a document has 6 tokens; layout 'megatron'"):
            append(writer, [[4, 5, 6]])
