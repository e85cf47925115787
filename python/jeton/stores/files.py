"""Files of object stores through fsspec: listing, fetching and writing whole files.

A file is fetched whole and compared with its listing, so a truncated download, or one of a file
that changed meanwhile, is an error. Errors name the URL without secrets.
"""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import datetime
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from threading import Event
from typing import Any, TypeAlias
from urllib.parse import unquote

from jeton.errors import FileError, JetonError, MissingFileError, UnsupportedError
from jeton.stores.urls import SCHEMES, checked_url, scrubbed, shown

THREADS = 8
"""Files that are fetched, written or looked at at a time."""
_ATTEMPTS = 3
"""How often a file is fetched or written before that fails."""
_VERSIONS = (
    "ETag", "etag", "md5Hash", "generation", "blob_id", "Content-MD5", "Digest",
    "LastModified", "Last-Modified", "last_modified", "updated", "mtime", "created",
)  # fmt: skip
"""What file systems call that which changes with a file, the most exact first."""
_MISSING = (404, 410)
_DENIED = (401, 403)


@dataclass(frozen=True)
class StoreFile(os.PathLike[str]):
    """A file of an object store, as it was when it was listed."""

    url: str = field(repr=False)
    """Its URL, which may have secrets."""
    bytes: int
    """Its size."""
    version: str
    """What changes when the file does: its checksum or its time; empty if the store has neither."""
    modified: float = field(default=0.0, compare=False, repr=False)
    """When it was written, in seconds since 1970; 0 if the store does not say."""

    @property
    def name(self) -> str:
        """Its name without the folder."""
        path = self.url.partition("?")[0] if self.url.startswith("http") else self.url
        return path.rpartition("/")[2]

    @property
    def suffix(self) -> str:
        """The end of its name, as of a `Path`."""
        return PurePosixPath(self.name).suffix

    def is_file(self) -> bool:
        """Whether it is a file and not a pipe."""
        return True

    def __fspath__(self) -> str:
        return shown(self.url)

    def __str__(self) -> str:
        return shown(self.url)

    def identity(self) -> dict[str, object]:
        """The properties that show whether it has changed, for JSON."""
        return {"path": str(self), "bytes": self.bytes, "version": self.version}


InputFile: TypeAlias = "Path | StoreFile"
"""A file to read: of this machine, or of an object store."""


def only_paths(files: Iterable[InputFile], remedy: str) -> list[Path]:
    """The files, if all are of this machine.

    Raises:
        UnsupportedError: One is of a store; the error ends in `remedy`.
    """
    paths = []
    for file in files:
        if isinstance(file, StoreFile):
            raise UnsupportedError(f"{file}: files of stores are not read here; {remedy}")
        paths.append(file)
    return paths


class Stopped(Exception):
    """A transfer was stopped, since nobody waits for it any more."""


def listed(url: str) -> list[StoreFile]:
    """The files that a URL names: a file, all files of a folder, or those of a pattern.

    They are in the order of their names, those of a folder together, without names that begin with
    a dot, unless the URL says so.

    Raises:
        MissingFileError: There are none.
        FileError: The store cannot be read.
        UnsupportedError: A package is missing, or the store does not say the size of a file.
    """
    system, path = _opened(url)
    is_web = url.startswith("http")
    with _naming(url):
        system.invalidate_cache()
        infos = _infos(system, path, is_web=is_web)
    if not infos:
        raise MissingFileError(f"{shown(url)}: holds no files")
    scheme = url.partition("://")[0]
    files = []
    with ThreadPoolExecutor(THREADS) as threads:
        names = sorted(infos, key=lambda name: name.split("/"))
        complete = threads.map(lambda name: _with_size(system, url, name, infos[name]), names)
        for name, info in zip(names, complete, strict=True):
            own = name if is_web else f"{scheme}://{name.lstrip('/')}"
            if info.get("size") is None:
                raise UnsupportedError(
                    f"{shown(own)}: the server does not say how many bytes the file has, so a "
                    "truncated download could not be noticed; download it first"
                )
            files.append(StoreFile(own, int(info["size"]), _version(info), _modified(info)))
    return files


