"""What a tokenizer is put together from, as the core takes it: stages and added tokens."""

from __future__ import annotations

import dataclasses
import itertools
import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import jeton._core as _core
from jeton import components
from jeton.components.component import AddedToken, stored_component
from jeton.errors import ArgumentTypeError

if TYPE_CHECKING:
    from jeton._core import Model as CoreModel
    from jeton._core import Pipeline
    from jeton.components import (
        decoders,
        models,
        normalizers,
        post_processors,
        pre_tokenizers,
    )

__all__ = ["assembled", "stages_around", "stored_tokens"]


def assembled(
    model: models.Model,
    normalizer: normalizers.Normalizer | None = None,
    pre_tokenizer: pre_tokenizers.PreTokenizer | None = None,
    post_processor: post_processors.PostProcessor | None = None,
    decoder: decoders.Decoder | None = None,
    added_tokens: Iterable[AddedToken] = (),
) -> Pipeline:
    """The core's tokenizer of these stages.

    Raises:
        ArgumentTypeError: A component at the wrong stage.
        FormatError: Components that do not fit together.
    """
    if not isinstance(model, components.models.Model):
        raise ArgumentTypeError(
            f"model must be one of jeton.components.models, not {type(model).__name__}"
        )
    built = model.to_core()
    stages = stages_around(built, normalizer, pre_tokenizer, post_processor, decoder, added_tokens)
    return _core.Pipeline.build(built, stages)


def stages_around(
    model: CoreModel,
    normalizer: normalizers.Normalizer | None,
    pre_tokenizer: pre_tokenizers.PreTokenizer | None,
    post_processor: post_processors.PostProcessor | None,
    decoder: decoders.Decoder | None,
    added_tokens: Iterable[AddedToken],
) -> str:
    """The stages around a model in the shape of a `tokenizer.json`."""
    stages = {
        "added_tokens": stored_tokens(added_tokens, model),
        "normalizer": stored_component(components.normalizers.Normalizer, normalizer),
        "pre_tokenizer": stored_component(components.pre_tokenizers.PreTokenizer, pre_tokenizer),
        "post_processor": stored_component(
            components.post_processors.PostProcessor, post_processor
        ),
        "decoder": stored_component(components.decoders.Decoder, decoder),
    }
    return json.dumps(stages)


def stored_tokens(tokens: Iterable[AddedToken], model: CoreModel) -> list[dict[str, Any]]:
    """Added tokens as a `tokenizer.json` holds them, each with an id."""
    if isinstance(tokens, (str, bytes)) or not isinstance(tokens, Iterable):
        raise ArgumentTypeError(
            f"added_tokens must be an iterable of AddedToken, not {type(tokens).__name__}"
        )
    listed = list(tokens)
    for position, token in enumerate(listed):
        if not isinstance(token, AddedToken):
            raise ArgumentTypeError(
                f"added_tokens[{position}] must be an AddedToken, not {type(token).__name__}"
            )
    given = [token.id for token in listed if token.id is not None]
    vocab = model.vocab() if len(given) < len(listed) else {}
    free = itertools.count(max([*vocab.values(), *given], default=-1) + 1)
    stored = []
    for token in listed:
        id = token.id
        if id is None:
            id = vocab.get(token.content.encode("utf-8", "surrogatepass"))
        stored.append({**dataclasses.asdict(token), "id": next(free) if id is None else id})
    return stored
