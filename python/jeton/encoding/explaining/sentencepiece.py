"""SentencePiece's four algorithms, explained: merges by score, lattice, words and characters.

Look here for `.model` files. As in SentencePiece, sums of scores are rounded to 32 bits after each
addition.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

import numpy as np

import jeton._core as _core
from jeton.components import models
from jeton.components.assembly import assembled
from jeton.encoding.explaining.bpe import Rule, merge
from jeton.encoding.explaining.steps import Edge, Lattice, LookUp, Merging, Piece, Token, Unit
from jeton.encoding.explaining.unigram import with_path
from jeton.encoding.explaining.vocabulary import ModelTokens

__all__ = ["BySentencePiece"]

_ALGORITHMS: Final = {"word": "words", "character": "characters"}
_SPACE: Final = "▁"
_UNKNOWN_PENALTY: Final = np.float32(10.0)
_REBASE_ABOVE: Final = np.float32(100_000.0)
"""Above this a sum is set to zero, and subtracted from the sums that include it."""


class BySentencePiece:
    """A `.model` file."""

    def __init__(self, model: models.SentencePiece, withheld: Collection[int]) -> None:
        reader = _core.SentencePieceReader(assembled(model))
        algorithm = reader.algorithm()
        self.name = _ALGORITHMS.get(algorithm, algorithm)
        texts, scores, kinds = reader.pieces()
        self.texts = texts
        self.scores = scores
        self.kinds = kinds
        self.ids = {
            text: id
            for id, (text, kind) in enumerate(zip(texts, kinds, strict=True))
            if kind in ("normal", "user_defined", "unused") and id not in withheld
        }
        self.longest = max(map(len, self.ids), default=0)
        self.user_defined = {text for text, id in self.ids.items() if kinds[id] == "user_defined"}
        self.longest_user_defined = max(map(len, self.user_defined), default=0)
        normal = [score for score, kind in zip(scores, kinds, strict=True) if kind == "normal"]
        self.least = np.float32(min(normal, default=np.finfo(np.float32).max))
        bytes_there = {text.encode(): id for id, text in enumerate(texts) if kinds[id] == "byte"}
        self.bytes = ModelTokens(bytes_there, ())
        unknown = reader.marks()[0]
        self.unknown = None if unknown is None else Token(unknown, texts[unknown].encode())

    def explain(self, text: str, span: tuple[int, int]) -> Piece:
        """How the model encodes a normalized text."""
        if self.name == "Unigram":
            return self._lattice(text, span)
        if self.name == "BPE":
            return self._merging(text, span)
        if self.name == "words":
            first, *others = text.split(_SPACE)
            parts = [part for part in (first, *(_SPACE + word for word in others)) if part]
        else:
            parts = self._symbols(text)
        units, tokens = self._emit([(part, self._usable_id(part)) for part in parts])
        return LookUp(text, span, tuple(tokens), tuple(units))

    def _usable_id(self, text: str) -> int | None:
        id = self.ids.get(text)
        return None if id is None or self.kinds[id] == "unused" else id

    def _symbols(self, text: str) -> list[str]:
        """The text split into user-defined pieces, the longest first, and single characters."""
        symbols = []
        at = 0
        while at < len(text):
            for end in range(min(len(text), at + self.longest_user_defined), at, -1):
                if text[at:end] in self.user_defined:
                    break
            else:
                end = at + 1
            symbols.append(text[at:end])
            at = end
        return symbols

    def _emit(self, parts: list[tuple[str, int | None]]) -> tuple[list[Unit], list[Token]]:
        """The units and tokens of parts of the text.

        Unknown parts become bytes; without byte fallback, neighbouring ones become one token.
        """
        units: list[Unit] = []
        tokens: list[Token] = []
        after_unknown = False
        for text, id in parts:
            part = text.encode()
            if id is not None:
                units.append(Unit(part, (Token(id, part),), "known"))
            elif self.bytes.vocab:
                units.append(Unit(part, tuple(self.bytes.byte_tokens(part) or ()), "bytes"))
            elif after_unknown:
                units.append(Unit(part, (), "fused"))
            else:
                assert self.unknown is not None  # a model without one does not load
                units.append(Unit(part, (self.unknown,), "unknown"))
            tokens.extend(units[-1].tokens)
            after_unknown = id is None
        return units, tokens

    # Merges

    def _merging(self, text: str, span: tuple[int, int]) -> Merging:
        symbols = self._symbols(text)
        frozen = {number for number, it in enumerate(symbols) if it in self.user_defined}
        parts_of: dict[int, int] = {}
        rule = self._rule(parts_of)
        merges, rest = merge([symbol.encode() for symbol in symbols], rule, frozen)
        parts = [part for _, it in rest for part in self._split_unused(it.decode(), parts_of)]
        units, tokens = self._emit([(part, self._usable_id(part)) for part in parts])
        return Merging(
            text,
            span,
            tuple(tokens),
            False,
            tuple(units),
            tuple(symbol.encode() for symbol in symbols),
            tuple(merges),
        )

    def _rule(self, parts_of: dict[int, int]) -> Rule:
        """Merges by score; `parts_of` gets the length of the left part of each unused piece."""

        def rule(left: bytes, right: bytes) -> tuple[float, None, float, Token] | None:
            id = self.ids.get((left + right).decode())
            if id is None:
                return None
            if self.kinds[id] == "unused":
                parts_of[id] = len(left.decode())
            score = self.scores[id]
            return -score, None, score, Token(id, left + right)

        return rule

    def _split_unused(self, text: str, parts_of: dict[int, int]) -> list[str]:
        """Splits an unused piece into the two parts that were merged, and so on for these."""
        parts = []
        rest = [text]
        while rest:
            part = rest.pop()
            id = self.ids.get(part)
            if id is None or self.kinds[id] != "unused" or id not in parts_of:
                parts.append(part)
            else:
                rest += [part[parts_of[id] :], part[: parts_of[id]]]
        return parts

    # The lattice

    def _lattice(self, text: str, span: tuple[int, int]) -> Lattice:
        edges: list[Edge] = []
        best: list[int | None] = [None] * (len(text) + 1)
        sums = np.zeros(len(text) + 1, np.float32)
        farthest = 0
        for start in range(len(text)):
            if abs(sums[start]) > _REBASE_ABOVE:
                sums[start : farthest + 1] -= sums[start]
            here = sums[start]
            has_character = False
            pieces: list[tuple[int, int | None, np.float32]] = []
            for end in range(start + 1, min(start + self.longest, len(text)) + 1):
                id = self._usable_id(text[start:end])
                if id is not None:
                    is_user_defined = self.kinds[id] == "user_defined"
                    bonus = 0.1 * (len(self.texts[id].encode()) - 1.0)
                    score = np.float32(bonus if is_user_defined else self.scores[id])
                    pieces.append((end, id, score))
                    has_character |= end == start + 1
            if not has_character:
                pieces.append((start + 1, None, self.least - _UNKNOWN_PENALTY))
            for end, id, score in pieces:
                farthest = max(farthest, end)
                total = here + score
                if best[end] is None or total > sums[end]:
                    best[end] = len(edges)
                    sums[end] = total
                edges.append(
                    Edge(start, end, text[start:end], id, float(score), float(total), False)
                )
        edges = with_path(edges, best, len(text))
        path = [(edge.text, edge.id) for edge in edges if edge.best]
        _, tokens = self._emit(path)
        return Lattice(text, span, tuple(tokens), tuple(edges), float(sums[-1]))
