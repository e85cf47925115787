"""Where a set is made: in its folder; for an object store on this machine, to be written whole."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from jeton.data.manifest import NAME, Manifest
from jeton.errors import FileError
from jeton.stores.files import refuse_reading_only
from jeton.stores.folders import StoreFolder
from jeton.stores.local_copies import LocalFiles
from jeton.stores.urls import is_url


@dataclass(frozen=True)
class SetTarget:
    """Where a set is made, and what brings it to where it belongs."""

    folder: Path
    """The folder of this machine in which it is made."""
    publish: Callable[[Manifest], None]
    """Brings the complete set to its place."""
    is_waiting: bool
    """Whether the folder may hold a complete set that is not yet, or not wholly, in its place."""


@contextlib.contextmanager
def written_to(target: str, is_taken: Callable[[str], bool]) -> Iterator[SetTarget]:
    """The place for a set.

    Args:
        target: A folder, or the URL of one.
        is_taken: Whether a file with such a name would be replaced, or be read as part of the set.
    """
    if not is_url(target):
        yield SetTarget(Path(target), lambda _: None, False)
        return
    refuse_reading_only(target)
    store = StoreFolder(target)
    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(store.locked())
        there = store.files()
        is_whole = NAME in there
        if is_whole:
            shutil.rmtree(folder, ignore_errors=True)
            # Not in that folder, where a manifest says that all files are there.
            folder = Path(stack.enter_context(TemporaryDirectory(prefix="jeton-")))
            store.fetch(there[NAME], folder / NAME)
        elif not folder.exists() and store.mark() is None:
            for name in filter(is_taken, there):
                raise FileError(
                    f"{store}/{name}: exists already, and is not of a set that was prepared here; "
                    "choose another folder, or remove it"
                )
        stack.enter_context(LocalFiles(0, [], {os.fspath(folder): str(store)}).named())

        def publish(manifest: Manifest) -> None:
            if is_whole:
                store.finish()
            else:
                store.write(folder, [*manifest.files])

        yield SetTarget(folder, publish, not is_whole)
