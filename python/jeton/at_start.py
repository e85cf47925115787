"""The command line while its modules are imported: Ctrl-C and a lack of memory end it plainly.

Look here for why importing jeton changes no signal in any other program.
"""

from __future__ import annotations

import _signal as signal  # type: ignore[import-not-found]  # `signal` takes milliseconds
import os
import sys

_FEW_THREADS = 1024
"""A limit of threads below this was set on purpose: systems allow each user more."""


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


def fits_into_memory() -> None:
    """Lets numpy start no threads in the command `jeton` if its memory or its threads are limited.

    OpenBLAS, which numpy loads, maps 40 MB for each core. Without memory it tries for ever, and
    where a thread does not start it raises SIGINT. What is too little for one core ends here.
    """
    if sys.platform == "win32" or not _is_command():
        return
    import resource

    if 0 <= resource.getrlimit(resource.RLIMIT_NPROC)[0] < _FEW_THREADS:
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # What the interpreter and numpy need before a command begins.
    needs = (resource.RLIMIT_AS, 192, "-v"), (resource.RLIMIT_DATA, 64, "-d")
    for limited, megabytes, option in needs:
        limit, _ = resource.getrlimit(limited)
        if limit == resource.RLIM_INFINITY:
            continue
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        if limit < megabytes << 20:
            needed = f"Error: out of memory: ulimit {option} must be {megabytes << 10} or more\n"
            os.write(2, needed.encode())
            os._exit(1)


def limits_memory() -> bool:
    """Whether the address space of this process is limited."""
    if sys.platform == "win32":
        return False
    import resource

    limits = (resource.getrlimit(it)[0] for it in (resource.RLIMIT_AS, resource.RLIMIT_DATA))
    return any(limit != resource.RLIM_INFINITY for limit in limits)


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
fits_into_memory()
