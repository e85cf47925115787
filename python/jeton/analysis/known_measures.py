"""All measures by name: their titles, and which way is better, for tables and reports."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal


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


_Row = tuple[str, str, Literal["higher", "lower"] | None, str, str]

_FAMILIES: Final[Mapping[str, tuple[_Row, ...]]] = {
    "counts": (
        ("tokens", "tokens", "lower", "tokens of all texts", "a count"),
        ("bytes", "bytes", None, "bytes of UTF-8 of all texts", "a count"),
        ("characters", "characters", None, "code points of all texts", "a count"),
        ("words", "words", None,
         "segments that hold a letter or a digit; in scripts without spaces, characters",
         "UAX #29"),
        ("documents", "documents", None, "texts that are not empty", "a count"),
    ),
    "compression": (
        ("bytes_per_token", "bytes per token", "higher",
         "bytes of UTF-8 / tokens", "Rust et al. 2021"),
        ("characters_per_token", "characters per token", "higher",
         "code points / tokens", "Rust et al. 2021"),
        ("words_per_token", "words per token", "higher",
         "words / tokens", "Rust et al. 2021, inverted"),
    ),
    "model": (
        ("bits_per_byte", "bits per byte of a small model", "lower",
         "bits of held-out text / bytes, mean over seeds, at equal compute",
         "Gao et al. 2020; Ali et al. 2024"),
        ("bits_per_byte_spread", "spread of bits per byte", None,
         "highest − lowest over seeds", "as bits_per_byte"),
        ("serving_operations", "its operations per byte", "lower",
         "operations of a token, forward / bytes per token", "Kaplan et al. 2020"),
    ),
    "word_pieces": (
        ("fertility", "tokens per word (fertility)", "lower",
         "Σ count · tokens / Σ count, over kinds of words", "Ács 2019; Rust et al. 2021"),
        ("fertility_by_spaces", "tokens per word between spaces", "lower",
         "tokens / words between white space", "Rust et al. 2021"),
        ("continued_words", "words that are split", "lower",
         "words of two tokens or more / words", "Rust et al. 2021"),
        ("single_token_words", "words of one token", "higher",
         "words of one token that is not unknown / words", "Rust et al. 2021, the other side"),
    ),
    "parallel": (
        ("tokens_per_line", "tokens per line", "lower",
         "tokens of all aligned lines / lines", "Petrov et al. 2023"),
        ("premium", "premium", "lower",
         "tokens of all lines / those of the pivot", "Petrov et al. 2023, of sums"),
        ("gini", "Gini across languages", "lower",
         "Σᵢ Σⱼ ∣cᵢ − cⱼ∣ / (2 · n² · mean), c the tokens per line",
         "Gini 1912; Foroutan et al. 2025"),
    ),
    "distribution": (
        ("renyi_efficiency", "Rényi efficiency (all)", "higher",
         "ln(Σ p^2.5) / (1 − 2.5) / ln ∣V∣", "Zouhar et al. 2023"),
        ("renyi_efficiency_used", "Rényi efficiency (used)", "higher",
         "ln(Σ p^2.5) / (1 − 2.5) / ln of the tokens that occur",
         "Zouhar et al. 2023, their tokenization-scorer"),
        ("entropy", "entropy of tokens", None, "−Σ p · log₂ p", "Shannon 1948"),
        ("bigram_entropy", "entropy of pairs", None, "−Σ p(a, b) · log₂ p(a, b)", "Shannon 1948"),
        ("conditional_entropy", "entropy after a token", None, "H(a, b) − H(a)", "Shannon 1951"),
        ("vocabulary_used", "vocabulary used", "higher",
         "tokens that occur / tokens, special ones left out", "common"),
        ("dead_tokens", "tokens never used", "lower", "tokens that do not occur", "common"),
        ("rare_tokens", "tokens used 1 to 9 times", "lower",
         "tokens that occur 1 to 9 times", "Gowda and May 2020"),
        ("type_token_ratio", "different tokens per token", None,
         "different tokens / tokens", "Heaps 1978"),
    ),
    "faithfulness": (
        ("unknown_rate", "unknown tokens", "lower",
         "unknown tokens / tokens", "out-of-vocabulary rate"),
        ("exact_round_trips", "lines that come back exactly", "higher",
         "lines with decode(encode(line)) = line / lines that are not empty", "the definition"),
        ("split_characters", "tokens that split characters", "lower",
         "tokens that begin or end inside a character / tokens", "a property of bytes"),
    ),
    "numbers": (
        ("digits_left", "digits grouped from the left", None,
         "numbers in equal groups from the left / numbers", "Singh and Strouse 2024"),
        ("digits_right", "digits grouped from the right", None,
         "numbers in equal groups from the right / numbers", "Singh and Strouse 2024"),
        ("digits_single", "digits one by one", None,
         "numbers digit by digit / numbers", "Singh and Strouse 2024"),
        ("digits_mixed", "digits grouped in another way", "lower",
         "numbers in any other way / numbers", "Singh and Strouse 2024"),
        ("arithmetic_alignment", "sums with aligned digits", "higher",
         "sums whose tokens hold the same places / sums", "Singh and Strouse 2024, as a measure"),
    ),
    "code": (
        ("whole_operators", "operators of one token", "higher",
         "operators such as `==` that are one token between spaces / operators",
         "TokEval's kind of probes"),
        ("indentation_tokens", "tokens per indentation level", "lower",
         "tokens / levels, mean over depths of spaces and tabs", "TokEval's kind of probes"),
        ("identifier_tokens", "tokens per identifier", "lower",
         "tokens of an identifier, mean", "TokEval's kind of probes"),
        ("identifier_boundaries", "identifier boundaries kept", "higher",
         "boundaries of parts (`get`∣`User`) where a token begins / boundaries",
         "TokEval's kind of probes"),
    ),
    "variants": (
        ("case_cost", "cost of capitals", "lower",
         "tokens of TIME / tokens of time, mean over words", "TokEval's kind of probes"),
        ("space_cost", "cost of no space before", "lower",
         "tokens at the start of a text / tokens after a space, mean", "TokEval's kind of probes"),
        ("punctuation_kept", "words the same before marks", "higher",
         "words with the same tokens before a mark / words", "TokEval's kind of probes"),
    ),
    "morphemes": (
        ("morpheme_precision", "splits at morphemes", "higher",
         "splits at boundaries / splits", "Morpho Challenge, Kurimo et al. 2010"),
        ("morpheme_recall", "morphemes split", "higher",
         "boundaries that are splits / boundaries", "Morpho Challenge, Kurimo et al. 2010"),
        ("morpheme_f1", "F1 of morphemes", "higher",
         "2 · right / (splits + boundaries)", "Morpho Challenge, Kurimo et al. 2010"),
    ),
}  # fmt: skip
"""By family: the name, title and better direction of each, its formula and source."""

MEASURES: Final[Mapping[str, Measure]] = {
    name: Measure(name, title, better, family, formula, source)
    for family, rows in _FAMILIES.items()
    for name, title, better, formula, source in rows
}
"""All measures by name, in the order of tables."""
