"""Reads calls while they are written: as JSON, in Python's syntax, and in Gemma's braces.

A reader is a generator that takes text from a `GrowingText` and yields where it needs more. It
reports what it read as soon as that is certain, and raises `Broken` at the first wrong character.
Look here for which keys of a JSON object hold the name and the arguments of a call.
"""

from __future__ import annotations

import functools
import json
import math
import re
from collections.abc import Callable, Generator, Mapping
from typing import Any, Final, Protocol, TypeVar

from jeton.chat.answers.places import Waits

__all__ = [
    "ADJOINING",
    "CONSTANTS",
    "KEYS",
    "NOT_ESCAPED",
    "READERS",
    "Broken",
    "CallReports",
    "GrowingText",
    "loose",
    "python_calls",
]

_T = TypeVar("_T")
Steps = Generator[None, None, _T]

_NAMES: Final = frozenset(("name", "tool_name", "function", "function_name"))
_ARGUMENTS: Final = frozenset(("arguments", "parameters", "args", "input"))
_IDS: Final = frozenset(("id", "tool_call_id", "call_id"))
KEYS: Final = _NAMES | _ARGUMENTS | _IDS | {"type"}
"""What calls have beside their arguments."""

_SPACE: Final = re.compile(r"[ \t\r\n]*")
_PLAIN: Final = re.compile(r"[ \t\r\n\w+\-.,:]*")
_WORD: Final = re.compile(r"[\w+\-.]*")
_IN_STRING: Final = re.compile(r'(?:[^"\\]+|\\.)*', re.DOTALL)
_CONTROLS: Final = re.compile(r"\\.|[\x00-\x1f]", re.DOTALL)
"""What JSON must escape in a string, and what is escaped already."""
_NAME: Final = re.compile(r"[\w.\-]*")
_KEY: Final = re.compile(r"[^:,{}\[\]'\"\n]*")
_BRACE_NAME: Final = re.compile(r"[^\s{]*")
_ESCAPE: Final = re.compile(
    r"\\(?:u([dD][89abAB]..)\\u([dD][c-fC-F]..)|u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(.))", re.DOTALL
)
_ESCAPED: Final = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "0": "\0", "\n": ""}
CONSTANTS: Final[dict[str, Any]] = {
    "true": True, "True": True, "false": False, "False": False, "null": None, "None": None,
}  # fmt: skip
_MAX_DEPTH: Final = 100
ADJOINING: Final = "two calls without anything between them"
"""What is wrong with `{…}{…}`."""
NOT_ESCAPED: Final = "a control character in a JSON string is not escaped"
"""What is wrong with `"a\\tb"` if the tab is itself there."""
_MAX_DEPTH_KNOWN: Final = 8
"""Open brackets up to which `waits` says where JSON ends."""


class Broken(Exception):
    """The text breaks the syntax; the source is at the first character that does."""


class GrowingText:
    """Text that comes in pieces.

    Attributes:
        text: The piece at hand.
        at: How much of it is read.
        before: How many characters came before it.
        quote: The mark around strings in Gemma's braces.
        is_listed: Whether a list of calls is open.
        waits: Where in a value of a call the text ends; `None` if that does not decide alone what
            more text leads to.
        objects: How many objects of the open call are open, besides its arguments.
        behind: Where the last argument of the open call ended; `None` if it has none, or is within
            one.
        has_escaped: Whether a piece of the arguments is not as the text has it, since a character
            was escaped.
    """

    __slots__ = (
        "at", "before", "behind", "has_escaped", "is_listed", "objects", "quote", "text", "waits",
    )  # fmt: skip

    def __init__(self, before: int, quote: str) -> None:
        self.text, self.at, self.before, self.quote = "", 0, before, quote
        self.is_listed = self.has_escaped = False
        self.waits: Waits | None = None
        self.objects = 0
        self.behind: int | None = None

    @property
    def place(self) -> int:
        """How many characters are read in all."""
        return self.before + self.at

    def give(self, text: str) -> None:
        """Takes the next piece; the one before has been read."""
        self.before += len(self.text)
        self.text, self.at = text, 0


