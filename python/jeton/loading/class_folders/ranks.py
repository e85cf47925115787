"""Classes whose vocabulary is a file of ranks, as tiktoken has it."""

from __future__ import annotations

import base64
import binascii

from jeton.components import Regex, decoders, models, normalizers, pre_tokenizers
from jeton.errors import FormatError
from jeton.loading.class_folders.built import Built, KnownClass, named_expression
from jeton.loading.class_folders.configuration import Configuration, Token


def qwen(configuration: Configuration, known: KnownClass) -> Built:
    """The first Qwen."""
    ranks = _ranks(configuration, "qwen.tiktoken")
    names = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
    names += [f"<|extra_{number}|>" for number in range(205)]
    own: dict[int, Token] = {id: {"content": name} for id, name in enumerate(names, len(ranks))}
    return _built(ranks, "qwen2", own, normalizers.NFC())


def kimi(configuration: Configuration, known: KnownClass) -> Built:
    """Kimi K2, with 256 ids behind the ranks for tokens that the configuration names."""
    ranks = _ranks(configuration, "tiktoken.model")
    own: dict[int, Token] = {
        id: {"content": f"<|reserved_token_{id}|>"} for id in range(len(ranks), len(ranks) + 256)
    }
    return _built(ranks, "kimi_k2", own, None)


def _ranks(configuration: Configuration, name: str) -> dict[bytes, int]:
    ranks = {}
    for number, line in enumerate(configuration.read(name).splitlines(), 1):
        try:
            token, rank = line.split()
            ranks[base64.b64decode(token, validate=True)] = int(rank)
        except (ValueError, binascii.Error):
            raise FormatError(
                f"{configuration.file(name)}: line {number}: expected a token and its rank"
            ) from None
    return ranks


def _built(
    ranks: dict[bytes, int],
    pattern: str,
    own: dict[int, Token],
    normalizer: normalizers.Normalizer | None,
) -> Built:
    return Built(
        models.BPE(ranks, None),
        {},
        len(ranks),
        normalizer=normalizer,
        pre_tokenizer=pre_tokenizers.Matches(Regex(named_expression(pattern))),
        decoder=decoders.ByteLevel(),
        own=own,
    )
