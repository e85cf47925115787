"""The fields of a message, a part or a tool, whatever holds them (a dict, a dataclass, a pydantic
model), and which parts of a content are text."""

from __future__ import annotations

import dataclasses
import re
import types
from collections.abc import Callable, Mapping
from typing import Any, Final

__all__ = ["TEXTS", "fields_of", "is_media", "is_text"]

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
