"""The standard streams, whatever state they are in: closed, full, or short of characters.

Look here for what becomes of a character that the terminal's encoding lacks, and for how a command
ends whose output has nowhere to go.
"""

from __future__ import annotations

import codecs
import contextlib
import errno
import os
import stat
import sys
from collections.abc import Callable, Iterator
from io import TextIOWrapper
from typing import BinaryIO

from jeton.cli.printing import say
from jeton.errors import FileError

__all__ = [
    "BROKEN_PIPE",
    "STDIN",
    "STDOUT",
    "UNWRITABLE",
    "name_full_file",
    "refuse_endless",
    "run_with_streams",
    "tell",
]

BROKEN_PIPE = 141
"""The exit code where the reader of a pipe has gone: 128 + SIGPIPE."""

STDIN = "standard input"
STDOUT = "standard output"

_LIKE = {
    "─": "-", "│": "|", "█": "#", "▉": "#", "▊": "#", "▋": "#", "▌": "#", "▍": "#", "▎": "#",
    "▏": "#", "→": ">", "⏎": "$", "·": ".", "…": "...", "–": "-", "—": "-", "‹": "<", "›": ">",
    "×": "x", "’": "'", "“": '"', "”": '"', "²": "2", "³": "3", "⁶": "6",
}  # fmt: skip
"""What stands for signs of our own where an encoding lacks them."""

UNWRITABLE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EBADF)
"""What a file or a stream that is full or closed answers, without a name."""


def _replacement(error: UnicodeError) -> tuple[str | bytes, int]:
    """What a stream shows of characters that it cannot encode; for `codecs.register_error`.

    The bytes of a file name that is not UTF-8 come out as they are.
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
    """The exit code of `run`, which may read and write standard streams in any state.

    What it writes has arrived when this ends, or the code says that it has not.
    """
    with _streams_open(), _any_character():
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
    """Says something on standard error, if that can take it: the work does not hang on it."""
    with contextlib.suppress(OSError, ValueError):
        say(message, err=True)


@contextlib.contextmanager
def name_full_file(path: str) -> Iterator[None]:
    """Names the file, in errors that say only that something is full."""
    try:
        yield
    except OSError as error:
        if error.filename is None and error.errno in UNWRITABLE:
            error.filename = path
        raise


def refuse_endless(file: BinaryIO, path: str) -> None:
    """Refuses a device that is read from: `/dev/zero` never ends.

    A terminal may be read from, and so may what is always empty. A pipe is waited for.

    Raises:
        FileError: the file is such a device.
    """
    status = os.fstat(file.fileno())
    is_device = stat.S_ISBLK(status.st_mode) or stat.S_ISCHR(status.st_mode)
    is_empty = is_device and status.st_rdev == os.stat(os.devnull).st_rdev
    if is_device and not is_empty and not file.isatty():
        raise FileError(f"{path}: this is a device, which may never end; name a file or a pipe")


@contextlib.contextmanager
def _streams_open() -> Iterator[None]:
    """Puts something in the place of closed streams, whose use is an error of the system.

    Otherwise the next file that is opened would become the standard output.
    """
    made = []
    for number, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        if getattr(sys, name) is None:
            # Open the wrong way round: reading what is closed fails, and so does writing to it.
            wrong = os.open(os.devnull, os.O_WRONLY if mode == "r" else os.O_RDONLY)
            if wrong != number:
                os.dup2(wrong, number)
                os.close(wrong)
            setattr(sys, name, open(number, mode, closefd=False, encoding="utf-8"))  # noqa: SIM115
            made.append(name)
    try:
        yield
    finally:
        for name in made:
            setattr(sys, name, None)


@contextlib.contextmanager
def _any_character() -> Iterator[None]:
    """Lets standard output and error take any `str`."""
    before: list[tuple[TextIOWrapper, str]] = []
    stdout, stderr = sys.stdout, sys.stderr
    for stream in (stdout, stderr):
        if isinstance(stream, TextIOWrapper):
            before.append((stream, stream.errors or "strict"))
            stream.reconfigure(errors="jeton.shown")
    try:
        yield
    finally:
        sys.stdout, sys.stderr = stdout, stderr  # click wraps them where a reader has left
        for stream, errors in before:
            with contextlib.suppress(OSError, ValueError):
                stream.reconfigure(errors=errors)


def _give_up_what_is_left() -> None:
    """Drops what a stream could not take: Python would try once more at its end, and complain."""
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
