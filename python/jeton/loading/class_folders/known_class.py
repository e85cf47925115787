"""A class of transformers, and the stages that it builds."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from jeton.components import decoders, models, normalizers, post_processors, pre_tokenizers
from jeton.loading.class_folders.configuration import Configuration, Token

Frame: TypeAlias = Callable[[Mapping[str, tuple[str, int]]], "post_processors.PostProcessor | None"]
"""Returns the post-processor for the tokens by name or role, each with its id."""


@dataclass(frozen=True)
class ClassStages:
    """The stages that a class builds, without its added tokens."""

    model: models.Model | Callable[[Collection[int]], models.Model]
    """The model, or a function that builds it from the ids of the added tokens."""
    ids: Mapping[str, int]
    """The vocabulary, in the spelling of the class."""
    size: int
    """The number of tokens by the class's count, which is the first id for new ones."""
    normalizer: normalizers.Normalizer | None = None
    pre_tokenizer: pre_tokenizers.PreTokenizer | None = None
    decoder: decoders.Decoder | None = None
    frame: Frame | None = None
    own: Mapping[int, Token] = field(default_factory=dict)
    """The added tokens of the class itself, by id."""
    further: Sequence[str] = ()
    """Special tokens that the class adds last, such as language codes."""
    warnings: Sequence[str] = ()
    """Differences between these stages and the class."""
    finds_normalized: bool = False
    """Whether lower-case added tokens that are not special are matched in text of any case."""


Builder: TypeAlias = Callable[[Configuration, "KnownClass"], ClassStages]


@dataclass(frozen=True)
class KnownClass:
    """The builder of a class, and its default tokens."""

    build: Builder
    roles: Mapping[str, Token | None] = field(default_factory=dict)
    """The token of each role, unless the files name another."""
    further: tuple[str, ...] = ()
    """The special tokens without a role, unless the files list some."""
    unsaid: Mapping[str, str] = field(default_factory=dict)
    """Flags that are true by default in transformers 4 and false in 5; each with what it adds."""


def template(single: str, pair: str) -> Frame:
    """A frame of tokens by name, `:1` for those of type 1: `"cls $A sep $B:1 sep:1"`.

    Names without a token are left out.
    """

    def frame(tokens: Mapping[str, tuple[str, int]]) -> post_processors.PostProcessor | None:
        rows, ids = [], {}
        for text in (single, pair):
            row = []
            for item in text.split():
                # The name of a token may hold colons of its own.
                name, type_id = (item[:-2], 1) if item.endswith(":1") else (item, 0)
                if name in tokens:
                    content, id = tokens[name]
                    ids[content] = id
                    row.append(post_processors.TemplatePiece(content, type_id))
                elif name in ("$A", "$B"):
                    row.append(post_processors.TemplatePiece(name, type_id))
            rows.append(tuple(row))
        if not ids:
            return None
        special = (
            post_processors.TemplateToken(content, (id,), (content,)) for content, id in ids.items()
        )
        return post_processors.TemplateProcessing(rows[0], rows[1], tuple(special))

    return frame


CLS_SEP = template("cls $A sep", "cls $A sep $B:1 sep:1")
"""BERT's frame."""
CLS_SEP_SEP = template("cls $A sep", "cls $A sep sep $B sep")
"""RoBERTa's frame."""
