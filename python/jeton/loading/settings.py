"""Settings: what programs go by that use a tokenizer, and its ids do not depend on.

Look here for roles (which token ends a text, which fills rows), chat templates and the longest
input, and for how they are read from the files that stand beside a tokenizer in its folder.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeAlias

from jeton import files
from jeton.arguments import check_text
from jeton.errors import ArgumentError, ArgumentTypeError, FileError, FormatError

__all__ = [
    "ADDED_TOKENS",
    "CONFIG",
    "FILES",
    "NO_SETTINGS",
    "SPECIAL_TOKENS",
    "STANDARD_ROLES",
    "TEMPLATE",
    "TEMPLATES",
    "ChatTemplate",
    "Settings",
    "checked_chat_template",
    "checked_max_length",
    "checked_roles",
    "checked_section",
    "json_object",
    "lists_for_tokens",
    "read_beside",
]

CONFIG: Final = "tokenizer_config.json"
SPECIAL_TOKENS: Final = "special_tokens_map.json"
ADDED_TOKENS: Final = "added_tokens.json"
TEMPLATE: Final = "chat_template.jinja"
TEMPLATES: Final = "additional_chat_templates"
"""The folder of chat templates with names of their own."""

FILES: Final = (CONFIG, SPECIAL_TOKENS, ADDED_TOKENS, TEMPLATE)
"""The files that stand beside a tokenizer, as `transformers` writes them."""

STANDARD_ROLES: Final = ("bos", "eos", "unk", "sep", "pad", "cls", "mask")

ChatTemplate: TypeAlias = str | Mapping[str, str]
"""A template of Jinja, or several by name."""

_UNLIMITED: Final = 10**20
"""A `model_max_length` from here on says that there is none."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What is set for a tokenizer beside its stages."""

    roles: Mapping[str, str | None] = field(default_factory=dict)
    """The token of each role that is set; `None` where it is set that there is none."""
    chat_template: ChatTemplate | None = None
    model_max_length: int | None = None
    implied: Mapping[str, str] = field(default_factory=dict)
    """Roles that the format or the published encoding gives, where nothing is set."""
    files: Mapping[str, bytes] = field(default_factory=dict)
    """The files of the folder that it came from, by name."""
    stages_changed: bool = False
    """Whether the tokenizer has other stages than the folder had."""
    first_special_tokens: frozenset[str] | None = None
    """The special tokens that it had before added tokens were replaced; `None` if they were not."""

    @classmethod
    def of_files(cls, files: Mapping[str, bytes], implied: Mapping[str, str]) -> Settings:
        """What the files of a folder set.

        Raises:
            FormatError: A file that is not what its name says, with the place.
        """
        config = json_object(files, CONFIG)
        return cls(
            roles=_roles_of(config, json_object(files, SPECIAL_TOKENS)),
            chat_template=_chat_template_of(files, config),
            model_max_length=_max_length_of(config),
            implied=dict(implied),
            files=dict(files),
        )


NO_SETTINGS: Final = Settings()


def read_beside(folder: Path) -> dict[str, bytes]:
    """The files of a folder that settings are read from, by name.

    Raises:
        FileError: One that cannot be read.
    """
    templates = sorted((folder / TEMPLATES).glob("*.jinja"))
    paths = [*(folder / name for name in FILES), *templates]
    try:
        return {
            path.relative_to(folder).as_posix(): files.read(path)
            for path in paths
            if path.is_file()
        }
    except FileError:
        raise
    except OSError as error:
        raise FileError(f"{error.filename}: cannot be read: {error.strerror}") from error


def json_value(text: str | bytes) -> Any:
    """What JSON says. Ctrl-C is heard at each of its objects, where the reader calls back."""
    return json.loads(text, object_hook=lambda value: value)


def json_object(files: Mapping[str, bytes], name: str) -> dict[str, Any]:
    """The object of JSON that a file holds; an empty one where there is no such file."""
    if name not in files:
        return {}
    try:
        value = json_value(files[name])
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{name}: not valid JSON: {error}") from None
    if not isinstance(value, dict):
        raise FormatError(f"{name}: expected an object, found {type(value).__name__}")
    return value


def _roles_of(config: dict[str, Any], special_tokens: dict[str, Any]) -> dict[str, str | None]:
    # As `transformers` has it, the map says more than the configuration unless that lists tokens.
    named = config if "added_tokens_decoder" in config else {**config, **special_tokens}
    roles = {}
    for name, value in named.items():
        role = name.removesuffix("_token")
        is_token = value is None or isinstance(value, (str, dict))
        if role != name and (is_token or role in STANDARD_ROLES):
            roles[role] = _token_of(name, value)
    of_the_model = named.get("extra_special_tokens")
    if isinstance(of_the_model, dict):
        for name, value in of_the_model.items():
            roles.setdefault(name.removesuffix("_token"), _token_of(name, value))
    return roles


def lists_for_tokens(files: Mapping[str, bytes]) -> list[str]:
    """The fields that are named as those of one token, and hold a list, which gives no role."""
    fields = {**json_object(files, CONFIG), **json_object(files, SPECIAL_TOKENS)}
    return [name for name, it in fields.items() if name.endswith("_token") and isinstance(it, list)]


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
    found = config.get("chat_template")
    if isinstance(found, list):
        named = [
            item
            for item in found
            if isinstance(item, dict) and isinstance(item.get("name"), str) and "template" in item
        ]
        if len(named) < len(found):
            raise FormatError(f"{CONFIG}: chat_template: each must have a name and a template")
        found = {item["name"]: item["template"] for item in named}
    try:
        return None if found is None else checked_chat_template(found)
    except (ArgumentError, ArgumentTypeError) as error:
        raise FormatError(f"{CONFIG}: {error}") from None


def _text(name: str, content: bytes) -> str:
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise FormatError(f"{name}: {error}") from None


def _max_length_of(config: dict[str, Any]) -> int | None:
    found = config.get("model_max_length", config.get("max_len"))
    if found is None:
        return None
    if not isinstance(found, (int, float)) or isinstance(found, bool) or not found >= 0:
        raise FormatError(f"{CONFIG}: model_max_length: expected a number, found {found!r}")
    return None if found >= _UNLIMITED else int(found)


# What callers set


def checked_roles(roles: object) -> dict[str, str | None]:
    """Roles with their tokens; the tokens are not looked up."""
    if not isinstance(roles, Mapping):
        raise ArgumentTypeError(
            f'roles must map roles to tokens, as {{"eos": "</s>"}}, not be a {type(roles).__name__}'
        )
    checked: dict[str, str | None] = {}
    for role, token in roles.items():
        check_text("each role", role)
        meant = role.lower().removesuffix("_token") or "eos"
        if (
            not role
            or role.lower().endswith("_token")
            or (meant in STANDARD_ROLES and meant != role)
        ):
            raise ArgumentError(f"roles: {role!r} is not a role (write {meant!r})")
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


def checked_section(name: str, section: object) -> dict[str, Any] | None:
    """What a `tokenizer.json` may say of padding or truncation."""
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
