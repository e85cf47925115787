"""`GrowingFile`: a file that is written piece by piece, and that a later run continues.

All files of an unfinished set grow so: tokens and ends of shards, buckets of a shuffle, keys,
digests of inputs, records that were left out. Look here for how a run that resumes finds out that
a file is not as it was.
"""

from __future__ import annotations

import os
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from jeton.errors import FileError, FormatError, MissingFileError
from jeton.files import file_errors

if TYPE_CHECKING:
    from collections.abc import Sequence

    from typing_extensions import Buffer

_AT_A_TIME = 1 << 20


class GrowingFile:
    """A file that data is appended to. It is opened at the first use, and again after `close`.

    Attributes:
        state: Its size in bytes without the head, and the CRC-32 of these; for JSON.
    """

    def __init__(
        self,
        path: Path,
        state: Sequence[int] = (0, 0),
        *,
        head: int = 0,
        remedy: str = "remove its folder",
    ) -> None:
        """Begins a file, or continues one: data that was appended after a state is removed.

        Args:
            path: The file.
            state: The state that was saved.
            head: The bytes before the data, which somebody else writes.
            remedy: What the errors advise, before they say to start again.

        Raises:
            MissingFileError: The file is shorter than its state says.
            FormatError: The data is not that of its state.
        """
        self._path, self._head = path, head
        self._file: BinaryIO | None = None
        self.state = size, checksum = (state[0], state[1])
        with file_errors(path):
            if not size:
                path.unlink(missing_ok=True)
                return
            if not path.exists() or path.stat().st_size < head + size:
                raise MissingFileError(
                    f"{path}: is missing or truncated since the state was saved; {remedy} and "
                    "start again"
                )
            os.truncate(path, head + size)
        check_sum(path, checksum, head=head, remedy=remedy)

    def append(self, data: Buffer) -> None:
        """Appends data; even of 0 bytes it creates the file."""
        file = self._file or self._opened()
        try:
            file.write(data)
        except OSError as error:
            raise FileError(f"{self._path}: cannot be written: {error.strerror}") from None
        size, checksum = self.state
        self.state = size + memoryview(data).nbytes, zlib.crc32(data, checksum)

    def move_after(self, state: tuple[int, int], target: GrowingFile) -> None:
        """Moves the data that was appended after a state to another file."""
        with file_errors(self._path):
            self._opened().flush()
            with self._path.open("rb") as source:
                source.seek(self._head + state[0])
                while some := source.read(_AT_A_TIME):
                    target.append(some)
            os.truncate(self._path, self._head + state[0])
        self.state = state

    def sync(self) -> None:
        """Waits until the data is on the disk."""
        if self.state[0]:
            with file_errors(self._path):
                self._opened().flush()
                os.fsync(self._opened().fileno())

    def close(self) -> None:
        """Closes the file."""
        file, self._file = self._file, None
        if file is not None:
            with file_errors(self._path):
                file.close()

    def _opened(self) -> BinaryIO:
        if self._file is None:
            with file_errors(self._path):
                self._file = self._path.open("ab")
                if not self.state[0]:
                    self._file.truncate(self._head)
        return self._file


def check_sum(
    path: Path, expected: int, *, head: int = 0, remedy: str = "remove its folder"
) -> None:
    """Fails if the data after the head does not have this CRC-32; that of a missing file is 0."""
    checksum = 0
    with file_errors(path, "read"):
        if path.exists():
            with path.open("rb") as file:
                file.seek(head)
                while some := file.read(_AT_A_TIME):
                    checksum = zlib.crc32(some, checksum)
    if checksum != expected:
        raise FormatError(f"{path}: is damaged since it was written; {remedy} and start again")
