"""Arrays of ids as numpy saves them; read-only here.

`tokens.npy` has a header with the number and type of its tokens; `jeton encode` writes such files.
It does not say where documents end.
"""

from __future__ import annotations

import re
import tokenize
from pathlib import Path

import numpy as np

from jeton import files
from jeton.data.layouts.layout import BaseLayout
from jeton.data.layouts.shard import ConvertedTokens, Shard, Tokens, size_of
from jeton.errors import FormatError

__all__ = ["NpyLayout", "is_npy"]


def is_npy(file: Path) -> bool:
    """Whether a file begins like a numpy file."""
    size_of(file)
    with files.opened(file) as opened:
        return opened.read(6) == b"\x93NUMPY"


class NpyLayout(BaseLayout):
    """One array per file."""

    name = "npy"

    def file(self, split: str, number: int | None) -> str:
        return f"{split}.npy" if number is None else f"{split}_{number:06d}.npy"

    def split_of(self, file: str) -> str | None:
        match = re.fullmatch(r"([^/]+?)([-_]\d{5,})?\.npy", file)
        return match[1] if match else None

    def open(self, file: Path, dtype: str | None) -> Shard:
        size_of(file)
        try:
            numbers = np.load(file, mmap_mode="r", allow_pickle=False)
        except (ValueError, EOFError, SyntaxError, OSError, tokenize.TokenError):
            raise FormatError(f"{file}: is not a whole .npy file of numbers") from None
        if numbers.ndim != 1 or numbers.dtype.kind not in "iu":
            raise FormatError(
                f"{file}: expected one sequence of integers, not {numbers.dtype} of shape "
                f"{numbers.shape}"
            )
        is_plain = numbers.dtype in (np.dtype("<u2"), np.dtype("<u4"))
        tokens: Tokens = numbers if is_plain else ConvertedTokens(file, numbers)
        if dtype is not None and dtype != tokens.dtype.name:
            raise FormatError(f"{file}: holds tokens of {numbers.dtype}, not of {dtype}")
        return Shard(file, tokens)