class CallReports(Protocol):
    """What readers report of calls."""

    def begin(self, name: str, start: int) -> None:
        """A call of this tool begins; its text begins at `start`."""

    def identify(self, id: str) -> None:
        """The open call has this id; if none is open, the next one has it."""

    def arguments(self, piece: str) -> None:
        """A piece of its arguments, as JSON."""

    def argument(self, key: str, value: object) -> None:
        """One of its arguments."""

    def end(self, place: int) -> None:
        """The open call ends here."""

    def nameless(self, start: int, end: int) -> None:
        """A stretch of text is an object, but no call."""

    def problem(self, what: str, place: int) -> None:
        """Something is wrong with the text, at this place."""


def _peek(source: GrowingText) -> Steps[str]:
    """The next character that is not white space."""
    while True:
        source.at = _SPACE.match(source.text, source.at).end()  # type: ignore[union-attr]
        if source.at < len(source.text):
            return source.text[source.at]
        yield


def _run(source: GrowingText, pattern: re.Pattern[str]) -> Steps[str]:
    """The characters that a pattern takes, up to the first that it does not."""
    found = ""
    while True:
        start, source.at = source.at, pattern.match(source.text, source.at).end()  # type: ignore[union-attr]
        found += source.text[start : source.at]
        if source.at < len(source.text):
            return found
        yield


def _expect(source: GrowingText, character: str) -> Steps[None]:
    if (yield from _peek(source)) != character:
        raise Broken(f"{character!r} is missing")
    source.at += 1


# JSON


def _json(
    source: GrowingText,
    calls: CallReports,
    out: Callable[[str], None],
    *,
    in_call: bool = False,
) -> Steps[None]:
    """Reads one value and passes its text to `out`. `in_call`: it is part of a call's arguments.

    Models write line breaks in strings as they are, which is no JSON: `out` gets them escaped.
    """
    if (yield from _peek(source)) not in '{["':
        word = yield from _run(source, _WORD)
        if not word:
            raise Broken("a value is missing")
        out(word)
        return
    start = source.at
    depth, in_string, is_escaped, is_reported = 0, False, False, False
    while True:
        if source.at == len(source.text):
            out(source.text[start:])
            if in_call and depth <= _MAX_DEPTH_KNOWN:
                source.waits = Waits('"' if in_string else "", is_escaped, depth)
            yield
            source.waits, start = None, 0
        elif is_escaped:
            source.at, is_escaped = source.at + 1, False
        else:
            pattern = _IN_STRING if in_string else _PLAIN
            begin = source.at
            source.at = pattern.match(source.text, begin).end()  # type: ignore[union-attr]
            if in_string:
                written = source.text[begin : source.at]
                escaped = _CONTROLS.sub(_escaped, written)
                if escaped != written:
                    if not is_reported:
                        calls.problem(NOT_ESCAPED, source.before + begin + _control_in(written))
                        is_reported = True
                    out(source.text[start:begin] + escaped)
                    start, source.has_escaped = source.at, True
            character = source.text[source.at : source.at + 1]
            if in_string:
                is_escaped = character == "\\"
                in_string = is_escaped or not character
            elif character in ("{", "[", "}", "]"):
                depth += 1 if character in "{[" else -1
            elif character == '"':
                in_string = True
            elif character:
                out(source.text[start : source.at])
                raise Broken(f"{character!r} is no JSON here")
            source.at += len(character)
            if character and not depth and not in_string:
                out(source.text[start : source.at])
                return


def _escaped(match: re.Match[str]) -> str:
    return match[0] if match[0][0] == "\\" else json.dumps(match[0])[1:-1]


def _control_in(text: str) -> int:
    """Where a string has the first control character that is not escaped; -1 if it has none."""
    found = (it.start() for it in _CONTROLS.finditer(text) if it[0][0] != "\\")
    return next(found, -1)


def _json_object(source: GrowingText, calls: CallReports) -> Steps[None]:
    """The arguments of a call: an object, a string that holds one, or nothing (`null`)."""
    if (yield from _peek(source)) in '{"':
        yield from _json(source, calls, calls.arguments, in_call=True)
        return
    word = yield from _run(source, _WORD)
    calls.arguments(word)
    if word != "null":
        raise Broken("the arguments are not a JSON object")


