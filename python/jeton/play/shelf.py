"""The tokenizers of a page, each as a card: what the caller gave, a known name, an upload."""

from __future__ import annotations

import functools
import itertools
import os
import tempfile
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from jeton.errors import ArgumentError
from jeton.known_names import names
from jeton.loading import load

if TYPE_CHECKING:
    from jeton.tokenizer import Tokenizer

__all__ = ["MAX_CARDS", "Card", "Shelf"]

MAX_CARDS: Final = 24
"""Tokenizers that a server keeps; a tab shows six."""

_MEMORY: Final = "/dev/shm"
"""Where files are in memory, on Linux."""


class Card:
    """A tokenizer with what the page asks of it again and again."""

    def __init__(self, number: int, name: str, tokenizer: Tokenizer, hint: str) -> None:
        self.number = number
        self.name = name
        self.hint = hint
        """Where it is from, if its name alone does not load it again."""
        self.tokenizer = tokenizer

    @functools.cached_property
    def special(self) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """For each id, whether it is that of a special token."""
        mask = np.zeros(self.tokenizer.max_id + 1, bool)
        mask[list(self.tokenizer.special_tokens.values())] = True
        return mask

    @functools.cached_property
    def pairs(self) -> dict[bytes, tuple[bytes, bytes]]:
        """For each token that a merge makes, the two that it is made of: the first such merge."""
        made: dict[bytes, tuple[bytes, bytes]] = {}
        for left, right in self.tokenizer.merges:
            made.setdefault(left + right, (left, right))
        return made

    @functools.cached_property
    def scores(self) -> list[float]:
        """The score of each id; none where the model does not go by scores."""
        return self.tokenizer.scores

    def summary(self) -> dict[str, Any]:
        """What a card says at its head."""
        tokenizer = self.tokenizer
        return {
            "card": self.number,
            "name": self.name,
            "hint": self.hint,
            "kind": type(tokenizer.model).__name__,
            "size": tokenizer.vocab_size,
            "special": len(tokenizer.special_tokens),
            "merges": bool(self.pairs),
            "template": tokenizer.chat_template is not None,
            "digest": tokenizer.digest[:12],
        }


class Shelf:
    """The cards of a server, shared by its tabs."""

    def __init__(self, tokenizers: Mapping[str, Tokenizer]) -> None:
        self._lock = threading.Lock()
        self._numbers = itertools.count(1)
        self._cards: dict[int, Card] = {}
        for name, tokenizer in tokenizers.items():
            self.add(name, tokenizer)

    def __iter__(self) -> Iterator[Card]:
        with self._lock:
            return iter(list(self._cards.values()))

    def __getitem__(self, number: int) -> Card:
        try:
            return self._cards[number]
        except (KeyError, TypeError):
            raise ArgumentError("this tokenizer is no longer here: load it again") from None

    def add(self, name: str, tokenizer: Tokenizer, hint: str = "") -> Card:
        """A new card."""
        with self._lock:
            if len(self._cards) >= MAX_CARDS:
                raise ArgumentError(f"there are {MAX_CARDS} tokenizers already: close one first")
            card = Card(next(self._numbers), name[:200], tokenizer, hint)
            self._cards[card.number] = card
        return card

    def drop(self, number: int) -> None:
        """Forgets a card."""
        with self._lock:
            self._cards.pop(number, None)

    def known(self, name: str) -> Card:
        """The card of a name that jeton knows. Paths and repositories are refused."""
        if name not in names():
            raise ArgumentError(
                f"{name[:80]!r} is no name that jeton knows. Drop the file of a tokenizer on the "
                "page, or give its path to `jeton play`"
            )
        for card in self:
            if card.name == name:
                return card
        return self.add(name, load(name))

    def uploaded(self, files: Mapping[str, bytes]) -> Card:
        """The card of a file that was dropped, or of several that belong together.

        They are written to a folder in memory where there is one, and removed once they are read.
        """
        if not files:
            raise ArgumentError("no file was sent")
        place = _MEMORY if os.access(_MEMORY, os.W_OK) else None
        with tempfile.TemporaryDirectory(prefix="jeton-play-", dir=place) as folder:
            for name, content in files.items():
                path = Path(folder, Path(name.replace("\\", "/")).name or "file")
                path.write_bytes(content)
            source = Path(folder)
            if len(files) == 1:
                (source,) = source.iterdir()
            try:
                tokenizer = load(source)
            except Exception as error:
                message = str(error).replace(f"{folder}{os.sep}", "").replace(folder, "the folder")
                raise ArgumentError(message) from None
        return self.add(" + ".join(files), tokenizer, "dropped on the page: give its path")
