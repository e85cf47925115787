"""Which encoding a model uses: tiktoken's table of models, and what it makes of names in it."""

from __future__ import annotations

from collections.abc import Mapping

import jeton._core as _core
from jeton.errors import UnknownNameError
from jeton.interop.tiktoken import Encoding
from jeton.loading import registry
from jeton.tiktoken.registry import get_encoding

__all__ = [
    "MODEL_PREFIX_TO_ENCODING",
    "MODEL_TO_ENCODING",
    "encoding_for_model",
    "encoding_name_for_model",
]

MODEL_TO_ENCODING: Mapping[str, str] = registry.MODELS
MODEL_PREFIX_TO_ENCODING: Mapping[str, str] = registry.FAMILIES


def encoding_name_for_model(model_name: str) -> str:
    """The name of the encoding that a model uses.

    A name that begins as those of a family do is taken to be one of it, whether or not there is
    such a model.

    Raises:
        KeyError: No model is known by this name.

    Example:
        >>> encoding_name_for_model("gpt-4")
        'cl100k_base'
    """
    name = registry.encoding_of_model(model_name)
    if name is None:
        close = _core.did_you_mean(str(model_name), list(MODEL_TO_ENCODING))
        hint = f"did you mean {close!r}? otherwise name" if close else "name"
        raise UnknownNameError(
            f"no model is called {model_name!r} here ({hint} an encoding: get_encoding)"
        )
    return name


def encoding_for_model(model_name: str) -> Encoding:
    """The encoding that a model uses.

    Raises:
        KeyError: No model is known by this name.
    """
    return get_encoding(encoding_name_for_model(model_name))
