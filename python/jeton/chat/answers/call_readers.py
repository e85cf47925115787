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

_T = TypeVar("_T")
Steps = Generator[None, None, _T]

_NAMES: Final = frozenset(("name", "tool_name", "function", "function_name"))
_ARGUMENT_KEYS: Final = frozenset(("arguments", "parameters", "args", "input"))
_IDS: Final = frozenset(("id", "tool_call_id", "call_id"))

_SPACE: Final = re.compile(r"[ \t\r\n]*")
_PLAIN: Final = re.compile(r"[ \t\r\n\w+\-.,:]*")
_WORD: Final = re.compile(r"[\w+\-.]*")
_IN_STRING: Final = re.compile(r'(?:[^"\\]+|\\.)*', re.DOTALL)
_STRING: Final = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_CONTROLS: Final = re.compile(r"\\.|[\x00-\x1f]", re.DOTALL)
"""What JSON must escape in a string, and what is escaped already."""
_BRACKET: Final = re.compile(
    r"""(?P<bracket>[()\[\]{}])|[\ud800-\udfff]|"(?:[^"\\\ud800-\udfff]|\\.)*"?"""
    r"""|(?<=[=,\[({:\s])'(?:[^'\\\ud800-\udfff]|\\.)*'?""",
    re.DOTALL,
)
"""A bracket, a control token, or a string, which may hold brackets."""
_NEXT_CALL: Final = re.compile(r"\s*(?:[,;]\s*)?(?=\{)")
_NAME: Final = re.compile(r"[\w.\-]*")
_KEY: Final = re.compile(r"[^:,{}\[\]'\"\n]*")
_BRACE_NAME: Final = re.compile(r"[^\s{]*")
_HEX: Final = frozenset("0123456789abcdefABCDEF")
_HIGH: Final = re.compile("[\ud800-\udbff]")
_LOW: Final = re.compile("[\udc00-\udfff]")
"""The halves of a surrogate pair."""
_ESCAPED: Final = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "0": "\0", "\n": ""}
CONSTANTS: Final[dict[str, Any]] = {
    "true": True, "True": True, "false": False, "False": False, "null": None, "None": None,
}  # fmt: skip
_MAX_DEPTH: Final = 100
ADJOINING: Final = "two calls without anything between them"
"""What is wrong with `{…}{…}`."""
NOT_ESCAPED: Final = "a control character in a JSON string is not escaped"
HALF: Final = "half of a surrogate pair is in the text"
"""What is wrong with `"a\\tb"` if the tab is itself there."""


class Broken(Exception):
    """The text breaks the syntax; the source is at the first character that does."""


class GrowingText:
    """Text that comes in pieces.

    Attributes:
        text: The piece at hand.
        at: How much of it is read.
        before: How many characters came before it; -1 if none came yet.
        quote: The mark around strings in Gemma's braces.
        is_listed: Whether a list of calls is open.
        halves: Places of escapes that are half of a surrogate pair.
    """

    __slots__ = ("at", "before", "halves", "is_listed", "quote", "text")

    def __init__(self, quote: str, text: str = "") -> None:
        self.text, self.at, self.before, self.quote = text, 0, -1, quote
        self.is_listed = False
        self.halves: list[int] = []

    @property
    def place(self) -> int:
        """How many characters are read in all."""
        return self.before + self.at


class CallReports(Protocol):
    """What readers report of calls."""

    def begin(self, name: str, start: int) -> None:
        """A call of this tool begins; its text begins at `start`."""

    def identify(self, id: str) -> None:
        """The open call has this id; if none is open, the next one has it."""

    def arguments(self, piece: str) -> None:
        """A piece of its arguments, as JSON."""

    def argument(self, key: str, value: object, place: int) -> None:
        """One of its arguments."""

    def text_argument(self, key: str, piece: str, place: int) -> None:
        """More of an argument that is text; `argument` follows when it is whole."""

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


def _json(source: GrowingText, calls: CallReports, out: Callable[[str], None]) -> Steps[None]:
    """Reads one value and passes its text to `out`.

    Models write line breaks in strings as they are, which is no JSON: `out` gets them escaped.
    """
    if (yield from _peek(source)) not in '{["':
        word = yield from _run(source, _WORD)
        if not word:
            raise Broken("a value is missing")
        out(_or_nothing(word))
        return
    start, depth, in_string, is_reported = source.at, 0, False, False
    while True:
        begin, pattern = source.at, _IN_STRING if in_string else _PLAIN
        source.at = pattern.match(source.text, begin).end()  # type: ignore[union-attr]
        if in_string and (at := _control_in(source.text[begin : source.at])) >= 0:
            if not is_reported:
                calls.problem(NOT_ESCAPED, source.before + begin + at)
                is_reported = True
            escaped = _CONTROLS.sub(_escaped, source.text[begin : source.at])
            out(source.text[start:begin] + escaped)
            start = source.at
        character = source.text[source.at : source.at + 1]
        if not character or (in_string and character == "\\"):
            source.at = len(source.text)
            out(source.text[start:])
            yield
            start, source.at = 0, len(character)  # behind a backslash, any character is escaped
            continue
        if character == '"':
            in_string = not in_string
        elif character in "{[]}":
            depth += 1 if character in "{[" else -1
        else:
            out(source.text[start : source.at])
            raise Broken(f"{character!r} is no JSON here")
        source.at += 1
        if not depth and not in_string:
            out(source.text[start : source.at])
            return


