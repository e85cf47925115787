"""What a template sees of the values of a call: plain values, each text with its place in the call.

Which of them may hold control tokens is decided in `trust.py`.
"""

from __future__ import annotations

import functools
import marshal
import re
from typing import Any, Final, NamedTuple

from jeton.chat.messages import Sent, fields_of
from jeton.chat.templates.origins import Kind, Origin
from jeton.chat.templates.parts import KeptTool, traced_number
from jeton.chat.templates.traced import Traced
from jeton.chat.templates.trust import KNOWN_ROLES, REASONING, Path, Trust
from jeton.errors import ArgumentError, ArgumentTypeError

_MAX_DEPTH: Final = 100
_MEDIA: Final = re.compile(r"content\[\d+\]\.(?!(text|type|content|thinking)\b)")
"""Places in the parts of a content that may hold images and sounds, which templates do not read."""

Group = tuple[Kind, int | None, Path]
"""What is printed or left out as one: a field of a message, one item of a list there, a tool, a
document, a variable."""


class _Place(NamedTuple):
    """Where in a call a value is."""

    kind: Kind
    message: int | None
    """The index in the messages that the template sees."""
    number: int | None
    """The index in the call that the message was sent with."""
    role: str | None
    path: Path = ()
    field: str = ""
    """The path as text."""

    def inside(self, step: str | int) -> _Place:
        """The place of the contents of a value."""
        kind, message, number, role, path, field = self
        written = f"[{step}]" if type(step) is int else f".{step}" if path else step
        return _Place(kind, message, number, role, (*path, step), f"{field}{written}")

    @property
    def group(self) -> Group:
        """What the value is printed with."""
        is_item = self.kind == "message" and len(self.path) > 1 and isinstance(self.path[1], int)
        return self.kind, self.message, self.path[: 2 if is_item else 1]


class TemplateInput:
    """Turns the values of a call into what a template sees.

    Attributes:
        characters: How many characters the texts have.
        groups: The fields with text, by the fields that they are printed with.
    """

    def __init__(self, trust: Trust) -> None:
        self.trust = trust
        self.characters = 0
        self.groups: dict[Group, list[str]] = {}

    def messages(self, messages: list[Sent]) -> list[dict[str, Any]]:
        """The messages, each field with its place; fields that are `None` are left out."""
        return [self._message(at, message) for at, message in enumerate(messages)]

    def _message(self, at: int, message: Sent) -> dict[str, Any]:
        seen: dict[str, Any] = {}
        whole = _Place("message", at, message.number, message.role)
        for name, value in message.fields.items():
            if value is not None:
                place = whole.inside(name)
                seen[self._text(name, place)] = self._value(value, place)
        reasoning = next((seen[name] for name in REASONING if name in seen), None)
        if reasoning is not None:
            seen = {"thinking": reasoning, **seen, "reasoning_content": reasoning}
        return seen

    def other(self, kind: Kind, value: object, name: str | None = None) -> Any:
        """The tools, the documents, or a variable, which has a name."""
        whole = _Place(kind, None, None, None)
        return self._value(value, whole if name is None else whole.inside(name))

    def tools(self, tools: list[Any]) -> list[Any]:
        """The tools.

        The calls of a program have the same tools again and again, so the last lists stay: a chat
        with 20 tools of 14 kB takes 3 ms, and 17 ms where they are new.
        """
        try:
            # Version 2 writes equal values alike, whether or not they are the same object.
            key = marshal.dumps(tools, 2)
        except ValueError:
            key = b""  # it holds other objects
        if self.trust or not 0 < len(key) <= _MAX_KEPT_BYTES:
            return self.other("tools", tools)  # type: ignore[no-any-return]
        seen, by = _kept_tools(key)
        self.characters += by.characters
        self.groups.update(by.groups)
        return seen

    def _text(self, text: str, place: _Place) -> str:
        text = str.__str__(text)
        self.characters += len(text)
        return Traced(text, ((len(text), self._origin(text, place)),)) if text else ""

    def _origin(self, value: object, place: _Place) -> Origin:
        kind, message, number, role, path, field = place
        trusted = bool(self.trust) and self.trust.covers(kind, number, role, path)
        if kind == "message" and path == ("role",):
            trusted = trusted or value in KNOWN_ROLES
        return Origin(kind, message, role, field, trusted)

    def _value(self, value: Any, place: _Place, depth: int = 0) -> Any:
        if isinstance(value, str):
            if value.strip():
                self.groups.setdefault(place.group, []).append(place.field)
            return self._text(value, place)
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, (int, float)):
            self.groups.setdefault(place.group, []).append(place.field)
            return traced_number(value, self._origin(value, place))
        if depth > _MAX_DEPTH:
            raise ArgumentError(f"{_described(place)!s:.60}… is nested too deep")
        if isinstance(value, (list, tuple)):
            items = [
                self._value(item, place.inside(at), depth + 1) for at, item in enumerate(value)
            ]
            return items if isinstance(value, list) else tuple(items)
        if (fields := value if type(value) is dict else fields_of(value)) is not None:
            seen = {}
            for key, item in fields.items():
                inner = place.inside(str(key))
                # A name alone is nothing that was said, so it is in no group.
                is_name = isinstance(key, str)
                name = self._text(key, inner) if is_name else self._value(key, inner, depth + 1)
                seen[name] = self._value(item, inner, depth + 1)
            return seen
        if callable(getattr(value, "item", None)) and getattr(value, "shape", None) == ():
            return self._value(value.item(), place, depth + 1)
        if place.kind == "message" and not _MEDIA.match(place.field):
            raise ArgumentTypeError(
                f"{_described(place)!s:.60} must be text, a number, a list or a dict, not "
                f"{type(value).__name__}"
            )
        return self._value(f"<{type(value).__name__}>", place, depth + 1)


_MAX_KEPT_BYTES: Final = 1 << 18
_MAX_KEPT_LISTS: Final = 8


@functools.lru_cache(maxsize=_MAX_KEPT_LISTS)
def _kept_tools(key: bytes) -> tuple[list[Any], TemplateInput]:
    values = TemplateInput(Trust())
    tools = values.other("tools", marshal.loads(key))
    return [KeptTool(it) if isinstance(it, dict) else it for it in tools], values


def _described(place: _Place) -> Origin:
    return Origin(place.kind, place.message, place.role, place.field)
