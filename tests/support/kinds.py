"""A tokenizer of each kind, made here and not read from anywhere, for tests to use."""

from __future__ import annotations

import base64
from typing import Any

import pytest

import jeton
from jeton.components import decoders, models, normalizers, post_processors, pre_tokenizers
from shared_data import VOCABULARIES, needed

LLAMA: dict[str, Any] = {
    "alphabet": "sentencepiece",
    "normalizer": "identity",
    "remove_extra_whitespaces": False,
    "byte_fallback": True,
    "hard_vocab_limit": False,
}
"""Options of `BPETrainer` for models of Llama 2's kind, which lose no text and change none."""


def byte_level(pattern: str = "gpt4", **options: Any) -> jeton.Tokenizer:
    """A byte-level BPE that was trained on a little text."""
    trainer = jeton.BPETrainer(
        vocab_size=400, pattern=pattern, special_tokens=["<|end|>", "<|end|>x"], **options
    )
    return trainer.train(
        ["the theory of the weather there, then: père, 東京, 🙂🙂 \n\n  x = 1\n"] * 4
    )


def ranks(pattern: str = "gpt4") -> jeton.Tokenizer:
    """As tiktoken's: ids are ranks."""
    tokens = [bytes([byte]) for byte in range(256)]
    tokens += [b"th", b"he", b"the", b" the", b"er", b"\n\n", "é".encode(), b"  "]
    return jeton.Tokenizer.from_ranks(
        {token: rank for rank, token in enumerate(tokens)},
        pattern=pattern,
        special_tokens={"<|endoftext|>": 300, "<|pad|>": 301},
    )


def word_piece() -> jeton.Tokenizer:
    """As BERT's."""
    words = ["[UNK]", "[CLS]", "[SEP]", "the", "weather", "##s", "un", "##able", ",", "e"]
    return jeton.Tokenizer(
        models.WordPiece({word: id for id, word in enumerate(words)}),
        normalizer=normalizers.BertNormalizer(),
        pre_tokenizer=pre_tokenizers.BertPreTokenizer(),
        post_processor=post_processors.TemplateProcessing(
            "[CLS] $A [SEP]",
            "[CLS] $A [SEP] $B:1 [SEP]:1",
            special_tokens={"[CLS]": 1, "[SEP]": 2},
        ),
        decoder=decoders.WordPiece(),
        added_tokens=[jeton.AddedToken(word, special=True) for word in ("[UNK]", "[CLS]", "[SEP]")],
    )


def unigram() -> jeton.Tokenizer:
    """As T5's."""
    pieces = [("<unk>", 0.0), ("▁", -2.0), ("▁the", -3.0), ("t", -4.0), ("h", -4.0), ("e", -4.0)]
    return jeton.Tokenizer(
        models.Unigram(pieces, unk_id=0),
        pre_tokenizer=pre_tokenizers.Metaspace(),
        decoder=decoders.Metaspace(),
    )


def characters() -> jeton.Tokenizer:
    """One token a character, over an open alphabet."""
    return jeton.CharTrainer(unk_token="<UNK>", special_tokens=["<|end|>"]).train("the weather é")


def longest_match() -> jeton.Tokenizer:
    """As RWKV's world vocabulary."""
    tokens = [bytes([byte]) for byte in range(256)]
    tokens += [b"th", b"the", b" the", b" weather", b"er", b"\n\n", "é".encode(), b"  "]
    return jeton.Tokenizer(
        models.LongestMatch({token: id for id, token in enumerate(tokens, 1)}),
        decoder=decoders.ByteLevel(),
        added_tokens=[jeton.AddedToken("<|end|>", 0, special=True)],
    )


def superwords() -> jeton.Tokenizer:
    """Words and superwords of bytes."""
    tokens = [bytes([byte]) for byte in range(256)]
    merges = [(b" ", b"t"), (b"h", b"e"), (b" t", b"he"), (b" ", b"o"), (b" o", b"f")]
    tokens += [left + right for left, right in merges] + [b" of the"]
    words = models.BPE({token: id for id, token in enumerate(tokens)}, merges)
    split = pre_tokenizers.ByteLevel(add_prefix_space=False)
    return jeton.Tokenizer(
        models.Superwords(words, split, [(b" of", b" the")]),
        decoder=decoders.ByteLevel(),
        added_tokens=[jeton.AddedToken("<|end|>", len(tokens), special=True)],
    )


KINDS = {
    "byte-level": byte_level,
    "ranks": ranks,
    "WordPiece": word_piece,
    "Unigram": unigram,
    "characters": characters,
    "longest match": longest_match,
    "superwords": superwords,
}


each_kind = pytest.mark.parametrize("tok", [make() for make in KINDS.values()], ids=list(KINDS))
"""Runs a test for a tokenizer of each kind."""


def read_ranks(name: str) -> dict[bytes, int]:
    """A real rank file, or a skip where there is none."""
    path = needed(VOCABULARIES / name)
    rows = (line.split() for line in path.read_bytes().splitlines() if line)
    return {base64.b64decode(token): int(rank) for token, rank in rows}
