"""The types that schemas of tools allow, and values of arguments that come as text, by these."""

from __future__ import annotations

import functools
import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from jeton.chat.answers.call_readers import CONSTANTS, HALF, NOT_ESCAPED, loose, without_halves
from jeton.errors import ArgumentTypeError

_TYPES: Final[dict[str, tuple[type, ...]]] = {
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
    "object": (dict,),
    "array": (list,),
    "string": (str,),
}
BUT_TEXT: Final = tuple(it for it in _TYPES if it != "string")
"""All types but text."""

ANY: Final = tuple(_TYPES)
"""The types of a parameter whose schema names none."""
WRONG_TYPE: Final = "the tool does not allow its type"
"""What is wrong with an argument of another type than its schema says."""
_CONTROL: Final = re.compile("[\x00-\x1f]")
_SURROGATE: Final = re.compile(r"\\u[dD][89a-fA-F]")


Types = tuple[str, ...]
"""The names of the types that a parameter may have; none if its schema names none."""


def parameters_of(
    tools: Iterable[Mapping[str, Any]] | None, *, only_declared: bool = False
) -> dict[str, Parameters] | None:
    """The types of the parameters of each tool, by its name; `None` without tools.

    Args:
        tools: The tools, with the schemas of their parameters.
        only_declared: Read no more of a schema than transformers does: the types that `type`,
            `anyOf`, `oneOf` and `nullable` name.

    >>> parameters_of([{"name": "f", "parameters": {"properties": {"a": {"type": "integer"}}}}])
    {'f': {'a': ('integer',)}}
    """
    if tools is None:
        return None
    found: dict[str, Parameters] = {}
    for tool in tools:
        function = tool.get("function", tool)
        name = function.get("name") if isinstance(function, Mapping) else None
        if isinstance(name, str):
            parameters = function.get("parameters")
            found[name] = Parameters(name, parameters, only_declared=only_declared)
    return found


def _declared(schema: object, place: str) -> Types:
    if not isinstance(schema, Mapping):
        return ()
    named = schema.get("type", [])
    if not isinstance(named, (str, list, tuple)):
        raise _wrong(place, "type", named)
    types = [named] if isinstance(named, str) else [it for it in named if isinstance(it, str)]
    for keyword in ("anyOf", "oneOf"):
        for choice in _choices(schema, keyword, place):
            types += _declared(choice, place)
    return (*types, "null") if schema.get("nullable") and "null" not in types else tuple(types)


_DEEPEST: Final = 32
"""Maximum length of a chain of references between schemas."""


class Parameters(dict[str, Types]):
    """The types of the parameters of a tool by name, and the schemas of what their values hold.

    >>> schema = {"properties": {"a": {"type": "array", "items": {"type": "integer"}}}}
    >>> parameters = Parameters("f", schema)
    >>> parameters.types(parameters.part(parameters.schema("a"), None))
    ('integer',)
    """

    def __init__(self, tool: str, root: object, *, only_declared: bool = False) -> None:
        self._tool, self._root = tool, root
        self._known: dict[str, Types | None] = {}
        """The types of each schema that was referred to."""
        if isinstance(root, Mapping) and "properties" not in root and not only_declared:
            root = self._at(root.get("$ref"))
        properties = root.get("properties") if isinstance(root, Mapping) else None
        self._properties = properties if isinstance(properties, Mapping) else {}
        for key, it in self._properties.items():
            place = f"{tool}.{key}"
            self[key] = _declared(it, place) if only_declared else self._or_any(it, place)

    def schema(self, name: str) -> object:
        """The schema of a parameter; `None` if there is none."""
        return self._properties.get(name)

    def types(self, schema: object) -> Types:
        """The types that a schema allows: all if it does not say."""
        return self._or_any(schema, self._tool)

    def _or_any(self, schema: object, place: str) -> Types:
        types = self._types(schema, place)
        return ANY if types is None else types

    def part(self, schema: object, key: str | None, depth: int = 0) -> object:
        """The schema of a value in an object by its key, or of an item of a list; `None` if the
        schema does not say."""
        if not isinstance(schema, Mapping) or depth == _DEEPEST:
            return None
        found = schema.get("items")
        if key is not None:
            properties = schema.get("properties")
            found = properties.get(key) if isinstance(properties, Mapping) else None
            found = schema.get("additionalProperties") if found is None else found
        if isinstance(found, Mapping):
            return found
        choices = [self._at(schema.get("$ref"))]
        for keyword in ("allOf", "anyOf", "oneOf"):
            listed = schema.get(keyword)
            choices += listed if isinstance(listed, (list, tuple)) else []
        parts = (self.part(it, key, depth + 1) for it in choices)
        return next((it for it in parts if it is not None), None)

    def _types(self, schema: object, place: str) -> Types | None:
        """The types that a schema allows; `None` if it does not say."""
        if schema == {} or schema is True:
            return ANY
        if not isinstance(schema, Mapping):
            return None
        types = schema.get("type", [])
        if not isinstance(types, (str, list, tuple)):
            raise _wrong(place, "type", types)
        named = [types] if isinstance(types, str) else types
        rules = [tuple(it for it in named if isinstance(it, str) and it in _TYPES) or None]
        if isinstance(schema.get("enum"), list):
            rules.append(tuple(dict.fromkeys(map(_type_of, schema["enum"]))))
        if "const" in schema:
            rules.append((_type_of(schema["const"]),))
        if (reference := schema.get("$ref")) is not None:
            rules.append(self._referred(reference, place))
        for keyword in ("allOf", "anyOf", "oneOf"):
            each = [self._types(it, place) for it in _choices(schema, keyword, place)]
            if keyword == "allOf":
                rules += each
            elif each:
                either = [it for types in each for it in ([*_TYPES] if types is None else types)]
                rules.append(tuple(dict.fromkeys(either)))
        said = [it for it in rules if it is not None]
        if not said:
            return None
        found = functools.reduce(_in_both, said)
        return (*found, "null") if schema.get("nullable") and "null" not in found else found

    def _referred(self, reference: object, place: str) -> Types | None:
        if not isinstance(reference, str):
            raise _wrong(place, "$ref", reference)
        if reference not in self._known:
            self._known[reference] = ()  # a schema that refers to itself adds no types
            self._known[reference] = self._types(self._at(reference), place)
        return self._known[reference]

    def _at(self, reference: object) -> object:
        """The schema at a place as `#/$defs/City`; `None` if there is none."""
        if not isinstance(reference, str) or not reference.startswith("#"):
            return None
        found: object = self._root
        for step in reference.split("/")[1:]:
            step = step.replace("~1", "/").replace("~0", "~")
            found = found.get(step) if isinstance(found, Mapping) else None
        return found


