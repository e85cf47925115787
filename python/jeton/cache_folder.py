"""The folder of files that jeton fetches: tokenizers, and copies of token sets of object stores."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from jeton.errors import DownloadError


def cache_folder() -> Path:
    """The folder of fetched files: `JETON_CACHE_DIR`, or the user's cache folder.

    The latter is `$XDG_CACHE_HOME/jeton` or `~/.cache/jeton`, `~/Library/Caches/jeton` on macOS,
    and `%LOCALAPPDATA%\\jeton\\Cache` on Windows.

    Raises:
        DownloadError: The user has no home folder, as in some containers.
    """
    if folder := os.environ.get("JETON_CACHE_DIR"):
        return Path(os.path.expanduser(folder))
    from platformdirs import user_cache_path

    with contextlib.suppress(RuntimeError):  # of newer platformdirs; older ones leave the `~`
        path = user_cache_path("jeton", appauthor=False)
        if path.is_absolute():
            return path
    raise DownloadError(
        "there is no home folder to keep fetched files in", hint="set JETON_CACHE_DIR to a folder"
    )
