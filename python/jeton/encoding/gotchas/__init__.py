"""Gotchas: parts of a text that have surprising tokens, or more tokens than they need.

`tok.gotchas(text)` and `jeton inspect --gotchas` find them. Look here for the names of the
findings, and for what each of them says.
"""

from __future__ import annotations

from jeton.encoding.gotchas.finding import find_gotchas
from jeton.encoding.gotchas.gotcha import NAMES, Gotcha
from jeton.encoding.gotchas.gotchas import Gotchas

__all__ = ["NAMES", "Gotcha", "Gotchas", "find_gotchas"]
