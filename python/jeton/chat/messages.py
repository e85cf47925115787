"""Messages as programs send them: dicts, dataclasses or pydantic models, and parts of a content.

Look here for which types a message may have, and which parts are text. What a template sees of them
is in `templates/input.py`.
"""

from __future__ import annotations

import dataclasses
import re
import types
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from jeton.arguments import check_kind, checked_iterable
from jeton.errors import ArgumentError, ArgumentTypeError

TEXTS: Final = {"text": "text", "input_text": "text", "output_text": "text", "refusal": "refusal"}
"""The kinds of parts that are text, and the field that holds it."""

_MEDIA_KIND: Final = re.compile(r"(?i)image|audio|video|file|document|media|blob")
_MEDIA_FIELD: Final = re.compile(
    r"(?i)((input|inline)_?)?(image|audio|video|file|media|data|url|bytes|blob)"
    r"(_?(url|uri|data|id))?"
)


def fields_of(value: object) -> Mapping[Any, Any] | None:
    """The fields by name; `None` for what has none.

    >>> fields_of({"role": "user"}), fields_of("user")
    ({'role': 'user'}, None)
    """
    if isinstance(value, Mapping):
        return value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    dump: Callable[[], Any] | None = getattr(value, "model_dump", None)
    if isinstance(dump, types.MethodType):
        dumped = dump()
        return dumped if isinstance(dumped, Mapping) else None
    return None


def is_text(part: object) -> bool:
    """Whether a part of a content is text.

    >>> is_text("a"), is_text({"text": "a"}), is_text({"type": "image", "url": "a.png"})
    (True, True, False)
    """
    fields = fields_of(part)
    if fields is None:
        return isinstance(part, str)
    kind = fields.get("type", "text")
    return isinstance(kind, str) and kind in TEXTS and isinstance(fields.get(TEXTS[kind]), str)


def texts_of_none(sent: list[Sent], first: int) -> list[str]:
    """The texts of parts that are `None`, as places, of messages from number `first` on."""
    places = []
    for at, message in enumerate(sent[first:], first):
        parts = message.fields.get("content")
        for number, part in enumerate(parts if isinstance(parts, (list, tuple)) else ()):
            fields = fields_of(part) or {}
            kind = fields.get("type", "text")
            name = TEXTS.get(kind) if isinstance(kind, str) else None
            if name in fields and fields[name] is None:
                places.append(f"messages[{at}].content[{number}].{name}")
    return places


def is_media(part: object) -> bool:
    """Whether a part of a message holds no text: an image, a sound, a file.

    >>> is_media({"type": "image_url"}), is_media({"type": "tool_result", "content": "a"})
    (True, False)
    """
    fields = fields_of(part)
    if fields is None:
        return not isinstance(part, str)
    if (source := fields_of(fields.get("source"))) and source.get("type") in ("text", "content"):
        return False
    kind = fields.get("type")
    if isinstance(kind, str) and (kind in TEXTS or _MEDIA_KIND.search(kind)):
        return kind not in TEXTS
    return any(isinstance(name, str) and _MEDIA_FIELD.fullmatch(name) for name in fields)


@dataclass(frozen=True)
class Sent:
    """A message as it was sent."""

    number: int | None
    """Its index in the call that it was sent with; `None` if it was not part of that call."""
    role: str | None
    fields: Mapping[str, Any]


def sent_messages(messages: object, *, is_part: bool = False) -> list[Sent]:
    """The messages of a call.

    Args:
        messages: What the caller gave; of a part of a chat, messages that were sent before too.
        is_part: Whether they are a part of a chat: new messages have no number.
    """
    messages = getattr(messages, "messages", messages)
    messages = checked_iterable(
        "messages",
        messages,
        'a list of dicts, as [{"role": "user", "content": "Hello"}]',
        but=(str, bytes, Mapping),
    )
    sent = [
        message if isinstance(message, Sent) else _sent_message(at, message, is_part=is_part)
        for at, message in enumerate(messages)
    ]
    if not sent:
        raise ArgumentError("messages is empty: a chat has at least one message")
    return sent


def _sent_message(at: int, message: object, *, is_part: bool) -> Sent:
    fields = fields_of(message)
    if fields is None:
        hint = " (a call takes one conversation)" if isinstance(message, (list, tuple)) else ""
        raise ArgumentTypeError(
            f"messages[{at}] must be a dict, a dataclass or a pydantic model, not "
            f"{type(message).__name__}{hint}"
        )
    if not all(isinstance(name, str) for name in fields):
        raise ArgumentTypeError(f"messages[{at}]: each name of a field must be a str")
    role = fields.get("role")
    if role is not None:
        check_kind(f"messages[{at}].role", role, str, "a str")
    return Sent(None if is_part else at, None if role is None else str.__str__(role), fields)
