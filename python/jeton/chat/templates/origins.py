"""Origins: who wrote a stretch of a rendered chat. Look here for what counts as control."""

from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal

__all__ = ["ANSWERING", "TEMPLATE", "UNKNOWN", "Origin", "Runs", "generated", "least_trusted"]

ANSWERING: Final = frozenset(("assistant", "model"))
"""The roles whose messages a generation prompt begins."""

_OWN_WORDS: Final = re.compile(r"(content|reasoning_content|thinking|reasoning)\b")

Kind = Literal["template", "message", "tools", "documents", "variable", "unknown"]


@dataclass(frozen=True)
class Origin:
    """Who wrote a token or a stretch of text.

    Attributes:
        kind: `"template"`, `"message"`, `"tools"`, `"documents"`, `"variable"` (an argument of the
            caller), or `"unknown"`, which counts as data.
        message: The index of the message.
        role: The role of the message.
        field: The place in the message, as `content` or `tool_calls[0].function.name`; of a
            variable, its name.
        trusted: Whether control tokens that are spelled in it are control tokens.
        generated: Whether the template marks it as written by the model (`{% generation %}`).

    Example:
        >>> from jeton.chat import Origin
        >>> print(Origin("message", 2, "user", "content"))
        messages[2].content
    """

    kind: Kind
    message: int | None = None
    role: str | None = None
    field: str = ""
    trusted: bool = False
    generated: bool = False

    @property
    def is_control(self) -> bool:
        """Whether its text may become control tokens."""
        return self.trusted or self.kind == "template"

    @property
    def is_answer(self) -> bool:
        """Whether the assistant says it: its content or its reasoning, but no call of a tool."""
        is_own = self.kind == "message" and self.role in ANSWERING
        return is_own and _OWN_WORDS.match(self.field) is not None

    def __str__(self) -> str:
        if self.kind == "message":
            return f"messages[{self.message}]{'.' * bool(self.field)}{self.field}"
        if self.kind == "variable":
            return self.field
        return f"{self.kind}{self.field}"


TEMPLATE: Final = Origin("template")
UNKNOWN: Final = Origin("unknown")

Runs = tuple[tuple[int, Origin], ...]
"""The lengths of stretches of a text, none of them empty, each with who wrote it."""


@functools.lru_cache(maxsize=4096)
def generated(origin: Origin) -> Origin:
    """The same origin, inside of `{% generation %}`."""
    return dataclasses.replace(origin, generated=True)


def least_trusted(origins: Iterable[Origin]) -> Origin | None:
    """Whose a text is that several wrote: one whose control tokens do not count, if any is such.

    `None` stands for the template alone.
    """
    other = None
    for origin in origins:
        if not origin.is_control:
            return origin
        if other is None and origin != TEMPLATE:
            other = origin
    return other
