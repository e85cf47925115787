"""A queue of documents, first in, first out; it goes to files if it is long, or when it is saved.

A file of the queue has the CRC-32 of the rest as text, and then three arrays of numpy: how many
tokens and documents each entry has and whether its last document is finished; all tokens; and all
lengths.
"""

from __future__ import annotations

import io
import os
import zlib
from collections import deque
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from jeton.corpora.token_blocks.ids import Ids
from jeton.errors import FileError, FormatError
from jeton.files import file_errors

_IN_MEMORY = 64 << 20
"""Approximate bytes of entries in a file; as many are in memory at each end of the queue."""


class QueueEntry(NamedTuple):
    """The tokens of documents, one after another."""

    tokens: Ids
    lengths: npt.NDArray[np.int64]
    unfinished: bool
    """Whether the last document continues in the next entry."""


class DocumentQueue:
    """A queue of documents in bounded memory; resumes from the `state` of another."""

    def __init__(self, folder: Path, dtype: str, state: dict[str, Any] | None) -> None:
        self._folder = folder
        self._dtype = np.dtype(dtype).newbyteorder("<")
        #: The numbers of the next file to read, and of the last file.
        self._next, self._last = 1, 0
        #: The rest of the file read last, and how many of its entries were returned.
        self._front: deque[QueueEntry] = deque()
        self._front_position = 0
        self._behind: deque[QueueEntry] = deque()
        self._size_behind = 0
        #: Files that the last saved state does not need, and those that the next will not.
        self._needless: list[Path] = []
        self._read: list[Path] = []
        if state is not None:
            self._next, self._last = state["next"], state["last"]
        needed = {self._path(number) for number in range(self._next, self._last + 1)}
        for leftover in folder.glob("queue-*"):
            if leftover not in needed:
                leftover.unlink()
        for _ in range(0 if state is None else state["given"]):
            self.get()

    def first(self) -> QueueEntry | None:
        """The first entry; `None` if there is none."""
        if not self._front and self._next <= self._last:
            self._load()
        waiting = self._front or self._behind
        return waiting[0] if waiting else None

    def put(self, entry: QueueEntry) -> None:
        """Appends an entry."""
        self._behind.append(entry)
        self._size_behind += entry.tokens.nbytes + entry.lengths.nbytes
        if self._size_behind >= _IN_MEMORY:
            self._spill()

    def get(self) -> None:
        """Removes the first entry."""
        self.first()
        if self._front:
            self._front_position += 1
            self._front.popleft()
        else:
            entry = self._behind.popleft()
            self._size_behind -= entry.tokens.nbytes + entry.lengths.nbytes

    def sync(self) -> None:
        """Writes all entries to files."""
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

    def _load(self) -> None:
        """Reads the next file; the previous one is no longer needed."""
        path = self._path(self._next)
        try:
            data = io.BytesIO(path.read_bytes())
        except OSError as error:
            raise FileError(
                f"{path}: cannot be read since the state was saved: {error.strerror}; remove its "
                "folder and start again"
            ) from None
        if data.read(8) != b"%08x" % zlib.crc32(data.getbuffer()[8:]):
            raise FormatError(f"{path}: is damaged; remove its folder and start again")
        counts, tokens, lengths = (np.load(data, allow_pickle=False) for _ in range(3))
        ends = [(0, 0), *np.cumsum(counts[:, :2], axis=0).tolist()]
        for (at, document), (end, stop), unfinished in zip(
            ends, ends[1:], counts[:, 2].tolist(), strict=False
        ):
            self._front.append(QueueEntry(tokens[at:end], lengths[document:stop], bool(unfinished)))
        self._front_position = 0
        # Needed until a saved state says that it was read to its end.
        self._read.append(path)
        self._next += 1

    def _spill(self) -> None:
        if not self._behind:
            return
        self._last += 1
        counts = [(len(it.tokens), len(it.lengths), it.unfinished) for it in self._behind]
        tokens, lengths, _ = zip(*self._behind, strict=True)
        data = io.BytesIO(b"%08x" % 0)
        data.seek(8)
        for values, kind in ((counts, "<i8"), (np.concatenate(tokens), self._dtype)):
            np.save(data, np.asarray(values, kind), allow_pickle=False)
        np.save(data, np.concatenate(lengths).astype("<i8"), allow_pickle=False)
        path = self._path(self._last)
        with file_errors(path), path.open("wb") as file, data.getbuffer() as view:
            view[:8] = b"%08x" % zlib.crc32(view[8:])
            file.write(view)
            file.flush()
            os.fsync(file.fileno())
        self._behind.clear()
        self._size_behind = 0
