"""Forking a process while one of its threads imports a part of jeton: the child can import it too.

Python locks each module while a thread imports it, and does not unlock it in a forked child, which
has no such thread: the child waits forever when it imports that module. jeton imports most of its
parts on first use, so a `DataLoader` that forks beside a first call would hang
(`tests/robustness/test_fork.py` does that). Therefore a fork waits until no part of jeton, nor of
numpy, is being imported. Python has no public way to ask for these locks: `_module_locks` is read
if it exists; otherwise a fork does not wait.
"""

from __future__ import annotations

import _imp
import contextlib
import importlib
import os
import threading
from collections.abc import Callable
from importlib import _bootstrap

_PACKAGES = ("jeton", "numpy")


def wait_for_imports_before_forks() -> None:
    """Makes every fork of this process wait until no import of these packages is in progress."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(
            before=_wait, after_in_parent=_imp.release_lock, after_in_child=_imp.release_lock
        )


def _wait() -> None:
    """Takes the global import lock once no other thread is importing, so that none can start."""
    _imp.acquire_lock()
    while others := _imports_in_progress():
        _imp.release_lock()
        for name in others:
            with contextlib.suppress(ImportError):  # the other thread raises it
                importlib.import_module(name)
        _imp.acquire_lock()


def _imports_in_progress() -> set[str]:
    """The modules that other threads are importing: Python holds a lock for each."""
    locks: dict[str, Callable[[], object]] = getattr(_bootstrap, "_module_locks", {})
    return {
        name
        for name, reference in list(locks.items())
        if name.partition(".")[0] in _PACKAGES
        and getattr(reference(), "owner", None) not in (None, threading.get_ident())
    }
