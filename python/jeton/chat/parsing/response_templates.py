"""Reads answers by a `response_template`, with which transformers describes them in a folder.

A description has fields; each says what opens and closes it and how its text is read. The values
are those of `parse_response` in transformers. Where that raises an error, the answer has a problem
and keeps the text. A mark that is spelled like a control token has to be that token. Look here for
the keys that are known.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from jeton.chat.parsing import readers
from jeton.chat.parsing.parsed import Event, Kind, ParsedCall, event
from jeton.chat.parsing.places import Continuation, Where
from jeton.chat.trust import REASONING
from jeton.errors import FormatError

try:
    import regex as _expressions
except ImportError:
    _expressions = None

__all__ = ["Description", "DescriptionMachine", "description_of"]

_KEYS: Final = frozenset(("version", "defaults", "fields", "start_anchor", "start_anchor_pattern"))
_FIELD_KEYS: Final = frozenset(
    """
    open open_pattern close close_pattern content content_args repeats join optional transform
    transform_each
    """.split()
)
_PLACE: Final = re.compile(r"\{(\w+(?:\.\w+)*)\}")
_AS_IT_COMES: Final = ("text", "int", "float", "bool")
_QUOTE: Final = "\ud800"


@dataclass(frozen=True)
class _Delimiter:
    """What opens or closes a field."""

    pattern: Any
    literals: tuple[str, ...] = ()
    """The texts that it may be; none if it is an expression."""

    def grows(self, match: Any, text: str) -> bool:
        """Whether more text might change this match."""
        if match.end() == len(text):
            longer = any(a != b and a.startswith(b) for a in self.literals for b in self.literals)
            return match.start() == match.end() or not self.literals or longer
        if self.literals:
            return False
        again = self.pattern.match(text + "\0", match.start())
        return (
            again is None or again.span() != match.span() or again.groupdict() != match.groupdict()
        )


@dataclass(frozen=True)
class _Field:
    name: str
    open: _Delimiter | None
    close: _Delimiter | None
    content: str
    options: dict[str, Any]
    repeats: bool
    join: str | None
    optional: bool
    transform: Any
    each: bool


@dataclass(frozen=True)
class Description:
    """A `response_template`, checked.

    Attributes:
        fields: By name.
        defaults: Values of a message for fields that the answer does not have.
        anchor: The expression behind which an answer begins.
    """

    fields: Mapping[str, _Field]
    defaults: Mapping[str, Any]
    anchor: Any

    @property
    def rest(self) -> _Field | None:
        """The field of text outside all others, which nothing opens."""
        return next((it for it in self.fields.values() if it.open is None), None)

    def behind_anchor(self, text: str) -> str:
        """The beginning of the answer that is in a prompt."""
        ends = [match.end() for match in self.anchor.finditer(text)]
        return text[ends[-1] :] if ends else text


def description_of(value: object) -> Description:
    """Checks the description of a `tokenizer_config.json`.

    Raises:
        FormatError: It is invalid, or has a key that jeton does not know.
    """
    if not isinstance(value, dict) or value.get("version", 1) != 1:
        raise _wrong("must be a dict of version 1")
    if unknown := sorted({*value} - _KEYS):
        raise _wrong(f"has keys that jeton does not know: {', '.join(unknown)}")
    fields, defaults = value.get("fields"), value.get("defaults", {})
    if not isinstance(fields, dict) or not fields or not isinstance(defaults, dict):
        raise _wrong("must have fields, and defaults as a dict")
    found = {name: _field(name, it) for name, it in fields.items()}
    if sum(it.open is None for it in found.values()) > 1:
        raise _wrong("has more than one field that nothing opens")
    anchor = _delimiter("", value, "start_anchor")
    if anchor is None:
        raise _wrong("has no start_anchor")
    return Description(found, defaults, anchor.pattern)


def _wrong(what: str) -> FormatError:
    return FormatError(f"tokenizer_config.json: response_template {what}")


def _field(name: str, value: object) -> _Field:
    if not isinstance(value, dict):
        raise _wrong(f"field {name!r} must be a dict")
    if unknown := sorted({*value} - _FIELD_KEYS):
        raise _wrong(f"field {name!r} has keys that jeton does not know: {', '.join(unknown)}")
    content = value.get("content", "text")
    if content not in _PARSERS:
        raise _wrong(f"field {name!r}: content {content!r} is none of {', '.join(_PARSERS)}")
    join = value.get("join")
    if join is not None and not (isinstance(join, str) and value.get("repeats")):
        raise _wrong(f"field {name!r}: join must be a str, of a field that repeats")
    return _Field(
        name,
        _delimiter(name, value, "open"),
        _delimiter(name, value, "close"),
        content,
        value.get("content_args", {}),
        bool(value.get("repeats")),
        join,
        value.get("optional", True),
        value.get("transform"),
        bool(value.get("transform_each")),
    )


def _delimiter(name: str, value: Mapping[str, Any], key: str) -> _Delimiter | None:
    library: Any = _expressions or re
    if key in value:
        source = value[key]
        texts = [source] if isinstance(source, str) else source
        if not isinstance(texts, list) or not texts or not all(isinstance(it, str) for it in texts):
            raise _wrong(f"field {name!r}: {key} must be a text or several")
        longest_first = sorted(texts, key=len, reverse=True)
        return _Delimiter(library.compile("|".join(map(re.escape, longest_first))), tuple(texts))
    if (source := value.get(f"{key}_pattern")) is None:
        return None
    try:
        return _Delimiter(library.compile(source, library.DOTALL))
    except (library.error, TypeError) as error:
        raise _wrong(
            f"field {name!r}: {key}_pattern cannot be read: {error}"
            + (" (pip install regex for more syntax)" if _expressions is None else "")
        ) from None


# Values


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
    return _PARSERS[parser.get("name", "text")](text, parser.get("args", {}))


def _xml(text: str, options: Mapping[str, Any]) -> Any:
    found: dict[str, Any] = {}
    several: set[str] = set()
    library: Any = _expressions or re
    for match in library.finditer(options["tag_pattern"], text, flags=library.DOTALL):
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


_PARSERS: Final[Mapping[str, Callable[[str, Mapping[str, Any]], Any]]] = {
    "text": _text,
    "int": lambda text, options: int(_text(text, options)),
    "float": lambda text, options: float(_text(text, options)),
    "bool": lambda text, options: _text(text, options).lower() in ("true", "1"),
    "json": _json,
    "xml-inline": _xml,
    "kv-lines": _lines,
    "python-call-list": _python,
}


def _transformed(transform: object, scope: Mapping[str, Any]) -> Any:
    """A value with its places, such as `{content.name}`, filled in."""
    if isinstance(transform, dict):
        return {key: _transformed(it, scope) for key, it in transform.items()}
    if isinstance(transform, list):
        return [_transformed(it, scope) for it in transform]
    match = _PLACE.fullmatch(transform) if isinstance(transform, str) else None
    if match is None:
        return transform
    value: Any = scope
    for key in match[1].split("."):
        value = value[key]
    return value


def _value_of(field: _Field, text: str, captures: Mapping[str, str]) -> Any:
    value = _PARSERS[field.content](text, field.options)
    if field.transform is None:
        return value
    if field.each:
        return [_transformed(field.transform, {**captures, **it}) for it in value]
    return _transformed(field.transform, {**captures, "content": value})


def _types(schema: object) -> list[str]:
    if not isinstance(schema, Mapping):
        return []
    declared = schema.get("type")
    found = [declared] if isinstance(declared, str) else [*(declared or ())]
    for union in ("anyOf", "oneOf"):
        for choice in schema.get(union) or ():
            found += _types(choice)
    return [*found, "null"] if schema.get("nullable") and "null" not in found else found


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


def _with_types(value: object, tools: Mapping[str, Mapping[str, Any]]) -> Any:
    """Calls in which arguments that are text have the types of the tools."""
    if isinstance(value, list):
        return [_with_types(it, tools) for it in value]
    function = value.get("function") if isinstance(value, dict) else None
    arguments = function.get("arguments") if isinstance(function, dict) else None
    name = function.get("name") if isinstance(function, dict) else None
    if isinstance(arguments, dict) and isinstance(name, str):
        for key, it in arguments.items():
            kinds = _types(tools.get(name, {}).get(key))
            if isinstance(it, str):
                arguments[key] = _cast(it, kinds)
            elif isinstance(it, list) and kinds and "array" not in kinds:
                arguments[key] = [_cast(x, kinds) if isinstance(x, str) else x for x in it]
    return value


# The machine


class DescriptionMachine:
    """Reads one answer by a description; the attributes are those of `Machine`."""

    def __init__(
        self,
        description: Description,
        spellings: Mapping[str, str],
        tools: Mapping[str, Mapping[str, Any]] | None,
    ) -> None:
        """A reader of an answer.

        Args:
            description: The description.
            spellings: The spelling of each symbol; empty if all marks are text.
            tools: The parameters of each tool.
        """
        self.events: list[Event] = []
        self.calls: list[ParsedCall] = []
        self.unfinished: ParsedCall | None = None
        self.stretches: list[tuple[int, int, str, int]] = []
        self.problems: list[tuple[str, int]] = []
        self.text_marks: dict[str, None] = {}
        self.texts: list[str] = []
        self.total = 0
        self.used_history = False
        self.is_complete = False
        self.is_over = False
        self.message: dict[str, Any] = copy.deepcopy(dict(description.defaults))
        self._description = description
        self._spellings = spellings
        self._tools = tools
        spelled = "|".join(map(re.escape, sorted({*spellings.values()}, key=len, reverse=True)))
        self._tokens = re.compile(spelled or "(?!)")
        self._real: set[int] = set()
        self._buffer, self._at, self._base = "", 0, 0
        self._field = description.rest
        self._captures: dict[str, str] = {}
        self._body = ""
        self._start = 0
        self._is_open = False
        self._said = 0

    def skip(self, space: str) -> None:
        """White space is left to the description."""

    def where(self) -> None:
        """Nothing is learnt: regular expressions decide what text leads to."""

    def continuation(self) -> Continuation:
        """Nothing only continues."""
        return Continuation()

    def catch_up(self, where: Where) -> None:
        """There is nothing to read."""

    def feed(self, text: str) -> None:
        """Takes more text."""
        spelled = ""
        for character in text:
            if character in self._spellings:
                self._real.add(self.total + len(spelled))
                spelled += self._spellings[character]
            else:
                spelled += character
        self.texts.append(spelled)
        self.total += len(spelled)
        self._buffer += spelled
        if spelled:
            self._read(last=False)

    def finish(self) -> None:
        """Ends the text."""
        self._read(last=True)
        for it in self._description.fields.values():
            if not it.optional and it.name not in self.message:
                self.problems.append((f"the answer has no {it.name!r}", self.total))
        kept = self._description.defaults
        empty: tuple[Any, ...] = (None, "", [], {})
        self.message = {
            key: it for key, it in self.message.items() if key in kept or it not in empty
        }

    def _read(self, *, last: bool) -> None:
        while True:
            match, delimiter, opened, hold = self._next(last=last)
            if match is None or delimiter is None:
                end = len(self._buffer) if last else hold
                self._take(self._buffer[self._at : end])
                self._at = max(end, self._at)
                if last:
                    self._close(self._base + len(self._buffer))
                else:
                    self._base += self._at
                    self._buffer, self._at = self._buffer[self._at :], 0
                return
            self._take(self._buffer[self._at : match.start()])
            place, self._at = self._base + match.start(), match.end()
            self.is_complete = opened is None
            if not any(place <= at < self._base + match.end() for at in self._real):
                self.text_marks[match[0]] = None
            captures = {key: it for key, it in match.groupdict().items() if it is not None}
            was_open = self._is_open
            if opened is None:
                self._captures |= captures
                self._close(place)
                if not was_open and match.start() == match.end():
                    return
            else:
                self._close(place)
                self._field, self._captures, self._is_open = opened, captures, True
                self._start = self._base + match.end()

    def _next(self, *, last: bool) -> tuple[Any, _Delimiter | None, _Field | None, int]:
        """The first delimiter that is certain: its match, itself and the field that it opens; and
        where the text that is certain ends."""
        rest = self._description.rest
        watched: list[tuple[_Delimiter, _Field | None]] = []
        if self._field is not None and self._field is not rest:
            watched = [(self._field.close, None)] if self._field.close else []
        else:
            fields = self._description.fields.values()
            watched = [(it.open, it) for it in fields if it.open is not None]
            if rest is not None and rest.close is not None:
                watched.append((rest.close, None))
        best: tuple[Any, ...] | None = None
        hold = len(self._buffer)
        for delimiter, opened in watched:
            match = self._match(delimiter, last=last)
            if match is None:
                continue
            if not last and (
                getattr(match, "partial", False) or delimiter.grows(match, self._buffer)
            ):
                hold = min(hold, match.start())
                continue
            key = (match.start(), match.start() - match.end(), opened is None)
            name = opened.name if opened else ""
            if best is None or (*key, name) < best[0]:
                best = (*key, name), match, delimiter, opened
        if not last and _expressions is None and any(not it.literals for it, _ in watched):
            hold = self._at  # nobody can tell what an expression may still match
        if best is None or (not last and best[1].start() >= hold):
            return None, None, None, hold
        return best[1], best[2], best[3], hold

    def _match(self, delimiter: _Delimiter, *, last: bool) -> Any:
        """The first match in which whatever spells a control token is one."""
        at = self._at
        while True:
            if last or _expressions is None:
                match = delimiter.pattern.search(self._buffer, at)
                if match is None and not last:
                    return self._open_end(delimiter, at)
            else:
                match = delimiter.pattern.search(self._buffer, at, partial=True)
            if match is None or getattr(match, "partial", False) or self._is_real(match):
                return match
            at = match.start() + 1

    def _open_end(self, delimiter: _Delimiter, at: int) -> Any:
        """An empty match in front of an end of text that may become a literal."""
        beginnings = {it[:length] for it in delimiter.literals for length in range(1, len(it))}
        found = re.search(f"({'|'.join(map(re.escape, sorted(beginnings)))})\\Z", self._buffer[at:])
        return re.compile(r"\Z").search(self._buffer, at + found.start()) if found else None

    def _is_real(self, match: Any) -> bool:
        if not self._spellings:
            return True
        start = self._base + match.start()
        return all(start + it.start() in self._real for it in self._tokens.finditer(match[0]))

    def _take(self, text: str) -> None:
        if not text or self._field is None:
            return
        if not self._is_open:
            self._is_open, self._start, self._body, self._said = True, self._base + self._at, "", 0
        self._body += text
        kind = _kind(self._field)
        if kind:
            # White space at either end may not belong to the value.
            shown = _text(self._body, self._field.options)
            left = self._body if shown == self._body else self._body.lstrip()[: len(shown)]
            if more := left[self._said :]:
                self.events.append(event(kind, more))
                self._said += len(more)

    def _close(self, place: int) -> None:
        field, self._field = self._field, self._description.rest
        body, captures, was_open = self._body, self._captures, self._is_open
        self._body, self._captures, self._is_open, self._said = "", {}, False, 0
        if field is None or not was_open:
            return
        kind = _kind(field) or ("call" if field.name == "tool_calls" else "content")
        try:
            value = _value_of(field, body, captures)
            if field.join is not None and not isinstance(value, str):
                raise ValueError("what is joined is no text")
        except (ValueError, TypeError, KeyError, readers.Broken, RecursionError) as error:
            self.problems.append((f"{field.name} cannot be read: {error}"[:200], self._start))
            self.message["content"] = str(self.message.get("content") or "") + body
            self.events.append(event("content", body))
            self.stretches.append((self._start, place, "content", -1))
            return
        if self._tools:
            value = _with_types(value, self._tools)
        before = self.message.get(field.name)
        if field.join is not None:
            self.message[field.name] = value if before is None else before + field.join + value
        elif field.repeats:
            self.message.setdefault(field.name, []).append(value)
        else:
            self.message[field.name] = value
        if field.name == "tool_calls":
            self._add_call(value, place)
        else:
            self.stretches.append((self._start, place, kind, -1))

    def _add_call(self, value: Any, place: int) -> None:
        for it in value if isinstance(value, list) else [value]:
            function = it.get("function", it) if isinstance(it, dict) else {}
            name, arguments = str(function.get("name", "")), function.get("arguments", {})
            call, index = ParsedCall(name, arguments, it.get("id")), len(self.calls)
            text = arguments if isinstance(arguments, str) else json.dumps(arguments)
            if self._tools is not None and name not in self._tools:
                self.problems.append((f"there is no tool {name!r:.60}", self._start))
            self.calls.append(call)
            self.events += [
                event("call", name, index),
                event("arguments", text, index),
                event("call_end", "", index, call),
            ]
        self.stretches.append((self._start, place, "call", len(self.calls) - 1))


def _kind(field: _Field) -> Kind | None:
    """The kind of event that reports the text of a field as it comes, if any does."""
    if field.content != "text" or field.transform is not None or field.repeats:
        return None
    return (
        "content" if field.name == "content" else "reasoning" if field.name in REASONING else None
    )
