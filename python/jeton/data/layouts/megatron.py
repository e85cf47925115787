"""Megatron's layout: flat tokens, and an index of sequences and documents.

`train.bin` holds only tokens, little-endian uint16, or int32 for larger vocabularies.
`train.idx` is an index of them, all of it little-endian:

| bytes | what |
| --- | --- |
| 9 | `MMIDIDX` and two zeros |
| 8 | the version, 1 |
| 1 | the type of a token: 8 for uint16, 4 for int32; others that are read are in `_READ` |
| 8 | the number S of sequences |
| 8 | the number D of entries of the last table, one more than there are documents |
| 4 S | the tokens of each sequence |
| 8 S | the byte of the `.bin` file at which each begins |
| 8 D | the sequence with which each document begins, and S at last |

A document is written as one sequence. Megatron takes the name of the files without their ending.
"""

from __future__ import annotations

import re
import struct
from pathlib import Path

import numpy as np
import numpy.typing as npt

from jeton import files
from jeton.data.layouts.layout import BaseLayout, Spool, part_of
from jeton.data.layouts.shard import ConvertedTokens, Shard, Tokens, mapped, size_of
from jeton.errors import FormatError, UnsupportedError

_MAGIC = b"MMIDIDX\0\0"
_HEAD = struct.Struct("<9sQBQQ")
_CODES = {"uint16": 8, "uint32": 4}
_READ = {1: "uint8", 2: "int8", 3: "int16", 4: "uint32", 5: "int64", 8: "uint16"}
"""The types of tokens that can be read; those of 32 bits are ids below 2³¹, so never negative."""
_AT_A_TIME = 1 << 20
"""Number of entries of the index that are written at a time."""


class MegatronLayout(BaseLayout):
    """Flat tokens with an index."""

    name = "megatron"
    most_document = 2**31 - 1

    def file(self, split: str, number: int | None) -> str:
        return f"{split}.bin" if number is None else f"{split}-{number:05d}.bin"

    def split_of(self, file: str) -> str | None:
        match = re.fullmatch(r"([^/]+?)(-\d{5,})?\.bin", file)
        return match[1] if match else None

    def beside(self, file: str) -> tuple[str, ...]:
        return (file.removesuffix(".bin") + ".idx",)

    def close(self, spool: Spool, main: Path, dtype: str, tokenizer: str, masked: bool) -> None:
        ends = mapped(spool.ends, "int64")
        size = np.dtype(dtype).itemsize
        with open(part_of(main.with_suffix(".idx")), "wb") as file:
            file.write(_HEAD.pack(_MAGIC, 1, _CODES[dtype], len(ends), len(ends) + 1))
            for at in range(0, len(ends), _AT_A_TIME):
                file.write(_lengths(ends, at).astype("<i4").tobytes())
            for at in range(0, len(ends), _AT_A_TIME):
                starts = ends[at : at + _AT_A_TIME] - _lengths(ends, at)
                file.write((starts * size).astype("<i8").tobytes())
            for at in range(0, len(ends) + 1, _AT_A_TIME):
                stop = min(at + _AT_A_TIME, len(ends) + 1)
                file.write(np.arange(at, stop, dtype="<i8").tobytes())

    def open(self, file: Path, dtype: str | None) -> Shard:
        index = file.with_suffix(".idx")
        size = size_of(index)
        with files.opened(index) as opened:
            head = opened.read(_HEAD.size)
        magic, version, code, sequences, entries = (
            _HEAD.unpack(head) if len(head) == _HEAD.size else (b"", 0, 0, 0, 0)
        )
        if magic != _MAGIC or version != 1:
            raise FormatError(f"{index}: is not an index of Megatron")
        if size < _HEAD.size + 12 * sequences + 8 * entries or entries == 0:
            raise FormatError(
                f"{index}: {size:,} bytes are too few for {sequences:,} sequences and "
                f"{entries - 1:,} documents; it is truncated or damaged"
            )
        if code not in _READ:
            raise UnsupportedError(f"{index}: tokens of type {code} are not integers")
        name = _READ[code]
        table = mapped(index, "<u1")[_HEAD.size :]
        lengths = table[: 4 * sequences].view("<i4")
        starts = table[4 * sequences : 12 * sequences].view("<i8")
        firsts = table[12 * sequences : 12 * sequences + 8 * entries].view("<i8")
        tokens: Tokens = mapped(file, name)
        if name not in _CODES:
            tokens = ConvertedTokens(file, mapped(file, name))
        if dtype is not None and dtype != tokens.dtype.name:
            raise FormatError(f"{file}: holds tokens of {name}, not of {dtype}")
        width = np.dtype(name).itemsize
        total = int(starts[-1]) // width + int(lengths[-1]) if sequences else 0
        if total != len(tokens):
            raise FormatError(
                f"{file}: holds {len(tokens):,} tokens, but {index.name} says {total:,}; one of "
                "them is truncated or damaged"
            )

        def ends() -> npt.NDArray[np.int64]:
            upto = np.zeros(sequences + 1, np.int64)
            np.cumsum(lengths, out=upto[1:])
            if (upto[:-1] * width != starts).any():
                raise UnsupportedError(f"{index}: its sequences are not contiguous")
            if firsts[0] != 0 or firsts[-1] != sequences or (firsts[1:] < firsts[:-1]).any():
                raise FormatError(
                    f"{index}: its documents do not tile its sequences; it is damaged"
                )
            document_ends: npt.NDArray[np.int64] = upto[firsts[1:]]
            return document_ends

        return Shard(file, tokens, ends)


def _lengths(ends: npt.NDArray[np.int64], at: int) -> npt.NDArray[np.int64]:
    """The lengths of the documents from `at` on, as many as are written at a time."""
    before = ends[at - 1] if at else 0
    return np.diff(ends[at : at + _AT_A_TIME], prepend=before)
