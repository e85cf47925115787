"""The configuration files of a folder: the arguments of its class, and its added tokens.

Look here for which file takes precedence, as in transformers.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jeton import files
from jeton.components import AddedToken
from jeton.errors import FormatError, MissingFileError, UnsupportedError
from jeton.loading.settings import (
    ADDED_TOKENS,
    CONFIG,
    EXTRA,
    SPECIAL_TOKENS,
    further_special_tokens,
    json_object,
)

_MODEL: str = "config.json"
_ROLES = ("bos", "eos", "unk", "sep", "pad", "cls", "mask")

Token = dict[str, Any]
"""An added token without its id: its content and its flags."""


def _token(value: object, place: str, **flags: bool) -> Token:
    if isinstance(value, str):
        return {"content": value, **flags}
    if isinstance(value, dict) and isinstance(value.get("content"), str):
        fields = ("content", "lstrip", "rstrip", "single_word", "normalized", "special")
        return {**flags, **{name: value[name] for name in fields if name in value}}
    raise FormatError(f"{place}: expected a token, found {value!r:.60}")


@dataclass(frozen=True)
class Configuration:
    """The contents of the JSON files of a folder."""

    folder: Path
    arguments: Mapping[str, Any]
    """The arguments of the class, from its configuration and, if it counts, the special tokens
    map."""
    listed: Mapping[int, Token]
    """The added tokens that the files list with ids."""
    name: str | None
    """The class without `Tokenizer` and `Fast` at its end; or a model type that is not known."""
    named_by: str = ""
    """Where the name comes from, for messages."""
    listed_special: list[Any] | None = None
    """The special tokens without a role, if the files list them."""

    @classmethod
    def of(cls, folder: Path, model_types: Mapping[str, str]) -> Configuration:
        """The configuration of a folder. `model_types`: the class of each model type, for a
        configuration that names no class."""
        beside = {
            name: files.read(folder / name)
            for name in (CONFIG, SPECIAL_TOKENS, ADDED_TOKENS, _MODEL)
            if (folder / name).is_file()
        }
        config = json_object(beside, CONFIG)
        special_tokens = json_object(beside, SPECIAL_TOKENS)
        arguments = dict(config)
        if "added_tokens_decoder" not in config:
            arguments.update(special_tokens)
        name, named_by = config.get("tokenizer_class"), "the class"
        if name is None:
            # A folder may bring code of its own, and name a class in it.
            places = config.get("auto_map")
            place = places.get("AutoTokenizer") if isinstance(places, dict) else places
            names = [place] if isinstance(place, str) else place if isinstance(place, list) else []
            name = next((it.rpartition(".")[2] for it in names if isinstance(it, str)), None)
        if name is None:
            named_by = f"the model_type of {_MODEL}"
            name = json_object(beside, _MODEL).get("model_type")
            name = None if name is None else model_types.get(str(name), str(name))
        if name is not None:
            named_by = f"{named_by}, {name},"
            name = str(name).removesuffix("Fast").removesuffix("Tokenizer")
        tokens = _tokens_with_ids(config, json_object(beside, ADDED_TOKENS))
        further, _ = further_special_tokens(config, special_tokens)
        return cls(folder, arguments, tokens, name, named_by, further)

    def flag(self, name: str, default: bool) -> bool:
        """A boolean argument; `None` counts as absent."""
        value = self.arguments.get(name)
        if value is None:
            return default
        if not isinstance(value, bool):
            raise FormatError(f"{CONFIG}: {name}: expected true or false, found {value!r:.60}")
        return value

    def number(self, name: str, default: int) -> int:
        """An integer argument."""
        value = self.arguments.get(name, default)
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 1 << 24:
            raise FormatError(f"{CONFIG}: {name}: expected a number, found {value!r:.60}")
        return value

    def text(self, name: str) -> str | None:
        """A string argument."""
        value = self.arguments.get(name)
        if value is not None and not isinstance(value, str):
            raise FormatError(f"{CONFIG}: {name}: expected a text, found {value!r:.60}")
        return value

    def role(self, role: str, defaults: Mapping[str, Token | None]) -> Token | None:
        """The token of a role, from the files or else from the class."""
        name = f"{role}_token"
        default = defaults.get(role)
        if name not in self.arguments:
            return default
        value = self.arguments[name]
        if value is None:
            return None
        flags = {key: flag for key, flag in (default or {}).items() if key != "content"}
        return _token(value, f"{CONFIG}: {name}", **flags)

    def further(self) -> list[Token]:
        """The special tokens without a role, from the lists of the files."""
        return [_token(it, f"{CONFIG}: {EXTRA}") for it in self.listed_special or []]

    def with_names(self) -> list[Token]:
        """The special tokens with names of their own, such as `image_token`."""
        tokens = self.arguments.get(EXTRA)
        if not isinstance(tokens, dict):
            return []
        return [_token(it, f"{CONFIG}: {EXTRA}") for it in tokens.values()]

    def file(self, *names: str) -> Path:
        """The first of these files that exists."""
        for name in names:
            if (self.folder / name).is_file():
                return self.folder / name
        raise MissingFileError(
            f"{self.folder}: the class {self.name}Tokenizer needs {' or '.join(names)}, but there "
            "is no such file"
        )

    def read(self, *names: str) -> bytes:
        """The content of the first of these files that exists."""
        return files.read(self.file(*names))

    def vocabulary(self, *names: str) -> dict[str, int]:
        """The ids in the first of these files that exists, a JSON object from tokens to ids."""
        path = self.file(*names)
        try:
            vocabulary = json.loads(files.read(path))
        except (ValueError, RecursionError) as error:
            raise FormatError(f"{path}: not valid JSON: {error}") from None
        if not isinstance(vocabulary, dict) or not all(
            isinstance(id, int) and not isinstance(id, bool) for id in vocabulary.values()
        ):
            raise FormatError(f"{path}: expected an object from tokens to ids")
        return vocabulary

    def refuse(self, what: str) -> UnsupportedError:
        """The error for a setting that no stage supports."""
        return UnsupportedError(f"{self.folder}: {self.name}Tokenizer: {what}")


def _tokens_with_ids(
    config: Mapping[str, Any], added_tokens: Mapping[str, Any]
) -> dict[int, Token]:
    if "added_tokens_decoder" in config:
        decoder = config["added_tokens_decoder"]
        if not isinstance(decoder, dict):
            raise FormatError(f"{CONFIG}: added_tokens_decoder: expected an object")
        tokens = {}
        for id, value in decoder.items():
            if not id.isdecimal():
                raise FormatError(f"{CONFIG}: added_tokens_decoder: {id!r} is not an id")
            tokens[int(id)] = _token(value, f"{CONFIG}: added_tokens_decoder: {id}")
        return tokens
    tokens = {}
    for content, id in added_tokens.items():
        if not isinstance(id, int) or isinstance(id, bool) or id < 0:
            raise FormatError(f"{ADDED_TOKENS}: {content}: expected an id, found {id!r:.60}")
        if id in tokens:
            raise FormatError(
                f"{ADDED_TOKENS}: {tokens[id]['content']!r} and {content!r} have the same id, {id}"
            )
        tokens[id] = {"content": content}
    return tokens


@dataclass
class AddedTokenIds:
    """The added tokens, during the assignment of their ids."""

    size: int
    """How many tokens the vocabulary has."""
    id_in_vocabulary: Mapping[str, int]
    by_id: dict[int, Token] = field(default_factory=dict)

    def put(self, id: int, token: Token) -> None:
        """Assigns an id to a token; it replaces an earlier token with that id."""
        self.by_id[id] = token

    def id(self, content: str) -> int | None:
        """The id of a token."""
        for id, token in self.by_id.items():
            if token["content"] == content:
                return id
        return self.id_in_vocabulary.get(content)

    def add(self, tokens: Iterable[Token | None]) -> None:
        """Adds the special tokens that are missing, with the id of the vocabulary or a new one."""
        present = {token["content"] for token in self.by_id.values()}
        next_id = max(self.size, len({*self.id_in_vocabulary, *present}))
        for token in tokens:
            if token is None or token["content"] in present:
                continue
            present.add(token["content"])
            id = self.id_in_vocabulary.get(token["content"])
            if id is None:
                while next_id in self.by_id:
                    next_id += 1
                id, next_id = next_id, next_id + 1
            self.put(id, {**token, "special": True})

    def added_tokens(self, *, normalized: bool) -> list[AddedToken]:
        """All added tokens, in the order of their ids. `normalized`: whether the class matches
        lower-case tokens that are not special in text of any case."""
        flags = ("special", "lstrip", "rstrip", "single_word")
        return [
            AddedToken(
                token["content"],
                id,
                normalized=normalized
                and bool(token.get("normalized"))
                and not token["special"]
                and token["content"] == token["content"].lower(),
                **{name: bool(token[name]) for name in flags if name in token},
            )
            for id, token in sorted(self.by_id.items())
        ]
