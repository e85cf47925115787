"""What a layout says of itself: names, a header, files beside, and how a shard is read."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path

from jeton.data.layouts.shard import Shard
from jeton.errors import ArgumentError

__all__ = ["BaseLayout", "Spool", "part_of"]


def part_of(path: Path) -> Path:
    """The name under which a file grows."""
    return path.with_name(f".{path.name}.part")


@dataclass(frozen=True)
class Spool:
    """The files into which a shard is written."""

    tokens: Path
    """The tokens, behind room for the header."""
    ends: Path
    """The ends of the documents: flat little-endian 64-bit numbers."""
    mask: Path
    """The loss mask, if there is one: a byte a token, 1 for those to be learnt."""


class BaseLayout(ABC):
    """What a layout adds to flat tokens."""

    name: str
    """What the layout is called."""
    flat = True
    """Whether the main file is a header and flat tokens."""
    header_size = 0
    """How many bytes stand before the tokens."""
    most_tokens: int | None = None
    """The most tokens that a shard can have."""
    most_document: int | None = None
    """The most tokens that a document can have."""
    default_shard: int | None = None
    """How many tokens a shard has unless it is said; `None` for one shard."""
    single = False
    """Whether a split is always one file."""
    holds_masks = False
    """Whether it has room for a loss mask."""

    @abstractmethod
    def file(self, split: str, number: int | None) -> str:
        """The name of the main file of a shard; without a number, that of the only one."""

    @abstractmethod
    def split_of(self, file: str) -> str | None:
        """The split of a main file, named relative to the folder; `None` for other files."""

    def holds(self, file: Path) -> bool:
        """Whether a file of such a name is one of the layout, where others may have such names."""
        return True

    def of_column(self, column: str) -> BaseLayout:
        """The layout with its ids in a column of this name.

        Raises:
            ArgumentError: It has no columns.
        """
        raise ArgumentError(f"layout {self.name!r} has no columns; leave column out")

    def ends(self, file: str) -> str | None:
        """The name of the file of flat ends that lies beside a main file, if one does."""
        return None

    def mask(self, file: str) -> str | None:
        """The name of the loss mask that lies beside a main file, if one can."""
        return None

    def beside(self, file: str) -> tuple[str, ...]:
        """The names of all files that lie beside a main file, but for a loss mask."""
        ends = self.ends(file)
        return () if ends is None else (ends,)

    def spool(self, folder: Path, file: str) -> Spool:
        """Where the shard grows."""
        main = folder / file
        tokens = main if self.flat else main.with_name(main.name + ".tokens")
        ends = self.ends(file)
        beside = main.with_name(main.name + ".spool") if ends is None else folder / ends
        mask = self.mask(file)
        learnt = main.with_name(main.name + ".learnt") if mask is None else folder / mask
        return Spool(part_of(tokens), part_of(beside), part_of(learnt))

    def close(  # noqa: B027
        self, spool: Spool, main: Path, dtype: str, tokenizer: str, masked: bool
    ) -> None:
        """Writes what is not in the spooled files yet, to `part_of` the final names.

        The spooled files stay such that they can still be cut and continued.
        """

    @abstractmethod
    def open(self, file: Path, dtype: str | None) -> Shard:
        """Reads a shard back.

        Raises:
            FormatError: It is cut short or damaged.
        """
