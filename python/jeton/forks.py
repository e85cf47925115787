"""Forking a process while one of its threads imports a part of jeton: the child can import it too.

Python locks each module while a thread imports it, and does not unlock it in a forked child, which
has no such thread: the child waits forever when it imports that module. jeton imports most of its
parts on first use, so a `DataLoader` that forks beside a first call would hang
(`tests/robustness/test_fork.py` does that). Therefore a fork waits until no part of jeton, nor of
numpy, is being imported. Python has no public way to ask for these locks: `_module_locks` is read
where it exists, and elsewhere a fork does not wait.
"""

from __future__ import annotations

import _imp
import contextlib
import importlib
import os
import threading
from collections.abc import Callable
from importlib import _bootstrap
from typing import Any

__all__ = ["wait_for_imports_before_forks"]

_PACKAGES = ("jeton", "numpy")


def wait_for_imports_before_forks() -> None:
    """Has every fork of this process wait for imports that have begun."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(
            before=_wait, after_in_parent=_imp.release_lock, after_in_child=_imp.release_lock
        )


def _wait() -> None:
    """Takes the lock without which no import begins, when no other thread is at one."""
    _imp.acquire_lock()
    while others := _being_imported():
        _imp.release_lock()
        for name in others:
            with contextlib.suppress(ImportError):  # that thread is told
                importlib.import_module(name)
        _imp.acquire_lock()


def _being_imported() -> set[str]:
    """The names of modules that threads have begun to import: Python has a lock for each."""
    locks: dict[str, Callable[[], Any]] = getattr(_bootstrap, "_module_locks", {})
    return {
        name
        for name, reference in list(locks.items())
        if name.partition(".")[0] in _PACKAGES
        and getattr(reference(), "owner", None) not in (None, threading.get_ident())
    }
