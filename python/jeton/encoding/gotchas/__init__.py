"""Gotchas: what in a text gives other tokens than it seems to, or more of them than it should.

`tok.gotchas(text)` and `jeton inspect --gotchas` are the way in. Look here for the names of what is
found, and for what each finding tells.
"""

from __future__ import annotations

from jeton.encoding.gotchas.finding import find_gotchas
from jeton.encoding.gotchas.gotcha import NAMES, Gotcha
from jeton.encoding.gotchas.gotchas import Gotchas

__all__ = ["NAMES", "Gotcha", "Gotchas", "find_gotchas"]
