"""From ids to vectors: token embeddings and positions for PyTorch, and analysis of their tables.

Look here for everything between the ids of a tokenizer and the first layer of a model. The modules
need PyTorch (`pip install "jeton[torch]"`); `jeton.nn.reference` has the same formulas in plain
numpy, one per function.

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
import importlib.util
from typing import TYPE_CHECKING, Any

from jeton.errors import UnsupportedError

if TYPE_CHECKING:
    from jeton.edit.remapping import remap, remap_optimizer
    from jeton.nn.alibi import ALiBi
    from jeton.nn.embedding import TokenEmbedding
    from jeton.nn.gpt import GPT, GPTConfig
    from jeton.nn.learned import LearnedPositions
    from jeton.nn.maps import EmbeddingMap, embedding_map
    from jeton.nn.rotary import RotaryPositions
    from jeton.nn.scaling import (
        DynamicNTKScaling,
        LinearScaling,
        Llama3Scaling,
        LongRoPEScaling,
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
    "ALiBi": "jeton.nn.alibi",
    "DynamicNTKScaling": "jeton.nn.scaling",
    "EmbeddingMap": "jeton.nn.maps",
    "GPT": "jeton.nn.gpt",
    "GPTConfig": "jeton.nn.gpt",
    "LearnedPositions": "jeton.nn.learned",
    "LinearScaling": "jeton.nn.scaling",
    "Llama3Scaling": "jeton.nn.scaling",
    "LongRoPEScaling": "jeton.nn.scaling",
    "Neighbour": "jeton.nn.tables",
    "RotaryPositions": "jeton.nn.rotary",
    "Scaling": "jeton.nn.scaling",
    "SinusoidalPositions": "jeton.nn.sinusoidal",
    "TokenEmbedding": "jeton.nn.embedding",
    "UnderTrained": "jeton.nn.tables",
    "YaRNScaling": "jeton.nn.scaling",
    "embedding_map": "jeton.nn.maps",
    "neighbours": "jeton.nn.tables",
    "norms": "jeton.nn.tables",
    "norms_by_frequency": "jeton.nn.tables",
    "remap": "jeton.edit.remapping",
    "remap_optimizer": "jeton.edit.remapping",
    "under_trained": "jeton.nn.tables",
}

__all__ = [
    "GPT",
    "ALiBi",
    "DynamicNTKScaling",
    "EmbeddingMap",
    "GPTConfig",
    "LearnedPositions",
    "LinearScaling",
    "Llama3Scaling",
    "LongRoPEScaling",
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
    if name == "reference":
        return importlib.import_module("jeton.nn.reference")
    if name not in _MODULES:
        raise AttributeError(f"module 'jeton.nn' has no attribute {name!r}")
    try:
        module = importlib.import_module(_MODULES[name])
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        raise UnsupportedError(
            f"jeton.nn.{name} needs PyTorch (pip install 'jeton[torch]'); jeton.nn.reference has "
            "the same mathematics in numpy"
        ) from None
    return getattr(module, name)


def __dir__() -> list[str]:
    """The names that can be imported here, so that documenting the module needs no PyTorch."""
    return sorted([*(__all__ if importlib.util.find_spec("torch") else ()), "reference"])
