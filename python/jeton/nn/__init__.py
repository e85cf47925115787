"""From ids to vectors: token embeddings and positions for PyTorch, and looking into a table.

Look here for what stands between the ids of a tokenizer and the first layer of a model. The
modules need PyTorch (`pip install "jeton[torch]"`); `jeton.nn.reference` says the same in plain
numpy, one formula a function.

Example:
    >>> import torch
    >>> from jeton import nn
    >>> tokens, positions = nn.TokenEmbedding(65, 32), nn.LearnedPositions(128, 32)
    >>> ids = torch.tensor([[3, 1, 4]])
    >>> hidden = positions(tokens(ids))
    >>> hidden.shape, tokens.logits(hidden).shape
    (torch.Size([1, 3, 32]), torch.Size([1, 3, 65]))
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from jeton.errors import UnsupportedError

if TYPE_CHECKING:
    from jeton.nn.alibi import ALiBi
    from jeton.nn.embedding import TokenEmbedding
    from jeton.nn.learned import LearnedPositions
    from jeton.nn.maps import EmbeddingMap, embedding_map
    from jeton.nn.remapping import remap, remap_optimizer
    from jeton.nn.rotary import RotaryPositions
    from jeton.nn.scaling import (
        DynamicNTKScaling,
        LinearScaling,
        Llama3Scaling,
        Scaling,
        YaRNScaling,
    )
    from jeton.nn.sinusoidal import SinusoidalPositions
    from jeton.nn.tables import (
        Neighbour,
        UnderTrained,
        neighbours,
        norms,
        norms_by_frequency,
        under_trained,
    )

_MODULES = {
    "ALiBi": "alibi",
    "DynamicNTKScaling": "scaling",
    "EmbeddingMap": "maps",
    "LearnedPositions": "learned",
    "LinearScaling": "scaling",
    "Llama3Scaling": "scaling",
    "Neighbour": "tables",
    "RotaryPositions": "rotary",
    "Scaling": "scaling",
    "SinusoidalPositions": "sinusoidal",
    "TokenEmbedding": "embedding",
    "UnderTrained": "tables",
    "YaRNScaling": "scaling",
    "embedding_map": "maps",
    "neighbours": "tables",
    "norms": "tables",
    "norms_by_frequency": "tables",
    "remap": "remapping",
    "remap_optimizer": "remapping",
    "under_trained": "tables",
}

__all__ = [
    "ALiBi",
    "DynamicNTKScaling",
    "EmbeddingMap",
    "LearnedPositions",
    "LinearScaling",
    "Llama3Scaling",
    "Neighbour",
    "RotaryPositions",
    "Scaling",
    "SinusoidalPositions",
    "TokenEmbedding",
    "UnderTrained",
    "YaRNScaling",
    "embedding_map",
    "neighbours",
    "norms",
    "norms_by_frequency",
    "remap",
    "remap_optimizer",
    "under_trained",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'jeton.nn' has no attribute {name!r}")
    try:
        module = importlib.import_module(f"jeton.nn.{_MODULES[name]}")
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        raise UnsupportedError(
            f"jeton.nn.{name} needs PyTorch (pip install 'jeton[torch]'); jeton.nn.reference has "
            "the same mathematics in numpy"
        ) from None
    return getattr(module, name)


def __dir__() -> list[str]:
    return sorted([*__all__, "reference"])
