"""Tokenizers whose stages are those of well-known models, over small vocabularies."""

from __future__ import annotations

import json
import random
from typing import Any

from tokenizers import (
    Regex,
    Tokenizer,
    decoders,
    normalizers,
    pre_tokenizers,
    processors,
    trainers,
)

from jeton import _core
from pipelines import CL100K, corpus, model_and_trainer, precompiled

CASED = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+%s"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*%s"
    r"|\p{N}%s| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
CONTRACTIONS = "(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
#: DeepSeek's files hold newlines where others hold escapes.
DEEPSEEK = tuple(
    split["pattern"]["Regex"].replace(r"\r", "\r").replace(r"\n", "\n")
    for split in json.loads(_core.pattern_pre_tokenizer("deepseek"))["pre_tokenizer"][
        "pretokenizers"
    ]
)
#: The expressions of well-known models, with what becomes of their matches.
SPLITS: dict[str, tuple[tuple[str, ...], str]] = {
    "llama3": ((CL100K,), "isolated"),
    "olmo2": ((CL100K,), "kept"),
    "gpt-4 converted": ((CL100K.replace(r"\s*[\r\n]+", r"\s*[\r\n]"),), "isolated"),
    "qwen2": ((CL100K.replace("{1,3}", ""),), "isolated"),
    "qwen3.5": (
        (
            CL100K.replace("{1,3}", "")
            .replace(r"]?\p{L}+", r"]?[\p{L}\p{M}]+")
            .replace(r"?[^\s\p{L}\p{N}]", r"?[^\s\p{L}\p{M}\p{N}]"),
        ),
        "isolated",
    ),
    "llada": (
        (
            r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]++[\r\n]*"
            r"|\s*[\r\n]|\s+(?!\S)|\s+",
        ),
        "isolated",
    ),
    "gpt4o": ((CASED % (CONTRACTIONS, CONTRACTIONS, "{1,3}"),), "kept"),
    "tekken": ((CASED % ("", "", ""),), "isolated"),
    "deepseek": (DEEPSEEK, "isolated"),
    "bloom": ((r" ?[^(\s|[.,!?…。，、।۔،])]+",), "isolated"),
    "several": ((r"[\p{P}\p{S}]", r"\p{N}{1,3}", r" ?[^\s]+|\s+(?!\S)|\s+"), "isolated"),
    "chinese apart": ((r"[一-龥]+", CL100K), "isolated"),
    "minicpm5": ((r"\p{N}{1,3}", CL100K.replace("{1,3}", "+")), "isolated"),
}


