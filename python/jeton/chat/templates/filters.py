"""Jinja's filters with origins and limits.

Those that hand their values on are Jinja's own. Those that make text are written here, or, where
nobody needs to know which part came from where, their whole result is data.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final

from jinja2 import filters as jinja
from jinja2 import pass_environment
from jinja2.exceptions import FilterArgumentError
from jinja2.utils import _PassArg
from markupsafe import Markup

from jeton.chat.templates.formatting import percent
from jeton.chat.templates.growth import GROWTH
from jeton.chat.templates.held_text import is_held, refuse, searched
from jeton.chat.templates.json_text import to_json
from jeton.chat.templates.limits import ITEM, counted_items, guard, made, spend
from jeton.chat.templates.lost_origins import conservatively
from jeton.chat.templates.parts import data_in, plain, raw, traced_number
from jeton.chat.templates.printing import printed
from jeton.chat.templates.safe_text import FOLLOWED, followed, safe
from jeton.chat.templates.traced import Traced, joined

COUNTED: Final = "counted by jeton"
MADE: Final = "made by jeton"
JOINED: Final = "joined by jeton"
SEARCHED: Final = "searched by jeton"
"""Names of filters that no template can write after `|`."""

_HANDS_ON = """
    abs attr batch count d default dictsort first groupby items last length list map max min
    random reject rejectattr reverse round select selectattr slice sort unique
""".split()
"""Filters that write no text, or whose text keeps its origins because `Traced` does."""


_CALLS = {"trim": "strip", "upper": "upper", "lower": "lower", "capitalize": "capitalize"}
"""The methods of a text that filters are, by name."""


def _of_jinja(function: Callable[..., Any]) -> int:
    """How many of a filter's first arguments come from Jinja: its environment or context."""
    return 0 if _PassArg.from_obj(function) is None else 1


def _limited(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """A filter under the limits."""
    within = _of_jinja(function)
    growth = None if name == "join" else GROWTH.get(name)  # the method of that name is another

    @functools.wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        spend(ITEM)
        if is_held(*args, *kwargs.values()):
            return _of_held(name, function, *args, **kwargs)
        if growth is not None:
            guard(growth(*args[within:], **kwargs))
        result = function(*args, **kwargs)
        return counted_items(result) if isinstance(result, Iterator) else made(result)

    return called


def _of_held(name: str, function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """What a filter gives of words that are held back, if it does not read them."""
    if name in ("default", "d"):
        return function(*args, **kwargs)
    if kwargs or len(args) != 1 or name not in ("trim", "string"):
        refuse(*args, *kwargs.values())
    return args[0].strip() if name == "trim" else args[0]


def _cautious(function: Callable[..., Any]) -> Callable[..., Any]:
    """A filter that knows no origins."""
    within = _of_jinja(function)

    @functools.wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        return conservatively(functools.partial(function, *args[:within]), *args[within:], **kwargs)

    return called


def _unless_safe(
    ours: Callable[..., Any], original: Callable[..., Any], method: str | None
) -> Callable[..., Any]:
    """A filter of ours, except for text that is marked as safe for HTML.

    Args:
        ours: The filter for other text.
        original: The filter of Jinja.
        method: The method of a text that it calls, if it does nothing more.
    """
    within = _of_jinja(original)

    @functools.wraps(original)
    def called(*args: Any, **kwargs: Any) -> Any:
        arguments = args[within:]
        marked = [isinstance(value, Markup) for value in (*arguments, *kwargs.values())]
        if not any(marked):
            return ours(*arguments, **kwargs)
        if method in FOLLOWED and isinstance(arguments[0], Markup) and sum(marked) == 1:
            return followed(method, *arguments, **kwargs)
        return _cautious(original)(*args, **kwargs)

    return called


def _traced(value: Any) -> Traced:
    text = printed(value)
    return text if isinstance(text, Traced) else Traced(text)


def _trim(value: Any, chars: str | None = None) -> str:
    return _traced(value).strip(chars)


def _title(value: Any) -> str:
    text = _traced(value)
    return text._recased(jinja.do_title(raw(text)))


def _word_count(value: Any) -> int:
    return jinja.do_wordcount(raw(printed(value)))


def _replace(s: Any, old: Any, new: Any, count: int | None = None) -> str:
    return _traced(s).replace(printed(old), printed(new), -1 if count is None else count)


def _indent(s: Any, width: int | str = 4, first: bool = False, blank: bool = False) -> str:
    by = width if isinstance(width, str) else " " * width
    lines = _traced(joined((s, "\n"))).splitlines()
    parts: list[str] = []
    for number, line in enumerate(lines):
        if number:
            parts += ("\n", by if line or blank else "")
        parts.append(line)
    return joined((by if first else "", *parts))


def _format(value: Any, *args: Any, **kwargs: Any) -> str:
    if args and kwargs:
        raise FilterArgumentError("can't handle positional and keyword arguments at the same time")
    return percent(printed(value), kwargs or args)


@pass_environment
def _join(environment: Any, value: Any, d: Any = "", attribute: Any = None) -> str:
    if attribute is not None:
        value = map(jinja.make_attrgetter(environment, attribute), value)
    return _traced(d).join([printed(item) for item in counted_items(value)])


@pass_environment
def _sum(environment: Any, iterable: Iterable[Any], attribute: Any = None, start: Any = 0) -> Any:
    if attribute is not None:
        iterable = map(jinja.make_attrgetter(environment, attribute), iterable)
    if isinstance(start, str):
        raise TypeError("sum() can't sum strings")
    total = start
    for item in counted_items(iterable):
        total = made(total + item)
    return total


def _number(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def called(value: Any, *args: Any, **kwargs: Any) -> Any:
        number = original(plain(value), *args, **kwargs)
        if type(number) not in (int, float):
            return number  # the default
        origin = data_in(value) if isinstance(value, (str, int, float)) else None
        return number if origin is None else traced_number(number, origin)

    return called


def _safe(value: Any) -> Markup:
    return safe(printed(value))


def _string(object: Any) -> str:
    return object if isinstance(object, Markup) else printed(object)


def filters_of(originals: dict[str, Callable[..., Any]]) -> dict[str, Callable[..., Any]]:
    """All filters of an environment, by name, with origins and limits."""
    ours: dict[str, Callable[..., Any]] = {
        "trim": _trim,
        "title": _title,
        "upper": lambda s: _traced(s).upper(),
        "lower": lambda s: _traced(s).lower(),
        "capitalize": lambda s: _traced(s).capitalize(),
        "center": lambda value, width=80: _traced(value).center(width),
        "replace": _replace,
        "indent": _indent,
        "format": _format,
    }
    chosen: dict[str, Callable[..., Any]] = {}
    for name, original in originals.items():
        if name in ours:
            chosen[name] = _unless_safe(ours[name], original, _CALLS.get(name))
        elif name in _HANDS_ON:
            chosen[name] = original
        else:
            chosen[name] = _cautious(original)
    chosen["join"] = _join
    chosen["sum"] = _sum
    chosen["wordcount"] = _word_count
    chosen["tojson"] = to_json
    chosen["safe"] = _safe
    chosen["string"] = _string
    chosen["int"] = _number(jinja.do_int)
    chosen["float"] = _number(jinja.do_float)
    return {name: _limited(name, it) for name, it in chosen.items()}


ADDED: Final = {
    COUNTED: counted_items,
    MADE: made,
    JOINED: lambda values: joined([printed(it) for it in values]),
    SEARCHED: searched,
}
"""The filters through which the sandbox sends loops, lists, slices, `a ~ b` and `in b`."""
