"""`once_per_tokenizer`: a function whose result is kept for as long as its tokenizer lives.

Look here, too, for the added tokens, the special tokens and the roles of a tokenizer, which chats
and answers read often, and for the ids that end an answer.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from jeton.components import AddedToken
    from jeton.encoding.base_tokenizer import BaseTokenizer
    from jeton.encoding.base_tokenizer.core import Core
    from jeton.encoding.base_tokenizer.settings import Roles

T = TypeVar("T")
_Tokenizer = TypeVar("_Tokenizer", bound="Core")


def once_per_tokenizer(function: Callable[[_Tokenizer], T]) -> Callable[[_Tokenizer], T]:
    """The function, called once per tokenizer. A failed call is made again."""

    @functools.wraps(function)
    def once(tok: _Tokenizer) -> T:
        results = tok._results
        if function not in results:
            # If two threads call it at the same time, both get the result of the first.
            results.setdefault(function, function(tok))
        result: T = results[function]
        return result

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
