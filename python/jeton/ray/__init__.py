"""Counting and preparing a corpus on a Ray cluster, with the results of one machine.

Everything runs as Ray Data: its readers, its tasks, its retries; a node that is lost costs what
ran on it.
"""

from __future__ import annotations

from jeton.ray.counting import count

__all__ = ["count"]
