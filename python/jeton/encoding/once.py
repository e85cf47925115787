"""The added tokens, the special tokens and the roles of a tokenizer, which chats and answers read
often, each kept for as long as the tokenizer lives; and the ids that end an answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from jeton.encoding.base_tokenizer.once import once_per_tokenizer

if TYPE_CHECKING:
    from jeton.components import AddedToken
    from jeton.encoding.base_tokenizer import BaseTokenizer
    from jeton.encoding.base_tokenizer.settings import Roles


@once_per_tokenizer
def added_tokens_of(tok: BaseTokenizer) -> tuple[AddedToken, ...]:
    """`tok.stages.added_tokens`, kept, since the property builds a new list each time."""
    return tuple(tok.stages.added_tokens)


@once_per_tokenizer
def special_tokens_of(tok: BaseTokenizer) -> Mapping[str, int]:
    """`tok.special_tokens`, kept, since the property builds a new dict each time."""
    return MappingProxyType(tok.special_tokens)


@once_per_tokenizer
def roles_of(tok: BaseTokenizer) -> Roles:
    """`tok.roles`, kept, since the property builds new dicts each time."""
    return tok.roles


def ends_of(tok: BaseTokenizer) -> tuple[int, ...]:
    """The ids that end an answer: the roles `eos` and `eot`, and those of the folder's
    `generation_config.json`."""
    roles = [it for role in ("eos", "eot") if (it := roles_of(tok).ids.get(role)) is not None]
    settings = tok._settings
    return tuple(
        dict.fromkeys([*roles, *(() if settings.stages_changed else settings.generation_ends)])
    )
