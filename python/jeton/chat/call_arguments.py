"""Arguments of calls that come as JSON in a text, as OpenAI's API has them.

Most templates write arguments as JSON themselves. They would escape such a text once more, or fail
on it; some print it as it is. Look here for which of the two a template does.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Mapping
from typing import Any

from jeton.chat.messages import Sent

__all__ = ["with_parsed_arguments"]


def with_parsed_arguments(sent: list[Sent], prints_text: Callable[[], bool]) -> list[Sent]:
    """The messages, with arguments as dicts that were JSON in a text.

    Args:
        sent: The messages.
        prints_text: Says whether the template prints such a text as it is; then it stays.
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


def _call(call: Any) -> Any:
    """A call whose arguments are a dict, wherever they stand in it."""
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
