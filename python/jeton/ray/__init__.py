"""Counting and preparing a corpus on a Ray cluster, with the results of one machine.

Everything runs as Ray Data: its readers, its tasks, its retries; a node that is lost costs what
ran on it. `docs/cluster.md` has the arithmetic.
"""

from __future__ import annotations

from jeton.ray.counting import count
from jeton.ray.preparing import prepare

__all__ = ["count", "prepare"]
