"""The digest of a file: its size and its SHA-256, read a piece at a time."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from threading import Event

__all__ = ["FileDigest", "digest_of"]

_AT_A_TIME = 1 << 20
"""How many bytes are read at a time."""


@dataclass(frozen=True)
class FileDigest:
    """What tells whether a file is the one that was seen before."""

    bytes: int
    """Its size."""
    sha256: str
    """The digest of its contents, in hexadecimal."""


def digest_of(path: Path, stopped: Event | None = None) -> FileDigest:
    """The size and the SHA-256 of a file; of what was read of it when it was stopped.

    Raises:
        OSError: It cannot be read.
    """
    sha256, size = hashlib.sha256(), 0
    buffer = memoryview(bytearray(_AT_A_TIME))
    with open(path, "rb", buffering=0) as file:
        while (stopped is None or not stopped.is_set()) and (length := file.readinto(buffer)):
            sha256.update(buffer[:length])
            size += length
    return FileDigest(size, sha256.hexdigest())
