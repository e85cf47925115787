"""jeton's own layout: flat shards, with the ends of documents in a second file.

`train-00000.bin` holds only tokens, each a little-endian number of 2 or 4 bytes.
`train-00000.ends` holds for each document of the shard the number of tokens up to and including its
last one, a little-endian number of 8 bytes. The last of these is the number of tokens of the shard,
which gives the size of a token. Document `i` has the tokens from `ends[i - 1]` (0 for the first) up
to `ends[i]`. `train-00000.mask`, if there is a loss mask, holds a byte for each token: 1 if it is
learnt, otherwise 0.
"""

from __future__ import annotations

import re
from pathlib import Path

from jeton.data.layouts.layout import BaseLayout
from jeton.data.layouts.shard import Shard, ends_beside, mapped, mask_beside


class OwnLayout(BaseLayout):
    """Flat shards with ends beside."""

    name = "jeton"
    default_shard = 10**8
    holds_masks = True

    def file(self, split: str, number: int | None) -> str:
        return f"{split}-{number or 0:05d}.bin"

    def split_of(self, file: str) -> str | None:
        match = re.fullmatch(r"(\w+)-\d{5,}\.bin", file)
        return match[1] if match else None

    def ends(self, file: str) -> str | None:
        return file.removesuffix(".bin") + ".ends"

    def mask(self, file: str) -> str | None:
        return file.removesuffix(".bin") + ".mask"

    def open(self, file: Path, dtype: str | None) -> Shard:
        ends, name = ends_beside(file.with_suffix(".ends"), file, dtype)
        tokens = mapped(file, name)
        return Shard(file, tokens, lambda: ends, mask_beside(file.with_suffix(".mask"), tokens))
