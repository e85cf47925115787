"""Converts stages and added tokens for the core, and builds its pipeline from them."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING

import jeton._core as _core
from jeton import components
from jeton.arguments import check_kind, checked_iterable
from jeton.components.component import AddedFields, AddedToken, stored_component

if TYPE_CHECKING:
    from jeton._core import Pipeline
    from jeton.components import (
        decoders,
        models,
        normalizers,
        post_processors,
        pre_tokenizers,
    )


def assembled(
    model: models.Model,
    normalizer: normalizers.Normalizer | None = None,
    pre_tokenizer: pre_tokenizers.PreTokenizer | None = None,
    post_processor: post_processors.PostProcessor | None = None,
    decoder: decoders.Decoder | None = None,
    added_tokens: Iterable[AddedToken] = (),
) -> Pipeline:
    """The core's tokenizer of these stages."""
    check_kind("model", model, components.models.Model, "one of jeton.components.models")
    stages = stages_around(normalizer, pre_tokenizer, post_processor, decoder)
    return _core.Pipeline.build(model.to_core(), stages, added_to_core(added_tokens))


def stages_around(
    normalizer: normalizers.Normalizer | None,
    pre_tokenizer: pre_tokenizers.PreTokenizer | None,
    post_processor: post_processors.PostProcessor | None,
    decoder: decoders.Decoder | None,
) -> str:
    """The stages around a model in the shape of a `tokenizer.json`."""
    stages = {
        "normalizer": stored_component(components.normalizers.Normalizer, normalizer),
        "pre_tokenizer": stored_component(components.pre_tokenizers.PreTokenizer, pre_tokenizer),
        "post_processor": stored_component(
            components.post_processors.PostProcessor, post_processor
        ),
        "decoder": stored_component(components.decoders.Decoder, decoder),
    }
    return json.dumps(stages)


def added_to_core(tokens: Iterable[AddedToken]) -> list[AddedFields]:
    """Added tokens as the core takes them."""
    tokens = checked_iterable("added_tokens", tokens, "an iterable of AddedToken")
    listed = list(tokens)
    for position, token in enumerate(listed):
        check_kind(f"added_tokens[{position}]", token, AddedToken, "an AddedToken")
    return [token._to_core() for token in listed]
