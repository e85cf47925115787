"""The encoding of each model: tiktoken's table, and its rules for names."""

from __future__ import annotations

from collections.abc import Mapping

import jeton._core as _core
from jeton.errors import UnknownNameError
from jeton.interop.tiktoken import Encoding
from jeton.loading import registry
from jeton.tiktoken.registry import get_encoding

MODEL_TO_ENCODING: Mapping[str, str] = registry.MODELS
MODEL_PREFIX_TO_ENCODING: Mapping[str, str] = registry.FAMILIES


def encoding_name_for_model(model_name: str) -> str:
    """The name of the encoding that a model uses.

    A name with the beginning of a family is taken as a member, whether or not the model exists.

    Raises:
        KeyError: There is no model with this name.

    Example:
        >>> encoding_name_for_model("gpt-4")
        'cl100k_base'
    """
    name = registry.encoding_of_model(model_name)
    if name is None:
        close = _core.did_you_mean(str(model_name), list(MODEL_TO_ENCODING))
        hint = f"did you mean {close!r}? otherwise name" if close else "name"
        raise UnknownNameError(
            f"there is no model {model_name!r} ({hint} an encoding: get_encoding)"
        )
    return name


def encoding_for_model(model_name: str) -> Encoding:
    """The encoding that a model uses.

    Raises:
        KeyError: There is no model with this name.
    """
    return get_encoding(encoding_name_for_model(model_name))
