"""Settings that are not stages: roles, chat template, and what else the files say."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from jeton._core import Pipeline
from jeton.encoding.base_tokenizer.core import Core
from jeton.loading.settings import CONFIG, STANDARD_ROLES, Settings, json_object


class Roles(dict[str, str]):
    """The special tokens of a tokenizer that have a role, by role: `tok.roles`.

    Attributes:
        ids: Their ids, by role.
    """

    __slots__ = ("ids",)

    ids: dict[str, int]

    def __init__(self, tokens: Mapping[str, str], ids: Mapping[str, int]) -> None:
        super().__init__(tokens)
        self.ids = dict(ids)

    def __reduce__(self) -> tuple[type[Roles], tuple[dict[str, str], dict[str, int]]]:
        return Roles, (dict(self), self.ids)


class FileSettings:
    """What the files of a tokenizer say about its use: `tok.settings`.

    `tok.replace(padding=…, truncation=…, chat_template=…, model_max_length=…)` returns a tokenizer
    with others.

    Example:
        >>> import jeton
        >>> tok = jeton.load("jeton-4k").replace(model_max_length=2048)
        >>> tok.settings.model_max_length, tok.settings.padding
        (2048, None)
    """

    __slots__ = ("_core", "_settings")

    _core: Pipeline
    _settings: Settings

    def __init__(self, core: Pipeline, settings: Settings) -> None:
        self._core, self._settings = core, settings

    @property
    def config(self) -> dict[str, Any]:
        """The `tokenizer_config.json` of the folder, as it was loaded. A new dict each time."""
        return json_object(self._settings.files, CONFIG)

    @property
    def model_max_length(self) -> int | None:
        """How many tokens the model takes, if the folder says so. `encode` does not truncate."""
        return self._settings.model_max_length

    @property
    def padding(self) -> dict[str, Any] | None:
        """Padding by a `tokenizer.json`: `tok(...)` applies it, `encode` does not."""
        padding, _ = self._core.sections
        return None if padding is None else dict(json.loads(padding))

    @property
    def truncation(self) -> dict[str, Any] | None:
        """Truncation by a `tokenizer.json`: `tok(...)` applies it, `encode` does not."""
        _, truncation = self._core.sections
        return None if truncation is None else dict(json.loads(truncation))

    @property
    def chat_template(self) -> str | dict[str, str] | None:
        """The chat template of the folder, or several by name; the usual one is `"default"`."""
        template = self._settings.chat_template
        return template if template is None or isinstance(template, str) else dict(template)

    def __repr__(self) -> str:
        template = self._settings.chat_template
        return (
            f"FileSettings(model_max_length={self.model_max_length}, padding={self.padding}, "
            f"truncation={self.truncation}, {'no' if template is None else 'a'} chat template, "
            f"config of {len(self.config)} entries)"
        )


class HasSettings(Core):
    """The properties of `Tokenizer` for its settings."""

    __slots__ = ()

    @property
    def roles(self) -> Roles:
        """The special tokens that have a role, by role: `"bos"`, `"eos"`, `"pad"`, ….

        `roles.ids` has their ids.

        They come from the folder that the tokenizer was loaded from, from `replace`, or from its
        format: a SentencePiece model names its own, those of published encodings are known, and
        BERT's vocabularies have known names. A new dict each time.

        Example:
            >>> import jeton
            >>> tok = jeton.WordPieceTrainer(60).train(["the weather"])
            >>> tok.roles["pad"], tok.roles.ids["pad"]
            ('[PAD]', 0)
        """
        by_role = {**dict(self._core.roles()), **self._settings.implied, **self._settings.roles}
        names = [*STANDARD_ROLES, *(role for role in by_role if role not in STANDARD_ROLES)]
        tokens: dict[str, str] = {}
        ids: dict[str, int] = {}
        for role in names:
            token = by_role.get(role)
            id = None if token is None else self.vocab.get(token)
            if token is not None and id is not None:
                tokens[role], ids[role] = token, id
        return Roles(tokens, ids)

    @property
    def settings(self) -> FileSettings:
        """What the files say of its use.

        `chat_template`, `padding`, `truncation`, `model_max_length`, `config`.
        """
        return FileSettings(self._core, self._settings)
