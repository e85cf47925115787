"""Two vocabularies as one: the first, and what the second has beyond it.

Look here for `merge`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from jeton.components import models
from jeton.edit.derivations import joined, merged, symbols
from jeton.edit.edit_result import Edited
from jeton.edit.scores import placed_behind
from jeton.edit.spelling import best_path, longest_first, merged_by_scores, merged_from
from jeton.edit.vocabulary import kept_and_new, lengthened
from jeton.edit.wordpieces import loses_words
from jeton.errors import ArgumentError, ArgumentTypeError, UnsupportedError
from jeton.loading.model_file import NORMAL, USER_DEFINED, ModelFile
from jeton.tokenizer import Tokenizer

__all__ = ["merge"]


def merge(a: Tokenizer, b: Tokenizer) -> Edited:
    """The first tokenizer with the tokens that only the second has.

    Tokens of `a` keep their ids, and its stages (normalizer, pattern, special tokens) are those of
    the result; new tokens come after the largest id. In a byte pair encoding the merges of `b`
    follow those of `a`: a text that `a` cuts shorter than any merge of `b` allows is cut as before,
    and tokens of `b` that the merges of `a` never let arise are left out. WordPiece takes all new
    tokens but those that might make a known word unknown; of a Unigram model pieces keep the
    scores they have in `b`.

    Args:
        a: The tokenizer that is kept.
        b: One of the same family.

    Raises:
        ArgumentError: Two families, or two alphabets.
        UnsupportedError: A family whose vocabularies cannot be joined.

    Example:
        >>> import jeton
        >>> from jeton import edit
        >>> english = jeton.BPETrainer(258, pattern="gpt4").train(["the the then"])
        >>> estonian = jeton.BPETrainer(258, pattern="gpt4").train(["vesi vesi on"])
        >>> both = edit.merge(english, estonian)
        >>> both.tok.encode("the"), [both.tok.token_spelling(id) for id in both.tok.encode("vesi")]
        ([257], [b'ves', b'i'])
    """
    for name, tok in (("a", a), ("b", b)):
        if not isinstance(tok, Tokenizer):
            raise ArgumentTypeError(f"{name} must be a Tokenizer, not {type(tok).__name__}")
    first, second = a.model, b.model
    if type(first) is not type(second):
        raise ArgumentError(
            f"a is {type(first).__name__} and b is {type(second).__name__}: only vocabularies of "
            "one family can be joined"
        )
    if isinstance(first, models.BPE) and isinstance(second, models.BPE):
        return _bpe(a, b, first, second)
    if isinstance(first, models.WordPiece) and isinstance(second, models.WordPiece):
        if first.continuing_subword_prefix != second.continuing_subword_prefix:
            raise ArgumentError(
                f"a marks continuing tokens by {first.continuing_subword_prefix!r}, b by "
                f"{second.continuing_subword_prefix!r}"
            )
        return _appended(a, first, _new(first.vocab, second.vocab, b.special_tokens))
    if isinstance(first, models.WordLevel) and isinstance(second, models.WordLevel):
        return _appended(a, first, _new(first.vocab, second.vocab, b.special_tokens))
    if isinstance(first, models.Unigram) and isinstance(second, models.Unigram):
        known = {_bytes(piece) for piece, _ in first.pieces}
        special = {name.encode() for name in b.special_tokens}
        more = [
            (_bytes(piece), score)
            for piece, score in second.pieces
            if _bytes(piece) not in known | special
        ]
        model = replace(first, pieces=[*first.pieces, *more])
        new = lengthened(a, model, len(first.pieces), len(more))
        scored = {_text(piece): (id, score) for id, (piece, score) in enumerate(first.pieces)}
        added = [piece for piece, _ in more]
        made_of = {
            id: path[1] if (path := best_path(_text(piece), scored)) is not None else ()
            for id, piece in enumerate(added, len(first.pieces))
        }
        return kept_and_new(a, new, made_of, added, pieces=len(first.pieces))
    if isinstance(first, models.SentencePiece) and isinstance(second, models.SentencePiece):
        return _sentencepiece(a, ModelFile.parse(first.proto), ModelFile.parse(second.proto))
    raise UnsupportedError(f"vocabularies of {type(first).__name__} cannot be joined")


def _bytes(token: bytes | str) -> bytes:
    return token.encode() if isinstance(token, str) else token


def _text(token: bytes | str) -> str:
    return token.decode("utf-8", "surrogateescape") if isinstance(token, bytes) else token


def _new(
    first: Mapping[bytes, int] | Mapping[str, int] | Mapping[bytes | str, int],
    second: Mapping[bytes, int] | Mapping[str, int] | Mapping[bytes | str, int],
    special: Iterable[str],
) -> list[bytes]:
    known = {_bytes(token) for token in first} | {name.encode() for name in special}
    listed = sorted(((id, _bytes(token)) for token, id in second.items()))
    return [token for _, token in listed if token not in known]


def _appended(
    a: Tokenizer, model: models.WordPiece | models.WordLevel, tokens: list[bytes]
) -> Edited:
    known = {_text(token): id for token, id in model.vocab.items()}
    left_out: list[bytes] = []
    if isinstance(model, models.WordPiece):
        loses = loses_words(known, model.continuing_subword_prefix)
        left_out = [token for token in tokens if loses(_text(token))]
        tokens = [token for token in tokens if not loses(_text(token))]
    vocab = {_bytes(token): id for token, id in model.vocab.items()}
    vocab.update((token, a.max_id + 1 + number) for number, token in enumerate(tokens))
    made_of: dict[int, tuple[int, ...]] = {vocab[token]: () for token in tokens}
    if isinstance(model, models.WordPiece):
        prefix = model.continuing_subword_prefix
        made_of = {vocab[token]: longest_first(_text(token), known, prefix) for token in tokens}
    new = a.replace(model=replace(model, vocab=vocab))
    return kept_and_new(a, new, made_of, tokens, left_out)


def _bpe(a: Tokenizer, b: Tokenizer, first: models.BPE, second: models.BPE) -> Edited:
    settings = ("alphabet", "byte_fallback", "continuing_subword_prefix", "end_of_word_suffix")
    for name in settings:
        if getattr(first, name) != getattr(second, name):
            raise ArgumentError(
                f"a has {name}={getattr(first, name)!r} and b has {getattr(second, name)!r}: their "
                "tokens are not spelled alike"
            )
    vocab = {_bytes(token): id for token, id in first.vocab.items()}
    own = a.merges
    following = a.max_id + 1
    merges, added, left_out = list(own), [], []
    special = {name.encode() for name in b.special_tokens}
    there = set(own)
    alphabet = {_bytes(token) for token in second.vocab} - {
        joined(pair, first) for pair in b.merges
    }
    for token in sorted(alphabet - set(vocab) - special):
        if first.alphabet == "characters" or len(token) == 1:
            vocab[token] = following
            added.append(token)
            following += 1
    ranks = {pair: rank for rank, pair in enumerate(merges)}
    for pair in b.merges:
        token = joined(pair, first)
        if pair in there or token in special:
            continue
        if token in vocab or pair[0] not in vocab or pair[1] not in vocab:
            if token not in vocab:
                left_out.append(token)
            continue
        # A pair that earlier merges part never meets, and no text would reach its token.
        row = symbols(pair[0], first) + symbols(pair[1], first)
        if merged(row, ranks, first) != list(pair):
            left_out.append(token)
            continue
        vocab[token] = following
        ranks[pair] = len(merges)
        merges.append(pair)
        added.append(token)
        following += 1
    if first.merges is None:
        model = models.BPE(vocab, None)
    else:
        model = replace(first, vocab=vocab, merges=merges)
    known = {_bytes(token): id for token, id in first.vocab.items()}
    prefix = (first.continuing_subword_prefix or "").encode()
    made_of = merged_from({token: vocab[token] for token in added}, merges, known, prefix)
    new = a.replace(model=model)
    return kept_and_new(a, new, made_of, added, tuple(dict.fromkeys(left_out)))


def _sentencepiece(a: Tokenizer, first: ModelFile, second: ModelFile) -> Edited:
    if first.kind != second.kind:
        raise ArgumentError(f"a is a SentencePiece {first.kind} model and b a {second.kind} one")
    known = {piece.text for piece in first.pieces}
    more = [piece for piece in second.pieces if piece.kind == NORMAL and piece.text not in known]
    left_out: list[bytes] = []
    if first.kind == "bpe":
        ordered = sorted(more, key=lambda piece: -piece.score)
        more, unreached = placed_behind(first.pieces, [piece.text for piece in ordered])
        left_out = [text.encode() for text in unreached]
    changed = models.SentencePiece(first.with_pieces([*first.pieces, *more]))
    new = lengthened(a, changed, len(first.pieces), len(more))
    added = [piece.text.encode() for piece in more]
    made_of = _spelled_by_pieces(first, [piece.text for piece in more])
    return kept_and_new(a, new, made_of, added, left_out, pieces=len(first.pieces))


def _spelled_by_pieces(file: ModelFile, texts: Sequence[str]) -> dict[int, tuple[int, ...]]:
    known = {
        piece.text: (id, piece.score)
        for id, piece in enumerate(file.pieces)
        if piece.kind in (NORMAL, USER_DEFINED)
    }
    if file.kind == "bpe":
        scores = {piece.text: piece.score for piece in file.pieces if piece.kind == NORMAL}
        ids = {piece.text.encode(): id for id, piece in enumerate(file.pieces)}
        spelled = [merged_by_scores(text, scores, ids) for text in texts]
    elif file.kind == "unigram":
        paths = [best_path(text, known) for text in texts]
        spelled = [() if path is None else path[1] for path in paths]
    else:
        spelled = [()] * len(texts)
    return dict(enumerate(spelled, len(file.pieces)))
