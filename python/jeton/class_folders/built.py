"""What a class is, and what it builds: the stages, and which ids its tokens have."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from jeton.class_folders.configuration import Configuration, Token
from jeton.components import decoders, models, normalizers, post_processors, pre_tokenizers

__all__ = ["Builder", "Built", "Frame", "KnownClass", "template"]

Frame: TypeAlias = Callable[[Mapping[str, tuple[str, int]]], "post_processors.PostProcessor | None"]
"""The post-processor, of the tokens of roles and others by name, each with its id."""


@dataclass(frozen=True)
class Built:
    """Stages without the tokens that are found by their spelling."""

    model: models.Model | Callable[[Collection[int]], models.Model]
    """The model, which may depend on the ids of the tokens that are found by their spelling."""
    ids: Mapping[str, int]
    """The vocabulary, as the class spells it."""
    size: int
    """How many tokens the class says that it has, from which on new ones get their ids."""
    normalizer: normalizers.Normalizer | None = None
    pre_tokenizer: pre_tokenizers.PreTokenizer | None = None
    decoder: decoders.Decoder | None = None
    frame: Frame | None = None
    own: Mapping[int, Token] = field(default_factory=dict)
    """The tokens that the class itself adds, by id."""
    further: Sequence[str] = ()
    """The special tokens that the class adds in the end, as language codes."""


Builder: TypeAlias = Callable[[Configuration, "KnownClass"], Built]


@dataclass(frozen=True)
class KnownClass:
    """What a class builds."""

    build: Builder
    roles: Mapping[str, Token | None] = field(default_factory=dict)
    """The tokens of roles, where the files do not name them."""
    further: tuple[str, ...] = ()
    """The special tokens without a role, where the files do not list them."""


def template(single: str, pair: str) -> Frame:
    """A frame by names, each with the type of its tokens if that is 1: `"cls $A sep $B:1 sep:1"`.

    What there is no token for is left out.
    """

    def frame(tokens: Mapping[str, tuple[str, int]]) -> post_processors.PostProcessor | None:
        rows, spelled = [], {}
        for text in (single, pair):
            row = []
            for item in text.split():
                # The name of a token may hold colons of its own.
                name, type_id = (item[:-2], 1) if item.endswith(":1") else (item, 0)
                if name in tokens:
                    content, id = tokens[name]
                    spelled[content] = id
                    row.append(post_processors.TemplatePiece(content, type_id))
                elif name in ("$A", "$B"):
                    row.append(post_processors.TemplatePiece(name, type_id))
            rows.append(tuple(row))
        if not spelled:
            return None
        special = (
            post_processors.TemplateToken(content, (id,), (content,))
            for content, id in spelled.items()
        )
        return post_processors.TemplateProcessing(rows[0], rows[1], tuple(special))

    return frame
