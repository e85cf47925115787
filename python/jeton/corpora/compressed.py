"""Reads files that may be compressed by gzip or Zstandard."""

from __future__ import annotations

import gzip
import io
import os
import zlib
from typing import Any, BinaryIO, cast

from jeton.errors import UnsupportedError

__all__ = ["DAMAGED", "decompressed"]

DAMAGED = (OSError, EOFError, zlib.error)
"""Errors of reading a compressed file that is truncated or damaged."""


def decompressed(
    path: str | os.PathLike[str], file: io.BufferedReader[Any] | BinaryIO
) -> io.BufferedIOBase:
    """A reader of the decompressed content of a file; if it is not compressed, the file itself.

    Args:
        path: Its name, for errors.
        file: The file, at its beginning, with `peek`. The caller closes it.

    Raises:
        UnsupportedError: The file is compressed by Zstandard, and pyarrow is not installed.
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
            f"{os.fspath(path)}: reading Zstandard needs pyarrow (pip install 'jeton[parquet]')"
        ) from None
    stream = pyarrow.CompressedInputStream(pyarrow.PythonFile(file, "r"), "zstd")
    return io.BufferedReader(_Stream(stream))


class _Stream(io.RawIOBase):
    """A stream of pyarrow as a stream of Python."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = bytes(self._stream.read(len(buffer)))
        buffer[: len(data)] = data
        return len(data)
