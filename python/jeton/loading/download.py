"""Fetching one published file: checked by its sha256, put in place whole or not at all.

Look here for what happens on a slow, broken or lying network. Nothing but the standard library is
used, and nothing is fetched unless a function here is called.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import http.client
import os
import socket
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from jeton.errors import ChecksumError, DownloadError, FileError

__all__ = ["Progress", "fetch", "sha256_of", "show_progress"]

Progress = Callable[[int, "int | None"], None]
"""Called with the bytes that have arrived and, where the server says, the bytes to come in all."""

ATTEMPTS = 4
REDIRECTS = 5
TIMEOUT = 30.0  # seconds without a byte
LIMIT = 256 << 20  # bytes; ten times the largest published vocabulary
_CHUNK = 1 << 16  # bytes that are read at a time
_PASSING = frozenset({408, 425, 429, 500, 502, 503, 504})


def sha256_of(path: Path) -> str:
    """The sha256 of a file, in hexadecimal."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def fetch(
    url: str,
    destination: Path,
    sha256: str,
    *,
    progress: Progress | None = None,
    timeout: float = TIMEOUT,
    limit: int = LIMIT,
    pause: float = 0.5,
) -> None:
    """Fetches `url` to `destination`, if it is the file with this `sha256`.

    The file grows under a name of its own in the same folder and is renamed at the end, so other
    processes see it whole or not at all, and several may fetch at once. What breaks off is taken
    up where it stopped, if the server can, and begun again otherwise.

    Args:
        url: An `https` or `http` address. At most five redirections are followed, never from
            `https` to `http`.
        destination: Where the file goes. Its folder is made if need be.
        sha256: In hexadecimal.
        progress: Called as bytes arrive.
        timeout: Seconds without a byte after which an attempt is given up.
        limit: The largest file to accept, in bytes.
        pause: Seconds before the second attempt; doubled before each later one.

    Raises:
        ChecksumError: the file is another one. It is not kept.
        DownloadError: it cannot be had, after four attempts if the trouble may pass: without a
            network at once.
        FileError: the folder cannot be written to.
    """
    try:
        destination.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(
            dir=destination.parent, prefix=f".{destination.name}.", suffix=".part"
        )
    except OSError as error:
        raise FileError(
            f"{destination.parent}: cannot be written to: {error} (set JETON_CACHE_DIR to a folder "
            "that can)"
        ) from error
    part = Path(name)
    try:
        with os.fdopen(handle, "w+b") as file:
            _fetch_into(file, url, destination, progress, timeout, limit, pause)
            file.flush()
            os.fsync(file.fileno())
        actual = sha256_of(part)
        if actual != sha256.lower():
            raise ChecksumError(
                f"{url}: what arrived is not the published file: its sha256 is {actual}, published "
                f"is {sha256} (it was not kept; a proxy may have put something in its place)"
            )
        os.chmod(part, 0o666 & ~_umask())
        os.replace(part, destination)
    finally:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)


def _fetch_into(
    file: IO[bytes],
    url: str,
    destination: Path,
    progress: Progress | None,
    timeout: float,
    limit: int,
    pause: float,
) -> None:
    elsewhere = (
        f"fetch it by other means to {destination}, or name a folder that holds it with folder= or "
        "JETON_DATA_DIR"
    )
    trouble: Exception | None = None
    for attempt in range(ATTEMPTS):
        if attempt:
            time.sleep(pause * 2 ** (attempt - 1))
        try:
            _attempt(file, url, progress, timeout, limit)
            return
        except urllib.error.HTTPError as error:
            error.close()
            if error.code == 416:  # the part that is there is no part of this file
                file.seek(0)
                file.truncate()
            elif error.code not in _PASSING:
                raise DownloadError(
                    f"{url}: the server answers {error.code} {error.reason}"
                ) from error
            trouble = error
        except DownloadError:
            raise
        except (OSError, http.client.HTTPException, ValueError) as error:
            if _is_without_network(error):
                raise DownloadError(
                    f"{url}: cannot be reached from here: {_reason(error)} ({elsewhere})"
                ) from error
            trouble = error  # a ValueError is of an address to go to that is none
    raise DownloadError(
        f"{url}: gave up after {ATTEMPTS} attempts: {trouble} ({elsewhere})"
    ) from trouble


