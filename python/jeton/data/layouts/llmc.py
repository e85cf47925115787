"""llm.c's layout: flat shards after a header of 1024 bytes.

The header is 256 little-endian 32-bit numbers. Three of them are used: a magic number, a version,
and the number of tokens that follow. After 20240520 with version 1 come tokens of 2 bytes, after
20240801 with version 7 tokens of 4 bytes. A file has at most 2³¹ - 1 tokens. The reader of llm.c
fails on a file whose size differs from its header, and needs at least one batch in each.
"""

from __future__ import annotations

import re
import struct
from pathlib import Path

from jeton import files
from jeton.data.layouts.layout import BaseLayout, Spool
from jeton.data.layouts.shard import Shard, mapped, size_of
from jeton.errors import FormatError

_KINDS = {"uint16": (20240520, 1), "uint32": (20240801, 7)}
"""Magic number and version, by the type of tokens."""


def begins(head: bytes) -> bool:
    """Whether a file with these first 8 bytes is of llm.c."""
    return len(head) == 8 and struct.unpack("<2i", head) in _KINDS.values()


class LlmcLayout(BaseLayout):
    """Flat shards with a header."""

    name = "llm.c"
    header_size = 256 * 4
    most_tokens = 2**31 - 1
    most_document = 2**31 - 1
    default_shard = 10**8

    def file(self, split: str, number: int | None) -> str:
        return f"{split}_{number or 0:06d}.bin"

    def split_of(self, file: str) -> str | None:
        # The name of a single file by its own scripts has no number.
        match = re.fullmatch(r"([^/]+?)(_\d{6,})?\.bin", file)
        return match[1] if match else None

    def holds(self, file: Path) -> bool:
        if re.search(r"_\d{6,}\.bin$", file.name):
            return True
        with files.opened(file) as opened:
            return begins(opened.read(8))

    def close(self, spool: Spool, main: Path, dtype: str, tokenizer: str, masked: bool) -> None:
        tokens = len(mapped(spool.tokens, dtype, self.header_size))
        with open(spool.tokens, "r+b") as file:
            file.write(struct.pack("<3i", *_KINDS[dtype], tokens).ljust(self.header_size, b"\0"))

    def open(self, file: Path, dtype: str | None) -> Shard:
        size = size_of(file)
        with files.opened(file) as opened:
            head = opened.read(12)
        if size < self.header_size:
            raise FormatError(
                f"{file}: is not a file of llm.c: {size:,} bytes are less than a header"
            )
        magic, version, tokens = struct.unpack("<3i", head)
        if (magic, version) not in _KINDS.values():
            raise FormatError(
                f"{file}: is not a known file of llm.c: it begins with {magic} and {version}"
            )
        [name] = (name for name, kind in _KINDS.items() if kind == (magic, version))
        if dtype is not None and dtype != name:
            raise FormatError(f"{file}: holds tokens of {name}, not of {dtype}")
        array = mapped(file, name, self.header_size)
        if len(array) != tokens:
            raise FormatError(
                f"{file}: holds {len(array):,} tokens, but its header says {tokens:,}; it is "
                "truncated or damaged"
            )
        return Shard(file, array)
