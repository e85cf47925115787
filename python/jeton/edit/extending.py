"""Adding tokens that a corpus asks for: training that continues from the old vocabulary.

Look here for `extend`.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from jeton import BPETrainer, Tokenizer, UnigramTrainer, WordPieceTrainer
from jeton.arguments import checked_int
from jeton.components import models
from jeton.edit.edited import Edited
from jeton.edit.pieces import NORMAL, USER_DEFINED, ModelFile, Piece
from jeton.edit.vocabulary import id_map_of
from jeton.errors import ArgumentTypeError, TrainingWarning, UnsupportedError

__all__ = ["extend"]


def extend(tok: Tokenizer, corpus: Iterable[str], n: int, *, min_frequency: int = 2) -> Edited:
    """The tokenizer with `n` more tokens, those that make a corpus shortest.

    A byte pair encoding goes on training from its merges: old merges come first, in their order,
    and new ones are learned from what they leave, so every new token is reachable and texts that
    need none are cut as before. WordPiece and Unigram have no order of merges: tokens of a
    vocabulary trained on the corpus are added, in the order of that training; a Unigram piece gets
    a score just above that of its old segmentation, or its own, brought to the scale of the old
    scores, where that is greater. Old tokens keep their ids, new ones come after the largest.

    Args:
        tok: The tokenizer.
        corpus: Texts of the new language or domain.
        n: How many tokens to add. A corpus may support fewer; a `TrainingWarning` says so.
        min_frequency: A pair of a byte pair encoding that occurs less often is not merged.

    Raises:
        ArgumentTypeError: A corpus that is no iterable of texts.
        TrainingError: A corpus without words.
        UnsupportedError: A model of whole words or of characters.

    Source: Purason et al., "Teaching Old Tokenizers New Words: Efficient Tokenizer Adaptation for
        Pre-trained Models", 2025.

    Example:
        >>> import jeton
        >>> from jeton import edit
        >>> tok = jeton.BPETrainer(260, pattern="gpt4").train(["the then there"] * 9)
        >>> edited = edit.extend(tok, ["vesi on vett"] * 9, 3)
        >>> edited.tok.encode("vett"), edited.tok.merges[:4] == tok.merges
        ([260, 83, 83], True)
        >>> [tok.id_to_bytes(id) for id in edited.id_map.made_of[260]]
        [b'v', b'e']
    """
    n = checked_int("n", n, 1)
    if isinstance(corpus, (str, bytes)) or not isinstance(corpus, Iterable):
        raise ArgumentTypeError(f"corpus must be an iterable of texts, not {type(corpus).__name__}")
    texts = list(corpus)
    model = tok.model
    if isinstance(model, models.BPE):
        return _bpe(tok, model, texts, n, min_frequency)
    if isinstance(model, models.WordPiece):
        return _wordpiece(tok, model, texts, n)
    if isinstance(model, models.Unigram):
        return _unigram(tok, model, texts, n)
    if isinstance(model, models.SentencePiece):
        file = ModelFile.parse(model.proto)
        if file.kind == "bpe":
            return _sentencepiece_bpe(tok, file, texts, n, min_frequency)
        if file.kind == "unigram":
            return _sentencepiece_unigram(tok, file, texts, n)
    raise UnsupportedError(
        f"extend knows byte pair encodings, WordPiece and Unigram; this model is "
        f"{type(model).__name__} (train a new one, and see merge)"
    )


def _bpe(tok: Tokenizer, model: models.BPE, texts: list[str], n: int, min_frequency: int) -> Edited:
    trained = BPETrainer(new_tokens=n, start_from=tok, min_frequency=min_frequency).train(texts)
    known = tok.vocab
    added = {token: id for token, id in trained.vocab.items() if token not in known}
    new = trained
    if model.merges is None:
        own = {_bytes(token): id for token, id in model.vocab.items()}
        new = tok.replace(model=models.BPE({**own, **added}, None))
    made_of = _spelled(
        added, trained.merges, known, (model.continuing_subword_prefix or "").encode()
    )
    return _edited(tok, new, made_of, list(added))


def _spelled(
    added: Mapping[bytes, int],
    merges: Sequence[tuple[bytes, bytes]],
    known: Mapping[bytes, int],
    prefix: bytes,
) -> dict[int, tuple[int, ...]]:
    """For each new id, the old ids of the tokens that it is merged from in the end."""
    parts: dict[bytes, tuple[bytes, bytes]] = {}
    for left, right in merges:
        parts.setdefault(
            left + right.removeprefix(prefix) if prefix else left + right, (left, right)
        )
    spelled: dict[bytes, tuple[int, ...]] = {token: (id,) for token, id in known.items()}
    for token in added:  # in the order of merges, so that what a token is merged from is there
        left, right = parts.get(token, (b"", b""))
        spelled[token] = spelled.get(left, ()) + spelled.get(right, ())
    return {id: spelled[token] for token, id in added.items()}


def _wordpiece(tok: Tokenizer, model: models.WordPiece, texts: list[str], n: int) -> Edited:
    prefix = model.continuing_subword_prefix
    known = {_text(token): id for token, id in model.vocab.items()}

    def train(size: int) -> Tokenizer:
        return WordPieceTrainer(
            size,
            normalizer=tok.normalizer,
            pre_tokenizer=tok.pre_tokenizer,
            special_tokens=[model.unk_token],
            unk_token=model.unk_token,
            continuing_subword_prefix=prefix,
        ).train(texts)

    found = _new_tokens(train, known, n)
    start = tok.max_id + 1
    vocab = dict(model.vocab)
    made_of = {}
    for id, text in enumerate(found, start):
        vocab[text.encode()] = id  # type: ignore[index]
        made_of[id] = _longest_first(text, known, prefix)
    new = tok.replace(model=replace(model, vocab=vocab))
    return _edited(tok, new, made_of, [text.encode() for text in found])


def _longest_first(text: str, known: Mapping[str, int], prefix: str) -> tuple[int, ...]:
    ids: list[int] = []
    inside = text.startswith(prefix)
    rest = text.removeprefix(prefix)
    while rest:
        for end in range(len(rest), 0, -1):
            id = known.get((prefix if inside else "") + rest[:end])
            if id is not None:
                ids.append(id)
                rest, inside = rest[end:], True
                break
        else:
            return ()
    return tuple(ids)


def _new_tokens(train: Callable[[int], Tokenizer], known: Mapping[str, int], n: int) -> list[str]:
    """The first `n` tokens that a training gives and that are not known, in its order."""
    size, before = 2 * n + 1_000, -1
    while True:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", TrainingWarning)
            trained = train(size)
        tokens = [
            _text(token)
            for token, id in sorted(trained.vocab.items(), key=lambda item: item[1])
            if id not in trained.special_tokens.values()
        ]
        found = [text for text in tokens if text not in known]
        if len(found) >= n or trained.vocab_size == before:
            return found[:n]
        size, before = 2 * size, trained.vocab_size


def _unigram(tok: Tokenizer, model: models.Unigram, texts: list[str], n: int) -> Edited:
    known = {_text(piece): (id, score) for id, (piece, score) in enumerate(model.pieces)}
    added = [token for token in tok.added_tokens if token.id is not None]
    behind = [token for token in added if token.id is not None and token.id >= len(model.pieces)]
    if behind:
        raise UnsupportedError(
            f"the added token {behind[0].content!r} has an id behind the pieces of the Unigram "
            "model, where new pieces would go; add such tokens after extending"
        )

    def train(size: int) -> Tokenizer:
        return UnigramTrainer(
            size,
            style="huggingface",
            normalizer=tok.normalizer or "identity",
            pre_tokenizer=tok.pre_tokenizer,
            hard_vocab_limit=False,
        ).train(texts)

    trained = _trained_unigram(train, known, n)
    scores = {_text(piece): score for piece, score in _unigram_pieces(trained)}
    found = _scored(scores, known, n)
    pieces = [*model.pieces, *((text.encode(), score) for text, score, _ in found)]
    start = len(model.pieces)
    new = tok.replace(model=replace(model, pieces=pieces))
    made_of = {start + at: parts for at, (_, _, parts) in enumerate(found)}
    return _edited(tok, new, made_of, [text.encode() for text, _, _ in found])


def _unigram_pieces(tok: Tokenizer) -> list[tuple[bytes | str, float]]:
    model = tok.model
    if isinstance(model, models.SentencePiece):
        file = ModelFile.parse(model.proto)
        return [(piece.text, piece.score) for piece in file.pieces if piece.kind == NORMAL]
    assert isinstance(model, models.Unigram)
    special = {token.encode() for token in tok.special_tokens}
    return [(piece, score) for piece, score in model.pieces if _text(piece).encode() not in special]


def _trained_unigram(
    train: Callable[[int], Tokenizer], known: Mapping[str, object], n: int
) -> Tokenizer:
    size, before = 2 * n + 1_000, -1
    while True:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", TrainingWarning)
            trained = train(size)
        new = sum(_text(piece) not in known for piece, _ in _unigram_pieces(trained))
        if new >= n or trained.vocab_size == before:
            return trained
        size, before = 2 * size, trained.vocab_size


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
    weight = sum(share for _, share in shared)
    shift = sum(apart * share for apart, share in shared) / weight if weight else 0.0
    found: list[tuple[str, float, tuple[int, ...]]] = []
    for text, score in sorted(trained.items(), key=lambda item: (-item[1], item[0])):
        if text in known:
            continue
        best = _best_path(text, known)
        own = score + shift
        if best is None:
            found.append((text, own, ()))
        else:
            found.append((text, max(own, best[0] + _MARGIN), best[1]))
        if len(found) == n:
            break
    return found


def _best_path(
    text: str, known: Mapping[str, tuple[int, float]]
) -> tuple[float, tuple[int, ...]] | None:
    """The score and the ids of the best segmentation, if there is one."""
    ways: list[tuple[float, tuple[int, ...]] | None] = [(0.0, ())] + [None] * len(text)
    for start in range(len(text)):
        here = ways[start]
        if here is None:
            continue
        for end in range(start + 1, len(text) + 1):
            piece = known.get(text[start:end])
            there = ways[end]
            if piece is not None and (there is None or here[0] + piece[1] > there[0]):
                ways[end] = (here[0] + piece[1], (*here[1], piece[0]))
    return ways[-1]


def _sentencepiece_bpe(
    tok: Tokenizer, file: ModelFile, texts: list[str], n: int, min_frequency: int
) -> Edited:
    trained = BPETrainer(new_tokens=n, start_from=tok, min_frequency=min_frequency).train(texts)
    known = tok.vocab
    found = [
        token
        for token, _ in sorted(trained.vocab.items(), key=lambda item: item[1])
        if token not in known
    ]
    lowest = min((piece.score for piece in file.pieces if piece.kind == NORMAL), default=0.0)
    more = [Piece(token.decode(), lowest - 1.0 - number) for number, token in enumerate(found)]
    ids = {token: len(file.pieces) + number for number, token in enumerate(found)}
    made_of = _spelled(ids, trained.merges, known, b"")
    return _with_pieces(tok, file, more, made_of)


def _sentencepiece_unigram(tok: Tokenizer, file: ModelFile, texts: list[str], n: int) -> Edited:
    known = {
        piece.text: (id, piece.score)
        for id, piece in enumerate(file.pieces)
        if piece.kind in (NORMAL, USER_DEFINED)
    }
    taken = {piece.text for piece in file.pieces}

    def train(size: int) -> Tokenizer:
        return UnigramTrainer(size, hard_vocab_limit=False).train(texts)

    trained = _trained_unigram(train, known, n)
    scores = {
        _text(piece): score
        for piece, score in _unigram_pieces(trained)
        if piece not in taken or piece in known
    }
    found = _scored(scores, known, n)
    more = [Piece(text, score) for text, score, _ in found]
    start = len(file.pieces)
    made_of = {start + at: parts for at, (_, _, parts) in enumerate(found)}
    return _with_pieces(tok, file, more, made_of)


def _with_pieces(
    tok: Tokenizer, file: ModelFile, more: list[Piece], made_of: dict[int, tuple[int, ...]]
) -> Edited:
    if tok.max_id >= len(file.pieces):
        raise UnsupportedError(
            "this tokenizer has added tokens behind the pieces of its SentencePiece model, where "
            "new pieces would go; add such tokens after extending"
        )
    new = Tokenizer(
        models.SentencePiece(file.with_pieces([*file.pieces, *more])),
        post_processor=tok.post_processor,
    )
    return _edited(tok, new, made_of, [piece.text.encode() for piece in more])


def _edited(
    tok: Tokenizer, new: Tokenizer, made_of: dict[int, tuple[int, ...]], added: list[bytes]
) -> Edited:
    order = [-1] * (tok.max_id + 1)
    for id in tok.vocab.values():
        order[id] = id
    return Edited(new, id_map_of(tok, new, order, made_of), added=tuple(added))


def _bytes(token: bytes | str) -> bytes:
    return token.encode() if isinstance(token, str) else token


def _text(token: bytes | str) -> str:
    return token.decode("utf-8", "surrogateescape") if isinstance(token, bytes) else token