def classic(name: str) -> Tokenizer:
    """A pipeline as a well-known model has it, over a small vocabulary."""
    rng = random.Random(name)
    specials = ["[UNK]", "[CLS]", "[SEP]", "<|end|>"]
    pipelines: dict[str, tuple[str, Any, Any, Any, Any]] = {
        "gpt2": (
            "bpe-plain",
            None,
            pre_tokenizers.ByteLevel(add_prefix_space=False),
            decoders.ByteLevel(),
            processors.ByteLevel(trim_offsets=False),
        ),
        "roberta": (
            "bpe-plain",
            None,
            pre_tokenizers.ByteLevel(add_prefix_space=True),
            decoders.ByteLevel(),
            processors.ByteLevel(trim_offsets=True),
        ),
        "starcoder": (
            "bpe-plain",
            None,
            pre_tokenizers.Sequence(
                [
                    pre_tokenizers.Digits(individual_digits=True),
                    pre_tokenizers.ByteLevel(add_prefix_space=False),
                ]
            ),
            decoders.ByteLevel(),
            None,
        ),
        "deepseek_v2": (
            "bpe-plain",
            None,
            pre_tokenizers.Sequence(
                [
                    *(
                        pre_tokenizers.Split(Regex(source), "isolated")
                        for source in (
                            "[\r\n]",
                            r"\s?[A-Za-zÀ-ÖØ-öø-ɏͰ-ϿЀ-ӿ]+",
                            r"\s?[!-/:-~！-／：-～‘-‟\u3000-。]+",
                            r"\s+$",
                            "[一-龥가-\ud7ff]+",
                        )
                    ),
                    pre_tokenizers.Digits(individual_digits=True),
                    pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
                ]
            ),
            decoders.ByteLevel(),
            None,
        ),
        "falcon": (
            "bpe-plain",
            None,
            pre_tokenizers.Sequence(
                [
                    pre_tokenizers.Punctuation("contiguous"),
                    pre_tokenizers.ByteLevel(add_prefix_space=False),
                    pre_tokenizers.Digits(individual_digits=False),
                    pre_tokenizers.Split(Regex("[0-9][0-9][0-9]"), "isolated"),
                ]
            ),
            decoders.ByteLevel(),
            None,
        ),
        "bert": (
            "wordpiece",
            normalizers.BertNormalizer(),
            pre_tokenizers.BertPreTokenizer(),
            decoders.WordPiece(),
            None,
        ),
        "llama2": (
            "bpe-fallback",
            normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]),
            None,
            decoders.Sequence(
                [
                    decoders.Replace("▁", " "),
                    decoders.ByteFallback(),
                    decoders.Fuse(),
                    decoders.Strip(" ", 1, 0),
                ]
            ),
            None,
        ),
        "t5": (
            "unigram",
            precompiled(rng),
            pre_tokenizers.Metaspace(),
            decoders.Metaspace(),
            None,
        ),
        "clip": (
            "bpe-prefix",
            normalizers.Sequence(
                [
                    normalizers.NFC(),
                    normalizers.Replace(Regex(r"\s+"), " "),
                    normalizers.Lowercase(),
                ]
            ),
            pre_tokenizers.Sequence(
                [
                    pre_tokenizers.Split(
                        Regex(r"'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"),
                        "removed",
                        invert=True,
                    ),
                    pre_tokenizers.ByteLevel(add_prefix_space=False),
                ]
            ),
            decoders.ByteLevel(),
            None,
        ),
    }
    kind, normalizer, pre_tokenizer, decoder, trim = pipelines.get(name) or _byte_level(name)
    model, trainer = model_and_trainer(kind, specials, rng)
    if kind == "bpe-plain":
        trainer = trainers.BpeTrainer(
            vocab_size=2000,
            special_tokens=specials,
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
            show_progress=False,
        )
    tokenizer = Tokenizer(model)
    if normalizer is not None:
        tokenizer.normalizer = normalizer
    if pre_tokenizer is not None:
        tokenizer.pre_tokenizer = pre_tokenizer
    if decoder is not None:
        tokenizer.decoder = decoder
    if trim is not None:
        tokenizer.post_processor = trim
    tokenizer.train_from_iterator(corpus(1), trainer)
    return tokenizer


def _byte_level(name: str) -> tuple[str, Any, Any, Any, Any]:
    """The stages of a byte-level pipeline that cuts by the expressions of [`SPLITS`]."""
    expressions, matches = SPLITS[name]
    behavior, invert = ("removed", True) if matches == "kept" else ("isolated", False)
    splits = [pre_tokenizers.Split(Regex(it), behavior, invert=invert) for it in expressions]
    whole = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    normalizer = {
        "qwen2": normalizers.NFC(),
        "qwen3.5": normalizers.NFC(),
        "deepseek": normalizers.Sequence([]),
    }.get(name)
    processor = None if name == "llama3" else processors.ByteLevel(trim_offsets=name == "deepseek")
    pre_tokenizer = pre_tokenizers.Sequence([*splits, whole])
    return "bpe-plain", normalizer, pre_tokenizer, decoders.ByteLevel(), processor


CLASSICS = (
    "gpt2",
    "roberta",
    "starcoder",
    "deepseek_v2",
    "falcon",
    *SPLITS,
    "bert",
    "llama2",
    "t5",
    "clip",
)
