"""Origins: who wrote a stretch of a rendered chat. Look here for what counts as control."""

from __future__ import annotations

import dataclasses
import functools
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal, Protocol

ANSWERING: Final = frozenset(("assistant", "model"))
"""The roles whose messages a generation prompt begins."""
SYSTEM: Final = frozenset(("system", "developer"))
RESULTS: Final = frozenset(("tool", "function"))
"""The roles that give the results of calls."""

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
Segments = list[tuple[int, int, Origin]]
"""The same with start and end of each."""


class RenderedChat(Protocol):
    """A chat, as far as masks, rollouts and terminals depend on it."""

    text: str

    @property
    def roles(self) -> list[str | None]: ...

    @property
    def ids(self) -> list[int]: ...

    @property
    def spans(self) -> list[tuple[int, int]]: ...

    @property
    def segments(self) -> Segments: ...

    @property
    def control_tokens(self) -> dict[str, int]: ...


@functools.lru_cache(maxsize=4096)
def generated(origin: Origin) -> Origin:
    """The same origin, inside of `{% generation %}`."""
    return dataclasses.replace(origin, generated=True)


def segments_of(segments: Segments, message: int) -> Iterator[tuple[int, int, int, Origin]]:
    """The segments of a message, except its role: number of the segment, start, end, origin."""
    for number, (start, end, it) in enumerate(segments):
        if it.kind == "message" and it.message == message and it.field != "role":
            yield number, start, end, it


def printed_again(segments: Segments, message: int, alone: Segments, last: int) -> set[int]:
    """The numbers of the segments in which a template prints something of a message again, as the
    name of a tool in front of its result.

    Args:
        segments: A chat.
        alone: A chat that ends with the message. Of each field, only as many characters count.
        last: The message in that chat.
    """
    left = Counter[str]()
    for _, start, end, it in segments_of(alone, last):
        left[it.field] += end - start
    again = set()
    for number, start, end, it in segments_of(segments, message):
        if it.field in left:
            if left[it.field] <= 0:
                again.add(number)
            left[it.field] -= end - start
    return again
