"""Copies of the files of a corpus on this machine, fetched ahead of their reader.

Files of stores are fetched in groups, several at a time; the next group while the caller reads one.
So a corpus takes the disk of two groups, in the folder for temporary files.
"""

from __future__ import annotations

import contextlib
import re
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from threading import Event

from jeton.errors import JetonError
from jeton.stores.files import THREADS, InputFile, StoreFile, fetch

_GROUP = 1 << 28
"""Maximum bytes of a group of several files."""
_ODD = re.compile(r"[^A-Za-z0-9._-]")


@dataclass(frozen=True)
class LocalFiles:
    """Consecutive files of a corpus, all on this machine."""

    first: int
    """The number of the first in the corpus."""
    paths: list[Path]
    """Their paths."""
    names: dict[str, str] = field(default_factory=dict)
    """The URL of each path that is a copy."""

    @contextlib.contextmanager
    def named(self) -> Iterator[None]:
        """Makes errors name URLs in place of copies."""
        try:
            yield
        except JetonError as error:
            message = error.message
            for path, name in self.names.items():
                message = message.replace(path, name)
            if message == error.message:
                raise
            raise error.reworded(message) from None

    def name(self, path: str) -> str:
        """The URL of a copy, and any other path as it is."""
        return self.names.get(path, path)


def local_files(files: Sequence[InputFile], first: int = 0) -> Iterator[LocalFiles]:
    """Yields the files from index `first`, in order; removes copies before it yields the next
    ones."""
    numbered = list(enumerate(files))[first:]
    for of_stores, run in groupby(numbered, lambda entry: isinstance(entry[1], StoreFile)):
        if of_stores:
            yield from _fetched([(at, file) for at, file in run if isinstance(file, StoreFile)])
        else:
            paths = [(at, file) for at, file in run if isinstance(file, Path)]
            yield LocalFiles(paths[0][0], [path for _, path in paths])


def _fetched(files: list[tuple[int, StoreFile]]) -> Iterator[LocalFiles]:
    groups, stopped = _groups(files), Event()
    with (
        tempfile.TemporaryDirectory(prefix="jeton-", ignore_cleanup_errors=True) as folder,
        ThreadPoolExecutor(THREADS) as threads,
    ):
        try:
            coming = _started(groups[0], Path(folder), threads, stopped)
            for at in range(len(groups)):
                here, transfers = coming
                for transfer in transfers:
                    transfer.result()
                if at + 1 < len(groups):
                    coming = _started(groups[at + 1], Path(folder), threads, stopped)
                yield here
                for path in here.paths:
                    path.unlink()
        finally:
            stopped.set()
            threads.shutdown(cancel_futures=True)


def _groups(files: list[tuple[int, StoreFile]]) -> list[list[tuple[int, StoreFile]]]:
    groups: list[list[tuple[int, StoreFile]]] = []
    size = 0
    for number, file in files:
        size += file.bytes
        if not groups or size > _GROUP:
            groups.append([])
            size = file.bytes
        groups[-1].append((number, file))
    return groups


def _started(
    group: list[tuple[int, StoreFile]], folder: Path, threads: ThreadPoolExecutor, stopped: Event
) -> tuple[LocalFiles, list[Future[None]]]:
    # The end of a name says what is in the file.
    paths = [folder / f"{number}-{_ODD.sub('_', file.name)[-80:]}" for number, file in group]
    transfers = [
        threads.submit(fetch, file, path, stopped)
        for path, (_, file) in zip(paths, group, strict=True)
    ]
    names = {str(path): str(file) for path, (_, file) in zip(paths, group, strict=True)}
    return LocalFiles(group[0][0], paths, names), transfers
