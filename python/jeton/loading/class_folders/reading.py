"""Reads a folder into a tokenizer, by the class that its configuration names."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from jeton.components import assembly
from jeton.errors import FormatError, UnsupportedError
from jeton.loading.class_folders.built import KnownClass
from jeton.loading.class_folders.classes import CLASSES, MODEL_TYPES
from jeton.loading.class_folders.configuration import AddedTokenIds, Configuration
from jeton.loading.settings import CONFIG, STANDARD_ROLES

if TYPE_CHECKING:
    from jeton._core import Pipeline

__all__ = ["VOCABULARIES", "names_a_class", "read"]


VOCABULARIES: Final = (
    "tokenizer.model",
    "spiece.model",
    "sentencepiece.bpe.model",
    "spm.model",
    "source.spm",
    "vocab.json",
    "encoder.json",
    "vocab.txt",
    "qwen.tiktoken",
    "tiktoken.model",
)
"""The files that a class may say the meaning of."""


def names_a_class(folder: Path) -> bool:
    """Whether a folder names a class that says what its files mean.

    A `tekken.json` or a GGUF says itself what it means, so neither needs one.
    """
    if Configuration.of(folder, MODEL_TYPES).name is None:
        return False
    says_itself = (folder / "tekken.json").is_file() or any(folder.glob("*.gguf"))
    return not says_itself or any((folder / name).is_file() for name in VOCABULARIES)


def read(folder: Path) -> tuple[Pipeline, list[tuple[str, str]], list[str]]:
    """The core's tokenizer of a folder that names a class, the roles that the class gives, and
    warnings.

    Raises:
        UnsupportedError: The class is not known, or does what no stage here does.
        FormatError: A file that is not what its name says; two tokens with one id.
    """
    configuration = Configuration.of(folder, MODEL_TYPES)
    name = configuration.name
    if name is None or name not in CLASSES:
        raise UnsupportedError(
            f"{folder}: there is no tokenizer.json, and {configuration.named_by} is not known; "
            f"known are {', '.join(sorted(CLASSES))} (load the vocabulary alone, or save a "
            "tokenizer.json with transformers)"
        )
    known = CLASSES[name]
    built = known.build(configuration, known)
    tokens = AddedTokenIds(built.size, built.ids)
    for id, token in built.own.items():
        tokens.put(id, {"special": True, **token})
    roles = {role: configuration.role(role, known.roles) for role in STANDARD_ROLES}
    named = {token["content"]: token for token in roles.values() if token is not None}
    further, with_names = configuration.further(), configuration.with_names()
    named |= {token["content"]: token for token in (*further, *with_names)}
    for id, token in configuration.listed.items():
        held = built.ids.get(token["content"], id)
        if held != id:
            raise FormatError(
                f"{folder}: the added token {token['content']!r} has the id {id}, and in the "
                f"vocabulary {held}"
            )
        special = token.get("special", token["content"] in named)
        flags = {"normalized": not special, **named.get(token["content"], {})}
        tokens.put(id, {**flags, **token, "special": special})
    if not configuration.lists_further():
        further += [{"content": content} for content in known.further]
    further += [{"content": content} for content in built.further]
    tokens.add([*roles.values(), *further, *with_names])
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
        tokens.added(normalized=built.finds_normalized),
    )
    warnings = [f"{folder}: {it}" for it in (*built.warnings, *_warnings(configuration, known))]
    return core, [(role, ids[role][0]) for role in roles if role in ids], warnings


def _warnings(configuration: Configuration, known: KnownClass) -> Iterator[str]:
    """What the class does that a tokenizer does not, or does one way in each version."""
    options = configuration.arguments.get("sp_model_kwargs")
    if isinstance(options, dict) and options.get("enable_sampling"):
        yield (
            "sp_model_kwargs: enable_sampling draws the tokens of each text at random; here a call "
            "that says alpha= does"
        )
    for flag, what in known.unsaid.items():
        if configuration.arguments.get(flag) is None:
            yield (
                f"{CONFIG} does not say {flag}: transformers 4 then puts {what}, as is done here, "
                "and transformers 5 does not (set it to true or false)"
            )
