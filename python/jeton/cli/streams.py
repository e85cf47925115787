"""The standard streams, which may be closed, full, or of an encoding that lacks characters.

Look here for what is printed for a character that the terminal's encoding lacks, and for how a
command ends if its output cannot be written.
"""

from __future__ import annotations

import codecs
import contextlib
import errno
import os
import select
import stat
import sys
from collections.abc import Callable, Iterator
from io import BufferedWriter, FileIO, TextIOWrapper
from typing import Any, BinaryIO

from jeton.cli.printing import say
from jeton.errors import FileError

BROKEN_PIPE = 141
"""The exit code if the reader of a pipe has gone: 128 + SIGPIPE."""

STDIN = "standard input"
STDOUT = "standard output"

_LIKE = {
    "─": "-", "│": "|", "█": "#", "▉": "#", "▊": "#", "▋": "#", "▌": "#", "▍": "#", "▎": "#",
    "▏": "#", "→": ">", "⏎": "$", "·": ".", "…": "...", "–": "-", "—": "-", "‹": "<", "›": ">",
    "×": "x", "’": "'", "“": '"', "”": '"', "²": "2", "³": "3", "⁶": "6",
}  # fmt: skip
"""Replacements for jeton's own signs in encodings that lack them."""

UNWRITABLE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EBADF)
"""Errors of a full or closed file or stream; they do not name it."""


def _replacement(error: UnicodeError) -> tuple[str | bytes, int]:
    """Replaces characters that a stream cannot encode; for `codecs.register_error`.

    The bytes of a file name that is not UTF-8 are written unchanged.
    """
    if not isinstance(error, UnicodeEncodeError):
        raise error
    unknown = error.object[error.start : error.end]
    if error.encoding.lower().startswith(("utf-16", "utf-32", "utf_16", "utf_32")):
        return "?" * len(unknown), error.end
    return b"".join(map(_stand_in, unknown)), error.end


def _stand_in(character: str) -> bytes:
    if "\udc80" <= character <= "\udcff":
        return bytes([ord(character) - 0xDC00])
    return _LIKE.get(character, "?").encode("ascii")


codecs.register_error("jeton.shown", _replacement)


def run_with_streams(run: Callable[[], int]) -> int:
    """Runs `run`, whatever the state of the standard streams, and returns its exit code.

    When this returns, all output has been written, or the code says that it has not.
    """
    with _streams_open(), _whole_writes():
        code = 0
        try:
            code = run()
            if sys.stdout is not None:
                sys.stdout.flush()
        except BrokenPipeError:
            code = BROKEN_PIPE
        except OSError as error:
            if error.errno not in UNWRITABLE:
                raise
            if code == 0:
                tell(f"Error: {error.filename or STDOUT}: {(error.strerror or '').lower()}")
            code = 1
        _give_up_what_is_left()
    return code


def tell(message: str) -> None:
    """Prints a message on standard error; if that fails, the work goes on."""
    with contextlib.suppress(OSError, ValueError):
        say(message, err=True)


@contextlib.contextmanager
def name_full_file(path: str) -> Iterator[None]:
    """Adds the name of the file to errors that say only that a disk or stream is full."""
    try:
        yield
    except OSError as error:
        if error.filename is None and error.errno in UNWRITABLE:
            error.filename = path
        raise


def refuse_endless(file: BinaryIO, path: str) -> None:
    """Refuses to read from a device: `/dev/zero` never ends.

    Terminals, pipes and `/dev/null` are allowed.
    """
    status = os.fstat(file.fileno())
    is_device = stat.S_ISBLK(status.st_mode) or stat.S_ISCHR(status.st_mode)
    is_empty = is_device and status.st_rdev == os.stat(os.devnull).st_rdev
    if is_device and not is_empty and not file.isatty():
        raise FileError(f"{path}: this is a device, which may never end; name a file or a pipe")


@contextlib.contextmanager
def _streams_open() -> Iterator[None]:
    """Replaces closed streams by ones whose every use is an error of the system.

    Otherwise the next file to be opened would become the standard output.
    """
    replaced_names = []
    for number, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        if getattr(sys, name) is None:
            # Opened the wrong way round, so that reading from it and writing to it fail.
            wrong = os.open(os.devnull, os.O_WRONLY if mode == "r" else os.O_RDONLY)
            if wrong != number:
                os.dup2(wrong, number)
                os.close(wrong)
            setattr(sys, name, open(number, mode, closefd=False, encoding="utf-8"))  # noqa: SIM115
            replaced_names.append(name)
    try:
        yield
    finally:
        for name in replaced_names:
            setattr(sys, name, None)


class _PatientFile(FileIO):
    """A file that waits until a non-blocking pipe takes more."""

    def write(self, data: Any) -> int:
        while (written := super().write(data)) is None:
            select.select([], [self], [])
        return written


@contextlib.contextmanager
def _whole_writes() -> Iterator[None]:
    """Lets standard output and error take any `str`, and write all of it or raise.

    Under `PYTHONUNBUFFERED`, Python's own streams have no buffer: they pass on what the system
    takes, which may be a part, and say nothing.
    """
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = map(_whole_writer, before)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before  # also if click wrapped them since a reader has left


def _whole_writer(stream: Any) -> Any:
    """A writer in place of a text stream over a file of the system; other streams stay."""
    try:
        number = stream.fileno()
    except (OSError, ValueError, AttributeError):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="jeton.shown")
        return stream
    stream.flush()
    return TextIOWrapper(
        BufferedWriter(_PatientFile(number, "w", closefd=False)),
        encoding=stream.encoding,
        errors="jeton.shown",
        line_buffering=stream.isatty(),
    )


def _give_up_what_is_left() -> None:
    """Drops output that could not be written; Python would try again at its exit, and complain."""
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:
                stream.flush()
        except (OSError, ValueError):
            with contextlib.suppress(OSError, ValueError):
                nowhere = os.open(os.devnull, os.O_WRONLY)
                os.dup2(nowhere, stream.fileno())
                os.close(nowhere)
                stream.flush()
