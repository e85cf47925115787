"""What an answer says, read back: the message, its parts, and the events of a stream."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple

__all__ = ["Event", "Kind", "Parsed", "ParsedCall", "Part", "Problem", "event"]

Kind = Literal["content", "reasoning", "call", "arguments", "call_end"]
PartKind = Literal["content", "reasoning", "call", "mark", "rest"]
Finish = Literal["complete", "length", "malformed"]

_SHOWN: Final = 40


class Event(NamedTuple):
    """Something that is certain about an answer that is still being written.

    Attributes:
        kind: `"content"` and `"reasoning"`: more of that text. `"call"`: a call begins.
            `"arguments"`: more of its arguments, as JSON. `"call_end"`: the call is over.
        text: The piece of text; the name of the tool that is called.
        call: Which call it is, from 0; -1 for what is none.
        done: The whole call, where it is over.
    """

    kind: Kind
    text: str = ""
    call: int = -1
    done: ParsedCall | None = None


def event(kind: Kind, text: str = "", call: int = -1, done: ParsedCall | None = None) -> Event:
    """An event, in a third of the time that the class takes for it."""
    return _new(Event, (kind, text, call, done))


_new: Final = tuple.__new__


@dataclass(frozen=True)
class ParsedCall:
    """A call of a tool.

    Attributes:
        name: The tool.
        arguments: Its arguments by name; the text as it stands where it cannot be read.
        id: What the model calls it by, in formats that have that.
    """

    name: str
    arguments: dict[str, Any] | str
    id: str | None = None


@dataclass(frozen=True)
class Part:
    """A stretch of an answer.

    Attributes:
        kind: `"content"`, `"reasoning"`, `"call"`, `"mark"` (what the format writes between those),
            or `"rest"` (what follows the end of the answer).
        text: The text of its ids, control tokens spelled.
        span: The ids that hold it, from the first to behind the last; in characters if text was
            parsed. Two parts share an id that holds the end of one and the beginning of the other.
        call: Of a call, its index.
    """

    kind: PartKind
    text: str
    span: tuple[int, int]
    call: int | None = None


@dataclass(frozen=True)
class Problem:
    """Something that an answer does not keep to.

    Attributes:
        what: What is wrong.
        at: The id where, counted from the first of the answer; in characters if text was parsed.
    """

    what: str
    at: int


@dataclass(frozen=True)
class Parsed:
    """An answer, read back.

    Attributes:
        message: The message as the template takes it: `role`, `content`, and where there is any,
            the reasoning and `tool_calls`.
        calls: The calls of tools.
        unfinished: The call in whose middle the ids stop, with what there is of its arguments as
            text. The message does not have it.
        finish: `"complete"`: the model ended its turn. `"length"`: the ids stop before that.
            `"malformed"`: it does not keep to the format; `problems` says where.
        problems: What is wrong, in order.
        parts: The answer from its first character to its last.
        text_marks: The marks that were found as plain text, because the tokenizer has no token for
            them: a model that quotes one of those cannot be told from one that means it.
        format: The name of the format.
    """

    message: dict[str, Any]
    calls: tuple[ParsedCall, ...]
    unfinished: ParsedCall | None
    finish: Finish
    problems: tuple[Problem, ...]
    parts: tuple[Part, ...]
    text_marks: tuple[str, ...]
    format: str

    @property
    def content(self) -> str:
        """What is said."""
        return str(self.message.get("content") or "")

    def __repr__(self) -> str:
        said = self.content
        shown = f"{said[:_SHOWN]!r}{'…' * (len(said) > _SHOWN)}"
        calls = len(self.calls)
        listed = f", {calls} call{'s' * (calls != 1)}" if calls else ""
        return f"Parsed({shown}{listed}, {self.finish}, by the format {self.format!r})"
