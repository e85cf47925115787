"""JSON schemas of Python functions, by their type hints and docstrings: what `tools=` may hold.

The schemas are those of `transformers.utils.get_json_schema`. A docstring is in Google's style:
what the function does, then `Args:` with a line for each parameter, then `Returns:`.
"""

from __future__ import annotations

import enum
import inspect
import json
import re
import types
import typing
from collections.abc import Callable, Collection
from typing import Any, Final

from jeton.arguments import checked_iterable
from jeton.errors import ArgumentError, ArgumentTypeError

_PLAIN: Final[dict[Any, str]] = {
    int: "integer",
    float: "number",
    str: "string",
    bool: "boolean",
    type(None): "null",
    list: "array",
    tuple: "array",
    dict: "object",
}
_BY_NAME: Final = {("PIL.Image", "Image"): "image", ("torch", "Tensor"): "audio"}
"""Classes of libraries that need not be there."""

_SCALARS: Final = (int, float, str, bool, type(None))
_SECTION: Final = re.compile(r"Args:|Returns:|Raises:")
_ENTRY: Final = re.compile(r"([ \t]*)(\w+)([ \t]*\([^()]*\))?:[ \t]*(.*)")
_CHOICES: Final = re.compile(r"\(choices:\s*(.*?)\)\s*$", re.IGNORECASE)


def schema_of(function: Callable[..., Any], place: str) -> dict[str, Any]:
    """The JSON schema of a function.

    Args:
        function: A function or a method, with a type hint and a description for each parameter.
        place: What errors begin with, as `tools[0]`.

    Example:
        >>> def weather(city: str, days: int = 1) -> str:
        ...     '''The weather at a place.
        ...
        ...     Args:
        ...         city: Where.
        ...         days: For how long.
        ...     '''
        >>> schema = schema_of(weather, "tools[0]")["function"]
        >>> schema["name"], schema["description"], schema["parameters"]["required"]
        ('weather', 'The weather at a place.', ['city'])
        >>> schema["parameters"]["properties"]["days"]
        {'type': 'integer', 'description': 'For how long.'}
    """
    name = str(getattr(function, "__name__", "operation"))
    place = f"{place}, the function {name}"
    doc = (inspect.getdoc(function) or "").strip()
    if not doc:
        raise ArgumentError(
            f"{place}: has no docstring, which describes it to the model (write one, or give a "
            "JSON schema)"
        )
    try:
        hints = typing.get_type_hints(function)
        parameters = dict(inspect.signature(function).parameters)
    except (TypeError, ValueError, NameError, AttributeError) as error:
        raise ArgumentError(f"{place}: its type hints cannot be read: {error}") from None
    first = next(iter(parameters), None)
    if first in ("self", "cls") and parameters[first].annotation is inspect.Parameter.empty:
        del parameters[first]
    described, entries, returned = _parsed(doc, parameters)
    properties = {}
    for parameter in parameters:
        if parameters[parameter].annotation is inspect.Parameter.empty:
            raise ArgumentError(f"{place}: its parameter {parameter!r} has no type hint")
        if parameter not in entries:
            raise ArgumentError(
                f"{place}: its docstring does not describe {parameter!r} (under Args:, a line "
                f"'{parameter}: what it is')"
            )
        try:
            schema = _of_hint(hints[parameter])
        except ArgumentError as error:
            raise ArgumentError(f"{place}: its parameter {parameter!r}: {error}") from None
        properties[parameter] = _with_description(schema, entries[parameter], place)
    required = [it for it, known in parameters.items() if known.default is inspect.Parameter.empty]
    found: dict[str, Any] = {
        "name": name,
        "description": described,
        "parameters": {
            "type": "object",
            "properties": properties,
            **({"required": required} if required else {}),
        },
    }
    if "return" in hints:
        try:
            found["return"] = _of_hint(hints["return"])
        except ArgumentError:
            pass  # a schema does not describe the return value
        else:
            if returned is not None:
                found["return"]["description"] = returned
    return {"type": "function", "function": found}


def tools_of(tools: object) -> list[Any]:
    """The tools of a call as JSON schemas."""
    tools = checked_iterable("tools", tools, "a list of dicts or functions", but=(str, bytes, dict))
    return [_tool(tool, number) for number, tool in enumerate(tools)]


def _tool(tool: object, number: int) -> dict[Any, Any]:
    if isinstance(tool, dict):
        return tool
    if isinstance(tool, (types.FunctionType, types.MethodType)):
        return schema_of(tool, f"tools[{number}]")
    raise ArgumentTypeError(
        f"tools[{number}] must be a function, or a dict with the JSON schema of one, not "
        f"{type(tool).__name__}"
    )


