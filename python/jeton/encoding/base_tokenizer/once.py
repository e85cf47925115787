"""`once_per_tokenizer`: a function whose result is kept in its tokenizer."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Protocol, TypeVar


class HasResults(Protocol):
    """What a tokenizer has for this: see `Core`."""

    _results: dict[Callable[..., Any], Any]


T = TypeVar("T")
_Tokenizer = TypeVar("_Tokenizer", bound=HasResults)


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
