"""Reads a folder into a tokenizer, by the class that its configuration names."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

from jeton.components import assembly
from jeton.errors import FormatError, UnsupportedError
from jeton.loading.class_folders.classes import CLASSES, MODEL_TYPES
from jeton.loading.class_folders.configuration import AddedTokenIds, Configuration
from jeton.loading.class_folders.known_class import KnownClass
from jeton.loading.settings import CONFIG, STANDARD_ROLES

if TYPE_CHECKING:
    from jeton._core import Pipeline

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
"""The files whose meaning depends on the class."""


def names_a_class(folder: Path) -> bool:
    """Whether a folder names a class that is needed to read its files.

    A `tekken.json` or a GGUF can be read without one.
    """
    if Configuration.of(folder, MODEL_TYPES).name is None:
        return False
    needs_none = (folder / "tekken.json").is_file() or any(folder.glob("*.gguf"))
    return not needs_none or any((folder / name).is_file() for name in VOCABULARIES)


def read(folder: Path) -> tuple[Pipeline, list[tuple[str, str]], list[str]]:
    """The pipeline of a folder that names a class, the roles from the class, and warnings.

    Raises:
        UnsupportedError: The class is not known, or does something that no stage supports.
        FormatError: A file breaks its format; two tokens have the same id.
    """
    configuration = Configuration.of(folder, MODEL_TYPES)
    name = configuration.name
    if name is None or name not in CLASSES:
        raise UnsupportedError(
            f"{folder}: there is no tokenizer.json, and {configuration.named_by} is not known; "
            f"known are {', '.join(sorted(CLASSES))} (load the vocabulary alone, or save a "
            "tokenizer.json with transformers)"
        )
    known_class = CLASSES[name]
    stages = known_class.build(configuration, known_class)
    tokens = AddedTokenIds(stages.size, stages.ids)
    for id, token in stages.own.items():
        tokens.put(id, {"special": True, **token})
    roles = {role: configuration.role(role, known_class.roles) for role in STANDARD_ROLES}
    specials = {token["content"]: token for token in roles.values() if token is not None}
    further, with_names = configuration.further(), configuration.with_names()
    specials |= {token["content"]: token for token in (*further, *with_names)}
    for id, token in configuration.listed.items():
        vocabulary_id = stages.ids.get(token["content"], id)
        if vocabulary_id != id:
            raise FormatError(
                f"{folder}: the added token {token['content']!r} has the id {id}, but in the "
                f"vocabulary {vocabulary_id}"
            )
        special = token.get("special", token["content"] in specials)
        flags = {"normalized": not special, **specials.get(token["content"], {})}
        tokens.put(id, {**flags, **token, "special": special})
    if configuration.listed_special is None:
        further += [{"content": content} for content in known_class.further]
    further += [{"content": content} for content in stages.further]
    tokens.add([*roles.values(), *further, *with_names])
    ids = {token["content"]: (token["content"], id) for id, token in tokens.by_id.items()}
    for role, role_token in roles.items():
        if role_token is not None and role_token["content"] in ids:
            ids[role] = ids[role_token["content"]]
    model = stages.model
    core = assembly.assembled(
        model(tokens.by_id) if callable(model) else model,
        stages.normalizer,
        stages.pre_tokenizer,
        None if stages.frame is None else stages.frame(ids),
        stages.decoder,
        tokens.added_tokens(normalized=stages.finds_normalized),
    )
    warnings = [*stages.warnings, *_warnings(configuration, known_class)]
    role_tokens = [(role, ids[role][0]) for role in roles if role in ids]
    return core, role_tokens, [f"{folder}: {warning}" for warning in warnings]


def _warnings(configuration: Configuration, known_class: KnownClass) -> Iterator[str]:
    """Warnings about random tokens, and about flags whose default depends on the version."""
    options = configuration.arguments.get("sp_model_kwargs")
    if isinstance(options, dict) and options.get("enable_sampling"):
        yield (
            "sp_model_kwargs: enable_sampling makes the tokens of each text random; in jeton only "
            "a call with alpha= does"
        )
    for flag, what in known_class.unsaid.items():
        if configuration.arguments.get(flag) is None:
            yield (
                f"{CONFIG} does not set {flag}: transformers 4 then adds {what}, as jeton does, "
                "but transformers 5 does not (set it to true or false)"
            )