def _with_description(schema: dict[str, Any], text: str, place: str) -> dict[str, Any]:
    """A schema with the description of its parameter, which may end with the choices there are."""
    if match := _CHOICES.search(text):
        try:
            choices = json.loads(match[1])
        except ValueError as error:
            raise ArgumentError(
                f"{place}: the choices {match[1]!r:.60} are not a JSON list: {error}"
            ) from None
        if not isinstance(choices, list):
            raise ArgumentError(f"{place}: the choices {match[1]!r:.60} are not a JSON list")
        schema["enum"] = [it.strip() if isinstance(it, str) else it for it in choices]
        text = text[: match.start()].strip()
    schema["description"] = text
    return schema


# Docstrings


def _parsed(doc: str, names: Collection[str]) -> tuple[str, dict[str, str], str | None]:
    """The descriptions of the function, of each parameter and of the result in a docstring."""
    lines = doc.split("\n")
    heads = {line.strip(): at for at, line in reversed(list(enumerate(lines)))}
    described = doc[: match.start()] if (match := _SECTION.search(doc)) else doc
    entries: dict[str, str] = {}
    if "Args:" in heads:
        block = "\n".join(lines[heads["Args:"] + 1 :])
        end = re.search(r"Returns:|Raises:", block)
        entries = _entries(block[: end.start()] if end else block, names)
    returned = None
    if "Returns:" in heads:
        returned = "\n".join(lines[heads["Returns:"] + 1 :]).split("Raises:")[0].strip()
    return described.strip(), entries, returned


def _entries(block: str, names: Collection[str]) -> dict[str, str]:
    """The entries of `Args:`. Each continues up to the next line that is not indented more."""
    found: list[tuple[str, list[str]]] = []
    indent: str | None = None
    for line in filter(str.strip, block.split("\n")):
        match = _ENTRY.match(line)
        if match and match[3] and match[2] not in names:
            match = None  # words in parentheses, and no type of a parameter
        deeper = indent is not None and line.startswith((indent + " ", indent + "\t"))
        if match and not deeper:
            indent = match[1]
            found.append((match[2], [match[4].strip()]))
        elif found:
            found[-1][1].append(line.strip())
    return {name: " ".join(filter(None, texts)) for name, texts in found}


# Type hints


def _of_hint(hint: object) -> dict[str, Any]:
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if origin is None:
        return _of_class(hint)
    if origin is typing.Union or origin is types.UnionType:
        return _of_union(args)
    if origin is typing.Literal:
        return _one_of(list(args), "Literal")
    if origin in (list, tuple, dict) and not args:
        return {"type": _PLAIN[origin]}
    if origin is list:
        return {"type": "array", "items": _of_hint(args[0])}
    if origin is tuple:
        if len(args) == 1 or ... in args:
            raise ArgumentError(
                f"{_hint_text(hint)}: a JSON schema cannot describe this tuple (write "
                "list[…], or name several types)"
            )
        return {"type": "array", "prefixItems": [_of_hint(item) for item in args]}
    if origin is dict:
        return {"type": "object", "additionalProperties": _of_hint(args[1])}
    raise _no_schema(hint)


def _of_class(hint: object) -> dict[str, Any]:
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        return _one_of([member.value for member in hint], hint.__name__)
    if hint is Any:
        return {}
    named = (getattr(hint, "__module__", None), getattr(hint, "__qualname__", None))
    try:
        kind = _PLAIN.get(hint) or _BY_NAME.get(named)  # type: ignore[arg-type]
    except TypeError:
        kind = None
    if kind is None:
        raise _no_schema(hint)
    return {"type": kind}


def _of_union(args: tuple[Any, ...]) -> dict[str, Any]:
    schemas = [_of_hint(arg) for arg in args if arg is not type(None)]
    found: dict[str, Any]
    if len(schemas) == 1:
        found = schemas[0]
    elif all(schema.keys() == {"type"} and isinstance(schema["type"], str) for schema in schemas):
        kinds = sorted({schema["type"] for schema in schemas})
        found = {"type": kinds[0] if len(kinds) == 1 else kinds}
    else:
        found = {"anyOf": schemas}
    return {**found, "nullable": True} if type(None) in args else found


def _one_of(values: list[Any], name: str) -> dict[str, Any]:
    if not values:
        raise ArgumentError(f"{name}: has no members")
    if any(type(value) not in _SCALARS for value in values):
        raise ArgumentError(f"{name}: its values must be int, float, str, bool or None")
    kinds = list(dict.fromkeys(_PLAIN[type(value)] for value in values))
    return {"type": kinds[0] if len(kinds) == 1 else kinds, "enum": values}


def _no_schema(hint: object) -> ArgumentError:
    return ArgumentError(
        f"no schema says {_hint_text(hint)} (there are int, float, str, bool, Any, Enum, Literal, "
        "and list, tuple, dict and unions of these; or give a JSON schema for the function)"
    )


def _hint_text(hint: object) -> str:
    return hint.__name__ if isinstance(hint, type) else str(hint).replace("typing.", "")
