"""A vocabulary to edit: which tokens need which others, and how to rebuild the tokenizer.

Look here for the tokens that each family must keep, and for how ids are updated in all parts that
hold them: model, merges, added tokens, post-processor.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from jeton.components import AddedToken, models, normalizers, post_processors
from jeton.edit import derivations
from jeton.edit.edit_result import Edited
from jeton.edit.id_map import IdMap
from jeton.edit.spelling import token_text
from jeton.errors import UnsupportedError
from jeton.loading.model_file import BYTE, NORMAL, USER_DEFINED, ModelFile, ModelPiece
from jeton.results.vocabulary import bytes_by_id, bytes_of
from jeton.tokenizer import Tokenizer

_SPACES = {b" ", "▁".encode()}
"""Decoders recognise a space by these tokens, and not by its byte token."""

_BYTE_NAME = re.compile(rb"<0x[0-9A-F]{2}>")

OF_ENTRIES: Final = (
    models.BPE,
    models.PickyBPE,
    models.WordPiece,
    models.WordLevel,
    models.Characters,
    models.LongestMatch,
)
"""The models whose vocabulary is tokens with ids, without scores."""

OF_PIECES: Final = (models.Unigram, models.SentencePiece)
"""The models whose vocabulary is pieces with scores; the position of a piece is its id."""


@dataclass(frozen=True)
class EditableVocabulary:
    """The properties of tokens that decide which of them can be removed.

    Attributes:
        tokens: All ids with the bytes of their tokens.
        fixed: Ids that must be kept: special and added tokens, bytes, single characters that
            nothing else spells, the unknown token.
        needs: For the id of each merged token, the pairs it is merged from.
        learned: The ids of the model's own tokens, in the order of learning.
    """

    tokens: dict[int, bytes]
    fixed: frozenset[int]
    needs: Mapping[int, Sequence[tuple[int, int]]]
    learned: tuple[int, ...]

    @classmethod
    def of(cls, tok: Tokenizer) -> EditableVocabulary:
        """The vocabulary of a tokenizer."""
        tokens = bytes_by_id(tok.vocab)
        added_ids = {token.id for token in tok.stages.added_tokens if token.id is not None}
        if (pad_id := _pad_id(tok.settings.padding)) is not None:
            added_ids |= tokens.keys() & {pad_id}
        model = tok.stages.model
        if isinstance(model, models.BPE):
            fixed, needs, order = _of_bpe(tok, model)
        elif isinstance(model, models.PickyBPE):
            fixed, needs, order = _of_picky_bpe(model)
        elif isinstance(model, models.SentencePiece):
            fixed, needs, order = _of_sentencepiece(model)
        elif isinstance(model, models.Unigram):
            fixed, needs, order = _of_unigram(model)
        elif isinstance(model, models.WordPiece):
            prefix = model.continuing_subword_prefix.encode()
            fixed, needs = set(), {}
            for token, id in model.vocab.items():
                text = bytes_of(token)
                if text == model.unk_token.encode() or _is_character(text.removeprefix(prefix)):
                    fixed.add(id)
            order = sorted(model.vocab.values())
        elif isinstance(model, models.WordLevel):
            unknown = model.unk_token.encode()
            fixed, needs = {id for t, id in model.vocab.items() if bytes_of(t) == unknown}, {}
            order = sorted(model.vocab.values())
        elif isinstance(model, models.Superwords):
            raise _superwords_stay()
        else:
            assert isinstance(model, (models.Characters, models.LongestMatch))
            fixed, needs = set(model.vocab.values()), {}
            order = sorted(model.vocab.values())
        return cls(tokens, frozenset(fixed | added_ids), needs, tuple(order))


def _is_character(token: bytes) -> bool:
    try:
        return len(token.decode()) <= 1
    except UnicodeDecodeError:
        return False


_Parts = tuple[set[int], Mapping[int, Sequence[tuple[int, int]]], Sequence[int]]


def _of_bpe(tok: Tokenizer, model: models.BPE) -> _Parts:
    vocab = {bytes_of(token): id for token, id in model.vocab.items()}
    prefix = (model.continuing_subword_prefix or "").encode()
    suffix = (model.end_of_word_suffix or "").encode()
    unknown = None if model.unk_token is None else model.unk_token.encode()
    needs = derivations.by_merges(vocab, tok.vocab.merges, model)
    fixed = set()
    for token, id in vocab.items():
        bare = token.removeprefix(prefix) if prefix else token
        bare = bare.removesuffix(suffix) if suffix else bare
        if model.alphabet == "bytes":
            stays = len(token) == 1
        elif model.byte_fallback:
            stays = _BYTE_NAME.fullmatch(token) is not None or token in _SPACES
        else:
            stays = _is_character(bare)
        if stays or token == unknown:
            fixed.add(id)
    if model.merges is None:
        return fixed, needs, sorted(vocab.values())
    place: dict[int, int] = {}
    for number, pair in enumerate(tok.vocab.merges):
        result = vocab.get(derivations.join(pair, model), -1)
        place.setdefault(result, number)
    return fixed, needs, sorted(vocab.values(), key=lambda id: (place.get(id, -1), id))


def _of_picky_bpe(model: models.PickyBPE) -> _Parts:
    vocab = {bytes_of(token): id for token, id in model.vocab.items()}
    fixed = {id for token, id in vocab.items() if len(token) == 1}
    needs = {}
    for event in model.events:
        pair = tuple(map(bytes_of, event))
        made = vocab.get(b"".join(pair))
        if made is not None and len(pair) == 2 and pair[0] in vocab and pair[1] in vocab:
            needs[made] = [(vocab[pair[0]], vocab[pair[1]])]
    return fixed, needs, sorted(vocab.values())


def _of_unigram(model: models.Unigram) -> _Parts:
    scores = [score for _, score in model.pieces]
    # An unknown character costs 10 more than the lowest score: with another lowest score, texts
    # with unknown characters might be split in another way.
    fixed = {min(range(len(scores)), key=scores.__getitem__)}
    if model.unk_id is not None:
        fixed.add(model.unk_id)
    for id, (piece, _) in enumerate(model.pieces):
        token = bytes_of(piece)
        if model.byte_fallback:
            stays = _BYTE_NAME.fullmatch(token) is not None or token in _SPACES
        else:
            stays = _is_character(token)
        if stays:
            fixed.add(id)
    return fixed, {}, _by_score(scores)


def _by_score(scores: Sequence[float]) -> list[int]:
    return sorted(range(len(scores)), key=lambda id: (-scores[id], id))


def _of_sentencepiece(model: models.SentencePiece) -> _Parts:
    file = ModelFile.parse(model.proto)
    has_bytes = any(piece.kind == BYTE for piece in file.pieces)
    fixed = {
        id
        for id, piece in enumerate(file.pieces)
        if piece.kind != NORMAL
        or (len(piece.text) <= 1 and not has_bytes)
        or piece.text.encode() in _SPACES
    }
    normal = [id for id, piece in enumerate(file.pieces) if piece.kind == NORMAL]
    needs: Mapping[int, Sequence[tuple[int, int]]] = {}
    if file.kind == "unigram" and normal:
        # The lowest score sets the cost of the unknown, the highest that of user-defined pieces.
        fixed.add(min(normal, key=lambda id: file.pieces[id].score))
        fixed.add(max(normal, key=lambda id: file.pieces[id].score))
    if file.kind == "char":
        fixed.update(normal)
    if file.kind == "bpe":
        ids = {file.pieces[id].text: id for id in normal}
        user = frozenset(p.text for p in file.pieces if p.kind == USER_DEFINED)
        needs = derivations.by_scores(ids, lambda text: file.pieces[ids[text]].score, user)
    return fixed, needs, _by_score([piece.score for piece in file.pieces])


def rebuild(tok: Tokenizer, order: Sequence[int]) -> Tokenizer:
    """The tokenizer whose id i is the old id `order[i]`; other tokens are removed."""
    new = {old: id for id, old in enumerate(order)}
    added_tokens = [
        replace(token, id=new[token.id])
        for token in tok.stages.added_tokens
        if token.id is not None and token.id in new
    ]
    model = tok.stages.model
    if isinstance(model, models.SentencePiece):
        added_tokens.sort(key=lambda token: token.id or 0)  # as in the file
        new_model: models.Model = _rebuild_sentencepiece(model, order)
    else:
        new_model = _renumber(tok, model, new)
    return _with_symbols_in_order(with_model(tok, new_model, new, added_tokens))


def _with_symbols_in_order(tok: Tokenizer) -> Tokenizer:
    """The tokenizer with the normalizer's user-defined symbols in the order of their pieces."""
    normalizer = tok.stages.normalizer
    if not isinstance(normalizer, normalizers.SentencePiece):
        return tok
    symbols = normalizer.user_defined_symbols
    in_order = tuple(sorted(symbols, key=tok.vocab.__getitem__))
    if in_order == symbols:
        return tok
    return tok.replace(normalizer=replace(normalizer, user_defined_symbols=in_order))


