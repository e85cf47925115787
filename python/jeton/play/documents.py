"""The texts of a page: changed by edits, encoded when needed, dropped when there are too many.

A browser counts UTF-16 code units, so a text is kept as these, and spans count them. An edit names
the version that it changes; if that is not the current one, the browser sends the whole text.
`tokens.py` says how an edit changes the tokens.
"""

from __future__ import annotations

import contextlib
import threading
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from jeton.errors import ArgumentError, JetonError
from jeton.play.tokens import HIGH, LOW, TokenColumns, Units, updated

if TYPE_CHECKING:
    from jeton.argument_types import SpecialPolicy
    from jeton.play.shelf import Card

MAX_TEXT: Final = 32 << 20
"""UTF-16 code units of a text, and of all texts that are kept."""

_MAX_DOCUMENTS: Final = 12
_MAX_NAME: Final = 64
_MAX_KEPT: Final = 8
"""Encodings that are kept per text."""
_MAX_KEPT_TOKENS: Final = 32 << 20
"""How many tokens encodings may have together; the latest may have more."""


@dataclass
class TabText:
    """A text of a tab, at one version."""

    version: int
    units: Units
    characters: int
    utf8: int
    """Bytes of the text in UTF-8."""
    known: OrderedDict[tuple[Card, SpecialPolicy], TokenColumns] = field(
        default_factory=OrderedDict
    )
    """The tokens, by card and policy; those used last at the end."""
    lock: threading.Lock = field(default_factory=threading.Lock)

    def __len__(self) -> int:
        return len(self.units)

    @property
    def text(self) -> str:
        """The whole text."""
        return self.units.text()

    def edited(self, version: int, start: int, removed: int, inserted: str) -> TabText:
        """The text with `removed` units at `start` replaced."""
        stop = start + removed
        units = self.units.replaced(start, stop, inserted)
        # A surrogate at the edge of an edit may have found or lost its other half.
        start -= self.units.holds(start - 1, HIGH)
        stop += self.units.holds(stop, LOW)
        rest = len(self) - stop
        before, after = (
            _sizes(self.units.text(start, stop)),
            _sizes(units.text(start, len(units) - rest)),
        )
        with self.lock:
            earlier = list(self.known.items())
        known: OrderedDict[tuple[Card, SpecialPolicy], TokenColumns] = OrderedDict()
        for key, it in earlier:
            with contextlib.suppress(JetonError, MemoryError):  # encoding all will raise it again
                tokens = updated(it, self.units, units, start, rest, *key)
                if tokens is not None:
                    known[key] = tokens
        characters = self.characters - before[0] + after[0]
        utf8 = self.utf8 - before[1] + after[1]
        return TabText(version, units, characters, utf8, known)

    def tokens(self, card: Card, special: SpecialPolicy) -> TokenColumns:
        """The tokens of the text; the latest ones are kept."""
        with self.lock:
            tokens = self.known.pop((card, special), None)
            if tokens is None:
                tokens = TokenColumns.of(self.text, card, special)
            self.known[card, special] = tokens
            total = sum(map(len, self.known.values()))
            while len(self.known) > 1 and (len(self.known) > _MAX_KEPT or total > _MAX_KEPT_TOKENS):
                _, oldest = self.known.popitem(last=False)
                total -= len(oldest)
        return tokens


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
        """A new text, sent as a whole."""
        units = Units(text.encode("utf-16-le", "surrogatepass"))
        return self._keep(name, TabText(version, units, *_sizes(units.text())))

    def edited(
        self, name: str, version: int, base: int, start: int, removed: int, inserted: str
    ) -> TabText | None:
        """A text with `removed` units at `start` replaced; `None` if it is another version."""
        with self._lock:
            old = self._documents.get(name)
        if old is None or old.version != base or not 0 <= start <= start + removed <= len(old):
            return None
        return self._keep(name, old.edited(version, start, removed, inserted))

    def _keep(self, name: str, document: TabText) -> TabText:
        if len(name) > _MAX_NAME:
            raise ArgumentError(f"the name of a text has up to {_MAX_NAME} characters")
        if len(document) > MAX_TEXT:
            raise ArgumentError(f"the text is longer than {MAX_TEXT:,} characters")
        with self._lock:
            self._documents[name] = document
            self._documents.move_to_end(name)
            total = sum(map(len, self._documents.values()))
            while len(self._documents) > _MAX_DOCUMENTS or total > MAX_TEXT:
                _, oldest = self._documents.popitem(last=False)
                total -= len(oldest)
        return document


def _sizes(text: str) -> tuple[int, int]:
    """Characters of a text, and its bytes in UTF-8."""
    return len(text), len(text.encode())
