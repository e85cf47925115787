"""Writes a tokenizer's folder for `transformers`: its files and their contents.

Look here for what changes in loaded files when the tokenizer is saved again: only what has changed
in the tokenizer.
"""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jeton._core as _core
from jeton._core import Pipeline
from jeton.files import file_errors
from jeton.loading.settings import (
    ADDED_TOKENS,
    ADDITIONAL,
    CONFIG,
    EXTRA,
    FILES,
    SPECIAL_TOKENS,
    TEMPLATE,
    TEMPLATES,
    Settings,
    further_special_tokens,
    json_object,
    json_value,
)
from jeton.loading.transformers_classes import (
    AS_IT_STANDS,
    LANGUAGE_CLASS,
    bare_name,
    input_names,
    language_class,
    padding_side,
)
from jeton.results.encoding import Encoding

_TOKENIZER = "tokenizer.json"


@dataclasses.dataclass(frozen=True)
class Folder:
    """The files of a folder, by name, and the parts of the tokenizer that they lack."""

    files: dict[str, bytes]
    left_out: list[str]
    replaced_class: str | None
    """The class of the configuration, if transformers would build other stages for it."""


def write(folder: Path, core: Pipeline, settings: Settings, roles: Mapping[str, str]) -> Folder:
    """Writes a folder, and removes settings files of another tokenizer from it."""
    contents = files_of(core, settings, roles)
    _core.write_into(os.fspath(folder), list(contents.files.items()))
    stale = [folder / name for name in FILES if name not in contents.files]
    stale += [
        path
        for path in (folder / TEMPLATES).glob("*.jinja")
        if f"{TEMPLATES}/{path.name}" not in contents.files
    ]
    with file_errors(folder, "removed"):
        for path in stale:
            path.unlink(missing_ok=True)
    return contents


def files_of(core: Pipeline, settings: Settings, roles: Mapping[str, str]) -> Folder:
    """The contents of a folder.

    Args:
        core: The tokenizer.
        roles: All its roles, including those from its stages.
    """
    names = _names_in_a_folder(core)
    roles = {role: names.get(token, token) for role, token in roles.items()}
    special_tokens = {*names.values()}
    # A role that follows from the stages makes no token special; one in these files does.
    of_stages = dict(core.roles())
    given_roles = {
        role: token
        for role, token in settings.roles.items()
        if token is None
        or names.get(token, token) in special_tokens
        or of_stages.get(role) != token
    }
    written_roles = {
        role: token
        for role, token in roles.items()
        if token in special_tokens or role in given_roles
    }
    texts, left_out, roles_of_stages = _core.folder_files(core, list(written_roles.items()))
    new_files = dict(texts)
    # A token that no longer exists has no role.
    valid_roles = {
        role: None if token is None else names.get(token, token)
        for role, token in given_roles.items()
        if token is None or role in roles
    }
    settings = dataclasses.replace(settings, roles=valid_roles)
    files = dict(settings.files)
    old_class = None
    if CONFIG in files:
        old_settings = Settings.of_files(settings.files, {})
        _update_roles(files, old_settings, settings)
        if settings.first_special_tokens is not None:
            _list_new_tokens(files, core, settings.first_special_tokens)
        _update_tokens(files, core, new_files[_TOKENIZER])
        _update(files, CONFIG, _config_changes(old_settings, settings))
        old_class = _replace_class(files, core, new_files[_TOKENIZER])
    else:
        old_settings = Settings.of_files(files, {})
        config = json_value(new_files[CONFIG])
        # transformers only knows the special tokens that its files list.
        with_role = {*written_roles.values()}
        listed, _ = further_special_tokens({}, json_object(files, SPECIAL_TOKENS))
        there = [
            it
            for it in map(_content, listed or [])
            if isinstance(it, str)
            and core.bytes_to_id(it.encode("utf-8", "surrogatepass")) is not None
        ]
        tokens = dict.fromkeys([*names.values(), *there])
        further = [token for token in tokens if token not in with_role]
        if further:
            config[ADDITIONAL] = further
        types = ["token_type_ids"] if tells_texts_apart(core, roles) else []
        # For every model: transformers 4 would return type ids by default, and GPT-2 uses them.
        config["model_input_names"] = ["input_ids", *types, "attention_mask"]
        unset = [role for role, token in settings.roles.items() if token is None]
        config.update({f"{role}_token": None for role in unset})
        if settings.model_max_length is not None:
            config["model_max_length"] = settings.model_max_length
        files[CONFIG] = _as_json(config)
        files[SPECIAL_TOKENS] = f"{new_files[SPECIAL_TOKENS]}\n".encode()
        files.pop(ADDED_TOKENS, None)
    if settings.chat_template != old_settings.chat_template:
        _replace_template(files, settings)
    new_roles = Settings.of_files(files, {}).roles
    found = {**dict(roles_of_stages), **new_roles}
    left_out += [f"the role {role}" for role, token in roles.items() if found.get(role) != token]
    made_special = {*written_roles.values()} - special_tokens
    left_out += [f"that {json.dumps(token)} is not special" for token in sorted(made_special)]
    return Folder({_TOKENIZER: new_files[_TOKENIZER].encode(), **files}, left_out, old_class)


