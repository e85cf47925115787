"""datatrove's layout: flat shards, an index of documents and a note beside each.

`train/00000.ds` holds only tokens, each a little-endian number of 2 or 4 bytes.
`train/00000.ds.index` holds for each document the number of tokens up to its end, a little-endian
number of 8 bytes. `train/00000.ds.metadata` has three lines: the name of the tokenizer, `|` and the
bytes of a token; the number of tokens; this number for people. `train/00000.ds.loss`, if there is a
loss mask, has a byte for each token: 1 if it is learnt, otherwise 0. Readers take all `.ds` files
of a folder, so each split has its own folder. A document without tokens is kept, although datatrove
does not see the end of the one before it.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from jeton.data.layouts.layout import BaseLayout, Spool, part_of
from jeton.data.layouts.shard import Shard, ends_beside, mapped, mask_beside


class DatatroveLayout(BaseLayout):
    """Flat shards with an index and a note."""

    name = "datatrove"
    default_shard = 10**8
    holds_masks = True

    def file(self, split: str, number: int | None) -> str:
        return f"{split}/{number or 0:05d}.ds"

    def split_of(self, file: str) -> str | None:
        # datatrove itself writes all files of a run into one folder, which is one split.
        match = re.fullmatch(r"(?:(\w+)/)?[^/]+\.ds", file)
        return (match[1] or "train") if match else None

    def ends(self, file: str) -> str | None:
        return file + ".index"

    def mask(self, file: str) -> str | None:
        return file + ".loss"

    def beside(self, file: str) -> tuple[str, ...]:
        return (file + ".index", file + ".metadata")

    def close(self, spool: Spool, main: Path, dtype: str, tokenizer: str, masked: bool) -> None:
        size = np.dtype(dtype).itemsize
        tokens = spool.tokens.stat().st_size // size
        number, unit = float(tokens), 0  # for people, as in `1.12 MT`
        while number >= 1000 and unit < 4:
            number, unit = number / 1000, unit + 1
        rounded = f"{number:.3g} {' kMGT'[unit].strip()}T"
        note = f"{tokenizer or 'Unknown Tokenizer'}|{size}\n{tokens}\n{rounded}"
        part_of(main.with_name(main.name + ".metadata")).write_text(note, encoding="utf-8")

    def open(self, file: Path, dtype: str | None) -> Shard:
        ends, name = ends_beside(file.with_name(file.name + ".index"), file, dtype)
        tokens = mapped(file, name)
        mask = mask_beside(file.with_name(file.name + ".loss"), tokens)
        return Shard(file, tokens, lambda: ends, mask)
