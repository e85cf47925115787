"""The result of measuring a tokenizer on corpora, as data to save, load and compare.

Look here for the shape of a result: an `Evaluation` per tokenizer, a `Measured` per corpus, a
`Value` per measure. Several evaluations side by side are a `Comparison`, in `comparison.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

from jeton._core import __version__
from jeton.analysis.known_measures import MEASURES
from jeton.analysis.values import Curve, Measured, Value
from jeton.arguments import check_kind
from jeton.display.human_readable import counted
from jeton.errors import UnknownNameError
from jeton.saved_json import Saved


@dataclass(frozen=True, repr=False)
class Evaluation(Saved):
    """All measures of a tokenizer.

    Attributes:
        name: The name of the tokenizer.
        tokenizer: The digest of the tokenizer; see `Tokenizer.digest`.
        kind: The kind of its model, such as `"BPE"`.
        vocab_size: The number of tokens.
        corpora: The measures on each corpus by its name, and on all together as `"all"`.
        languages: The measures on the parallel text of each language.
        overall: The measures that need no corpus (numbers, code, variants of words, morphemes),
            and those of all languages together.
        curves: The curves `"rank_frequency"` and `"type_token"` over all corpora, and the
            histograms `"token_lengths"` (of the vocabulary) and `"token_lengths_in_text"`.
        digests: SHA-256 of each corpus and language, as `Usage.corpus`.
        lossy: What the tokenizer loses, each in a few words: reasons why its compression cannot be
            compared with that of others. Empty if it loses nothing.
        version: The version of jeton that measured.

    Example:
        >>> import jeton
        >>> from jeton import analysis
        >>> tok = jeton.CharTrainer().train("hello")
        >>> result = analysis.evaluate(tok, {"short": ["hole", "eel"], "long": ["hello hello"[:5]]})
        >>> result["short"]["bytes_per_token"], sorted(result.corpora)
        (1.0, ['all', 'long', 'short'])
    """

    _NOUN: ClassVar[str] = "evaluation"

    name: str
    tokenizer: str
    kind: str
    vocab_size: int
    corpora: Mapping[str, Measured]
    languages: Mapping[str, Measured]
    overall: Measured
    curves: Mapping[str, Curve]
    digests: Mapping[str, str]
    lossy: tuple[str, ...] = ()
    version: str = __version__

    @property
    def is_lossy(self) -> bool:
        """Whether text is lost, so that fewer tokens do not mean better compression."""
        return bool(self.lossy)

    def __getitem__(self, corpus: str) -> Measured:
        """The measures on a corpus or, if there is none with that name, on a language.

        Raises:
            UnknownNameError: There is neither a corpus nor a language with that name.
        """
        for measured in (self.corpora, self.languages):
            if corpus in measured:
                return measured[corpus]
        raise UnknownNameError(
            f"there is no corpus and no language {corpus!r:.60}; there are {', '.join(self)}"
        )

    def __iter__(self) -> Iterator[str]:
        yield from self.corpora
        yield from (language for language in self.languages if language not in self.corpora)

    def __len__(self) -> int:
        return len({*self.corpora, *self.languages})

    def __contains__(self, corpus: object) -> bool:
        return corpus in self.corpora or corpus in self.languages

    def parts(self) -> Iterator[tuple[str, Measured]]:
        """All measures by their place: a corpus, `language NAME`, or `overall`."""
        yield from self.corpora.items()
        for language, measured in self.languages.items():
            yield f"language {language}", measured
        yield "overall", self.overall

    def to_dict(self) -> dict[str, Any]:
        """The whole evaluation as values for JSON, with descriptions of its measures."""
        measured = {name for _, part in self.parts() for name in part.values}
        descriptions = {name: it.to_dict() for name, it in MEASURES.items() if name in measured}
        return {**super().to_dict(), "measures": descriptions}

    @classmethod
    def _of_record(cls, record: Any) -> Evaluation:
        # The record's descriptions of measures are ignored, and earlier records have none.
        check_kind("measures", record.get("measures", {}), Mapping, "a mapping")
        return super()._of_record(record)

    def __repr__(self) -> str:
        tokens = self.corpora["all"]["tokens"] if "all" in self.corpora else None
        tokens_text = "no text" if tokens is None else counted(int(tokens), "token")
        lossy = ", lossy" if self.lossy else ""
        corpora = counted(len(self.digests), "corpus", "corpora")
        return f"<Evaluation of {self.name}: {tokens_text} of {corpora}{lossy}>"


@dataclass(frozen=True)
class Change:
    """A value that has changed.

    Attributes:
        tokenizer: The name of the tokenizer.
        where: A corpus, `language NAME`, or `overall`.
        measure: The name of the measure.
        before: The earlier value; `None` if there was none.
        after: The later value; `None` if there is none.
    """

    tokenizer: str
    where: str
    measure: str
    before: Value | None
    after: Value | None

    def __str__(self) -> str:
        before, after = (
            "not measured" if it is None or it.value is None else f"{it.value:.6g}"
            for it in (self.before, self.after)
        )
        return f"{self.tokenizer}, {self.where}: {self.measure} {before} -> {after}"


Evaluations: TypeAlias = Mapping[str, Evaluation]
"""The evaluations of tokenizers by their names."""


_COUNT_TOKENS = {"tokens", "tokens_per_line", "premium", "fertility", "single_token_words", "gini"}
"""Measures that look better if a tokenizer loses text, beside those of whole families."""


def best_of(
    measure: str, evaluations: Sequence[Evaluation], values: Sequence[float | None]
) -> set[int]:
    """Which of the values are the best; none if all are equal, or no way is better.

    A tokenizer that loses text is not the best of a measure that counts tokens.
    """
    family, better = MEASURES[measure].family, MEASURES[measure].better
    counts_tokens = measure in _COUNT_TOKENS or family in ("compression", "model", "word_pieces")
    comparable = {
        at: value
        for at, (one, value) in enumerate(zip(evaluations, values, strict=True))
        if value is not None and not (one.is_lossy and counts_tokens)
    }
    if better is None or len({*comparable.values()}) < 2:
        return set()
    extreme = (max if better == "higher" else min)(comparable.values())
    return {at for at, value in comparable.items() if value == extreme}


def names_of_corpora(evaluations: Evaluations) -> list[str]:
    """The names of the corpora, `"all"` last."""
    names = dict.fromkeys(name for one in evaluations.values() for name in one.corpora)
    return sorted(names, key=lambda name: name == "all")


def names_of_languages(evaluations: Evaluations) -> list[str]:
    """The languages of the parallel text."""
    return [*dict.fromkeys(name for one in evaluations.values() for name in one.languages)]