def with_model(
    tok: Tokenizer,
    model: models.Model,
    new: Mapping[int, int],
    added_tokens: Sequence[AddedToken],
) -> Tokenizer:
    """The tokenizer with another model, and with the new ids of tokens in all other parts."""
    padding = tok.settings.padding
    if padding is not None and (pad_id := _pad_id(padding)) is not None:
        padding["pad_id"] = new.get(pad_id, pad_id)
    return tok.replace(
        model=model,
        added_tokens=added_tokens,
        post_processor=with_tokens(tok.stages.post_processor, ids=new),
        padding=padding,
    )


def _superwords_stay() -> UnsupportedError:
    """The error of a change to the tokens of words and superwords."""
    return UnsupportedError(
        "the tokens of a Superwords model cannot be removed or renumbered; train one with "
        "another vocab_size"
    )


def _pad_id(padding: Mapping[str, object] | None) -> int | None:
    """The id of padding in a `tokenizer.json`, if it has one."""
    pad_id = None if padding is None else padding.get("pad_id")
    return pad_id if type(pad_id) is int else None


def _renumber(tok: Tokenizer, model: models.Model, new: Mapping[int, int]) -> models.Model:
    if isinstance(model, models.Unigram):
        pieces = sorted((new[id], piece) for id, piece in enumerate(model.pieces) if id in new)
        if [id for id, _ in pieces] != list(range(len(pieces))):
            raise UnsupportedError(
                "the ids of a Unigram model are the positions of its pieces, so they must begin at "
                "0, and added tokens must come after them"
            )
        unk_id = None if model.unk_id is None else new[model.unk_id]
        return replace(model, pieces=[piece for _, piece in pieces], unk_id=unk_id)
    if isinstance(model, models.Superwords):
        raise _superwords_stay()
    assert isinstance(model, OF_ENTRIES)
    vocab = {token: new[id] for token, id in model.vocab.items() if id in new}
    if isinstance(model, models.BPE):
        return _renumber_bpe(tok, model, {bytes_of(token): id for token, id in vocab.items()})
    if isinstance(model, models.PickyBPE):
        return _renumber_picky_bpe(model, {bytes_of(token): id for token, id in vocab.items()})
    if isinstance(model, models.Characters) and model.unk_id is not None:
        return replace(model, vocab=vocab, unk_id=new[model.unk_id])
    return replace(model, vocab=vocab)


