"""A tokenizer's folder as `transformers` has it: which files it holds, and what each says.

Look here for what of a file that was loaded changes when the tokenizer is saved again: nothing,
but for what the tokenizer itself changed.
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
from jeton.errors import FileError
from jeton.loading.settings import (
    ADDED_TOKENS,
    CONFIG,
    FILES,
    SPECIAL_TOKENS,
    TEMPLATE,
    TEMPLATES,
    Settings,
    json_object,
    json_value,
)
from jeton.loading.transformers_classes import (
    AS_IT_STANDS,
    bare_name,
    builds_other_stages,
    input_names,
    padding_side,
)
from jeton.results.encoding import Encoding

__all__ = ["Folder", "files_of", "tells_texts_apart", "write"]

_TOKENIZER = "tokenizer.json"
_LISTS = ("additional_special_tokens", "extra_special_tokens")


@dataclasses.dataclass(frozen=True)
class Folder:
    """The files of a folder, by name, and what of the tokenizer they do not say."""

    files: dict[str, bytes]
    left_out: list[str]
    replaced_class: str | None
    """The class of the configuration, if transformers would build other stages by it."""


def write(folder: Path, core: Pipeline, settings: Settings, roles: Mapping[str, str]) -> Folder:
    """Writes a folder; of another tokenizer's files nothing that stands beside one is left.

    Raises:
        UnsupportedError: `tokenizer.json` cannot hold the tokenizer.
        FileError: The folder cannot be made or written to.
    """
    written = files_of(core, settings, roles)
    _core.write_into(os.fspath(folder), list(written.files.items()))
    stale = [folder / name for name in FILES if name not in written.files]
    stale += [
        path
        for path in (folder / TEMPLATES).glob("*.jinja")
        if f"{TEMPLATES}/{path.name}" not in written.files
    ]
    try:
        for path in stale:
            path.unlink(missing_ok=True)
    except OSError as error:
        raise FileError(f"{error.filename}: cannot be removed: {error.strerror}") from error
    return written


def files_of(core: Pipeline, settings: Settings, roles: Mapping[str, str]) -> Folder:
    """What a folder holds.

    Args:
        core: The tokenizer.
        settings: What is set for it.
        roles: All its roles, those that its stages tell too.
    """
    names = _names_in_a_folder(core)
    roles = {role: names.get(token, token) for role, token in roles.items()}
    texts, left_out = _core.folder_files(core, list(roles.items()))
    made = dict(texts)
    # A token that is gone plays no part any more.
    kept = {
        role: None if token is None else names.get(token, token)
        for role, token in settings.roles.items()
        if token is None or role in roles
    }
    settings = dataclasses.replace(settings, roles=kept)
    files = dict(settings.files)
    replaced = None
    if CONFIG in files:
        told = Settings.of_files(settings.files, {})
        _update_roles(files, told, settings)
        if settings.first_special_tokens is not None:
            _list_new_tokens(files, core, settings.first_special_tokens)
        _update_tokens(files, core, made[_TOKENIZER])
        _update(files, CONFIG, _config_changes(told, settings))
        replaced = _replace_class(files, core, made[_TOKENIZER])
    else:
        told = Settings.of_files(files, {})
        config = json_value(made[CONFIG])
        further = _without_role(core, roles)
        if further:
            config["additional_special_tokens"] = further
        types = ["token_type_ids"] if tells_texts_apart(core, roles) else []
        # Said of all: transformers 4 would give types to every model, and GPT-2 goes by them.
        config["model_input_names"] = ["input_ids", *types, "attention_mask"]
        unset = [role for role, token in settings.roles.items() if token is None]
        config.update({f"{role}_token": None for role in unset})
        if settings.model_max_length is not None:
            config["model_max_length"] = settings.model_max_length
        files[CONFIG] = _as_json(config)
        files[SPECIAL_TOKENS] = f"{made[SPECIAL_TOKENS]}\n".encode()
        files.pop(ADDED_TOKENS, None)
    if settings.chat_template != told.chat_template:
        _replace_template(files, settings)
    return Folder({_TOKENIZER: made[_TOKENIZER].encode(), **files}, left_out, replaced)


def _names_in_a_folder(core: Pipeline) -> dict[str, str]:
    """Special tokens with the names that a folder has for their ids.

    Of two names of one id it holds the first. transformers would add the other as a token of its
    own, with a new id.
    """
    first: dict[int, str] = {}
    return {token: first.setdefault(id, token) for token, id in core.special_tokens().items()}


def _without_role(core: Pipeline, roles: Mapping[str, str]) -> list[str]:
    """The special tokens that have no role: transformers knows of those that it is told."""
    named = {*roles.values()}
    return [
        token for token in dict.fromkeys(_names_in_a_folder(core).values()) if token not in named
    ]


def tells_texts_apart(core: Pipeline, roles: Mapping[str, str]) -> bool:
    """Whether it is one as BERT's, whose models want to know which text of a pair is which."""
    if not {"cls", "sep"} <= {*roles}:
        return False
    pair = core.encode_with_spans("", "", False, "ignore", True, "characters", None)
    return any(Encoding._of_core(pair).type_ids)


