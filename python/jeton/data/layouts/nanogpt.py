"""nanoGPT's layout: a split is one flat file.

`train.bin` and `val.bin` hold only tokens, each a little-endian number of 2 bytes; nanoGPT maps
them as uint16. If a vocabulary has more than 65,536 tokens they have 4 bytes, which the reader has
to know: the file does not say it. Nor does it say where documents end.
"""

from __future__ import annotations

import re
from pathlib import Path

from jeton.data.layouts.layout import BaseLayout
from jeton.data.layouts.npy import is_npy
from jeton.data.layouts.shard import Shard, mapped
from jeton.errors import ArgumentError, FormatError


class NanoGPTLayout(BaseLayout):
    """One flat file."""

    name = "nanogpt"
    single = True

    def file(self, split: str, number: int | None) -> str:
        return f"{split}.bin"

    def split_of(self, file: str) -> str | None:
        match = re.fullmatch(r"([^/]+)\.bin", file)
        return match[1] if match else None

    def open(self, file: Path, dtype: str | None) -> Shard:
        if is_npy(file):
            raise FormatError(
                f"{file}: is a numpy file, which begins with a header; name it .npy, or leave "
                "layout out"
            )
        if dtype is None:
            raise ArgumentError(
                f'{file}: a flat file does not say how large its tokens are; pass dtype="uint16" '
                '(up to 65,536 tokens in the vocabulary) or dtype="uint32"'
            )
        return Shard(file, mapped(file, dtype))
