"""Renames tokens, for example reserved ones that a model is going to use.

Look here for `rename`, and for all parts of a tokenizer that spell a token.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from jeton.arguments import check_kind, check_text
from jeton.components import AddedToken, models, normalizers
from jeton.edit.edit_result import Edited
from jeton.edit.vocabulary import OF_ENTRIES, kept_and_new, with_tokens
from jeton.errors import (
    ArgumentError,
    FormatWarning,
    UnknownTokenError,
    UnsupportedError,
    warn_caller,
)
from jeton.loading.model_file import CONTROL, USER_DEFINED, ModelFile
from jeton.results.vocabulary import bytes_of
from jeton.tokenizer import Tokenizer


def rename(tok: Tokenizer, names: Mapping[str, str]) -> Edited:
    """The tokenizer with other names for some of its special, added and user-defined tokens.

    All ids are unchanged, so a model keeps its weights. Use it for the reserved tokens of a
    vocabulary, such as `<|reserved_special_token_5|>` and `[unused1]`. A token that is not an added
    token, and to which no text is encoded, becomes a special token. Roles are updated.

    Args:
        tok: The tokenizer.
        names: The new name for each old name.

    Raises:
        UnknownTokenError: There is no such token.
        ArgumentError: Another token has the name; a token of ordinary text.
        UnsupportedError: A token is a part of merges or ranks, or has a role that a SentencePiece
            model finds by its name.

    Warns:
        FormatWarning: The chat template contains an old name, and is not changed.

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
        if tok.vocab.get(check_text("each of names", old)) is None:
            raise UnknownTokenError(f"names: there is no token {old!r}")
        if new in new_names.values() or (new not in names and tok.vocab.get(new) is not None):
            raise ArgumentError(f"names: {new!r} is another token already")
        new_names[old] = new
    matched_in_text = {token.content for token in tok.stages.added_tokens}
    if isinstance(tok.stages.normalizer, normalizers.SentencePiece):
        matched_in_text |= {*tok.stages.normalizer.user_defined_symbols}
    added_tokens = [
        replace(token, content=new_names.get(token.content, token.content))
        for token in tok.stages.added_tokens
    ]
    for old, new in new_names.items():
        if old not in matched_in_text:
            id = tok.vocab[old]
            if id in tok.encode(old):
                raise ArgumentError(
                    f"names: {old!r} is a token of ordinary text (only a token that no text is "
                    "encoded to can be renamed)"
                )
            added_tokens.append(AddedToken(new, id=id, special=True))
    changes: dict[str, Any] = {
        "model": _rename_in_model(tok, tok.stages.model, new_names),
        "post_processor": with_tokens(tok.stages.post_processor, names=new_names),
        "normalizer": _rename_symbols(tok.stages.normalizer, new_names),
    }
    if tok.settings.padding is not None and tok.settings.padding["pad_token"] in new_names:
        changes["padding"] = {
            **tok.settings.padding,
            "pad_token": new_names[tok.settings.padding["pad_token"]],
        }
    changes = {name: stage for name, stage in changes.items() if stage is not None}
    new_tok = tok.replace(added_tokens=added_tokens, **changes)
    roles = {role: new_names[it] for role, it in tok.roles.items() if it in new_names}
    if roles:
        new_tok = new_tok.replace(roles=roles)
    _warn_of_template(tok, new_names)
    pairs = tuple((old.encode(), new.encode()) for old, new in new_names.items())
    return replace(kept_and_new(tok, new_tok, {}, ()), renamed=pairs)


def _rename_in_model(
    tok: Tokenizer, model: models.Model, names: Mapping[str, str]
) -> models.Model | None:
    """The model with the new names; `None` if it has none of the old ones."""
    if isinstance(model, models.SentencePiece):
        return _rename_in_file(model, names)
    spellings = {old.encode(): new.encode() for old, new in names.items()}
    if isinstance(model, models.Unigram):
        if not any(piece in spellings for piece, _ in model.pieces):
            return None
        pieces = [(spellings.get(bytes_of(piece), piece), score) for piece, score in model.pieces]
        return replace(model, pieces=pieces)
    if isinstance(model, models.Superwords):
        words = _rename_in_model(tok, model.words, names)
        if isinstance(words, (models.BPE, models.PickyBPE)):
            return replace(model, words=words)
        return None
    assert isinstance(model, OF_ENTRIES)
    vocab = {bytes_of(token): id for token, id in model.vocab.items()}
    tokens = vocab.keys() & spellings.keys()
    if isinstance(model, models.BPE):
        if model.merges is None and tokens:
            raise UnsupportedError(f"{_first_name(tokens)} is one of the ranks, which are merged")
        parts = {token for pair in tok.vocab.merges for token in (*pair, b"".join(pair))}
        if parts & tokens:
            raise UnsupportedError(f"{_first_name(parts & tokens)} is part or result of a merge")
    if isinstance(model, models.PickyBPE):
        events = [tuple(map(bytes_of, event)) for event in model.events]
        parts = {token for event in events for token in (*event, b"".join(event))}
        if parts & tokens:
            raise UnsupportedError(f"{_first_name(parts & tokens)} is part or result of a merge")
    if not tokens:
        return None
    fields: dict[str, Any] = {"vocab": {spellings.get(it, it): id for it, id in vocab.items()}}
    unknown: str | None = getattr(model, "unk_token", None)
    if unknown is not None and unknown in names:
        fields["unk_token"] = names[unknown]
    return replace(model, **fields)


def _rename_in_file(model: models.SentencePiece, names: Mapping[str, str]) -> models.Model | None:
    file = ModelFile.parse(model.proto)
    pieces = [piece for piece in file.pieces if piece.text in names]
    if not pieces:
        return None
    for piece in pieces:
        if piece.kind not in (CONTROL, USER_DEFINED) or file.has_role(piece):
            raise UnsupportedError(
                f"the SentencePiece model finds {piece.text!r} by its name, so it cannot be renamed"
            )
    return models.SentencePiece(
        file.with_pieces(replace(it, text=names.get(it.text, it.text)) for it in file.pieces)
    )


def _rename_symbols(
    normalizer: normalizers.Normalizer | None, names: Mapping[str, str]
) -> normalizers.SentencePiece | None:
    """SentencePiece's normalizer with the new names; `None` for any other."""
    if not isinstance(normalizer, normalizers.SentencePiece):
        return None
    symbols = (names.get(it, it) for it in normalizer.user_defined_symbols)
    return replace(normalizer, user_defined_symbols=tuple(symbols))


def _warn_of_template(tok: Tokenizer, names: Mapping[str, str]) -> None:
    template = tok.settings.chat_template or ""
    texts = [template] if isinstance(template, str) else [*template.values()]
    old_names = [old for old in names if any(old in text for text in texts)]
    if old_names:
        warn_caller(
            f"the chat template contains {', '.join(map(repr, old_names))}, and was not changed "
            "(tok.replace(chat_template=...) sets another)",
            FormatWarning,
        )


def _first_name(tokens: set[bytes]) -> str:
    return repr(min(tokens).decode(errors="replace"))