def _infos(system: Any, path: str, *, is_web: bool) -> dict[str, dict[str, Any]]:
    """The files of a path by name; a file whose name looks like a pattern is that file."""
    is_pattern = any(sign in path for sign in ("*[" if is_web else "*?["))
    is_folder = is_web and path.endswith("/")
    try:
        info = {"type": "directory"} if is_folder else system.info(path)
    except FileNotFoundError:
        if not is_pattern:
            raise
        found = system.glob(path, detail=True)
    else:
        if info["type"] != "directory":
            return {info["name"]: info}
        found = _linked(system, path) if is_web else system.find(path, detail=True)
        is_pattern = False
    start = path.rstrip("/").count("/") + 1 if not is_pattern else 0
    named = [part for part in path.split("/") if part.startswith(".") and is_pattern]
    return {
        name: info
        for name, info in found.items()
        if info["type"] == "file"
        and not name.endswith("/")
        and not any(
            part.startswith(".") and not any(fnmatchcase(part, it) for it in named)
            for part in name.split("/")[start:]
        )
    }


def _linked(system: Any, folder: str) -> dict[str, dict[str, Any]]:
    """The files of a folder of a web server to which its page and those of its folders link.

    Pages also link to themselves in another order, as `?C=M;O=D`, and to files elsewhere.
    """
    found = {}
    for info in system.ls(folder, detail=True):
        name = info["name"]
        path = re.split("[?#]", name)[0]
        if not unquote(path).startswith(unquote(folder)) or path == folder:
            continue
        if info["type"] != "directory":
            if not path.endswith("/"):
                found[name] = info
        else:
            found |= _linked(system, f"{name.rstrip('/')}/")
    return found


def _with_size(system: Any, url: str, name: str, info: dict[str, Any]) -> dict[str, Any]:
    """What a store says of a file, which listings of web servers do not have."""
    if info.get("size") is not None:
        return info
    with _naming(url):
        return {**info, **system.info(name)}


def _version(info: dict[str, Any]) -> str:
    value = next((info[key] for key in _VERSIONS if info.get(key) is not None), "")
    return str(value.timestamp() if isinstance(value, datetime) else value)


def _modified(info: dict[str, Any]) -> float:
    for key in _VERSIONS:
        value = info.get(key)
        if isinstance(value, datetime):
            return value.timestamp()
        if isinstance(value, float):
            return value
    return 0.0


def fetch(file: StoreFile, target: Path, stopped: Event | None = None) -> None:
    """Fetches a file to a new file of this machine; several attempts are made.

    Raises:
        FileError: It cannot be read, is truncated, or is not what was listed.
        Stopped: `stopped` was set.
    """
    system, path = _opened(file.url)
    from fsspec.callbacks import Callback

    class Stopping(Callback):  # type: ignore[misc]
        def relative_update(self, inc: int = 1) -> None:
            if stopped is not None and stopped.is_set():
                raise Stopped

    def attempt() -> None:
        system.get_file(path, os.fspath(target), callback=Stopping())
        size = target.stat().st_size
        if (now := _info_now(system, path)) != (file.bytes, file.version):
            raise FileError(
                f"{file}: changed while it was read: it has {now[0]:,} bytes, and had "
                f"{file.bytes:,} when it was listed; start again"
            )
        if size != file.bytes:
            raise EOFError(f"{size:,} bytes arrived of {file.bytes:,}")

    _attempted(file.url, attempt, stopped)


def _info_now(system: Any, path: str) -> tuple[int, str]:
    system.invalidate_cache()
    info = system.info(path)
    return int(info["size"] or 0), _version(info)


def put(source: Path, url: str) -> None:
    """Writes a file of this machine to a store, whole; several attempts are made.

    Raises:
        FileError: It cannot be written.
    """
    system, path = _opened(url)

    def attempt() -> None:
        system.put_file(os.fspath(source), path)
        size, _ = _info_now(system, path)
        if size != source.stat().st_size:
            raise EOFError(f"{size:,} bytes arrived of {source.stat().st_size:,}")

    _attempted(url, attempt, None, "written")