def _names_in_a_folder(core: Pipeline) -> dict[str, str]:
    """Special tokens with the names that a folder has for their ids.

    If an id has two names, the folder holds the first. transformers would add the other as a token
    of its own, with a new id.
    """
    first: dict[int, str] = {}
    return {token: first.setdefault(id, token) for token, id in core.special_tokens().items()}


def tells_texts_apart(core: Pipeline, roles: Mapping[str, str]) -> bool:
    """Whether type ids distinguish the texts of a pair, as for BERT's models."""
    if not {"cls", "sep"} <= {*roles}:
        return False
    pair = core.encode_with_spans("", "", False, "ignore", True, "characters", None)
    return any(Encoding._of_core(pair).type_ids)


def _replace_class(files: dict[str, bytes], core: Pipeline, tokenizer_json: str) -> str | None:
    """Replaces the class, if transformers would build other stages for it.

    The defaults of the old class are written to the configuration.

    Returns:
        The old name.
    """
    from jeton.loading.transformers_stages import builds_other_stages

    config = json_object(files, CONFIG)
    if not builds_other_stages(config, tokenizer_json):
        return None
    name = bare_name(config)
    defaults: dict[str, Any] = {"model_input_names": input_names(name)}
    if padding_side(name) == "left" and core.sections[0] is None:  # which would set a side, too
        defaults["padding_side"] = "left"
    if (spoken := language_class(config)) is not None:
        defaults[LANGUAGE_CLASS] = spoken
    _update(files, CONFIG, {**defaults, **config, "tokenizer_class": AS_IT_STANDS})
    return str(config["tokenizer_class"])


def _as_json(value: object) -> bytes:
    return f"{json.dumps(value, indent=2, ensure_ascii=False)}\n".encode()


def _update(files: dict[str, bytes], name: str, changes: Mapping[str, object]) -> None:
    """Sets fields of an existing file; a value of `_GONE` removes the field."""
    old = json_object(files, name)
    new = {key: value for key, value in {**old, **changes}.items() if value is not _GONE}
    if new != old:
        files[name] = _as_json(new)


_GONE: Any = object()


def _config_changes(old: Settings, settings: Settings) -> dict[str, object]:
    changes: dict[str, object] = {}
    if settings.model_max_length != old.model_max_length:
        longest = settings.model_max_length
        changes = {"model_max_length": _GONE if longest is None else longest, "max_len": _GONE}
    if settings.stages_changed:
        # The class of a model would build that model's stages instead of these; without a class,
        # transformers uses that of the model in the folder.
        changes["tokenizer_class"] = AS_IT_STANDS
        if (spoken := language_class(json_object(settings.files, CONFIG))) is not None:
            changes[LANGUAGE_CLASS] = spoken
    if settings.chat_template != old.chat_template:
        changes["chat_template"] = _GONE
    return changes


