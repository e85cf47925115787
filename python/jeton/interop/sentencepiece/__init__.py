"""sentencepiece's processor for a tokenizer, and the objects that its calls return."""

from __future__ import annotations

from jeton.interop.sentencepiece.normalizer import SentencePieceNormalizer
from jeton.interop.sentencepiece.processor import (
    SentencePieceProcessor,
    set_random_generator_seed,
)
from jeton.interop.sentencepiece.texts import (
    NBestSentencePieceText,
    SentencePiece,
    SentencePieceText,
)

__all__ = [
    "NBestSentencePieceText",
    "SentencePiece",
    "SentencePieceNormalizer",
    "SentencePieceProcessor",
    "SentencePieceText",
    "set_random_generator_seed",
]