def _string(source: GrowingText, calls: CallReports) -> Steps[str]:
    """A string in quotes."""
    if (yield from _peek(source)) != '"':
        raise Broken("a string in quotes is missing")
    start = source.place
    raw = yield from _next(source)
    while True:
        raw += yield from _run(source, _IN_STRING)
        raw += (character := (yield from _next(source)))
        if character == '"':
            break
        raw += yield from _next(source)
    if (at := _control_in(raw)) >= 0:
        calls.problem(NOT_ESCAPED, start + at)
    if "\\" not in raw:
        return raw[1:-1]
    try:
        name = str(json.loads(raw, strict=False))
    except ValueError:
        raise Broken(f"{raw!r:.60} is no JSON") from None
    return name.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _json_calls(source: GrowingText, calls: CallReports, *, keyed: bool = False) -> Steps[None]:
    """CallReports as objects, in a list or one after another."""
    count, separated = 0, True
    while True:
        before = source.place
        character = yield from _peek(source)
        separated = separated or source.place > before
        if character == "{":
            if not separated:
                calls.problem(ADJOINING, source.place)
            yield from _keyed(source, calls) if keyed else _call(source, calls)
            count, separated = count + 1, False
        elif character == "[" and not source.is_listed:
            source.at, source.is_listed, separated = source.at + 1, True, True
        elif character in ",;":
            source.at, separated = source.at + 1, True
        elif character == "]" and source.is_listed:
            source.at, source.is_listed, count = source.at + 1, False, count + 1
        elif count and not source.is_listed:
            return
        else:
            raise Broken("there is no call")


def _call(source: GrowingText, calls: CallReports) -> Steps[None]:
    start = source.place
    source.at, source.objects, source.behind = source.at + 1, 1, None
    name: str | None = None
    early: list[str] = []
    while source.objects:
        character = yield from _peek(source)
        if character in ",}":
            source.at += 1
            source.objects -= character == "}"
            continue
        key = yield from _string(source, calls)
        yield from _expect(source, ":")
        character = yield from _peek(source)
        if key in _NAMES and character == '"' and name is None:
            name = yield from _string(source, calls)
            calls.begin(name, start)
            calls.arguments("".join(early))
        elif key in _ARGUMENTS and name is not None:
            source.behind = None
            yield from _json(source, calls, calls.arguments, in_call=True)
            source.behind = source.place
        elif key in _ARGUMENTS:
            early.clear()
            yield from _json(source, calls, early.append)
        elif key in _IDS and character == '"':
            calls.identify((yield from _string(source, calls)))
        elif key == "function" and character == "{":
            source.at += 1
            source.objects += 1
        else:
            yield from _json(source, calls, lambda _: None)
    if name is None:
        calls.nameless(start, source.place)
    else:
        calls.end(source.place)


def _keyed(source: GrowingText, calls: CallReports) -> Steps[None]:
    source.at += 1
    while True:
        character = yield from _peek(source)
        if character in ",}":
            source.at += 1
            if character == "}":
                return
            continue
        start = source.place
        calls.begin((yield from _string(source, calls)), start)
        yield from _expect(source, ":")
        yield from _json(source, calls, calls.arguments, in_call=True)
        calls.end(source.place)


# Python, and braces


def python_calls(source: GrowingText, calls: CallReports) -> Steps[None]:
    """CallReports with their arguments by name, in a list or one after another."""
    source.is_listed = (yield from _peek(source)) == "["
    source.at += source.is_listed
    count = 0
    while True:
        character = yield from _peek(source)
        if character == "]" and source.is_listed:
            source.at += 1
            return
        if character in ",;":
            source.at += 1
            continue
        if not (character.isalpha() or character == "_"):
            if source.is_listed or not count:
                raise Broken("there is no call")
            return
        start = source.place
        name = yield from _run(source, _NAME)
        yield from _expect(source, "(")
        calls.begin(name, start)
        while (character := (yield from _peek(source))) != ")":
            if character == ",":
                source.at += 1
                continue
            key = yield from _run(source, _NAME)
            yield from _expect(source, "=")
            calls.argument(key, (yield from _value(source, 0)))
        source.at += 1
        calls.end(source.place)
        count += 1


def _braces(source: GrowingText, calls: CallReports) -> Steps[None]:
    """One call as `f{a:1}`."""
    yield from _peek(source)
    start = source.place
    name = yield from _run(source, _BRACE_NAME)
    yield from _expect(source, "{")
    calls.begin(name, start)
    while (character := (yield from _peek(source))) != "}":
        if character == ",":
            source.at += 1
            continue
        key = yield from _key(source)
        yield from _expect(source, ":")
        calls.argument(key, (yield from _value(source, 0)))
    source.at += 1
    calls.end(source.place)


