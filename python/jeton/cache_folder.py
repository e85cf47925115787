"""The folder of files that jeton fetches: tokenizers, and copies of token sets of object stores."""

from __future__ import annotations

import os
from pathlib import Path


def cache_folder() -> Path:
    """The folder of fetched files: `JETON_CACHE_DIR`, or the user's cache folder.

    The latter is `$XDG_CACHE_HOME/jeton` or `~/.cache/jeton`, `~/Library/Caches/jeton` on macOS,
    and `%LOCALAPPDATA%\\jeton\\Cache` on Windows.
    """
    if folder := os.environ.get("JETON_CACHE_DIR"):
        return Path(os.path.expanduser(folder))
    from platformdirs import user_cache_path

    return user_cache_path("jeton", appauthor=False)
