"""How much memory tokenizers use to cache words.

A tokenizer caches the tokens of words, so that it does not compute them again. Look here to give
the cache more memory, for text in which words seldom repeat, or less.
"""

from __future__ import annotations

import jeton._core as _core


def cache_limit() -> int:
    """The maximum size of a word cache, in bytes.

    A tokenizer has a cache per thread that uses it at the same time, up to the number of cores. A
    cache begins at some 100 kB and grows with new words; when it is full, new words replace old
    ones. The tokens of a text do not depend on it.

    Returns:
        Bytes: 160 MiB, unless `set_cache_limit` has changed it.

    Example:
        >>> import jeton
        >>> jeton.cache_limit()
        167772160
    """
    return _core.cache_limit()


def set_cache_limit(limit: int) -> None:
    """Sets the maximum size of a word cache, for all tokenizers of this process.

    Existing caches are dropped, and their memory freed, at their next use.

    Args:
        limit: Bytes; 0 keeps each cache at its initial size of some 100 kB.

    Raises:
        ArgumentError: A negative limit.
        ArgumentTypeError: Something other than an int.

    Example:
        >>> import jeton
        >>> jeton.set_cache_limit(16 << 20)
        >>> jeton.cache_limit()
        16777216
        >>> jeton.set_cache_limit(160 << 20)
    """
    _core.set_cache_limit(limit)