def _replace_class(files: dict[str, bytes], core: Pipeline, tokenizer_json: str) -> str | None:
    """Names another class, if transformers would build other stages by the one that is named.

    What the class says where the configuration is silent is written there.

    Returns:
        The name that was there.
    """
    config = json_object(files, CONFIG)
    if not builds_other_stages(config, tokenizer_json):
        return None
    name = bare_name(config)
    said: dict[str, Any] = {"model_input_names": input_names(name)}
    if padding_side(name) == "left" and core.sections[0] is None:  # which would say a side, too
        said["padding_side"] = "left"
    _update(files, CONFIG, {**said, **config, "tokenizer_class": AS_IT_STANDS})
    return str(config["tokenizer_class"])


def _as_json(value: object) -> bytes:
    return f"{json.dumps(value, indent=2, ensure_ascii=False)}\n".encode()


def _update(files: dict[str, bytes], name: str, changes: Mapping[str, Any]) -> None:
    """Sets fields of a file that is there; a value of `_GONE` removes the field."""
    held = json_object(files, name)
    changed = {key: value for key, value in {**held, **changes}.items() if value is not _GONE}
    if changed != held:
        files[name] = _as_json(changed)


_GONE: Any = object()


def _config_changes(told: Settings, settings: Settings) -> dict[str, Any]:
    changes: dict[str, Any] = {}
    if settings.model_max_length != told.model_max_length:
        longest = settings.model_max_length
        changes = {"model_max_length": _GONE if longest is None else longest, "max_len": _GONE}
    if settings.stages_changed:
        # A class of one model would build that model's stages instead of these; where none is
        # named, transformers goes by the model that lies beside.
        changes["tokenizer_class"] = AS_IT_STANDS
    if settings.chat_template != told.chat_template:
        changes["chat_template"] = _GONE
    return changes


def _update_roles(files: dict[str, bytes], told: Settings, settings: Settings) -> None:
    changed = {
        role: settings.roles.get(role, _GONE)
        for role in {**told.roles, **settings.roles}
        if settings.roles.get(role, _GONE) != told.roles.get(role, _GONE)
    }
    if not changed:
        return
    changes = {f"{role}_token": token for role, token in changed.items()}
    config = json_object(files, CONFIG)
    of_the_model = config.get("extra_special_tokens")
    if isinstance(of_the_model, dict):
        kept = {
            name: it
            for name, it in of_the_model.items()
            if f"{name}_token" not in changes and name not in changes
        }
        changes["extra_special_tokens"] = kept
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
    """Makes the files beside a `tokenizer.json` add the tokens that the tokenizer has."""
    told = Settings.of_files(files, {})
    roles = [(role, token) for role, token in told.roles.items() if token is not None]
    made = {name: text.encode() for name, text in _core.folder_files(core, roles)[0]}

    def beside(files: Mapping[str, bytes]) -> tuple[bytes | None, bytes | None, bytes | None]:
        return files.get(CONFIG), files.get(SPECIAL_TOKENS), files.get(ADDED_TOKENS)

    if _core.add_the_same(tokenizer_json, beside(files), beside(made)):
        return
    config = json_object(files, CONFIG)
    decoder = json_value(made[CONFIG])["added_tokens_decoder"]
    known = {token["content"] for token in decoder.values()} | {token for _, token in roles}
    changes = {"added_tokens_decoder": decoder}
    for name in _LISTS:
        if isinstance(config.get(name), list):
            changes[name] = [it for it in config[name] if _content(it) in known]
    _update(files, CONFIG, changes)
    files.pop(ADDED_TOKENS, None)


def _list_new_tokens(files: dict[str, bytes], core: Pipeline, first: frozenset[str]) -> None:
    """Lists the special tokens that came since: transformers knows of those that it is told."""
    config = json_object(files, CONFIG)
    known = {*first, *Settings.of_files(files, {}).roles.values()}
    held = dict.fromkeys(_names_in_a_folder(core).values())
    new = [token for token in held if token not in known]
    if new:
        name = next((name for name in _LISTS if isinstance(config.get(name), list)), _LISTS[0])
        _update(files, CONFIG, {name: [*(config.get(name) or []), *new]})


def _content(token: object) -> Any:
    return token.get("content") if isinstance(token, dict) else token


def _replace_template(files: dict[str, bytes], settings: Settings) -> None:
    for name in [*files]:
        if name == TEMPLATE or name.startswith(f"{TEMPLATES}/"):
            del files[name]
    template = settings.chat_template
    if template is None:
        return
    named = {"default": template} if isinstance(template, str) else template
    for name, text in named.items():
        path = TEMPLATE if name == "default" else f"{TEMPLATES}/{name}.jinja"
        files[path] = text.encode()
