"""The stages before the model, explained: each is run as the tokenizer itself runs it.

Look here for how the text between two stages is made visible. The stages are put around a model
with one token per byte; its tokens, joined, are the text that the real model gets.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, Literal

from jeton.components import models, normalizers, pre_tokenizers
from jeton.components.assembly import assembled
from jeton.components.component import in_words, steps_of
from jeton.encoding.explaining.steps import Stretch, TextStage, TextStep

if TYPE_CHECKING:
    from jeton.argument_types import SpecialPolicy
    from jeton.components import AddedToken
    from jeton.encoding.base_tokenizer import BaseTokenizer

_CACHE_CAPACITY: Final = 64
"""How many tokenizers of bytes are cached: each set of names in `special` has its own."""

_BYTES: Final = {f"<0x{byte:02X}>".encode(): byte for byte in range(256)}


class FirstStages:
    """The stages before the model of one tokenizer. Before a model over bytes, GPT-2's
    pre-tokenizer leaves text as it is."""

    def __init__(self, tok: BaseTokenizer) -> None:
        alphabet: Literal["bytes", "characters"] = (
            "bytes" if tok._core.has_raw_tokens else "characters"
        )
        self.spelling = models.BPE(_BYTES, [], alphabet=alphabet, byte_fallback=True)
        self.added_tokens = tok.stages.added_tokens
        self.normalizers = steps_of(tok.stages.normalizer)
        self.pre_tokenizers = steps_of(tok.stages.pre_tokenizer)
        self._of_core = type(tok)._of_core
        self._kept = functools.lru_cache(_CACHE_CAPACITY)(self._tokenizer)

    def steps(
        self, text: str, special: SpecialPolicy
    ) -> tuple[tuple[TextStep, ...], tuple[Stretch, ...]]:
        """The steps, and the stretches that the model gets."""
        steps: list[TextStep] = []
        stretches = self._stretches(text, special, 0, 0, False)
        normal_tokens = any(token.normalized for token in self.added_tokens)

        def add(stage: TextStage, name: str, after: tuple[Stretch, ...]) -> None:
            nonlocal stretches
            steps.append(TextStep(stage, name, stretches, after))
            stretches = after

        if self.added_tokens:
            after = stretches
            stretches = _read(self._kept(0, 0, ()), text, "ignore", {})
            if not self.normalizers and normal_tokens:
                after = self._stretches(text, special, 0, 0, True)
            add("added tokens", _many(self.added_tokens), after)
        for number, normalizer in enumerate(self.normalizers, 1):
            add(
                "normalizer",
                in_words(normalizer),
                self._stretches(text, special, number, 0, False),
            )
        if self.normalizers and normal_tokens:
            tokens = [token for token in self.added_tokens if token.normalized]
            after = self._stretches(text, special, len(self.normalizers), 0, True)
            add("added tokens", f"{_many(tokens)} in normalized text", after)
        for number, pre_tokenizer in enumerate(self.pre_tokenizers, 1):
            after = self._stretches(text, special, len(self.normalizers), number, True)
            add("pre-tokenizer", in_words(pre_tokenizer), after)
        return tuple(steps), stretches

    def _stretches(
        self,
        text: str,
        special: SpecialPolicy,
        normalizer_count: int,
        pre_tokenizer_count: int,
        normal_tokens: bool,
    ) -> tuple[Stretch, ...]:
        """The text after its first normalizers and pre-tokenizers.

        Args:
            special: What special tokens in it mean.
            normalizer_count: How many normalizers it goes through.
            pre_tokenizer_count: How many pre-tokenizers it goes through.
            normal_tokens: Whether added tokens are also found in normalized text.
        """
        tokens, policy = self._tokens_to_find(special)
        tokens = [token for token in tokens if normal_tokens or not token.normalized]
        byte_tokenizer = self._kept(normalizer_count, pre_tokenizer_count, tuple(tokens))
        ids = {it.content: it.id for it in self.added_tokens}
        id_map = {it.id: ids[it.content] for it in byte_tokenizer.stages.added_tokens}
        return _read(byte_tokenizer, text, policy, id_map)

    def _tokens_to_find(self, special: SpecialPolicy) -> tuple[list[AddedToken], SpecialPolicy]:
        """The added tokens to search for, and the policy for special ones.

        If `special` is a set of names, other special tokens are not searched for, unless the set
        has none or all of them.
        """
        if isinstance(special, str):
            return self.added_tokens, special
        names = set(special)
        specials = {token.content for token in self.added_tokens if token.special}
        if not names:
            return self.added_tokens, "ignore"
        if names == specials:
            return self.added_tokens, "allow"
        return [it for it in self.added_tokens if not it.special or it.content in names], "allow"

    def _tokenizer(
        self, normalizer_count: int, pre_tokenizer_count: int, tokens: tuple[AddedToken, ...]
    ) -> BaseTokenizer:
        """A tokenizer of bytes behind the first normalizers and pre-tokenizers."""
        first = self.normalizers[:normalizer_count]
        second = self.pre_tokenizers[:pre_tokenizer_count]
        pipeline = assembled(
            self.spelling,
            normalizer=normalizers.Sequence(first) if first else None,
            pre_tokenizer=pre_tokenizers.Sequence(second) if second else None,
            added_tokens=[
                dataclasses.replace(
                    token, id=_BYTES.get(token.content.encode(), len(_BYTES) + number)
                )
                for number, token in enumerate(tokens)
            ],
        )
        return self._of_core(pipeline)


def _read(
    tok: BaseTokenizer, text: str, special: SpecialPolicy, id_map: dict[int | None, int | None]
) -> tuple[Stretch, ...]:
    """The words of a text as stretches, by a tokenizer of bytes."""
    encoding = tok.encode_with_spans(text, special=special)
    stretches: list[Stretch] = []
    at = 0
    while at < len(encoding):
        end = at
        while end < len(encoding) and encoding.word_ids[end] == encoding.word_ids[at]:
            end += 1
        ids = encoding.ids[at:end]
        span = (encoding.spans[at][0], encoding.spans[end - 1][1])
        content = tok.vocab.spelling(ids[0]).decode()
        is_added = len(ids) == 1 and ids[0] in id_map
        if is_added and (ids[0] >= len(_BYTES) or content in text[slice(*span)]):
            stretches.append(Stretch(content, span, id_map[ids[0]]))
        else:
            stretches.append(Stretch(bytes(ids).decode(), span))
        at = end
    return tuple(stretches)


def _many(tokens: Sequence[AddedToken]) -> str:
    return f"{len(tokens):,} added token" + "s" * (len(tokens) != 1)
