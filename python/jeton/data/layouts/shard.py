"""A shard to read: its tokens without loading them, and where its documents end."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from jeton import files
from jeton.corpora.token_blocks.ids import Ids
from jeton.errors import FormatError


class Tokens(Protocol):
    """The tokens of a shard: an array with one axis, or an object that can be sliced like one."""

    @property
    def dtype(self) -> np.dtype[np.integer]:
        """uint16 or uint32."""

    def __len__(self) -> int: ...

    def __getitem__(self, window: slice, /) -> Ids: ...


class ConvertedTokens:
    """Tokens in numbers of another type, converted to ids when they are sliced."""

    def __init__(self, path: Path, numbers: npt.NDArray[np.integer]) -> None:
        self._path, self._numbers = path, numbers
        self.dtype: np.dtype[np.integer] = np.dtype("uint16" if numbers.itemsize <= 2 else "uint32")

    def __len__(self) -> int:
        return len(self._numbers)

    def __getitem__(self, window: slice, /) -> Ids:
        some = self._numbers[window]
        if len(some) and not 0 <= some.min() <= some.max() <= np.iinfo(self.dtype).max:
            raise FormatError(
                f"{self._path}: holds {some.min():,} to {some.max():,} instead of ids; it is "
                "damaged, or of another type"
            )
        ids: Ids = some.astype(self.dtype)
        return ids


class Shard:
    """A file of tokens, open for reading."""

    def __init__(
        self,
        path: Path,
        tokens: Tokens,
        ends: Callable[[], npt.NDArray[np.int64]] | None = None,
        mask: Tokens | None = None,
    ) -> None:
        self.path = path
        """The file that holds the tokens."""
        self.tokens = tokens
        """A read-only `numpy.memmap`, whose slices are views; decoded when sliced in `parquet`."""
        self.mask = mask
        """For each token a uint8: 1 if it is learnt, otherwise 0; `None` without a loss mask."""
        self._read_ends = ends

    @cached_property
    def ends(self) -> npt.NDArray[np.int64] | None:
        """The number of tokens up to the end of each document, the last being that of the shard;
        `None` if the layout does not keep it."""
        if self._read_ends is None:
            return None
        ends = self._read_ends()
        last = int(ends[-1]) if len(ends) else 0
        is_ascending = not len(ends) or (int(ends[0]) >= 0 and bool((np.diff(ends) >= 0).all()))
        if last != len(self.tokens) or not is_ascending:
            raise FormatError(
                f"{self.path}: the ends of its documents do not ascend to its {len(self.tokens):,} "
                "tokens; it is damaged"
            )
        return ends

    def __repr__(self) -> str:
        return f"Shard({os.fspath(self.path)!r}, {len(self.tokens):,} tokens)"


def size_of(path: Path) -> int:
    """The bytes of a file; fails for a pipe or a device."""
    with files.opened(path) as file:
        return os.fstat(file.fileno()).st_size


def mapped(path: Path, dtype: str | np.dtype[Any], offset: int = 0) -> npt.NDArray[Any]:
    """A file from byte `offset` on as an array, mapped into memory read-only."""
    size = size_of(path) - offset
    kind = np.dtype(dtype).newbyteorder("<")
    if size < 0 or size % kind.itemsize:
        raise FormatError(
            f"{path}: {size + offset:,} bytes are not a multiple of {kind.itemsize}-byte values; "
            "the file is truncated, or of another type"
        )
    if not size:
        # An empty file cannot be mapped.
        return np.empty(0, kind)
    with files.file_errors(path, "read"), files.opened(path) as file:
        values = np.memmap(file, kind, "r", offset)
    return values


def mask_beside(path: Path, tokens: Tokens) -> npt.NDArray[np.uint8] | None:
    """The loss mask of a shard, a byte per token; `None` without such a file."""
    if not path.exists():
        return None
    mask = mapped(path, "uint8")
    if len(mask) != len(tokens):
        raise FormatError(
            f"{path}: has {len(mask):,} bytes for {len(tokens):,} tokens; one of the files is "
            "truncated or damaged"
        )
    return mask


def ends_beside(path: Path, file: Path, dtype: str | None) -> tuple[npt.NDArray[np.int64], str]:
    """The ends of documents of layouts `jeton` and `datatrove`, and the type of tokens they imply.

    The format is flat little-endian 64-bit numbers, for each document the number of tokens up to
    its end. The last is the number of tokens of the file, which gives the bytes per token.
    """
    ends = mapped(path, "int64")
    size, tokens = size_of(file), int(ends[-1]) if len(ends) else 0
    for name in ("uint16", "uint32") if dtype is None else (dtype,):
        if tokens * np.dtype(name).itemsize == size:
            return ends, name
    raise FormatError(
        f"{file}: has {size:,} bytes, but {path.name} says {tokens:,} tokens; one of them is "
        "truncated or damaged"
    )
