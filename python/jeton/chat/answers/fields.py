"""`Fields`: the message of an answer by a description, a field at a time.

The machine reports where a field begins and ends, and its text. The values are those of
`parse_response` in transformers. Where that raises an error, the answer has a problem and keeps the
text. Look here for what becomes of a value that is no call.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping
from typing import Any, Final

from jeton.chat.answers.calls import NAMELESS, Findings, Tools, arguments_of
from jeton.chat.answers.field_values import Unreadable, with_types
from jeton.chat.answers.parsed import Event, ParsedCall
from jeton.chat.answers.response_templates import Description, Field

_EMPTY: Final[tuple[Any, ...]] = (None, "", [], {})
"""Values that a message leaves out, if they are no defaults."""


class Fields:
    """The fields of one answer.

    Args:
        found: Takes events, problems, calls, and where the fields are.
        description: The description.
        tools: The types of the parameters of each tool.

    Attributes:
        message: The message so far.
    """

    def __init__(self, found: Findings, description: Description, tools: Tools | None) -> None:
        self.message: dict[str, Any] = copy.deepcopy(dict(description.defaults))
        self._found, self._description, self._tools = found, description, tools
        self.begin(description.rest, {}, 0, is_open=False)

    def begin(
        self, field: Field | None, captures: Mapping[str, str], place: int, *, is_open: bool
    ) -> None:
        """A field begins. `is_open`: it counts even if no text follows."""
        self._field, self._captures = field, dict(captures)
        self._start, self._is_open = place, is_open
        self._body: list[str] = []
        self._space, self._has_said = "", False

    def take(self, text: str, place: int) -> None:
        """More text of the field."""
        field = self._field
        if field is None:
            return
        if not self._is_open:
            self._is_open, self._start = True, place
        self._body.append(text)
        if kind := field.kind:
            if field.options.get("strip", True):
                # White space belongs to the value only if more follows.
                text = self._space + text if self._has_said else text.lstrip()
                shown = text.rstrip()
                self._space, text = text[len(shown) :], shown
            if text:
                self._has_said = True
                self._found.events.append(Event(kind, text))

    def end(self, captures: Mapping[str, str], place: int) -> None:
        """The field is over. `captures`: what the expression that ends it captured."""
        field, body, start = self._field, "".join(self._body), self._start
        if field is None or not self._is_open:
            return
        kind = field.kind or ("call" if field.name == "tool_calls" else "content")
        try:
            value = field.value(body, {**self._captures, **captures})
            if self._tools:
                value = with_types(value, self._tools)
            calls = _calls_of(value) if kind == "call" else []
        except Unreadable as error:
            self._found.problem(f"{field.name} cannot be read: {error}"[:200], start)
            self.message["content"] = str(self.message.get("content") or "") + body
            self._found.events.append(Event("content", body))
            self._found.stretches.append((start, place, "content", -1))
            return
        before = self.message.get(field.name)
        if field.join is not None:
            self.message[field.name] = value if before is None else before + field.join + value
        elif field.repeats:
            self.message[field.name] = [*(before or []), value]
        else:
            if before and before != self._description.defaults.get(field.name):
                what = f"{field.name!r} comes twice, and the message has the last"
                self._found.problem(what, start)
            self.message[field.name] = value
        if field.kind is None and field.reported_as and isinstance(value, str):
            joined = value if before is None or field.join is None else field.join + value
            self._found.events.append(Event(field.reported_as, joined))
        for call in calls:
            self._add(call)
        last = len(self._found.calls) - 1 if kind == "call" else -1
        self._found.stretches.append((start, place, kind, last))

    def finish(self, place: int) -> None:
        """The answer is over."""
        for it in self._description.fields.values():
            if not it.optional and it.name not in self.message:
                self._found.problem(f"the answer has no {it.name!r}", place)
        kept = self._description.defaults
        self.message = {k: it for k, it in self.message.items() if k in kept or it not in _EMPTY}

    def _add(self, call: ParsedCall) -> None:
        index, arguments = len(self._found.calls), call.arguments
        if self._tools is not None and call.name not in self._tools:
            self._found.problem(f"there is no tool {call.name!r:.60}", self._start)
        for what in arguments_of(arguments)[1] if isinstance(arguments, str) else ():
            self._found.problem(what, self._start)
        self._found.calls.append(call)
        said = arguments if isinstance(arguments, str) else json.dumps(arguments)
        self._found.events += [
            Event("call", call.name, index),
            Event("arguments", said, index),
            Event("call_end", "", index, call),
        ]


def _calls_of(value: object) -> list[ParsedCall]:
    """The calls of a value: what a model wrote may be any JSON.

    Raises:
        Unreadable: It is no call.
    """
    found = []
    for it in value if isinstance(value, list) else [value]:
        function = it.get("function", it) if isinstance(it, dict) else None
        if not isinstance(it, dict) or not isinstance(function, dict):
            raise Unreadable(f"{it!r:.60} is no call")
        arguments, id = function.get("arguments", {}), it.get("id")
        if not isinstance(arguments, (dict, str)):
            raise Unreadable("the arguments are not a JSON object")
        name = function.get("name")
        if not isinstance(name, str) or not name.strip():
            raise Unreadable(NAMELESS)
        if not isinstance(id, (str, type(None))):
            raise Unreadable("the id of the call is no text")
        found.append(ParsedCall(name, arguments, id))
    return found
