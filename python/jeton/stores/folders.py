"""Folders of object stores: copied to this machine to be read, and written whole.

Writing a folder begins with a file `.writing` and ends by removing it: nobody reads half a folder.
Its work, and copies that are read, are in `stores` in the folder of fetched files; one process at a
time writes there.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path, PurePosixPath
from threading import Event, Lock
from urllib.parse import unquote

from jeton.cache_folder import cache_folder
from jeton.errors import FileError, FormatError, MissingFileError
from jeton.files import file_errors
from jeton.stores.files import THREADS, StoreFile, contents, create, fetch, listed, put, remove
from jeton.stores.urls import checked_url, is_url, shown

_MARK = ".writing"
_ODD = re.compile(r"[^A-Za-z0-9.-]+")
_naming_files = partial(file_errors, hint="set JETON_CACHE_DIR to a folder with room")


def local_copy(path: str | os.PathLike[str]) -> str | os.PathLike[str]:
    """The folder of a copy on this machine, if the path is a URL of a folder.

    Only files that have changed since the last copy are fetched.
    """
    if not is_url(path):
        return path
    url = os.fspath(path)
    folder = StoreFolder(url)
    # Writing may begin or end while the files are listed.
    is_marked = folder.mark() is not None
    files = folder.files()
    if not files:
        raise MissingFileError(f"{folder}: holds no files; name the folder of a token set")
    if folder.manifest not in files and (is_marked or folder.mark() is not None):
        raise FileError(f"{folder}: is still being written; wait until its manifest is there")
    with _locked(folder.work) as work, _naming_files(work):
        _synchronised(work / "copy", files)
    return folder.work / "copy"


class StoreFolder:
    """A folder of a store."""

    manifest = "manifest.json"

    def __init__(self, url: str) -> None:
        """Names the folder."""
        self._url = checked_url("folder", url).rstrip("/")
        digest = hashlib.sha256(self._url.encode()).hexdigest()[:16]
        name = _ODD.sub("_", shown(self._url).partition("://")[2])[-60:]
        self.work = cache_folder() / "stores" / f"{name}-{digest}"
        """Where copies are, and where it is made."""

    def __str__(self) -> str:
        return shown(self._url)

    def files(self) -> dict[str, StoreFile]:
        """Its files, by their paths in it; none if it does not exist."""
        try:
            found = listed(f"{self._url}/")
        except MissingFileError:
            return {}
        spelled = unquote if self._url.startswith("http") else str
        base = spelled(f"{self._url}/")
        files = {}
        for file in found:
            name = spelled(file.url).removeprefix(base)
            parts = PurePosixPath(name).parts
            if "://" in name:
                raise FileError(f"{self}: is a file; name the folder of the set")
            if ".." in parts or name.startswith("/") or "\\" in name:
                raise FormatError(f"{self}: names a file {name!r} that is not in it")
            files[name] = file
        return files

    def mark(self) -> str | None:
        """Which set is being written there, if one is."""
        return contents(f"{self._url}/{_MARK}")

    @contextlib.contextmanager
    def locked(self) -> Iterator[Path]:
        """The folder in which it is made; no other process uses it meanwhile."""
        with _locked(self.work) as work:
            yield work / "new"

    def fetch(self, file: StoreFile, target: Path) -> None:
        """Fetches one of its files, with its time, into an existing folder."""
        with _naming_files(self.work):
            fetch(file, target)
            os.utime(target, (file.modified, file.modified))

    def write(self, source: Path, names: Sequence[str]) -> None:
        """Writes files of a folder of this machine, the manifest last, and removes that folder.

        Files that an interrupted call has written are not written again.
        """
        with _naming_files(self.work):
            self._write(source, names)

    def _write(self, source: Path, names: Sequence[str]) -> None:
        manifest = (source / self.manifest).read_bytes()
        identity = hashlib.sha256(manifest).hexdigest()
        mark, done = self.mark(), source.parent / "written"
        if mark is None:
            done.unlink(missing_ok=True)
            create(f"{self._url}/{_MARK}", identity)
            mark = self.mark()
        if mark != identity:
            raise FileError(
                f"{self}: another set is being written there; if nobody does, remove {self}/{_MARK}"
            )
        written = set(done.read_text("utf-8").splitlines()) if done.exists() else set()
        lock = Lock()
        with done.open("a", encoding="utf-8") as record:

            def write(name: str) -> None:
                put(source / name, f"{self._url}/{name}")
                with lock:
                    print(name, file=record, flush=True)

            _in_parallel(write, [name for name in names if name not in written])
        put(source / self.manifest, f"{self._url}/{self.manifest}")
        self.finish()

    def finish(self) -> None:
        """Removes what a run leaves, on this machine and in the store."""
        remove(f"{self._url}/{_MARK}")
        shutil.rmtree(self.work / "new", ignore_errors=True)
        (self.work / "written").unlink(missing_ok=True)


def _in_parallel(
    work: Callable[[str], None], names: Sequence[str], stopped: Event | None = None
) -> None:
    """Does work for each name; `stopped` is set when one fails, or the caller is interrupted."""
    with ThreadPoolExecutor(THREADS) as threads:
        transfers = [threads.submit(work, name) for name in names]
        try:
            for transfer in transfers:
                transfer.result()
        finally:
            if stopped is not None:
                stopped.set()
            threads.shutdown(cancel_futures=True)


def _synchronised(copy: Path, files: dict[str, StoreFile]) -> None:
    """Makes a copy of files, fetching those that it does not have."""
    record = copy / ".versions.json"
    try:
        known = json.loads(record.read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        known = {}
    versions = {name: [file.bytes, file.version] for name, file in files.items()}
    for path in [*copy.rglob("*")]:
        name = path.relative_to(copy).as_posix()
        is_known = name in versions and known.get(name) == versions[name]
        if path.is_file() and path != record and not is_known:
            path.unlink()
    missing = [
        name
        for name, file in files.items()
        if not file.version
        or not (copy / name).is_file()
        or (copy / name).stat().st_size != file.bytes
    ]
    copy.mkdir(parents=True, exist_ok=True)
    # A file that is whole, but of which this does not know yet, is fetched again.
    record.write_text(json.dumps({it: of for it, of in versions.items() if it not in missing}))
    stopped = Event()

    def copied(name: str) -> None:
        target = copy / name
        target.parent.mkdir(parents=True, exist_ok=True)
        part = target.with_name(f".{target.name}.part")
        fetch(files[name], part, stopped)
        os.replace(part, target)

    _in_parallel(copied, missing, stopped)
    record.write_text(json.dumps(versions))


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[Path]:
    """A folder that other processes do not use meanwhile; they wait."""
    with contextlib.ExitStack() as stack:
        with _naming_files(folder):
            folder.mkdir(parents=True, exist_ok=True)
            file = stack.enter_context(open(folder / "lock", "wb"))
            with contextlib.suppress(ImportError):
                import fcntl

                fcntl.flock(file, fcntl.LOCK_EX)
        yield folder
