"""The fields of a tokenizer, and its construction from a pipeline of the core."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, TypeVar, cast

import jeton._core as _core
from jeton.components.component import Component, read_stored
from jeton.loading.settings import NO_SETTINGS, Settings
from jeton.results.vocabulary import Vocabulary

if TYPE_CHECKING:
    from typing_extensions import Self

    from jeton._core import Pipeline

__all__ = ["Core"]

_Stage = TypeVar("_Stage", bound=Component)


class Core(_core.Tokenizer):
    """The fields of a tokenizer. The other files of this folder add the methods."""

    __slots__ = ("__weakref__", "_components", "_core", "_hash", "_settings", "_vocab")

    _components: dict[str, Component | None]
    _core: Pipeline
    _hash: int | None
    _settings: Settings
    _vocab: Vocabulary | None

    @classmethod
    def _of_core(cls, core: Pipeline, settings: Settings = NO_SETTINGS) -> Self:
        tokenizer = cls.__new__(cls)
        tokenizer._set_core(core, settings)
        return tokenizer

    def _set_core(self, core: Pipeline, settings: Settings = NO_SETTINGS) -> None:
        self._bind(core)
        self._core = core
        self._settings = settings
        self._hash = None
        self._vocab = None
        self._components = {}

    def _stages(self) -> dict[str, dict[str, object] | None]:
        """All stages but the model and the added tokens, in the shape of a `tokenizer.json`."""
        stages: dict[str, dict[str, object] | None] = json.loads(self._core.stages())
        return stages

    def _stage(self, kind: type[_Stage]) -> _Stage | None:
        """A stage as a value: the same object each time, so that what it runs on is built once."""
        name = kind.STAGE
        if name not in self._components:
            self._components[name] = read_stored(name, self._stages()[name])
        return cast("_Stage | None", self._components[name])
