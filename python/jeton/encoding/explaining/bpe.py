"""Byte pair encoding, explained: the symbols that a piece is split into, and every merge.

Look here for merges by a list and by ranks; SentencePiece's are in `sentencepiece.py`.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Collection, Sequence

from jeton.components import models
from jeton.encoding.explaining.steps import Merge, Merging, Token, Unit
from jeton.encoding.explaining.vocabulary import ModelTokens

__all__ = ["ByMerges", "merge"]

Rule = Callable[[bytes, bytes], tuple[float, "int | None", "float | None", Token] | None]
"""For two neighbours: their priority (the lowest is merged first), rank, score, merged token."""


def merge(
    symbols: Sequence[bytes], rule: Rule, frozen: Collection[int] = ()
) -> tuple[list[Merge], list[tuple[int, bytes]]]:
    """The merges in order, and the symbols that remain, each with its position.

    The pair with the lowest priority is merged first, the leftmost among equals. Symbols at
    `frozen` positions are never merged.
    """
    row = dict(enumerate(symbols))
    after = {at: at + 1 for at in row}
    before = {at: at - 1 for at in row}
    waiting: list[tuple[float, int, bytes, bytes]] = []

    def consider(left: int, right: int) -> None:
        if not {left, right} <= row.keys() or left in frozen or right in frozen:
            return
        if (pair := rule(row[left], row[right])) is not None:
            heapq.heappush(waiting, (pair[0], left, row[left], row[right]))

    for at in range(len(symbols) - 1):
        consider(at, at + 1)
    merges: list[Merge] = []
    while waiting:
        _, left, one, other = heapq.heappop(waiting)
        right = after.get(left, -1)
        if row.get(left) != one or row.get(right) != other:
            continue
        pair = rule(one, other)
        assert pair is not None  # as in `consider`
        _, rank, score, token = pair
        merges.append(Merge(rank, score, one, other, token, left))
        row[left] = token.token
        del row[right]
        after[left] = after.pop(right)
        before[after[left]] = left
        consider(before[left], left)
        consider(left, after[left])
    return merges, list(row.items())


class ByMerges:
    """A BPE of a `tokenizer.json`, of GPT-2's files or of ranks."""

    def __init__(self, model: models.BPE, tokens: ModelTokens) -> None:
        self.model = model
        self.tokens = tokens
        self.ranks: dict[tuple[bytes, bytes], int] | None = None
        if model.merges is not None:
            self.ranks = {
                (_bytes(left), _bytes(right)): rank
                for rank, (left, right) in enumerate(model.merges)
            }
        self.prefix = (model.continuing_subword_prefix or "").encode()
        self.suffix = (model.end_of_word_suffix or "").encode()

    def explain(self, text: str, span: tuple[int, int]) -> Merging:
        """The merges of a piece."""
        piece = text.encode()
        takes_whole = self.ranks is None or self.model.ignore_merges
        if takes_whole and (token := self.tokens.text(piece)) is not None:
            return Merging(text, span, (token,), True, (), (piece,), ())
        units, symbols = self._units(text)
        merges, rest = merge([token.token for token in symbols], self._merge)
        # A symbol that was never merged keeps its own id, such as that of the unknown token.
        results = {merge.at: merge.made for merge in merges}
        tokens = tuple(results.get(at, symbols[at]) for at, _ in rest)
        return Merging(
            text,
            span,
            tokens,
            False,
            tuple(units),
            tuple(token.token for token in symbols),
            tuple(merges),
        )

    def _merge(
        self, left: bytes, right: bytes
    ) -> tuple[float, int | None, float | None, Token] | None:
        if self.ranks is None:
            token = self.tokens.text(left + right)
            return None if token is None else (token.id, token.id, None, token)
        rank = self.ranks.get((left, right))
        if rank is None:
            return None
        token = self.tokens.text(left + right[len(self.prefix) :])
        return None if token is None else (rank, rank, None, token)

    def _units(self, text: str) -> tuple[list[Unit], list[Token]]:
        """The units that a piece is split into, and their symbols.

        As in `tokenizers`, an unknown token comes before the next known unit, but after bytes.
        """
        model = self.model
        parts = [bytes([byte]) for byte in text.encode()]
        if model.alphabet == "characters":
            parts = [character.encode() for character in text]
        units: list[Unit] = []
        symbols: list[Token] = []
        waiting: Token | None = None
        for number, part in enumerate(parts):
            unit = (self.prefix if number else b"") + part
            if number == len(parts) - 1 and not model.separate_suffix:
                unit += self.suffix
            token = self.tokens.text(unit)
            byte_tokens = self.tokens.byte_tokens(unit) if model.byte_fallback else None
            if token is not None:
                if waiting is not None:
                    symbols.append(waiting)
                waiting = None
                symbols.append(token)
                units.append(Unit(unit, (token,), "known"))
            elif byte_tokens is not None:
                symbols.extend(byte_tokens)
                units.append(Unit(unit, tuple(byte_tokens), "bytes"))
            elif model.unk_token is None:
                units.append(Unit(unit, (), "dropped"))
            elif waiting is not None and model.fuse_unk:
                units.append(Unit(unit, (), "fused"))
            else:
                unknown = self.tokens.named(model.unk_token)
                if waiting is not None:
                    symbols.append(waiting)
                waiting = unknown
                units.append(Unit(unit, (unknown,), "unknown"))
        if waiting is not None:
            symbols.append(waiting)
        if model.separate_suffix and (token := self.tokens.text(self.suffix)) is not None:
            symbols.append(token)
            units.append(Unit(self.suffix, (token,), "known"))
        return units, symbols


def _bytes(token: bytes | str) -> bytes:
    return token.encode() if isinstance(token, str) else token