def _escaped(match: re.Match[str]) -> str:
    return match[0] if match[0][0] == "\\" else json.dumps(match[0])[1:-1]


def _control_in(text: str) -> int:
    """Where a string has the first control character that is not escaped; -1 if it has none."""
    if text.isprintable():
        return -1
    found = (it.start() for it in _CONTROLS.finditer(text) if it[0][0] != "\\")
    return next(found, -1)


def _json_object(source: GrowingText, calls: CallReports) -> Steps[None]:
    """The arguments of a call: an object, a string that holds one, or nothing (`null`)."""
    if (yield from _peek(source)) in '{"':
        yield from _json_or_quoted(source, calls, calls.arguments)
        return
    word = yield from _run(source, _WORD)
    calls.arguments(_or_nothing(word))
    if word != "null":
        raise Broken("the arguments are not a JSON object")


def _json_or_quoted(
    source: GrowingText, calls: CallReports, out: Callable[[str], None]
) -> Steps[None]:
    """Reads the arguments of a call: a JSON value, or a string that contains one."""
    if (yield from _peek(source)) == '"':
        out((yield from _quoted_json(source, calls)))
    else:
        yield from _json(source, calls, out)


def _quoted_json(source: GrowingText, calls: CallReports) -> Steps[str]:
    """The JSON in a string, with the control characters of its own strings escaped."""
    start = source.place
    text = yield from _string(source, calls)
    escaped = _STRING.sub(lambda it: _CONTROLS.sub(_escaped, it[0]), text)
    if escaped != text:
        calls.problem(NOT_ESCAPED, start)
    return _or_nothing(escaped)


def _or_nothing(arguments: str) -> str:
    """Arguments as JSON; nothing for those of a call that has none, which are `{}` at its end."""
    return "" if arguments.strip() in ("", "null") else arguments


def end_of_calls(text: str, at: int) -> tuple[int, bool]:
    """Where calls as JSON or as Python end that begin at a place, in a list or one after another;
    and whether they do. If not, they go on behind the text, or a control token ends it."""
    depth = 0
    while match := _BRACKET.search(text, at):
        if match[0] > "~":
            return match.start(), False
        at = match.end()
        if not match["bracket"]:
            continue
        depth += 1 if match[0] in "([{" else -1
        if depth < 0:
            return at, False
        if not depth:
            following = _NEXT_CALL.match(text, at)
            if following is None:
                return at, True
            at = following.end()
    return len(text), False


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
    whole = without_halves(name)
    if whole != name:
        calls.problem(HALF, start)
    return whole


