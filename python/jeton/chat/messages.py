"""What goes into a template: plain values, each text with where in the call it stands.

Look here for which types messages may have, and for `trusted`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

import jeton._core as _core
from jeton.chat.origins import Kind, Origin
from jeton.chat.parts import TracedFloat, TracedInt, raw
from jeton.chat.traced import Traced
from jeton.errors import ArgumentError, ArgumentTypeError
from jeton.message_fields import fields_of

__all__ = ["KNOWN_ROLES", "REASONING", "Input", "Trust"]

KNOWN_ROLES: Final = frozenset(
    """
    system developer user assistant model tool function ipython observation environment
    """.split()
)
"""Roles that may be a part of a control token, as in `<|user|>`. Others are data."""

REASONING: Final = ("reasoning_content", "thinking", "reasoning")
"""The fields that a message's reasoning goes by, the one that templates read first."""

_MOST_DEPTH: Final = 100
_USUAL_FIELDS: Final = frozenset(
    """
    messages role content name tools documents tool_calls tool_call_id function_call refusal
    """.split()
) | {*REASONING}
"""What may be trusted in chats that happen to lack it."""
_MEDIA: Final = re.compile(r"content\[\d+\]\.(?!(text|type|content|thinking)\b)")
"""Places in the parts of a content that may hold images and sounds, which templates do not read."""

_ENTRY: Final = re.compile(r"[\w\-]+(\[\d+\])?(\.[\w\-]+|\[\d+\])*")


class Trust:
    """The fields of a call whose control tokens count.

    Args:
        entries: What `trusted=` was: indices of messages, roles (`system`), fields (`content`),
            both (`system.content`), places (`messages[0].content`), `tools`, `documents`, names of
            variables.
    """

    def __init__(self, entries: Iterable[str | int]) -> None:
        if isinstance(entries, (str, bytes)) or not isinstance(entries, Iterable):
            raise ArgumentTypeError(
                'trusted must be an iterable of fields, as ("system", "messages[0].content"), not '
                f"{type(entries).__name__}"
            )
        self.entries: set[str] = set()
        for entry in entries:
            if isinstance(entry, int) and not isinstance(entry, bool):
                entry = f"messages[{entry}]"
            if not isinstance(entry, str):
                raise ArgumentTypeError(
                    f"each of trusted must be a str or the index of a message, not {entry!r:.60}"
                )
            if not _ENTRY.fullmatch(entry):
                raise ArgumentError(
                    f"trusted: {entry!r} names no field (write a role as 'system', a field as "
                    "'content' or 'messages[0].content', 'tools', or the name of a variable)"
                )
            self.entries.add(entry)

    def check(self, messages: list[dict[str, Any]], variables: Iterable[str], part: bool) -> None:
        """Refuses fields that neither this call has nor chats usually have.

        Args:
            messages: Of the call.
            variables: The names of its variables.
            part: Whether the messages are some of those that the entries were written for.

        Raises:
            ArgumentError: No message has such a role or field, or there is no such message.
        """
        roles = {raw(it["role"]) for it in messages if isinstance(it.get("role"), str)}
        fields = {raw(name) for message in messages for name in message}
        for entry in sorted(self.entries):
            first, *rest = re.split(r"\]?[.\[]|\]", entry)
            known = fields | _USUAL_FIELDS | {*variables}
            if first == "messages" and rest:
                if rest[0].isdigit() and int(rest[0]) >= len(messages) and not part:
                    raise ArgumentError(
                        f"trusted: there is no messages[{rest[0]}], for there are {len(messages)}"
                    )
                inner = "".join(rest[1:3])
            elif first in roles | KNOWN_ROLES:
                inner = "".join(rest[:1])
            else:
                inner, known = first, known | roles | KNOWN_ROLES
            if inner and inner not in known:
                close = _core.did_you_mean(inner, sorted(known))
                hint = f"; did you mean {close!r}?" if close else ""
                raise ArgumentError(
                    f"trusted: {entry!r} names nothing that the messages have (their roles: "
                    f"{', '.join(sorted(roles))}; their fields: {', '.join(sorted(fields))}){hint}"
                )

    def covers(self, kind: Kind, message: int | None, role: str | None, field: str) -> bool:
        """Whether a place is one of the fields, or inside of one."""
        if not self.entries:
            return False
        if kind == "message":
            names = [f"messages[{message}].{field}", field, f"{role}.{field}"]
        elif kind == "variable":
            names = [field]
        else:
            names = [f"{kind}{field}"]
        return any(
            entry == name or name.startswith((f"{entry}.", f"{entry}["))
            for entry in self.entries
            for name in names
        )


