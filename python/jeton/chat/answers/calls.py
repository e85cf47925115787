"""`Calls`: the calls of an answer, with their arguments as they come.

The machine and the readers report here what they found. Look here for the events of a call, and for
how its arguments get their types.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from jeton.chat.answers.arguments import (
    BUT_TEXT,
    Types,
    as_text,
    loaded,
    takes_only_text,
    typed,
)
from jeton.chat.answers.parsed import Event, ParsedCall, event

__all__ = ["NAMELESS", "Calls", "Tools", "arguments_of"]

NAMELESS: Final = "a call has no name"


Tools = Mapping[str, Mapping[str, Types]]
"""The types of the parameters of each tool, by its name."""


def arguments_of(text: str) -> tuple[dict[str, Any] | str, list[str]]:
    """The arguments of a call whose events have this text, and what is wrong with them."""
    if not text.strip() or text.strip() == "null":
        return {}, []
    try:
        value, wrong = loaded(text)
        if isinstance(value, str):
            value, wrong = loaded(value)
    except (ValueError, RecursionError):
        value = None
    if isinstance(value, dict):
        return value, wrong
    return text, ["the arguments are not a JSON object"]


class _OpenCall:
    """A call that is being read."""

    def __init__(self, name: str, start: int, id: str | None) -> None:
        self.name, self.start, self.id = name, start, id
        self.pieces: list[str] = []
        self.values: dict[str, Any] | None = None
        """The arguments, where they come one by one."""
        self.told: str | None = None
        """The id, if it was known when the call began."""


class Calls:
    """The calls of one answer.

    Args:
        tools: The tools; `None` if they are not known.
        spelled: Spells the control tokens in a text.
        report: Takes an event.
        problem: Takes what is wrong, and where.
        ids: The ids of calls that have none.
        has_ids: Whether the format has ids, so that one may follow the name.

    Attributes:
        done: The calls that have ended.
        open: The call that has not.
    """

    def __init__(
        self,
        tools: Tools | None,
        spelled: Callable[[str], str],
        report: Callable[[Event], None],
        problem: Callable[[str, int], None],
        ids: Iterator[str],
        *,
        has_ids: bool,
    ) -> None:
        self._ids, self._has_ids = ids, has_ids
        self.done: list[ParsedCall] = []
        self.open: _OpenCall | None = None
        self._tools, self._spelled = tools, spelled
        self._report, self._problem = report, problem
        self._id: str | None = None
        self._key: str | None = None
        self._string: bool | None = None
        self._is_text = False
        self._raw: list[str] = []

    def begin(self, name: str, start: int) -> None:
        """A call begins; none is open."""
        name = self._spelled(name)
        self.open, self._id = _OpenCall(name, start, self._id), None
        if not name.strip():
            self._problem(NAMELESS, start)
        elif self._tools is not None and name not in self._tools:
            self._problem(f"there is no tool {name!r:.60}", start)
        if self.open.id is None and not self._has_ids:
            self.open.id = next(self._ids, None)
        self.open.told = self.open.id
        self._report(event("call", name, len(self.done), None, self.open.id))

    def identify(self, id: str) -> None:
        """The open call has this id; if none is open, the next one has it."""
        if self.open is None:
            self._id = id
        elif self.open.told is None:
            self.open.id = id

    def arguments(self, piece: str) -> None:
        """A piece of the arguments, as JSON."""
        if piece and self.open is not None:
            piece = self._spelled(piece)
            self.open.pieces.append(piece)
            self._report(event("arguments", piece, len(self.done)))

    def argument(self, key: str, value: object, place: int) -> None:
        """An argument with its value."""
        if self._key is not None:
            self.end_value(place)
            return
        self._open_value(self._spelled(key), place)
        self._close_value(as_text(value, self._spelled))

    def text_argument(self, key: str, piece: str, place: int) -> None:
        """More of an argument that is text; `argument` follows when it is whole."""
        if self._key is None:
            self.key(self._spelled(key), place, True)
        self.more_value(piece)

    def end(self, place: int, written: str | None, *, is_broken: bool) -> None:
        """The open call is over.

        Args:
            place: Where it ends.
            written: Its text, where that cannot be read as arguments.
            is_broken: Whether its text breaks the syntax, which is noted already.
        """
        assert self.open is not None
        if not is_broken:
            self._end_key(place)
        values, told = self.open.values, self.open.told
        if self.open.id is None:
            self.open.id = next(self._ids, None)
        call, index = self.stop(), len(self.done)
        arguments: dict[str, Any] | str
        if written is not None:
            arguments = self._spelled(written)
        elif values is None:
            arguments, problems = arguments_of(str(call.arguments))
            if not is_broken or isinstance(arguments, dict):
                for what in problems:
                    self._problem(what, place)
        else:
            self._report(event("arguments", "}" if call.arguments else "{}", index))
            arguments = values
        call = ParsedCall(call.name, arguments, call.id)
        self.done.append(call)
        self._report(event("call_end", "", index, call, None if told else call.id))

    def stop(self) -> ParsedCall:
        """Gives up the open call. Returns it with its arguments so far as text."""
        call, self.open, self._key = self.open, None, None
        assert call is not None
        return ParsedCall(call.name, "".join(call.pieces), call.id)

    @property
    def missing(self) -> list[str]:
        """The parameters of the open call's tool that it has not given yet."""
        if self.open is None:
            return []
        given = {*(self.open.values or ()), self._key}
        return [it for it in (self._tools or {}).get(self.open.name, ()) if it not in given]

    # Arguments one by one, as text

    def key(self, key: str, place: int, string: bool | None) -> None:
        """The key of the next argument. `string`: whether its value is text, if that is written."""
        self._open_value(key, place)
        self._string, self._raw = string, []
        self._is_text = string or (string is None and takes_only_text(self._types() or ()))

    def more_value(self, text: str) -> None:
        """More text of the value."""
        if self.open is None or self._key is None:
            return
        text = self._spelled(text)
        if self._is_text:
            # The value can only be text, so each piece is certain at once.
            piece = json.dumps(text, ensure_ascii=False)[1:-1]
            self.arguments(("" if self._raw else self._before_value() + '"') + piece)
        self._raw.append(text)

    def end_value(self, place: int) -> None:
        """The value is over."""
        if self.open is None or self._key is None:
            self._problem("a value has no key", place)
            return
        text = "".join(self._raw)
        if self._is_text:
            self.arguments('"' if self._raw else self._before_value() + '""')
            assert self.open.values is not None
            self.open.values[self._key] = text
            self._key, self._is_text = None, False
            return
        value, wrong = typed(text, BUT_TEXT if self._string is False else self._types() or ())
        for what in wrong:
            self._problem(f"the argument {self._key!r:.60}: {what}", place)
        self._close_value(value)

    def _open_value(self, key: str, place: int) -> None:
        call = self.open
        if call is None:
            return
        self._end_key(place)
        call.values = {} if call.values is None else call.values
        if key in call.values:
            self._problem(f"the argument {key!r:.60} comes twice", place)
        self._key, self._string = key, None

    def _end_key(self, place: int) -> None:
        if self._key is not None:
            self._problem(f"the argument {self._key!r:.60} has no value", place)
            self._key = None

    def _close_value(self, value: object) -> None:
        if self.open is None or self._key is None:
            return
        assert self.open.values is not None
        text = json.dumps(value, ensure_ascii=False)
        self.arguments(self._before_value() + text)
        self.open.values[self._key] = value
        self._key = None

    def _before_value(self) -> str:
        pieces = self.open.pieces if self.open else []
        return f"{', ' if pieces else '{'}{json.dumps(self._key, ensure_ascii=False)}: "

    def _types(self) -> Types | None:
        call, key = self.open, self._key
        if self._tools is None or call is None or key is None:
            return None
        return self._tools.get(call.name, {}).get(key)
