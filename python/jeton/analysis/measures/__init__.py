"""The measures of `jeton.analysis.evaluate`, each a formula on counts.

Look here for what a figure means: there is a file per family, and each function documents its
formula, source, unit and an example computed by hand. They take counts instead of a tokenizer;
`jeton.analysis.measured_tokenizer` counts.
"""

from __future__ import annotations

from jeton.analysis.measures.code import (
    identifier_boundaries,
    identifier_tokens,
    indentation_tokens,
    whole_operators,
)
from jeton.analysis.measures.compression import (
    bytes_per_token,
    characters_per_token,
    words_per_token,
)
from jeton.analysis.measures.distribution import (
    bigram_entropy,
    conditional_entropy,
    dead_tokens,
    entropy,
    rare_tokens,
    renyi_efficiency,
    renyi_efficiency_used,
    type_token_ratio,
    vocabulary_used,
)
from jeton.analysis.measures.faithfulness import (
    exact_round_trips,
    split_characters,
    unknown_rate,
)
from jeton.analysis.measures.model import (
    bits_per_byte,
    bits_per_byte_spread,
    serving_operations,
)
from jeton.analysis.measures.model_cost import ModelCost, cost_of_model
from jeton.analysis.measures.morphemes import morpheme_f1, morpheme_precision, morpheme_recall
from jeton.analysis.measures.numbers import arithmetic_alignment, digit_grouping, grouping_of
from jeton.analysis.measures.parallel import gini, premium, tokens_per_line
from jeton.analysis.measures.variants import case_cost, punctuation_kept, space_cost
from jeton.analysis.measures.word_pieces import (
    continued_words,
    fertility,
    fertility_by_spaces,
    single_token_words,
)

__all__ = [
    "ModelCost",
    "arithmetic_alignment",
    "bigram_entropy",
    "bits_per_byte",
    "bits_per_byte_spread",
    "bytes_per_token",
    "case_cost",
    "characters_per_token",
    "conditional_entropy",
    "continued_words",
    "cost_of_model",
    "dead_tokens",
    "digit_grouping",
    "entropy",
    "exact_round_trips",
    "fertility",
    "fertility_by_spaces",
    "gini",
    "grouping_of",
    "identifier_boundaries",
    "identifier_tokens",
    "indentation_tokens",
    "morpheme_f1",
    "morpheme_precision",
    "morpheme_recall",
    "premium",
    "punctuation_kept",
    "rare_tokens",
    "renyi_efficiency",
    "renyi_efficiency_used",
    "serving_operations",
    "single_token_words",
    "space_cost",
    "split_characters",
    "tokens_per_line",
    "type_token_ratio",
    "unknown_rate",
    "vocabulary_used",
    "whole_operators",
    "words_per_token",
]
