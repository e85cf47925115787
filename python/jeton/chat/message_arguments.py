"""Arguments of tool calls that come as a JSON string, as in OpenAI's API, parsed for templates.

Most templates write arguments as JSON themselves: they would escape such a string again, or fail on
it. Some print it unchanged; for those it stays a string. A call without arguments has `{}`.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterator
from typing import Any

from jeton.chat.messages import Sent, fields_of


def with_parsed_arguments(sent: list[Sent], prints_text: Callable[[], bool]) -> list[Sent]:
    """The messages, with arguments parsed where they are a JSON string. `prints_text`: returns
    whether the template prints such a string unchanged; if so, it stays."""
    sent = [_with_arguments(message, _filled) for message in sent]
    parsed = [_with_arguments(message, _parsed) for message in sent]
    if all(new is old for new, old in zip(parsed, sent, strict=True)) or prints_text():
        return sent
    return parsed


def wrong_arguments(sent: list[Sent], first: int) -> Iterator[str]:
    """Which arguments are not a JSON object, of messages from number `first` on."""
    for at, message in enumerate(sent[first:], first):
        calls = message.fields.get("tool_calls")
        for number, call in enumerate(calls if isinstance(calls, (list, tuple)) else ()):
            place, fields = f"messages[{at}].tool_calls[{number}]", fields_of(call) or {}
            if (function := fields_of(fields.get("function"))) is not None:
                place, fields = f"{place}.function", function
            if "arguments" in fields:
                arguments = _parsed(_filled(fields["arguments"]))
                if fields_of(arguments) is None:
                    yield f"{place}.arguments are not a JSON object: {arguments!r:.60}"


def _with_arguments(message: Sent, change: Callable[[Any], Any]) -> Sent:
    """The message with all its arguments changed; itself if none is."""
    calls = message.fields.get("tool_calls")
    if not isinstance(calls, (list, tuple)):
        return message
    listed = [_call(call, change) for call in calls]
    if all(new is old for new, old in zip(listed, calls, strict=True)):
        return message
    return dataclasses.replace(message, fields={**message.fields, "tool_calls": listed})


def _call(call: object, change: Callable[[Any], Any]) -> Any:
    """The call with its arguments changed, also those in its `function`."""
    fields = fields_of(call)
    if fields is None:
        return call
    name = "arguments" if fields_of(fields.get("function")) is None else "function"
    if name not in fields:
        return call
    old = fields[name]
    new = change(old) if name == "arguments" else _call(old, change)
    return call if new is old else {**fields, name: new}


def _filled(arguments: object) -> Any:
    is_empty = arguments is None or (isinstance(arguments, str) and not arguments.strip())
    return "{}" if is_empty else arguments


def _parsed(arguments: object) -> Any:
    """The dict that a JSON string holds; anything else as it is."""
    if not isinstance(arguments, str) or not arguments.lstrip().startswith("{"):
        return arguments
    try:
        return json.loads(arguments)
    except (ValueError, RecursionError):
        return arguments