def create(url: str, text: str) -> None:
    """Writes a small file, unless there is one.

    Of several that do so at once one succeeds, but in `hf://`, where the last one may replace the
    others.

    Raises:
        FileError: It cannot be written.
    """
    system, path = _opened(url)

    def attempt() -> None:
        with contextlib.suppress(FileExistsError):
            system.pipe_file(path, text.encode(), mode="create")

    _attempted(url, attempt, None, "written")


def contents(url: str) -> str | None:
    """The text of a small file; `None` if there is none."""
    system, path = _opened(url)
    try:
        with _naming(url):
            system.invalidate_cache()
            system.info(path)
            return str(system.cat_file(path).decode("utf-8", "replace"))
    except MissingFileError:
        return None


def remove(url: str) -> None:
    """Removes a file, if there is one."""
    system, path = _opened(url)
    with contextlib.suppress(MissingFileError), _naming(url):
        system.invalidate_cache()
        system.info(path)
        system.rm_file(path)


def refuse_reading_only(url: str) -> None:
    """Fails unless files can be written to the store of a URL.

    Raises:
        UnsupportedError: The store can only be read, or a package is missing.
    """
    if url.startswith("http"):
        raise UnsupportedError(
            f"{shown(url)}: a web server can only be read; write to a folder, or to a store: "
            "s3://, gs:// or hf://"
        )
    _opened(url)


def _attempted(
    url: str, attempt: Callable[[], None], stopped: Event | None, doing: str = "read"
) -> None:
    for number in range(1, _ATTEMPTS + 1):
        try:
            attempt()
            return
        except (JetonError, Stopped):
            raise
        except Exception as error:
            failure, may_pass = _error_of(url, doing, error)
            if number == _ATTEMPTS or not may_pass:
                raise failure from None
        (stopped or Event()).wait(number / 4)


def _opened(url: str) -> tuple[Any, str]:
    """The file system of a URL, and the path in it."""
    scheme = checked_url("url", url).partition("://")[0]
    package = SCHEMES[scheme]
    try:
        import fsspec

        options: dict[str, Any] = {}
        if package == "aiohttp":
            from aiohttp import ClientTimeout

            # By default five minutes for a whole file, however large.
            timeout = ClientTimeout(total=None, sock_connect=30, sock_read=60)
            options = {"client_kwargs": {"timeout": timeout}}
        elif package == "huggingface_hub":
            # Its instances are kept by thread, and a later thread would find outdated listings.
            options = {"skip_instance_cache": True}
        with _naming(url):
            system, path = fsspec.core.url_to_fs(url, **options)
    except ImportError:
        raise UnsupportedError(
            f"{shown(url)}: {scheme}:// needs fsspec and {package} (pip install 'jeton[stores]')"
        ) from None
    return system, str(path)


@contextlib.contextmanager
def _naming(url: str) -> Iterator[None]:
    """Turns errors of file systems into errors of jeton that name the URL."""
    try:
        yield
    except (JetonError, ImportError):
        raise
    except Exception as error:
        # What it was raised from may have secrets.
        raise _error_of(url, "read", error)[0] from None


def _error_of(url: str, doing: str, error: Exception) -> tuple[FileError, bool]:
    """An error of a file system as one of jeton, and whether another attempt may succeed."""
    # fsspec calls every failure of a web server a missing file.
    cause = error.__cause__ if isinstance(error, FileNotFoundError) else None
    reason: BaseException = cause or error
    status = getattr(reason, "status", None)
    kind = type(reason).__name__
    if status in _MISSING or isinstance(reason, FileNotFoundError) or kind == "NoSuchBucket":
        return MissingFileError(f"{shown(url)}: there is no such file or folder"), False
    why = scrubbed(str(reason)) or "no reason was given"
    message = f"{shown(url)}: cannot be {doing}: {kind}: {why}"
    is_denied = isinstance(reason, PermissionError) or status in _DENIED
    if is_denied or kind in ("NoCredentialsError", "GatedRepoError"):
        package = SCHEMES[url.partition("://")[0]]
        hint = f"set credentials where {package} looks for them, as its manual says"
        return FileError(message, hint=hint), False
    return FileError(message), True
