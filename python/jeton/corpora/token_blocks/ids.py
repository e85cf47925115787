"""Arrays of ids: their types, and the type for a vocabulary."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from jeton.arguments import checked_int
from jeton.errors import ArgumentError

Ids = npt.NDArray[np.unsignedinteger]
"""Ids as in token sets, uint16 or uint32."""


def dtype_for(max_id: int) -> str:
    """The type of tokens for a vocabulary with this largest id: `"uint16"` or `"uint32"`."""
    most = checked_int("max_id", max_id, 0)
    if most >= 2**31:
        raise ArgumentError(f"max_id is {most}: no layout has room for ids from 2**31 on")
    return "uint16" if most < 2**16 else "uint32"
