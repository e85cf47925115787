"""The texts of a page: changed by edits, encoded when needed, dropped when there are too many.

A browser counts UTF-16 code units, so a text is kept as these, and spans count them. An edit names
the version that it changes; if that is not the current one, the browser sends the whole text.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from jeton.errors import ArgumentError

if TYPE_CHECKING:
    from jeton.play.shelf import Card

__all__ = ["MAX_TEXT", "TabText", "TabTexts", "TokenColumns"]

MAX_TEXT: Final = 32 << 20
"""UTF-16 code units of a text, and of all texts that are kept."""

_MAX_DOCUMENTS: Final = 12
_MAX_NAME: Final = 64
_MAX_KEPT: Final = 8
"""Encodings that are kept per text."""
_MAX_KEPT_TOKENS: Final = 32 << 20
"""Tokens of these; the encoding that was asked for last may have more."""

Flags = npt.NDArray[np.uint8]

SPECIAL: Final = 1
PART: Final = 2
"""A token holds a part of a character that it shares with a neighbour."""


@dataclass(frozen=True)
class TokenColumns:
    """The tokens of a text, as columns."""

    ids: npt.NDArray[np.uint32]
    starts: npt.NDArray[np.uint32]
    """Where each begins, in UTF-16 code units."""
    ends: npt.NDArray[np.uint32]
    flags: Flags

    def __len__(self) -> int:
        return len(self.ids)

    def at(self, offset: int) -> int:
        """Index of the token at an offset of the text."""
        return max(0, int(np.searchsorted(self.starts, offset, side="right")) - 1)

    def columns(self, start: int, stop: int) -> bytes:
        """Tokens `start` to `stop` as little-endian columns, one behind the other."""
        part = slice(start, stop)
        columns = (self.ids[part], self.starts[part], self.ends[part])
        flags = self.flags[part].tobytes()
        words = b"".join(column.astype("<u4").tobytes() for column in columns)
        return words + flags + bytes(-len(flags) % 4)


@dataclass
class TabText:
    """A text of a tab."""

    version: int
    units: bytes
    """UTF-16, little-endian."""
    text: str
    lock: threading.Lock = field(default_factory=threading.Lock)
    _encoded: OrderedDict[tuple[int, str], TokenColumns] = field(default_factory=OrderedDict)

    def __len__(self) -> int:
        return len(self.units) // 2

    def tokens(self, card: Card, special: str) -> TokenColumns:
        """The tokens of the text; those that were asked for last are kept."""
        key = (card.number, special)
        with self.lock:
            found = self._encoded.pop(key, None)
            if found is None:
                found = _encoded(self.text, card, special)
            self._encoded[key] = found
            held = sum(map(len, self._encoded.values()))
            while len(self._encoded) > 1 and (
                len(self._encoded) > _MAX_KEPT or held > _MAX_KEPT_TOKENS
            ):
                _, dropped = self._encoded.popitem(last=False)
                held -= len(dropped)
        return found


class TabTexts:
    """The texts of all tabs; those used longest ago are dropped."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._documents: OrderedDict[str, TabText] = OrderedDict()

    def __getitem__(self, name: str) -> TabText:
        with self._lock:
            document = self._documents.get(name)
            if document is None:
                raise ArgumentError("this text is no longer here: type something")
            self._documents.move_to_end(name)
            return document

    def whole(self, name: str, version: int, text: str) -> TabText:
        """A text that was sent whole."""
        return self._keep(name, version, text.encode("utf-16-le", "surrogatepass"))

    def edited(
        self, name: str, version: int, base: int, start: int, removed: int, inserted: str
    ) -> TabText | None:
        """A text with `removed` units at `start` replaced; `None` if it is another version."""
        with self._lock:
            old = self._documents.get(name)
        if old is None or old.version != base or not 0 <= start <= start + removed <= len(old):
            return None
        middle = inserted.encode("utf-16-le", "surrogatepass")
        units = old.units[: 2 * start] + middle + old.units[2 * (start + removed) :]
        return self._keep(name, version, units)

    def _keep(self, name: str, version: int, units: bytes) -> TabText:
        if len(name) > _MAX_NAME:
            raise ArgumentError(f"the name of a text has up to {_MAX_NAME} characters")
        if len(units) > 2 * MAX_TEXT:
            raise ArgumentError(f"the text is longer than {MAX_TEXT:,} characters")
        # A lone surrogate is not text: it becomes U+FFFD, which is as long.
        document = TabText(version, units, units.decode("utf-16-le", "replace"))
        with self._lock:
            self._documents[name] = document
            self._documents.move_to_end(name)
            held = sum(map(len, self._documents.values()))
            while len(self._documents) > _MAX_DOCUMENTS or held > MAX_TEXT:
                _, dropped = self._documents.popitem(last=False)
                held -= len(dropped)
        return document


def _encoded(text: str, card: Card, special: str) -> TokenColumns:
    policy: Any = "allow" if special == "allow" else "ignore"
    ids, spans = card.tokenizer.encode_array_with_spans(text, unit="utf-16", special=policy)
    starts = spans[:, 0].astype(np.uint32)
    ends = spans[:, 1].astype(np.uint32)
    flags = np.where(card.special[ids], SPECIAL, 0).astype(np.uint8)
    shared = starts[1:] < ends[:-1]
    flags[1:][shared] |= PART
    flags[:-1][shared] |= PART
    return TokenColumns(ids, starts, ends, flags)
