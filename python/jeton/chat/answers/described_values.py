"""The values of a description's fields: what `parse_response` of transformers makes of their text.

Look here for the names of ways to read a text, and for how a value gets the type of the tool.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from jeton.chat.answers import readers
from jeton.chat.answers.calls import Tools

try:
    import regex
except ImportError:
    regex = None

__all__ = ["PARSERS", "expressions", "transformed", "with_types"]

expressions: Any = regex or re
"""The library that compiles expressions: `regex`, or the standard one where that is absent."""
_PLACE: Final = re.compile(r"\{(\w+(?:\.\w+)*)\}")
_QUOTE: Final = "\ud800"


def _text(text: str, options: Mapping[str, Any]) -> Any:
    return text.strip() if options.get("strip", True) else text


def _json(text: str, options: Mapping[str, Any]) -> Any:
    working, kept = text, list[str]()
    for opening, closing in options.get("string_delims", []):

        def keep(match: re.Match[str]) -> str:
            kept.append(match[1])
            return f"\x01{len(kept) - 1}\x02"

        between = f"{re.escape(opening)}(.*?){re.escape(closing)}"
        working = re.sub(between, keep, working, flags=re.DOTALL)
    if options.get("unquoted_keys"):
        working = re.sub(
            r'"(?:\\.|[^"\\])*"|(?<=[{,])(\s*)(\w+)(\s*):',
            lambda it: it[0] if it[2] is None else f'{it[1]}"{it[2]}"{it[3]}:',
            working,
        )
    working = re.sub("\x01(\\d+)\x02", lambda it: json.dumps(kept[int(it[1])]), working)
    try:
        return json.loads(working)
    except (ValueError, RecursionError):
        if options.get("allow_non_json"):
            return _text(text, options)
        raise


def _within(text: str, parser: Mapping[str, Any] | None) -> Any:
    if parser is None:
        return text
    return PARSERS[parser.get("name", "text")](text, parser.get("args", {}))


def _xml(text: str, options: Mapping[str, Any]) -> Any:
    found: dict[str, Any] = {}
    several: set[str] = set()
    flags = expressions.DOTALL
    for match in expressions.finditer(options["tag_pattern"], text, flags=flags):
        key = match["key"]
        value = _within(match.groupdict().get("value") or "", options.get("value_parser"))
        if key in found and options.get("merge_duplicates"):
            found[key] = [*(found[key] if key in several else [found[key]]), value]
            several.add(key)
        else:
            found[key] = value
    return found


def _lines(text: str, options: Mapping[str, Any]) -> Any:
    found = {}
    for line in text.split(options.get("line_sep", "\n")):
        key, sep, value = _text(line, options).partition(options.get("kv_sep", ":"))
        if sep:
            found[_text(key, options)] = _within(_text(value, options), options.get("value_parser"))
    return found


class _Listed:
    """Collects the calls of a whole text."""

    def __init__(self) -> None:
        self.found: list[dict[str, Any]] = []

    def begin(self, name: str, start: int) -> None:
        self.found.append({"name": name, "arguments": {}})

    def argument(self, key: str, value: object) -> None:
        self.found[-1]["arguments"][key] = value

    def text_argument(self, key: str, piece: str) -> None: ...

    def identify(self, id: str) -> None: ...

    def arguments(self, piece: str) -> None: ...

    def end(self, place: int) -> None: ...

    def nameless(self, start: int, end: int) -> None: ...

    def problem(self, what: str, place: int) -> None: ...


def _python(text: str, options: Mapping[str, Any]) -> Any:
    source, calls = readers.GrowingText(0, _QUOTE), _Listed()
    source.text = text.strip()
    if not source.text.startswith("["):
        raise ValueError("a list of calls begins with '['")
    for _ in readers.python_calls(source, calls):
        raise ValueError("the list of calls is cut off")
    if source.at < len(source.text):
        raise ValueError("text follows the list of calls")
    return calls.found


PARSERS: Final[Mapping[str, Callable[[str, Mapping[str, Any]], Any]]] = {
    "text": _text,
    "int": lambda text, options: int(_text(text, options)),
    "float": lambda text, options: float(_text(text, options)),
    "bool": lambda text, options: _text(text, options).lower() in ("true", "1"),
    "json": _json,
    "xml-inline": _xml,
    "kv-lines": _lines,
    "python-call-list": _python,
}


def transformed(transform: object, scope: Mapping[str, Any]) -> Any:
    """A value with its places, such as `{content.name}`, filled in."""
    if isinstance(transform, dict):
        return {key: transformed(it, scope) for key, it in transform.items()}
    if isinstance(transform, list):
        return [transformed(it, scope) for it in transform]
    match = _PLACE.fullmatch(transform) if isinstance(transform, str) else None
    if match is None:
        return transform
    value: Any = scope
    for key in match[1].split("."):
        value = value[key]
    return value


def _cast(text: str, kinds: Iterable[str]) -> Any:
    """A text as the first of some types that it fits."""
    low = text.strip().lower()
    for kind in kinds:
        try:
            if kind == "integer":
                return _whole(text)
            if kind == "number" and abs(number := float(text)) < float("inf"):
                return int(number) if number.is_integer() and "." not in text else number
            if kind == "boolean" and low in ("true", "1", "false", "0"):
                return low in ("true", "1")
            if kind == "null" and text.strip() in ("null", "None"):
                return None
            if kind in ("object", "array"):
                value = json.loads(text)
                if isinstance(value, dict if kind == "object" else list):
                    return value
        except (ValueError, OverflowError, RecursionError):
            continue
    return text


def _whole(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        number = float(text)
        if not number.is_integer():
            raise
        return int(number)


def with_types(value: object, tools: Tools) -> Any:
    """Calls in which arguments that are text have the types of the tools."""
    if isinstance(value, list):
        return [with_types(it, tools) for it in value]
    function = value.get("function") if isinstance(value, dict) else None
    arguments = function.get("arguments") if isinstance(function, dict) else None
    name = function.get("name") if isinstance(function, dict) else None
    if isinstance(arguments, dict) and isinstance(name, str):
        for key, it in arguments.items():
            kinds = tools.get(name, {}).get(key, ())
            if isinstance(it, str):
                arguments[key] = _cast(it, kinds)
            elif isinstance(it, list) and kinds and "array" not in kinds:
                arguments[key] = [_cast(x, kinds) if isinstance(x, str) else x for x in it]
    return value
