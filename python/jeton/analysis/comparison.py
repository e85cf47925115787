"""Tokenizers side by side: their evaluations on the same texts, and how to show them.

Look here for the result of `compare`: its table, page and pictures, and the changes since another.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from jeton.analysis.evaluation import Change, Evaluation, names_of_corpora, names_of_languages
from jeton.analysis.swept import Sweep
from jeton.analysis.values import Value
from jeton.arguments import check_kind, check_text
from jeton.errors import UnknownNameError
from jeton.saved_json import Saved

if TYPE_CHECKING:
    from jeton.tokenizer import Tokenizer


@dataclass(frozen=True, repr=False)
class Comparison(Saved):
    """Measures of several tokenizers on the same texts.

    Attributes:
        evaluations: The evaluation of each tokenizer, by its name.

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

    def __getitem__(self, name: str) -> Evaluation:
        """The evaluation of a tokenizer.

        Raises:
            UnknownNameError: There is no tokenizer of that name.
        """
        if name not in self.evaluations:
            raise UnknownNameError(
                f"there is no tokenizer {name!r:.60}; there are {', '.join(self.evaluations)}"
            )
        return self.evaluations[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.evaluations)

    def __len__(self) -> int:
        return len(self.evaluations)

    @property
    def corpora(self) -> list[str]:
        """The names of the corpora, `"all"` last."""
        return names_of_corpora(self.evaluations)

    @property
    def languages(self) -> list[str]:
        """The languages of the parallel text."""
        return names_of_languages(self.evaluations)

    def changes(self, other: Comparison) -> list[Change]:
        """The values that `other`, a later result, has changed, in the order of this one.

        A tokenizer, corpus or measure that only one of them has is a change from or to `None`.

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
        """The comparison as one self-contained HTML page, which works offline and can be mailed.

        It has tables to sort and filter, bars, curves, and a heat map of premiums, in light and
        dark. Texts and names are escaped, and the page's policy allows no script but its own.

        Args:
            title: The title.
            tokenizers: The tokenizers by name, to show how they split lines.
            lines: Lines by the name of the corpus or language; one of each is shown.
            sweep: A result of `jeton.analysis.sweep`, to draw its curves too.

        Raises:
            ArgumentTypeError: An argument has the wrong type.

        Example:
            >>> import jeton
            >>> from jeton import analysis
            >>> toks = {"characters": jeton.CharTrainer().train("low lower")}
            >>> comparison = analysis.compare(toks, ["low lower"])
            >>> page = comparison.html("Mine", tokenizers=toks, lines={"words": ["low lower"]})
            >>> page.count("<svg") > 3, "http:" in page
            (True, False)
        """
        from jeton.analysis.report import page

        check_text("title", title)
        for name, argument in (("tokenizers", tokenizers), ("lines", lines)):
            if argument is not None:
                check_kind(name, argument, Mapping, "a mapping by names")
        if sweep is not None:
            check_kind("sweep", sweep, Sweep, "a Sweep")
        return page(self.evaluations, title, tokenizers or {}, lines or {}, sweep)

    def pictures(self, folder: str | os.PathLike[str]) -> list[str]:
        """Writes the pictures of the page as SVG, in which text stays text.

        Bars by corpus and language, premiums, sizes, lengths, ranks and frequencies. A picture
        without data is left out.

        Args:
            folder: The folder to write to; it is created if it does not exist.

        Returns:
            The names of the files.

        Raises:
            FileError: A file cannot be written.

        Example:
            >>> import jeton, tempfile
            >>> from jeton import analysis
            >>> tok = jeton.CharTrainer().train("low lower")
            >>> comparison = analysis.compare([tok], ["low lower"])
            >>> with tempfile.TemporaryDirectory() as folder:
            ...     comparison.pictures(folder)[:2]
            ['compression.svg', 'sizes.svg']
        """
        from jeton.analysis.report import write_pictures

        return write_pictures(self.evaluations, folder)

    def _repr_html_(self) -> str:
        """A row per tokenizer with its main measures, for notebooks; `html` has all of them."""
        from jeton.analysis.report.summary import glance

        return glance(repr(self).strip("<>"), self.evaluations)

    def __repr__(self) -> str:
        return f"<Comparison of {', '.join(self.evaluations)} on {', '.join(self.corpora)}>"


def _number(value: Value | None) -> float | int | None:
    return None if value is None else value.value
