"""URLs of object stores: which strings are URLs, and how they are shown without secrets."""

from __future__ import annotations

import os
import re

from jeton.errors import ArgumentError, ArgumentTypeError, UnsupportedError

SCHEMES = {
    "s3": "s3fs",
    "gs": "gcsfs",
    "hf": "huggingface_hub",
    "http": "aiohttp",
    "https": "aiohttp",
    "memory": "fsspec",
}
"""The schemes of URLs, each with the package that reads it."""

_URL = re.compile(r"([a-z][a-z0-9]*::)*[A-Za-z][A-Za-z0-9+.-]+://")
# Without a colon it may be a token, except in hf://, where a revision follows the @.
_USER = re.compile(r"(://?)[^/?#\s]*:[^/?#\s]*@|(https?://?)[^/?#\s]*@", re.IGNORECASE)
_QUERY = re.compile(r"\?[^\s'\")>]*")
_SECRET = re.compile("SECRET|TOKEN|KEY|PASSWORD|CREDENTIAL")
"""Parts of the names of environment variables whose values are not shown."""


def is_url(path: object) -> bool:
    """Whether a path is a URL.

    Example:
        >>> is_url("s3://bucket/corpus/"), is_url("corpus/a.txt"), is_url("C:/corpus")
        (True, False, False)
    """
    if isinstance(path, StorePath):
        return True
    return isinstance(path, str) and _URL.match(path) is not None


def is_broken_url(path: str) -> bool:
    """Whether a path looks like a URL without one of its slashes."""
    scheme, colon, rest = path.partition(":/")
    return bool(colon) and scheme in SCHEMES and rest[:1] != "/" and not os.path.lexists(path)


class StorePath(os.PathLike[str]):
    """A file, a folder or a pattern of an object store, by its URL.

    A single URL may be passed as a `str`; in a list, where strings are texts, wrap each. (A
    `pathlib.Path` cannot hold a URL: it drops a slash.)

    Example:
        >>> from jeton.data import StorePath
        >>> StorePath("s3://bucket/web/*.jsonl.zst")
        StorePath('s3://bucket/web/*.jsonl.zst')
    """

    def __init__(self, url: str) -> None:
        """Names files.

        Args:
            url: The URL: `s3://`, `gs://`, `hf://`, `http://`, `https://` or `memory://`.

        Raises:
            ArgumentTypeError: It is not a str.
            ArgumentError: It is not a URL.
            UnsupportedError: Its scheme is another.
        """
        if not isinstance(url, str):
            raise ArgumentTypeError(f"url must be a str, not {type(url).__name__}")
        self._url = checked_url("url", url)

    def __fspath__(self) -> str:
        return self._url

    def __repr__(self) -> str:
        return f"StorePath({shown(self._url)!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, StorePath) and self._url == other._url

    def __hash__(self) -> int:
        return hash(self._url)


def checked_url(name: str, url: str) -> str:
    """A URL of a scheme that jeton reads."""
    if not _URL.match(url):
        raise ArgumentError(
            f"{name} must be a URL, such as s3://bucket/folder/, not {shown(url)[:100]!r}"
        )
    if not all(map(str.isprintable, url)):
        raise ArgumentError(f"{name} cannot be {shown(url)!r}: it has unprintable characters")
    scheme = url.partition("://")[0]
    if scheme not in SCHEMES or "::" in url:
        remedy = "copy the files to this machine, or mount them as a folder"
        what = "fsspec's chains of schemes" if "::" in url else f"{scheme}://"
        raise UnsupportedError(
            f"{shown(url)}: {what} cannot be read here; jeton takes "
            f"{', '.join(f'{known}://' for known in SCHEMES)} ({remedy})"
        )
    return url


def shown(url: str) -> str:
    """A URL as errors and manifests show it: no password, and of a query only a checksum.

    Example:
        >>> shown("https://user:password@host/a.txt?token=secret")
        'https://host/a.txt?…1359227d'
    """
    url = _USER.sub(r"\1\2", url)
    base, mark, query = url.partition("?")
    if not mark or not base.lower().startswith("http"):
        return url
    import hashlib

    return f"{base}?…{hashlib.sha256(query.encode(errors='replace')).hexdigest()[:8]}"


def scrubbed(message: str) -> str:
    """The message of another library, short and without secrets."""
    text = " ".join(_QUERY.sub("?…", _USER.sub(r"\1\2", message)).split())
    for name, value in os.environ.items():
        if len(value) >= 8 and _SECRET.search(name.upper()):
            text = text.replace(value, "…")
    return text if len(text) <= 300 else f"{text[:300]}…"