def _update_roles(files: dict[str, bytes], old: Settings, settings: Settings) -> None:
    changes = {
        f"{role}_token": settings.roles.get(role, _GONE)
        for role in {**old.roles, **settings.roles}
        if settings.roles.get(role, _GONE) != old.roles.get(role, _GONE)
    }
    if not changes:
        return
    config = json_object(files, CONFIG)
    of_the_model = config.get("extra_special_tokens")
    if isinstance(of_the_model, dict):
        changes["extra_special_tokens"] = {
            name: it
            for name, it in of_the_model.items()
            if f"{name}_token" not in changes and name not in changes
        }
    _update(files, CONFIG, changes)
    if SPECIAL_TOKENS in files:
        _update(
            files,
            SPECIAL_TOKENS,
            {
                name: _GONE if it is None else it
                for name, it in changes.items()
                if name != "extra_special_tokens"
            },
        )


def _update_tokens(files: dict[str, bytes], core: Pipeline, tokenizer_json: str) -> None:
    """Updates the files beside a `tokenizer.json`, so that they add the tokenizer's tokens."""
    if ADDED_TOKENS in files:
        gone = [
            token
            for token in json_object(files, ADDED_TOKENS)
            if core.bytes_to_id(token.encode("utf-8", "surrogatepass")) is None
        ]
        _update(files, ADDED_TOKENS, dict.fromkeys(gone, _GONE))
    old = Settings.of_files(files, {})
    roles = [(role, token) for role, token in old.roles.items() if token is not None]
    new_files = {name: text.encode() for name, text in _core.folder_files(core, roles)[0]}

    def beside(files: Mapping[str, bytes]) -> tuple[bytes | None, bytes | None, bytes | None]:
        return files.get(CONFIG), files.get(SPECIAL_TOKENS), files.get(ADDED_TOKENS)

    if _core.add_the_same(tokenizer_json, beside(files), beside(new_files)):
        return
    config = json_object(files, CONFIG)
    decoder = json_value(new_files[CONFIG])["added_tokens_decoder"]
    tokens = {token["content"] for token in decoder.values()} | {token for _, token in roles}
    changes: dict[str, object] = {"added_tokens_decoder": decoder}
    if "added_tokens_decoder" not in config:
        # Beside such a list, transformers does not read the map of special tokens.
        special_tokens = json_object(files, SPECIAL_TOKENS)
        fields = {f"{role}_token": token for role, token in old.roles.items()}
        changes |= {name: it for name, it in fields.items() if name in special_tokens}
        further, _ = further_special_tokens(config, special_tokens)
        for name in (ADDITIONAL, EXTRA):
            if isinstance(special_tokens.get(name), list):
                config[name] = [_content(it) for it in further or []]
            elif isinstance(special_tokens.get(name), dict):
                changes[name] = {key: _content(it) for key, it in special_tokens[name].items()}
    for name in (ADDITIONAL, EXTRA):
        if isinstance(config.get(name), list):
            changes[name] = [it for it in config[name] if _content(it) in tokens]
    _update(files, CONFIG, changes)
    files.pop(ADDED_TOKENS, None)


def _content(token: object) -> object:
    return token.get("content") if isinstance(token, dict) else token


def _list_new_tokens(files: dict[str, bytes], core: Pipeline, first: frozenset[str]) -> None:
    """Lists special tokens that were added since: transformers only knows those in its files."""
    config = json_object(files, CONFIG)
    old = {*first, *Settings.of_files(files, {}).roles.values()}
    new = [t for t in dict.fromkeys(_names_in_a_folder(core).values()) if t not in old]
    if new:
        # A list under the newer name hides one under the older.
        name = EXTRA if config.get(EXTRA) and isinstance(config[EXTRA], list) else ADDITIONAL
        _update(files, CONFIG, {name: [*(config.get(name) or []), *new]})


def _replace_template(files: dict[str, bytes], settings: Settings) -> None:
    for name in [*files]:
        if name == TEMPLATE or name.startswith(f"{TEMPLATES}/"):
            del files[name]
    template = settings.chat_template
    if template is None:
        return
    templates = {"default": template} if isinstance(template, str) else template
    for name, text in templates.items():
        path = TEMPLATE if name == "default" else f"{TEMPLATES}/{name}.jinja"
        files[path] = text.encode()
