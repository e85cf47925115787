"""Values whose origins a function cannot carry: all that comes out of it counts as data.

Look here for text that is marked safe for HTML; what is printed keeps its origins in `printing.py`.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator
from typing import Any

from markupsafe import Markup

from jeton.chat import printing
from jeton.chat.limits import PIECE, spend, weighed
from jeton.chat.origins import TEMPLATE, Origin, Runs
from jeton.chat.parts import data_in, plain, raw, runs_of
from jeton.chat.traced import Traced, marked, whole

__all__ = ["SafeTraced", "conservatively", "printed", "safe"]


class SafeTraced(Markup):
    """Text marked as safe for HTML, with the origin of each character."""

    __slots__ = ("_runs",)
    _runs: Runs

    def __getitem__(self, key: Any) -> Markup:  # type: ignore[override]
        return conservatively(Markup.__getitem__, self, key)  # type: ignore[no-any-return]

    def __iter__(self) -> Iterator[str]:
        return iter(conservatively(list, self))


def safe(text: str) -> Markup:
    """A text marked as safe for HTML."""
    runs = runs_of(text)
    if all(origin == TEMPLATE for _, origin in runs):
        return Markup(raw(text))
    result = SafeTraced(raw(text))
    result._runs = runs
    return result


def _tainted(value: Any, origin: Origin) -> Any:
    """A value all of whose text is of one origin."""
    if isinstance(value, Markup):
        return safe(marked(raw(value), origin))
    if isinstance(value, str):
        return marked(value, origin)
    if isinstance(value, (bytes, bytearray)):
        raise TypeError("bytes do not know who wrote them")
    if isinstance(value, list):
        return [_tainted(item, origin) for item in value]
    if type(value) is tuple:
        return tuple(_tainted(item, origin) for item in value)
    if isinstance(value, dict):
        return {_tainted(key, origin): _tainted(item, origin) for key, item in value.items()}
    return value


def conservatively(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Calls a function that knows no origins; text that comes out is data if any went in."""
    args = tuple(list(it) if isinstance(it, Iterator) else it for it in args)
    given = weighed([*args, *kwargs.values()])
    spend(PIECE // 2 * sum(len(it) for it in given if isinstance(it, str)))
    origin = data_in((args, kwargs))
    result = function(*plain(args), **plain(kwargs))
    if isinstance(result, (types.GeneratorType, map, filter, zip)):
        result = list(result)
    spend(len(result) if isinstance(result, (str, list, tuple, dict)) else 1)
    return result if origin is None else _tainted(result, origin)


def printed(value: Any) -> str:
    """What `{{ value }}` shows: `str(value)` with its origins."""
    kind = type(value)
    if kind is str or kind is Traced:
        return value  # type: ignore[no-any-return]
    return whole(printing.printed(value))
