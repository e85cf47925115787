"""The values of a description's fields: what `parse_response` of transformers makes of their text.

Look here for the names of ways to read a text, what each accepts as `content_args`, and how a value
gets the type of the tool. Whatever a model wrote, a reader returns a value or raises `Unreadable`.
"""

from __future__ import annotations

import json
import math
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from jeton.chat.answers.calls import Tools
from jeton.errors import UnsupportedError

try:
    import regex
except ImportError:
    regex = None

_PLACE: Final = re.compile(r"\{(\w+(?:\.\w+)*)\}")
_BARE_KEY: Final = re.compile(r'"(?:\\.|[^"\\])*"|(?<=[{,])(\s*)(\w+)(\s*):')
_SECONDS: Final = 0.5
"""Maximum time for an expression of a folder on one text."""


class Unreadable(Exception):
    """A text that a way of reading does not accept."""


# Expressions of a folder


def expression(source: str) -> Any:
    """An expression of a folder, ready to be searched for.

    Raises:
        ValueError: It cannot be read.
    """
    if regex is None:
        raise UnsupportedError(
            "the response_template of tokenizer_config.json has expressions, which need the "
            "package regex: pip install regex"
        )
    try:
        return regex.compile(source, regex.DOTALL)
    except regex.error as error:
        raise ValueError(str(error)) from None


def search(pattern: Any, text: str, at: int = 0, *, partial: bool = False) -> Any:
    """The first match of an expression of a folder.

    Raises:
        Unreadable: It takes too long.
    """
    return timed(pattern, pattern.search, text, at, partial=partial)


def begun(pattern: Any, text: str, at: int) -> Any:
    """The first match of an expression of a folder that the text ends within, from a place on.

    Raises:
        Unreadable: It takes too long.
    """
    deadline = time.monotonic() + _SECONDS
    for start in range(at, len(text)):
        left = max(deadline - time.monotonic(), 0.001)
        match = timed(pattern, pattern.match, text, start, partial=True, seconds=left)
        if match is not None and match.partial:
            return match
    return None


def timed(
    pattern: Any,
    method: Any,
    text: str,
    at: int,
    *,
    partial: bool = False,
    seconds: float = _SECONDS,
) -> Any:
    """What a method of an expression finds in a text, from a place on.

    Raises:
        Unreadable: It takes too long.
    """
    try:
        return method(text, at, partial=partial, timeout=seconds)
    except TimeoutError:
        raise Unreadable(f"the expression {pattern.pattern!r:.60} takes too long") from None


# Ways to read a text


def parsed_content(name: str, text: str, options: Mapping[str, Any]) -> Any:
    """The value of a text.

    Raises:
        Unreadable: It has none.
    """
    try:
        return PARSERS[name](text, options)
    except (ValueError, RecursionError, OverflowError) as error:
        raise Unreadable(str(error)) from None


def _text(text: str, options: Mapping[str, Any]) -> Any:
    return text.strip() if options.get("strip", True) else text


def _json(text: str, options: Mapping[str, Any]) -> Any:
    pieces = _delimited(text, options.get("string_delims", []))
    if options.get("unquoted_keys"):
        pieces = [(it if is_string else _BARE_KEY.sub(_quoted_key, it), is_string)
                  for it, is_string in pieces]  # fmt: skip
    try:
        return json.loads("".join(json.dumps(it) if is_string else it for it, is_string in pieces))
    except (ValueError, RecursionError):
        if options.get("allow_non_json"):
            return _text(text, options)
        raise


def _delimited(text: str, delimiters: Iterable[tuple[str, str]]) -> list[tuple[str, bool]]:
    """The pieces of a text, and whether each is a string between two delimiters."""
    pieces = [(text, False)]
    for opening, closing in delimiters:
        between = re.compile(f"{re.escape(opening)}(.*?){re.escape(closing)}", re.DOTALL)
        found = list[tuple[str, bool]]()
        for piece, is_string in pieces:
            split = [piece] if is_string else between.split(piece)
            found += [(it, is_string or bool(at % 2)) for at, it in enumerate(split)]
        pieces = found
    return pieces


def _quoted_key(match: re.Match[str]) -> str:
    return match[0] if match[2] is None else f'{match[1]}"{match[2]}"{match[3]}:'


def _within(text: str, parser: Mapping[str, Any] | None) -> Any:
    if parser is None:
        return text
    return PARSERS[parser.get("name", "text")](text, parser.get("args", {}))


def _xml(text: str, options: Mapping[str, Any]) -> Any:
    found: dict[str, Any] = {}
    several: set[str] = set()
    pattern = expression(options["tag_pattern"])
    try:
        matches = [*pattern.finditer(text, timeout=_SECONDS)]
    except TimeoutError:
        raise ValueError(f"the tag_pattern {pattern.pattern!r:.60} takes too long") from None
    for match in matches:
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


_CALL_TOKEN: Final = re.compile(
    r"""[ \t\r\n]*(?:(?P<string>'(?:[^'\\\r\n]|\\.)*'|"(?:[^"\\\r\n]|\\.)*")
    |(?P<value>-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?(?![\w.])
    |(?:True|true|False|false|None|null)(?![\w\-.]|[ \t\r\n]*[=(]))
    |(?P<name>[A-Za-z_][A-Za-z0-9_]*(?:[-.][A-Za-z0-9_]+)*)[ \t\r\n]*(?P<behind>[=(])
    |(?P<mark>[\[\]{}):,])|(?P<end>\Z))""",
    re.DOTALL | re.VERBOSE,
)
_JSON_WORDS: Final = {"True": "true", "False": "false", "None": "null"}
_IN_QUOTES: Final = re.compile(r"""\\.|["\x00-\x1f]""", re.DOTALL)
_SURROGATE: Final = re.compile("[\ud800-\udfff]")
_LARGEST: Final = 2**53 - 1
_MAX_DEPTH: Final = 100


