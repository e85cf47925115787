"""The tokenizers of a page as cards: those of the caller, those loaded by name, and uploads."""

from __future__ import annotations

import contextlib
import functools
import itertools
import os
import re
import tempfile
import threading
import warnings
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from jeton.display.human_readable import printable
from jeton.errors import ArgumentError, FormatWarning, TrainingWarning
from jeton.loading.known_names import names, suggestion
from jeton.tokenizer.loading import load

if TYPE_CHECKING:
    from jeton.tokenizer import Tokenizer

MAX_CARDS: Final = 24
"""Tokenizers that a server keeps besides those that it began with; a tab shows six."""


class Card:
    """A tokenizer, with the values that the page needs often."""

    def __init__(
        self, number: int, name: str, tokenizer: Tokenizer, hint: str, notes: Iterable[str]
    ) -> None:
        self.number = number
        self.name = self.loaded_as = name
        self.hint = hint
        """The source of the tokenizer, if its name alone does not load it again."""
        self.notes = [*notes]
        """The warnings of loading or training it."""
        self.tokenizer = tokenizer

    @functools.cached_property
    def special(self) -> npt.NDArray[np.bool_]:
        """For each id, whether it is that of a special token."""
        mask = np.zeros(self.tokenizer.vocab.max_id + 1, bool)
        mask[list(self.tokenizer.special_tokens.values())] = True
        return mask

    @functools.cached_property
    def pairs(self) -> dict[bytes, tuple[bytes, bytes]]:
        """For each token that a merge makes, the two that it is made of: the first such merge."""
        pairs: dict[bytes, tuple[bytes, bytes]] = {}
        for left, right in self.tokenizer.vocab.merges:
            if left and right:
                pairs.setdefault(left + right, (left, right))
        return pairs

    @functools.cached_property
    def merge_numbers(self) -> dict[tuple[bytes, bytes], int]:
        """For each two neighbours that are merged, the number of the merge, from 1."""
        numbers: dict[tuple[bytes, bytes], int] = {}
        for number, pair in enumerate(self.tokenizer.vocab.merges, 1):
            numbers.setdefault(pair, number)
        return numbers

    @functools.cached_property
    def scores(self) -> list[float]:
        """The score of each id; empty if the model has no scores."""
        return self.tokenizer.vocab.scores

    def summary(self) -> dict[str, object]:
        """What the head of a card shows."""
        tokenizer = self.tokenizer
        return {
            "card": self.number,
            "name": self.name,
            "hint": self.hint,
            "notes": self.notes,
            "kind": type(tokenizer.stages.model).__name__,
            "size": tokenizer.vocab_size,
            "template": tokenizer.settings.chat_template is not None,
            "digest": tokenizer.digest[:12],
        }


class Shelf:
    """The cards of a server, shared by its tabs."""

    def __init__(self, tokenizers: Mapping[str, Tokenizer]) -> None:
        self._lock = threading.Lock()
        self._numbers = itertools.count(1)
        self._cards: dict[int, Card] = {}
        self._added: OrderedDict[int, None] = OrderedDict()
        """Numbers of the later cards, the latest used at the end."""
        self.first: list[int] = []
        """Numbers of the cards that a new tab begins with."""
        for name, tokenizer in tokenizers.items():
            exists = name in names() or os.path.exists(name)
            hint = "" if exists else "passed by a program"
            number = self.add(name, tokenizer, hint).number
            self._added.pop(number)
            self.first.append(number)

    def __iter__(self) -> Iterator[Card]:
        with self._lock:
            return iter(list(self._cards.values()))

    def __getitem__(self, number: int) -> Card:
        with self._lock:
            card = self._cards.get(number)
            if card is None:
                raise ArgumentError("this tokenizer is no longer here: load it again")
            if number in self._added:
                self._added.move_to_end(number)
            return card

    def add(
        self, name: str, tokenizer: Tokenizer, hint: str = "", notes: Iterable[str] = ()
    ) -> Card:
        """Adds a card; beyond `MAX_CARDS`, the one that was used longest ago is dropped.

        The same tokenizer under the same name keeps its card.
        """
        name = printable(name[:200], lines=False)
        with self._lock:
            same = [card for card in self._cards.values() if card.loaded_as == name]
            for card in same:
                if card.tokenizer.digest == tokenizer.digest:
                    return card
            card = Card(next(self._numbers), name, tokenizer, hint, notes)
            if same:
                card.name += f" ({card.number})"
            self._cards[card.number] = card
            self._added[card.number] = None
            if len(self._added) > MAX_CARDS:
                forgotten, _ = self._added.popitem(last=False)
                del self._cards[forgotten]
        return card

    def known(self, name: str) -> Card:
        """The card of a name that jeton knows. Paths and repositories are refused."""
        if name not in names():
            raise ArgumentError(f"{name[:80]!r} is not a name that jeton knows. {_instead(name)}")
        for card in self:
            if card.name == name:
                return card
        with noting() as notes:
            tokenizer = load(name)
        return self.add(name, tokenizer, notes=notes)

    def uploaded(self, files: Mapping[str, bytes]) -> Card:
        """The card of a file that was dropped, or of several that belong together.

        They are written to a folder of their own, and removed once they are read.
        """
        names = [name.replace("\\", "/").rpartition("/")[2] for name in files]
        for name in names:
            if (
                name in ("", ".", "..")
                or "\0" in name
                or len(name.encode("utf-8", "replace")) > 255
            ):
                raise ArgumentError(f"{name[:80]!r} is not the name of a file")
        if len({*names}) < len(names):
            raise ArgumentError("two of the files have the same name: send one of them")
        with tempfile.TemporaryDirectory(prefix="jeton-play-") as folder:
            source = Path(folder, names[0]) if len(names) == 1 else Path(folder)
            try:
                for name, content in zip(names, files.values(), strict=True):
                    Path(folder, name).write_bytes(content)
                with noting() as notes:
                    tokenizer = load(source)
            except Exception as error:
                message = str(error).replace(f"{folder}{os.sep}", "").replace(folder, "the folder")
                raise ArgumentError(message) from None
        notes = [it.replace(f"{folder}{os.sep}", "").replace(folder, "the folder") for it in notes]
        return self.add(" + ".join(names), tokenizer, "dropped on the page: give its path", notes)


def _instead(name: str) -> str:
    """What to do where a name is not known."""
    close = suggestion(name) or name
    if close in names():
        return f"Did you mean {close}?"
    if re.fullmatch(r"[\w.-]+/[\w.-]+", close):
        return (
            f"The page downloads nothing from a hub: `jeton play {close}` does. "
            "Or drop the file of the tokenizer on the page."
        )
    return "Drop the file of a tokenizer on the page, or give its path to `jeton play`."


_noting = threading.Lock()


@contextlib.contextmanager
def noting() -> Iterator[list[str]]:
    """Collects warnings, which are shown on the page and not in the terminal."""
    notes: list[str] = []
    # The filters of warnings are shared by all threads.
    with _noting, warnings.catch_warnings(record=True) as records:
        warnings.simplefilter("always", FormatWarning)
        warnings.simplefilter("always", TrainingWarning)
        yield notes
    notes += dict.fromkeys(str(it.message) for it in records)
