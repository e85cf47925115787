"""Processes of Python that jeton starts to work for it, and messages over their pipes."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from typing import Any, BinaryIO, Final

_START: Final = """
import sys
argument, *sys.path[:] = sys.argv[1:]
from {module} import {function}
{function}(argument)
"""
"""What a process runs. Python would search the working folder first, which may hold a stranger's
files, so nothing but `sys`, which is built in, is imported before the caller's path is set, with
that folder last."""


def start_python(
    module: str,
    function: str,
    argument: str,
    *,
    stderr: int | None = None,
    start_new_session: bool = False,
) -> subprocess.Popen[bytes]:
    """Starts a process that calls a function of a module with a text.

    Its standard error is that of this process, unless `stderr` says otherwise. With
    `start_new_session` it begins a group of its own, which a signal can end as a whole.

    Raises:
        OSError: No process starts.
    """
    working = {""}
    with contextlib.suppress(FileNotFoundError):  # it was deleted
        working.add(os.getcwd())
    folders = sorted((it for it in sys.path if isinstance(it, str)), key=working.__contains__)
    code = _START.format(module=module, function=function)
    pipe = subprocess.PIPE
    # Nothing is buffered, so that closing in a forked process writes nothing.
    return subprocess.Popen(
        [sys.executable, "-c", code, argument, *folders],
        stdin=pipe,
        stdout=pipe,
        stderr=stderr,
        bufsize=0,
        start_new_session=start_new_session,
    )


def pipes_of_server() -> tuple[BinaryIO, BinaryIO]:
    """The requests and the answers of a process that was started so; call it first in there."""
    # The process that asks is interrupted, and ends this one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # They stay open until the process ends.
    requests = os.fdopen(os.dup(0), "rb", 0, closefd=False)
    answers = os.fdopen(os.dup(1), "wb", 0, closefd=False)
    # Output that is printed in any other way is not an answer.
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    return requests, answers


def write_message(pipe: BinaryIO | Any, body: bytes) -> None:
    """Writes a message with its length."""
    rest = memoryview(len(body).to_bytes(8, "little") + body)
    while rest:
        rest = rest[pipe.write(rest) :]


def read_message(pipe: BinaryIO | Any, longest: int = sys.maxsize) -> bytes | None:
    """The next message; `None` if the pipe was closed before its end, or it is longer."""
    size = int.from_bytes(_exactly(pipe, 8) or b"", "little")
    return _exactly(pipe, size) if 0 < size <= longest else None


def _exactly(pipe: BinaryIO | Any, size: int) -> bytes | None:
    found = bytearray()
    while len(found) < size:
        part = pipe.read(min(size - len(found), 1 << 20))
        if not part:
            return None
        found += part
    return bytes(found)
