"""The interface of layouts: file names, header, further files, and reading a shard."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jeton.data.layouts.shard import Shard
from jeton.errors import ArgumentError


def part_of(path: Path) -> Path:
    """The name of a file until it is complete."""
    return path.with_name(f".{path.name}.part")


@dataclass(frozen=True)
class Spool:
    """The files into which a shard is written."""

    tokens: Path
    """The tokens, after space for the header."""
    ends: Path
    """The ends of the documents: flat little-endian 64-bit numbers."""
    mask: Path
    """The loss mask, if there is one: a byte per token, 1 for tokens that are learnt."""


class BaseLayout(ABC):
    """A layout: what it adds to flat tokens."""

    name: str
    """The name of the layout."""
    flat = True
    """Whether the main file is a header and flat tokens."""
    header_size = 0
    """The bytes before the tokens."""
    most_tokens: int | None = None
    """The maximum number of tokens of a shard."""
    most_document: int | None = None
    """The maximum number of tokens of a document."""
    default_shard: int | None = None
    """The default number of tokens of a shard; `None` for a single shard."""
    single = False
    """Whether a split is always one file."""
    holds_masks = False
    """Whether it can hold a loss mask."""
    index: str | None = None
    """The name of a file beside the main files of a split that lists them, if there is one."""

    @abstractmethod
    def file(self, split: str, number: int | None) -> str:
        """The name of the main file of a shard; without a number, that of the only shard."""

    @abstractmethod
    def split_of(self, file: str) -> str | None:
        """The split of a main file, by its path in the folder; `None` for other files."""

    def holds(self, file: Path) -> bool:
        """Whether a file with such a name is of this layout, if files of others may have it too."""
        return True

    def of_column(self, column: str) -> BaseLayout:
        """The layout with its ids in a column of this name.

        Raises:
            ArgumentError: It has no columns.
        """
        raise ArgumentError(f"layout {self.name!r} has no columns; leave column out")

    def ends(self, file: str) -> str | None:
        """The name of the file of flat ends beside a main file, if there is one."""
        return None

    def mask(self, file: str) -> str | None:
        """The name of the loss mask beside a main file, if there can be one."""
        return None

    def beside(self, file: str) -> tuple[str, ...]:
        """The names of all files beside a main file, except a loss mask."""
        ends = self.ends(file)
        return () if ends is None else (ends,)

    def names(self, file: str, masked: bool) -> tuple[str, ...]:
        """The names of all files of a shard, the main one first."""
        mask = self.mask(file) if masked else None
        return (file, *self.beside(file), *([] if mask is None else [mask]))

    def spool(self, folder: Path, file: str) -> Spool:
        """The files of a shard that is not complete."""
        main = folder / file
        tokens = main if self.flat else main.with_name(main.name + ".tokens")
        ends = self.ends(file)
        beside = main.with_name(main.name + ".spool") if ends is None else folder / ends
        mask = self.mask(file)
        mask_file = main.with_name(main.name + ".learnt") if mask is None else folder / mask
        return Spool(part_of(tokens), part_of(beside), part_of(mask_file))

    def listed(self, index: Any) -> Iterator[tuple[str, int]]:
        """The main files that an index lists, in order, each with the bytes that it has at least.

        Args:
            index: The index, as JSON has it.

        Raises:
            KeyError, TypeError, ValueError: It is no index of this layout.
            UnsupportedError: jeton does not read such files.
        """
        raise NotImplementedError

    def close(  # noqa: B027
        self, spool: Spool, main: Path, dtype: str, tokenizer: str, masked: bool
    ) -> None:
        """Writes what the spooled files lack, under `part_of` the final names.

        The spooled files can still be truncated and continued afterwards.
        """

    def index_of(self, dtype: str, shards: Sequence[tuple[Path, int]]) -> bytes:
        """The content of `index`, from the main file and the documents of each shard."""
        raise NotImplementedError

    @abstractmethod
    def open(self, file: Path, dtype: str | None) -> Shard:
        """Reads a shard back.

        Raises:
            FormatError: The shard is truncated or damaged.
        """
