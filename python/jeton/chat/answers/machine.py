"""`Machine`: reads an answer by a `Format` while it is written.

Look here for when an event is certain, and for how text that breaks the format is treated. The
machine takes text in which control tokens are single symbols (`marks.py`); it knows nothing of
ids, which `stream.py` adds.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping
from itertools import accumulate
from typing import Any, Final, cast

from jeton.chat.answers import call_readers
from jeton.chat.answers.calls import NAMELESS, Calls, Findings, Tools
from jeton.chat.answers.field_values import Unreadable
from jeton.chat.answers.fields import Fields
from jeton.chat.answers.formats import BARE_CALLS, END, Shape
from jeton.chat.answers.marks import Compiled, Found, MarkedState
from jeton.chat.answers.parsed import Event, ParsedCall
from jeton.chat.answers.response_templates import FieldState

_OF_CALLS: Final = frozenset(("name", "id", "inside", "key", "value", "close", "json"))
"""Kinds of text within a call."""
_WORDS: Final = frozenset(("content", "reasoning"))
_NAMED: Final = frozenset(("name", "id", "key", "close"))
"""Kinds of text that is a single name, which holds no mark."""
_LONGEST_SHAPE: Final = 1024
"""Characters after which text that may still become a shape is taken for none."""
_LONGEST_HELD: Final = 1024
"""Text longer than this that may still become a mark is searched only each time it has grown by an
eighth, so that the searches take linear time together. Shapes end before."""
_BRACKETS: Final = ("[", "{")
_SYMBOL: Final = re.compile("[\ud800-\udfff]")
_LONGEST_PIECE: Final = 1024
"""Characters that are read at once: each step looks ahead as far as these go."""
_LONGEST_NAME: Final = 1024
_IN_NAME: Final = re.compile(r"[\w.\-]")
_PIECES: Final = re.compile(f"[^\ud800-\udfff]{{1,{_LONGEST_PIECE}}}|[\ud800-\udfff]")
"""Control tokens by themselves, and what is between."""


class Machine(Findings):
    """Reads one answer.

    Args:
        compiled: The format.
        tools: The types of the parameters of each tool, by its name; `None` if the tools are not
            known.
        ids: The ids of calls that have none.

    Attributes:
        content: The pieces of the words.
        reasoning: The pieces of the reasoning.
        unfinished: The call that was open when the text ended.
        is_complete: Whether the answer had ended when the text did.
        total: The number of characters that are read.
        texts: All text, in the pieces that came.
        text_marks: The marks that were found as plain text.
    """

    def __init__(
        self, compiled: Compiled, tools: Tools | None, ids: Iterator[str] | None = None
    ) -> None:
        super().__init__()
        self.content: list[str] = []
        self.reasoning: list[str] = []
        self.unfinished: ParsedCall | None = None
        self.text_marks: dict[str, None] = {}
        self.is_complete = False
        self.total = 0
        self.texts: list[str] = []
        self._compiled = compiled
        self._calls = Calls(self, compiled, tools, ids or iter(()))
        self.begin, self.identify = self._calls.begin, self._calls.identify
        self.arguments = self._calls.arguments
        self.argument, self.text_argument = self._calls.argument, self._calls.text_argument
        self._tools = tools
        self._name_pattern = "|".join(map(re.escape, sorted(tools or (), key=len, reverse=True)))
        self._fields: Fields | None = None
        if compiled.description is not None:
            self._fields = Fields(self, compiled.description, tools)
        self._unread: list[str] = []
        """Text that may still become a shape or a mark."""
        self._due = 0
        """The number of characters from which on it is searched again."""
        self._is_stuck, self._empty_at = False, -1
        """Whether no more marks are searched for, since an expression took too long; and where the
        last mark without text is."""
        self._drop = ""
        self._displaced: list[tuple[int, int]] = []
        """Text that has no place in the format, as it is reported as content: start, end."""
        self._no_call_before = 0
        """Up to where calls were looked for that have no mark in front."""
        self._from: int | None = None
        """Where the words begin that are being said."""
        self._drafted: tuple[Found, str, int] | None = None
        """A mark of plain text in reasoning, what is wrong if it counts, and where it is."""
        self._drafts: list[tuple[str, int]] = []
        """The reasoning from there on, which is reported when it is closed: text, place."""
        self._starts = [0]
        """Where each of the texts begins, and the end."""
        self._begin("start", 0)

    # Input

    @property
    def message(self) -> dict[str, Any]:
        """The message, of a format that a description gives."""
        assert self._fields is not None
        return self._fields.message

    def skip(self, space: str) -> None:
        """Drops up to this much white space in front of the next text."""
        self._drop = space

    @property
    def is_over(self) -> bool:
        """Whether the answer has ended."""
        return self.state.name == END

    def feed(self, text: str) -> None:
        """Takes more text."""
        self.texts.append(text)
        if 0 < len(text) <= _LONGEST_PIECE:
            self._read_on(text)
        else:
            for piece in _PIECES.findall(text):
                self._read_on(piece)

    def _read_on(self, text: str) -> None:
        start = self.total
        self.total += len(text)
        if not self._unread:
            if self._reader is None:
                if self._plain and not (self._drop or self._fresh or self.state.hot(text)):
                    self._plain(text, start)
                    return
            elif self._source.before >= 0 and text.isascii():
                # No control token is in it, so nothing ends the reader but itself.
                text = text[self._by_reader(text, start) :]
                if not text:
                    return
        self._unread.append(text)
        if self.total >= self._due:
            buffer = "".join(self._unread)
            self._unread, self._due = [], 0
            if held := buffer[self._read(buffer, self.total - len(buffer)) :]:
                self._unread = [held]
                if len(held) > _LONGEST_HELD:
                    self._due = self.total + len(held) // 8

    def finish(self) -> None:
        """Ends the text."""
        self._read_held()
        if self._drafted is not None:
            self._read_draft(self.total)
        if self._fields is not None and (found := self._next("", 0, last=True)[0]):
            self._enter(found.state, self.total, self.total, found.captures)
        self._close_words(self.total)
        self._note_displaced_marks()
        takes = self.state.spec.takes
        self.is_complete = self.state.spec.done or self.is_over
        if self._fields is not None:
            self._fields.end({}, self.total)
            self._fields.finish(self.total)
        word = "".join(self._word)
        if self._calls.open is None and word.strip():
            self.stretches.append((self._began, self.total, "call", -1))
        if takes in _NAMED:
            self._note_marks(word, self._began, takes)
        if self._reader is not None:
            self._note_swallowed_end()
        if self._calls.open is not None:
            if takes == "json" and self._reader is None and not self._broken:
                self.end(self.total)
            else:
                self._note_call(self.total)
                self.unfinished = self._calls.stop()

    def _read_held(self) -> None:
        """Reads what might have become a shape or a mark: it is text now."""
        held = "".join(self._unread)
        if held:
            self._unread, self._due = [], 0
            self._fresh = False
            while held:
                at = self._read(held, self.total - len(held), last=True)
                held = held[at:]

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
                at, is_held = self._by_reader_or_mark(buffer, at, base, last=last)
                if is_held:
                    return at
                continue
            next = state.next if self._fields is None else self._next
            found, end = next(buffer, at, last=last)
            if found is None:
                if end > at:
                    self._take(buffer[at:end], base + at)
                return end
            if found.start > at:
                self._take(buffer[at : found.start], base + at)
            if (mark := found.mark) is not None and mark.fault:
                is_right = self._names(mark, buffer, found, base, last=last)
                if is_right is None and not last:
                    return found.start
                if mark.is_draft and is_right:
                    at = self._draft(found, mark, base)
                    continue
                if is_right or mark.is_stray:
                    self.problem(mark.fault, base + found.start)
                elif mark.names == "tool":
                    what = f"the mark {mark.shown!r} is left in the {state.spec.takes}"
                    self.problem(what, base + found.start)
                if is_right and mark.names == "call":
                    at = found.start if mark.core in _BRACKETS else found.end
                    self._enter(found.state, base + found.start, base + at)
                    continue
                if mark.is_stray or not is_right:
                    self._take(buffer[found.start : found.end], base + found.start)
                    at = found.end
                    continue
            elif mark is not None and found.state == state.name and self._has_said:
                self.problem(f"the mark {mark.text.strip()!r} ends nothing", base + found.start)
            if found.text_mark is not None:
                self.text_marks[found.text_mark] = None
            at = found.end
            if found.start == at:
                # An expression may match no text; a second one there might go on for ever.
                self._is_stuck, self._empty_at = self._empty_at == base + at, base + at
                if self._is_stuck and not buffer[at:].strip():
                    return len(buffer)  # `$` closes a field in front of a last line end, too
            if self._drafted is not None and found.state == END:
                self._read_draft(base + found.start)
            self._drop = found.drop
            self._enter(found.state, base + found.start, base + at, found.captures)
        return at

    def _next(self, buffer: str, at: int, *, last: bool) -> tuple[Found | None, int]:
        """The next mark of a description, or where the text that is certain ends."""
        if self._is_stuck:
            return None, len(buffer)
        place = self.total - len(buffer) + at
        reach = cast(FieldState, self.state).looks_behind
        behind = self._slice(max(place - reach, 0), place) if reach else ""
        moved = at - len(behind)
        try:
            found, end = self.state.next(behind + buffer[at:], len(behind), last=last)
        except Unreadable as error:
            self._is_stuck = True
            self.problem(str(error), place)
            return None, len(buffer)
        if found is not None:
            found = found._replace(start=found.start + moved, end=found.end + moved)
        return found, end + moved

    @property
    def _has_said(self) -> bool:
        """Whether words follow reasoning or other words, so that no reasoning can end here."""
        said = self.reasoning or any(it.strip() for it in self.content)
        return self.state.spec.takes == "content" and bool(said)

    def _names(self, mark: Any, buffer: str, found: Found, base: int, *, last: bool) -> bool | None:
        """Whether what a mark has to name follows it; `None` if the text ends too early."""
        if not mark.names:
            return True
        if mark.names == "call":
            return self._is_call(mark, buffer, found.start, base + found.start, last=last)
        at = found.end
        tools = self._tools or {}
        names = [*tools] if mark.names == "tool" else self._calls.missing
        rest = buffer[at : at + _LONGEST_NAME].lstrip().removeprefix("functions.")
        if "functions.".startswith(rest) or any(it.startswith(rest) for it in names):
            return None
        return any(rest.startswith(it) and not _IN_NAME.match(rest, len(it)) for it in names)

    def _is_call(self, mark: Any, buffer: str, at: int, place: int, *, last: bool) -> bool | None:
        """Whether calls of known tools are there, at the beginning of a line, and a mark of the
        format behind them; `None` if the text ends too early."""
        is_inner = self._from is not None and self._slice(place - 1, place) != "\n"
        if is_inner or place < self._no_call_before:
            return False
        takes = self._compiled.states[mark.state].spec.takes
        answers = [self._matches(Shape(it, ""), buffer[at:]) for it in BARE_CALLS[takes]]
        if True not in answers:
            is_open = None in answers and not last and len(buffer) - at < _LONGEST_SHAPE
            return None if is_open else False
        end, is_whole = call_readers.end_of_calls(buffer, at)
        rest = buffer[end:].lstrip()
        if rest.strip() in ("", ",", ";") and not last:
            return None  # another call may follow
        if is_whole and (rest.startswith(mark.behind) if rest else mark.may_end):
            return True
        if is_whole and not last and any(it.startswith(rest) for it in mark.behind):
            return None
        self._no_call_before = place + end - at
        return False

    def _draft(self, found: Found, mark: Any, base: int) -> int:
        """Notes a mark of plain text that ends the reasoning if nothing else does. Returns where
        the text goes on."""
        place = base + found.start
        if self._drafted is None:
            self._drafted = found, mark.fault, place
        self.problems.append((f"the mark {mark.shown!r} is left in the reasoning", place))
        self._say(self._slice(place, base + found.end), place)
        return found.end

    def _read_draft(self, end: int) -> None:
        """Reads the end of reasoning that was never closed again: from the first mark in it on."""
        assert self._drafted is not None
        found, fault, start = self._drafted
        self._drafted = None
        self._drafts = []
        self.problems = [it for it in self.problems if it[1] < start]
        self.problem(fault, start)
        if found.text_mark is not None:
            self.text_marks[found.text_mark] = None
        behind = start + found.end - found.start
        text = self._slice(behind, end)
        self._drop = found.drop
        self._enter(found.state, start, behind)
        total, self.total = self.total, behind
        for piece in _PIECES.findall(text):
            self._read_on(piece)
        self._read_held()
        self.total = total

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
        if "{names}" in shape.steps and not self._name_pattern:
            return False
        steps = [it.replace("{names}", f"(?:{self._name_pattern})") for it in shape.steps]
        if re.match("".join(steps), text):
            return True
        # The text may end within the shape: then it begins one of the steps.
        at = 0
        for step, expression in zip(shape.steps, steps, strict=True):
            match, is_name = re.compile(expression).match(text, at), step == "{names}"
            if match is None or is_name:  # a name may begin another
                spelled = self._tools or () if is_name else (step.replace("\\", ""),)
                if any(it.startswith(text[at:]) for it in spelled):
                    return None
            if match is None:
                return False
            at = match.end()
        return None

    # States

    def _enter(
        self, name: str, left: int, place: int, captures: Mapping[str, str] | None = None
    ) -> None:
        """Goes to a state.

        Args:
            name: The state; `"?"` for the one that the head chooses.
            left: Where the previous state ends.
            place: Where this one begins.
            captures: What an expression of a description captured.
        """
        if self._fields is not None:
            field = self._compiled.states[name].spec.field
            is_opened = name not in ("start", "closed")
            self._fields.end({} if is_opened else captures or {}, left)
            self._fields.begin(field, captures or {} if is_opened else {}, place, is_open=is_opened)
            self._begin(name, place)
            return
        head = list[str]()
        if part := self._compiled.states[name].spec.part if name != "?" else "":
            # The mark in front of a head may belong to that.
            mark = self._slice(left, place)
            head = [mark] if self._compiled.spelled(mark) == part else []
            if head and name == self.state.name:
                self._word += head
                return
        name = self._leave(name, left)
        takes = self._compiled.states[name].spec.takes
        if self._calls.open is not None and (takes not in _OF_CALLS or takes == "name"):
            self.end(left)
        self._begin(name, place)
        self._word += head

    def _begin(self, name: str, place: int) -> None:
        self.state = cast(MarkedState, self._compiled.states[name])  # or that of a field
        spec = self.state.spec
        self._fresh = spec.trimmed or bool(spec.shapes)
        self._word: list[str] = []
        self._broken = self._odd = False
        self._began = self._claimed = place
        self._reader = None
        if reader := call_readers.READERS.get(spec.takes):
            self._source = call_readers.GrowingText(self._compiled.quote)
            self._reader = reader(self._source, self)
        plain = self._say if spec.takes in _WORDS else self._take
        self._plain = plain if spec.takes != "field" else None
        """Takes text in which no mark can be."""

    def _leave(self, target: str, place: int) -> str:
        """Ends the state. Returns the one that follows."""
        takes = self.state.spec.takes
        if takes in _WORDS:
            self._close_words(place)
        elif takes == "value" and self._compiled.format.nests and target in ("key", "close"):
            if target == "key":
                self._calls.open_value(place)
        elif takes == "value":
            self._calls.end_value(place)
            if self._compiled.states[target].spec.takes not in _OF_CALLS:
                self.problem("the last argument is cut off", place)
        elif takes == "inside" and target == END and self._calls.open is not None:
            self.problem("the call has no end", place)
        elif self._reader is not None and self._source.before >= 0:
            self._cut(place)
        elif takes == "head":
            return self._routed(self._compiled.spelled("".join(self._word)), target, place)
        elif takes in _NAMED:
            self._end_name(takes, target, place)
        return target

    def _end_name(self, takes: str, target: str, place: int) -> None:
        """Ends a text that is a single name."""
        word = "".join(self._word)
        self._note_marks(word, self._began, takes)
        word = self._compiled.spelled(word)
        if takes == "name" and (word.strip() or target != END):
            self._named(word)
            if target == END:
                self.problem("the call is cut off", place)
        elif takes == "id":
            self.identify(word.strip())
        elif takes == "key":
            self._keyed(word)
        elif takes == "close":
            self._calls.close(word.strip(), place)

    def _routed(self, word: str, target: str, place: int) -> str:
        """The state that the text of a head leads to."""
        spec = self.state.spec
        for pattern, state in (*spec.routes, *spec.odd) if target == "?" else ():
            if match := re.fullmatch(pattern, word, re.DOTALL):
                if (pattern, state) in spec.odd:
                    self.problem(f"{word!r:.60} is no header of this format", place)
                elif spec.part not in word and word.strip():
                    self.problem(f"the mark {spec.part!r} is missing", self._began)
                groups = match.groupdict()
                id, name = groups.get("id"), groups.get("name")
                if id is not None and name is None and id in (self._tools or ()):
                    continue  # it is no id, but the name of a tool
                if id is not None:
                    self.identify(id)
                if name:
                    self.begin(name, self._began)
                return state
        if target == "?" or word.strip():
            self.problem(f"{word!r:.60} is no header of this format", place)
        if word.strip():
            self._unexpected(word, self._began)
        return "start" if target == "?" else target

    def _cut(self, place: int) -> None:
        """Notes that a mark ended the text of a reader too early."""
        seen = self._slice(self._claimed, place)
        if self._calls.open is not None:
            self.problem("the call is cut off", place)
            self._broken = True
        elif seen.strip(" \t\r\n,;[]{}"):
            self.problem("the call is cut off before its name", place)
            self._unexpected(seen, self._claimed)

    def _slice(self, start: int, end: int) -> str:
        starts, texts = self._starts, self.texts
        starts += accumulate(map(len, texts[len(starts) - 1 :]), initial=starts.pop())
        first = bisect_right(starts, start) - 1
        text = "".join(texts[first : bisect_left(starts, end)])
        return text[start - starts[first] : end - starts[first]]

    # Text

    def _take(self, text: str, place: int) -> None:
        """Takes text of the state."""
        takes = self.state.spec.takes
        if takes == "field":
            self._fields.take(self._compiled.spelled(text), place)  # type: ignore[union-attr]
        elif takes in _WORDS:
            if self._fresh:
                text_left = text.lstrip() if self.state.spec.trimmed else text
                place, text = place + len(text) - len(text_left), text_left
                self._fresh = not text
            if text:
                self._say(text, place)
        elif self._broken and self._calls.open is not None:
            self.arguments(text)
        elif self._broken:
            self._unexpected(text, place)
        elif takes == "value":
            self._calls.more_value(text)
        elif takes in ("name", "id", "key", "close", "head"):
            self._word.append(text)
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
        if self._drafted is not None:
            self._drafts.append((text, place))
            return
        self._from = place if self._from is None else self._from
        if not text.isascii():
            for match in _SYMBOL.finditer(text):
                token = self._compiled.spelled(match[0])
                what = f"the control token {token!r} is left in the {self.state.spec.takes}"
                self.problem(what, place + match.start())
            text = self._compiled.spelled(text)
        takes: Any = self.state.spec.takes
        (self.content if takes == "content" else self.reasoning).append(text)
        self.events.append(Event(takes, text))

    def _close_words(self, place: int) -> None:
        """Ends the current stretch of words."""
        if self._drafted is not None:
            self._drafted, drafts, self._drafts = None, self._drafts, []
            for text, at in drafts:
                self._say(text, at)
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
        if self._calls.open is None:
            self._stretch("content", place, place + len(text))
        start = (
            self._displaced.pop()[0]
            if self._displaced[-1:] and self._displaced[-1][1] == place
            else place
        )
        self._displaced.append((start, place + len(text)))
        text = self._compiled.spelled(text)
        self.content.append(text)
        self.events.append(Event("content", text))

    def _note_displaced_marks(self) -> None:
        """Notes each mark in text that has no place in the format."""
        for start, end in self._displaced:
            self._note_marks(self._slice(start, end), start, "content")

    def _note_marks(self, text: str, start: int, where: str) -> None:
        """Notes each mark in a text."""
        if text.isidentifier():
            return  # as most names are
        for match in self._compiled.any_mark.finditer(text):
            shown = self._compiled.spelled(match[0])
            kind = "mark" if shown == match[0] else "control token"
            self.problem(f"the {kind} {shown!r} is left in the {where}", start + match.start())

    def _note_swallowed_end(self) -> None:
        """Notes that the mark that ends the calls is in one that has no end, as where the quote
        behind a text is missing."""
        text = self._slice(self._claimed, self.total)
        if self._calls.open is None and text.strip():
            self._stretch("call", self.total - len(text.lstrip()), self.total)
        for match in self.state.last_expression.finditer(text):
            mark = self.state.mark_of(match)
            if not mark.fault:
                what = f"the mark {mark.shown!r} is left in a call that has no end"
                self.problem(what, self._claimed + match.start())
                break

    # Readers

    def _by_reader(self, text: str, place: int) -> int:
        """Runs the reader on a text. Returns how much it read."""
        source = self._source
        source.text, source.at, source.before = text, 0, place
        try:
            next(self._reader)  # type: ignore[arg-type]
        except StopIteration:
            self._reader = None
        except (call_readers.Broken, RecursionError) as error:
            self._reader, self._broken = None, True
            self.problem(str(error), source.place)
            if self._calls.open is None:
                self._unexpected(self._slice(self._claimed, source.place), self._claimed)
        return source.at

    def _by_reader_or_mark(
        self, buffer: str, at: int, base: int, *, last: bool
    ) -> tuple[int, bool]:
        """Runs the reader up to the next control token that ends its state. Returns how far it
        came, and whether what follows may become a mark."""
        state, limit = self.state, len(buffer)
        has_symbols = self._compiled.symbols and not buffer.isascii()
        match = state.mark(buffer, at) if has_symbols else None
        while match is not None:
            if not state.mark_of(match).is_text:
                limit = match.start()
                break
            match = state.mark(buffer, max(match.end(), match.start() + 1))
        is_held = False
        if match is None and has_symbols and not last:
            tail = state.tail(buffer, at)
            if is_held := bool(_SYMBOL.match(buffer, tail)):
                limit = tail
        if limit > at:
            at += self._by_reader(buffer[at:limit], base + at)
        if match is not None and self._reader is not None:
            # The mark ends the state, whatever the reader has.
            mark = state.mark_of(match)
            if mark.fault:
                self.problem(mark.fault, base + limit)
            self._drop = mark.after
            self._enter(mark.state, base + limit, base + match.end())
            return match.end(), False
        return at, is_held and at == limit

    # Calls

    def nameless(self, start: int, end: int) -> None:
        """An object that is no call."""
        self.problem(NAMELESS, start)
        self._unexpected(self._slice(start, end), start)
        self._claimed = end

    def end(self, place: int) -> None:
        """The call is over."""
        assert self._calls.open is not None
        is_text = self._broken and self.state.spec.takes in ("python", "braces")
        written = self._slice(self._calls.open.start, place) if is_text else None
        self._note_call(place)
        self._calls.end(place, written, is_broken=self._broken)

    def _note_call(self, place: int) -> None:
        """Notes where the open call is."""
        assert self._calls.open is not None
        self.stretches.append((self._calls.open.start, place, "call", len(self.calls)))
        self._claimed = place

    def _named(self, word: str) -> None:
        pattern = self.state.spec.pattern
        match = re.fullmatch(pattern, word, re.DOTALL) if pattern else None
        if match and match["id"]:
            self.identify(match["id"].strip())
        self.begin(self._unescaped(match["name"] if match else word.strip()), self._began)

    def _keyed(self, word: str) -> None:
        pattern = self.state.spec.pattern
        match = re.fullmatch(pattern, word, re.DOTALL) if pattern else None
        string = match["string"] if match else None
        self._calls.key(
            self._unescaped(match["key"] if match else word.strip()),
            self._began,
            None if string is None else string in ("true", "string"),
        )

    def _unescaped(self, word: str) -> str:
        if not self.state.spec.escaped:
            return word
        return word.replace("&quot;", '"').replace("&amp;", "&")
