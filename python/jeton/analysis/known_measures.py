"""All measures by name: their titles, and which way is better, for tables and reports."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["MEASURES", "Measure"]


@dataclass(frozen=True)
class Measure:
    """A measure, as a table names it.

    Attributes:
        name: Its name in `Measured.values`.
        title: What it is called where people read it.
        better: Whether `"higher"` or `"lower"` is better, all else equal; `None` if neither.
        family: The file of `jeton.analysis.measures` that it stands in, or `"counts"`.
    """

    name: str
    title: str
    better: Literal["higher", "lower"] | None
    family: str


_ALL = (
    Measure("tokens", "tokens", "lower", "counts"),
    Measure("bytes", "bytes", None, "counts"),
    Measure("characters", "characters", None, "counts"),
    Measure("words", "words", None, "counts"),
    Measure("documents", "documents", None, "counts"),
    Measure("bytes_per_token", "bytes a token", "higher", "compression"),
    Measure("characters_per_token", "characters a token", "higher", "compression"),
    Measure("words_per_token", "words a token", "higher", "compression"),
    Measure("fertility", "tokens a word (fertility)", "lower", "word_pieces"),
    Measure("continued_words", "words that are cut", "lower", "word_pieces"),
    Measure("single_token_words", "words of one token", "higher", "word_pieces"),
    Measure("tokens_per_line", "tokens a line", "lower", "parallel"),
    Measure("premium", "premium", "lower", "parallel"),
    Measure("gini", "Gini across languages", "lower", "parallel"),
    Measure("renyi_efficiency", "Rényi efficiency (all)", "higher", "distribution"),
    Measure("renyi_efficiency_used", "Rényi efficiency (used)", "higher", "distribution"),
    Measure("entropy", "entropy of tokens", None, "distribution"),
    Measure("bigram_entropy", "entropy of pairs", None, "distribution"),
    Measure("conditional_entropy", "entropy behind a token", None, "distribution"),
    Measure("vocabulary_used", "vocabulary used", "higher", "distribution"),
    Measure("dead_tokens", "tokens never used", "lower", "distribution"),
    Measure("rare_tokens", "tokens used 1 to 9 times", "lower", "distribution"),
    Measure("type_token_ratio", "different tokens a token", None, "distribution"),
    Measure("unknown_rate", "unknown tokens", "lower", "faithfulness"),
    Measure("exact_round_trips", "lines that come back exactly", "higher", "faithfulness"),
    Measure("split_characters", "tokens that cut characters", "lower", "faithfulness"),
    Measure("digits_left", "digits grouped from the left", None, "numbers"),
    Measure("digits_right", "digits grouped from the right", None, "numbers"),
    Measure("digits_single", "digits one by one", None, "numbers"),
    Measure("digits_mixed", "digits grouped otherwise", "lower", "numbers"),
    Measure("arithmetic_alignment", "sums with aligned digits", "higher", "numbers"),
    Measure("whole_operators", "operators of one token", "higher", "code"),
    Measure("indentation_tokens", "tokens a level of indentation", "lower", "code"),
    Measure("identifier_tokens", "tokens an identifier", "lower", "code"),
    Measure("identifier_boundaries", "boundaries of identifiers met", "higher", "code"),
    Measure("case_cost", "cost of capitals", "lower", "variants"),
    Measure("space_cost", "cost of no space before", "lower", "variants"),
    Measure("punctuation_kept", "words the same before marks", "higher", "variants"),
    Measure("morpheme_precision", "cuts at morphemes", "higher", "morphemes"),
    Measure("morpheme_recall", "morphemes cut", "higher", "morphemes"),
    Measure("morpheme_f1", "F1 of morphemes", "higher", "morphemes"),
)

MEASURES = {measure.name: measure for measure in _ALL}
"""All measures by name, in the order of tables."""
