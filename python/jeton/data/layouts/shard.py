"""A shard that is read: its tokens without loading them, and where its documents end."""

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
from jeton.errors import FileError, FormatError

__all__ = ["ConvertedTokens", "Shard", "Tokens", "ends_beside", "mapped", "mask_beside", "size_of"]


class Tokens(Protocol):
    """The tokens of a shard: an array of one axis, or what can be sliced as one."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """uint16 or uint32."""

    def __len__(self) -> int: ...

    def __getitem__(self, window: slice, /) -> Ids: ...


class ConvertedTokens:
    """Tokens that others keep as numbers of another type, which are made ids as they are sliced."""

    def __init__(self, path: Path, numbers: npt.NDArray[Any]) -> None:
        self._path, self._numbers = path, numbers
        self.dtype: np.dtype[Any] = np.dtype("uint16" if numbers.itemsize <= 2 else "uint32")

    def __len__(self) -> int:
        return len(self._numbers)

    def __getitem__(self, window: slice, /) -> Ids:
        some = self._numbers[window]
        if len(some) and not 0 <= some.min() <= some.max() <= np.iinfo(self.dtype).max:
            raise FormatError(
                f"{self._path}: holds {some.min():,} to {some.max():,} where ids should be; it is "
                "damaged, or of another type"
            )
        ids: Ids = some.astype(self.dtype)
        return ids


class Shard:
    """A file of tokens, open to be read."""

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
        """For each token a uint8: 1 if it is to be learnt, else 0; `None` without a loss mask."""
        self._read_ends = ends

    @cached_property
    def ends(self) -> npt.NDArray[np.int64] | None:
        """The number of tokens up to the end of each document, the last of which is that of the
        shard; `None` where the layout does not keep it."""
        if self._read_ends is None:
            return None
        ends = self._read_ends()
        last = int(ends[-1]) if len(ends) else 0
        if last != len(self.tokens) or (len(ends) and int(ends[0]) < 0) or _goes_back(ends):
            raise FormatError(
                f"{self.path}: the ends of its documents do not run up to its {len(self.tokens):,} "
                "tokens without going back; it is damaged"
            )
        return ends

    def __repr__(self) -> str:
        return f"Shard({os.fspath(self.path)!r}, {len(self.tokens):,} tokens)"


def _goes_back(ends: npt.NDArray[np.int64]) -> bool:
    return bool((ends[1:] < ends[:-1]).any())


def size_of(path: Path) -> int:
    """The bytes of a file; a pipe and a device are refused."""
    with files.opened(path) as file:
        return os.fstat(file.fileno()).st_size


def mapped(path: Path, dtype: str, offset: int = 0) -> npt.NDArray[Any]:
    """A file as an array from byte `offset` on, mapped into memory, read-only."""
    size = size_of(path) - offset
    kind = np.dtype(dtype).newbyteorder("<")
    if size < 0 or size % kind.itemsize:
        raise FormatError(
            f"{path}: {size + offset:,} bytes do not make a whole number of {kind.itemsize}-byte "
            "values; the file is cut short, or of another type"
        )
    if not size:
        # An empty file cannot be mapped.
        return np.empty(0, kind)
    try:
        with files.opened(path) as file:
            return np.memmap(file, kind, "r", offset)
    except OSError as error:
        raise FileError(f"{path}: cannot be read: {error.strerror}") from None


def mask_beside(path: Path, tokens: Tokens) -> npt.NDArray[np.uint8] | None:
    """The loss mask of a shard, a byte a token, if such a file is there."""
    if not path.exists():
        return None
    mask = mapped(path, "uint8")
    if len(mask) != len(tokens):
        raise FormatError(
            f"{path}: has {len(mask):,} bytes for {len(tokens):,} tokens; one of the files is cut "
            "short or damaged"
        )
    return mask


def ends_beside(path: Path, file: Path, dtype: str | None) -> tuple[npt.NDArray[np.int64], str]:
    """Ends of documents as `jeton` and `datatrove` keep them, and the type of tokens they imply.

    The format is flat little-endian 64-bit numbers, for each document the number of tokens up to
    its end. The last says how many tokens the file has, and so how many bytes each takes.
    """
    ends = mapped(path, "int64")
    size, tokens = size_of(file), int(ends[-1]) if len(ends) else 0
    for name in ("uint16", "uint32") if dtype is None else (dtype,):
        if tokens * np.dtype(name).itemsize == size:
            return ends, name
    raise FormatError(
        f"{file}: has {size:,} bytes, but {path.name} speaks of {tokens:,} tokens; one of them is "
        "cut short or damaged"
    )
