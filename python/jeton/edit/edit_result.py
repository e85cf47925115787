"""The result of a change of a vocabulary: the new tokenizer, and the map of ids."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from jeton.edit.id_map import IdMap
from jeton.tokenizer import Tokenizer


@dataclass(frozen=True)
class Edited:
    """A new tokenizer, and the map from the old ids to its ids.

    Attributes:
        tok: The new tokenizer.
        id_map: The map from the ids of the old tokenizer.
        removed: The removed tokens, in the order of their old ids.
        added: The new tokens, in the order of their ids.
        left_out: Tokens that could not be added, because encoding would never use them, or because
            words that were known would become unknown.
        renamed: The old and new names of renamed tokens.
        weights: For new tokens whose rows are sums of old ones, and not their mean: the old ids,
            and their coefficients.
        head_weights: The same for output heads, if they have coefficients of their own.
        replaces_settings: Whether the tokenizer has settings of its own, which a checkpoint takes
            over.
    """

    tok: Tokenizer
    id_map: IdMap
    removed: tuple[bytes, ...] = ()
    added: tuple[bytes, ...] = ()
    left_out: tuple[bytes, ...] = ()
    renamed: tuple[tuple[bytes, bytes], ...] = ()
    weights: Mapping[int, tuple[tuple[int, ...], tuple[float, ...]]] = field(default_factory=dict)
    head_weights: Mapping[int, tuple[tuple[int, ...], tuple[float, ...]]] | None = None
    replaces_settings: bool = False

    def __repr__(self) -> str:
        renamed = f", {len(self.renamed):,} renamed" if self.renamed else ""
        return (
            f"Edited({self.tok!r}, {len(self.removed):,} tokens removed, {len(self.added):,} "
            f"added{renamed})"
        )
