"""`once_per_tokenizer`: a function whose result is kept for as long as its tokenizer lives.

Look here, too, for the added tokens, the special tokens and the roles of a tokenizer, which chats
and answers read often, and for the ids that end an answer.
"""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from jeton.components import AddedToken
    from jeton.encoding.base_tokenizer import BaseTokenizer
    from jeton.encoding.base_tokenizer.settings import Roles

T = TypeVar("T")


def once_per_tokenizer(function: Callable[[BaseTokenizer], T]) -> Callable[[BaseTokenizer], T]:
    """The function, called once per tokenizer. A failed call is made again."""
    # By `id`: a hash would read all of the tokenizer. The result must not refer to the tokenizer,
    # which would then live for ever.
    known: dict[int, T] = {}

    @functools.wraps(function)
    def once(tok: BaseTokenizer) -> T:
        key = id(tok)
        if key not in known:
            known[key] = function(tok)
            weakref.finalize(tok, known.pop, key, None)
        return known[key]

    return once


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