class Input:
    """Turns the values of a call into what a template sees."""

    def __init__(self, trust: Trust) -> None:
        self.trust = trust
        self.characters = 0

    def messages(self, messages: Any) -> list[dict[str, Any]]:
        """The messages, each field with its place; fields that are `None` are left out.

        Raises:
            ArgumentTypeError: No list, or a message that is none.
            ArgumentError: No messages.
        """
        messages = getattr(messages, "messages", messages)
        if isinstance(messages, (str, bytes, Mapping)) or not isinstance(messages, Iterable):
            raise ArgumentTypeError(
                'messages must be a list of dicts, as [{"role": "user", "content": "Hello"}], not '
                f"{type(messages).__name__}"
            )
        seen = [self._message(number, message) for number, message in enumerate(messages)]
        if not seen:
            raise ArgumentError("messages is empty: a chat has at least one message")
        return seen

    def _message(self, number: int, message: Any) -> dict[str, Any]:
        fields = fields_of(message)
        if fields is None:
            hint = " (a call takes one conversation)" if isinstance(message, (list, tuple)) else ""
            raise ArgumentTypeError(
                f"messages[{number}] must be a dict, a dataclass or a pydantic model, not "
                f"{type(message).__name__}{hint}"
            )
        if not all(isinstance(name, str) for name in fields):
            raise ArgumentTypeError(f"messages[{number}]: each name of a field must be a str")
        role = fields.get("role")
        if role is not None and not isinstance(role, str):
            raise ArgumentTypeError(
                f"messages[{number}].role must be a str, not {type(role).__name__}"
            )
        role = None if role is None else str.__str__(role)
        seen: dict[str, Any] = {}
        for name, value in fields.items():
            if value is not None:
                key = self._value(name, "message", number, role, name)
                seen[key] = self._value(value, "message", number, role, name)
        reasoning = next((seen[name] for name in REASONING if name in seen), None)
        if reasoning is not None:
            seen = {"thinking": reasoning, **seen, "reasoning_content": reasoning}
        return seen

    def other(self, kind: Kind, value: Any, field: str = "") -> Any:
        """The tools, the documents, or a variable."""
        return self._value(value, kind, None, None, field)

    def _value(
        self, value: Any, kind: Kind, message: int | None, role: str | None, field: str,
        depth: int = 0,
    ) -> Any:  # fmt: skip
        def origin() -> Origin:
            trusted = self.trust.covers(kind, message, role, field)
            if kind == "message" and field == "role":
                trusted = trusted or value in KNOWN_ROLES
            return Origin(kind, message, role, field, trusted)

        def inner(item: Any, name: str) -> Any:
            return self._value(item, kind, message, role, f"{field}{name}", depth + 1)

        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, str):
            text = str.__str__(value)
            self.characters += len(text)
            return Traced(text, ((len(text), origin()),)) if text else ""
        if isinstance(value, int):
            return TracedInt.of(value, origin())
        if isinstance(value, float):
            return TracedFloat.of(value, origin())
        if depth > _MOST_DEPTH:
            raise ArgumentError(f"{Origin(kind, message, role, field)!s:.60}… is nested too deep")
        if isinstance(value, (list, tuple)):
            items = [inner(item, f"[{number}]") for number, item in enumerate(value)]
            return items if isinstance(value, list) else tuple(items)
        if (fields := fields_of(value)) is not None:
            return {inner(key, f".{key}"): inner(item, f".{key}") for key, item in fields.items()}
        if callable(getattr(value, "item", None)) and getattr(value, "shape", None) == ():
            return inner(value.item(), "")
        if kind == "message" and not _MEDIA.match(field):
            raise ArgumentTypeError(
                f"{Origin(kind, message, role, field)!s:.60} must be text, a number, a list or a "
                f"dict, not {type(value).__name__}"
            )
        return inner(f"<{type(value).__name__}>", "")
