"""A terminal in which tests run `jeton`: keys, and what is shown."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios
import threading
from collections.abc import Mapping

import click


def in_a_terminal(
    *arguments: str,
    answers: Mapping[str, str] = {},
    columns: int = 80,
    variables: Mapping[str, str] = {},
) -> tuple[int, str]:
    """The exit code of `jeton` in a terminal, and what it shows from the last answer on.

    `answers`: Keys to press once a text was shown since the keys before.
    """
    ours, theirs = pty.openpty()
    fcntl.ioctl(ours, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    without = ("NO_COLOR", "COLUMNS", "LINES")
    environment = {name: value for name, value in os.environ.items() if name not in without}
    environment |= {"TERM": "xterm-256color", **variables}
    command = [sys.executable, "-m", "jeton", *arguments]
    with subprocess.Popen(
        command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment
    ) as process:
        os.close(theirs)
        ending = threading.Timer(120, process.kill)
        ending.start()
        shown = b""
        waiting = [*answers.items()]
        with contextlib.suppress(OSError):  # what Linux says when the other side has closed
            while part := os.read(ours, 1 << 16):
                shown += part
                if waiting and waiting[0][0] in click.unstyle(shown.decode(errors="replace")):
                    os.write(ours, waiting.pop(0)[1].encode())
                    shown = b"" if waiting else shown
        code = process.wait()
        ending.cancel()
    os.close(ours)
    assert not waiting, shown[-2000:]
    return code, shown.decode(errors="replace")
