"""The layout of OLMo-core and dolma: flat tokens without a header, and a table of documents.

`train-00000.npy` holds only tokens, little-endian, in spite of its name. `train-00000.csv.gz` has a
line for each document, `start,end,id,source,location`: the tokens from `start` up to `end`; jeton
leaves the others empty. `train-00000.mask.npy`, if there is a loss mask, has a byte for each token,
1 if it is learnt: OLMo-core takes such files as `label_mask_paths`. Sets of dolma have no mask, and
may lack the table; then `end_of_text` finds the documents.
"""

from __future__ import annotations

import gzip
import re
import zlib
from pathlib import Path

import numpy as np
import numpy.typing as npt

from jeton import files
from jeton.data.layouts.layout import BaseLayout, Spool, part_of
from jeton.data.layouts.npy import is_npy
from jeton.data.layouts.shard import Shard, mapped, mask_beside, size_of
from jeton.errors import ArgumentError, FormatError

_AT_A_TIME = 1 << 16
"""Number of documents whose lines are written at a time."""


class OlmoLayout(BaseLayout):
    """Flat shards with a compressed table of documents."""

    name = "olmo"
    default_shard = 10**8
    holds_masks = True

    def file(self, split: str, number: int | None) -> str:
        return f"{split}-{number or 0:05d}.npy"

    def split_of(self, file: str) -> str | None:
        match = re.fullmatch(r"([^/]+?)([-_]\d{4,})?\.npy", file)
        return match[1] if match and not file.endswith(".mask.npy") else None

    def holds(self, file: Path) -> bool:
        return not is_npy(file)

    def mask(self, file: str) -> str | None:
        return file.removesuffix(".npy") + ".mask.npy"

    def beside(self, file: str) -> tuple[str, ...]:
        return (file.removesuffix(".npy") + ".csv.gz",)

    def close(self, spool: Spool, main: Path, dtype: str, tokenizer: str, masked: bool) -> None:
        ends = mapped(spool.ends, "int64")
        with (
            open(part_of(_table_of(main)), "wb") as file,
            # Without a name and a time, the same documents give the same bytes.
            gzip.GzipFile("", "wb", fileobj=file, mtime=0) as table,
        ):
            before = 0
            for at in range(0, len(ends), _AT_A_TIME):
                lines = []
                for end in ends[at : at + _AT_A_TIME].tolist():
                    lines.append(f"{before},{end},,,\n")
                    before = end
                table.write("".join(lines).encode())

    def open(self, file: Path, dtype: str | None) -> Shard:
        size = size_of(file)
        if is_npy(file):
            raise FormatError(f"{file}: begins with a header of numpy; leave layout out")
        table = _table_of(file)
        ends = _ends_in(table) if dtype is None and table.exists() else None
        if dtype is None:
            if ends is None:
                raise ArgumentError(
                    f"{file}: does not say how large its tokens are, and there is no {table.name}",
                    hint='pass dtype="uint16" or dtype="uint32"',
                    parameter="dtype",
                )
            tokens = int(ends[-1]) if len(ends) else 0
            fitting = [it for it in ("uint16", "uint32") if tokens * np.dtype(it).itemsize == size]
            if not fitting:
                raise FormatError(
                    f"{file}: has {size:,} bytes, but {table.name} says {tokens:,} tokens; one of "
                    "them is truncated or damaged"
                )
            dtype = fitting[0]
        array = mapped(file, dtype)
        mask = mask_beside(file.with_name(file.stem + ".mask.npy"), array)
        if not table.exists():
            return Shard(file, array, None, mask)
        return Shard(file, array, lambda: _ends_in(table) if ends is None else ends, mask)


def _table_of(file: Path) -> Path:
    return file.with_name(file.name.removesuffix(".npy") + ".csv.gz")


def _ends_in(path: Path) -> npt.NDArray[np.int64]:
    """The ends of the documents, which must follow one another."""
    size_of(path)
    ends: list[int] = []
    before = 0
    try:
        with files.opened(path) as file, gzip.open(file, "rt", encoding="utf-8") as lines:
            for number, line in enumerate(lines, 1):
                start, end = (int(cell) for cell in line.split(",", 2)[:2])
                if start != before or end < start:
                    raise FormatError(
                        f"{path}: line {number:,} has a document from {start:,} up to {end:,}, but "
                        f"the one before ends at {before:,}; it is damaged"
                    )
                ends.append(end)
                before = end
        return np.array(ends, np.int64)
    except (OSError, EOFError, zlib.error, UnicodeDecodeError, OverflowError) as error:
        raise FormatError(f"{path}: is not a whole file of gzip: {error}") from None
    except FormatError:
        raise
    except ValueError:
        raise FormatError(
            f"{path}: line {len(ends) + 1:,} is not a document's start,end,…; it is damaged"
        ) from None
