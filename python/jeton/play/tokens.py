"""The tokens of a text as columns of numbers, and how an edit changes them.

After an edit only the text around it is encoded again. A safe split point is a place at which a
text may be split: its tokens are those before the place and those after it. Between a safe
split point before an edit and one after it, the tokens are those of the new text; outside,
they are those of the old one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from typing_extensions import Self

    from jeton.argument_types import SpecialPolicy
    from jeton.play.shelf import Card

SPECIAL: Final = 1
PART: Final = 2
"""A token holds a part of a character that it shares with a neighbour."""

HIGH: Final = range(0xD800, 0xDC00)
LOW: Final = range(0xDC00, 0xE000)
"""Units that are the first and the second half of a character."""

_REACH: Final = 1 << 14
"""Units on each side of an edit in which a safe split point is looked for."""


@dataclass(frozen=True)
class Units:
    """A text as UTF-16 code units, little-endian, which is how a browser counts."""

    content: bytes

    def __len__(self) -> int:
        return len(self.content) // 2

    def text(self, start: int = 0, stop: int | None = None) -> str:
        """The text between two places. A lone surrogate is no text: it becomes U+FFFD, as long."""
        end = None if stop is None else 2 * stop
        return self.content[2 * start : end].decode("utf-16-le", "replace")

    def replaced(self, start: int, stop: int, inserted: str) -> Units:
        """These units with others between two places."""
        middle = inserted.encode("utf-16-le", "surrogatepass")
        old = memoryview(self.content)
        return Units(b"".join([old[: 2 * start], middle, old[2 * stop :]]))

    def holds(self, place: int, halves: range) -> bool:
        """Whether the unit at a place is one of these halves of a character."""
        unit = self.content[2 * place : 2 * place + 2] if place >= 0 else b""
        return int.from_bytes(unit, "little") in halves

    def between_characters(self, place: int) -> int:
        """This place, or the next one if this is within a character."""
        return place + self.holds(place, LOW)


@dataclass(frozen=True)
class TokenColumns:
    """The tokens of a text, as columns."""

    ids: npt.NDArray[np.uint32]
    starts: npt.NDArray[np.uint32]
    """Where each begins, in UTF-16 code units."""
    ends: npt.NDArray[np.uint32]
    flags: npt.NDArray[np.uint8]

    @classmethod
    def of(cls, text: str, card: Card, special: SpecialPolicy) -> Self:
        """The tokens of a text."""
        ids, spans = card.tokenizer.encode_array(text, spans="utf-16", special=special)
        starts = spans[:, 0].astype(np.uint32)
        ends = spans[:, 1].astype(np.uint32)
        flags = np.where(card.special[ids], SPECIAL, 0).astype(np.uint8)
        shared = starts[1:] < ends[:-1]
        flags[1:][shared] |= PART
        flags[:-1][shared] |= PART
        return cls(ids, starts, ends, flags)

    def __len__(self) -> int:
        return len(self.ids)

    def __getitem__(self, part: slice) -> TokenColumns:
        return TokenColumns(self.ids[part], self.starts[part], self.ends[part], self.flags[part])

    def after(self, place: int) -> int | None:
        """Index of the first token after a place; `None` if one is across it or empty at it."""
        if place == 0:
            return 0
        at = int(np.searchsorted(self.starts, np.uint32(place)))
        is_apart = at == 0 or self.ends[at - 1] <= place
        return at if is_apart and (at == len(self) or self.ends[at] > place) else None

    def moved(self, units: int) -> TokenColumns:
        """These tokens, moved by the number of units that now precede them."""
        # Modulo 2**32, so the number of units may be below zero.
        more = np.uint32(units % 2**32)
        return replace(self, starts=self.starts + more, ends=self.ends + more)

    def columns(self, start: int, stop: int) -> bytes:
        """Tokens `start` to `stop` as little-endian columns, one after the other."""
        part = slice(start, stop)
        columns = (self.ids[part], self.starts[part], self.ends[part])
        flags = self.flags[part].tobytes()
        words = b"".join(column.astype("<u4").tobytes() for column in columns)
        return words + flags + bytes(-len(flags) % 4)


def updated(
    tokens: TokenColumns,
    before: Units,
    after: Units,
    front: int,
    back: int,
    card: Card,
    special: SpecialPolicy,
) -> TokenColumns | None:
    """The tokens of a text after an edit; `None` if no safe split points are found near it.

    Args:
        tokens: Those before the edit.
        before, after: The text before and after it.
        front, back: Units that are the same at the front of both, and at their end.
    """
    more = len(after) - len(before)
    end = len(after) - back
    first = after.between_characters(max(0, front - _REACH))
    last = after.between_characters(min(len(after), end + _REACH))
    start = _split_point(after, first, front, card, special) if first else 0
    stop = _split_point(after, end, last, card, special) if last < len(after) else len(after)
    if start is None or stop is None:
        return None
    part = TokenColumns.of(after.text(first, last), card, special)
    new = part.after(start - first), part.after(stop - first)
    old = tokens.after(start), tokens.after(stop - more)
    if new[0] is None or new[1] is None or old[0] is None or old[1] is None:
        return None
    parts = tokens[: old[0]], part[new[0] : new[1]].moved(first), tokens[old[1] :].moved(more)
    return TokenColumns(
        *(
            np.concatenate([getattr(part, column) for part in parts])
            for column in ("ids", "starts", "ends", "flags")
        )
    )


def utf16_places(text: str) -> Callable[[int], int]:
    """A function from places in characters to places in UTF-16 code units."""
    if text.isascii() or max(text, default="") < "\U00010000":
        return lambda place: place
    wide = np.fromiter((ord(it) > 0xFFFF for it in text), np.int64, len(text))
    sums = np.concatenate([[0], np.cumsum(wide)])
    return lambda place: place + int(sums[place])


def _split_point(
    units: Units, start: int, stop: int, card: Card, special: SpecialPolicy
) -> int | None:
    """A place at which every text may be split that holds what is between two others."""
    text = units.text(start, stop)
    at = card.tokenizer._core.split_point_within(text, special)
    return None if at is None else start + len(text[:at].encode("utf-16-le")) // 2
