"""Values whose origins a function cannot carry: all that comes out of it counts as data.

Printed values keep their origins in `printing.py`, text that is safe for HTML in `safe_text.py`.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator
from typing import Any

from markupsafe import Markup

from jeton.chat.templates.limits import counted_items
from jeton.chat.templates.origins import Origin
from jeton.chat.templates.parts import data_in, plain, raw
from jeton.chat.templates.safe_text import safe
from jeton.chat.templates.traced import marked


def _tainted(value: object, origin: Origin) -> Any:
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


def conservatively(function: Callable[..., Any], *args: object, **kwargs: object) -> Any:
    """Calls a function that knows no origins; text that comes out is data if any went in."""
    args = tuple(list(counted_items(it)) if isinstance(it, Iterator) else it for it in args)
    origin = data_in((args, kwargs))
    result = function(*plain(args), **plain(kwargs))
    if isinstance(result, (types.GeneratorType, map, filter, zip)):
        result = list(counted_items(result))
    return result if origin is None else _tainted(result, origin)
