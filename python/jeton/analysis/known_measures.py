"""All measures by name: their titles, and which way is better, for tables and reports."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["MEASURES", "Measure"]


@dataclass(frozen=True)
class Measure:
    """The description of a measure, for tables.

    Attributes:
        name: Its name in `Measured.values`.
        title: Its name for people.
        better: Whether `"higher"` or `"lower"` is better, all else equal; `None` if neither.
        family: The file of `jeton.analysis.measures` with its function, or `"counts"`.
        formula: Its formula in a line; the docstring of its function says more.
        source: The publication that it comes from.
    """

    name: str
    title: str
    better: Literal["higher", "lower"] | None
    family: str
    formula: str
    source: str

    def to_dict(self) -> dict[str, str]:
        """The description that a saved result has beside its values."""
        return {"title": self.title, "formula": self.formula, "source": self.source}


_ALL = (
    Measure("tokens", "tokens", "lower", "counts", "tokens of all texts", "a count"),
    Measure("bytes", "bytes", None, "counts", "bytes of UTF-8 of all texts", "a count"),
    Measure("characters", "characters", None, "counts", "code points of all texts", "a count"),
    Measure(
        "words",
        "words",
        None,
        "counts",
        "segments that hold a letter or a digit; in scripts without spaces, characters",
        "UAX #29",
    ),
    Measure("documents", "documents", None, "counts", "texts that are not empty", "a count"),
    Measure(
        "bytes_per_token",
        "bytes per token",
        "higher",
        "compression",
        "bytes of UTF-8 / tokens",
        "Rust et al. 2021",
    ),
    Measure(
        "characters_per_token",
        "characters per token",
        "higher",
        "compression",
        "code points / tokens",
        "Rust et al. 2021",
    ),
    Measure(
        "words_per_token",
        "words per token",
        "higher",
        "compression",
        "words / tokens",
        "Rust et al. 2021, inverted",
    ),
    Measure(
        "fertility",
        "tokens per word (fertility)",
        "lower",
        "word_pieces",
        "Σ count · tokens / Σ count, over kinds of words",
        "Ács 2019; Rust et al. 2021",
    ),
    Measure(
        "fertility_by_spaces",
        "tokens per word between spaces",
        "lower",
        "word_pieces",
        "tokens / words between white space",
        "Rust et al. 2021",
    ),
    Measure(
        "continued_words",
        "words that are split",
        "lower",
        "word_pieces",
        "words of two tokens or more / words",
        "Rust et al. 2021",
    ),
    Measure(
        "single_token_words",
        "words of one token",
        "higher",
        "word_pieces",
        "words of one token that is not unknown / words",
        "Rust et al. 2021, the other side",
    ),
    Measure(
        "tokens_per_line",
        "tokens per line",
        "lower",
        "parallel",
        "tokens of all aligned lines / lines",
        "Petrov et al. 2023",
    ),
    Measure(
        "premium",
        "premium",
        "lower",
        "parallel",
        "tokens of all lines / those of the pivot",
        "Petrov et al. 2023, of sums",
    ),
    Measure(
        "gini",
        "Gini across languages",
        "lower",
        "parallel",
        "Σᵢ Σⱼ ∣cᵢ − cⱼ∣ / (2 · n² · mean), c the tokens per line",
        "Gini 1912; Foroutan et al. 2025",
    ),
    Measure(
        "renyi_efficiency",
        "Rényi efficiency (all)",
        "higher",
        "distribution",
        "ln(Σ p^2.5) / (1 − 2.5) / ln ∣V∣",
        "Zouhar et al. 2023",
    ),
    Measure(
        "renyi_efficiency_used",
        "Rényi efficiency (used)",
        "higher",
        "distribution",
        "ln(Σ p^2.5) / (1 − 2.5) / ln of the tokens that occur",
        "Zouhar et al. 2023, their tokenization-scorer",
    ),
    Measure("entropy", "entropy of tokens", None, "distribution", "−Σ p · log₂ p", "Shannon 1948"),
    Measure(
        "bigram_entropy",
        "entropy of pairs",
        None,
        "distribution",
        "−Σ p(a, b) · log₂ p(a, b)",
        "Shannon 1948",
    ),
    Measure(
        "conditional_entropy",
        "entropy after a token",
        None,
        "distribution",
        "H(a, b) − H(a)",
        "Shannon 1951",
    ),
    Measure(
        "vocabulary_used",
        "vocabulary used",
        "higher",
        "distribution",
        "tokens that occur / tokens, special ones left out",
        "common",
    ),
    Measure(
        "dead_tokens",
        "tokens never used",
        "lower",
        "distribution",
        "tokens that do not occur",
        "common",
    ),
    Measure(
        "rare_tokens",
        "tokens used 1 to 9 times",
        "lower",
        "distribution",
        "tokens that occur 1 to 9 times",
        "Gowda and May 2020",
    ),
    Measure(
        "type_token_ratio",
        "different tokens per token",
        None,
        "distribution",
        "different tokens / tokens",
        "Heaps 1978",
    ),
    Measure(
        "unknown_rate",
        "unknown tokens",
        "lower",
        "faithfulness",
        "unknown tokens / tokens",
        "out-of-vocabulary rate",
    ),
    Measure(
        "exact_round_trips",
        "lines that come back exactly",
        "higher",
        "faithfulness",
        "lines with decode(encode(line)) = line / lines that are not empty",
        "the definition",
    ),
    Measure(
        "split_characters",
        "tokens that split characters",
        "lower",
        "faithfulness",
        "tokens that begin or end inside a character / tokens",
        "a property of bytes",
    ),
    Measure(
        "digits_left",
        "digits grouped from the left",
        None,
        "numbers",
        "numbers in equal groups from the left / numbers",
        "Singh and Strouse 2024",
    ),
    Measure(
        "digits_right",
        "digits grouped from the right",
        None,
        "numbers",
        "numbers in equal groups from the right / numbers",
        "Singh and Strouse 2024",
    ),
    Measure(
        "digits_single",
        "digits one by one",
        None,
        "numbers",
        "numbers digit by digit / numbers",
        "Singh and Strouse 2024",
    ),
    Measure(
        "digits_mixed",
        "digits grouped in another way",
        "lower",
        "numbers",
        "numbers in any other way / numbers",
        "Singh and Strouse 2024",
    ),
    Measure(
        "arithmetic_alignment",
        "sums with aligned digits",
        "higher",
        "numbers",
        "sums whose tokens hold the same places / sums",
        "Singh and Strouse 2024, as a measure",
    ),
    Measure(
        "whole_operators",
        "operators of one token",
        "higher",
        "code",
        "operators such as `==` that are one token between spaces / operators",
        "TokEval's kind of probes",
    ),
    Measure(
        "indentation_tokens",
        "tokens per indentation level",
        "lower",
        "code",
        "tokens / levels, mean over depths of spaces and tabs",
        "TokEval's kind of probes",
    ),
    Measure(
        "identifier_tokens",
        "tokens per identifier",
        "lower",
        "code",
        "tokens of an identifier, mean",
        "TokEval's kind of probes",
    ),
    Measure(
        "identifier_boundaries",
        "identifier boundaries kept",
        "higher",
        "code",
        "boundaries of parts (`get`∣`User`) where a token begins / boundaries",
        "TokEval's kind of probes",
    ),
    Measure(
        "case_cost",
        "cost of capitals",
        "lower",
        "variants",
        "tokens of TIME / tokens of time, mean over words",
        "TokEval's kind of probes",
    ),
    Measure(
        "space_cost",
        "cost of no space before",
        "lower",
        "variants",
        "tokens at the start of a text / tokens after a space, mean",
        "TokEval's kind of probes",
    ),
    Measure(
        "punctuation_kept",
        "words the same before marks",
        "higher",
        "variants",
        "words with the same tokens before a mark / words",
        "TokEval's kind of probes",
    ),
    Measure(
        "morpheme_precision",
        "splits at morphemes",
        "higher",
        "morphemes",
        "splits at boundaries / splits",
        "Morpho Challenge, Kurimo et al. 2010",
    ),
    Measure(
        "morpheme_recall",
        "morphemes split",
        "higher",
        "morphemes",
        "boundaries that are splits / boundaries",
        "Morpho Challenge, Kurimo et al. 2010",
    ),
    Measure(
        "morpheme_f1",
        "F1 of morphemes",
        "higher",
        "morphemes",
        "2 · right / (splits + boundaries)",
        "Morpho Challenge, Kurimo et al. 2010",
    ),
)

MEASURES = {measure.name: measure for measure in _ALL}
"""All measures by name, in the order of tables."""
