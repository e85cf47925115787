"""Training that is fair to languages: `languages=` of `BPETrainer`, a corpus for each language."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import jeton._core as _core
from jeton.arguments import checked_int, checked_number, one_of
from jeton.corpora.counting import Reading
from jeton.corpora.memory_size import memory_bytes
from jeton.corpora.word_counts import Corpus, WordCounts
from jeton.errors import ArgumentError, ArgumentTypeError, TrainingError

Balance: TypeAlias = Literal["base", "window"] | Mapping[str, float]
"""Which language has the turn: the one with most tokens, with a window or not, or by ratios."""

Corpora: TypeAlias = Mapping[str, Corpus]
"""A corpus for each language, by its name."""


@dataclass(frozen=True)
class Languages:
    """How to be fair to languages: the parameters, checked."""

    ratios: dict[str, float] | None
    window_size: int | None
    alpha: float | None
    global_merges: int

    @classmethod
    def of(
        cls,
        languages: object,
        *,
        global_merges: int | None,
        window_size: int | None,
        alpha: float | None,
    ) -> Languages | None:
        """The parameters of `BPETrainer`; `None` if it learns from one corpus."""
        others = {"global_merges": global_merges, "window_size": window_size, "alpha": alpha}
        if languages is None:
            for name, value in others.items():
                if value is not None:
                    raise ArgumentError(f"{name} is for languages; set languages='base'")
            return None
        ratios = None
        if isinstance(languages, Mapping):
            ratios = {
                _name("languages", name): checked_number(f"languages[{name!r}]", ratio)
                for name, ratio in languages.items()
            }
            if not ratios:
                raise ArgumentError("languages holds no ratios; give one for each language")
        else:
            one_of("languages", languages, ("base", "window"), "a mapping of ratios")
        if languages == "base":
            for name in ("window_size", "alpha"):
                if others[name] is not None:
                    raise ArgumentError(f"{name} is for languages='window', not for 'base'")
        has_window = languages == "window" or window_size is not None or alpha is not None
        return cls(
            ratios,
            checked_int("window_size", 100 if window_size is None else window_size, 1)
            if has_window
            else None,
            checked_number("alpha", 2.0 if alpha is None else alpha) if has_window else None,
            checked_int("global_merges", global_merges or 0, 0),
        )

    def train(
        self,
        data: object,
        development: object,
        reading: Reading,
        *,
        count: Callable[[Corpus, Reading], _core.WordCounts],
        train: Callable[
            [list[_core.WordCounts], list[_core.WordCounts], dict[str, Any]], list[_core.Model]
        ],
    ) -> list[_core.Model]:
        """Counts the corpora and the development texts, each by `count`, and trains from them."""
        corpora = _corpora("data", data)
        texts = {} if development is None else _corpora("development", development)
        if self.ratios is not None and texts:
            raise ArgumentError(
                "ratios and development texts both say which language is next; leave out one"
            )
        for name, there in (("languages", self.ratios), ("development", texts or None)):
            if there is not None and set(there) != set(corpora):
                differing = sorted(set(there) ^ set(corpora))
                raise ArgumentError(
                    f"{name} and data must name the same languages; only one has {differing}"
                )
        allowed = memory_bytes(reading.memory)
        if allowed is not None:
            reading = replace(reading, memory=allowed // (len(corpora) + len(texts)))
        counts = {language: count(corpus, reading) for language, corpus in corpora.items()}
        for language, words in counts.items():
            if not len(words):
                raise TrainingError(f"the corpus of {language!r} has no words to learn from")
        parameters = {
            "ratios": [] if self.ratios is None else [self.ratios[name] for name in corpora],
            "window_size": self.window_size,
            "alpha": self.alpha,
            "global_merges": self.global_merges,
        }
        judged = [count(texts[language], reading) for language in corpora] if texts else []
        return train(list(counts.values()), judged, parameters)


def refuse_languages(data: object, development: object) -> None:
    """Raises for a corpus for each language, if the trainer learns from one corpus."""
    is_counts = isinstance(data, Mapping) and all(isinstance(it, int) for it in data.values())
    if isinstance(data, Mapping) and not is_counts:
        raise ArgumentError(
            "data maps names to corpora, which is for BPETrainer(languages=...); give one corpus"
        )
    if development is not None:
        raise ArgumentError("development is for BPETrainer(languages=...); leave it out")


def _corpora(name: str, corpora: object) -> dict[str, Corpus]:
    if isinstance(corpora, WordCounts) or not isinstance(corpora, Mapping):
        raise ArgumentTypeError(
            f"{name} must map each language to its corpus, as the trainer has languages, not be a "
            f"{type(corpora).__name__}"
        )
    if not corpora:
        raise ArgumentError(f"{name} is empty; give a corpus for each language")
    return {_name(name, language): corpus for language, corpus in corpora.items()}


def _name(where: str, language: object) -> str:
    if not isinstance(language, str):
        raise ArgumentTypeError(
            f"{where}: the name of a language must be a str, not {type(language).__name__}"
        )
    return language
