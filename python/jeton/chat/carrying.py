"""What becomes of origins where a function does not carry them: all that comes out is data.

Look here for what printing a value makes of it, and for text that is marked safe for HTML.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from jinja2 import Undefined
from jinja2.utils import Namespace
from markupsafe import Markup

from jeton.chat.limits import PIECE, spend, weighed
from jeton.chat.origins import TEMPLATE, UNKNOWN, Origin, Runs, least_trusted
from jeton.chat.traced import (
    Traced,
    TracedFloat,
    TracedInt,
    joined,
    marked,
    raw,
    runs_of,
    traced,
)

__all__ = ["SafeTraced", "conservatively", "data_in", "plain", "printed", "represented", "safe"]

_SCALARS = (bool, int, float, complex, type(None), range, Undefined)


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


def data_in(value: Any) -> Origin | None:
    """Whose the text is that is made of a value, however deep; `None` for the template."""
    return least_trusted(_origins_in(value))


def _origins_in(value: Any) -> Iterator[Origin]:
    if isinstance(value, str):
        yield from (origin for _, origin in runs_of(value))
    elif isinstance(value, (TracedInt, TracedFloat)):
        yield value._origin  # type: ignore[union-attr]
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _origins_in(key)
            yield from _origins_in(item)
    elif isinstance(value, (list, tuple, set, frozenset)):
        for item in value:
            yield from _origins_in(item)
    elif not isinstance(value, _SCALARS):
        yield UNKNOWN


def plain(value: Any) -> Any:
    """A value without origins."""
    if isinstance(value, Markup):
        return Markup(raw(value))
    if isinstance(value, Traced):
        return raw(value)
    if isinstance(value, TracedInt):
        return int(value)
    if isinstance(value, TracedFloat):
        return float(value)
    if isinstance(value, list):
        return [plain(item) for item in value]
    if type(value) is tuple:
        return tuple(plain(item) for item in value)
    if type(value) is dict:
        return {plain(key): plain(item) for key, item in value.items()}
    return value


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
    if isinstance(value, str):
        return traced(raw(value), runs_of(value))
    if isinstance(value, (TracedInt, TracedFloat)):
        return marked(repr(plain(value)), data_in(value))
    if isinstance(value, _SCALARS):
        return str(value)
    return represented(value)


def represented(value: Any) -> str:
    """`repr(value)` with its origins."""
    parts: list[str] = []
    _represent(weighed(value), parts)
    return joined(parts)


def _represent(value: Any, parts: list[str]) -> None:
    spend()
    if isinstance(value, Markup):
        parts.append(marked(repr(plain(value)), data_in(value)))
    elif isinstance(value, Traced):
        text = repr(raw(value))
        inner = text[1:-1]
        if inner == raw(value):
            parts += (text[0], value, text[-1])
        else:
            parts += (text[0], marked(inner, data_in(value)), text[-1])
    elif isinstance(value, str):
        parts.append(repr(value))
    elif isinstance(value, (TracedInt, TracedFloat)):
        parts.append(marked(repr(plain(value)), data_in(value)))
    elif isinstance(value, _SCALARS):
        parts.append(repr(value))
    elif isinstance(value, list):
        _sequence("[", value, "]", parts)
    elif isinstance(value, tuple):
        _sequence("(", value, ",)" if len(value) == 1 else ")", parts)
    elif isinstance(value, dict):
        parts.append("{")
        for number, (key, item) in enumerate(value.items()):
            parts.append(", " if number else "")
            _represent(key, parts)
            parts.append(": ")
            _represent(item, parts)
        parts.append("}")
    elif isinstance(value, Namespace):
        parts.append("<Namespace ")
        _represent(value._Namespace__attrs, parts)
        parts.append(">")
    else:
        parts.append(marked(str(value), UNKNOWN))


def _sequence(opening: str, items: Any, closing: str, parts: list[str]) -> None:
    parts.append(opening)
    for number, item in enumerate(items):
        parts.append(", " if number else "")
        _represent(item, parts)
    parts.append(closing)