def _renumber_bpe(tok: Tokenizer, model: models.BPE, vocab: dict[bytes, int]) -> models.Model:
    if model.merges is None:
        old = {bytes_of(token): id for token, id in model.vocab.items()}
        by_old = sorted(vocab, key=old.__getitem__)
        if by_old == sorted(vocab, key=vocab.__getitem__):
            return replace(model, vocab=vocab)
    merges = [
        pair
        for pair in tok.vocab.merges
        if pair[0] in vocab and pair[1] in vocab and derivations.join(pair, model) in vocab
    ]
    if model.merges is None:
        # Ranks are ids, so another order needs a list of merges.
        return models.BPE(vocab, merges, ignore_merges=True)
    return replace(model, vocab=vocab, merges=merges)


def _renumber_picky_bpe(model: models.PickyBPE, vocab: dict[bytes, int]) -> models.Model:
    """The model with these tokens: those that it loses are deleted after all other events."""
    made: dict[bytes, None] = {}
    for event in model.events:
        token = b"".join(map(bytes_of, event))
        if len(event) == 2:
            made[token] = None
        else:
            made.pop(token, None)
    lost = [(token,) for token in made if token not in vocab]
    return replace(model, vocab=vocab, events=[*model.events, *lost])


def _rebuild_sentencepiece(model: models.SentencePiece, order: Sequence[int]) -> models.Model:
    file = ModelFile.parse(model.proto)
    in_file = [old for old in order if old < len(file.pieces)]
    if list(order[: len(in_file)]) != in_file:
        raise UnsupportedError(
            "the ids of a SentencePiece model are the positions of its pieces, so added tokens "
            "must come after them"
        )
    return models.SentencePiece(file.with_pieces(file.pieces[old] for old in in_file))


