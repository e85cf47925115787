"""Copies of a tokenizer with something replaced or added."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, Literal

import jeton._core as _core
from jeton import components
from jeton.arguments import check_kind, one_of
from jeton.components.assembly import added_to_core
from jeton.components.component import AddedToken, Component, stored_component
from jeton.encoding.base_tokenizer.settings import HasSettings
from jeton.errors import ArgumentError, ArgumentTypeError
from jeton.loading.settings import (
    CONFIG,
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

_KEEP: Final[Any] = object()
"""Default of an argument that leaves its part unchanged, as `None` removes it."""


class ChangeMethods(HasSettings):
    """The methods of `Tokenizer` that return a changed copy."""

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
        padding: Mapping[str, object] | None = _KEEP,
        truncation: Mapping[str, object] | None = _KEEP,
        roles: Mapping[str, str | None] = _KEEP,
        chat_template: ChatTemplate | None = _KEEP,
        model_max_length: int | None = _KEEP,
        src_lang: str = _KEEP,
        tgt_lang: str | None = _KEEP,
        language: str | None = _KEEP,
        task: str | None = _KEEP,
    ) -> Self:
        """A copy of this tokenizer with the given parts replaced; `None` removes a part.

        Args:
            model, normalizer, pre_tokenizer, post_processor, decoder, added_tokens: Its stages.
            padding, truncation: These sections of a `tokenizer.json`, with all their fields.
            roles: Special or added tokens by role (`"eos"`, `"pad"`, …). Roles that are not named
                keep their token; `None` takes the token from a role.
            chat_template: A Jinja template, or several by name, the usual one as `"default"`.
            model_max_length: How many tokens the model takes.
            src_lang, tgt_lang: The languages of a translation model (mBART, mBART-50, NLLB,
                M2M-100), as its codes: of texts, and of `text_target`.
            language, task: The language that Whisper hears, as a code or a name, and its task:
                `"transcribe"` or `"translate"`.

        Raises:
            ArgumentError: A role for something that is no token, or is a token of ordinary text; a
                language or a task that the model does not have.
            UnsupportedError: A language, for a tokenizer of no class that has any.
            As the constructor.

        Example:
            >>> import jeton
            >>> from jeton.components import normalizers
            >>> tok = jeton.CharTrainer().train("hello")
            >>> tok.replace(normalizer=normalizers.Lowercase()).encode("HOLE")
            [1, 3, 2, 0]
        """
        if model is not _KEEP:
            check_kind("model", model, components.models.Model, "one of jeton.components.models")
        arguments: tuple[tuple[type[Component], Component | None], ...] = (
            (components.normalizers.Normalizer, normalizer),
            (components.pre_tokenizers.PreTokenizer, pre_tokenizer),
            (components.post_processors.PostProcessor, post_processor),
            (components.decoders.Decoder, decoder),
        )
        changes = {
            stage.STAGE: stored_component(stage, component)
            for stage, component in arguments
            if component is not _KEEP
        }
        settings = self._settings
        if changes or model is not _KEEP:
            settings = dataclasses.replace(settings, stages_changed=True)
        spoken: dict[str, Any] = {
            "src_lang": src_lang, "tgt_lang": tgt_lang, "language": language, "task": task,
        }  # fmt: skip
        if spoken := {name: it for name, it in spoken.items() if it is not _KEEP}:
            from jeton.encoding.languages import around_texts

            if post_processor is not _KEEP:
                raise ArgumentError(f"{next(iter(spoken))} is a post_processor: pass one of them")
            config = {**self.settings.config, **spoken}
            changes["post_processor"] = stored_component(
                components.post_processors.PostProcessor, around_texts(self, config)
            )
            written = json.dumps(config, ensure_ascii=False, indent=2).encode()
            settings = dataclasses.replace(settings, files={**settings.files, CONFIG: written})
        for name, value in (("padding", padding), ("truncation", truncation)):
            if value is not _KEEP:
                changes[name] = checked_section(name, value)
        core = self._core
        if changes or model is not _KEEP or added_tokens is not _KEEP:
            core_model = core.model() if model is _KEEP else model.to_core()
            stages = {**self.stages._stored(), **changes}
            tokens = core if added_tokens is _KEEP else added_to_core(added_tokens)
            if added_tokens is not _KEEP:
                settings = self._with_first_special_tokens(settings)
            core = _core.Pipeline.build(core_model, json.dumps(stages), tokens, core)
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
        new_roles = checked_roles(roles)
        not_in_text = {*self.special_tokens, *(token.content for token in self.stages.added_tokens)}
        not_in_text.update(dict(self._core.roles()).values())
        for role, token in new_roles.items():
            if token is None or token in not_in_text:
                continue
            why = (
                f"{token!r} is not a token of this tokenizer, so it cannot be the {role}"
                if token not in self
                else f"{token!r} is a token of ordinary text, so it cannot also be the {role}"
            )
            raise ArgumentError(f"roles: {why} (with_added_tokens adds a special one)")
        all_roles = {**self._settings.roles, **new_roles}
        return self._of_core(self._core, dataclasses.replace(self._settings, roles=all_roles))

    def with_added_tokens(
        self, tokens: Iterable[AddedToken | str], *, existing: Literal["raise", "keep"] = "raise"
    ) -> Self:
        """A copy of this tokenizer with more added tokens; a `str` becomes a special one.

        A token without an id gets the id that the vocabulary has for it, or the next free one.

        Args:
            tokens: The tokens.
            existing: What to do about those that are added tokens already: `"raise"`, or `"keep"`
                to leave them as they are.

        Raises:
            ArgumentError: Tokens that are added tokens already, all of them named, or are given
                twice; an id that another token has, or other than the one that a kept token has.

        Example:
            >>> import jeton
            >>> tok = jeton.CharTrainer().train("hello").with_added_tokens(["<|end|>"])
            >>> tok.with_added_tokens(["<|end|>", "<|user|>"], existing="keep").special_tokens
            {'<|end|>': 4, '<|user|>': 5}
        """
        one_of("existing", existing, ("raise", "keep"))
        if isinstance(tokens, str):
            raise ArgumentTypeError("tokens must be an iterable of tokens, not one str")
        check_kind("tokens", tokens, Iterable, "an iterable of tokens")
        more: list[AddedToken] = []
        for position, token in enumerate(tokens):
            entry = AddedToken(token, special=True) if isinstance(token, str) else token
            check_kind(f"tokens[{position}]", entry, AddedToken, "a str or an AddedToken")
            more.append(entry)
        if existing == "keep":
            more = self._without_existing(more)
        try:
            core = self._core.with_added_tokens([entry._to_core() for entry in more])
        except ArgumentError:
            self._check_new(more)
            raise
        return self._of_core(core, self._with_first_special_tokens(self._settings))

    def _without_existing(self, tokens: list[AddedToken]) -> list[AddedToken]:
        """Those that are not added tokens already."""
        known = {token.content: token.id for token in self.stages.added_tokens}
        for token in tokens:
            if token.id not in (None, known.get(token.content, token.id)):
                raise ArgumentError(
                    f'tokens: "{token.content:.60}" is an added token already, with id '
                    f"{known[token.content]} (leave the id {token.id} out)"
                )
        return [token for token in tokens if token.content not in known]

    def _check_new(self, tokens: list[AddedToken]) -> None:
        """Raises an error that names all that are added tokens already, if there are several."""
        known = {token.content: token.id for token in self.stages.added_tokens}
        taken = [token.content for token in tokens if token.content in known]
        if len(taken) > 1:
            names = ", ".join(f'"{content:.60}" with id {known[content]}' for content in taken)
            raise ArgumentError(
                f'tokens: {names} are added tokens already (existing="keep" leaves them as they '
                "are)"
            )

    def _with_first_special_tokens(self, settings: Settings) -> Settings:
        """The settings with the special tokens as they were before the first change."""
        if settings.first_special_tokens is not None:
            return settings
        return dataclasses.replace(settings, first_special_tokens=frozenset(self.special_tokens))
