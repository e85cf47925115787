"""The tokenizers that are timed, one a family, and which library says what their ids are."""

from __future__ import annotations

import functools
import json
import tempfile
from dataclasses import dataclass
from pathlib import Path

import jeton
from jeton import _core
from jeton.components import normalizers, pre_tokenizers
from jeton.components.pre_tokenizers import Regex

from .texts import SHARED, text_of

VOCABULARIES = SHARED / "vocab"
UNKNOWN_PATTERN = (r"[\p{L}\p{M}_]+|\p{N}{1,2}|[^\s\p{L}\p{M}\p{N}_]+|\s+",)

#: One after another, which no scanner knows.
SEVERAL_SPLITS = (r"[\p{P}\p{S}]", r"\p{N}{1,3}", r" ?[^\s]+|\s+(?!\S)|\s+")


def expressions(pattern: str) -> tuple[str, ...]:
    """Those that a pattern of jeton's cuts by, one after another."""
    stages = json.loads(_core.pattern_pre_tokenizer(pattern))["pre_tokenizer"]
    splits = stages.get("pretokenizers", [stages])
    return tuple(split["pattern"]["Regex"] for split in splits)


QWEN = expressions("qwen3")
#: The newlines of DeepSeek's files are no escapes, and some libraries know it by its letters.
DEEPSEEK = tuple(it.replace(r"\r", "\r").replace(r"\n", "\n") for it in expressions("deepseek"))


@dataclass(frozen=True)
class Family:
    """A tokenizer and the file that it is in."""

    name: str
    file: str
    kind: str
    """`ranks`, `sentencepiece`, `wordpiece` or `json`."""
    judge: str
    """The library whose ids are right by definition."""
    patterns: tuple[str, ...] = ()
    """Of a `json`: the expressions that cut text, one after another."""
    composes: bool = False
    """Of a `json`: whether text is brought into NFC first."""

    @property
    def path(self) -> Path:
        return unigram_model() if self.file == "trained" else VOCABULARIES / self.file

    def load(self) -> jeton.Tokenizer:
        """jeton's tokenizer."""
        if self.kind == "json":
            return jeton.load(self.json())
        return jeton.load(self.path)

    def json(self) -> Path:
        """The same tokenizer as a `tokenizer.json`, for the libraries that read nothing else."""
        return _json_of(self)


@functools.cache
def _json_of(family: Family) -> Path:
    path = _folder() / f"{family.name.replace(' ', '_')}.json"
    if family.kind == "json":
        splits = [pre_tokenizers.Split(Regex(it), "isolated") for it in family.patterns]
        byte_level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
        stages = pre_tokenizers.Sequence([*splits, byte_level])
        normalizer = normalizers.NFC() if family.composes else None
        whole = jeton.load(family.path).replace(pre_tokenizer=stages, normalizer=normalizer)
        whole.save(path)
    else:
        jeton.load(family.path).save(path)
    return path


@functools.cache
def unigram_model() -> Path:
    """A Unigram model, trained by SentencePiece on English."""
    import sentencepiece

    prefix = _folder() / "unigram"
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(text_of("english", 2).splitlines()),
        model_prefix=str(prefix),
        vocab_size=16_000,
        model_type="unigram",
        byte_fallback=True,
        minloglevel=2,
    )
    return prefix.with_suffix(".model")


@functools.cache
def _folder() -> Path:
    return Path(tempfile.mkdtemp(prefix="jeton-benchmark-"))


FAMILIES = (
    Family("r50k", "r50k_base.tiktoken", "ranks", "tiktoken"),
    Family("cl100k", "cl100k_base.tiktoken", "ranks", "tiktoken"),
    Family("o200k", "o200k_base.tiktoken", "ranks", "tiktoken"),
    Family("Llama 3", "llama3_ranks.model", "ranks", "tiktoken"),
    Family("Llama 2", "llama2_sentencepiece_bpe.model", "sentencepiece", "sentencepiece"),
    # Named for its shape; by its own trainer_spec it is a BPE.
    Family("T5 style, a BPE", "t5_style_unigram.model", "sentencepiece", "sentencepiece"),
    Family("Unigram", "trained", "sentencepiece", "sentencepiece"),
    Family("BERT", "bert_uncased_vocab.txt", "wordpiece", "tokenizers"),
    # The stages of these models, over a vocabulary that is at hand.
    Family("Qwen 3 style", "cl100k_base.tiktoken", "json", "tokenizers", QWEN, composes=True),
    Family("DeepSeek V3 style", "cl100k_base.tiktoken", "json", "tokenizers", DEEPSEEK),
    Family("unknown pattern", "r50k_base.tiktoken", "json", "tokenizers", UNKNOWN_PATTERN),
    Family("several splits", "r50k_base.tiktoken", "json", "tokenizers", SEVERAL_SPLITS),
)
MAIN = ("r50k", "cl100k", "o200k", "Llama 3")
