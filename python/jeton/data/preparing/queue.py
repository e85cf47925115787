"""A queue of blocks, first in, first out; it goes to files if it is long, or when it is saved.

A file of the queue has the CRC-32 of the rest as text; a line of JSON with the number of tokens and
documents and the positions of each block; then the tokens and the lengths of each, little-endian.
"""

from __future__ import annotations

import json
import os
import zlib
from collections import deque
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from jeton.corpora.token_blocks.blocks import Block, SourcePosition
from jeton.errors import FileError, FormatError

_IN_MEMORY = 64 << 20
"""Approximate bytes of blocks in a file; as many are in memory at each end of the queue."""


class BlockQueue:
    """A queue of blocks without keys, in bounded memory; resumes from the `state` of another."""

    def __init__(self, folder: Path, dtype: str, state: dict[str, Any] | None) -> None:
        self._folder = folder
        self._dtype = np.dtype(dtype).newbyteorder("<")
        #: The numbers of the next file to read, and of the last file.
        self._next, self._last = 1, 0
        #: The rest of the file read last, and how many of its blocks were returned.
        self._front: deque[Block] = deque()
        self._front_position = 0
        self._behind: deque[Block] = deque()
        self._size_behind = 0
        #: The number of tokens of each block.
        self._sizes: deque[int] = deque()
        #: Files that the last saved state does not need, and those that the next will not.
        self._needless: list[Path] = []
        self._read: list[Path] = []
        if state is not None:
            self._next, self._last = state["next"], state["last"]
        files = {self._path(number) for number in range(self._next, self._last + 1)}
        for leftover in folder.glob("queue-*"):
            if leftover not in files:
                leftover.unlink()
        for number in range(self._next, self._last + 1):
            self._sizes.extend(len(block.tokens) for block in self._blocks(number))
        for _ in range(0 if state is None else state["given"]):
            self.get()

    def __len__(self) -> int:
        return len(self._sizes)

    def next_size(self) -> int | None:
        """The number of tokens of the next block; `None` if there is none."""
        return self._sizes[0] if self._sizes else None

    def put(self, block: Block) -> None:
        """Appends a block."""
        self._sizes.append(len(block.tokens))
        self._behind.append(block)
        self._size_behind += block.tokens.nbytes + block.lengths.nbytes
        if self._size_behind >= _IN_MEMORY:
            self._spill()

    def get(self) -> Block:
        """Removes and returns the first block."""
        self._sizes.popleft()
        if not self._front and self._next <= self._last:
            self._load()
        if not self._front:
            block = self._behind.popleft()
            self._size_behind -= block.tokens.nbytes + block.lengths.nbytes
            return block
        self._front_position += 1
        return self._front.popleft()

    def sync(self) -> None:
        """Writes all blocks to files."""
        for path in self._needless:
            path.unlink(missing_ok=True)
        self._needless = []
        self._spill()

    def state(self) -> dict[str, Any]:
        """The state for another queue to resume from; call it after `sync`."""
        is_half_read = bool(self._front)
        needed_files = self._read[-1:] if is_half_read else []
        self._needless, self._read = self._read[: len(self._read) - len(needed_files)], needed_files
        return {
            "next": self._next - is_half_read,
            "last": self._last,
            "given": self._front_position if is_half_read else 0,
        }

    def _path(self, number: int) -> Path:
        return self._folder / f"queue-{number}"

    def _blocks(self, number: int) -> list[Block]:
        """The blocks of a file."""
        path = self._path(number)
        try:
            data = path.read_bytes()
        except OSError as error:
            raise FileError(
                f"{path}: cannot be read since the state was saved: {error.strerror}; remove its "
                "folder and start again"
            ) from None
        if data[:8] != b"%08x" % zlib.crc32(memoryview(data)[8:]):
            raise FormatError(f"{path}: is damaged; remove its folder and start again")
        at = data.index(b"\n") + 1
        blocks = []
        for tokens, documents, before, after in json.loads(data[8:at]):
            lengths = at + tokens * self._dtype.itemsize
            blocks.append(
                Block(
                    np.frombuffer(data, self._dtype, tokens, at),
                    np.frombuffer(data, "<i8", documents, lengths),
                    np.empty(0, np.uint64),
                    None if before is None else SourcePosition.from_json(before),
                    None if after is None else SourcePosition.from_json(after),
                )
            )
            at = lengths + documents * 8
        return blocks

    def _load(self) -> None:
        """Reads the next file; the previous one is no longer needed."""
        self._front.extend(self._blocks(self._next))
        self._front_position = 0
        # Needed until a saved state says that it was read to its end.
        self._read.append(self._path(self._next))
        self._next += 1

    def _spill(self) -> None:
        if not self._behind:
            return
        self._last += 1
        entries = [
            [
                len(block.tokens),
                len(block.lengths),
                None if block.before is None else block.before.to_json(),
                None if block.after is None else block.after.to_json(),
            ]
            for block in self._behind
        ]
        path = self._path(self._last)
        try:
            with path.open("wb") as file:
                file.write(b"%08x" % 0)
                total = 0
                pieces = (
                    np.ascontiguousarray(values, kind).tobytes()
                    for block in self._behind
                    for values, kind in ((block.tokens, self._dtype), (block.lengths, "<i8"))
                )
                for data in chain([json.dumps(entries).encode() + b"\n"], pieces):
                    file.write(data)
                    total = zlib.crc32(data, total)
                file.seek(0)
                file.write(b"%08x" % total)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise FileError(f"{path}: cannot be written: {error.strerror}") from None
        self._behind.clear()
        self._size_behind = 0
