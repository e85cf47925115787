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

import importlib
from typing import TYPE_CHECKING, Any

from jeton import components, errors
from jeton._core import __version__
from jeton.components import AddedToken
from jeton.encoding import Encoding, PaddedBatch, TokenBatch
from jeton.errors import JetonError
from jeton.forks import wait_for_imports_before_forks
from jeton.loading import load
from jeton.tokenizer import Tokenizer

if TYPE_CHECKING:
    from jeton import (
        analysis,
        chat,
        cost,
        data,
        edit,
        learn,
        nn,
        samples,
        sentencepiece,
        textbook,
        tiktoken,
    )
    from jeton.cache import cache_limit, set_cache_limit
    from jeton.calls import BatchEncoding
    from jeton.chunks import Chunk, Truncated
    from jeton.corpus import Progress
    from jeton.known_names import names, patterns
    from jeton.streams import CountedText, DecodeStream
    from jeton.trainers import (
        BPETrainer,
        CharTrainer,
        UnigramTrainer,
        WordLevelTrainer,
        WordPieceTrainer,
    )
    from jeton.transformers_patch import patch_transformers
    from jeton.word_counts import WordCounts

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
    "textbook",
    "tiktoken",
)

_IMPORTED_WHEN_USED = {
    "BPETrainer": "jeton.trainers",
    "BatchEncoding": "jeton.calls",
    "CharTrainer": "jeton.trainers",
    "Chunk": "jeton.chunks",
    "CountedText": "jeton.streams",
    "DecodeStream": "jeton.streams",
    "Progress": "jeton.corpus",
    "Truncated": "jeton.chunks",
    "UnigramTrainer": "jeton.trainers",
    "WordCounts": "jeton.word_counts",
    "WordLevelTrainer": "jeton.trainers",
    "WordPieceTrainer": "jeton.trainers",
    "cache_limit": "jeton.cache",
    "names": "jeton.known_names",
    "patch_transformers": "jeton.transformers_patch",
    "patterns": "jeton.known_names",
    "set_cache_limit": "jeton.cache",
}

wait_for_imports_before_forks()


def __getattr__(name: str) -> Any:
    if name in _PACKAGES:
        return importlib.import_module(f"jeton.{name}")
    if name in _IMPORTED_WHEN_USED:
        return getattr(importlib.import_module(_IMPORTED_WHEN_USED[name]), name)
    from jeton.other_names import IMPORTED_FROM

    hint = f" (in jeton: {IMPORTED_FROM[name]})" if name in IMPORTED_FROM else ""
    raise AttributeError(f"module 'jeton' has no attribute {name!r}{hint}")


def __dir__() -> list[str]:
    return sorted(__all__)
