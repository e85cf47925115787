"""A piece in the model, explained: the steps that the core took, as the classes of `steps.py`.

Look here for how merges, longest matches and lattices become data. The core says each step while it
encodes; here positions in bytes become positions in characters.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Final

from jeton.components import models
from jeton.components.assembly import assembled
from jeton.encoding.explaining.steps import (
    Edge,
    Lattice,
    LongestMatch,
    LookUp,
    Match,
    Merge,
    Merging,
    Piece,
    Token,
    Unit,
)

if TYPE_CHECKING:
    import jeton._core as _core
    from jeton._core import _PieceSteps as PieceSteps

_SHORT: Final = 100
"""Characters of the longest word of which all candidates are listed."""

_LISTED: Final = 20
"""In longer words, candidates of more characters are not listed, except the one that matches."""


class ExplainedModel:
    """The model of a tokenizer, which explains pieces.

    Attributes:
        name: Its kind.
    """

    def __init__(self, pipeline: _core.Pipeline, model: models.Model) -> None:
        self._pipeline = pipeline
        self.name, self._class = _kind(model)
        self._prefix = ""
        if isinstance(model, models.WordPiece):
            self._prefix = model.continuing_subword_prefix

    def explain(self, text: str, span: tuple[int, int]) -> Piece:
        """How the model encodes a piece of the text."""
        steps = self._pipeline.explain_piece(text)
        tokens = _tokens(steps["tokens"])
        if self._class is Merging:
            return _merging(text, span, tokens, steps)
        if self._class is Lattice:
            return _lattice(text, span, tokens, steps)
        if self._class is LongestMatch:
            matches = self._matches(text, steps)
            return LongestMatch(text, span, tokens, matches, too_long=bool(text) and not matches)
        return LookUp(text, span, tokens, _units(steps))

    def _matches(self, text: str, steps: PieceSteps) -> tuple[Match, ...]:
        positions = _characters(text)
        matches = []
        for at, found in steps["matches"]:
            start = positions[at]
            prefix = self._prefix if start else ""
            token, stop = None, start + 1
            if found is not None:
                (id, spelling), length = found
                token, stop = Token(id, spelling), positions[at + length]
            last = len(text)
            if last > _SHORT:
                last = min(last, max(stop, start + _LISTED))
            tried = tuple(prefix + text[start:end] for end in range(last, stop - 1, -1))
            matches.append(Match(start, tried, token))
        return tuple(matches)


def _kind(model: models.Model) -> tuple[str, type[Piece]]:
    """The name of a model, and the class of its pieces."""
    match model:
        case models.SentencePiece():
            import jeton._core as _core

            # Its reader takes the model alone, without other stages.
            algorithm = _core.SentencePieceReader(assembled(model)).algorithm()
            kinds: dict[str, tuple[str, type[Piece]]] = {
                "Unigram": ("Unigram", Lattice),
                "BPE": ("BPE", Merging),
                "word": ("words", LookUp),
                "character": ("characters", LookUp),
            }
            name, piece = kinds[algorithm]
            return f"SentencePiece {name}", piece
        case models.Unigram():
            return "Unigram", Lattice
        case models.BPE():
            return f"BPE {'by ranks' if model.merges is None else 'by merges'}", Merging
        case models.WordPiece():
            return "WordPiece", LongestMatch
        case models.WordLevel():
            return "Words", LookUp
        case models.LongestMatch():
            return "Longest match", LookUp
        case models.Superwords():
            return "Superwords", Merging
        case models.PickyBPE():
            return "BPE, after all merges and deletions", LookUp
    return "Characters", LookUp


def _merging(
    text: str, span: tuple[int, int], tokens: tuple[Token, ...], steps: PieceSteps
) -> Merging:
    return Merging(
        text,
        span,
        tokens,
        steps["is_whole"],
        _units(steps),
        (text.encode(),) if steps["is_whole"] else tuple(steps["symbols"]),
        tuple(
            Merge(rank, score, left, right, Token(*made), at)
            for at, (left, right), made, rank, score in steps["merges"]
        ),
    )


def _lattice(
    text: str, span: tuple[int, int], tokens: tuple[Token, ...], steps: PieceSteps
) -> Lattice:
    positions = _characters(text)
    best = set(itertools.pairwise(sorted({0, *steps["path"]})))
    return Lattice(
        text,
        span,
        tokens,
        tuple(
            Edge(
                positions[start],
                positions[end],
                text[positions[start] : positions[end]],
                id,
                score,
                total,
                (start, end) in best,
            )
            for start, end, id, score, total in steps["edges"]
        ),
        steps["score"],
    )


def _units(steps: PieceSteps) -> tuple[Unit, ...]:
    return tuple(Unit(unit, _tokens(tokens), how) for unit, tokens, how in steps["units"])


def _tokens(tokens: list[tuple[int, bytes]]) -> tuple[Token, ...]:
    return tuple(itertools.starmap(Token, tokens))


def _characters(text: str) -> dict[int, int]:
    """The number of the character that begins at each byte, and that of the end."""
    lengths = (len(character.encode()) for character in text)
    starts = itertools.accumulate(lengths, initial=0)
    return {start: number for number, start in enumerate(starts)}
