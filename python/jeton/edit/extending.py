"""Adding tokens that a corpus asks for: training that continues from the old vocabulary.

Look here for `extend`.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Mapping
from dataclasses import replace

from jeton.arguments import checked_int
from jeton.components import models
from jeton.edit.derivations import joined
from jeton.edit.edit_result import Edited
from jeton.edit.learning import Corpus, learned
from jeton.edit.scores import placed_behind
from jeton.edit.spelling import longest_first, merged_from
from jeton.edit.unigrams import extend_model_file, extend_unigram, with_pieces
from jeton.edit.vocabulary import kept_and_new
from jeton.edit.wordpieces import loses_words
from jeton.errors import ArgumentError, ArgumentTypeError, TrainingError, UnsupportedError
from jeton.loading.model_file import ModelFile
from jeton.tokenizer import Tokenizer
from jeton.training import BPETrainer, WordPieceTrainer

__all__ = ["extend"]


def extend(tok: Tokenizer, corpus: Corpus, n: int, *, min_frequency: int = 2) -> Edited:
    """The tokenizer with `n` more tokens, those that make a corpus shortest.

    A byte pair encoding goes on training from its merges: old merges come first, in their order,
    and new ones are learned from what they leave, so every new token is reachable and texts that
    need none are cut as before; where tokens are characters, new characters of the corpus come
    first, and of more than there is room for only the most frequent. A byte that is no token comes
    before the first new token that holds it.

    WordPiece and Unigram have no order of merges: tokens of a vocabulary trained on the corpus are
    added, in the order of that training; a Unigram piece gets a score just above that of its old
    segmentation, or its own, brought to the scale of the old scores, where that is greater. A
    WordPiece gets no token that might leave a rest of a known word that nothing spells.

    Old tokens keep their ids, new ones come after the largest; only
    of SentencePiece and Unigram models, whose ids are the places of pieces, added tokens behind
    the pieces move on, and the map of ids says so.

    Args:
        tok: The tokenizer.
        corpus: Texts of the new language or domain: an iterable of them, or files as a trainer
            takes them (a path, a pattern, an iterable of `pathlib.Path`).
        n: How many tokens to add. A corpus may support fewer; a `TrainingWarning` says so.
        min_frequency: A pair of a byte pair encoding that occurs less often is not merged.

    Raises:
        ArgumentTypeError: A corpus that is neither texts nor paths.
        MissingFileError: There is no such file.
        TrainingError: A corpus without words.
        UnsupportedError: A model of whole words or of characters; a SentencePiece model of merges
            with a character map that merges alone cannot follow.

    Source: Purason et al., "Teaching Old Tokenizers New Words: Efficient Tokenizer Adaptation for
        Pre-trained Models", 2025.

    Example:
        >>> import jeton
        >>> from jeton import edit
        >>> tok = jeton.BPETrainer(260, pattern="gpt4").train(["the then there"] * 9)
        >>> edited = edit.extend(tok, ["vesi on vett"] * 9, 3)
        >>> edited.tok.encode("vett"), edited.tok.merges[:4] == tok.merges
        ([260, 83, 83], True)
        >>> [tok.token_spelling(id) for id in edited.id_map.made_of[260]]
        [b'v', b'e']
    """
    if not isinstance(tok, Tokenizer):
        raise ArgumentTypeError(f"tok must be a Tokenizer, not {type(tok).__name__}")
    n = checked_int("n", n, 1)
    min_frequency = checked_int("min_frequency", min_frequency, 0)
    if isinstance(corpus, (bytes, Mapping)) or not isinstance(corpus, (Iterable, os.PathLike)):
        raise ArgumentTypeError(
            f"corpus must be an iterable of texts or a path, not {type(corpus).__name__}"
        )
    model = tok.model
    if isinstance(model, models.BPE):
        return _bpe(tok, model, corpus, n, min_frequency)
    if isinstance(model, models.WordPiece):
        return _wordpiece(tok, model, corpus, n)
    if isinstance(model, models.Unigram):
        return extend_unigram(tok, model, corpus, n)
    if isinstance(model, models.SentencePiece):
        file = ModelFile.parse(model.proto)
        if file.kind == "bpe":
            return _sentencepiece_bpe(tok, file, corpus, n, min_frequency)
        if file.kind == "unigram":
            return extend_model_file(tok, file, corpus, n)
    raise UnsupportedError(
        f"extend knows byte pair encodings, WordPiece and Unigram; this model is "
        f"{type(model).__name__} (train a new one, and see merge)"
    )


def _bpe(tok: Tokenizer, model: models.BPE, corpus: Corpus, n: int, min_frequency: int) -> Edited:
    known = {_bytes(token): id for token, id in model.vocab.items()}
    # Training would add all bytes that are missing, such as those that UTF-8 never has.
    every = {bytes([byte]) for byte in range(256)} if model.alphabet == "bytes" else set()
    missing = every - known.keys()
    trained = _continued(tok, corpus, n + len(missing), min_frequency)
    assert isinstance(trained.model, models.BPE)
    learned_ids = {_bytes(token): id for token, id in trained.model.vocab.items()}
    added = {
        token: id
        for token, id in sorted(learned_ids.items(), key=lambda item: item[1])
        if id > tok.max_id
    }
    new = trained
    if model.merges is None:
        new = tok.replace(model=models.BPE({**known, **added}, None))
    elif missing:
        learned = [token for token in added if token not in missing]
        added = {
            token: id for id, token in enumerate(_with_bytes(learned, missing, n), tok.max_id + 1)
        }
        vocab = {**known, **added}
        merges = [pair for pair in trained.merges if {*pair, joined(pair, model)} <= vocab.keys()]
        new = tok.replace(model=replace(model, vocab=vocab, merges=merges))
    prefix = (model.continuing_subword_prefix or "").encode()
    made_of = merged_from(added, trained.merges, known, prefix)
    return kept_and_new(tok, new, made_of, list(added))


def _with_bytes(learned: Iterable[bytes], missing: set[bytes], n: int) -> list[bytes]:
    """The first learned tokens, each behind those of its bytes that are missing, `n` in all."""
    tokens: dict[bytes, None] = {}
    for token in learned:
        units = {bytes([byte]) for byte in token} & missing
        more = [*sorted(units - tokens.keys()), token]
        if len(tokens) + len(more) > n:
            break
        tokens.update(dict.fromkeys(more))
    return list(tokens)


def _continued(tok: Tokenizer, corpus: Corpus, n: int, min_frequency: int) -> Tokenizer:
    """Training that goes on from the merges there are."""

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
        raise UnsupportedError(f"extend cannot go on from this model: {error}") from None
    counts = first.count(corpus)
    try:
        return first.train(counts)
    except TrainingError:
        model = tok.model
        if not len(counts) or (isinstance(model, models.BPE) and model.alphabet == "bytes"):
            raise
        # More characters are new than tokens may be.
        for common in (n // 2, n // 4, 0):
            with contextlib.suppress(TrainingError):
                return trainer(common).train(counts)
        raise


def _wordpiece(tok: Tokenizer, model: models.WordPiece, corpus: Corpus, n: int) -> Edited:
    prefix = model.continuing_subword_prefix
    known = {_text(token): id for token, id in model.vocab.items()}

    def trainer(size: int) -> WordPieceTrainer:
        return WordPieceTrainer(
            size,
            normalizer=tok.normalizer,
            pre_tokenizer=tok.pre_tokenizer,
            special_tokens=[model.unk_token],
            unk_token=model.unk_token,
            continuing_subword_prefix=prefix,
        )

    counts = trainer(2 * n + 1_000).count(corpus)
    if not len(counts):
        raise TrainingError("the corpus has no words to learn from")
    loses = loses_words(known, prefix)

    def safe(trained: Tokenizer) -> list[str]:
        return [text for text in _texts(trained) if text in known or not loses(text)]

    trained = learned(lambda size: trainer(size).train(counts), safe, known, n)
    found = [text for text in safe(trained) if text not in known][:n]
    start = tok.max_id + 1
    vocab = dict(model.vocab)
    made_of = {}
    for id, text in enumerate(found, start):
        vocab[text.encode()] = id  # type: ignore[index]
        made_of[id] = longest_first(text, known, prefix)
    new = tok.replace(model=replace(model, vocab=vocab))
    return kept_and_new(tok, new, made_of, [text.encode() for text in found])


def _texts(trained: Tokenizer) -> list[str]:
    """The tokens of a training, in its order."""
    special = set(trained.special_tokens.values())
    listed = sorted(trained.vocab.items(), key=lambda item: item[1])
    return [_text(token) for token, id in listed if id not in special]


def _sentencepiece_bpe(
    tok: Tokenizer, file: ModelFile, corpus: Corpus, n: int, min_frequency: int
) -> Edited:
    trained = _continued(tok, corpus, n, min_frequency)
    known = tok.vocab
    found = [
        token
        for token, _ in sorted(trained.vocab.items(), key=lambda item: item[1])
        if token not in known
    ]
    more, unreached = placed_behind(file.pieces, [token.decode() for token in found])
    ids = {piece.text.encode(): len(file.pieces) + at for at, piece in enumerate(more)}
    made_of = merged_from(ids, trained.merges, known, b"")
    edited = with_pieces(tok, file, more, made_of)
    return replace(edited, left_out=tuple(text.encode() for text in unreached))


def _bytes(token: bytes | str) -> bytes:
    return token.encode() if isinstance(token, str) else token


def _text(token: bytes | str) -> str:
    return token.decode("utf-8", "surrogateescape") if isinstance(token, bytes) else token
