"""Chunks of litdata: the tokens of documents one after another, behind their places.

A split is a folder, `train`, with `chunk-0-0.bin` … and an `index.json` of them all, as
`litdata.StreamingDataset("train", item_loader=TokensLoader(block_size))` reads it. A chunk begins
with the number of documents and the place in bytes of each, in 32 bits.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from jeton.corpora.token_blocks.ids import Ids
from jeton.data.layouts.layout import BaseLayout, Spool, part_of
from jeton.data.layouts.shard import Shard, mapped
from jeton.errors import FormatError, UnsupportedError

_TYPES = {"uint16": 20, "uint32": 15}
"""What litdata calls the types of torch: uint16, and int32, which is as wide as uint32."""
_END = 2**32
"""Where a chunk ends at the latest."""


class LitdataLayout(BaseLayout):
    """Flat chunks with an index."""

    name = "litdata"
    flat = False
    most_document = 10**9
    default_shard = 10**8
    index = "index.json"

    def file(self, split: str, number: int | None) -> str:
        return f"{split}/chunk-0-{number or 0}.bin"

    def split_of(self, file: str) -> str | None:
        match = re.fullmatch(r"(?:([^/]+)/)?chunk-\d+-\d+\.bin", file)
        return (match[1] or "train") if match else None

    def close(self, spool: Spool, main: Path, dtype: str, tokenizer: str, masked: bool) -> None:
        ends, size = mapped(spool.ends, "int64"), np.dtype(dtype).itemsize
        begin = 4 + 4 * (len(ends) + 1)
        places = begin + size * np.concatenate(([0], ends))
        if places[-1] >= _END:
            raise UnsupportedError(
                f"{main}: has {int(places[-1]):,} bytes, and a chunk of litdata has less than "
                "4 GiB; set a smaller shard_tokens"
            )
        with part_of(main).open("wb") as file, spool.tokens.open("rb") as tokens:
            file.write(np.array([len(ends), *places], "<u4").tobytes())
            shutil.copyfileobj(tokens, file, 1 << 20)

    def index_of(self, dtype: str, shards: Sequence[tuple[Path, int]]) -> bytes:
        size = np.dtype(dtype).itemsize
        chunks = []
        for path, documents in shards:
            total = path.stat().st_size
            tokens = (total - 4 - 4 * (documents + 1)) // size
            chunks.append(
                {
                    "chunk_bytes": total,
                    "chunk_size": documents,
                    "dim": tokens,
                    "filename": path.name,
                }
            )
        leaf: dict[str, Any] = {"type": None, "context": None, "children_spec": []}
        config = {
            "chunk_bytes": max(path.stat().st_size for path, _ in shards),
            "chunk_size": None,
            "compression": None,
            "data_format": [f"no_header_tensor:{_TYPES[dtype]}"],
            "data_spec": json.dumps([1, leaf]),
            "encryption": None,
            "item_loader": "TokensLoader",
        }
        return json.dumps({"chunks": chunks, "config": config}, sort_keys=True).encode()

    def listed(self, index: Any) -> Iterator[tuple[str, int]]:
        if compression := index["config"]["compression"]:
            raise UnsupportedError(
                f"the chunks are compressed, by {compression!r:.40}; jeton reads them uncompressed "
                "(for others: litdata)"
            )
        for chunk in index["chunks"]:
            # chunk_bytes excludes the table of offsets in front.
            yield chunk["filename"], int(chunk["chunk_bytes"])

    def open(self, file: Path, dtype: str | None) -> Shard:
        data = mapped(file, "uint8")
        count = int(data[:4].view("<u4")[0]) if len(data) >= 4 else 0
        begin = 4 + 4 * (count + 1)
        if len(data) < begin:
            raise _damaged(file)
        places = np.array(data[4:begin].view("<u4"), np.int64)
        if places[0] != begin or places[-1] != len(data) or (np.diff(places) < 0).any():
            raise _damaged(file)
        name = _dtype_of(file)
        if dtype is not None and dtype != name:
            raise FormatError(f"{file}: holds tokens of {name}, not of {dtype}")
        ends, rest = np.divmod(places[1:] - begin, np.dtype(name).itemsize)
        if rest.any():
            raise _damaged(file)
        tokens: Ids = mapped(file, name, begin)
        return Shard(file, tokens, lambda: ends)


def _dtype_of(file: Path) -> str:
    """The type of the tokens, which the index beside a chunk has."""
    index = file.with_name("index.json")
    try:
        [form] = json.loads(index.read_text("utf-8"))["config"]["data_format"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        raise FormatError(f"{index}: is missing, or is not an index of litdata") from None
    for name, number in _TYPES.items():
        if form == f"no_header_tensor:{number}":
            return name
    raise UnsupportedError(
        f"{index}: its chunks hold {form!r}; jeton reads tokens of no_header_tensor, uint16 "
        "or int32 (for others: litdata)"
    )


def _damaged(file: Path) -> FormatError:
    return FormatError(f"{file}: is not a whole chunk of litdata; it is truncated or damaged")
