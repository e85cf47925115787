"""What measuring a tokenizer on corpora gives, as data that is saved, loaded and compared.

Look here for the shape of a result: an `Evaluation` a tokenizer, a `Measured` a corpus, a `Value` a
measure. Reports, tables and notebooks are made of these alone.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from jeton import __version__
from jeton.analysis.saved import Saved
from jeton.analysis.swept import Sweep
from jeton.analysis.values import Curve, Measured, Value
from jeton.arguments import check_kind, check_text, checked_int

if TYPE_CHECKING:
    from jeton.tokenizer import Tokenizer

__all__ = ["Change", "Comparison", "Evaluation"]


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
        """What was measured on a corpus or, if there is none of that name, on a language."""
        return self.corpora[corpus] if corpus in self.corpora else self.languages[corpus]

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
            "corpora": {name: found.to_dict() for name, found in self.corpora.items()},
            "languages": {name: found.to_dict() for name, found in self.languages.items()},
            "overall": self.overall.to_dict(),
            "curves": {name: curve.to_dict() for name, curve in self.curves.items()},
        }

    @classmethod
    def from_dict(cls, record: Any) -> Evaluation:
        """Undoes `to_dict`.

        Raises:
            FormatError: It is no evaluation.
        """
        return cls._read(record, "record is not an evaluation")

    @classmethod
    def _of_record(cls, record: Any) -> Evaluation:
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
        told = "no text" if tokens is None else f"{tokens:,} tokens"
        lossy = ", lossy" if self.lossy else ""
        return f"<Evaluation of {self.name}: {told} of {len(self.digests)} texts{lossy}>"


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


@dataclass(frozen=True, repr=False)
class Comparison(Saved):
    """What was measured of several tokenizers on the same texts.

    Attributes:
        evaluations: The result of each, by its name.

    Example:
        >>> import jeton
        >>> from jeton import analysis
        >>> toks = {"characters": jeton.CharTrainer().train("low lower"),
        ...         "pairs": jeton.BPETrainer(258, pattern="gpt4").train(["low lower"])}
        >>> result = analysis.compare(toks, ["low lower"])
        >>> {name: it["all"]["tokens"] for name, it in result.evaluations.items()}
        {'characters': 9, 'pairs': 5}
    """

    _NOUN: ClassVar[str] = "comparison"

    evaluations: Mapping[str, Evaluation]

    def __post_init__(self) -> None:
        check_kind("evaluations", self.evaluations, Mapping, "a mapping of names to evaluations")
        for name, evaluation in self.evaluations.items():
            check_text("each name of evaluations", name)
            check_kind("each of evaluations", evaluation, Evaluation, "an Evaluation")

    def __getitem__(self, name: str) -> Evaluation:
        return self.evaluations[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.evaluations)

    def __len__(self) -> int:
        return len(self.evaluations)

    @property
    def corpora(self) -> list[str]:
        """The names of the corpora, `"all"` last."""
        return _names(it.corpora for it in self.evaluations.values())

    @property
    def languages(self) -> list[str]:
        """The languages of the parallel text."""
        return _names(it.languages for it in self.evaluations.values())

    def changes(self, other: Comparison) -> list[Change]:
        """What `other`, a later result, has otherwise, in the order of this one.

        Tokenizers, corpora and measures that only one of them has are changes from or to `None`.

        Example:
            >>> import jeton
            >>> from jeton import analysis
            >>> tok = jeton.CharTrainer().train("low lower")
            >>> before, after = (analysis.compare({"it": tok}, [text]) for text in ("low", "lower"))
            >>> [str(it) for it in before.changes(after) if it.measure == "tokens"][0]
            'it, corpus: tokens 3 -> 5'
        """
        check_kind("other", other, Comparison, "a Comparison")
        before, after = self._flat(), other._flat()
        places = [*before, *(place for place in after if place not in before)]
        return [
            Change(*place, before.get(place), after.get(place))
            for place in places
            if _number(before.get(place)) != _number(after.get(place))
        ]

    def _flat(self) -> dict[tuple[str, str, str], Value]:
        return {
            (name, where, measure): value
            for name, evaluation in self.evaluations.items()
            for where, measured in evaluation.parts()
            for measure, value in measured.values.items()
        }

    def html(
        self,
        title: str = "Tokenizers compared",
        *,
        tokenizers: Mapping[str, Tokenizer] | None = None,
        lines: Mapping[str, Sequence[str]] | None = None,
        sweep: Sweep | None = None,
    ) -> str:
        """One page to look at: it holds all it needs, works offline and can be mailed.

        Tables that sort and filter, bars, curves, a heat map of premiums, light and dark. Texts and
        names are escaped, and the page's policy lets no script run but its own.

        Args:
            title: The title.
            tokenizers: The tokenizers by name, to show how they cut lines.
            lines: Lines by the name of the corpus or language; one of each is shown.
            sweep: What `jeton.analysis.sweep` gave: its curves of size are drawn, too.

        Raises:
            ArgumentTypeError: Something is not what it should be.

        Example:
            >>> import jeton
            >>> from jeton import analysis
            >>> toks = {"characters": jeton.CharTrainer().train("low lower")}
            >>> found = analysis.compare(toks, ["low lower"])
            >>> page = found.html("Mine", tokenizers=toks, lines={"words": ["low lower"]})
            >>> page.count("<svg") > 3, "http:" in page
            (True, False)
        """
        from jeton.analysis.report import page, sample_lines

        check_text("title", title)
        for name, given in (("tokenizers", tokenizers), ("lines", lines)):
            if given is not None:
                check_kind(name, given, Mapping, "a mapping by names")
        if sweep is not None:
            check_kind("sweep", sweep, Sweep, "a Sweep")
        return page(self, title, sample_lines(tokenizers or {}, lines or {}), sweep)

    def pictures(
        self, folder: str | os.PathLike[str], formats: Iterable[str] = ("svg", "png")
    ) -> list[str]:
        """Writes the pictures of the page as files of SVG (text stays text) and PNG (200 dpi).

        Bars by corpus and language, premiums, sizes, lengths, ranks and frequencies: those that
        there is something to draw for.

        Args:
            folder: Where they go; it is made if it is not there.
            formats: `"svg"`, `"png"` or both.

        Returns:
            The names of the files.

        Raises:
            ArgumentError: Another format.
            UnsupportedError: matplotlib is not installed (`jeton[plots]`).
            FileError: They cannot be written.

        Example:
            >>> import jeton, tempfile
            >>> from jeton import analysis
            >>> found = analysis.compare([jeton.CharTrainer().train("low lower")], ["low lower"])
            >>> with tempfile.TemporaryDirectory() as folder:
            ...     found.pictures(folder, ["svg"])[:2]
            ['compression.svg', 'sizes.svg']
        """
        from jeton.analysis.report import write_pictures

        return write_pictures(self, folder, formats)

    def to_dict(self) -> dict[str, Any]:
        """Everything, for JSON."""
        return {
            **self._head(),
            "evaluations": {name: it.to_dict() for name, it in self.evaluations.items()},
        }

    @classmethod
    def from_dict(cls, record: Any) -> Comparison:
        """Undoes `to_dict`.

        Raises:
            FormatError: It is no comparison.
        """
        return cls._read(record, "record is not a comparison")

    @classmethod
    def _of_record(cls, record: Any) -> Comparison:
        return cls(_each(record["evaluations"], Evaluation.from_dict))

    def _repr_html_(self) -> str:
        """A row a tokenizer, for notebooks."""
        from jeton import notebooks

        return notebooks.of_comparison(self)

    def __repr__(self) -> str:
        return f"<Comparison of {', '.join(self.evaluations)} on {', '.join(self.corpora)}>"


def _each(record: Any, made: Any) -> dict[str, Any]:
    return {name: made(entry) for name, entry in record.items()}


def _names(mappings: Any) -> list[str]:
    found = dict.fromkeys(name for mapping in mappings for name in mapping)
    return sorted(found, key=lambda name: name == "all")


def _number(value: Value | None) -> float | int | None:
    return None if value is None else value.value
