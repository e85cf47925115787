"""Downloads one published file: checked by its sha256, and saved as a whole or not at all.

Look here for what happens on a slow, broken or malicious network. It uses only the standard
library, and downloads only if a function here is called.
"""

from __future__ import annotations

import contextlib
import errno
import http.client
import os
import socket
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from jeton.errors import ChecksumError, DownloadError, FileError
from jeton.files import create_beside, digest_of

Progress = Callable[[int, "int | None"], None]
"""Called with the number of bytes so far and, if the server says it, the total."""

ATTEMPTS = 4
REDIRECTS = 5
TIMEOUT = 30.0  # seconds without a byte
LIMIT = 256 << 20  # bytes; ten times the largest published vocabulary
_CHUNK = 1 << 16  # bytes that are read at a time
_PASSING = frozenset({408, 425, 429, 500, 502, 503, 504})


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
    """Downloads `url` to `destination`, if it is the file with this `sha256`.

    The file is written under a temporary name in the same folder and renamed at the end, so other
    processes see it whole or not at all, and several may download it at the same time. After an
    interruption the download resumes if the server supports it, and restarts otherwise.

    Args:
        url: An `https` or `http` address. At most five redirects are followed, never from `https`
            to `http`.
        destination: The path of the file. Its folder is created if necessary.
        sha256: In hexadecimal.
        progress: Called as bytes arrive.
        timeout: Seconds without a byte after which an attempt fails.
        limit: The largest file to accept, in bytes.
        pause: Seconds before the second attempt; doubled before each later one.

    Raises:
        ChecksumError: The file differs from the published one. It is deleted.
        DownloadError: The download failed: without a network immediately, otherwise after four
            attempts.
        FileError: The folder cannot be written to.
    """
    try:
        destination.parent.mkdir(parents=True, exist_ok=True)
        part, file = create_beside(destination)
    except OSError as error:
        raise FileError(
            f"{destination.parent}: cannot be written to: {error} (set JETON_CACHE_DIR to a folder "
            "that can)"
        ) from error
    try:
        with file:
            _fetch_into(file, url, destination, progress, timeout, limit, pause)
            file.flush()
            os.fsync(file.fileno())
        actual = digest_of(part).sha256
        if actual != sha256.lower():
            raise ChecksumError(
                f"{url}: the download is not the published file: its sha256 is {actual}, published "
                f"is {sha256} (it was deleted; a proxy may have replaced it)"
            )
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
        f"fetch it by other means to {destination}, or name a folder that holds it in "
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
            if error.code == 416:  # the part so far is not a part of this file
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
            # Without a way to the server, another attempt seconds later does not help.
            reason = error.reason if isinstance(error, urllib.error.URLError) else error
            if isinstance(reason, socket.gaierror) or (
                isinstance(reason, OSError) and reason.errno == errno.ENETUNREACH
            ):
                raise DownloadError(
                    f"{url}: cannot be reached from here: {reason} ({elsewhere})"
                ) from error
            trouble = error  # a ValueError comes from a redirect to an invalid address
    raise DownloadError(
        f"{url}: gave up after {ATTEMPTS} attempts: {trouble} ({elsewhere})"
    ) from trouble


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
                raise OSError("the server sent another part than the requested one")
        length = response.headers.get("Content-Length")
        total: int | None = None
        if length is not None and length.isdecimal():
            # Python refuses to parse numbers of thousands of digits; no size has more than 20.
            total = have + int(length.lstrip("0")[:20] or "0")
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


class _Redirects(urllib.request.HTTPRedirectHandler):
    """Follows a few redirects, but none from `https` to `http`."""

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
        except ValueError:  # an invalid address
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


def show_progress(name: str) -> Progress | None:
    """Shows progress on standard error, if that is a terminal."""
    stream = sys.stderr
    if stream is None or not stream.isatty():
        return None
    last = 0.0

    def show(have: int, total: int | None) -> None:
        nonlocal last
        now = time.monotonic()
        is_complete = have == total
        if now - last < 0.1 and not is_complete:
            return
        last = now
        of = "" if total is None else f" of {total / 1e6:.1f}"
        stream.write(f"\rfetching {name}: {have / 1e6:.1f}{of} MB" + "\n" * is_complete)
        stream.flush()

    return show
