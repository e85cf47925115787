"""Another tokenizer like this one, with something replaced or added."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

import jeton._core as _core
from jeton import components
from jeton.components.assembly import added_to_core
from jeton.components.component import AddedToken, Component, stored_component
from jeton.encoding.base_tokenizer.settings import HasSettings
from jeton.encoding.base_tokenizer.stages import HasStages
from jeton.errors import ArgumentError, ArgumentTypeError
from jeton.loading.settings import (
    ChatTemplate,
    Settings,
    checked_chat_template,
    checked_max_length,
    checked_roles,
    checked_section,
)

if TYPE_CHECKING:
    from typing_extensions import Self

    from jeton.components import decoders, models, normalizers, post_processors, pre_tokenizers

__all__ = ["Changes"]

_KEEP: Final[Any] = object()
"""Stands for "as it is" where `None` means "without"."""


class Changes(HasSettings, HasStages):
    """The part of `Tokenizer` for another one like it."""

    __slots__ = ()

    def replace(
        self,
        *,
        model: models.Model = _KEEP,
        normalizer: normalizers.Normalizer | None = _KEEP,
        pre_tokenizer: pre_tokenizers.PreTokenizer | None = _KEEP,
        post_processor: post_processors.PostProcessor | None = _KEEP,
        decoder: decoders.Decoder | None = _KEEP,
        added_tokens: Iterable[AddedToken] = _KEEP,
        padding: Mapping[str, Any] | None = _KEEP,
        truncation: Mapping[str, Any] | None = _KEEP,
        roles: Mapping[str, str | None] = _KEEP,
        chat_template: ChatTemplate | None = _KEEP,
        model_max_length: int | None = _KEEP,
    ) -> Self:
        """A tokenizer like this one but for what is given; `None` leaves it out.

        Args:
            model, normalizer, pre_tokenizer, post_processor, decoder, added_tokens: Its stages.
            padding, truncation: What a `tokenizer.json` says of them, with all its fields.
            roles: Special or added tokens by role (`"eos"`, `"pad"`, …), beside those that are set;
                a role that is `None` is no token's.
            chat_template: A template of Jinja, or several by name, the usual one as `"default"`.
            model_max_length: How many tokens the model takes.

        Raises:
            ArgumentError: A role for what is no token, or one of ordinary text.
            As the constructor.

        Example:
            >>> import jeton
            >>> from jeton.components import normalizers
            >>> tok = jeton.CharTrainer().train("hello")
            >>> tok.replace(normalizer=normalizers.Lowercase()).encode("HOLE")
            [1, 3, 2, 0]
        """
        if model is not _KEEP and not isinstance(model, components.models.Model):
            raise ArgumentTypeError(
                f"model must be one of jeton.components.models, not {type(model).__name__}"
            )
        given: tuple[tuple[type[Component], Any], ...] = (
            (components.normalizers.Normalizer, normalizer),
            (components.pre_tokenizers.PreTokenizer, pre_tokenizer),
            (components.post_processors.PostProcessor, post_processor),
            (components.decoders.Decoder, decoder),
        )
        changed = {
            stage.STAGE: stored_component(stage, component)
            for stage, component in given
            if component is not _KEEP
        }
        settings = self._settings
        if changed or model is not _KEEP:
            settings = dataclasses.replace(settings, stages_changed=True)
        for name, value in (("padding", padding), ("truncation", truncation)):
            if value is not _KEEP:
                changed[name] = checked_section(name, value)
        core = self._core
        if changed or model is not _KEEP or added_tokens is not _KEEP:
            built = core.model() if model is _KEEP else model.to_core()
            stages = {**self._stages(), **changed}
            tokens = core if added_tokens is _KEEP else added_to_core(added_tokens)
            if added_tokens is not _KEEP:
                settings = self._with_first_special_tokens(settings)
            core = _core.Pipeline.build(built, json.dumps(stages), tokens, core)
        if chat_template is not _KEEP:
            template = None if chat_template is None else checked_chat_template(chat_template)
            settings = dataclasses.replace(settings, chat_template=template)
        if model_max_length is not _KEEP:
            length = None if model_max_length is None else checked_max_length(model_max_length)
            settings = dataclasses.replace(settings, model_max_length=length)
        tokenizer = self._of_core(core, settings)
        return tokenizer if roles is _KEEP else tokenizer._with_roles(roles)

    __replace__ = replace

    def _with_roles(self, roles: Mapping[str, str | None]) -> Self:
        checked = checked_roles(roles)
        apart = {*self.special_tokens, *(token.content for token in self.added_tokens)}
        apart.update(dict(self._core.roles()).values())
        for role, token in checked.items():
            if token is None or token in apart:
                continue
            why = (
                f"{token!r} is not a token of this tokenizer, so it cannot be the {role}"
                if self.id_of(token) is None
                else f"{token!r} is a token of ordinary text, which would lose it to the {role}"
            )
            raise ArgumentError(f"roles: {why} (with_added_tokens adds a special one)")
        merged = {**self._settings.roles, **checked}
        return self._of_core(self._core, dataclasses.replace(self._settings, roles=merged))

    def with_added_tokens(self, tokens: Iterable[AddedToken | str]) -> Self:
        """A tokenizer like this one with more added tokens; a `str` stands for a special one.

        A token without an id takes the one that the vocabulary has for it, or the next free one.

        Raises:
            ArgumentError: A token that is an added token already, or is given twice; an id that is
                taken.

        Example:
            >>> import jeton
            >>> tok = jeton.CharTrainer().train("hello").with_added_tokens(["<|end|>"])
            >>> tok.special_tokens
            {'<|end|>': 4}
        """
        if isinstance(tokens, str):
            raise ArgumentTypeError("tokens must be an iterable of tokens, not one str")
        if not isinstance(tokens, Iterable):
            raise ArgumentTypeError(
                f"tokens must be an iterable of tokens, not {type(tokens).__name__}"
            )
        more = []
        for position, token in enumerate(tokens):
            added = AddedToken(token, special=True) if isinstance(token, str) else token
            if not isinstance(added, AddedToken):
                raise ArgumentTypeError(
                    f"tokens[{position}] must be a str or an AddedToken, not {type(added).__name__}"
                )
            more.append(added._to_core())
        settings = self._with_first_special_tokens(self._settings)
        return self._of_core(self._core.with_added_tokens(more), settings)

    def _with_first_special_tokens(self, settings: Settings) -> Settings:
        """The settings, which remember the special tokens from before the first change of them."""
        if settings.first_special_tokens is not None:
            return settings
        return dataclasses.replace(settings, first_special_tokens=frozenset(self.special_tokens))
