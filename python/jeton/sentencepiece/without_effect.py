"""sentencepiece's functions for its threads and its log: accepted, but without effect."""

from __future__ import annotations

from jeton.arguments import checked_int


class ThreadPool:
    """Threads for batches. jeton has its own, and always uses all cores.

    Args:
        num_threads: The number that `num_threads()` returns.
    """

    def __init__(self, num_threads: int = -1) -> None:
        self._num_threads = checked_int("num_threads", num_threads, -1)

    def num_threads(self) -> int:
        """The number from the constructor."""
        return self._num_threads


def set_min_log_level(level: int) -> None:
    """Accepts a level. jeton logs only through Python's `logging`."""
    checked_int("level", level, 0)


def set_nbest_timeout(timeout_ms: int) -> None:
    """Accepts a time. The search for the best segmentations of a long text has its own limit."""
    checked_int("timeout_ms", timeout_ms, 0)
