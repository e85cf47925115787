"""`Machine`: reads an answer by a `Format` while it is written.

Look here for when an event is certain, and for how text that breaks the format is treated. The
machine takes text in which control tokens are single symbols (`symbols.py`); it knows nothing of
ids, which `stream.py` adds.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Mapping
from typing import Any, Final

from jeton.chat.parsing import readers
from jeton.chat.parsing.arguments import as_text, loaded, takes_only_text, typed
from jeton.chat.parsing.formats import END, Shape
from jeton.chat.parsing.parsed import Event, Kind, ParsedCall, event
from jeton.chat.parsing.symbols import Compiled, CompiledState, Tables

__all__ = ["Machine"]

_READERS: Final = ("json", "calls", "keyed", "python", "braces")
_OF_CALLS: Final = frozenset(("name", "id", "inside", "key", "value", "json"))
"""Kinds of text within a call."""
_WORDS: Final = frozenset(("content", "reasoning"))
_LONGEST_SHAPE: Final = 1024
"""Characters after which text that may still become a shape is taken for none."""


_MAX_COLD: Final = 1 << 15
_LONGEST_COLD: Final = 32
_WRITTEN_ANEW: Final = re.compile(r'["\\\x00-\x1f]')
"""Characters that JSON writes in another way."""


_MAX_KEPT: Final = 16
"""The number of calls for which texts are kept after the answer."""


def _never(text: str) -> bool:
    return False


class _UnfinishedCall:
    """A call that is being read."""

    def __init__(self, name: str, start: int) -> None:
        self.name, self.start, self.id = name, start, None
        self.pieces: list[str] = []
        self.values: dict[str, Any] | None = None
        """The arguments, where they come one by one."""

    id: str | None


class Machine:
    """Reads one answer.

    Args:
        compiled: The format.
        tools: The parameters of each tool, by its name; `None` if the tools are not known.

    Attributes:
        events: What has become certain; the owner removes them.
        content: The pieces of the words.
        reasoning: The pieces of the reasoning.
        calls: The calls that have ended.
        unfinished: The call that was open when the text ended.
        stretches: Where all these are in the text: start, end, kind, index of the call.
        is_complete: Whether the answer had ended when the text did.
        problems: What is wrong, and at which character.
        total: Characters up to the last text that was not cold.
        texts: All text, in the pieces that came.
        known: The owner's table of cold texts by their ids.
        cold: Texts that only continue what is being read, with their events. The owner may append
            one to `texts` and report its event itself: `feed` would do the same.
        text_marks: The marks that were found as plain text.
    """

    def __init__(self, compiled: Compiled, tools: Mapping[str, Mapping[str, Any]] | None) -> None:
        self.events: list[Event] = []
        self.content: list[str] = []
        self.reasoning: list[str] = []
        self.calls: list[ParsedCall] = []
        self.unfinished: ParsedCall | None = None
        self.stretches: list[tuple[int, int, str, int]] = []
        self.problems: list[tuple[str, int]] = []
        self.text_marks: dict[str, None] = {}
        self.is_complete = False
        self.total = 0
        self.texts: list[str] = []
        self._compiled = compiled
        self._tools = tools
        self._names = "|".join(map(re.escape, sorted(tools or (), key=len, reverse=True)))
        self._held = ""
        self._drop = ""
        self._word = ""
        self._key: str | None = None
        self._string: bool | None = None
        self._is_text = False
        self._tables: Tables = {}
        self._call: _UnfinishedCall | None = None
        self._id: str | None = None
        self._raw: list[str] = []
        self._counted = 0
        self._joined = ("", 0)
        self._begin("start", 0)
        self._settle()

    # Input

    def skip(self, space: str) -> None:
        """Drops up to this much white space in front of the next text."""
        self._drop = space
        self._settle()

    @property
    def is_over(self) -> bool:
        """Whether the answer has ended."""
        return self.state.name == END

    def feed(self, text: str) -> None:
        """Takes more text."""
        self.texts.append(text)
        if not text:
            return
        if (said := self.cold.get(text)) is not None:
            self.events.append(said)
            return
        if self._in_json:
            if len(text) <= _LONGEST_COLD and self._more_json(text):
                return
        elif self._is_steady and (step := self.state.steps.get((self._held, text))) is not None:
            self._again(*step)
            return
        elif self._is_cold(text):
            said = self._cold_event(text)
            self.events.append(said)
            return
        start = self._count()
        if self._is_steady:
            self._step(text)
        else:
            self._move(text, start)
        self._settle()

    def _cold_event(self, text: str) -> Event:
        """The event of a text that only continues what is being read."""
        said = event(self._kind, text, self._number)
        if len(self.cold) < _MAX_COLD and len(text) <= _LONGEST_COLD:
            self.cold[text] = said
        return said

    def _more_json(self, text: str) -> bool:
        """Takes text that is only more of the JSON arguments of a call, if it is that."""
        source, call = self._source, self._call
        step = readers.json_step(text, source.in_string)
        if step is None or call is None or source.depth + step[1] <= 0:
            return False
        said = self._cold_event(text) if step == (0, 0, source.in_string) else None
        self.events.append(said or event("arguments", text, self._number))
        if said is None:
            self._count()
            source.before += len(text)
            source.depth += step[0]
            call.pieces.append(text)
            if source.in_string != step[2]:
                source.in_string = step[2]
                self._more_arguments("string" if step[2] else "plain")
        return True

    def _again(self, said: str, held: str) -> None:
        """Takes text inside words or a value, after which the next state is known."""
        self._count()
        was_held, self._held = self._held, held
        if said and self._flows:
            self._words.append(said)
            self.events.append(event(self.state.spec.takes, said))  # type: ignore[arg-type]
        elif said:
            self._more_value(said)
        if bool(held) != bool(was_held):
            self._settle()

    def _step(self, text: str) -> None:
        """Takes text among words, or in a value, and notes what it leads to: that depends on what
        is held back alone."""
        state, held, place = self.state, self._held, self._began
        count = len(self.events)
        self._move(text, self.total - len(text))
        is_same = self.state is state and self._began == place
        buffer = held + text
        if not is_same or not buffer.endswith(self._held) or len(text) > _LONGEST_COLD:
            return
        said = buffer[: len(buffer) - len(self._held)]
        if self._flows:
            is_same = said == "".join(it.text for it in self.events[count:])
        if is_same and len(state.steps) < _MAX_COLD:
            state.steps[held, text] = said, self._held

    def _move(self, text: str, start: int) -> None:
        """Takes text that is not cold.

        Args:
            text: The text.
            start: Where it begins.
        """
        if self._reader is not None and self._source.before >= 0 and text.isascii():
            # No control token is in it, so nothing ends the reader but itself.
            at = self._by_reader(text, 0, start, len(text))
        else:
            at = 0
        if at < len(text):
            buffer = self._held + text[at:]
            self._held = ""
            at = self._read(buffer, self.total - len(buffer))
            self._held = buffer[at:]

    def _count(self) -> int:
        """Counts the texts so far. Returns where the last one begins."""
        cold = self.texts[self._counted : -1]
        self._said.extend(cold)
        length = sum(map(len, cold))
        if self._reader is not None:
            if self._kind == "arguments":
                self._source.before += length
        elif self._kind == "arguments" and self._call is not None:
            self._raw.extend(cold)
        start = self.total + length
        self.total = start + len(self.texts[-1])
        self._counted = len(self.texts)
        return start

    def _settle(self) -> None:
        """Notes which texts would only continue what is being read."""
        self._is_cold: Callable[[str], bool] = _never
        self.cold, self.known = {}, {}
        self._said, self._number = [], -1
        self._kind: Kind = "content"
        self._is_steady = self._in_json = False
        if self._drop or self._fresh:
            return
        in_value = bool(self._raw) and self._key is not None and self.state.spec.takes == "value"
        self._is_steady = (self._flows and self._from is not None) or in_value
        if self._held:
            return
        if in_value:
            if self._is_text:
                self._is_cold = self._is_cold_in_value
                self._more_arguments(self.state.name)
        elif self._is_steady:
            self._is_cold, self.cold = self.state.is_cold, self.state.cold
            self.known = self.state.known
            self._said = self._words
            self._kind = "content" if self._words is self.content else "reasoning"
        elif self._reader and self._call and self._source.is_open:
            self._in_json = True
            self._more_arguments("string" if self._source.in_string else "plain")

    def _more_arguments(self, where: str) -> None:
        """Cold texts are pieces of the arguments of the open call."""
        assert self._call is not None
        self._said, self._kind, self._number = self._call.pieces, "arguments", len(self.calls)
        tables = self._compiled.tables if self._number < _MAX_KEPT else self._tables
        self.cold, self.known = tables.setdefault((where, self._number), ({}, {}))

    def _is_cold_in_value(self, text: str) -> bool:
        return self.state.is_cold(text) and not _WRITTEN_ANEW.search(text)

    def finish(self) -> None:
        """Ends the text."""
        self.texts.append("")
        self._count()
        if self._held:
            held, self._held = self._held, ""
            self._fresh = False
            while held:
                # What might have become a shape or a mark is text now.
                at = self._read(held, self.total - len(held), last=True)
                held = held[at:]
        self._close_words(self.total)
        takes = self.state.spec.takes
        self.is_complete = self.state.spec.done or self.is_over
        if (takes == "head" and self._word.strip()) or (takes == "name" and self._word):
            self.stretches.append((self._began, self.total, "call", -1))
        if self._call is not None:
            is_whole = takes == "json" and self._reader is None and not self._broken
            self._end_call(self.total, whole=is_whole)

    def _read(self, buffer: str, base: int, *, last: bool = False) -> int:
        """Reads what is certain. Returns how much that is."""
        at = 0
        while at < len(buffer):
            if self._drop:
                while self._drop and at < len(buffer) and buffer[at] == self._drop[0]:
                    at, self._drop = at + 1, self._drop[1:]
                if at < len(buffer):
                    self._drop = ""
                continue
            state = self.state
            if self._fresh and state.spec.shapes and not last:
                shape = self._shape(buffer[at:])
                if shape is None:
                    return at
                if shape:
                    self._begin(shape, base + at)
                    continue
                self._fresh = False
            if self._reader is not None:
                at = self._by_reader_or_mark(buffer, at, base)
                continue
            match = (state.find_last if last else state.find).search(buffer, at)
            if match is None:
                hold = None if last else state.tail.search(buffer, at)
                end = hold.start() if hold else len(buffer)
                if end > at:
                    self._take(buffer[at:end], base + at)
                return end
            if match.start() > at:
                self._take(buffer[at : match.start()], base + at)
                if self.state is not state:
                    at = match.start()
                    continue
            mark = state.marks[(match.lastindex or 1) - 1]
            if mark.is_text:
                self.text_marks[mark.text.strip() or mark.text] = None
            at = match.end()
            self._drop = mark.after
            self._enter(mark.state, base + match.start(), base + at)
        return at

    def _shape(self, text: str) -> str | None:
        """The state that a text leads to by its shape; empty if none, `None` if still open."""
        for shape in self.state.spec.shapes:
            answer = self._matches(shape, text)
            if answer is None and len(text) < _LONGEST_SHAPE:
                return None
            if answer:
                if "{names}" in shape.steps:
                    self.text_marks[
                        "".join(shape.steps[:4]).replace("\\s*", "").replace("\\", "")
                    ] = None
                return shape.state
        return ""

    def _matches(self, shape: Shape, text: str) -> bool | None:
        if "{names}" in shape.steps and not self._names:
            return False
        steps = [it.replace("{names}", f"(?:{self._names})") for it in shape.steps]
        if re.match("".join(steps), text):
            return True
        # The text may end within the shape: then it begins one of the steps.
        at = 0
        for step in steps:
            match = re.compile(step).match(text, at)
            if match is None:
                rest = text[at:]
                literals = self._names_or(step)
                return None if any(it.startswith(rest) for it in literals) else False
            at = match.end()
        return None

    def _names_or(self, step: str) -> Collection[str]:
        if self._tools and step.startswith("(?:") and self._names in step:
            return self._tools.keys()
        return (step.replace("\\", ""),)

    # States

    def _enter(self, name: str, left: int, place: int) -> None:
        """Goes to a state.

        Args:
            name: The state; `"?"` for the one that the head chooses.
            left: Where the previous state ends.
            place: Where this one begins.
        """
        name = self._leave(name, left)
        takes = self._compiled.states[name].spec.takes
        if self._call is not None and (takes not in _OF_CALLS or takes == "name"):
            self._end_call(left)
        self._begin(name, place)

    def _begin(self, name: str, place: int) -> None:
        self.state: CompiledState = self._compiled.states[name]
        spec = self.state.spec
        self._fresh = spec.trimmed or bool(spec.shapes)
        self._flows = spec.takes in _WORDS
        self._from: int | None = None
        if self._flows:
            self._words = self.content if spec.takes == "content" else self.reasoning
        self._word = ""
        self._broken = self._odd = False
        self._began = self._claimed = place
        self._start_reader()

    def _start_reader(self) -> None:
        takes = self.state.spec.takes
        self._reader = None
        if takes not in _READERS:
            return
        self._source = readers.GrowingText(-1, self._compiled.quote)
        if takes == "json":
            self._reader = readers.json_object(self._source, self.arguments)
        elif takes in ("calls", "keyed"):
            self._reader = readers.json_calls(self._source, self, keyed=takes == "keyed")
        elif takes == "python":
            self._reader = readers.python_calls(self._source, self)
        else:
            self._reader = readers.braces(self._source, self)

    def _leave(self, target: str, place: int) -> str:
        """Ends the state. Returns the one that follows."""
        takes, word = self.state.spec.takes, self._compiled.spelled(self._word)
        self._close_words(place)
        if self._reader is not None and self._source.before >= 0:
            self._cut(place)
        if takes == "name" and (word.strip() or target != END):
            self._named(word, self._began)
        elif takes == "id":
            self.identify(word.strip())
        elif takes == "key":
            self._keyed(word)
        elif takes == "value":
            self._end_value(place)
            if self._compiled.states[target].spec.takes not in _OF_CALLS:
                self.problem("the last argument is cut off", place)
        elif takes == "head":
            return self._routed(word, target, place)
        return target

    def _routed(self, word: str, target: str, place: int) -> str:
        """The state that the text of a head leads to."""
        for pattern, state in self.state.routes if target == "?" else ():
            if match := pattern.fullmatch(word):
                if name := match.groupdict().get("name"):
                    self.begin(name, self._began)
                return state
        if word.strip():
            self.problem(f"{word!r:.60} is no header of this format", place)
            self._unexpected(word, self._began)
        return "start" if target == "?" else target

    def _cut(self, place: int) -> None:
        """Notes that a mark ended the text of a reader too early."""
        seen = self._slice(self._claimed, place)
        if self._call is not None:
            self.problem("the call is cut off", place)
            self._broken = True
        elif seen.strip(" \t\r\n,;[]{}"):
            self.problem("the call is cut off before its name", place)
            self._unexpected(seen, self._claimed)

    def _slice(self, start: int, end: int) -> str:
        text, count = self._joined
        self._joined = text + "".join(self.texts[count:]), len(self.texts)
        return self._joined[0][start:end]

    # Text

    def _take(self, text: str, place: int) -> None:
        """Takes text of the state."""
        takes = self.state.spec.takes
        if self._flows:
            if self._fresh:
                text_left = text.lstrip() if self.state.spec.trimmed else text
                place, text = place + len(text) - len(text_left), text_left
                self._fresh = not text
            if text:
                self._say(text, place)
        elif self._broken and self._call is not None:
            self.arguments(text)
        elif self._broken:
            self._unexpected(text, place)
        elif takes == "value":
            self._more_value(text)
        elif takes in ("name", "id", "key", "head"):
            self._word += text
        elif self.state.name == END:
            self._stretch("rest", place, place + len(text))
        elif self._odd or text.strip():
            if not self._odd:
                place, text = place + len(text) - len(text.lstrip()), text.lstrip()
                self.problem("there is text where the format has none", place)
            self._odd = True
            self._unexpected(text, place)

    def _say(self, text: str, place: int) -> None:
        """Reports text of the answer, or of its reasoning."""
        self._from = place if self._from is None else self._from
        text = self._compiled.spelled(text)
        self._words.append(text)
        self.events.append(event(self.state.spec.takes, text))  # type: ignore[arg-type]

    def _close_words(self, place: int) -> None:
        """Ends the current stretch of words."""
        if self._from is not None:
            self._stretch(self.state.spec.takes, self._from, place)
        self._from = None

    def _stretch(self, kind: str, start: int, end: int) -> None:
        stretches = self.stretches
        if stretches and stretches[-1][1] == start and stretches[-1][2] == kind:
            start = stretches.pop()[0]
        stretches.append((start, end, kind, -1))

    def _unexpected(self, text: str, place: int) -> None:
        """Reports text that has no place in the format as content, so that none is lost."""
        if self._call is None:
            self._stretch("content", place, place + len(text))
        text = self._compiled.spelled(text)
        self.content.append(text)
        self.events.append(event("content", text))

    def problem(self, what: str, place: int) -> None:
        """Notes what is wrong, and where."""
        self.problems.append((what, place))

    # Readers

    def _by_reader(self, buffer: str, at: int, base: int, limit: int) -> int:
        """Runs the reader up to a limit. Returns how far it came."""
        source = self._source
        if source.before < 0:
            source.before = base + at
            source.text, source.at = buffer[at:limit], 0
        else:
            source.give(buffer[at:limit])
        try:
            next(self._reader)  # type: ignore[arg-type]
        except StopIteration:
            self._reader = None
            return source.place - base
        except (readers.Broken, RecursionError) as error:
            self._reader, self._broken = None, True
            self.problem(str(error), source.place)
            if self._call is None:
                self._unexpected(self._slice(self._claimed, source.place), self._claimed)
            return source.place - base
        return limit

    def _by_reader_or_mark(self, buffer: str, at: int, base: int) -> int:
        """Runs the reader up to the next control token that ends its state."""
        state, limit = self.state, len(buffer)
        match = None if buffer.isascii() else state.find.search(buffer, at)
        while match is not None:
            if not state.marks[(match.lastindex or 1) - 1].is_text:
                limit = match.start()
                break
            match = state.find.search(buffer, max(match.end(), match.start() + 1))
        if limit > at:
            at = self._by_reader(buffer, at, base, limit)
        if match is not None and self._reader is not None:
            # The mark ends the state, whatever the reader has.
            mark = state.marks[(match.lastindex or 1) - 1]
            self._drop = mark.after
            self._enter(mark.state, base + limit, base + match.end())
            return match.end()
        return at

    # Calls

    def _named(self, word: str, start: int) -> None:
        pattern = self.state.pattern
        match = pattern.fullmatch(word) if pattern else None
        name = self._unescaped(match["name"] if match else word.strip())
        if match and match["id"]:
            self._id = match["id"].strip()
        self.begin(name, start)

    def _unescaped(self, word: str) -> str:
        if not self.state.spec.escaped:
            return word
        return word.replace("&quot;", '"').replace("&amp;", "&")

    def begin(self, name: str, start: int) -> None:
        """A call begins."""
        if self._call is not None:
            self._end_call(start)
        name = self._compiled.spelled(name)
        self._call = _UnfinishedCall(name, start)
        self._call.id, self._id = self._id, None
        if self._tools is not None and name not in self._tools:
            self.problem(f"there is no tool {name!r:.60}", start)
        self.events.append(event("call", name, len(self.calls)))

    def identify(self, id: str) -> None:
        """The call has an id."""
        if self._call is None:
            self._id = id
        else:
            self._call.id = id

    def arguments(self, piece: str) -> None:
        """A piece of the arguments, as JSON."""
        if piece and self._call is not None:
            piece = self._compiled.spelled(piece)
            self._call.pieces.append(piece)
            self.events.append(event("arguments", piece, len(self.calls)))

    def argument(self, key: str, value: object) -> None:
        """An argument with its value."""
        self._open_value(self._compiled.spelled(key), self._source.place)
        value = as_text(value, self._compiled.spelled)
        self._close_value(value, json.dumps(value, ensure_ascii=False))

    def nameless(self, start: int, end: int) -> None:
        """An object that is no call."""
        self.problem("a call has no name", start)
        self._unexpected(self._slice(start, end), start)
        self._claimed = end

    def _end_call(self, place: int, *, whole: bool = True) -> None:
        call, self._call = self._call, None
        assert call is not None
        index, text = len(self.calls), "".join(call.pieces)
        arguments: dict[str, Any] | str = text
        if not whole:
            pass
        elif self._broken and self.state.spec.takes in ("python", "braces"):
            arguments = self._compiled.spelled(self._slice(call.start, place))
        elif call.values is None:
            arguments = self._parse_json(text, place)
        else:
            closing = "}" if text else "{}"
            self.events.append(event("arguments", closing, index))
            arguments = call.values
        done = ParsedCall(call.name, arguments, call.id)
        self.stretches.append((call.start, place, "call", index))
        self._claimed = place
        if not whole:
            self.unfinished = done
            return
        self.calls.append(done)
        self.events.append(event("call_end", "", index, done))

    def end(self, place: int) -> None:
        """The call is over."""
        self._end_call(place)

    def _parse_json(self, text: str, place: int) -> dict[str, Any] | str:
        if not text.strip():
            return {}
        try:
            value, wrong = loaded(text)
            if isinstance(value, str):
                value, wrong = loaded(value)
        except (ValueError, RecursionError):
            value, wrong = None, []
        if isinstance(value, dict):
            self.problems += [(what, place) for what in wrong]
            return value
        if value is None and text.strip() == "null":
            return {}
        if not self._broken:
            self.problem("the arguments are not a JSON object", place)
        return text

    # Arguments one by one

    def _keyed(self, word: str) -> None:
        pattern = self.state.pattern
        match = pattern.fullmatch(word) if pattern else None
        key = self._unescaped(match["key"] if match else word.strip())
        string = match["string"] if match else None
        self._open_value(key, self._began)
        self._string = None if string is None else string in ("true", "string")
        self._raw = []
        self._is_text = self._string or (string is None and takes_only_text(self._schema()))

    def _open_value(self, key: str, place: int) -> None:
        call = self._call
        if call is None:
            return
        call.values = {} if call.values is None else call.values
        if key in call.values:
            self.problem(f"the argument {key!r:.60} comes twice", place)
        self._key, self._string = key, None

    def _schema(self) -> Any:
        call, key = self._call, self._key
        if self._tools is None or call is None or key is None:
            return None
        return self._tools.get(call.name, {}).get(key)

    def _more_value(self, text: str) -> None:
        if self._call is None or self._key is None:
            return
        text = self._compiled.spelled(text)
        if self._is_text:
            # The value can only be text, so each piece is certain at once.
            piece = json.dumps(text, ensure_ascii=False)[1:-1]
            self.arguments(("" if self._raw else self._before_value() + '"') + piece)
        self._raw.append(text)

    def _before_value(self) -> str:
        pieces = self._call.pieces if self._call else []
        return f"{', ' if pieces else '{'}{json.dumps(self._key, ensure_ascii=False)}: "

    def _end_value(self, place: int) -> None:
        if self._call is None or self._key is None:
            return
        text = "".join(self._raw)
        if self._is_text:
            self.arguments('"' if self._raw else self._before_value() + '""')
            assert self._call.values is not None
            self._call.values[self._key] = text
            self._key, self._is_text = None, False
            return
        value, fits = typed(text, {} if self._string is False else self._schema())
        if not fits:
            self.problem(
                f"the argument {self._key!r:.60} has a type that the tool does not allow", place
            )
        self._close_value(value, json.dumps(value, ensure_ascii=False))

    def _close_value(self, value: object, text: str) -> None:
        if self._call is None or self._key is None:
            return
        assert self._call.values is not None
        self.arguments(self._before_value() + text)
        self._call.values[self._key] = value
        self._key = None
