"""Which tokenizers can have tiktoken's interface, and which expression splits their text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from jeton.components import Regex, decoders, pre_tokenizers
from jeton.errors import UnsupportedError
from jeton.loading.patterns import named_expression

if TYPE_CHECKING:
    from jeton.encoding.base_tokenizer import BaseTokenizer

_BYTES_OF_TEXT: Final = sorted({*range(256)} - {0xC0, 0xC1, *range(0xF5, 256)})
"""The bytes that occur in UTF-8."""


def refuse_others(tokenizer: BaseTokenizer) -> None:
    """Raises for a tokenizer that cannot have tiktoken's interface."""
    why = None
    if not tokenizer._core.has_raw_tokens:
        why = "its model is not a BPE over bytes"
    elif any(tokenizer._core.bytes_to_id(bytes([byte])) is None for byte in _BYTES_OF_TEXT):
        why = "it has no token for some byte"
    elif tokenizer.stages.normalizer is not None:
        why = "it normalizes text"
    elif tokenizer.stages.decoder != decoders.ByteLevel():
        why = "its decoder is not ByteLevel"
    elif any(not token.special for token in tokenizer.stages.added_tokens):
        why = "it has added tokens that are not special"
    if why:
        raise UnsupportedError(f"this tokenizer cannot have tiktoken's interface: {why}")


def pattern_of(tokenizer: BaseTokenizer) -> str:
    """The expression that splits text."""
    stages: list[object] = [tokenizer.stages.pre_tokenizer]
    if isinstance(stages[0], pre_tokenizers.Sequence):
        stages = [
            step
            for step in stages[0].steps
            if not (isinstance(step, pre_tokenizers.ByteLevel) and not step.use_regex)
        ]
    match stages:
        case [pre_tokenizers.Matches(Regex(source)) | pre_tokenizers.Split(Regex(source))]:
            return source
        case [pre_tokenizers.ByteLevel(use_regex=True)]:
            return named_expression("gpt2")
    raise UnsupportedError("no single pattern describes how this tokenizer splits text")
