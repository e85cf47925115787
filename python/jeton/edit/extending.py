"""Adds the most useful tokens for a corpus: training that continues from the old vocabulary.

Look here for `extend`.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from jeton.arguments import check_kind, checked_int
from jeton.components import models
from jeton.corpora.corpus import TextsOrFiles
from jeton.edit.derivations import join
from jeton.edit.edit_result import Edited
from jeton.edit.learning import check_corpus, train_until
from jeton.edit.scores import with_scores
from jeton.edit.spelling import best_path, longest_first, merged_from, token_text
from jeton.edit.vocabulary import OF_PIECES, kept_and_new, pieces_of, with_new_pieces
from jeton.edit.wordpieces import loses_words
from jeton.errors import ArgumentError, TrainingError, UnsupportedError
from jeton.loading.model_file import NORMAL, USER_DEFINED, ModelFile, ModelPiece
from jeton.results.vocabulary import bytes_of
from jeton.tokenizer import Tokenizer
from jeton.training import BPETrainer, UnigramTrainer, WordPieceTrainer


def extend(tok: Tokenizer, corpus: TextsOrFiles, n: int, *, min_frequency: int = 2) -> Edited:
    """The tokenizer with `n` more tokens, chosen to shorten a corpus the most.

    A byte pair encoding continues training from its merges: old merges come first, in their order,
    and new ones are learned from the result, so every new token is reachable, and texts that use
    none are encoded as before. With an alphabet of characters, new characters of the corpus are
    added first; if there is not enough room, only the most frequent. A byte that is not a token is
    added before the first new token that contains it.

    WordPiece and Unigram have no order of merges: tokens of a vocabulary trained on the corpus are
    added, in the order of that training. A Unigram piece gets a score just above that of its old
    segmentation, or its own score, rescaled to the old ones, if that is greater. A WordPiece gets
    no token that could make a known word unknown.

    Old tokens keep their ids, new ones come after the largest. The exception are SentencePiece and
    Unigram models, whose ids are the positions of pieces: added tokens after the pieces get new
    ids, which the map of ids records.

    Args:
        tok: The tokenizer.
        corpus: Texts of the new language or domain: an iterable of them, or files as for a trainer
            (a path, a pattern, an iterable of `pathlib.Path`).
        n: How many tokens to add. If the corpus has too few, a `TrainingWarning` says so.
        min_frequency: A pair of a byte pair encoding that occurs less often is not merged.

    Raises:
        ArgumentTypeError: A corpus that is neither texts nor paths.
        MissingFileError: There is no such file.
        TrainingError: A corpus without words, or one that gives no token to add.
        UnsupportedError: A model of whole words or of characters; a SentencePiece BPE with a
            character map that merges alone cannot reproduce.

    Source: Purason et al., "Teaching Old Tokenizers New Words: Efficient Tokenizer Adaptation for
        Pre-trained Models", 2025.

    Example:
        >>> import jeton
        >>> from jeton import edit
        >>> tok = jeton.BPETrainer(260, pattern="gpt4").train(["the then there"] * 9)
        >>> edited = edit.extend(tok, ["vesi on vett"] * 9, 3)
        >>> edited.tok.encode("vett"), edited.tok.vocab.merges[:4] == tok.vocab.merges
        ([260, 83, 83], True)
        >>> [tok.vocab.spelling(id) for id in edited.id_map.made_of[260]]
        [b'v', b'e']
    """
    check_kind("tok", tok, Tokenizer, "a Tokenizer")
    n = checked_int("n", n, 1)
    min_frequency = checked_int("min_frequency", min_frequency, 0)
    check_corpus(corpus)
    edited = _extended(tok, corpus, n, min_frequency)
    if not edited.added:
        raise TrainingError(
            "the corpus gives no token to add: no pair of its tokens occurs "
            f"{min_frequency:,} times, or each of its words is a token already (give more text, or "
            "a lower min_frequency)"
        )
    return edited


def _extended(tok: Tokenizer, corpus: TextsOrFiles, n: int, min_frequency: int) -> Edited:
    model = tok.stages.model
    if isinstance(model, models.BPE):
        return _bpe(tok, model, corpus, n, min_frequency)
    if isinstance(model, models.WordPiece):
        return _wordpiece(tok, model, corpus, n)
    if isinstance(model, OF_PIECES):
        file = pieces_of(model)
        if file.kind == "bpe":
            return _sentencepiece_bpe(tok, file, corpus, n, min_frequency)
        if file.kind == "unigram":
            return _unigram(tok, file, corpus, n)
    raise UnsupportedError(
        f"extend works for byte pair encodings, WordPiece and Unigram, but this model is "
        f"{type(model).__name__} (train a new one, and see merge)"
    )


def _bpe(
    tok: Tokenizer, model: models.BPE, corpus: TextsOrFiles, n: int, min_frequency: int
) -> Edited:
    old_ids = {bytes_of(token): id for token, id in model.vocab.items()}
    # Training would add all bytes that are missing, such as those that never occur in UTF-8.
    every = {bytes([byte]) for byte in range(256)} if model.alphabet == "bytes" else set()
    missing = every - old_ids.keys()
    larger = _continue_training(tok, corpus, n + len(missing), min_frequency)
    assert isinstance(larger.stages.model, models.BPE)
    ids = {bytes_of(token): id for token, id in larger.stages.model.vocab.items()}
    new_ids = {
        token: id
        for token, id in sorted(ids.items(), key=lambda item: item[1])
        if id > tok.vocab.max_id
    }
    new = larger
    if model.merges is None:
        new = tok.replace(model=models.BPE({**old_ids, **new_ids}, None))
    elif missing:
        tokens = [token for token in new_ids if token not in missing]
        new_ids = {
            token: id
            for id, token in enumerate(_with_bytes(tokens, missing, n), tok.vocab.max_id + 1)
        }
        vocab = {**old_ids, **new_ids}
        merges = [
            pair for pair in larger.vocab.merges if {*pair, join(pair, model)} <= vocab.keys()
        ]
        new = tok.replace(model=replace(model, vocab=vocab, merges=merges))
    prefix = (model.continuing_subword_prefix or "").encode()
    made_of = merged_from(new_ids, larger.vocab.merges, old_ids, prefix)
    return kept_and_new(tok, new, made_of, list(new_ids))


def _with_bytes(new_tokens: Iterable[bytes], missing: set[bytes], n: int) -> list[bytes]:
    """The first new tokens, each after its missing bytes, `n` in all."""
    tokens: dict[bytes, None] = {}
    for token in new_tokens:
        units = {bytes([byte]) for byte in token} & missing
        more = [*sorted(units - tokens.keys()), token]
        if len(tokens) + len(more) > n:
            break
        tokens.update(dict.fromkeys(more))
    return list(tokens)


def _continue_training(
    tok: Tokenizer, corpus: TextsOrFiles, n: int, min_frequency: int
) -> Tokenizer:
    """The tokenizer with `n` more tokens, trained from its merges on."""

    def trainer(characters: int | None = None) -> BPETrainer:
        return BPETrainer(
            new_tokens=n,
            start_from=tok,
            min_frequency=min_frequency,
            limit_alphabet=characters,
        )

    try:
        first = trainer()
    except ArgumentError as error:
        raise UnsupportedError(f"extend cannot continue from this model: {error}") from None
    counts = first.count(corpus)
    try:
        return first.train(counts)
    except TrainingError:
        model = tok.stages.model
        if not len(counts) or (isinstance(model, models.BPE) and model.alphabet == "bytes"):
            raise
        # There are more new characters than tokens to add.
        for common in (n // 2, n // 4, 0):
            with contextlib.suppress(TrainingError):
                return trainer(common).train(counts)
        raise


def _wordpiece(tok: Tokenizer, model: models.WordPiece, corpus: TextsOrFiles, n: int) -> Edited:
    prefix = model.continuing_subword_prefix
    old_ids = {token_text(token): id for token, id in model.vocab.items()}

    def trainer(size: int) -> WordPieceTrainer:
        return WordPieceTrainer(
            size,
            normalizer=tok.stages.normalizer,
            pre_tokenizer=tok.stages.pre_tokenizer,
            special_tokens=[model.unk_token],
            unk_token=model.unk_token,
            continuing_subword_prefix=prefix,
        )

    counts = trainer(2 * n + 1_000).count(corpus)
    if not len(counts):
        raise TrainingError("the corpus has no words to learn from")
    loses = loses_words(old_ids, prefix)

    def safe(trained_tok: Tokenizer) -> list[str]:
        special = set(trained_tok.special_tokens.values())
        in_order = sorted(trained_tok.vocab.items(), key=lambda item: item[1])
        texts = (token_text(token) for token, id in in_order if id not in special)
        return [text for text in texts if text in old_ids or not loses(text)]

    trained_tok = train_until(lambda size: trainer(size).train(counts), safe, old_ids, n)
    new_texts = [text for text in safe(trained_tok) if text not in old_ids][:n]
    start = tok.vocab.max_id + 1
    vocab = dict(model.vocab)
    made_of = {}
    for id, text in enumerate(new_texts, start):
        vocab[text.encode()] = id  # type: ignore[index]
        made_of[id] = longest_first(text, old_ids, prefix)
    new = tok.replace(model=replace(model, vocab=vocab))
    return kept_and_new(tok, new, made_of, [text.encode() for text in new_texts])


def _sentencepiece_bpe(
    tok: Tokenizer, file: ModelFile, corpus: TextsOrFiles, n: int, min_frequency: int
) -> Edited:
    larger = _continue_training(tok, corpus, n, min_frequency)
    old_ids = tok.vocab
    new_tokens = [
        token
        for token, _ in sorted(larger.vocab.items(), key=lambda item: item[1])
        if token not in old_ids
    ]
    more, unreached = with_scores(file.pieces, [token.decode() for token in new_tokens])
    ids = {piece.text.encode(): len(file.pieces) + at for at, piece in enumerate(more)}
    made_of = merged_from(ids, larger.vocab.merges, old_ids, b"")
    return with_new_pieces(tok, more, made_of, [text.encode() for text in unreached])


def _unigram(tok: Tokenizer, file: ModelFile, corpus: TextsOrFiles, n: int) -> Edited:
    old_pieces = {
        piece.text: (id, piece.score)
        for id, piece in enumerate(file.pieces)
        if piece.kind in (NORMAL, USER_DEFINED)
    }
    all_texts = {piece.text for piece in file.pieces}
    settings: dict[str, Any]
    if isinstance(tok.stages.model, models.SentencePiece):
        settings = file.unigram_settings
    else:
        settings = {
            "style": "huggingface",
            "normalizer": tok.stages.normalizer or "identity",
            "pre_tokenizer": tok.stages.pre_tokenizer,
            "remove_extra_whitespaces": False,  # the normalizer is complete
        }

    def trainer(size: int) -> UnigramTrainer:
        return UnigramTrainer(size, hard_vocab_limit=False, **settings)

    counts = trainer(2 * n + 1_000).count(corpus)
    if not len(counts):
        raise TrainingError("the corpus has no words to learn from")
    trained_tok = train_until(
        lambda size: trainer(size).train(counts), _trained_scores, old_pieces, n
    )
    scores = {
        text: score
        for text, score in _trained_scores(trained_tok).items()
        if text not in all_texts or text in old_pieces
    }
    new_pieces = _new_pieces(scores, old_pieces, n)
    made_of = {len(file.pieces) + at: parts for at, (_, parts) in enumerate(new_pieces)}
    return with_new_pieces(tok, [piece for piece, _ in new_pieces], made_of)


def _trained_scores(tok: Tokenizer) -> dict[str, float]:
    """The pieces that training has found, with their scores."""
    model = tok.stages.model
    assert isinstance(model, OF_PIECES)
    pieces = (it for it in pieces_of(model).pieces if it.kind == NORMAL)
    return {it.text: it.score for it in pieces if it.text not in tok.special_tokens}


_MARGIN = 0.01
"""How much better a new piece is at least than its old segmentation, in nats."""


def _new_pieces(
    scores: Mapping[str, float], old_pieces: Mapping[str, tuple[int, float]], n: int
) -> list[tuple[ModelPiece, tuple[int, ...]]]:
    """The `n` best new pieces of a training with these scores, and the old ids that spell each."""
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
    new_pieces: list[tuple[ModelPiece, tuple[int, ...]]] = []
    for text, score in sorted(scores.items(), key=lambda item: (-item[1], item[0])):
        if text in old_pieces:
            continue
        best = best_path(text, old_pieces)
        own = score + shift
        if best is not None:
            own = max(own, best[0] + _MARGIN)
        parts = () if best is None else best[1]
        new_pieces.append((ModelPiece(text, min(max(own, lowest), highest)), parts))
        if len(new_pieces) == n:
            break
    return new_pieces
