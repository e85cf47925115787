"""How much memory tokenizers use for the words that they have met.

A tokenizer remembers the tokens of words, so that they are found the next time and not made again.
Look here to give it more memory, for text in which words seldom repeat, or less.
"""

from __future__ import annotations

import jeton._core as _core

__all__ = ["cache_limit", "set_cache_limit"]


def cache_limit() -> int:
    """How many bytes a cache of words has at most.

    Every tokenizer has a cache for each thread that uses it at once, as many as there are cores. A
    cache begins with some 100 kB and grows with the words that it meets; when it is full, new words
    take the place of old ones. The tokens of a text do not depend on it.

    Returns:
        Bytes: 160 MiB, unless `set_cache_limit` has said something else.

    Example:
        >>> import jeton
        >>> jeton.cache_limit()
        167772160
    """
    return _core.cache_limit()


def set_cache_limit(limit: int) -> None:
    """Sets how many bytes a cache of words has at most, in this process, for all tokenizers.

    Caches that were made before are given up, and their memory with them, when a tokenizer uses
    them next.

    Args:
        limit: Bytes; 0 leaves each cache the some 100 kB that it begins with.

    Raises:
        ArgumentError: A negative limit.
        ArgumentTypeError: Something else than an int.

    Example:
        >>> import jeton
        >>> jeton.set_cache_limit(16 << 20)
        >>> jeton.cache_limit()
        16777216
        >>> jeton.set_cache_limit(160 << 20)
    """
    _core.set_cache_limit(limit)
