"""The stages before the model, one after another, each as the tokenizer itself runs it.

Look here for how the text between two stages is seen: the stages stand around a model that writes
every byte as a token of its own, and its tokens, joined, are the text that the real model gets.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, Literal

from jeton.components import models, normalizers, pre_tokenizers
from jeton.components.assembly import assembled
from jeton.encoding.explaining.steps import Stretch, TextStep

if TYPE_CHECKING:
    from jeton.argument_types import SpecialPolicy
    from jeton.components import AddedToken
    from jeton.encoding.base_tokenizer import BaseTokenizer

__all__ = ["FirstStages", "component_name"]

_MOST_BUILT: Final = 64

_BYTES: Final = {f"<0x{byte:02X}>".encode(): byte for byte in range(256)}


class FirstStages:
    """The stages before the model of one tokenizer.

    Args:
        tok: The tokenizer.
        model: Its model. Before a BPE over bytes, GPT-2's pre-tokenizer leaves text as it is.
    """

    def __init__(self, tok: BaseTokenizer, model: models.Model) -> None:
        alphabet: Literal["bytes", "characters"] = "characters"
        if isinstance(model, models.BPE):
            alphabet = model.alphabet
        self.spelling = models.BPE(_BYTES, [], alphabet=alphabet, byte_fallback=True)
        self.added = tok.added_tokens
        self.normalizers: list[normalizers.Normalizer] = _flat(tok.normalizer)
        self.pre_tokenizers: list[pre_tokenizers.PreTokenizer] = _flat(tok.pre_tokenizer)
        self._of_core = type(tok)._of_core
        self._built: dict[object, BaseTokenizer] = {}

    def steps(self, text: str, special: SpecialPolicy) -> tuple[tuple[TextStep, ...], Any]:
        """The steps, and the stretches that the model gets."""
        steps: list[TextStep] = []
        stretches = self._stretches(text, special, 0, 0, False)
        normal_tokens = any(token.normalized for token in self.added)

        def add(stage: Any, name: str, after: tuple[Stretch, ...]) -> None:
            nonlocal stretches
            steps.append(TextStep(stage, name, stretches, after))
            stretches = after

        if self.added:
            whole = self._whole(text)
            found, stretches = stretches, whole
            if not self.normalizers and normal_tokens:
                found = self._stretches(text, special, 0, 0, True)
            add("added tokens", _many(self.added), found)
        for number, normalizer in enumerate(self.normalizers, 1):
            add(
                "normalizer",
                component_name(normalizer),
                self._stretches(text, special, number, 0, False),
            )
        if self.normalizers and normal_tokens:
            tokens = [token for token in self.added if token.normalized]
            after = self._stretches(text, special, len(self.normalizers), 0, True)
            add("added tokens", f"{_many(tokens)} in normalized text", after)
        for number, pre_tokenizer in enumerate(self.pre_tokenizers, 1):
            after = self._stretches(text, special, len(self.normalizers), number, True)
            add("pre-tokenizer", component_name(pre_tokenizer), after)
        return tuple(steps), stretches

    def _whole(self, text: str) -> tuple[Stretch, ...]:
        alone = self._tokenizer((), (), ())
        return _read(alone, text, "ignore", {})

    def _stretches(
        self, text: str, special: SpecialPolicy, normalized: int, cut: int, normal_tokens: bool
    ) -> tuple[Stretch, ...]:
        """The text behind so many normalizers and pre-tokenizers.

        Args:
            text: The text.
            special: What special tokens in it mean.
            normalized: How many normalizers it has passed.
            cut: How many pre-tokenizers it has passed.
            normal_tokens: Whether tokens are found in normalized text, too.
        """
        tokens, policy = self._tokens_to_find(special)
        tokens = [token for token in tokens if normal_tokens or not token.normalized]
        key = (normalized, cut, tuple(token.content for token in tokens))
        if key not in self._built:
            if len(self._built) > _MOST_BUILT:  # each set of names in `special` has its own
                self._built.clear()
            self._built[key] = self._tokenizer(
                self.normalizers[:normalized], self.pre_tokenizers[:cut], tokens
            )
        built = self._built[key]
        ids = {it.content: it.id for it in self.added}
        known = {it.id: ids[it.content] for it in built.added_tokens}
        return _read(built, text, policy, known)

    def _tokens_to_find(self, special: SpecialPolicy) -> tuple[list[AddedToken], SpecialPolicy]:
        """The tokens that are looked for, and what becomes of special ones.

        Of a set of names the others are not looked for at all, unless there are none or all.
        """
        if isinstance(special, str):
            return self.added, special
        names = set(special)
        specials = {token.content for token in self.added if token.special}
        if not names:
            return self.added, "ignore"
        if names == specials:
            return self.added, "allow"
        return [it for it in self.added if not it.special or it.content in names], "allow"

    def _tokenizer(
        self,
        before: Sequence[normalizers.Normalizer],
        cutting: Sequence[pre_tokenizers.PreTokenizer],
        tokens: Sequence[AddedToken],
    ) -> BaseTokenizer:
        pipeline = assembled(
            self.spelling,
            normalizer=normalizers.Sequence(before) if before else None,
            pre_tokenizer=pre_tokenizers.Sequence(cutting) if cutting else None,
            added_tokens=[
                dataclasses.replace(
                    token, id=_BYTES.get(token.content.encode(), len(_BYTES) + number)
                )
                for number, token in enumerate(tokens)
            ],
        )
        return self._of_core(pipeline)


def _read(
    tok: BaseTokenizer, text: str, special: SpecialPolicy, known: dict[int | None, int | None]
) -> tuple[Stretch, ...]:
    """The stretches that a tokenizer of bytes makes of a text, by words."""
    encoding = tok.encode_with_spans(text, special=special)
    stretches: list[Stretch] = []
    at = 0
    while at < len(encoding):
        end = at
        while end < len(encoding) and encoding.word_ids[end] == encoding.word_ids[at]:
            end += 1
        ids = encoding.ids[at:end]
        span = (encoding.spans[at][0], encoding.spans[end - 1][1])
        content = tok.token_spelling(ids[0]).decode()
        is_added = len(ids) == 1 and ids[0] in known
        if is_added and (ids[0] >= len(_BYTES) or content in text[slice(*span)]):
            stretches.append(Stretch(content, span, known[ids[0]]))
        else:
            stretches.append(Stretch(bytes(ids).decode(), span))
        at = end
    return tuple(stretches)


def _flat(stage: object) -> list[Any]:
    """The steps of a stage; a sequence may hold others."""
    if stage is None:
        return []
    steps = getattr(stage, "steps", None)
    return [stage] if steps is None else [flat for step in steps for flat in _flat(step)]


def _many(tokens: Sequence[AddedToken]) -> str:
    return f"{len(tokens):,} added token" + "s" * (len(tokens) != 1)


def component_name(component: Any) -> str:
    """A component as its name and the settings that are not at their defaults."""
    told = []
    for field in dataclasses.fields(component):
        value = getattr(component, field.name)
        if value != field.default and (shown := _setting_text(value)):
            told.append(f"{field.name}={shown}")
    return " ".join([type(component).__name__, *told])


def _setting_text(value: object) -> str:
    """A setting in a few words; nothing where it says little to a reader."""
    if isinstance(value, bytes):
        return f"<{len(value):,} bytes>"
    if isinstance(value, tuple):
        names = [getattr(item, "name", item) for item in value]
        if len(names) > 8:
            return f"<{len(names):,} of them>"
        return " ".join(map(str, names))
    return str(getattr(value, "source", repr(value)))
