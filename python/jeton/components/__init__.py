"""The stages of a tokenizer as small immutable values, to compose or to inspect a tokenizer.

    encode   text ─ added tokens ─ normalizer ─ pre-tokenizer ─ model ─ post-processor ─▶ ids
    decode   ids ─▶ token bytes ─ decoder ─▶ text

There is one module per stage. Names and meanings are those of Hugging Face `tokenizers`.

Example:
    >>> import jeton
    >>> from jeton.components import decoders, models, normalizers, pre_tokenizers
    >>> tok = jeton.Tokenizer(
    ...     models.WordLevel({b"[UNK]": 0, b"hello": 1, b"world": 2}, unk_token="[UNK]"),
    ...     normalizer=normalizers.Lowercase(),
    ...     pre_tokenizer=pre_tokenizers.Whitespace(),
    ... )
    >>> tok.encode("Hello, World")
    [1, 0, 2]
    >>> tok.stages.normalizer
    Lowercase()
"""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import TYPE_CHECKING

from jeton.components.component import AddedToken, Regex

if TYPE_CHECKING:
    from jeton.components import (
        decoders,
        models,
        normalizers,
        post_processors,
        pre_tokenizers,
    )

__all__ = [
    "AddedToken",
    "Regex",
    "decoders",
    "models",
    "normalizers",
    "post_processors",
    "pre_tokenizers",
]


def __getattr__(name: str) -> ModuleType:
    # The stages are imported at their first use; most programs never use them.
    if name in __all__:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
