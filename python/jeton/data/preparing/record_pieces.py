"""Pieces of files of records, so that several machines encode one file.

A piece is whole lines of JSON lines, or rows of a table. The manifest of a set of all pieces names
the file once, as if it had not been divided.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jeton.corpora.corpus import size_of
from jeton.corpora.dropped import RecordPlace
from jeton.corpora.tables import is_table, opened_table
from jeton.corpora.token_blocks.blocks import Blocks, SourcePosition
from jeton.corpora.token_blocks.files import check_unchanged, identity_of
from jeton.data.preparing.record_encoder import RecordEncoder, SourceRecord
from jeton.data.preparing.records import RecordFiles, RecordTable
from jeton.files import digest_of, file_errors

PIECE = "piece"
"""The name of a piece in the manifest of a part: its number, and where it begins and ends."""


@dataclass(frozen=True)
class FilePiece:
    """Lines or rows of a file that one task encodes."""

    path: Path
    number: int
    start: int
    """The byte with which it begins; for a table, the row."""
    stop: int
    line: int
    """The lines before it."""
    sha256: str
    """The hash of the whole file."""
    identity: dict[str, object]
    """The properties of the file when it was divided."""


def divided(path: Path, size: int) -> list[FilePiece]:
    """The pieces of a file that is not compressed, each of about `size` bytes.

    The whole file is read once.
    """
    identity = identity_of(path)
    if is_table(path):
        rows, count = int(opened_table(path)[0].metadata.num_rows), -(-size_of(path) // size)
        bounds = [(rows * it // count, 0) for it in range(count + 1)]
        sha256 = digest_of(path).sha256
    else:
        bounds, sha256 = _line_bounds(path, size)
    return [
        FilePiece(path, number, start, stop, line, sha256, identity)
        for number, ((start, line), (stop, _)) in enumerate(itertools.pairwise(bounds))
    ]


def stands_for_its_file(entry: Mapping[str, Any]) -> bool:
    """Whether an input of a part is a whole file, or the first piece of one."""
    return PIECE not in entry or entry[PIECE][0] == 0


def _line_bounds(path: Path, size: int) -> tuple[list[tuple[int, int]], str]:
    """Bytes at which lines begin, each with the lines before it; and the hash of the file."""
    bounds, sha256, at, lines = [(0, 0)], hashlib.sha256(), 0, 0
    with file_errors(path, "read"), path.open("rb") as file:
        for text in file:
            sha256.update(text)
            at, lines = at + len(text), lines + 1
            if at - bounds[-1][0] >= size:
                bounds.append((at, lines))
    if at > bounds[-1][0]:
        bounds.append((at, lines))
    return bounds, sha256.hexdigest()


class RecordPiece(RecordFiles):
    """A piece of a file. It is read from its beginning: a task that fails begins again."""

    def __init__(self, piece: FilePiece, encoder: RecordEncoder, errors: str) -> None:
        super().__init__([piece.path], encoder, errors)
        self._piece = piece

    @property
    def size(self) -> int:
        """The bytes of the piece; of a table, its share of those of the file."""
        piece = self._piece
        if is_table(piece.path):
            return self._bytes_of_rows(piece.stop) - self._bytes_of_rows(piece.start)
        return min(super().size, piece.stop - piece.start)

    def _bytes_of_rows(self, rows: int) -> int:
        """The share that the first rows of a table have of the bytes of its file."""
        of_table = RecordTable(self._piece.path, self._encoder.columns).rows
        return super().size * rows // max(1, of_table)

    def identity(self) -> list[dict[str, object]]:
        """The file and its hash, with the number and the bounds of the piece."""
        piece = self._piece
        bounds = [piece.number, piece.start, piece.stop]
        return [{**piece.identity, "sha256": piece.sha256, PIECE: bounds}]

    def blocks(self, start: SourcePosition) -> Blocks:
        """The blocks of the piece."""
        piece = self._piece
        if is_table(piece.path):
            table = RecordTable(piece.path, self._encoder.columns)
            before = -self._bytes_of_rows(piece.start)
            rows = self._of_table(0, piece.path, table, piece.start, before)
            rows = itertools.islice(rows, piece.stop - piece.start)
        else:
            rows = self._lines()
        yield from self._encoder.blocks(rows, start)
        check_unchanged(piece.path, piece.identity, size_of(piece.path))

    def _lines(self) -> Iterator[SourceRecord]:
        piece = self._piece
        at, line = piece.start, piece.line
        with file_errors(piece.path, "read"), piece.path.open("rb") as file:
            file.seek(at)
            while at < piece.stop and (text := file.readline()):
                at, line = at + len(text), line + 1
                if text.strip():
                    place = RecordPlace(str(piece.path), "line", line)
                    record = self._record(text.removesuffix(b"\n"), line)
                    yield SourceRecord(place, (0, at, line, 0), at - piece.start, record)
