"""Values of arguments that come as text, by the types in the schemas of tools."""

from __future__ import annotations

import functools
import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from jeton.chat.parsing.readers import CONSTANTS, loose

__all__ = ["as_text", "loaded", "parameters_of", "takes_only_text", "typed"]

_TYPES: Final[dict[str, tuple[type, ...]]] = {
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
    "object": (dict,),
    "array": (list,),
    "string": (str,),
}


_SURROGATE: Final = re.compile(r"\\u[dD][89a-fA-F]")


def parameters_of(tools: Iterable[Mapping[str, Any]] | None) -> dict[str, dict[str, Any]] | None:
    """The schemas of the parameters of each tool, by its name; `None` without tools.

    >>> parameters_of([{"name": "f", "parameters": {"properties": {"a": {"type": "integer"}}}}])
    {'f': {'a': {'type': 'integer'}}}
    """
    if tools is None:
        return None
    found: dict[str, dict[str, Any]] = {}
    for tool in tools:
        function = tool.get("function", tool)
        name = function.get("name") if isinstance(function, Mapping) else None
        if isinstance(name, str):
            parameters = function.get("parameters")
            properties = parameters.get("properties") if isinstance(parameters, Mapping) else None
            found[name] = dict(properties) if isinstance(properties, Mapping) else {}
    return found


def loaded(text: str) -> tuple[Any, list[str]]:
    """The value of a JSON text, and what is wrong with it that does not keep it from being read.

    Raises:
        ValueError: It is no JSON, or a number in it is not finite.

    >>> loaded('{"a": 1, "a": 2}')
    ({'a': 2}, ["the key 'a' comes twice"])
    """
    wrong = []
    try:
        value = _decoder(_without_repeats).decode(text)
    except _RepeatedKey as repeated:
        wrong.append(f"the key {repeated.args[0]!r:.60} comes twice")
        value = _decoder(dict).decode(text)
    if _SURROGATE.search(text) and (whole := as_text(value, _without_halves)) != value:
        value = whole
        wrong.append("half of a surrogate pair is in the text")
    return value, wrong


class _RepeatedKey(Exception):
    """A key that comes twice in an object."""


def _without_repeats(items: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(items)
    if len(found) < len(items):
        raise _RepeatedKey(Counter(key for key, _ in items).most_common(1)[0][0])
    return found


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text} is not a finite number")
    return value


@functools.cache
def _decoder(object: Callable[[list[tuple[str, Any]]], dict[str, Any]]) -> json.JSONDecoder:
    return json.JSONDecoder(
        strict=False, object_pairs_hook=object, parse_constant=_finite, parse_float=_finite
    )


def _without_halves(text: str) -> str:
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _types(schema: object) -> list[str]:
    """The types that a schema allows; none if it names none."""
    if not isinstance(schema, Mapping):
        return []
    declared = schema.get("type")
    found = [declared] if isinstance(declared, str) else list(declared or ())
    for union in ("anyOf", "oneOf"):
        for choice in schema.get(union) or ():
            found += _types(choice)
    if not found and isinstance(schema.get("enum"), list):
        found = ["string"] if all(isinstance(it, str) for it in schema["enum"]) else []
    if schema.get("nullable") and found:
        found.append("null")
    return [it for it in found if isinstance(it, str)]


def takes_only_text(schema: object) -> bool:
    """Whether any text is a valid value as it is.

    >>> takes_only_text({"type": "string"}), takes_only_text({"type": ["string", "null"]})
    (True, False)
    """
    return not _tried(schema)


def _tried(schema: object) -> list[str]:
    """The known types other than text that a schema allows."""
    if schema == {}:
        return [*_TYPES][:-1]
    return [it for it in _types(schema) if it in _TYPES and it != "string"]


def typed(text: str, schema: object) -> tuple[Any, bool]:
    """The value of a text, and whether its type is one that the schema allows.

    Args:
        text: A value as JSON or as Python writes it, or any text.
        schema: The schema of the parameter; `{}` for any type but text.

    >>> typed("3", {"type": "integer"}), typed("3", {"type": "string"})
    ((3, True), ('3', True))
    >>> typed("x", {"type": "number"})
    ('x', False)
    """
    kinds = _tried(schema)
    shown = text.strip()
    if not kinds:
        return text, True
    value: Any = CONSTANTS.get(shown, text)
    if value is text:
        try:
            value, _ = loaded(shown)
        except (ValueError, RecursionError):
            value = loose(shown, text)
    for kind in kinds:
        is_bool = isinstance(value, bool)
        if isinstance(value, _TYPES[kind]) and is_bool == (kind == "boolean"):
            return value, True
        if kind == "integer" and isinstance(value, float) and value.is_integer():
            return int(value), True
    return text, "string" in _types(schema)


def as_text(value: object, spelled: Callable[[str], str]) -> Any:
    """A value with every text in it spelled by `spelled`."""
    if isinstance(value, str):
        return spelled(value)
    if isinstance(value, list):
        return [as_text(item, spelled) for item in value]
    if isinstance(value, dict):
        return {spelled(key): as_text(item, spelled) for key, item in value.items()}
    return value
