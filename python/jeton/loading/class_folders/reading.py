"""Reads a folder into a tokenizer, by the class that its configuration names."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from jeton.components import assembly
from jeton.errors import FormatError, UnsupportedError
from jeton.loading.class_folders.classes import CLASSES, MODEL_TYPES
from jeton.loading.class_folders.configuration import AddedTokenIds, Configuration

if TYPE_CHECKING:
    from jeton._core import Pipeline

__all__ = ["names_a_class", "read"]


def names_a_class(folder: Path) -> bool:
    """Whether a folder names a class that says what its files mean."""
    return Configuration.of(folder, MODEL_TYPES).name is not None


def read(folder: Path) -> tuple[Pipeline, list[tuple[str, str]]]:
    """The core's tokenizer of a folder that names a class, and the roles that the class gives.

    Raises:
        UnsupportedError: The class is not known, or does what no stage here does.
        FormatError: A file that is not what its name says; two tokens with one id.
    """
    configuration = Configuration.of(folder, MODEL_TYPES)
    name = configuration.name
    if name is None or name not in CLASSES:
        raise UnsupportedError(
            f"{folder}: there is no tokenizer.json, and the class {name}Tokenizer is not known; "
            f"known are {', '.join(sorted(CLASSES))} (load the vocabulary alone, or save a "
            "tokenizer.json with transformers)"
        )
    known = CLASSES[name]
    built = known.build(configuration, known)
    tokens = AddedTokenIds(built.size, built.ids)
    for id, token in built.own.items():
        tokens.put(id, {**token, "special": True})
    roles = {role: configuration.role(role, known.roles) for role in known.roles}
    named = {token["content"] for token in roles.values() if token is not None}
    further = configuration.further()
    named |= {token["content"] for token in further}
    for id, token in configuration.listed.items():
        held = built.ids.get(token["content"], id)
        if held != id:
            raise FormatError(
                f"{folder}: the added token {token['content']!r} has the id {id}, and in the "
                f"vocabulary {held}"
            )
        special = token.get("special", token["content"] in named)
        tokens.put(id, {**token, "special": special})
    if not configuration.lists_further():
        further += [{"content": content} for content in known.further]
    tokens.add([*roles.values(), *further, *({"content": it} for it in built.further)])
    ids = {token["content"]: (token["content"], id) for id, token in tokens.by_id.items()}
    for role, named_token in roles.items():
        if named_token is not None and named_token["content"] in ids:
            ids[role] = ids[named_token["content"]]
    model = built.model
    core = assembly.assembled(
        model(tokens.by_id) if callable(model) else model,
        built.normalizer,
        built.pre_tokenizer,
        None if built.frame is None else built.frame(ids),
        built.decoder,
        tokens.added(),
    )
    return core, [(role, ids[role][0]) for role in roles if role in ids]
