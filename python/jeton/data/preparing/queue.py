"""Blocks that wait: first in, first out, in files once they are many."""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from pathlib import Path

import numpy as np

from jeton.data.preparing.blocks import Block, Progress

__all__ = ["BlockQueue"]

_IN_MEMORY = 64 << 20
"""How many bytes of blocks a file has, and how many wait in memory at each end."""


class BlockQueue:
    """A queue of blocks in bounded memory. Its files are of no use to another one."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        for left in folder.glob("queue-*.npy"):
            left.unlink()
        #: The blocks in order: those in memory in front, those in files, those in memory behind.
        self._front: deque[Block] = deque()
        self._files: deque[tuple[Path, list[Block]]] = deque()
        self._behind: deque[Block] = deque()
        self._size_behind = self._made = 0
        #: For each block, how many tokens it has and where it begins.
        self._known: deque[tuple[int, Progress | None]] = deque()

    def __len__(self) -> int:
        return len(self._known)

    def next_size(self) -> int | None:
        """How many tokens the next block has, if there is one."""
        return self._known[0][0] if self._known else None

    def next_before(self) -> Progress | None:
        """Where the next block begins; `None` within a document."""
        return self._known[0][1]

    def put(self, block: Block) -> None:
        """Takes a block, behind all others."""
        self._known.append((len(block.tokens), block.before))
        self._behind.append(block)
        self._size_behind += block.tokens.nbytes + block.lengths.nbytes + block.keys.nbytes
        if self._size_behind >= _IN_MEMORY:
            self._spill()

    def get(self) -> Block:
        """Gives the block that was put first."""
        if not self._front and self._files:
            path, blocks = self._files.popleft()
            with path.open("rb") as file:
                for block in blocks:
                    tokens, lengths, keys = (np.load(file) for _ in range(3))
                    self._front.append(replace(block, tokens=tokens, lengths=lengths, keys=keys))
            path.unlink()
        elif not self._front:
            self._front, self._behind = self._behind, self._front
            self._size_behind = 0
        self._known.popleft()
        return self._front.popleft()

    def close(self) -> None:
        """Removes its files."""
        for path, _ in self._files:
            path.unlink(missing_ok=True)
        self._files.clear()

    def _spill(self) -> None:
        self._made += 1
        path = self._folder / f"queue-{self._made:06d}.npy"
        with path.open("wb") as file:
            for block in self._behind:
                for array in (block.tokens, block.lengths, block.keys):
                    np.save(file, array)
        left = [
            replace(block, tokens=block.tokens[:0].copy(), lengths=block.lengths[:0].copy())
            for block in self._behind
        ]
        self._files.append((path, left))
        self._behind.clear()
        self._size_behind = 0
