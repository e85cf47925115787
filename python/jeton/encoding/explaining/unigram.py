"""Unigram, explained: every piece that occurs in a text, and the path with the best sum.

Look here for the Unigram of a `tokenizer.json`, in 64-bit floats; SentencePiece's own, in 32-bit
floats, is in `sentencepiece.py`.
"""

from __future__ import annotations

from dataclasses import replace

from jeton.components import models
from jeton.encoding.explaining.steps import Edge, Lattice, Token
from jeton.encoding.explaining.vocabulary import ModelTokens

__all__ = ["ByScores", "with_path"]

_UNKNOWN_PENALTY = 10.0


class ByScores:
    """The Unigram of a `tokenizer.json`."""

    def __init__(self, model: models.Unigram, tokens: ModelTokens) -> None:
        self.tokens = tokens
        self.fallback = model.byte_fallback
        self.scores = [score for _, score in model.pieces]
        self.lowest = min(self.scores) - _UNKNOWN_PENALTY
        self.longest = max(len(token.decode(errors="replace")) for token in tokens.vocab)
        self.unknown: Token | None = None
        if model.unk_id is not None:
            piece, _ = model.pieces[model.unk_id]
            name = piece.encode() if isinstance(piece, str) else piece
            self.unknown = Token(model.unk_id, name)

    def explain(self, text: str, span: tuple[int, int]) -> Lattice:
        """The lattice of a piece."""
        edges: list[Edge] = []
        best: list[int | None] = [None] * (len(text) + 1)

        def offer(start: int, end: int, id: int | None, score: float) -> None:
            reached = best[start]
            total = score + (0.0 if reached is None else edges[reached].total)
            there = best[end]
            if there is None or total > edges[there].total:
                best[end] = len(edges)
            edges.append(Edge(start, end, text[start:end], id, score, total, False))

        for start in range(len(text)):
            has_character = False
            for end in range(start + 1, min(start + self.longest, len(text)) + 1):
                token = self.tokens.text(text[start:end].encode())
                if token is not None:
                    offer(start, end, token.id, self.scores[token.id])
                    has_character |= end == start + 1
            if not has_character:
                offer(start, start + 1, None, self.lowest)
        edges = with_path(edges, best, len(text))
        path = [edge for edge in edges if edge.best]
        score = path[-1].total if path else 0.0
        return Lattice(text, span, tuple(self._tokens(text, path)), tuple(edges), score)

    def _tokens(self, text: str, path: list[Edge]) -> list[Token]:
        """The tokens of a path; neighbouring unknown characters are one, or bytes."""
        tokens: list[Token] = []
        runs: list[tuple[int, int, bool]] = []
        for edge in path:
            unknown = edge.id is None or (self.unknown is not None and edge.id == self.unknown.id)
            if unknown and runs and runs[-1][2]:
                runs[-1] = (runs[-1][0], edge.end, True)
            else:
                runs.append((edge.start, edge.end, unknown))
        for start, end, _ in runs:
            part = text[start:end].encode()
            token = self.tokens.text(part)
            byte_tokens = self.tokens.byte_tokens(part) if self.fallback else None
            if token is not None:
                tokens.append(token)
            elif byte_tokens is not None:
                tokens.extend(byte_tokens)
            else:
                assert self.unknown is not None  # encoding has succeeded, so there is one
                tokens.append(self.unknown)
        return tokens


def with_path(edges: list[Edge], best: list[int | None], length: int) -> list[Edge]:
    """Marks the edges of the best path; `best` is the best edge to each position."""
    end = length
    while end > 0:
        number = best[end]
        assert number is not None  # every character is covered, if only as unknown
        edges[number] = replace(edges[number], best=True)
        end = edges[number].start
    return edges
