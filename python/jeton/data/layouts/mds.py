"""Shards of MosaicML's streaming, MDS: a document is a sample with an array of ids, `tokens`.

A split is a folder, `train`, with `shard.00000.mds` … and an `index.json` of them all, as
`streaming.StreamingDataset(local=…, split="train")` reads it. A shard begins with the number of
samples, the place of each and a note in JSON about its columns; a sample is its size, the number of
its ids, and the ids. The ids have the type of the set, 16 or 32 bits.
"""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from jeton.corpora.token_blocks.ids import Ids
from jeton.data.layouts.layout import BaseLayout, Spool, part_of
from jeton.data.layouts.shard import Shard, mapped
from jeton.errors import FormatError, UnsupportedError

_COLUMN = "tokens"
_END = 2**32
"""Where a shard ends at the latest: places have 32 bits."""
_AT_A_TIME = 4096
"""Documents that are written at a time."""
_WIDTHS = ((1, 0, 1 << 8), (2, 1 << 8, 1 << 16), (4, 1 << 16, 1 << 32))
"""Bytes of the number of ids, by how many there are: from, and below."""


class MdsLayout(BaseLayout):
    """Samples with an index."""

    name = "mds"
    flat = False
    most_document = 10**9
    default_shard = 10**8
    index = "index.json"

    def file(self, split: str, number: int | None) -> str:
        return f"{split}/shard.{number or 0:05d}.mds"

    def split_of(self, file: str) -> str | None:
        match = re.fullmatch(r"(?:([^/]+)/)?shard\.\d{5,}\.mds", file)
        return (match[1] or "train") if match else None

    def close(self, spool: Spool, main: Path, dtype: str, tokenizer: str, masked: bool) -> None:
        tokens, ends = mapped(spool.tokens, dtype), mapped(spool.ends, "int64")
        size = np.dtype(dtype).itemsize
        lengths = np.diff(ends, prepend=0)
        note = json.dumps(_note(dtype), sort_keys=True).encode()
        begin = 4 + 4 * (len(lengths) + 1) + len(note)
        places = begin + np.concatenate(([0], np.cumsum(5 + _width_of(lengths) + size * lengths)))
        if places[-1] >= _END:
            raise UnsupportedError(
                f"{main}: has {int(places[-1]):,} bytes, and a shard of MDS has less than 4 GiB; "
                "set a smaller shard_tokens"
            )
        with part_of(main).open("wb") as file:
            file.write(struct.pack("<I", len(lengths)))
            file.write(places.astype("<u4").tobytes())
            file.write(note)
            starts = ends - lengths
            for first in range(0, len(lengths), _AT_A_TIME):
                file.write(
                    b"".join(
                        _head(int(length), size) + tokens[start : start + length].tobytes()
                        for start, length in zip(
                            starts[first : first + _AT_A_TIME].tolist(),
                            lengths[first : first + _AT_A_TIME].tolist(),
                            strict=True,
                        )
                    )
                )

    def index_of(self, dtype: str, shards: Sequence[tuple[Path, int]]) -> bytes:
        entries = [
            {
                **_note(dtype),
                "raw_data": {"basename": path.name, "bytes": path.stat().st_size, "hashes": {}},
                "samples": documents,
                "zip_data": None,
            }
            for path, documents in shards
        ]
        return json.dumps({"shards": entries, "version": 2}, sort_keys=True).encode()

    def listed(self, index: Any) -> Iterator[tuple[str, int]]:
        for shard in index["shards"]:
            yield shard["raw_data"]["basename"], int(shard["raw_data"]["bytes"])

    def open(self, file: Path, dtype: str | None) -> Shard:
        tokens = _Samples(file)
        if dtype is not None and dtype != tokens.dtype.name:
            raise FormatError(f"{file}: holds tokens of {tokens.dtype}, not of {dtype}")
        return Shard(file, tokens, lambda: tokens.ends)


