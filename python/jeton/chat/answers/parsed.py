"""The results of parsing an answer: the message, its parts, and the events of a stream."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple

from jeton.display.human_readable import counted

Kind = Literal["content", "reasoning", "call", "arguments", "call_end"]
PartKind = Literal["content", "reasoning", "call", "mark", "rest"]
Finish = Literal["stop", "tool_calls", "length", "malformed"]

_SHOWN: Final = 40


class Event(NamedTuple):
    """Something that is certain about an answer that is still being written.

    Attributes:
        kind: `"content"` and `"reasoning"`: more of that text. `"call"`: a call begins.
            `"arguments"`: more of its arguments, as JSON. `"call_end"`: the call is over.
        text: The piece of text; the name of the tool that is called.
        call: Which call it belongs to, from 0; -1 if to none.
        done: The whole call, of a `"call_end"`.
        id: The id of the call, of a `"call"`; of a `"call_end"`, if it was not known before.
    """

    kind: Kind
    text: str = ""
    call: int = -1
    done: ParsedCall | None = None
    id: str | None = None

    def as_openai(self) -> dict[str, Any]:
        """The event as the `delta` of a chunk of OpenAI's API; empty if it has nothing to say.

        Reasoning is in `reasoning_content`, as servers of open models have it.

        Example:
            >>> from jeton.chat import Event
            >>> Event("content", "Hi").as_openai()
            {'content': 'Hi'}
            >>> Event("arguments", '{"a": 1}', 0).as_openai()
            {'tool_calls': [{'index': 0, 'function': {'arguments': '{"a": 1}'}}]}
        """
        if self.kind == "content":
            return {"content": self.text}
        if self.kind == "reasoning":
            return {"reasoning_content": self.text}
        call: dict[str, Any] = {"index": self.call}
        if self.id is not None:
            call["id"] = self.id
        if self.kind == "call":
            call |= {"type": "function", "function": {"name": self.text, "arguments": ""}}
        elif self.kind == "arguments":
            call["function"] = {"arguments": self.text}
        return {"tool_calls": [call]} if len(call) > 1 else {}


@dataclass(frozen=True)
class ParsedCall:
    """A call of a tool.

    Attributes:
        name: The tool.
        arguments: Its arguments by name; their text if it cannot be read.
        id: The id that the model wrote; in formats that have none, one that jeton gives.
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
        text: Its text, with control tokens as they are spelled.
        span: The ids that hold it, from the first to behind the last; characters if text was
            parsed. An id that holds the end of one part and the beginning of the next is in both.
        call: The index of the call, if it is one.
    """

    kind: PartKind
    text: str
    span: tuple[int, int]
    call: int | None = None


@dataclass(frozen=True)
class Problem:
    """A place where an answer breaks its format.

    Attributes:
        what: What is wrong.
        at: The index of the id in the answer, or of the character if text was parsed.
    """

    what: str
    at: int


@dataclass(frozen=True)
class Parsed:
    """An answer, read back.

    Attributes:
        message: The message as the template takes it: `role`, `content`, and where there is any,
            the reasoning and `tool_calls`.
        calls: The calls of tools, in order.
        unfinished: The call that was open when the ids stopped, with its arguments so far as text.
            It is not in the message.
        finish: As servers have it. `"stop"`: the model ended its turn, or a stop came.
            `"tool_calls"`: it ended its turn with calls. `"length"`: the ids stop before that.
            `"malformed"`: it breaks the format; `problems` says where.
        problems: What is wrong, in order.
        parts: The answer from its first character to its last.
        text_marks: The marks that were found as plain text, because the tokenizer has no token for
            them. Whether the model used such a mark or only quoted it cannot be known.
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
        """The words of the answer."""
        words = self.message.get("content") or ""
        return "".join(it["text"] for it in words) if isinstance(words, list) else str(words)

    def __repr__(self) -> str:
        said = self.content
        shown = f"{said[:_SHOWN]!r}{'…' * (len(said) > _SHOWN)}"
        listed = f", {counted(len(self.calls), 'call')}" if self.calls else ""
        return f"Parsed({shown}{listed}, {self.finish}, by the format {self.format!r})"
