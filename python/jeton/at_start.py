"""The command line while its modules are imported: Ctrl-C ends it without a traceback.

Look here for why importing jeton changes no signal in any other program.
"""

from __future__ import annotations

import _signal as signal  # type: ignore[import-not-found]  # `signal` takes milliseconds
import os
import sys

__all__ = ["ends_when_interrupted", "raises_when_interrupted"]


def ends_when_interrupted() -> None:
    """Lets Ctrl-C end this process at once, if it is the command `jeton`.

    Nothing is written while modules are imported, so there is nothing to clean up.
    """
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler and _is_command():
        signal.signal(signal.SIGINT, _end)


def raises_when_interrupted() -> None:
    """Lets Ctrl-C raise KeyboardInterrupt again."""
    if signal.getsignal(signal.SIGINT) is _end:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _end(number: int, _: object) -> None:
    os.write(2, b"jeton: interrupted\n")
    os._exit(128 + number)


def _is_command() -> bool:
    """Whether this is `python -m jeton`, or the program that an installer writes for `jeton`."""
    if sys.orig_argv[1:3] == ["-m", "jeton"]:
        return True
    program = sys.argv[0] if sys.argv else ""
    if os.path.basename(program) != "jeton":
        return False
    try:
        with open(program, "rb") as file:
            return b"jeton.cli" in file.read(2000)
    except OSError:
        return False


ends_when_interrupted()