def without_halves(text: str) -> str:
    """The text in which pairs of surrogates are characters, and half of a pair is U+FFFD."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _json_calls(source: GrowingText, calls: CallReports, *, keyed: bool = False) -> Steps[None]:
    """Calls as JSON objects, in a list or one after another."""
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
    source.at, depth = source.at + 1, 1
    name: str | None = None
    early: list[str] = []
    is_apart = True
    while depth:
        character = yield from _peek(source)
        if character in ",}":
            source.at += 1
            depth -= character == "}"
            is_apart = character == ","
            continue
        key_at = source.place
        if not is_apart:
            calls.problem("',' is missing", key_at)
        is_apart = False
        key = yield from _string(source, calls)
        yield from _expect(source, ":")
        character = yield from _peek(source)
        if key in _NAMES and character == '"' and name is None:
            name = yield from _string(source, calls)
            calls.begin(name, start)
            calls.arguments("".join(early))
        elif key in _ARGUMENT_KEYS:
            take = early.append if name is None else calls.arguments
            yield from _json_or_quoted(source, calls, take)
        elif key in _IDS and character == '"':
            calls.identify((yield from _string(source, calls)))
        elif key == "function" and character == "{":
            source.at += 1
            depth, is_apart = depth + 1, True
        else:
            if key != "type" and character != "n":  # null says nothing
                calls.problem(f"{key!r:.60} is left out of the call", key_at)
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
        yield from _json_or_quoted(source, calls, calls.arguments)
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
        yield from _arguments(source, calls, functools.partial(_run, pattern=_NAME), "=", ")")
        count += 1


def _braces(source: GrowingText, calls: CallReports) -> Steps[None]:
    """One call as `f{a:1}`."""
    yield from _peek(source)
    start = source.place
    name = yield from _run(source, _BRACE_NAME)
    yield from _expect(source, "{")
    calls.begin(name, start)
    yield from _arguments(source, calls, _key, ":", "}")


def _arguments(
    source: GrowingText,
    calls: CallReports,
    key: Callable[[GrowingText], Steps[str]],
    equals: str,
    closing: str,
) -> Steps[None]:
    """The arguments of a call, each a key, `equals` and a value, up to their last bracket."""
    while (character := (yield from _peek(source))) != closing:
        if character == ",":
            source.at += 1
            continue
        name = yield from key(source)
        yield from _expect(source, equals)
        said = lambda piece, key=name: calls.text_argument(key, piece, source.place)  # noqa: E731
        calls.argument(name, (yield from _value(source, 0, said)), source.place)
        for place in source.halves:
            calls.problem(HALF, place)
        source.halves.clear()
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


def _value(
    source: GrowingText, depth: int, out: Callable[[str], None] = lambda _: None
) -> Steps[Any]:
    """A text, a number, a constant, a list or a dict, as Python or Gemma writes them. A text is
    passed to `out` as it comes."""
    character = yield from _peek(source)
    if character in "'\"":
        source.at += 1
        return (yield from _quoted(source, character, out))
    if character == source.quote[0]:
        return (yield from _between_marks(source, out))
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


def loose(text: str, otherwise: object) -> tuple[Any, list[str]]:
    """A list or a dict as Python prints it, and what is wrong with it; `otherwise` if the text is
    neither."""
    if text[:1] not in ("[", "{"):
        return otherwise, []
    source = GrowingText("\ud800", text)
    steps = _value(source, 0)
    try:
        next(steps)
    except StopIteration as end:
        if source.at == len(text):
            return end.value, [HALF] if source.halves else []
    except (Broken, RecursionError):
        pass
    return otherwise, []


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


_UP_TO: Final = {"'": re.compile(r"[^'\\]*"), '"': re.compile(r'[^"\\]*')}


def _quoted(source: GrowingText, quote: str, out: Callable[[str], None]) -> Steps[str]:
    """A text up to its quote. Some templates do not escape quotes within it: a quote that no
    delimiter follows is part of the text."""
    pieces: list[str] = []

    def take(piece: str) -> None:
        if piece:
            pieces.append(piece)
            out(piece)

    while True:
        start = source.at
        source.at = _UP_TO[quote].match(source.text, start).end()  # type: ignore[union-attr]
        take(source.text[start : source.at])
        if source.at == len(source.text):
            yield
        elif source.text[source.at] == "\\":
            take((yield from _escape(source)))
        else:
            source.at += 1
            space = yield from _run(source, _SPACE)
            following = source.text[source.at]
            if following in ",:)]}":
                return "".join(pieces)
            if following == quote and not pieces and not space:
                raise Broken("a text begins with three quotes")
            take(quote + space)


def _escape(source: GrowingText) -> Steps[str]:
    """Decodes an escape. If it is half of a surrogate pair, the next escape must be the other half,
    and both give one character; a lone half gives U+FFFD."""
    found, start, unit = "", source.place, (yield from _unit(source))
    while _HIGH.fullmatch(unit) and (yield from _following(source)) == "\\":
        other = yield from _unit(source)
        if _LOW.fullmatch(other):
            return found + (unit + other).encode("utf-16", "surrogatepass").decode("utf-16")
        source.halves.append(start)
        found, unit = f"{found}\ufffd", other
    if len(unit) == 1 and "\ud800" <= unit <= "\udfff":
        source.halves.append(start)
        unit = "\ufffd"
    return found + unit


def _unit(source: GrowingText) -> Steps[str]:
    """The character of one escape, which may be half of a pair; the escape if it is unknown."""
    raw = (yield from _next(source)) + (yield from _next(source))
    length = {"u": 6, "x": 4}.get(raw[1], 2)
    while len(raw) < length and (yield from _following(source)) in _HEX:
        raw += yield from _next(source)
    if len(raw) == length > 2:
        return chr(int(raw[2:], 16))
    return _ESCAPED.get(raw[1], raw[1] if raw[1] in "\\'\"/" else raw)


def _between_marks(source: GrowingText, out: Callable[[str], None]) -> Steps[str]:
    """A text between two of Gemma's marks."""
    quote = source.quote
    for character in quote:
        if (yield from _next(source)) != character:
            raise Broken(f"{character!r} is missing")
    pieces, held = list[str](), ""
    while True:
        yield from _following(source)
        held += source.text[source.at :]
        source.at = len(source.text)
        end = held.find(quote)
        if is_whole := end >= 0:
            source.at -= len(held) - end - len(quote)
        else:
            beginnings = (it for it in range(1, len(quote)) if held.endswith(quote[:it]))
            end = len(held) - max(beginnings, default=0)
        if end:
            pieces.append(held[:end])
            out(held[:end])
        if is_whole:
            return "".join(pieces)
        held = held[end:]


def _next(source: GrowingText) -> Steps[str]:
    character = yield from _following(source)
    source.at += 1
    return character


def _following(source: GrowingText) -> Steps[str]:
    """The next character."""
    while source.at >= len(source.text):
        yield
    return source.text[source.at]


READERS: Final[Mapping[str, Callable[[GrowingText, CallReports], Steps[None]]]] = {
    "json": _json_object,
    "calls": _json_calls,
    "keyed": functools.partial(_json_calls, keyed=True),
    "python": python_calls,
    "braces": _braces,
}
"""By what a state takes."""