def _note(dtype: str) -> dict[str, Any]:
    """What a shard and the index say about its columns."""
    return {
        "column_encodings": [f"ndarray:{dtype}"],
        "column_names": [_COLUMN],
        "column_sizes": [None],
        "compression": None,
        "format": "mds",
        "hashes": [],
        "size_limit": None,
        "version": 2,
    }


def _width_of(lengths: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """The bytes of the number of ids, for each number."""
    return np.select([lengths < below for _, _, below in _WIDTHS], [it for it, *_ in _WIDTHS])


def _head(length: int, size: int) -> bytes:
    """What precedes the ids of a sample: its bytes, one axis and the width of its length, that."""
    number = next(at for at, (_, _, below) in enumerate(_WIDTHS) if length < below)
    width = _WIDTHS[number][0]
    shape = bytes([1 << 2 | number]) + length.to_bytes(width, "little")
    return struct.pack("<I", len(shape) + length * size) + shape


class _Samples:
    """The ids of a shard, sliced as one array."""

    def __init__(self, path: Path) -> None:
        self._path, self._data = path, mapped(path, "uint8")
        data = self._data
        count = int(data[:4].view("<u4")[0]) if len(data) >= 4 else 0
        begin = 4 + 4 * (count + 1)
        if len(data) < begin:
            raise self._damaged()
        places = np.array(data[4:begin].view("<u4"), np.int64)
        sizes = np.diff(places)
        if places[0] < begin or places[-1] != len(data) or (len(sizes) and sizes.min() < 6):
            raise self._damaged()
        self.dtype = self._dtype(bytes(data[begin : int(places[0])]))
        lengths = np.full(count, -1, np.int64)
        for width, least, below in _WIDTHS:
            # The sizes of samples say how wide their numbers are.
            ids, rest = np.divmod(sizes - 5 - width, self.dtype.itemsize)
            lengths = np.where((rest == 0) & (ids >= least) & (ids < below), ids, lengths)
        if count and lengths.min() < 0:
            raise self._damaged()
        self.ends = np.cumsum(lengths)
        #: Where the ids of each sample begin in the file.
        self._starts = places[1:] - lengths * self.dtype.itemsize

    def _dtype(self, note: bytes) -> np.dtype[np.integer]:
        try:
            record = json.loads(note)
            encodings, names = list(record["column_encodings"]), list(record["column_names"])
        except (ValueError, KeyError, TypeError, RecursionError):
            raise self._damaged() from None
        if len(encodings) != 1 or encodings[0] not in ("ndarray:uint16", "ndarray:uint32"):
            columns = ", ".join(f"{it}: {of}" for it, of in zip(names, encodings, strict=False))
            raise UnsupportedError(
                f"{self._path}: has the columns {columns[:200]}; jeton reads shards with one "
                "column of ids, ndarray:uint16 or ndarray:uint32 (for others: mosaicml-streaming)"
            )
        kind: np.dtype[np.integer] = np.dtype(encodings[0].removeprefix("ndarray:"))
        return kind

    def _damaged(self) -> FormatError:
        return FormatError(f"{self._path}: is not a whole shard of MDS; it is truncated or damaged")

    def __len__(self) -> int:
        return int(self.ends[-1]) if len(self.ends) else 0

    def __getitem__(self, window: slice) -> Ids:
        start, stop, step = window.indices(len(self))
        if step != 1:
            raise UnsupportedError("tokens of samples are sliced without a step")
        pieces = []
        number = int(np.searchsorted(self.ends, start, side="right"))
        size = self.dtype.itemsize
        while start < stop:
            end = int(self.ends[number])
            first = end - (int(self.ends[number - 1]) if number else 0)
            begin = int(self._starts[number]) + (start - (end - first)) * size
            upto = begin + (min(stop, end) - start) * size
            pieces.append(np.frombuffer(self._data[begin:upto], self.dtype.newbyteorder("<")))
            start, number = min(stop, end), number + 1
        ids: Ids = np.concatenate(pieces) if pieces else np.empty(0, self.dtype)
        return ids.astype(self.dtype, copy=False)
