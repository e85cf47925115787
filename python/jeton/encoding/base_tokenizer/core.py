"""The fields of a tokenizer, made of a pipeline of the core; its stages and its tokens."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import jeton._core as _core
from jeton.encoding.base_tokenizer.once import once_per_tokenizer
from jeton.encoding.base_tokenizer.stages import Stages
from jeton.loading.settings import NO_SETTINGS, Settings
from jeton.results.vocabulary import Vocabulary

if TYPE_CHECKING:
    from typing_extensions import Self

    from jeton._core import Pipeline


class Core(_core.Tokenizer):
    """The fields of a tokenizer. The other files of this folder add the methods."""

    __slots__ = ("__weakref__", "_core", "_results", "_settings")

    _core: Pipeline
    _results: dict[Callable[..., Any], Any]
    """The results of the functions that `once_per_tokenizer` calls once."""
    _settings: Settings

    @classmethod
    def _of_core(cls, core: Pipeline, settings: Settings = NO_SETTINGS) -> Self:
        tokenizer = cls.__new__(cls)
        tokenizer._set_core(core, settings)
        return tokenizer

    def _set_core(self, core: Pipeline, settings: Settings = NO_SETTINGS) -> None:
        self._bind(core)
        self._core = core
        self._settings = settings
        self._results = {}

    @property
    @once_per_tokenizer
    def stages(self) -> Stages:
        """The stages that a text goes through: `normalizer`, `pre_tokenizer`, `model`, ….

        `tok.stages` by itself shows them all; `replace` returns a tokenizer with others.

        Example:
            >>> import jeton
            >>> tok = jeton.CharTrainer().train("hello")
            >>> tok.stages.normalizer, tok.stages.decoder
            (None, Fuse())
        """
        return Stages(self._core)

    @property
    @once_per_tokenizer
    def vocab(self) -> Vocabulary:
        """All tokens with their ids, as a read-only mapping, and what else is known of them.

        `tok.vocab[token]` is the id of a token, `tok.vocab.spelling(id)` the token of an id;
        `merges`, `scores` and `max_id` are there too.

        Example:
            >>> import jeton
            >>> tok = jeton.CharTrainer().train("hello")
            >>> tok.vocab["h"], tok.vocab.get("x"), tok.vocab.spelling(1), tok.vocab.max_id
            (1, None, b'h', 3)
        """
        return Vocabulary(self._core)

    @property
    def vocab_size(self) -> int:
        """How many ids belong to a token: `len(tok)`. With gaps, `vocab.max_id` is larger."""
        return self._core.vocab_size

    @property
    def special_tokens(self) -> dict[str, int]:
        """The special tokens with their ids, in the order of ids."""
        return self._core.special_tokens()

    def __contains__(self, token: bytes | str) -> bool:
        return token in self.vocab

    def __len__(self) -> int:
        return self._core.vocab_size

    def __bool__(self) -> bool:
        """Always true, also for a tokenizer without tokens."""
        return True
