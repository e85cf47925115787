"""Files of ranks in tiktoken's format, and the classes that use them."""

from __future__ import annotations

import base64
import binascii

from jeton.components import Regex, decoders, models, normalizers, pre_tokenizers
from jeton.errors import FormatError
from jeton.loading.class_folders.configuration import Configuration, Token
from jeton.loading.class_folders.known_class import ClassStages, KnownClass
from jeton.loading.patterns import named_expression


def qwen(configuration: Configuration, known_class: KnownClass) -> ClassStages:
    """The first Qwen."""
    ranks = _ranks(configuration, "qwen.tiktoken")
    names = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
    names += [f"<|extra_{number}|>" for number in range(205)]
    own: dict[int, Token] = {id: {"content": name} for id, name in enumerate(names, len(ranks))}
    return _stages(ranks, "qwen2", own, normalizers.NFC())


def kimi(configuration: Configuration, known_class: KnownClass) -> ClassStages:
    """Kimi K2, with 256 ids after the ranks for tokens that the configuration names."""
    ranks = _ranks(configuration, "tiktoken.model")
    own: dict[int, Token] = {
        id: {"content": f"<|reserved_token_{id}|>"} for id in range(len(ranks), len(ranks) + 256)
    }
    return _stages(ranks, "kimi_k2", own, None)


def _ranks(configuration: Configuration, name: str) -> dict[bytes, int]:
    return parse_ranks(str(configuration.file(name)), configuration.read(name))


def parse_ranks(name: str, content: bytes) -> dict[bytes, int]:
    """The ranks in the content of a file: a token in base64 and its rank per line."""
    ranks = {}
    for number, line in enumerate(content.splitlines(), 1):
        if not line:
            continue
        try:
            token, rank = line.split()
            ranks[base64.b64decode(token, validate=True)] = int(rank)
        except (ValueError, binascii.Error):
            raise FormatError(
                f"{name}: line {number} is not a token in base64 and its rank"
            ) from None
    return ranks


def _stages(
    ranks: dict[bytes, int],
    pattern: str,
    own: dict[int, Token],
    normalizer: normalizers.Normalizer | None,
) -> ClassStages:
    return ClassStages(
        models.BPE(ranks, None),
        {},
        len(ranks),
        normalizer=normalizer,
        pre_tokenizer=pre_tokenizers.Matches(Regex(named_expression(pattern))),
        decoder=decoders.ByteLevel(),
        own=own,
    )