def _python(text: str, options: Mapping[str, Any]) -> Any:
    """Calls as Python writes them, `[f(a=1)]`, as strictly as transformers reads them.

    They are rewritten as JSON: a call as a list of its name and an object.
    """
    written, open_marks, at = list[str](), list[str](), 0
    while True:
        match = _CALL_TOKEN.match(text, at)
        if match is None:
            raise ValueError(f"{text[at : at + 20]!r} is no part of a list of calls")
        string, value, name, behind, mark, end = match.groups()
        if end is not None:
            break
        at, within = match.end(), open_marks[-1] if open_marks else ""
        is_value = string is not None or value is not None or mark in ("[", "{")
        allowed = {
            "(": within == "[" and len(open_marks) == 1,
            "=": within == "(",
            ":": within == "{",
        }.get(behind or mark, not is_value or "(" in open_marks or (mark == "[" and not written))
        if not allowed or len(open_marks) > _MAX_DEPTH + 1:
            raise ValueError(f"{match[0].strip()!r:.60} has no place in a list of calls")
        if string is not None:
            written.append(f'"{_IN_QUOTES.sub(_as_json, string[1:-1])}"')
        elif value is not None:
            written.append(_JSON_WORDS.get(value, value))
        elif name is not None:
            written.append(f'"{name}":' if behind == "=" else f'["{name}",{{')
        else:
            written.append("}]" if mark == ")" else str(mark))
        opening = behind if behind == "(" else mark
        if opening in ("(", "[", "{"):
            open_marks.append(opening)
        elif mark in (")", "]", "}"):
            if {")": "(", "]": "[", "}": "{"}[mark] != within:
                raise ValueError(f"{mark!r} closes nothing")
            open_marks.pop()
    decoder = json.JSONDecoder(object_pairs_hook=_unique, parse_int=_small, parse_float=_finite)
    calls = decoder.decode(" ".join(written))
    if _SURROGATE.search(json.dumps(calls, ensure_ascii=False)):
        raise ValueError("half of a surrogate pair is in the text")
    return [{"name": name, "arguments": arguments} for name, arguments in calls]


def _as_json(match: re.Match[str]) -> str:
    found = match[0]
    if found == "\\'":
        return "'"
    return found if found[0] == "\\" else json.dumps(found)[1:-1]


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len({key for key, _ in pairs}) < len(pairs):
        raise ValueError("a name comes twice")
    return dict(pairs)


def _small(digits: str) -> int:
    if len(digits) > 17 or abs(int(digits)) > _LARGEST:
        raise ValueError(f"{digits:.20} is too large")
    return int(digits)


def _finite(digits: str) -> float:
    if math.isinf(number := float(digits)):
        raise ValueError(f"{digits:.20} is too large")
    return number


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


def _wrong_pairs(value: object) -> str:
    if isinstance(value, list) and all(
        isinstance(it, list) and len(it) == 2 and all(isinstance(x, str) and x for x in it)
        for it in value
    ):
        return ""
    return "must be a list of pairs of texts"


def _wrong_tags(value: object) -> str:
    if not isinstance(value, str):
        return "must be a text"
    try:
        groups = expression(value).groupindex
    except ValueError as error:
        return f"cannot be read: {error}"
    return "" if "key" in groups else "must have the group 'key'"


def _wrong_parser(value: object) -> str:
    if value is None:
        return ""
    if not isinstance(value, dict) or not set(value) <= {"name", "args"}:
        return "must be a dict of name and args"
    name, options = value.get("name", "text"), value.get("args", {})
    if not isinstance(name, str) or name not in PARSERS:
        return f"name {name!r:.40} is none of {', '.join(PARSERS)}"
    return wrong_options(name, options)


_WRONG: Final[Mapping[str, Callable[[object], str]]] = {
    "string_delims": _wrong_pairs,
    "tag_pattern": _wrong_tags,
    "value_parser": _wrong_parser,
    **dict.fromkeys(
        ("line_sep", "kv_sep"),
        lambda it: "" if isinstance(it, str) and it else "must be a text that is not empty",
    ),
}


def wrong_options(name: str, options: object) -> str:
    """What is wrong with the options of a way to read; empty if nothing is."""
    if not isinstance(options, dict):
        return "must be a dict"
    if name == "xml-inline" and "tag_pattern" not in options:
        return "must have a tag_pattern"
    said = ((key, _WRONG[key](it)) for key, it in options.items() if key in _WRONG)
    return next((f"{key} {what}" for key, what in said if what), "")


# Values


def places(transform: object) -> Iterator[str]:
    """The places in a `transform`, such as `content.name`."""
    inner: Iterable[Any] = ()
    if isinstance(transform, (dict, list)):
        inner = transform.values() if isinstance(transform, dict) else transform
    elif isinstance(transform, str) and (match := _PLACE.fullmatch(transform)):
        yield match[1]
    for it in inner:
        yield from places(it)


def transformed(transform: object, scope: Mapping[str, Any]) -> Any:
    """A value with its places, such as `{content.name}`, filled in.

    Raises:
        Unreadable: What the model wrote does not have such a place.
    """
    if isinstance(transform, dict):
        return {key: transformed(it, scope) for key, it in transform.items()}
    if isinstance(transform, list):
        return [transformed(it, scope) for it in transform]
    match = _PLACE.fullmatch(transform) if isinstance(transform, str) else None
    if match is None:
        return transform
    value: Any = scope
    for key in match[1].split("."):
        if not isinstance(value, Mapping) or key not in value:
            raise Unreadable(f"there is no {match[1]!r:.60}")
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
