"""`DescriptionMachine`: reads an answer by a description, as `Machine` does by a format.

The values are those of `parse_response` in transformers. Where that raises an error, the answer has
a problem and keeps the text. A mark that is spelled like a control token has to be that token. Look
here for when an event is certain.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Mapping
from typing import Any, Final

from jeton.chat.answers import readers
from jeton.chat.answers.calls import Tools
from jeton.chat.answers.described_values import with_types
from jeton.chat.answers.parsed import Event, ParsedCall, event
from jeton.chat.answers.response_templates import Delimiter, Description, Field

__all__ = ["DescriptionMachine"]

_LONGEST_HELD: Final = 1024
"""Text longer than this that may still become a mark is searched only each time it has grown by an
eighth, so that the searches take linear time together."""


class DescriptionMachine:
    """Reads one answer by a description; the attributes are those of `Machine`."""

    def __init__(
        self,
        description: Description,
        spellings: Mapping[str, str],
        tools: Tools | None,
    ) -> None:
        """A reader of an answer.

        Args:
            description: The description.
            spellings: The spelling of each symbol; empty if all marks are text.
            tools: The types of the parameters of each tool.
        """
        self.events: list[Event] = []
        self.calls: list[ParsedCall] = []
        self.unfinished: ParsedCall | None = None
        self.stretches: list[tuple[int, int, str, int]] = []
        self.problems: list[tuple[str, int]] = []
        self.text_marks: dict[str, None] = {}
        self.texts: list[str] = []
        self.total = 0
        self.is_complete = False
        self.is_over = False
        self.message: dict[str, Any] = copy.deepcopy(dict(description.defaults))
        self._description = description
        self._spellings = spellings
        self._tools = tools
        spelled = "|".join(map(re.escape, sorted({*spellings.values()}, key=len, reverse=True)))
        self._tokens = re.compile(spelled or "(?!)")
        self._real: set[int] = set()
        self._buffer, self._at, self._base = "", 0, 0
        self._waiting: list[str] = []
        self._due = 0
        """How much text has to be there for the next search."""
        self._field = description.rest
        self._captures: dict[str, str] = {}
        self._body: list[str] = []
        self._start = 0
        self._is_open = False
        self._space = ""
        """White space that belongs to the value only if more follows."""
        self._has_said = False

    def skip(self, space: str) -> None:
        """White space is left to the description."""

    def feed(self, text: str) -> None:
        """Takes more text."""
        spelled = ""
        for character in text:
            if character in self._spellings:
                self._real.add(self.total + len(spelled))
                spelled += self._spellings[character]
            else:
                spelled += character
        self.texts.append(spelled)
        self.total += len(spelled)
        self._waiting.append(spelled)
        if spelled and self._base + self._due <= self.total:
            self._read(last=False)

    def finish(self) -> None:
        """Ends the text."""
        self._read(last=True)
        for it in self._description.fields.values():
            if not it.optional and it.name not in self.message:
                self.problems.append((f"the answer has no {it.name!r}", self.total))
        kept = self._description.defaults
        empty: tuple[Any, ...] = (None, "", [], {})
        self.message = {
            key: it for key, it in self.message.items() if key in kept or it not in empty
        }

    def _read(self, *, last: bool) -> None:
        self._buffer += "".join(self._waiting)
        self._waiting = []
        while True:
            match, delimiter, opened, hold = self._next(last=last)
            if match is None or delimiter is None:
                end = len(self._buffer) if last else hold
                self._take(self._buffer[self._at : end])
                self._at = max(end, self._at)
                if last:
                    self._close(self._base + len(self._buffer))
                else:
                    self._base += self._at
                    self._buffer, self._at = self._buffer[self._at :], 0
                    held = len(self._buffer)
                    self._due = held + (held // 8 if held > _LONGEST_HELD else 1)
                return
            self._take(self._buffer[self._at : match.start()])
            place, self._at = self._base + match.start(), match.end()
            self.is_complete = opened is None
            if self._real.isdisjoint(range(place, self._base + match.end())):
                self.text_marks[match[0]] = None
            captures = {key: it for key, it in match.groupdict().items() if it is not None}
            was_open = self._is_open
            if opened is None:
                self._captures |= captures
                self._close(place)
                if not was_open and match.start() == match.end():
                    return
            else:
                self._close(place)
                self._field, self._captures, self._is_open = opened, captures, True
                self._start = self._base + match.end()

    def _next(self, *, last: bool) -> tuple[Any, Delimiter | None, Field | None, int]:
        """The first delimiter that is certain: its match, itself and the field that it opens; and
        where the text that is certain ends."""
        rest = self._description.rest
        watched: list[tuple[Delimiter, Field | None]] = []
        if self._field is not None and self._field is not rest:
            watched = [(self._field.close, None)] if self._field.close else []
        else:
            fields = self._description.fields.values()
            watched = [(it.open, it) for it in fields if it.open is not None]
            if rest is not None and rest.close is not None:
                watched.append((rest.close, None))
        if not last and any(it.is_open_ended for it, _ in watched):
            return None, None, None, self._at
        best: tuple[Any, ...] | None = None
        hold = len(self._buffer)
        for delimiter, opened in watched:
            match = self._match(delimiter, last=last)
            if match is None:
                continue
            if not last and (
                getattr(match, "partial", False) or delimiter.grows(match, self._buffer)
            ):
                hold = min(hold, match.start())
                continue
            key = (match.start(), match.start() - match.end(), opened is None)
            name = opened.name if opened else ""
            if best is None or (*key, name) < best[0]:
                best = (*key, name), match, delimiter, opened
        if best is None or (not last and best[1].start() >= hold):
            return None, None, None, hold
        return best[1], best[2], best[3], hold

    def _match(self, delimiter: Delimiter, *, last: bool) -> Any:
        """The first match in which whatever spells a control token is one."""
        at = self._at
        while True:
            if last or isinstance(delimiter.pattern, re.Pattern):
                match = delimiter.pattern.search(self._buffer, at)
                if match is None and not last:
                    return self._open_end(delimiter, at)
            else:
                match = delimiter.pattern.search(self._buffer, at, partial=True)
            if match is None or getattr(match, "partial", False) or self._is_real(match):
                return match
            at = match.start() + 1

    def _open_end(self, delimiter: Delimiter, at: int) -> Any:
        """An empty match in front of an end of text that may become a literal."""
        beginnings = {it[:length] for it in delimiter.literals for length in range(1, len(it))}
        found = re.search(f"({'|'.join(map(re.escape, sorted(beginnings)))})\\Z", self._buffer[at:])
        return re.compile(r"\Z").search(self._buffer, at + found.start()) if found else None

    def _is_real(self, match: Any) -> bool:
        if not self._spellings:
            return True
        start = self._base + match.start()
        return all(start + it.start() in self._real for it in self._tokens.finditer(match[0]))

    def _take(self, text: str) -> None:
        if not text or self._field is None:
            return
        if not self._is_open:
            self._is_open, self._start = True, self._base + self._at
            self._clear()
        self._body.append(text)
        if kind := self._field.kind:
            if self._field.options.get("strip", True):
                text = self._space + text if self._has_said else text.lstrip()
                shown = text.rstrip()
                self._space = text[len(shown) :]
                text = shown
            if text:
                self._has_said = True
                self.events.append(event(kind, text))

    def _clear(self) -> None:
        self._body, self._space, self._has_said = [], "", False

    def _close(self, place: int) -> None:
        field, self._field = self._field, self._description.rest
        body, captures, was_open = "".join(self._body), self._captures, self._is_open
        self._captures, self._is_open = {}, False
        self._clear()
        if field is None or not was_open:
            return
        kind = field.kind or ("call" if field.name == "tool_calls" else "content")
        try:
            value = field.value(body, captures)
            if field.join is not None and not isinstance(value, str):
                raise ValueError("what is joined is no text")
        except (ValueError, TypeError, KeyError, readers.Broken, RecursionError) as error:
            self.problems.append((f"{field.name} cannot be read: {error}"[:200], self._start))
            self.message["content"] = str(self.message.get("content") or "") + body
            self.events.append(event("content", body))
            self.stretches.append((self._start, place, "content", -1))
            return
        if self._tools:
            value = with_types(value, self._tools)
        before = self.message.get(field.name)
        if field.join is not None:
            self.message[field.name] = value if before is None else before + field.join + value
        elif field.repeats:
            self.message.setdefault(field.name, []).append(value)
        else:
            if before and before != self._description.defaults.get(field.name):
                self.problems.append(
                    (f"{field.name!r} comes twice, and the message has the last", self._start)
                )
            self.message[field.name] = value
        if field.kind is None and field.reported_as and isinstance(value, str):
            joined = value if before is None or field.join is None else field.join + value
            self.events.append(event(field.reported_as, joined))
        if field.name == "tool_calls":
            self._add_call(value, place)
        else:
            self.stretches.append((self._start, place, kind, -1))

    def _add_call(self, value: Any, place: int) -> None:
        for it in value if isinstance(value, list) else [value]:
            function = it.get("function", it) if isinstance(it, dict) else {}
            name, arguments = str(function.get("name", "")), function.get("arguments", {})
            call, index = ParsedCall(name, arguments, it.get("id")), len(self.calls)
            text = arguments if isinstance(arguments, str) else json.dumps(arguments)
            if self._tools is not None and name not in self._tools:
                self.problems.append((f"there is no tool {name!r:.60}", self._start))
            self.calls.append(call)
            self.events += [
                event("call", name, index),
                event("arguments", text, index),
                event("call_end", "", index, call),
            ]
        self.stretches.append((self._start, place, "call", len(self.calls) - 1))
