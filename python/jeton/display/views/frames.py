"""What a view shows of one step: a title, a sentence that says why, and blocks of a few kinds.

Look here to show a new algorithm: turn its steps into frames, and the terminal, the pages and the
printed form can show it. Frames have no colours or widths.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

Mark: TypeAlias = Literal["", "best", "tie", "added", "unknown", "dim"]
"""How something is marked: it won, it was as good, it was added, it is unknown, it is over."""


@dataclass(frozen=True, slots=True)
class Chip:
    """A token, or a piece of a text.

    Attributes:
        text: What it is, with white space made visible.
        mark: How it is marked.
        under: What is printed below it, such as its id.
    """

    text: str
    mark: Mark = ""
    under: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """Chips side by side, with something before and after them."""

    chips: tuple[Chip, ...]
    label: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows of chips, one below the other."""

    rows: tuple[Row, ...]
    title: str = ""


@dataclass(frozen=True, slots=True)
class Bar:
    """A number as a bar.

    Attributes:
        label: What is counted.
        share: How long the bar is, 0 to 1.
        number: The number, as it is written.
        mark: How it is marked.
    """

    label: str
    share: float
    number: str
    mark: Mark = ""


@dataclass(frozen=True, slots=True)
class Bars:
    """Numbers as bars, greatest first; `more` of them are not shown."""

    bars: tuple[Bar, ...]
    title: str = ""
    more: int = 0


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells below a head; `more` of them are not shown."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    title: str = ""
    more: int = 0


@dataclass(frozen=True, slots=True)
class Arc:
    """A piece from one place of a text to another."""

    start: int
    end: int
    label: str
    number: str
    mark: Mark = ""


@dataclass(frozen=True, slots=True)
class Arcs:
    """A lattice: the characters of a text, and the pieces that it could be made of."""

    characters: tuple[str, ...]
    arcs: tuple[Arc, ...]
    title: str = ""

    def lanes(self) -> list[tuple[Arc, int]]:
        """Each piece with the first lane that is free: what won first, then shorter ones."""
        lanes: list[list[Arc]] = []
        placed = []
        for arc in sorted(
            self.arcs, key=lambda it: (it.mark != "best", it.end - it.start, it.start)
        ):
            free = (
                number
                for number, lane in enumerate(lanes)
                if all(arc.end <= it.start or it.end <= arc.start for it in lane)
            )
            number = next(free, len(lanes))
            if number == len(lanes):
                lanes.append([])
            lanes[number].append(arc)
            placed.append((arc, number))
        return placed


Block: TypeAlias = Rows | Bars | Table | Arcs


@dataclass(frozen=True)
class Frame:
    """One step.

    Attributes:
        title: What happens.
        note: Why, in a sentence or two.
        blocks: The content.
    """

    title: str
    note: str = ""
    blocks: tuple[Block, ...] = field(default=())
