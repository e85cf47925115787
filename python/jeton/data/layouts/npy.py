"""Arrays of ids as numpy saves them, which are read and not written here.

`tokens.npy` has a header that says how many numbers of which type follow; `jeton encode` writes
such files. It does not say where documents end.
"""

from __future__ import annotations

import re
import tokenize
from pathlib import Path

import numpy as np

from jeton.data.layouts.layout import BaseLayout
from jeton.data.layouts.shard import ConvertedTokens, Shard, Tokens, size_of
from jeton.errors import FormatError

__all__ = ["NpyLayout", "is_npy"]


def is_npy(file: Path) -> bool:
    """Whether a file begins as numpy's do."""
    size_of(file)
    with file.open("rb") as opened:
        return opened.read(6) == b"\x93NUMPY"


class NpyLayout(BaseLayout):
    """One array a file."""

    name = "npy"

    def file(self, split: str, number: int | None) -> str:
        return f"{split}.npy" if number is None else f"{split}_{number:06d}.npy"

    def split_of(self, file: str) -> str | None:
        found = re.fullmatch(r"([^/]+?)([-_]\d{5,})?\.npy", file)
        return found[1] if found else None

    def open(self, file: Path, dtype: str | None) -> Shard:
        size_of(file)
        try:
            numbers = np.load(file, mmap_mode="r", allow_pickle=False)
        except (ValueError, EOFError, SyntaxError, OSError, tokenize.TokenError):
            raise FormatError(f"{file}: is not a whole .npy file of numbers") from None
        if numbers.ndim != 1 or numbers.dtype.kind not in "iu":
            raise FormatError(
                f"{file}: holds {numbers.dtype} of shape {numbers.shape}, and not one row of whole "
                "numbers"
            )
        is_plain = numbers.dtype in (np.dtype("<u2"), np.dtype("<u4"))
        tokens: Tokens = numbers if is_plain else ConvertedTokens(file, numbers)
        if dtype is not None and dtype != tokens.dtype.name:
            raise FormatError(f"{file}: holds tokens of {numbers.dtype}, not of {dtype}")
        return Shard(file, tokens)
