"""Training superwords: `superwords=` of `BPETrainer`, merges across words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import jeton._core as _core
from jeton.arguments import checked_int, one_of
from jeton.corpora.counting import Counting, Reading, count_words
from jeton.corpora.word_counts import Corpus, WordCounts
from jeton.errors import ArgumentError
from jeton.training.trainer import core_watch

SuperwordKind: TypeAlias = Literal["super", "boundless"]
"""After the words, or in competition with them."""

Joining: TypeAlias = Literal["letters", "all"]
"""Which whole words may join."""


@dataclass(frozen=True)
class Superwords:
    """How to learn superwords: the parameters, checked."""

    parameters: dict[str, Any]

    @classmethod
    def of(
        cls,
        superwords: object,
        vocab_sizes: tuple[int, ...],
        *,
        superword_tokens: int | None,
        max_words_per_token: int | None,
        joining: str | None,
    ) -> Superwords | None:
        """The parameters of `BPETrainer`; `None` if it learns no superwords.

        Raises:
            ArgumentError: A parameter that is not for this value of `superwords`.
        """
        others = {
            "superword_tokens": superword_tokens,
            "max_words_per_token": max_words_per_token,
            "joining": joining,
        }
        if superwords is None:
            for name, value in others.items():
                if value is not None:
                    raise ArgumentError(f"{name} is for superwords; set superwords='boundless'")
            return None
        one_of("superwords", superwords, ("super", "boundless"))
        if joining is not None:
            one_of("joining", joining, ("letters", "all"))
        if len(vocab_sizes) > 1:
            raise ArgumentError("superwords are learnt for one vocab_size at a time; give one")
        if superwords == "boundless" and superword_tokens is not None:
            raise ArgumentError(
                "superword_tokens is for superwords='super': otherwise counts decide how many "
                "superwords there are"
            )
        if superwords == "super" and superword_tokens is None:
            superword_tokens = vocab_sizes[0] // 10
        for name, number in (
            ("superword_tokens", superword_tokens),
            ("max_words_per_token", max_words_per_token),
        ):
            if number is not None:
                checked_int(name, number, 0)
        return cls(
            {
                "superword_tokens": superword_tokens,
                "max_words_per_token": max_words_per_token,
                "joining": "letters" if joining is None else joining,
            }
        )

    def train(
        self,
        data: Corpus,
        counts: _core.WordCounts,
        counting: Counting,
        reading: Reading,
        parameters: dict[str, Any],
    ) -> _core.Model:
        """Learns words from their counts, and superwords from the corpus, which is read again."""
        watch = core_watch(reading.watch)
        training = _core.SuperwordTraining(
            counts, counting.cutting, {**parameters, **self.parameters}, watch
        )

        def read() -> _core.WordCounts:
            return count_words(data, counting, reading, training.counter)

        read()
        while True:
            model = training.learn(read(), watch)
            if model is not None:
                return model


def check_readable_again(data: object) -> None:
    """Raises for a corpus that can be read only once."""
    if isinstance(data, WordCounts):
        raise ArgumentError(
            "superwords are learnt from neighbouring words, which counts do not have: give texts"
        )
    if isinstance(data, Iterator):
        raise ArgumentError(
            "superwords need a corpus that can be read several times, and data is an iterator: "
            "give files, or a list of texts"
        )
