"""More pieces for Unigram models, of `tokenizer.json` and of SentencePiece.

Look here for which pieces are added, and what their scores are beside the old ones.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from jeton.components import models
from jeton.edit.edit_result import Edited
from jeton.edit.learning import Corpus, learned
from jeton.edit.spelling import best_path
from jeton.edit.vocabulary import kept_and_new, lengthened
from jeton.errors import TrainingError
from jeton.loading.model_file import NORMAL, USER_DEFINED, ModelFile, ModelPiece
from jeton.tokenizer import Tokenizer
from jeton.training import UnigramTrainer

__all__ = ["extend_model_file", "extend_unigram", "with_pieces"]


def extend_unigram(tok: Tokenizer, model: models.Unigram, corpus: Corpus, n: int) -> Edited:
    """A Unigram model with more pieces."""
    known = {_text(piece): (id, score) for id, (piece, score) in enumerate(model.pieces)}

    def trainer(size: int) -> UnigramTrainer:
        return UnigramTrainer(
            size,
            style="huggingface",
            normalizer=tok.normalizer or "identity",
            pre_tokenizer=tok.pre_tokenizer,
            remove_extra_whitespaces=False,  # the normalizer is whole
            hard_vocab_limit=False,
        )

    trained = _trained(trainer, corpus, known, n)
    scores = {_text(piece): score for piece, score in _unigram_pieces(trained)}
    found = _scored(scores, known, n)
    pieces = [*model.pieces, *((text.encode(), score) for text, score, _ in found)]
    start = len(model.pieces)
    new = lengthened(tok, replace(model, pieces=pieces), start, len(found))
    made_of = {start + at: parts for at, (_, _, parts) in enumerate(found)}
    added = [text.encode() for text, _, _ in found]
    return kept_and_new(tok, new, made_of, added, pieces=start)


def _unigram_pieces(tok: Tokenizer) -> list[tuple[bytes | str, float]]:
    model = tok.model
    if isinstance(model, models.SentencePiece):
        file = ModelFile.parse(model.proto)
        return [(piece.text, piece.score) for piece in file.pieces if piece.kind == NORMAL]
    assert isinstance(model, models.Unigram)
    special = {token.encode() for token in tok.special_tokens}
    return [(piece, score) for piece, score in model.pieces if _text(piece).encode() not in special]


def _trained(
    trainer: Callable[[int], UnigramTrainer], corpus: Corpus, known: Mapping[str, object], n: int
) -> Tokenizer:
    counts = trainer(2 * n + 1_000).count(corpus)
    if not len(counts):
        raise TrainingError("the corpus has no words to learn from")

    def pieces(trained: Tokenizer) -> list[str]:
        return [_text(piece) for piece, _ in _unigram_pieces(trained)]

    return learned(lambda size: trainer(size).train(counts), pieces, known, n)


_MARGIN = 0.01
"""How much better a new piece is than its old segmentation, at least, in nats."""


def _scored(
    trained: Mapping[str, float], known: Mapping[str, tuple[int, float]], n: int
) -> list[tuple[str, float, tuple[int, ...]]]:
    """The `n` best new pieces, each with a score and the old ids that spelled it."""
    shared = [
        (known[text][1] - score, math.exp(score))
        for text, score in trained.items()
        if text in known
    ]
    # Outside these the cost of the unknown, or of user-defined pieces, would change for all texts.
    scores = [score for _, score in known.values()]
    lowest, highest = (min(scores), max(scores)) if scores else (-math.inf, math.inf)
    weight = sum(share for _, share in shared)
    shift = sum(apart * share for apart, share in shared) / weight if weight else 0.0
    found: list[tuple[str, float, tuple[int, ...]]] = []
    for text, score in sorted(trained.items(), key=lambda item: (-item[1], item[0])):
        if text in known:
            continue
        best = best_path(text, known)
        own = score + shift
        if best is not None:
            own = max(own, best[0] + _MARGIN)
        found.append((text, min(max(own, lowest), highest), () if best is None else best[1]))
        if len(found) == n:
            break
    return found


def extend_model_file(tok: Tokenizer, file: ModelFile, corpus: Corpus, n: int) -> Edited:
    """A SentencePiece model of Unigram with more pieces."""
    known = {
        piece.text: (id, piece.score)
        for id, piece in enumerate(file.pieces)
        if piece.kind in (NORMAL, USER_DEFINED)
    }
    taken = {piece.text for piece in file.pieces}

    settings = file.unigram_settings

    def trainer(size: int) -> UnigramTrainer:
        return UnigramTrainer(size, hard_vocab_limit=False, **settings)

    trained = _trained(trainer, corpus, known, n)
    scores = {
        _text(piece): score
        for piece, score in _unigram_pieces(trained)
        if piece not in taken or piece in known
    }
    found = _scored(scores, known, n)
    more = [ModelPiece(text, score) for text, score, _ in found]
    start = len(file.pieces)
    made_of = {start + at: parts for at, (_, _, parts) in enumerate(found)}
    return with_pieces(tok, file, more, made_of)


def with_pieces(
    tok: Tokenizer, file: ModelFile, more: list[ModelPiece], made_of: Mapping[int, Sequence[int]]
) -> Edited:
    """The tokenizer of a SentencePiece model with more pieces behind its own."""
    model = models.SentencePiece(file.with_pieces([*file.pieces, *more]))
    new = lengthened(tok, model, len(file.pieces), len(more))
    added = [piece.text.encode() for piece in more]
    return kept_and_new(tok, new, made_of, added, pieces=len(file.pieces))


def _text(token: bytes | str) -> str:
    return token.decode("utf-8", "surrogateescape") if isinstance(token, bytes) else token
