"""Merges two vocabularies: the first one, plus the tokens that only the second has.

Look here for `merge`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from jeton.arguments import check_kind
from jeton.components import models
from jeton.edit.derivations import apply_merges, join, symbols
from jeton.edit.edit_result import Edited
from jeton.edit.scores import with_scores
from jeton.edit.spelling import best_path, longest_first, merged_by_scores, merged_from, token_text
from jeton.edit.vocabulary import OF_PIECES, kept_and_new, pieces_of, with_new_pieces
from jeton.edit.wordpieces import loses_words
from jeton.errors import ArgumentError, UnsupportedError
from jeton.loading.model_file import NORMAL, USER_DEFINED, ModelFile
from jeton.results.vocabulary import bytes_of
from jeton.tokenizer import Tokenizer


def merge(a: Tokenizer, b: Tokenizer) -> Edited:
    """The first tokenizer plus the tokens that only the second has.

    Tokens of `a` keep their ids, and the result has the stages of `a` (normalizer, pattern, special
    tokens); new tokens come after the largest id. In a byte pair encoding, the merges of `b` follow
    those of `a`: they only apply to symbols that `a` leaves unmerged, and tokens of `b` that can
    never result from this are left out. A WordPiece gets all new tokens except those that could
    make a known word unknown. The new pieces of a Unigram model keep their scores from `b`.

    Args:
        a: The tokenizer to add to.
        b: A tokenizer of the same family.

    Raises:
        ArgumentError: The families or the alphabets differ.
        UnsupportedError: Vocabularies of this family cannot be merged.

    Example:
        >>> import jeton
        >>> from jeton import edit
        >>> english = jeton.BPETrainer(258, pattern="gpt4").train(["the the then"])
        >>> estonian = jeton.BPETrainer(258, pattern="gpt4").train(["vesi vesi on"])
        >>> both = edit.merge(english, estonian)
        >>> both.tok.encode("the"), [both.tok.vocab.spelling(id) for id in both.tok.encode("vesi")]
        ([257], [b'ves', b'i'])
    """
    for name, tok in (("a", a), ("b", b)):
        check_kind(name, tok, Tokenizer, "a Tokenizer")
    first, second = a.stages.model, b.stages.model
    if type(first) is not type(second):
        raise ArgumentError(
            f"a is {type(first).__name__} and b is {type(second).__name__}: only vocabularies of "
            "the same family can be merged"
        )
    if isinstance(first, models.BPE) and isinstance(second, models.BPE):
        return _bpe(a, b, first, second)
    if isinstance(first, models.WordPiece) and isinstance(second, models.WordPiece):
        if first.continuing_subword_prefix != second.continuing_subword_prefix:
            raise ArgumentError(
                f"a marks continuing tokens with {first.continuing_subword_prefix!r}, b with "
                f"{second.continuing_subword_prefix!r}"
            )
        return _append(a, first, _new_tokens(first.vocab, second.vocab, b.special_tokens))
    if isinstance(first, models.WordLevel) and isinstance(second, models.WordLevel):
        return _append(a, first, _new_tokens(first.vocab, second.vocab, b.special_tokens))
    if isinstance(first, OF_PIECES) and isinstance(second, OF_PIECES):
        return _pieces(a, b, pieces_of(first), pieces_of(second))
    raise UnsupportedError(f"vocabularies of {type(first).__name__} cannot be merged")


def _new_tokens(
    first: Mapping[bytes, int] | Mapping[str, int] | Mapping[bytes | str, int],
    second: Mapping[bytes, int] | Mapping[str, int] | Mapping[bytes | str, int],
    special: Iterable[str],
) -> list[bytes]:
    not_new = {bytes_of(token) for token in first} | {name.encode() for name in special}
    in_order = sorted(((id, bytes_of(token)) for token, id in second.items()))
    return [token for _, token in in_order if token not in not_new]


def _append(
    a: Tokenizer, model: models.WordPiece | models.WordLevel, tokens: list[bytes]
) -> Edited:
    old_ids = {token_text(token): id for token, id in model.vocab.items()}
    left_out: list[bytes] = []
    if isinstance(model, models.WordPiece):
        loses = loses_words(old_ids, model.continuing_subword_prefix)
        left_out = [token for token in tokens if loses(token_text(token))]
        tokens = [token for token in tokens if not loses(token_text(token))]
    vocab = {bytes_of(token): id for token, id in model.vocab.items()}
    vocab.update((token, a.vocab.max_id + 1 + number) for number, token in enumerate(tokens))
    made_of: dict[int, tuple[int, ...]] = {vocab[token]: () for token in tokens}
    if isinstance(model, models.WordPiece):
        prefix = model.continuing_subword_prefix
        made_of = {
            vocab[token]: longest_first(token_text(token), old_ids, prefix) for token in tokens
        }
    new = a.replace(model=replace(model, vocab=vocab))
    return kept_and_new(a, new, made_of, tokens, left_out)


def _bpe(a: Tokenizer, b: Tokenizer, first: models.BPE, second: models.BPE) -> Edited:
    settings = ("alphabet", "byte_fallback", "continuing_subword_prefix", "end_of_word_suffix")
    for name in settings:
        if getattr(first, name) != getattr(second, name):
            raise ArgumentError(
                f"a has {name}={getattr(first, name)!r} and b has {getattr(second, name)!r}: their "
                "tokens have different spellings"
            )
    vocab = {bytes_of(token): id for token, id in first.vocab.items()}
    next_id = a.vocab.max_id + 1
    merges, new_tokens, left_out = list(a.vocab.merges), [], []
    special = {name.encode() for name in b.special_tokens}
    old_merges = set(merges)
    alphabet = {bytes_of(token) for token in second.vocab}
    alphabet -= {join(pair, first) for pair in b.vocab.merges}
    for token in sorted(alphabet - set(vocab) - special):
        if first.alphabet == "characters" or len(token) == 1:
            vocab[token] = next_id
            new_tokens.append(token)
            next_id += 1
    ranks = {pair: rank for rank, pair in enumerate(merges)}
    for pair in b.vocab.merges:
        token = join(pair, first)
        if pair in old_merges or token in special:
            continue
        if token in vocab or pair[0] not in vocab or pair[1] not in vocab:
            if token not in vocab:
                left_out.append(token)
            continue
        # If earlier merges use its symbols, the pair never occurs, and no text gets its token.
        row = symbols(pair[0], first) + symbols(pair[1], first)
        if apply_merges(row, ranks, first) != list(pair):
            left_out.append(token)
            continue
        vocab[token] = next_id
        ranks[pair] = len(merges)
        merges.append(pair)
        new_tokens.append(token)
        next_id += 1
    if first.merges is None:
        model = models.BPE(vocab, None)
    else:
        model = replace(first, vocab=vocab, merges=merges)
    old_ids = {bytes_of(token): id for token, id in first.vocab.items()}
    prefix = (first.continuing_subword_prefix or "").encode()
    made_of = merged_from({token: vocab[token] for token in new_tokens}, merges, old_ids, prefix)
    new = a.replace(model=model)
    return kept_and_new(a, new, made_of, new_tokens, tuple(dict.fromkeys(left_out)))


def _pieces(a: Tokenizer, b: Tokenizer, first: ModelFile, second: ModelFile) -> Edited:
    if first.kind != second.kind:
        raise ArgumentError(f"a is a SentencePiece {first.kind} model and b a {second.kind} one")
    not_new = {piece.text for piece in first.pieces} | {*b.special_tokens}
    more = [piece for piece in second.pieces if piece.kind == NORMAL and piece.text not in not_new]
    left_out: list[bytes] = []
    if first.kind == "bpe":
        by_score = sorted(more, key=lambda piece: -piece.score)
        more, unreached = with_scores(first.pieces, [piece.text for piece in by_score])
        left_out = [text.encode() for text in unreached]
    made_of = _parts_of_pieces(first, [piece.text for piece in more])
    return with_new_pieces(a, more, made_of, left_out)


def _parts_of_pieces(file: ModelFile, texts: Sequence[str]) -> dict[int, tuple[int, ...]]:
    """For the id of each new piece, the old ids that spell it."""
    pieces = {
        piece.text: (id, piece.score)
        for id, piece in enumerate(file.pieces)
        if piece.kind in (NORMAL, USER_DEFINED)
    }
    if file.kind == "bpe":
        scores = {piece.text: piece.score for piece in file.pieces if piece.kind == NORMAL}
        ids = {piece.text.encode(): id for id, piece in enumerate(file.pieces)}
        parts = [merged_by_scores(text, scores, ids) for text in texts]
    elif file.kind == "unigram":
        paths = [best_path(text, pieces) for text in texts]
        parts = [() if path is None else path[1] for path in paths]
    else:
        parts = [()] * len(texts)
    return dict(enumerate(parts, len(file.pieces)))
