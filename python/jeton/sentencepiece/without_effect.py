"""What sentencepiece has for its threads and its log: taken here, and without effect."""

from __future__ import annotations

from jeton.arguments import checked_int

__all__ = ["ThreadPool", "set_min_log_level", "set_nbest_timeout"]


class ThreadPool:
    """Threads for batches. jeton has its own, and uses all cores in any case.

    Args:
        num_threads: What `num_threads()` says.
    """

    def __init__(self, num_threads: int = -1) -> None:
        self._num_threads = checked_int("num_threads", num_threads, -1)

    def num_threads(self) -> int:
        """The number that was given."""
        return self._num_threads


def set_min_log_level(level: int) -> None:
    """Takes a level. jeton writes no log but by Python's `logging`."""
    checked_int("level", level, 0)


def set_nbest_timeout(timeout_ms: int) -> None:
    """Takes a time. A search for the best segmentations of a long text ends by itself."""
    checked_int("timeout_ms", timeout_ms, 0)
