"""Arguments of tool calls that come as a JSON string, as in OpenAI's API, parsed for templates.

Most templates write arguments as JSON themselves: they would escape such a string again, or fail on
it. Some print it unchanged; for those it stays a string.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Mapping
from typing import Any

from jeton.chat.messages import Sent

__all__ = ["with_parsed_arguments"]


def with_parsed_arguments(sent: list[Sent], prints_text: Callable[[], bool]) -> list[Sent]:
    """The messages, with arguments parsed where they are a JSON string.

    Args:
        sent: The messages.
        prints_text: Returns whether the template prints such a string unchanged; if so, it stays.
    """
    parsed = [_parsed(message) for message in sent]
    if all(new is old for new, old in zip(parsed, sent, strict=True)) or prints_text():
        return sent
    return parsed


def _parsed(message: Sent) -> Sent:
    calls = message.fields.get("tool_calls")
    if not isinstance(calls, (list, tuple)):
        return message
    listed = [_call(call) for call in calls]
    if all(new is old for new, old in zip(listed, calls, strict=True)):
        return message
    return dataclasses.replace(message, fields={**message.fields, "tool_calls": listed})


def _call(call: object) -> Any:
    """The call with its arguments parsed, also those in its `function`."""
    if not isinstance(call, Mapping):
        return call
    if isinstance(call.get("function"), Mapping):
        function = _call(call["function"])
        return call if function is call["function"] else {**call, "function": function}
    arguments = call.get("arguments")
    if not isinstance(arguments, str) or not arguments.lstrip().startswith("{"):
        return call
    try:
        value = json.loads(arguments)
    except (ValueError, RecursionError):
        return call
    return {**call, "arguments": value}
