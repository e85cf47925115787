"""Removes the last tokens, reorders tokens, or adds special ones.

Look here for `truncate`, `reorder` and `add_special_tokens`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from jeton.arguments import check_kind, checked_int, checked_iterable
from jeton.components import AddedToken, decoders, models
from jeton.edit.edit_result import Edited
from jeton.edit.pruning import prune
from jeton.edit.vocabulary import id_map_of, kept_and_new, rebuild
from jeton.errors import ArgumentError
from jeton.loading.model_file import CONTROL, ModelFile, ModelPiece
from jeton.tokenizer import Tokenizer


def truncate(tok: Tokenizer, size: int) -> Edited:
    """The tokenizer without its last tokens, as if training had stopped earlier.

    For a byte pair encoding, the result equals training for the smaller size. A WordPiece loses its
    last tokens, a Unigram or SentencePiece model those with the lowest scores. These are characters
    in a SentencePiece BPE with byte fallback; without byte fallback, all characters are kept, and
    the result equals training. Special tokens are kept.

    Args:
        tok: The tokenizer.
        size: How many tokens to keep, including special tokens.

    Raises:
        ArgumentError: The size is above the present one, or below the number of tokens that must
            be kept.

    Example:
        >>> import jeton
        >>> from jeton import edit
        >>> text = ["low lower lowest newest"] * 9
        >>> large, small = (jeton.BPETrainer(n, pattern="gpt4").train(text) for n in (264, 260))
        >>> edit.truncate(large, 260).tok == small
        True
    """
    check_kind("tok", tok, Tokenizer, "a Tokenizer")
    size = checked_int("size", size, 1)
    if size > tok.vocab_size:
        raise ArgumentError(
            f"size={size} is more than the {tok.vocab_size} tokens of the tokenizer; see extend"
        )
    return prune(tok, size=size)


def reorder(tok: Tokenizer, order: Sequence[int]) -> Edited:
    """The same tokens with other ids.

    Args:
        tok: The tokenizer.
        order: The old ids in the new order, each once: the token of `order[i]` has the new id i.

    Raises:
        ArgumentError: `order` does not hold every id once.
        UnsupportedError: The pieces of a Unigram or SentencePiece model would not come first.

    Example:
        >>> import jeton
        >>> from jeton import edit
        >>> tok = jeton.CharTrainer().train("abc")
        >>> edit.reorder(tok, [2, 0, 1]).tok.encode("abc")
        [1, 2, 0]
    """
    check_kind("tok", tok, Tokenizer, "a Tokenizer")
    ordered = checked_iterable("order", order, "a sequence of ids")
    ids = [checked_int("each of order", id, 0) for id in ordered]
    old_ids = set(tok._core.token_ids().tolist())
    if len(ids) != len(set(ids)) or set(ids) != old_ids:
        wrong = sorted(set(ids) ^ old_ids)
        which = (
            f"id {wrong[0]} is " + ("missing" if wrong[0] in old_ids else "no token")
            if wrong
            else "an id is there twice"
        )
        raise ArgumentError(f"order must hold each of the {len(old_ids)} ids once: {which}")
    new = rebuild(tok, ids)
    return Edited(new, id_map_of(tok, new, ids))


def add_special_tokens(tok: Tokenizer, tokens: Iterable[str | AddedToken]) -> Edited:
    """The tokenizer with more special tokens, whose ids come after the largest.

    In a SentencePiece model they become control pieces if possible, so that a `.model` can hold
    them, and decode to nothing, as its `<s>` does. A `vocab.txt` cannot hold them: its only special
    tokens are BERT's.

    Args:
        tok: The tokenizer.
        tokens: Their texts, or `AddedToken`s, whose ids are replaced.

    Raises:
        ArgumentError: A token already exists.

    Example:
        >>> import jeton
        >>> from jeton import edit
        >>> tok = jeton.CharTrainer().train("abc")
        >>> edited = edit.add_special_tokens(tok, ["<|user|>", "<|end|>"])
        >>> edited.tok.special_tokens, edited.id_map
        ({'<|user|>': 3, '<|end|>': 4}, IdMap(3 ids to 5: 3 kept, 2 new))
    """
    check_kind("tok", tok, Tokenizer, "a Tokenizer")
    tokens = checked_iterable("tokens", tokens, "an iterable of tokens")
    ids = {token.content: token.id for token in tok.stages.added_tokens}
    new_tokens: list[AddedToken] = []
    first_id = tok.vocab.max_id + 1
    for token in tokens:
        check_kind("each of tokens", token, (str, AddedToken), "a str or an AddedToken")
        content = token if isinstance(token, str) else token.content
        if content in ids:
            raise ArgumentError(f"the token {content!r} already exists, with id {ids[content]}")
        ids[content] = first_id + len(new_tokens)
        new_tokens.append(
            AddedToken(content, id=ids[content], special=True)
            if isinstance(token, str)
            else AddedToken(
                content,
                id=ids[content],
                special=True,
                single_word=token.single_word,
                lstrip=token.lstrip,
                rstrip=token.rstrip,
                normalized=token.normalized,
            )
        )
    new = _as_pieces(tok, new_tokens) or tok.with_added_tokens(new_tokens)
    made_of = {
        first_id + number: () if (id := tok.vocab.get(token.content)) is None else (id,)
        for number, token in enumerate(new_tokens)
    }
    return kept_and_new(tok, new, made_of, [token.content.encode() for token in new_tokens])


def _as_pieces(tok: Tokenizer, new_tokens: Sequence[AddedToken]) -> Tokenizer | None:
    """The tokenizer with control pieces in its SentencePiece model, if they mean the same."""
    model = tok.stages.model
    decoder = tok.stages.decoder
    if not isinstance(model, models.SentencePiece):
        return None
    if not isinstance(decoder, decoders.SentencePiece):
        return None
    file = ModelFile.parse(model.proto)
    texts = {piece.text for piece in file.pieces}
    for token in new_tokens:
        plain = AddedToken(token.content, id=token.id, special=True)
        if token != plain or token.content in texts:
            return None
    if len(file.pieces) != tok.vocab.max_id + 1:
        return None
    pieces = [*file.pieces, *(ModelPiece(token.content, 0.0, CONTROL) for token in new_tokens)]
    new_model = models.SentencePiece(file.with_pieces(pieces))
    return tok.replace(model=new_model, added_tokens=[*tok.stages.added_tokens, *new_tokens])