def _choices(schema: Mapping[str, Any], keyword: str, place: str) -> Iterable[object]:
    choices = schema.get(keyword) or []
    if not isinstance(choices, (list, tuple)):
        raise _wrong(place, keyword, choices)
    return choices


def _wrong(place: str, keyword: str, value: object) -> ArgumentTypeError:
    expected = {"type": "a str or a list of them", "$ref": "a str"}.get(keyword, "a list")
    return ArgumentTypeError(
        f"tools: {keyword!r} in the schema of {place!s:.80} must be {expected}, not {value!r:.40}"
    )


def _type_of(value: object) -> str:
    """The name of the type of a value; `"string"` for a value that JSON does not have."""
    if isinstance(value, bool):
        return "boolean"
    return next((name for name, types in _TYPES.items() if isinstance(value, types)), "string")


def _in_both(some: Types, others: Types) -> Types:
    """The types in both. An integer is a number too."""
    found = [it for it in some if it in others or (it == "integer" and "number" in others)]
    if "number" in some and "integer" in others and "integer" not in found:
        found.append("integer")
    return tuple(found)


def loaded(text: str) -> tuple[Any, list[str]]:
    """The value of a JSON text, and what is wrong with it that does not keep it from being read.

    Raises:
        ValueError: It is no JSON, or a number in it is not finite.

    >>> loaded('{"a": 1, "a": 2}')
    ({'a': 2}, ["the key 'a' comes twice"])
    >>> loaded('{"a": "b\\tc"}')
    ({'a': 'b\\tc'}, ['a control character in a JSON string is not escaped'])
    """
    wrong = []
    try:
        value = _decoder(_without_repeats).decode(text)
    except _RepeatedKey as repeated:
        wrong.append(f"the key {repeated.args[0]!r:.60} comes twice")
        value = _decoder(dict).decode(text)
    if _CONTROL.search(text):
        try:
            json.loads(text)  # white space between values is allowed
        except ValueError:
            wrong.append(NOT_ESCAPED)
    if _SURROGATE.search(text) and (whole := as_text(value, without_halves)) != value:
        value = whole
        wrong.append(HALF)
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


def typed(text: str, types: Types) -> tuple[Any, list[str]]:
    """The value of a text, and what is wrong with it.

    Args:
        text: A value as JSON or as Python writes it, or any text.
        types: The types of the parameter.

    >>> typed("3", ("integer",)), typed("3", ("string",))
    ((3, []), ('3', []))
    >>> typed("x", ("number",))
    ('x', ['the tool does not allow its type'])
    """
    shown, wrong = text.strip(), list[str]()
    value: Any = CONSTANTS.get(shown, text)
    if value is text:
        try:
            value, wrong = loaded(shown)
        except (ValueError, RecursionError):
            value, wrong = loose(shown, text)
    for kind in types:
        if kind == "string":
            continue
        is_bool = isinstance(value, bool)
        if isinstance(value, _TYPES[kind]) and is_bool == (kind == "boolean"):
            return value, wrong
        if kind == "integer" and isinstance(value, float) and value.is_integer():
            return int(value), wrong
    return text, [] if "string" in types else [WRONG_TYPE]


def as_text(value: object, spelled: Callable[[str], str]) -> Any:
    """A value with every text in it spelled by `spelled`."""
    if isinstance(value, str):
        return spelled(value)
    if isinstance(value, list):
        return [as_text(item, spelled) for item in value]
    if isinstance(value, dict):
        return {spelled(key): as_text(item, spelled) for key, item in value.items()}
    return value