def _reason(error: Exception) -> object:
    return error.reason if isinstance(error, urllib.error.URLError) else error


def _is_without_network(error: Exception) -> bool:
    """Whether there is no way to the server, which seconds later is no other."""
    reason = _reason(error)
    return isinstance(reason, socket.gaierror) or (
        isinstance(reason, OSError) and reason.errno == errno.ENETUNREACH
    )


def _attempt(
    file: IO[bytes], url: str, progress: Progress | None, timeout: float, limit: int
) -> None:
    have = file.seek(0, os.SEEK_END)
    headers = {"User-Agent": "jeton", "Accept-Encoding": "identity"}
    if have:
        headers["Range"] = f"bytes={have}-"
    opener = urllib.request.build_opener(_Redirects)
    with opener.open(urllib.request.Request(url, headers=headers), timeout=timeout) as response:
        if have and not (
            response.status == 206
            and response.headers.get("Content-Range", "").startswith(f"bytes {have}-")
        ):
            file.seek(0)
            file.truncate()
            have = 0
            if response.status == 206:
                raise OSError("the server sent a different part from the one that was asked for")
        total = _total(response.headers.get("Content-Length"), have)
        if total is not None and total > limit:
            raise DownloadError(f"{url}: {total} bytes, more than the limit of {limit}")
        while chunk := response.read(_CHUNK):
            have += len(chunk)
            if have > limit:
                raise DownloadError(f"{url}: more than the limit of {limit} bytes")
            file.write(chunk)
            if progress is not None:
                progress(have, total)
        if total is not None and have < total:
            raise OSError(f"the connection broke off after {have} of {total} bytes")


def _total(content_length: str | None, have: int) -> int | None:
    if content_length is None or not content_length.isdecimal():
        return None
    # As many digits as any size has; Python reads no number of thousands.
    return have + int(content_length.lstrip("0")[:20] or "0")


class _Redirects(urllib.request.HTTPRedirectHandler):
    """Follows a few redirections, and none to a place that is less safe."""

    max_redirections = REDIRECTS
    max_repeats = 2

    def http_error_302(
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: http.client.HTTPMessage,
    ) -> Any:
        try:
            return super().http_error_302(req, fp, code, msg, headers)
        except ValueError:  # of an address that is none
            fp.close()
            raise

    http_error_301 = http_error_303 = http_error_307 = http_error_308 = http_error_302

    def redirect_request(
        self,
        req: urllib.request.Request,
        fp: Any,
        code: int,
        msg: str,
        headers: Any,
        newurl: str,
    ) -> urllib.request.Request | None:
        scheme = urllib.parse.urlsplit(newurl).scheme
        if scheme != "https" and (scheme, req.type) != ("http", "http"):
            raise DownloadError(f"{req.full_url}: refused the redirect to {newurl}")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _umask() -> int:
    # The mask can only be read by setting it; files made meanwhile must not be open to more.
    mask = os.umask(0o077)
    os.umask(mask)
    return mask


def show_progress(name: str) -> Progress | None:
    """Shows progress on standard error, if that is a terminal."""
    stream = sys.stderr
    if stream is None or not stream.isatty():
        return None
    last = 0.0

    def show(have: int, total: int | None) -> None:
        nonlocal last
        now = time.monotonic()
        done = have == total
        if now - last < 0.1 and not done:
            return
        last = now
        of = "" if total is None else f" of {total / 1e6:.1f}"
        stream.write(f"\rfetching {name}: {have / 1e6:.1f}{of} MB" + ("\n" if done else ""))
        stream.flush()

    return show
