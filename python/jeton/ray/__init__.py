"""Counting and preparing a corpus on a Ray cluster, with the results of one machine.

Everything runs as Ray Data: its readers, its tasks, its retries. If a node is lost, only its work
is repeated. `docs/cluster.md` has the arithmetic.
"""

from __future__ import annotations

from jeton.ray.counting import count
from jeton.ray.preparing import prepare

__all__ = ["count", "prepare"]
