"""Signals that end a command: Ctrl-C, SIGTERM and SIGHUP raise one exception.

Look here for why no file is left behind: cleaning up is `undisturbed`, and a signal that arrives
meanwhile takes effect afterwards.
"""

from __future__ import annotations

import contextlib
import signal
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from types import FrameType


class Stopped(KeyboardInterrupt):
    """A signal asked the process to end."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number


class _Waiting:
    """How many `undisturbed` blocks are running, and the signal that arrived in one."""

    cleanings = 0
    came: int | None = None


def exit_code(stop: BaseException | None) -> int:
    """The exit code after a signal: 130 after Ctrl-C."""
    return 128 + (stop.number if isinstance(stop, Stopped) else signal.SIGINT)


@contextlib.contextmanager
def signals_stop() -> Iterator[None]:
    """Lets SIGTERM and SIGHUP end a command as Ctrl-C does: half-written files are removed.

    A signal that is already ignored or handled stays so. A second SIGTERM or SIGHUP ends the
    process at once; a second Ctrl-C does not.
    """
    handled = []
    if threading.current_thread() is threading.main_thread():
        usual = {"SIGTERM": signal.SIG_DFL, "SIGHUP": signal.SIG_DFL}
        for name, before in {**usual, "SIGINT": signal.default_int_handler}.items():
            number = getattr(signal, name, None)
            if number is not None and signal.getsignal(number) is before:
                signal.signal(number, _stop)
                handled.append((number, before))
    try:
        yield
    finally:
        for number, before in handled:
            signal.signal(number, before)


def _stop(number: int, _: FrameType | None) -> None:
    if number != signal.SIGINT:
        signal.signal(number, signal.SIG_DFL)
    if not _Waiting.cleanings:
        raise Stopped(number)
    _Waiting.came = number


@contextlib.contextmanager
def undisturbed() -> Iterator[None]:
    """Delays signals until the end of the block."""
    _Waiting.cleanings += 1
    try:
        yield
    finally:
        _Waiting.cleanings -= 1
        if not _Waiting.cleanings and _Waiting.came is not None:
            number, _Waiting.came = _Waiting.came, None
            raise Stopped(number)


@contextlib.contextmanager
def temporary_folder(prefix: str | None = None, dir: Path | None = None) -> Iterator[Path]:
    """A folder that is removed afterwards, even if a signal arrives."""
    folder = tempfile.TemporaryDirectory(prefix=prefix, dir=dir)
    try:
        yield Path(folder.name)
    finally:
        with undisturbed():
            folder.cleanup()