def with_tokens(
    processor: post_processors.PostProcessor | None,
    *,
    names: Mapping[str, str] = {},
    ids: Mapping[int, int] = {},
) -> post_processors.PostProcessor | None:
    """A post-processor with other names and other ids of its tokens."""

    def changed(name: str, id: int) -> tuple[str, int]:
        return names.get(name, name), ids.get(id, id)

    if isinstance(processor, post_processors.Sequence):
        steps = tuple(with_tokens(it, names=names, ids=ids) or it for it in processor.steps)
        return replace(processor, steps=steps)
    if isinstance(processor, (post_processors.BertProcessing, post_processors.RobertaProcessing)):
        return replace(processor, sep=changed(*processor.sep), cls=changed(*processor.cls))
    if isinstance(processor, post_processors.TemplateProcessing):
        tokens = tuple(
            post_processors.TemplateToken(
                names.get(token.name, token.name),
                tuple(ids.get(it, it) for it in token.ids),
                tuple(names.get(it, it) for it in token.tokens),
            )
            for token in processor.special_tokens
        )
        single, pair = (
            tuple(replace(piece, name=names.get(piece.name, piece.name)) for piece in pieces)
            for pieces in (processor.single, processor.pair)
        )
        return replace(processor, single=single, pair=pair, special_tokens=tokens)
    return processor


def id_map_of(
    old: Tokenizer,
    new: Tokenizer,
    order: Sequence[int],
    made_of: Mapping[int, Sequence[int]] | None = None,
) -> IdMap:
    """The map for a tokenizer whose id i is the old id `order[i]`; new tokens come after these."""
    new_ids = [-1] * (old.vocab.max_id + 1)
    for id, before in enumerate(order):
        if before >= 0:
            new_ids[before] = id
    return IdMap(
        tuple(new_ids),
        new.vocab.max_id + 1,
        {id: tuple(parts) for id, parts in (made_of or {}).items()},
        old.digest,
        new.digest,
    )


def kept_and_new(
    old: Tokenizer,
    new: Tokenizer,
    made_of: Mapping[int, Sequence[int]],
    new_tokens: Sequence[bytes],
    left_out: Sequence[bytes] = (),
    *,
    pieces: int | None = None,
) -> Edited:
    """The result of a change that removes nothing: old tokens keep their ids.

    If ids are the positions of `pieces`, the ids of added tokens after them have increased.
    """
    order = [-1] * (new.vocab.max_id + 1)
    for id in old._core.token_ids().tolist():
        order[id if pieces is None or id < pieces else id + len(new_tokens)] = id
    id_map = id_map_of(old, new, order, made_of)
    return Edited(new, id_map, added=tuple(new_tokens), left_out=tuple(left_out))


def pieces_of(model: models.Unigram | models.SentencePiece) -> ModelFile:
    """The pieces of a model; their positions are their ids."""
    if isinstance(model, models.SentencePiece):
        return ModelFile.parse(model.proto)
    pieces = (ModelPiece(token_text(piece), score) for piece, score in model.pieces)
    return ModelFile(tuple(pieces), (), ())


def with_new_pieces(
    tok: Tokenizer,
    more: Sequence[ModelPiece],
    made_of: Mapping[int, Sequence[int]],
    left_out: Sequence[bytes] = (),
) -> Edited:
    """The tokenizer with more pieces after those of its model.

    Ids are the positions of pieces, so the ids of added tokens after them increase.
    """
    model = tok.stages.model
    assert isinstance(model, OF_PIECES)
    file = pieces_of(model)
    first = len(file.pieces)
    tokens = [piece.text.encode("utf-8", "surrogateescape") for piece in more]
    if isinstance(model, models.SentencePiece):
        larger: models.Model = models.SentencePiece(file.with_pieces([*file.pieces, *more]))
    else:
        scored = zip(tokens, (piece.score for piece in more), strict=True)
        larger = replace(model, pieces=[*model.pieces, *scored])
    new = {id: id if id < first else id + len(more) for id in tok._core.token_ids().tolist()}
    added_tokens = [
        replace(token, id=new[token.id]) if token.id in new else token
        for token in tok.stages.added_tokens
    ]
    larger_tok = with_model(tok, larger, new, added_tokens)
    return kept_and_new(tok, larger_tok, made_of, tokens, left_out, pieces=first)