def _key(source: GrowingText) -> Steps[str]:
    character = yield from _peek(source)
    if character in "'\"" or character == source.quote[0]:
        return str((yield from _value(source, 0)))
    key = yield from _run(source, _KEY)
    if not key.strip():
        raise Broken("a name is missing")
    return key.strip()


def _value(source: GrowingText, depth: int) -> Steps[Any]:
    """A text, a number, a constant, a list or a dict, as Python or Gemma writes them."""
    character = yield from _peek(source)
    if character in "'\"":
        source.at += 1
        return (yield from _quoted(source, character))
    if character == source.quote[0]:
        return (yield from _between_marks(source))
    if character in "[({":
        if depth == _MAX_DEPTH:
            raise Broken(f"more than {_MAX_DEPTH} nested lists")
        source.at += 1
        return (yield from _items(source, {"[": "]", "(": ")", "{": "}"}[character], depth + 1))
    word = yield from _run(source, _WORD)
    if word in CONSTANTS:
        return CONSTANTS[word]
    try:
        return int(word)
    except ValueError:
        pass
    try:
        value = float(word)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise Broken(f"{word!r:.60} is no value")
    return value


def loose(text: str, otherwise: object) -> Any:
    """A list or a dict as Python prints it; `otherwise` if the text is neither."""
    if text[:1] not in ("[", "{"):
        return otherwise
    source = GrowingText(0, "\ud800")
    source.text = text
    steps = _value(source, 0)
    try:
        next(steps)
    except StopIteration as end:
        return end.value if source.at == len(text) else otherwise
    except (Broken, RecursionError):
        pass
    return otherwise


def _items(source: GrowingText, closing: str, depth: int) -> Steps[Any]:
    found: list[Any] = []
    pairs: dict[str, Any] = {}
    while (character := (yield from _peek(source))) != closing:
        if character == ",":
            source.at += 1
        elif closing == "}":
            key = yield from _key(source)
            yield from _expect(source, ":")
            pairs[key] = yield from _value(source, depth)
        else:
            found.append((yield from _value(source, depth)))
    source.at += 1
    return pairs if closing == "}" else found


_UP_TO: Final = {"'": re.compile(r"(?:[^'\\]+|\\.)*", re.DOTALL), '"': _IN_STRING}


def _quoted(source: GrowingText, quote: str) -> Steps[str]:
    """A text up to its quote. Some templates do not escape quotes within it: a quote that no
    delimiter follows is part of the text."""
    found = ""
    source.waits = Waits(quote, is_empty=True)
    while source.at >= len(source.text):
        yield
    while True:
        source.waits = Waits(quote)
        found += yield from _run(source, _UP_TO[quote])
        source.waits = None
        source.at += 1
        if source.text[source.at - 1] == quote:
            space = yield from _run(source, _SPACE)
            following = source.text[source.at]
            if following in ",:)]}":
                return _ESCAPE.sub(_unescaped, found)
            if following == quote and not found + space:
                raise Broken("a text begins with three quotes")
            found += quote + space
            continue
        source.waits = Waits(quote, is_escaped=True)
        while source.at >= len(source.text):
            yield
        source.waits = None
        found += "\\" + source.text[source.at]
        source.at += 1


def _unescaped(match: re.Match[str]) -> str:
    high, low, unicode, byte, other = match.groups()
    try:
        if high:
            return bytes.fromhex(high + low).decode("utf-16-be")
        if unicode or byte:
            return bytes.fromhex((unicode or byte).rjust(4, "0")).decode("utf-16-be", "replace")
    except ValueError:
        return match[0]
    return _ESCAPED.get(other, other if other in "\\'\"/" else match[0])


def _between_marks(source: GrowingText) -> Steps[str]:
    found = ""
    for character in source.quote:
        if (yield from _next(source)) != character:
            raise Broken(f"{character!r} is missing")
    source.waits = Waits(source.quote) if len(source.quote) == 1 else None
    while not found.endswith(source.quote):
        found += yield from _next(source)
    source.waits = None
    return found[: -len(source.quote)]


def _next(source: GrowingText) -> Steps[str]:
    while source.at >= len(source.text):
        yield
    source.at += 1
    return source.text[source.at - 1]


READERS: Final[Mapping[str, Callable[[GrowingText, CallReports], Steps[None]]]] = {
    "json": _json_object,
    "calls": _json_calls,
    "keyed": functools.partial(_json_calls, keyed=True),
    "python": python_calls,
    "braces": _braces,
}
"""By what a state takes."""
