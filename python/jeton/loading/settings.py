"""Settings of a tokenizer that its ids do not depend on.

Look here for roles (which token ends a text, which token pads), chat templates and the longest
input, and for how they are read from the files of a tokenizer's folder.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeAlias

from jeton import files
from jeton.arguments import check_text
from jeton.errors import ArgumentError, ArgumentTypeError, FormatError

CONFIG: Final = "tokenizer_config.json"
SPECIAL_TOKENS: Final = "special_tokens_map.json"
ADDED_TOKENS: Final = "added_tokens.json"
TEMPLATE: Final = "chat_template.jinja"
TEMPLATES: Final = "additional_chat_templates"
"""The folder of chat templates with names of their own."""

GENERATION: Final = "generation_config.json"
"""The model's own file, of which the tokens that end its answers are read, and no more."""

FILES: Final = (CONFIG, SPECIAL_TOKENS, ADDED_TOKENS, TEMPLATE)
"""The settings files of a folder, as `transformers` writes them."""

STANDARD_ROLES: Final = ("bos", "eos", "unk", "sep", "pad", "cls", "mask")

ChatTemplate: TypeAlias = str | Mapping[str, str]
"""A Jinja template, or several by name."""

EXTRA: Final = "extra_special_tokens"
ADDITIONAL: Final = "additional_special_tokens"
"""The older name of the same list."""

