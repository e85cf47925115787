"""Arrays of ids as numpy saves them, one per shard: the shards of build-nanogpt.

`train_000000.npy` has a header of 128 bytes with the number and type of its tokens, then the
tokens. `jeton encode` writes such files too. They do not say where documents end.
"""

from __future__ import annotations

import re
import struct
import tokenize
from pathlib import Path

import numpy as np

from jeton import files
from jeton.data.layouts.layout import BaseLayout, Spool
from jeton.data.layouts.shard import ConvertedTokens, Shard, Tokens, mapped, size_of
from jeton.errors import FormatError


def is_npy(file: Path) -> bool:
    """Whether a file begins like a numpy file."""
    size_of(file)
    with files.opened(file) as opened:
        return opened.read(6) == b"\x93NUMPY"


class NpyLayout(BaseLayout):
    """One array per file."""

    name = "npy"
    header_size = 128
    default_shard = 10**8

    def file(self, split: str, number: int | None) -> str:
        return f"{split}_{number or 0:06d}.npy"

    def split_of(self, file: str) -> str | None:
        match = re.fullmatch(r"([^/]+?)([-_]\d{5,})?\.npy", file)
        return match[1] if match else None

    def holds(self, file: Path) -> bool:
        return is_npy(file)

    def close(self, spool: Spool, main: Path, dtype: str, tokenizer: str, masked: bool) -> None:
        tokens = len(mapped(spool.tokens, dtype, self.header_size))
        kind = np.dtype(dtype).newbyteorder("<").str
        head = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': ({tokens},), }}"
        # Version 1.0: the size of the rest of the header, which ends in a newline.
        start = b"\x93NUMPY\x01\x00" + struct.pack("<H", self.header_size - 10)
        with open(spool.tokens, "r+b") as file:
            file.write(start + head.encode().ljust(self.header_size - 11) + b"\n")

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
