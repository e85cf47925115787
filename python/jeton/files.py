"""Local files: safe reading of untrusted paths, writing with replacement, digests.

Look here to read an untrusted file: a pipe without a writer, a device that never ends, and a file
that is too large for its purpose are refused.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import jeton._core as _core
from jeton.errors import FileError, FormatError, MissingFileError

if TYPE_CHECKING:
    from threading import Event

_AT_A_TIME = 1 << 20
LARGEST = 1 << 28
"""The size limit of files that are read as a whole: records, and files beside tokenizers."""


def expanded(path: str | os.PathLike[str]) -> str:
    """A path with the home folder for `~`, unless a file has that very name."""
    name = os.fspath(path)
    return name if os.path.lexists(name) else os.path.expanduser(name)


def opened(path: str | os.PathLike[str]) -> BinaryIO:
    """A file to read from."""
    return os.fdopen(_core.open_file(path), "rb")


def read(path: str | os.PathLike[str], limit: int = LARGEST) -> bytes:
    """The contents of a file.

    Args:
        path: The file.
        limit: The maximum size in bytes.

    Raises:
        MissingFileError: There is no such file.
        FileError: It is a pipe, a device or a folder, too large, or it cannot be read.
    """
    with opened(path) as file:
        size = os.fstat(file.fileno()).st_size
        if size <= limit:
            contents = file.read(size + 1)
            # It may grow, and files of /proc claim to be empty.
            while size < len(contents) <= limit and (more := file.read(_AT_A_TIME)):
                contents += more
            if len(contents) <= limit:
                return contents
    raise FileError(f"{os.fspath(path)}: this file has more than {limit:,} bytes")


_NOT_FETCHED = {
    b"version https://git-lfs.github.com/spec/": (
        "a Git LFS pointer to a file that was not fetched (run `git lfs pull` where it came from)"
    ),
    b"<!DOCTYPE html": "a web page (download the file itself, not the page about it)",
    b"<html": "a web page (download the file itself, not the page about it)",
    b"\x1f\x8b": "compressed by gzip (unpack it first)",
    b"\x28\xb5\x2f\xfd": "compressed by Zstandard (unpack it first)",
}
"""What a file is that begins with these bytes, as the core says of a tokenizer's file alone."""


def refuse_not_fetched(path: str | os.PathLike[str]) -> None:
    """Raises if what lies in place of a file shows that it was not fetched as it is."""
    with opened(path) as file:
        first = file.read(max(map(len, _NOT_FETCHED)))
    for begin, what in _NOT_FETCHED.items():
        if first.startswith(begin):
            raise FormatError(f"{os.fspath(path)}: this is {what}")


def write(path: str | os.PathLike[str], contents: bytes) -> None:
    """Writes a file into an existing folder, completely or not at all. A link stays a link."""
    folder, name = os.path.split(path)
    if not os.path.isdir(folder or "."):
        raise MissingFileError(f"{os.fspath(path)}: its folder does not exist")
    _core.write_into(folder or ".", [(name, contents)])


def create_beside(target: Path) -> tuple[Path, BinaryIO]:
    """A new file in the folder of `target`, to write to and then to rename: its path and the file.

    It has the permissions of the file that it will replace. No link is followed and no existing
    file is opened, whoever put it there.
    """
    path, descriptor = _core.create_beside(target)
    return Path(path), os.fdopen(descriptor, "wb")


@contextlib.contextmanager
def file_errors(
    place: str | os.PathLike[str], done: str = "written", *, hint: str | None = None
) -> Iterator[None]:
    """Turns errors of the file system into a `FileError`.

    Args:
        place: The file or folder to name, if the error names none.
        done: What could not be done with it: that it be `written`, or `read`.
        hint: What to do about it.
    """
    try:
        yield
    except FileError:
        raise
    except OSError as error:
        name = error.filename or os.fspath(place)
        message = f"{name}: cannot be {done}: {error.strerror or error}"
        raise FileError(message, hint=hint) from None


@dataclass(frozen=True)
class FileDigest:
    """The identity of a file: equal for files with the same contents."""

    bytes: int
    """Its size."""
    sha256: str
    """The digest of its contents, in hexadecimal."""


def digest_of(path: Path, stopped: Event | None = None) -> FileDigest:
    """The size and the SHA-256 of a file, or of the part that was read before `stopped` was set.

    Raises:
        OSError: It cannot be read.
    """
    import hashlib

    sha256, size = hashlib.sha256(), 0
    buffer = memoryview(bytearray(_AT_A_TIME))
    with open(path, "rb", buffering=0) as file:
        while (stopped is None or not stopped.is_set()) and (length := file.readinto(buffer)):
            sha256.update(buffer[:length])
            size += length
    return FileDigest(size, sha256.hexdigest())
