"""`Trust`: the fields of a call in which control tokens count.

An entry of `trusted=` is of one kind, decided when the chat is made: a message by its index, a
role, a field, a place in a message, tools, documents or a variable. A message keeps the index that
it was sent with, also where a chat is cut, so no other message comes into its trust.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, Literal

from jeton.arguments import checked_iterable, index_of, suggestion
from jeton.chat.messages import Sent
from jeton.chat.templates.origins import Kind
from jeton.errors import ArgumentError, ArgumentTypeError

KNOWN_ROLES: Final = frozenset(
    """
    system developer user assistant model tool function ipython observation environment
    """.split()
)
"""Roles that may be a part of a control token, as in `<|user|>`. Others are data."""

REASONING: Final = ("reasoning_content", "thinking", "reasoning")
"""The fields that a message's reasoning goes by, the one that templates read first."""

Path = tuple[str | int, ...]
"""The way into a value: names of fields, indices of lists."""

_USUAL_FIELDS: Final = frozenset(
    "role content name tool_calls tool_call_id function_call refusal".split()
) | {*REASONING}
"""What may be trusted in chats that happen to lack it."""

_ENTRY: Final = re.compile(r"[\w\-]+(\[\d+\])?(\.[\w\-]+|\[\d+\])*")
_STEP: Final = re.compile(r"\[(\d+)\]|([\w\-]+)")

_Whose = tuple[Literal["any", "index", "role", "tools", "documents", "variable"], int | str | None]
"""The scope of an entry: any message, one with this index or role, or no message."""


class Trust:
    """The fields of a call whose control tokens count.

    Args:
        entries: What `trusted=` was: indices of messages, roles (`system`), fields (`content`),
            both (`system.content`), places (`messages[0].content`), `tools`, `documents`, names of
            variables, if need be as `variables.name`.
        variables: The names of its variables.
    """

    def __init__(
        self,
        entries: Iterable[str | int] = (),
        messages: Iterable[Sent] = (),
        variables: Iterable[str] = (),
    ) -> None:
        entries = checked_iterable(
            "trusted", entries, 'an iterable of fields, as ("system", "messages[0].content")'
        )
        listed = list(messages)
        self._count = len(listed)
        self._roles = {it.role for it in listed if it.role is not None}
        self._fields = {str.__str__(name) for it in listed for name in it.fields}
        self._variables = {*variables}
        self._paths: dict[_Whose, list[Path]] = {}
        for entry in entries:
            whose, path = self._read(entry)
            self._paths.setdefault(whose, []).append(path)

    def __bool__(self) -> bool:
        """Whether anything is trusted."""
        return bool(self._paths)

    def covers(self, kind: Kind, number: int | None, role: str | None, path: Path) -> bool:
        """Whether a place is one of the fields, or inside of one.

        Args:
            number: The index that its message was sent with.
            role: The role of that message.
            path: The way from there, or from the tools or the documents; of a variable, its name
                first.
        """
        if not self:
            return False
        owners: list[_Whose]
        if kind == "message":
            owners = [("any", None), ("index", number), ("role", role)]
        elif kind in ("tools", "documents", "variable"):
            owners = [(kind, None)]
        else:
            return False
        return any(
            path[: len(trusted)] == trusted
            for owner in owners
            for trusted in self._paths.get(owner, ())
        )

    def _read(self, entry: object) -> tuple[_Whose, Path]:
        if (index := index_of(entry)) is not None:
            entry = f"messages[{index}]"
        if not isinstance(entry, str):
            raise ArgumentTypeError(
                f"each of trusted must be a str or the index of a message, not {entry!r:.60}"
            )
        if not _ENTRY.fullmatch(entry):
            raise ArgumentError(
                f"trusted: {entry!r} names no field (write a role as 'system', a field as "
                "'content' or 'messages[0].content', 'tools', or the name of a variable)"
            )
        first, *rest = (int(index) if index else name for index, name in _STEP.findall(entry))
        path = tuple(rest)
        if first == "messages":
            if path and not isinstance(path[0], int):
                raise self._unknown(entry, "messages", ())
            if path and path[0] >= self._count:
                raise ArgumentError(
                    f"trusted: there is no messages[{path[0]}]: there are {self._count}"
                )
            self._check_field(entry, path[1:])
            return (("index", path[0]), path[1:]) if path else (("any", None), ())
        if first in ("tools", "documents"):
            return (first, None), path
        if first == "variables" and path:
            if path[0] not in self._variables:
                raise self._unknown(entry, path[0], self._variables)
            return ("variable", None), path
        kinds = self._kinds_of(first)
        if path and kinds == ["a role", "a field"]:
            kinds = ["a role"]
        if len(kinds) > 1:
            raise ArgumentError(
                f"trusted: {entry!r} may be {' or '.join(kinds)}: write a role with its field "
                "('robot.content'), a field with its message ('messages[0].mood'), a variable as "
                "'variables.name'"
            )
        if kinds == ["a role"]:
            self._check_field(entry, path)
            return ("role", first), path
        if kinds:
            return ("any" if kinds == ["a field"] else "variable", None), (first, *path)
        raise self._unknown(entry, first, ())

    def _kinds_of(self, word: str | int) -> list[str]:
        """What a word names. What a stranger's message calls itself takes no name from others."""
        of_variable = ["a variable"] * (word in self._variables)
        if word in KNOWN_ROLES | _USUAL_FIELDS:
            return ["a role" if word in KNOWN_ROLES else "a field", *of_variable]
        of_messages = ["a role"] * (word in self._roles) + ["a field"] * (word in self._fields)
        return of_variable or of_messages

    def _check_field(self, entry: str, path: Path) -> None:
        """Refuses a path that begins with a field that no message has or usually has."""
        if path and path[0] not in self._fields | _USUAL_FIELDS:
            raise self._unknown(entry, path[0], self._fields | _USUAL_FIELDS)

    def _unknown(self, entry: str, word: str | int, known: Iterable[str]) -> ArgumentError:
        names = {*known} or self._fields | _USUAL_FIELDS | self._roles | KNOWN_ROLES
        question = suggestion(str(word), sorted(names))
        hint = f"; {question}" if question else ""
        return ArgumentError(
            f"trusted: {entry!r} names nothing that the messages have (their roles: "
            f"{', '.join(sorted(self._roles))}; their fields: {', '.join(sorted(self._fields))})"
            f"{hint}"
        )
