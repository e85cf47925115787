"""Files that may be compressed, by gzip or Zstandard, read as what they hold."""

from __future__ import annotations

import gzip
import io
import os
import zlib
from typing import Any, BinaryIO, cast

from jeton.errors import UnsupportedError

__all__ = ["DAMAGED", "decompressed"]

DAMAGED = (OSError, EOFError, zlib.error)
"""What reading raises where a compressed file is cut short or is none."""


def decompressed(
    path: str | os.PathLike[str], file: io.BufferedReader[Any] | BinaryIO
) -> io.BufferedIOBase:
    """What reads the content of a file, which may be the file itself.

    Args:
        path: Its name, for errors.
        file: The file, at its beginning, with `peek`. Whoever opened it closes it.

    Raises:
        UnsupportedError: It is compressed by Zstandard, and pyarrow is not installed.
    """
    head = cast(Any, file).peek(4)[:4]
    if head[:2] == b"\x1f\x8b":
        return gzip.GzipFile(fileobj=file)
    if head != b"\x28\xb5\x2f\xfd":
        return cast(io.BufferedIOBase, file)
    try:
        import pyarrow
    except ImportError:
        raise UnsupportedError(
            f"{os.fspath(path)}: Zstandard files are read by pyarrow (pip install 'jeton[parquet]')"
        ) from None
    stream = pyarrow.CompressedInputStream(pyarrow.PythonFile(file, "r"), "zstd")
    return io.BufferedReader(_Stream(stream))


class _Stream(io.RawIOBase):
    """A stream of pyarrow as one of Python."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = bytes(self._stream.read(len(buffer)))
        buffer[: len(data)] = data
        return len(data)
