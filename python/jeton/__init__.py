"""Tokenizers: everything between raw text and the tensors that enter a language model.

Example:
    >>> import jeton
    >>> tok = jeton.CharTrainer().train("to be or not to be")
    >>> tok.encode("robot")
    [5, 4, 1, 4, 6]
    >>> tok.decode([5, 4, 1, 4, 6])
    'robot'
"""

from __future__ import annotations

from jeton import at_start as at_start  # isort: skip  # Ctrl-C ends the imports after it

import importlib
from typing import TYPE_CHECKING, Any, cast

from jeton import components, errors
from jeton._core import __version__
from jeton.components import AddedToken
from jeton.errors import JetonError
from jeton.forks import wait_for_imports_before_forks
from jeton.results.encoding import Encoding, PaddedBatch, TokenBatch
from jeton.tokenizer import Tokenizer
from jeton.tokenizer.loading import load

if TYPE_CHECKING:
    from collections.abc import Mapping

    from jeton import analysis, chat, cost, data, edit, learn, nn, samples, sentencepiece, tiktoken
    from jeton.corpora.progress import Progress
    from jeton.corpora.word_counts import WordCounts
    from jeton.encoding.alignment import align, shared_tokens
    from jeton.encoding.base_tokenizer import BaseTokenizer
    from jeton.encoding.cache import cache_limit, set_cache_limit
    from jeton.encoding.calls import BatchEncoding
    from jeton.encoding.chunks import Chunk, Truncated
    from jeton.encoding.streams import CountedText, DecodeStream
    from jeton.learn import textbook
    from jeton.loading.known_names import names
    from jeton.loading.patterns import patterns, split
    from jeton.tokenizer.play import ServedPage
    from jeton.training import (
        BPETrainer,
        CharTrainer,
        UnigramTrainer,
        WordLevelTrainer,
        WordPieceTrainer,
    )
    from jeton.transformers_patch import patch_transformers

__all__ = [
    "AddedToken",
    "BPETrainer",
    "BatchEncoding",
    "CharTrainer",
    "Chunk",
    "CountedText",
    "DecodeStream",
    "Encoding",
    "JetonError",
    "PaddedBatch",
    "Progress",
    "TokenBatch",
    "Tokenizer",
    "Truncated",
    "UnigramTrainer",
    "WordCounts",
    "WordLevelTrainer",
    "WordPieceTrainer",
    "__version__",
    "align",
    "analysis",
    "cache_limit",
    "chat",
    "components",
    "cost",
    "data",
    "edit",
    "errors",
    "learn",
    "load",
    "names",
    "nn",
    "patch_transformers",
    "patterns",
    "samples",
    "sentencepiece",
    "set_cache_limit",
    "shared_tokens",
    "split",
    "textbook",
    "tiktoken",
]

_PACKAGES = (
    "analysis",
    "chat",
    "cost",
    "data",
    "edit",
    "learn",
    "nn",
    "samples",
    "sentencepiece",
    "tiktoken",
)

_IMPORTED_WHEN_USED = {
    "BPETrainer": "jeton.training",
    "BatchEncoding": "jeton.encoding.calls",
    "CharTrainer": "jeton.training",
    "Chunk": "jeton.encoding.chunks",
    "CountedText": "jeton.encoding.streams",
    "DecodeStream": "jeton.encoding.streams",
    "Progress": "jeton.corpora.progress",
    "Truncated": "jeton.encoding.chunks",
    "UnigramTrainer": "jeton.training",
    "WordCounts": "jeton.corpora.word_counts",
    "WordLevelTrainer": "jeton.training",
    "WordPieceTrainer": "jeton.training",
    "align": "jeton.encoding.alignment",
    "cache_limit": "jeton.encoding.cache",
    "names": "jeton.loading.known_names",
    "patch_transformers": "jeton.transformers_patch",
    "patterns": "jeton.loading.patterns",
    "set_cache_limit": "jeton.encoding.cache",
    "shared_tokens": "jeton.encoding.alignment",
    "split": "jeton.loading.patterns",
}

wait_for_imports_before_forks()


def _open_page(tokenizers: Mapping[str, BaseTokenizer], text: str) -> ServedPage:
    from jeton.play import Page

    return Page(cast("Mapping[str, Tokenizer]", tokenizers), text=text).start()


Tokenizer._open_page = staticmethod(_open_page)


def __getattr__(name: str) -> Any:
    if name in _PACKAGES:
        return importlib.import_module(f"jeton.{name}")
    if name in _IMPORTED_WHEN_USED:
        return getattr(importlib.import_module(_IMPORTED_WHEN_USED[name]), name)
    if name == "textbook":
        return importlib.import_module("jeton.learn.textbook")
    from jeton.encoding.other_names import IMPORTED_FROM

    hint = f" (in jeton: {IMPORTED_FROM[name]})" if name in IMPORTED_FROM else ""
    raise AttributeError(f"module 'jeton' has no attribute {name!r}{hint}")


def __dir__() -> list[str]:
    return sorted(__all__)
