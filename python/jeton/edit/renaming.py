"""Tokens under other names: reserved ones get the names that a model is to use them by.

Look here for `rename`, and for all places of a tokenizer that spell a token.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from jeton.arguments import check_kind, check_text
from jeton.components import AddedToken, models, normalizers, post_processors
from jeton.edit.edit_result import Edited
from jeton.edit.vocabulary import kept_and_new
from jeton.errors import (
    ArgumentError,
    FormatWarning,
    UnknownTokenError,
    UnsupportedError,
    warn_caller,
)
from jeton.loading.model_file import CONTROL, USER_DEFINED, ModelFile
from jeton.tokenizer import Tokenizer

__all__ = ["rename"]


def rename(tok: Tokenizer, names: Mapping[str, str]) -> Edited:
    """The tokenizer with other names for some of its special, added and user-defined tokens.

    All ids stay, so a model keeps its weights: for the tokens that vocabularies hold in reserve,
    such as `<|reserved_special_token_5|>` and `[unused1]`. One that is no added token, and that no
    text gives, becomes a special token. Roles follow.

    Args:
        tok: The tokenizer.
        names: For the present name of each, the new one.

    Raises:
        UnknownTokenError: There is no such token.
        ArgumentError: A name that another token has; a token of ordinary text.
        UnsupportedError: A token that merges or ranks are made of, or whose role a SentencePiece
            model knows by its name.

    Warns:
        FormatWarning: The chat template spells an old name, which is left there.

    Example:
        >>> import jeton
        >>> from jeton import edit
        >>> tok = jeton.CharTrainer(special_tokens=["<|reserved_0|>"]).train("abc")
        >>> edited = edit.rename(tok, {"<|reserved_0|>": "<|tool|>"})
        >>> edited.tok.special_tokens, edited.id_map
        ({'<|tool|>': 3}, IdMap(4 ids to 4: 4 kept, 0 new))
    """
    check_kind("tok", tok, Tokenizer, "a Tokenizer")
    check_kind("names", names, Mapping, "a dict of names")
    new_names: dict[str, str] = {}
    for old, new in names.items():
        if not check_text("each of names", new):
            raise ArgumentError(f"names: the new name of {old!r} is empty")
        if tok.id_of(check_text("each of names", old)) is None:
            raise UnknownTokenError(f"names: there is no token {old!r}")
        if new in new_names.values() or (new not in names and tok.id_of(new) is not None):
            raise ArgumentError(f"names: {new!r} is another token already")
        new_names[old] = new
    known = {token.content for token in tok.added_tokens}
    if isinstance(tok.normalizer, normalizers.SentencePiece):
        known |= {*tok.normalizer.user_defined_symbols}
    more = [_reserved(tok, old, new) for old, new in new_names.items() if old not in known]
    added = [
        replace(token, content=new_names.get(token.content, token.content))
        for token in tok.added_tokens
    ]
    changes: dict[str, Any] = {
        "model": _renamed_model(tok, new_names),
        "post_processor": _renamed_processor(tok.post_processor, new_names),
        "normalizer": _renamed_symbols(tok.normalizer, new_names),
        "decoder": _renamed_symbols(tok.decoder, new_names),
    }
    if tok.padding is not None and tok.padding["pad_token"] in new_names:
        changes["padding"] = {**tok.padding, "pad_token": new_names[tok.padding["pad_token"]]}
    changes = {name: stage for name, stage in changes.items() if stage is not None}
    renamed = tok.replace(added_tokens=[*added, *more], **changes)
    roles = {role: new_names[it] for role, it in tok.roles.items() if it in new_names}
    if roles:
        renamed = renamed.replace(roles=roles)
    _warn_of_template(tok, new_names)
    pairs = tuple((old.encode(), new.encode()) for old, new in new_names.items())
    return replace(kept_and_new(tok, renamed, {}, ()), renamed=pairs)


def _reserved(tok: Tokenizer, old: str, new: str) -> AddedToken:
    """A token of the model alone, as a special one.

    Raises:
        ArgumentError: A text may give it.
    """
    id = tok.bytes_to_id(old)
    if id in tok.encode(old):
        raise ArgumentError(
            f"names: {old!r} is a token of ordinary text (only one that no text gives gets a name)"
        )
    return AddedToken(new, id=id, special=True)


def _renamed_model(tok: Tokenizer, names: Mapping[str, str]) -> models.Model | None:
    """The model with the new names; `None` if it spells none of the old ones."""
    model = tok.model
    if isinstance(model, models.SentencePiece):
        return _renamed_file(model, names)
    spelled = {old.encode(): new.encode() for old, new in names.items()}
    if isinstance(model, models.Unigram):
        if not any(piece in spelled for piece, _ in model.pieces):
            return None
        pieces = [(spelled.get(_bytes(piece), piece), score) for piece, score in model.pieces]
        return replace(model, pieces=pieces)
    assert isinstance(
        model,
        (models.BPE, models.WordPiece, models.WordLevel, models.Characters, models.LongestMatch),
    )
    vocab = {_bytes(token): id for token, id in model.vocab.items()}
    changed = vocab.keys() & spelled.keys()
    if isinstance(model, models.BPE):
        if model.merges is None and changed:
            raise UnsupportedError(f"{_named(changed)} is one of the ranks, which are merged")
        parts = {token for pair in tok.merges for token in (*pair, b"".join(pair))}
        if parts & changed:
            raise UnsupportedError(f"{_named(parts & changed)} is made by a merge, or part of one")
    if not changed:
        return None
    fields: dict[str, Any] = {"vocab": {spelled.get(it, it): id for it, id in vocab.items()}}
    unknown: str | None = getattr(model, "unk_token", None)
    if unknown is not None and unknown in names:
        fields["unk_token"] = names[unknown]
    return replace(model, **fields)


def _renamed_file(model: models.SentencePiece, names: Mapping[str, str]) -> models.Model | None:
    file = ModelFile.parse(model.proto)
    changed = [piece for piece in file.pieces if piece.text in names]
    if not changed:
        return None
    for piece in changed:
        if piece.kind not in (CONTROL, USER_DEFINED) or file.has_role(piece):
            raise UnsupportedError(
                f"{piece.text!r} is known to the SentencePiece model by its name, which stays"
            )
    return models.SentencePiece(
        file.with_pieces(replace(it, text=names.get(it.text, it.text)) for it in file.pieces)
    )


def _renamed_processor(
    processor: post_processors.PostProcessor | None, names: Mapping[str, str]
) -> post_processors.PostProcessor | None:
    """A post-processor with the new names; `None` if there is none."""
    if isinstance(processor, post_processors.Sequence):
        steps = [_renamed_processor(step, names) or step for step in processor.steps]
        return replace(processor, steps=tuple(steps))
    if isinstance(processor, (post_processors.BertProcessing, post_processors.RobertaProcessing)):
        (sep, sep_id), (cls, cls_id) = processor.sep, processor.cls
        sides = (names.get(sep, sep), sep_id), (names.get(cls, cls), cls_id)
        return replace(processor, sep=sides[0], cls=sides[1])
    if isinstance(processor, post_processors.TemplateProcessing):
        tokens = tuple(
            replace(
                token,
                name=names.get(token.name, token.name),
                tokens=tuple(names.get(it, it) for it in token.tokens),
            )
            for token in processor.special_tokens
        )
        single, pair = (
            tuple(replace(piece, name=names.get(piece.name, piece.name)) for piece in pieces)
            for pieces in (processor.single, processor.pair)
        )
        return replace(processor, single=single, pair=pair, special_tokens=tokens)
    return processor


def _renamed_symbols(stage: object, names: Mapping[str, str]) -> Any:
    """SentencePiece's normalizer with the new names; `None` for any other stage."""
    if isinstance(stage, normalizers.SentencePiece):
        symbols = (names.get(it, it) for it in stage.user_defined_symbols)
        return replace(stage, user_defined_symbols=tuple(symbols))
    return None


def _warn_of_template(tok: Tokenizer, names: Mapping[str, str]) -> None:
    template = tok.chat_template or ""
    texts = [template] if isinstance(template, str) else [*template.values()]
    left = [old for old in names if any(old in text for text in texts)]
    if left:
        warn_caller(
            f"the chat template spells {', '.join(map(repr, left))}, and is left as it is "
            "(tok.replace(chat_template=...) sets another)",
            FormatWarning,
        )


def _bytes(token: bytes | str) -> bytes:
    return token.encode() if isinstance(token, str) else token


def _named(tokens: set[bytes]) -> str:
    return repr(min(tokens).decode(errors="replace"))
