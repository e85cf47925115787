"""What trainers in SentencePiece's style share: parameters, counting, and the tokenizer."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import jeton._core as _core
from jeton.arguments import check_kind, check_text, checked_int
from jeton.components import models, normalizers
from jeton.corpora.counting import TOKEN_NEEDS, Counting, Needs
from jeton.errors import ArgumentError
from jeton.tokenizer import Tokenizer
from jeton.training.known_tokens import SpecialTokens, checked_tokens, plain_texts

SentencePieceAlgorithm: TypeAlias = Literal["sentencepiece unigram", "sentencepiece bpe"]

OWN_TOKENS = ("unk", "bos", "eos", "pad")
"""The tokens that have a role, and an id of their own."""


def piece_parameters(
    *,
    vocab_size: int,
    normalizer: str | normalizers.Normalizer,
    style: Literal["sentencepiece", "huggingface"],
    special_tokens: SpecialTokens,
    user_defined_symbols: SpecialTokens,
    min_word_count: int,
    **others: object,
) -> dict[str, Any]:
    """The parameters of a trainer of pieces as the core takes them; `others` are not checked."""
    tokens = checked_tokens(special_tokens, user_defined_symbols)
    special = plain_texts(token for token in tokens if token.special)
    symbols = plain_texts(token for token in tokens if not token.special)
    if style == "sentencepiece":
        # The model never sees a space.
        symbols = [symbol.replace(" ", "▁") for symbol in symbols]
    normalization, charsmap = _normalization(normalizer, style)
    parameters = {
        "vocab_size": checked_int("vocab_size", vocab_size, 0),
        "normalization": normalization,
        "charsmap": charsmap,
        "special_tokens": special,
        "user_defined_symbols": symbols,
        "min_word_count": checked_int("min_word_count", min_word_count, 0),
        **others,
    }
    for name in OWN_TOKENS:
        token = parameters[f"{name}_token"]
        if isinstance(token, str) and (not token or "\0" in token):
            raise ArgumentError(f"{name}_token must not be empty or contain U+0000")
    return parameters


def piece_counting(algorithm: SentencePieceAlgorithm, parameters: dict[str, Any]) -> Counting:
    """How to count for a `.model` file: texts, or parts of them that are normalized alike."""
    separators = _core.sentencepiece_separators(algorithm, parameters)
    return Counting(separators, piece_needs(parameters))


def piece_needs(parameters: dict[str, Any]) -> Needs:
    """The maximum memory of training; Unicode's rules are compiled once."""
    rules = 8_000_000 if parameters["normalization"] == "identity" else 64_000_000
    return rules + TOKEN_NEEDS * parameters["vocab_size"], 64, 48


def piece_tokenizer(model: _core.Model) -> Tokenizer:
    """The tokenizer of a `.model` file."""
    return Tokenizer(models.from_core(model))


def _normalization(
    normalizer: str | normalizers.Normalizer, style: str
) -> tuple[str, bytes | None]:
    """The name of a SentencePiece model's rules, and the character map for `"user_defined"`."""
    if isinstance(normalizer, str):
        return check_text("normalizer", normalizer), None
    expected = "a name or one of jeton.components.normalizers"
    check_kind("normalizer", normalizer, normalizers.Normalizer, expected)
    if style == "huggingface":
        return "identity", None
    if isinstance(normalizer, normalizers.Precompiled):
        return "user_defined", normalizer.charsmap
    raise ArgumentError(
        f"a SentencePiece model cannot hold the normalizer {type(normalizer).__name__} (name one "
        "of its own rules, give a Precompiled map, or train a tokenizer of components: "
        "UnigramTrainer(style='huggingface'), BPETrainer(alphabet='characters'))"
    )
