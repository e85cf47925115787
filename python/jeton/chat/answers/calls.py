"""`Calls`: the calls of an answer, with their arguments as they come.

The machine and the readers report here what they found. Look here for the events of a call, and for
how its arguments get their types.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from json.encoder import encode_basestring
from typing import Any, Final

from jeton.chat.answers.argument_types import (
    BUT_TEXT,
    WRONG_TYPE,
    Parameters,
    Types,
    as_text,
    loaded,
    typed,
)
from jeton.chat.answers.marks import Compiled
from jeton.chat.answers.parsed import Event, ParsedCall

NAMELESS: Final = "a call has no name"

Tools = Mapping[str, Parameters]
"""The types of the parameters of each tool, by its name."""

ITEM: Final = "item"
"""What the items of lists are called by formats in which each part of a value has a name."""

_json: Final = json.JSONEncoder(ensure_ascii=False).encode


def arguments_of(text: str) -> tuple[dict[str, Any] | str, list[str]]:
    """The arguments of a call whose events have this text, and what is wrong with them."""
    if not text.strip() or text.strip() == "null":
        return {}, []
    try:
        value, wrong = loaded(text)
        if isinstance(value, str):
            value, wrong = loaded(value)
    except (ValueError, RecursionError):
        value = None
    if isinstance(value, dict):
        return value, wrong
    return text, ["the arguments are not a JSON object"]


@dataclass
class _Value:
    """The value of an argument, or a part of one, that is being read."""

    key: str
    types: Types
    schema: object
    """What the tool says of it."""
    is_text: bool
    """Whether it can only be text."""
    string: bool | None
    """Whether it is text, if that is written."""
    raw: list[str] = field(default_factory=list)
    """Its text."""
    is_said: bool = False
    """Whether a beginning of the text is reported."""
    has_parts: bool = False
    parts: dict[str, Any] | list[Any] | None = None
    """Those that are over, once the first has begun."""


def _of_argument(key: str, what: str) -> str:
    return f"the argument {key!r:.60}: {what}"


class _OpenCall:
    """A call that is being read."""

    def __init__(self, name: str, start: int, id: str | None) -> None:
        self.name, self.start, self.id = name, start, id
        self.pieces: list[str] = []
        self.values: dict[str, Any] | None = None
        """The arguments, where they come one by one."""
        self.told: str | None = None
        """The id, if it was known when the call began."""


class Findings:
    """What is found in an answer.

    Attributes:
        events: What has become certain; the owner removes them.
        calls: The calls that have ended.
        stretches: Where the parts of the answer are in the text: start, end, kind, index of the
            call.
        problems: What is wrong, and at which character.
    """

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.calls: list[ParsedCall] = []
        self.stretches: list[tuple[int, int, str, int]] = []
        self.problems: list[tuple[str, int]] = []

    def problem(self, what: str, place: int) -> None:
        """Notes what is wrong, and where."""
        self.problems.append((what, place))


class Calls:
    """The calls of one answer.

    Args:
        found: Takes events, problems, and the calls that have ended.
        compiled: The format.
        tools: The tools; `None` if they are not known.
        ids: The ids of calls that have none.

    Attributes:
        open: The call that has not ended.
    """

    def __init__(
        self, found: Findings, compiled: Compiled, tools: Tools | None, ids: Iterator[str]
    ) -> None:
        self._found, self._problem = found, found.problem
        self._tools, self._spelled, self._ids = tools, compiled.spelled, ids
        self._has_ids, self._nests = compiled.format.has_ids, compiled.format.nests
        self.open: _OpenCall | None = None
        self._id: str | None = None
        self._values: list[_Value] = []
        """The argument that is being read, the part of it that is, and so on."""

    def begin(self, name: str, start: int) -> None:
        """A call begins; none is open."""
        name = self._spelled(name)
        self.open, self._id = _OpenCall(name, start, self._id), None
        if not name.strip():
            self._problem(NAMELESS, start)
        elif self._tools is not None and name not in self._tools:
            self._problem(f"there is no tool {name!r:.60}", start)
        if self.open.id is None and not self._has_ids:
            self.open.id = next(self._ids, None)
        self.open.told = self.open.id
        self._found.events.append(Event("call", name, len(self._found.calls), None, self.open.id))

    def identify(self, id: str) -> None:
        """The open call has this id; if none is open, the next one has it. One without text is
        none."""
        if not id:
            return
        if self.open is None:
            self._id = id
        elif self.open.told is None:
            self.open.id = id

    def arguments(self, piece: str) -> None:
        """A piece of the arguments, as JSON."""
        if piece and self.open is not None:
            piece = piece if piece.isascii() else self._spelled(piece)
            self.open.pieces.append(piece)
            self._found.events.append(Event("arguments", piece, len(self._found.calls)))

    def argument(self, key: str, value: object, place: int) -> None:
        """An argument with its value."""
        if self._values:
            self.end_value(place)
            return
        self.key(self._spelled(key), place, None)
        self._close_value(as_text(value, self._spelled))

    def text_argument(self, key: str, piece: str, place: int) -> None:
        """More of an argument that is text; `argument` follows when it is whole."""
        if not self._values:
            self.key(self._spelled(key), place, True)
        self.more_value(piece)

    def end(self, place: int, written: str | None, *, is_broken: bool) -> None:
        """The open call is over.

        Args:
            place: Where it ends.
            written: Its text, where that cannot be read as arguments.
            is_broken: Whether its text breaks the syntax, which is noted already.
        """
        assert self.open is not None
        if not is_broken:
            self._end_key(place)
        values, told = self.open.values, self.open.told
        if self.open.id is None:
            self.open.id = next(self._ids, None)
        call, index = self.stop(), len(self._found.calls)
        arguments: dict[str, Any] | str
        if written is not None:
            arguments = self._spelled(written)
        elif values is None and is_broken and not call.arguments:
            arguments = ""
        elif values is None:
            arguments, problems = arguments_of(str(call.arguments))
            if not call.arguments:
                self._found.events.append(Event("arguments", "{}", index))
            if not is_broken or isinstance(arguments, dict):
                for what in problems:
                    self._problem(what, place)
        else:
            self._found.events.append(Event("arguments", "}" if call.arguments else "{}", index))
            arguments = values
        call = ParsedCall(call.name, arguments, call.id)
        self._found.calls.append(call)
        self._found.events.append(Event("call_end", "", index, call, None if told else call.id))

    def stop(self) -> ParsedCall:
        """Gives up the open call. Returns it with its arguments so far as text."""
        call, self.open, self._values = self.open, None, []
        assert call is not None
        return ParsedCall(call.name, "".join(call.pieces), call.id)

    @property
    def missing(self) -> list[str]:
        """The parameters of the open call's tool that it has not given yet."""
        if self.open is None:
            return []
        given = {*(self.open.values or ()), *(it.key for it in self._values)}
        return [it for it in (self._tools or {}).get(self.open.name, ()) if it not in given]

    # Arguments one by one, as text

    def more_value(self, text: str) -> None:
        """More text of the value."""
        if self.open is None or not self._values:
            return
        value, text = self._values[-1], self._spelled(text)
        value.raw.append(text)
        if not value.is_text:
            return
        # The value can only be text, so each piece is certain at once; or, as long as it is only
        # white space, have parts.
        if not value.is_said:
            text = "".join(value.raw)
            if self._nests and not text.strip():
                return
        piece = encode_basestring(text)[:-1]
        self.arguments(piece[1:] if value.is_said else self._before_value() + piece)
        value.is_said = True

    def open_value(self, place: int) -> None:
        """Parts of the value follow."""
        if self.open is None or not self._values:
            return
        value = self._values[-1]
        if value.is_said:
            self._problem(f"the argument {value.key!r:.60} is text, but has parts", place)
            self.end_value(place)
            return
        if "".join(value.raw).strip():
            self._problem(f"the argument {value.key!r:.60} has text beside its parts", place)
        value.has_parts = True

    def close(self, key: str, place: int) -> None:
        """The value with this key is over."""
        open = [it.key for it in self._values]
        if not open:
            self._problem(f"the end of {key!r:.60} has no beginning", place)
            return
        if key not in open:
            self._problem(f"the end of {key!r:.60} is where {open[-1]!r:.60} ends", place)
            key = open[-1]
        while self._values[-1].key != key:
            self._problem(f"the argument {self._values[-1].key!r:.60} has no end", place)
            self.end_value(place)
        self.end_value(place)

    def end_value(self, place: int) -> None:
        """The value is over."""
        if self.open is None or not self._values:
            self._problem("a value has no key", place)
            return
        value = self._values[-1]
        text = "".join(value.raw)
        if value.has_parts:
            self._end_parts(value, place)
        elif value.is_text:
            self.arguments('"' if value.is_said else self._before_value() + _json(text))
            self._keep(text)
        elif self._nests and not text.strip() and "string" not in value.types:
            # A list or an object without parts looks so.
            empty = next((it for it in ("array", "object") if it in value.types), "")
            if not empty:
                self._problem(_of_argument(value.key, WRONG_TYPE), place)
            self._close_value({"array": [], "object": {}}.get(empty, text))
        else:
            types = BUT_TEXT if value.string is False else value.types
            read, wrong = typed(text, types)
            for what in wrong:
                self._problem(_of_argument(value.key, what), place)
            self._close_value(read)

    def key(self, key: str, place: int, string: bool | None) -> None:
        """The key of the next argument. `string`: whether its value is text, if that is written."""
        call = self.open
        if call is None:
            return
        if self._values and not self._values[-1].has_parts:
            self._end_key(place)
        call.values = {} if call.values is None else call.values
        parent = self._values[-1] if self._values else None
        if parent is not None and parent.parts is None:
            # Parts that are all called `item` are a list, unless the tool takes no list there.
            is_list = "array" in parent.types, "object" in parent.types
            parent.parts = [] if (is_list[0] if is_list[0] != is_list[1] else key == ITEM) else {}
            self.arguments(self._before_value() + ("[" if parent.parts == [] else "{"))
        within = call.values if parent is None else parent.parts
        if isinstance(within, dict) and key in within:
            self._problem(f"the argument {key!r:.60} comes twice", place)
        schema, types = self._expected(key, parent)
        is_text = bool(string) or (string is None and set(types) <= {"string"})
        self._values.append(_Value(key, types, schema, is_text, string))

    def _expected(self, key: str, parent: _Value | None) -> tuple[object, Types]:
        """The schema of a value, and its types."""
        name = "" if self.open is None else self.open.name
        parameters = None if self._tools is None else self._tools.get(name)
        if parameters is None:
            return None, ()
        if parent is None:
            return parameters.schema(key), parameters.get(key, ())
        schema = parameters.part(parent.schema, None if isinstance(parent.parts, list) else key)
        return schema, parameters.types(schema)

    def _end_parts(self, value: _Value, place: int) -> None:
        if value.parts is None:
            value.parts = {}
            self.arguments(self._before_value() + "{")
        is_list = isinstance(value.parts, list)
        if value.types and ("array" if is_list else "object") not in value.types:
            self._problem(_of_argument(value.key, WRONG_TYPE), place)
        self.arguments("]" if is_list else "}")
        self._keep(value.parts)

    def _end_key(self, place: int) -> None:
        """Ends all values that are open."""
        while self._values:
            value = self._values[-1]
            what = "has no end" if value.has_parts else "has no value"
            self._problem(f"the argument {value.key!r:.60} {what}", place)
            if value.has_parts:
                self.end_value(place)
            else:
                self._values.pop()

    def _close_value(self, value: object) -> None:
        if self.open is None or not self._values:
            return
        self.arguments(self._before_value() + _json(value))
        self._keep(value)

    def _keep(self, value: object) -> None:
        """Puts the value that is over where it belongs."""
        key = self._values.pop().key
        assert self.open is not None and self.open.values is not None
        within = self._values[-1].parts if self._values else self.open.values
        if isinstance(within, list):
            within.append(value)
        elif within is not None:
            within[key] = value

    def _before_value(self) -> str:
        """What the arguments have in front of the value that is open: a comma, and its key."""
        key = f"{encode_basestring(self._values[-1].key)}: "
        if len(self._values) < 2:
            return f"{', ' if self.open and self.open.pieces else '{'}{key}"
        within = self._values[-2].parts
        return f"{', ' if within else ''}{'' if isinstance(within, list) else key}"
