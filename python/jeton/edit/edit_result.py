"""What a change of a vocabulary gives: the new tokenizer, the map of ids, and what was left out."""

from __future__ import annotations

from dataclasses import dataclass

from jeton.edit.id_map import IdMap
from jeton.tokenizer import Tokenizer

__all__ = ["Edited"]


@dataclass(frozen=True)
class Edited:
    """A new tokenizer, and the way from the old ids to its own.

    Attributes:
        tok: The new tokenizer.
        id_map: From the ids of the old one.
        removed: The tokens that are gone, in the order of their old ids.
        added: The tokens that are new, in the order of their ids.
        left_out: Tokens that were asked for and could not be added, since encoding would never
            reach them, or would no longer know words that it knew.
    """

    tok: Tokenizer
    id_map: IdMap
    removed: tuple[bytes, ...] = ()
    added: tuple[bytes, ...] = ()
    left_out: tuple[bytes, ...] = ()
    renamed: tuple[tuple[bytes, bytes], ...] = ()

    def __repr__(self) -> str:
        renamed = f", {len(self.renamed):,} renamed" if self.renamed else ""
        return (
            f"Edited({self.tok!r}, {len(self.removed):,} tokens removed, {len(self.added):,} "
            f"added{renamed})"
        )
