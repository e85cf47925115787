"""What measuring a tokenizer on corpora gives, as data that is saved, loaded and compared.

Look here for the shape of a result: an `Evaluation` a tokenizer, a `Measured` a corpus, a `Value` a
measure. Several side by side are a `Comparison`, in `comparison.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from jeton._core import __version__
from jeton.analysis.known_measures import MEASURES
from jeton.analysis.saved import Saved
from jeton.analysis.values import Curve, Measured, Value
from jeton.arguments import check_kind, check_text, checked_int
from jeton.display.human_readable import counted
from jeton.errors import UnknownNameError

__all__ = ["Change", "Evaluation", "names_in"]


@dataclass(frozen=True, repr=False)
class Evaluation(Saved):
    """What was measured of a tokenizer.

    Attributes:
        name: What the tokenizer is called.
        tokenizer: The digest of the tokenizer; see `Tokenizer.digest`.
        kind: The kind of its model, such as `"BPE"`.
        vocab_size: How many tokens it has.
        corpora: What was measured on each corpus by its name, and on all together as `"all"`.
        languages: What was measured on the parallel text of each language.
        overall: What is measured on no corpus: numbers, code, variants of words, morphemes; and
            what is about all languages together.
        curves: Over all corpora: `"rank_frequency"`, `"type_token"`; and of the histograms,
            `"token_lengths"` (of the vocabulary) and `"token_lengths_in_text"`.
        digests: SHA-256 of each corpus and language, as `Usage.corpus`.
        lossy: Why its compression does not compare with that of others: what it loses, each in a
            few words. Empty if nothing is lost.
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

    def __post_init__(self) -> None:
        for name in ("name", "tokenizer", "kind", "version"):
            check_text(name, getattr(self, name))
        check_kind("lossy", self.lossy, tuple, "a tuple of str")
        for reason in self.lossy:
            check_text("each of lossy", reason)
        checked_int("vocab_size", self.vocab_size, 0)
        for name in ("corpora", "languages", "curves", "digests"):
            check_kind(name, getattr(self, name), Mapping, "a mapping")
        for name, digest in self.digests.items():
            check_text(f"digests[{name!r:.60}]", digest)
        check_kind("overall", self.overall, Measured, "what was measured")

    @property
    def is_lossy(self) -> bool:
        """Whether text is lost, so that fewer tokens are no better compression."""
        return bool(self.lossy)

    def __getitem__(self, corpus: str) -> Measured:
        """What was measured on a corpus or, if there is none of that name, on a language.

        Raises:
            UnknownNameError: There is neither.
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
        """Everything measured with where: a corpus, `language NAME`, or `overall`."""
        yield from self.corpora.items()
        for language, measured in self.languages.items():
            yield f"language {language}", measured
        yield "overall", self.overall

    def to_dict(self) -> dict[str, Any]:
        """Everything, for JSON."""
        return {
            **self._head(),
            "jeton": self.version,
            "name": self.name,
            "tokenizer": self.tokenizer,
            "kind": self.kind,
            "vocab_size": self.vocab_size,
            "lossy": list(self.lossy),
            "digests": dict(self.digests),
            "measures": {
                name: measure.to_dict()
                for name, measure in MEASURES.items()
                if any(name in measured.values for _, measured in self.parts())
            },
            "corpora": {name: found.to_dict() for name, found in self.corpora.items()},
            "languages": {name: found.to_dict() for name, found in self.languages.items()},
            "overall": self.overall.to_dict(),
            "curves": {name: curve.to_dict() for name, curve in self.curves.items()},
        }

    @classmethod
    def from_dict(cls, record: object) -> Evaluation:
        """Undoes `to_dict`.

        Raises:
            FormatError: It is no evaluation.
        """
        return cls._read(record, "record is not an evaluation")

    @classmethod
    def _of_record(cls, record: Any) -> Evaluation:
        # What jeton says of the measures is what it says today; earlier results have none.
        check_kind("measures", record.get("measures", {}), Mapping, "a mapping")
        return cls(
            record["name"],
            record["tokenizer"],
            record["kind"],
            record["vocab_size"],
            _each(record["corpora"], Measured.from_dict),
            _each(record["languages"], Measured.from_dict),
            Measured.from_dict(record["overall"]),
            _each(record["curves"], Curve.from_dict),
            dict(record["digests"]),
            tuple(record["lossy"]),
            record["jeton"],
        )

    def __repr__(self) -> str:
        tokens = self.corpora["all"]["tokens"] if "all" in self.corpora else None
        told = "no text" if tokens is None else counted(int(tokens), "token")
        lossy = ", lossy" if self.lossy else ""
        corpora = counted(len(self.digests), "corpus", "corpora")
        return f"<Evaluation of {self.name}: {told} of {corpora}{lossy}>"


@dataclass(frozen=True)
class Change:
    """A value that is another than before.

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


def names_in(mappings: Iterable[Mapping[str, Measured]]) -> list[str]:
    """The names of what was measured, `"all"` last."""
    found = dict.fromkeys(name for mapping in mappings for name in mapping)
    return sorted(found, key=lambda name: name == "all")


def _each(record: Any, made: Any) -> dict[str, Any]:
    return {name: made(entry) for name, entry in record.items()}