_UNLIMITED: Final = 10**20
"""A `model_max_length` of at least this means no limit."""


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of a tokenizer besides its stages."""

    roles: Mapping[str, str | None] = field(default_factory=dict)
    """The token of each role that is set; `None` for a role that has been set to no token."""
    chat_template: ChatTemplate | None = None
    model_max_length: int | None = None
    implied: Mapping[str, str] = field(default_factory=dict)
    """Roles from the format or the published encoding, for roles that are not set."""
    files: Mapping[str, bytes] = field(default_factory=dict)
    """The files of the folder that it came from, by name."""
    stages_changed: bool = False
    """Whether the stages have changed since the folder was loaded."""
    first_special_tokens: frozenset[str] | None = None
    """The special tokens before added tokens were replaced; `None` if they were not."""

    generation_ends: tuple[int, ...] = field(default=(), compare=False)
    """The ids that end an answer by `generation_config.json`; they hold until the stages change."""

    @classmethod
    def of_files(cls, files: Mapping[str, bytes], implied: Mapping[str, str]) -> Settings:
        """The settings in the files of a folder."""
        config = json_object(files, CONFIG)
        longest = config.get("model_max_length", config.get("max_len"))
        if longest is not None and not (
            isinstance(longest, (int, float)) and not isinstance(longest, bool) and longest >= 0
        ):
            raise FormatError(f"{CONFIG}: model_max_length: expected a number, found {longest!r}")
        return cls(
            roles=_roles_of(config, json_object(files, SPECIAL_TOKENS)),
            chat_template=_chat_template_of(files, config),
            model_max_length=None if longest is None or longest >= _UNLIMITED else int(longest),
            implied=dict(implied),
            files={name: it for name, it in files.items() if name != GENERATION},
            generation_ends=_generation_ends(files),
        )


NO_SETTINGS: Final = Settings()


def read_beside(folder: Path) -> dict[str, bytes]:
    """The settings files of a folder, by name."""
    templates = sorted((folder / TEMPLATES).glob("*.jinja"))
    paths = [*(folder / name for name in (*FILES, GENERATION)), *templates]
    with files.file_errors(folder, "read"):
        found = (path for path in paths if path.is_file())
        contents = {path.relative_to(folder).as_posix(): files.read(path) for path in found}
    return contents


def json_value(text: str | bytes) -> Any:
    """The value of a JSON text. The hook lets Ctrl-C interrupt at each object."""
    return json.loads(text, object_hook=lambda value: value)


def json_object(files: Mapping[str, bytes], name: str) -> dict[str, Any]:
    """The JSON object in a file; an empty one if there is no such file."""
    if name not in files:
        return {}
    try:
        value = json_value(files[name])
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{name}: not valid JSON: {error}") from None
    if not isinstance(value, dict):
        raise FormatError(f"{name}: expected an object, found {type(value).__name__}")
    return value


def _generation_ends(files: Mapping[str, bytes]) -> tuple[int, ...]:
    """The ids that end an answer. A file of the model that cannot be read names none."""
    try:
        ends = json_object(files, GENERATION).get("eos_token_id")
    except FormatError:
        return ()
    listed = ends if isinstance(ends, list) else [ends]
    return tuple(it for it in listed if type(it) is int and 0 <= it < 1 << 32)


def _roles_of(config: dict[str, Any], special_tokens: dict[str, Any]) -> dict[str, str | None]:
    """The tokens by their roles. As in `transformers`, the map overrides the standard roles of the
    configuration, unless that lists added tokens."""
    maps = [config] if "added_tokens_decoder" in config else [config, special_tokens]
    fields: dict[str, Any] = {}
    of_the_model: dict[str, Any] = {}
    for of_file in maps:
        for name, value in of_file.items():
            role = name.removesuffix("_token")
            is_token = value is None or isinstance(value, (str, dict))
            if role != name and (is_token or role in STANDARD_ROLES):
                fields[role] = (name, value)
        if of_file is config:
            fixed = {role: it for role, it in fields.items() if isinstance(it[1], str)}
            of_the_model = {role: it for role, it in fixed.items() if role not in STANDARD_ROLES}
        if isinstance(named := of_file.get(EXTRA), dict):
            of_the_model |= {name.removesuffix("_token"): (name, it) for name, it in named.items()}
    return {role: _token_of(*field) for role, field in {**fields, **of_the_model}.items()}


def lists_for_tokens(files: Mapping[str, bytes]) -> list[str]:
    """The fields that are named like a role but hold a list, so that they give no role."""
    fields = {**json_object(files, CONFIG), **json_object(files, SPECIAL_TOKENS)}
    return [name for name, it in fields.items() if name.endswith("_token") and isinstance(it, list)]


def further_special_tokens(
    config: Mapping[str, Any], special_tokens: Mapping[str, Any]
) -> tuple[list[Any] | None, list[str]]:
    """The special tokens without names, and those that `transformers` does not read.

    The first is `None` if no file has such a list.
    """
    lists = {name: config[name] for name in (EXTRA, ADDITIONAL) if name in config}
    if ADDITIONAL in lists and not lists.get(EXTRA):
        lists[EXTRA] = lists.pop(ADDITIONAL)
    if isinstance(lists.get(EXTRA), dict):  # tokens with names
        del lists[EXTRA]
    if "added_tokens_decoder" not in config:
        if ADDITIONAL in special_tokens:
            lists[ADDITIONAL] = special_tokens[ADDITIONAL]
        extra = special_tokens.get(EXTRA)
        if isinstance(extra, list):
            lists[EXTRA] = [*(lists.get(EXTRA) or []), *extra]
        elif isinstance(extra, dict):
            lists.pop(EXTRA, None)
        elif EXTRA in special_tokens:
            lists[EXTRA] = extra
    if EXTRA not in lists and ADDITIONAL in lists:
        lists[EXTRA] = lists.pop(ADDITIONAL)
    found = {name: it for name, it in lists.items() if isinstance(it, list)}
    unread = [_token_of(ADDITIONAL, it) for it in found.get(ADDITIONAL, [])]
    return found.get(EXTRA), [token for token in unread if token is not None]


def _token_of(name: str, value: object) -> str | None:
    token = value.get("content") if isinstance(value, dict) else value
    if isinstance(token, str):
        return token
    if value is not None:
        raise FormatError(f"{CONFIG}: {name}: expected a token, found {value!r}")
    return None


def _chat_template_of(files: Mapping[str, bytes], config: dict[str, Any]) -> ChatTemplate | None:
    templates = {}
    for name, content in files.items():
        if name == TEMPLATE:
            templates["default"] = _text(name, content)
        elif name.startswith(f"{TEMPLATES}/"):
            templates[Path(name).stem] = _text(name, content)
    if templates:
        return templates["default"] if list(templates) == ["default"] else templates
    template = config.get("chat_template")
    if isinstance(template, list):
        items = [
            item
            for item in template
            if isinstance(item, dict) and isinstance(item.get("name"), str) and "template" in item
        ]
        if len(items) < len(template):
            raise FormatError(f"{CONFIG}: chat_template: each must have a name and a template")
        template = {item["name"]: item["template"] for item in items}
    try:
        return None if template is None else checked_chat_template(template)
    except (ArgumentError, ArgumentTypeError) as error:
        raise FormatError(f"{CONFIG}: {error}") from None


def _text(name: str, content: bytes) -> str:
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise FormatError(f"{name}: {error}") from None


# Settings from callers


def checked_roles(roles: object) -> dict[str, str | None]:
    """Roles with their tokens; it does not check that the tokens exist."""
    if not isinstance(roles, Mapping):
        raise ArgumentTypeError(
            f'roles must map roles to tokens, as {{"eos": "</s>"}}, not be a {type(roles).__name__}'
        )
    checked: dict[str, str | None] = {}
    for role, token in roles.items():
        check_text("each role", role)
        name = role.lower().removesuffix("_token") or "eos"
        if not role or role.lower().endswith("_token") or (name in STANDARD_ROLES and name != role):
            raise ArgumentError(f"roles: {role!r} is not a role (write {name!r})")
        checked[role] = None if token is None else check_text(f"roles[{role!r}]", token)
    return checked


def checked_chat_template(template: object) -> ChatTemplate:
    """A chat template, or several by name."""
    if isinstance(template, str):
        return check_text("chat_template", template)
    if not isinstance(template, Mapping) or not template:
        raise ArgumentTypeError(
            f"chat_template must be a str, or a dict of them by name, not {template!r:.60}"
        )
    for name, text in template.items():
        check_text("each name of a chat_template", name)
        if not name or name.startswith(".") or set(name) & set("/\\:\0"):
            raise ArgumentError(f"chat_template: {name!r} cannot be the name of a file")
        check_text(f"chat_template[{name!r}]", text)
    return dict(template)


def checked_max_length(length: object) -> int:
    """The longest input, in tokens."""
    if not isinstance(length, int) or isinstance(length, bool):
        raise ArgumentTypeError(f"model_max_length must be an int, not {type(length).__name__}")
    if not 0 < length < _UNLIMITED:
        raise ArgumentError(f"model_max_length must be from 1 on and below 10**20, not {length}")
    return length


_SECTIONS: Final[Mapping[str, Mapping[str, tuple[type, ...]]]] = {
    "padding": {
        "strategy": (str, dict),
        "direction": (str,),
        "pad_to_multiple_of": (int, type(None)),
        "pad_id": (int,),
        "pad_type_id": (int,),
        "pad_token": (str,),
    },
    "truncation": {
        "direction": (str,),
        "max_length": (int,),
        "strategy": (str,),
        "stride": (int,),
    },
}
"""The fields of the two sections of a `tokenizer.json` that no stage reads."""


def checked_section(name: str, section: object) -> dict[str, object] | None:
    """A padding or truncation section of a `tokenizer.json`."""
    if section is None:
        return None
    if not isinstance(section, Mapping):
        raise ArgumentTypeError(f"{name} must be a dict, not {type(section).__name__}")
    fields = _SECTIONS[name]
    if set(section) != set(fields):
        raise ArgumentError(f"{name} must have the fields {', '.join(fields)}")
    for key, types in fields.items():
        value = section[key]
        if not isinstance(value, types) or isinstance(value, bool):
            raise ArgumentTypeError(f"{name}[{key!r}] must not be {value!r}")
    return dict(section)
