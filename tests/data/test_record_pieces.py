"""Pieces of files of records: together they are the file, whatever its lines are."""

from __future__ import annotations

import hashlib
import json
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import jeton
from jeton.corpora.token_blocks.blocks import SourcePosition
from jeton.data.conversations import Conversations
from jeton.data.preparing.chats import ChatEncoder
from jeton.data.preparing.filters import filters_of
from jeton.data.preparing.record_pieces import FilePiece, RecordPiece, divided
from jeton.data.preparing.records import RecordFiles
from jeton.errors import FileError, FormatError

TOK = jeton.CharTrainer(special_tokens=["<|im_start|>", "<|im_end|>"]).train(
    "<|user>\nsystem im_end assistant 0123456789"
)


def _encoder() -> ChatEncoder:
    options = Conversations(template="chatml", bad_records="drop")
    return ChatEncoder(TOK, options, filters_of(None), keys=True)


def _lines(count: int) -> list[str]:
    turns = [[{"role": "user", "content": str(at)}] for at in range(count)]
    chats = [[*it, {"role": "assistant", "content": it[0]["content"] * 2}] for it in turns]
    return [json.dumps({"messages": chat}) for chat in chats]


FILES: dict[str, bytes] = {
    "lines": "\n".join(_lines(20)).encode() + b"\n",
    "no last newline": "\n".join(_lines(20)).encode(),
    "empty lines": "\n\n \n".join(_lines(20)).encode() + b"\n\n\n",
    "carriage returns": "\r\n".join(_lines(20)).encode(),
    "byte order mark": b"\xef\xbb\xbf" + "\n".join(_lines(9)).encode(),
    "bad lines": "\n{\n".join(_lines(9)).encode() + b"\n\xff",
    "one line": _lines(1)[0].encode(),
}


def _tokens(source: RecordFiles) -> tuple[list[int], list[int], list[str]]:
    """The tokens, the lengths of documents, and the records that are left out."""
    with closing(source):  # it may have started processes
        blocks = [*source.blocks(SourcePosition())]
    return (
        [token for block in blocks for token in block.tokens.tolist()],
        [length for block in blocks for length in block.lengths.tolist()],
        [record.to_json() for block in blocks for record in block.dropped],
    )


@pytest.mark.parametrize("what", FILES)
@pytest.mark.parametrize("size", [1, 100, 1_000, 10**6])
def test_pieces_are_the_file(tmp_path: Path, what: str, size: int) -> None:
    path = tmp_path / "chats.jsonl"
    path.write_bytes(FILES[what])
    pieces = divided(path, size)
    assert len(pieces) > 1 or size > 100 or what == "one line"
    assert [it.number for it in pieces] == [*range(len(pieces))]
    assert pieces[0].start == 0 and pieces[-1].stop == path.stat().st_size
    assert all(one.stop == other.start for one, other in pairwise(pieces))
    assert {it.sha256 for it in pieces} == {hashlib.sha256(FILES[what]).hexdigest()}
    found = [_tokens(RecordPiece(it, _encoder(), "strict")) for it in pieces]
    joined: Any = [[item for one in column for item in one] for column in zip(*found, strict=True)]
    assert joined == [*_tokens(RecordFiles([path], _encoder(), "strict"))]


@pytest.mark.parametrize("size", [1, 500, 10**6])
def test_pieces_of_a_table_are_its_rows(tmp_path: Path, size: int) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    path = tmp_path / "chats.parquet"
    table = pyarrow.Table.from_pylist([json.loads(line) for line in _lines(20)])
    parquet.write_table(table, path, row_group_size=7)
    pieces = divided(path, size)
    assert sum(it.stop - it.start for it in pieces) == 20
    found = [_tokens(RecordPiece(it, _encoder(), "strict")) for it in pieces]
    joined: Any = [[item for one in column for item in one] for column in zip(*found, strict=True)]
    assert joined == [*_tokens(RecordFiles([path], _encoder(), "strict"))]


def test_a_file_that_changes_is_noticed(tmp_path: Path) -> None:
    path = tmp_path / "chats.jsonl"
    path.write_bytes(FILES["lines"])
    piece: FilePiece = divided(path, 500)[1]
    path.write_bytes(FILES["lines"] + FILES["lines"])
    with pytest.raises(FileError, match="changed while it was read"):
        _tokens(RecordPiece(piece, _encoder(), "strict"))
    path.unlink()
    with pytest.raises((FileError, FormatError), match=r"chats\.jsonl"):
        _tokens(RecordPiece(piece, _encoder(), "strict"))
