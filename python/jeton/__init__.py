"""Tokenizers: everything between raw text and the tensors that enter a language model."""

from jeton._core import Tokenizer as CoreTokenizer
from jeton.errors import JetonError

__all__ = ["CoreTokenizer", "JetonError"]
