"""Adds pieces to Unigram models, of `tokenizer.json` and of SentencePiece.

Look here for which pieces are added, and for their scores.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from jeton.components import models
from jeton.corpora.corpus import TextsOrFiles
from jeton.edit.edit_result import Edited
from jeton.edit.learning import train_until
from jeton.edit.spelling import best_path, token_text
from jeton.edit.vocabulary import kept_and_new, with_more_pieces
from jeton.errors import TrainingError
from jeton.loading.model_file import NORMAL, USER_DEFINED, ModelFile, ModelPiece
from jeton.results.vocabulary import bytes_of
from jeton.tokenizer import Tokenizer
from jeton.training import UnigramTrainer


def extend_unigram(tok: Tokenizer, model: models.Unigram, corpus: TextsOrFiles, n: int) -> Edited:
    """A Unigram model with more pieces."""
    old_pieces = {token_text(piece): (id, score) for id, (piece, score) in enumerate(model.pieces)}

    def trainer(size: int) -> UnigramTrainer:
        return UnigramTrainer(
            size,
            style="huggingface",
            normalizer=tok.stages.normalizer or "identity",
            pre_tokenizer=tok.stages.pre_tokenizer,
            remove_extra_whitespaces=False,  # the normalizer is complete
            hard_vocab_limit=False,
        )

    trained_tok = _train(trainer, corpus, old_pieces, n)
    scores = {token_text(piece): score for piece, score in _unigram_pieces(trained_tok)}
    new_pieces = _new_pieces(scores, old_pieces, n)
    pieces = [*model.pieces, *((piece.text.encode(), piece.score) for piece in new_pieces)]
    start = len(model.pieces)
    new = with_more_pieces(tok, replace(model, pieces=pieces), start, len(new_pieces))
    made_of = {start + at: piece.parts for at, piece in enumerate(new_pieces)}
    tokens = [piece.text.encode() for piece in new_pieces]
    return kept_and_new(tok, new, made_of, tokens, pieces=start)


def _unigram_pieces(tok: Tokenizer) -> list[tuple[bytes | str, float]]:
    model = tok.stages.model
    if isinstance(model, models.SentencePiece):
        file = ModelFile.parse(model.proto)
        return [(piece.text, piece.score) for piece in file.pieces if piece.kind == NORMAL]
    assert isinstance(model, models.Unigram)
    special = {token.encode() for token in tok.special_tokens}
    return [(piece, score) for piece, score in model.pieces if bytes_of(piece) not in special]


def _train(
    trainer: Callable[[int], UnigramTrainer],
    corpus: TextsOrFiles,
    old_pieces: Mapping[str, object],
    n: int,
) -> Tokenizer:
    counts = trainer(2 * n + 1_000).count(corpus)
    if not len(counts):
        raise TrainingError("the corpus has no words to learn from")

    def pieces(tok: Tokenizer) -> list[str]:
        return [token_text(piece) for piece, _ in _unigram_pieces(tok)]

    return train_until(lambda size: trainer(size).train(counts), pieces, old_pieces, n)


_MARGIN = 0.01
"""How much better a new piece is at least than its old segmentation, in nats."""


class _NewPiece(NamedTuple):
    text: str
    score: float
    parts: tuple[int, ...]
    """The old ids that spell it."""


def _new_pieces(
    scores: Mapping[str, float], old_pieces: Mapping[str, tuple[int, float]], n: int
) -> list[_NewPiece]:
    """The `n` best new pieces of a training with these scores."""
    differences = [
        (old_pieces[text][1] - score, math.exp(score))
        for text, score in scores.items()
        if text in old_pieces
    ]
    # Scores outside of these would change the cost of unknown text, or of user-defined pieces.
    old_scores = [score for _, score in old_pieces.values()]
    lowest, highest = (min(old_scores), max(old_scores)) if old_scores else (-math.inf, math.inf)
    weight = sum(share for _, share in differences)
    shift = sum(gap * share for gap, share in differences) / weight if weight else 0.0
    new_pieces: list[_NewPiece] = []
    for text, score in sorted(scores.items(), key=lambda item: (-item[1], item[0])):
        if text in old_pieces:
            continue
        best = best_path(text, old_pieces)
        own = score + shift
        if best is not None:
            own = max(own, best[0] + _MARGIN)
        parts = () if best is None else best[1]
        new_pieces.append(_NewPiece(text, min(max(own, lowest), highest), parts))
        if len(new_pieces) == n:
            break
    return new_pieces


def extend_model_file(tok: Tokenizer, file: ModelFile, corpus: TextsOrFiles, n: int) -> Edited:
    """A SentencePiece model of Unigram with more pieces."""
    old_pieces = {
        piece.text: (id, piece.score)
        for id, piece in enumerate(file.pieces)
        if piece.kind in (NORMAL, USER_DEFINED)
    }
    all_texts = {piece.text for piece in file.pieces}

    settings = file.unigram_settings

    def trainer(size: int) -> UnigramTrainer:
        return UnigramTrainer(size, hard_vocab_limit=False, **settings)

    trained_tok = _train(trainer, corpus, old_pieces, n)
    scores = {
        token_text(piece): score
        for piece, score in _unigram_pieces(trained_tok)
        if piece not in all_texts or piece in old_pieces
    }
    new_pieces = _new_pieces(scores, old_pieces, n)
    more = [ModelPiece(piece.text, piece.score) for piece in new_pieces]
    start = len(file.pieces)
    made_of = {start + at: piece.parts for at, piece in enumerate(new_pieces)}
    return with_pieces(tok, file, more, made_of)


def with_pieces(
    tok: Tokenizer, file: ModelFile, more: list[ModelPiece], made_of: Mapping[int, Sequence[int]]
) -> Edited:
    """The tokenizer of a SentencePiece model with more pieces after its own."""
    model = models.SentencePiece(file.with_pieces([*file.pieces, *more]))
    new = with_more_pieces(tok, model, len(file.pieces), len(more))
    tokens = [piece.text.encode() for piece in more]
    return kept_and_new(tok, new, made_of, tokens, pieces=len(file.pieces))
