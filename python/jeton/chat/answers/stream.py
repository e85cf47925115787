"""`ParseStream`: parses an answer while a model writes it. `tok.parse` pushes all of it at once."""

from __future__ import annotations

import functools
import json
import re
from bisect import bisect_left, bisect_right
from codecs import utf_8_decode
from collections.abc import Iterable
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Final, NoReturn, SupportsIndex

from jeton.arguments import checked_id
from jeton.chat.answers.arguments import typed
from jeton.chat.answers.calls import arguments_of
from jeton.chat.answers.parsed import Event, Finish, Parsed, ParsedCall, Part, Problem, event
from jeton.chat.answers.places import NOWHERE, Kept, Place, Places, Step
from jeton.components import decoders
from jeton.errors import ArgumentError, ArgumentTypeError, UnknownTokenError

if TYPE_CHECKING:
    from jeton.chat.answers.calls import Tools
    from jeton.chat.answers.described import DescribedTurn
    from jeton.chat.answers.turns import Turn
    from jeton.encoding.base_tokenizer import BaseTokenizer

__all__ = ["ParseStream"]


_LONGEST_PIECE: Final = 32
"""Longer text is not learnt."""
_UNKNOWN: Final = re.compile(r"\[unknown id (\d+)\]")
"""How the decoder shows an id that belongs to no token."""


class ParseStream:
    """Parses an answer while a model writes it. `tok.parse_stream()` makes one.

    Example:
        >>> import jeton
        >>> tok = jeton.CharTrainer(special_tokens=["<|im_start|>", "<|im_end|>"]).train(
        ...     "<|user>\\nsystem im_end assistant hey"
        ... )
        >>> prompt = tok.chat(
        ...     [{"role": "user", "content": "hey"}], template="chatml", add_generation_prompt=True
        ... )
        >>> stream = tok.parse_stream(prompt=prompt)
        >>> [event.text for event in stream.push(tok.encode("yes"))]
        ['y', 'e', 's']
        >>> stream.push(tok.special_tokens["<|im_end|>"]), stream.finish()
        ([], [])
        >>> stream.parsed.message, stream.parsed.finish
        ({'role': 'assistant', 'content': 'yes'}, 'complete')
    """

    def __init__(
        self,
        tok: BaseTokenizer,
        turn: Turn | DescribedTurn,
        tools: Tools | None,
        prefix: str,
        space: str,
        before: int | None,
    ) -> None:
        """A stream of an answer.

        Args:
            tok: The tokenizer.
            turn: How its model writes answers.
            tools: The types of the parameters of each tool.
            prefix: The beginning of the answer that is in the prompt, in symbols.
            space: White space in front of the answer that does not belong to it.
            before: The last id of the prompt.
        """
        self._turn = turn
        self._compiled = turn.compiled
        self._tools = tools
        self._space = space
        self._begin(prefix)
        self._tok = tok
        self._symbols = turn.compiled.symbols
        self._joins_bytes = isinstance(tok.decoder, decoders.ByteLevel)
        """Whether a token has the same bytes everywhere. If not, steps are learnt by text."""
        self._takes_ids = True
        self._finished = self._is_read = False
        """Whether the answer has ended, and whether the machine has read it to its end."""
        self._split = b""
        """The bytes of a character that is not whole yet."""
        self._decode_anew()
        if before is not None:
            (self._joined_text if self._joins_bytes else self._decoding.push)(before)
        self._places = turn.compiled.places
        self._place = self._place_of_machine()

    def _begin(self, prefix: str) -> None:
        self._machine = self._turn.machine(self._compiled, self._tools)
        if prefix:
            self._machine.feed(prefix)
        if self._machine.is_over:
            # The prompt ends with a whole answer, which is no part of this one.
            self._machine = self._turn.machine(self._compiled, self._tools)
        if not self._machine.texts:
            self._machine.skip(self._space)
        self._first = len(self._machine.texts)
        self._start = self._machine.total
        self._log: list[Event | Step] = [Step(tuple(self._machine.events), prefix, NOWHERE)]
        """The step of the prefix, and of each id; its event where that is all that it has."""
        self._machine.events = []
        self._caught_up = 1
        """How many of these the machine has read."""
        self._call_at, self._calls = 0, len(self._machine.calls)
        """Where in them the last call begins, and how many have ended."""

    @property
    def ends(self) -> frozenset[int]:
        """The ids that end an answer wherever they are: a model may be stopped at each."""
        endings = self._compiled.endings
        return frozenset(id for id, it in self._symbols.items() if all(endings.get(it, [False])))

    @property
    def closing(self) -> frozenset[int]:
        """The ids that may end an answer: some of them end only a part of it elsewhere, as
        `<|end|>` of gpt-oss ends reasoning."""
        endings = self._compiled.endings
        return frozenset(id for id, it in self._symbols.items() if any(endings.get(it, [])))

    @property
    def closing_texts(self) -> frozenset[str]:
        """The marks of plain text that may end an answer, of a tokenizer that has no token for
        them."""
        spelled = self._compiled.spelled
        endings = self._compiled.endings.items()
        return frozenset(it for it, ends in endings if it and any(ends) and spelled(it) == it)

    @property
    def has_ends(self) -> bool:
        """Whether the template ends turns. If not, an answer ends with the token that begins the
        next turn, as `<|user|>` of GLM."""
        return self._turn.has_ends

    @property
    def marks(self) -> list[str]:
        """The marks of the format that are plain text and count among words: whether a model uses
        such a mark or only quotes it cannot be known."""
        words, states = ("content", "reasoning", "head"), self._compiled.states.values()
        found = [state for state in states if state.spec.takes in words]
        marks = [
            mark.text.strip() or mark.text for it in found for mark in it.marks if mark.is_text
        ]
        return marks + ["".join(shape.steps) for it in found for shape in it.spec.shapes]

    def push(self, ids: SupportsIndex | Iterable[int] | str) -> list[Event]:
        """Takes the next ids, or the next text.

        Args:
            ids: One id or several, or text. A stream takes either ids or text.

        Returns:
            What has become certain, in order.

        Raises:
            ArgumentError: The stream is finished, or got text before ids or ids before text.
        """
        if type(ids) is int:
            place = self._place
            said = place.known.get(ids)
            if said is not None:
                self._log.append(said)
                return (
                    [event(said[0], said[1], self._calls)]
                    if self._calls and not said[2]
                    else [said]
                )
            step = place.get(ids)
            if step is None:
                return self._read(ids)
            self._log.append(step)
            self._place = step.place
            if not step.events:
                return []
            return self._numbered(step.events) if self._calls else [*step.events]
        if isinstance(ids, str):
            return self._read_text(ids)
        return [said for id in self._listed(ids) for said in self.push(id)]

    def _read(self, id: int) -> list[Event]:
        """Reads an id to which `push` has no step, and learns it."""
        if not self._takes_ids:
            self._refuse()
        if not self._joins_bytes:
            return self._read_piece(self._text_of(id))
        before = self._known_place()
        if step := self._step_of_call(before, id):
            return self._step(step)
        if before is not NOWHERE:
            self._split = before.split
        text = self._joined_text(id)
        return (self._continue if before.continues(text) else self._feed)(text, before, id)

    def _read_piece(self, text: str) -> list[Event]:
        """Reads text by what is learnt by text."""
        before = self._known_place()
        if not 0 < len(text) <= _LONGEST_PIECE:
            return self._feed(text, before, None)
        if said := before.known.get(text):
            return self._step(Step((said,), text, before))
        if step := before.get(text) or self._step_of_call(before, text):
            return self._step(step)
        return (self._continue if before.continues(text) else self._feed)(text, before, text)

    def _step(self, step: Step, read: list[Event] | None = None) -> list[Event]:
        """Takes a step. Returns its events, `read` if the machine has just read them."""
        self._log.append(step)
        self._place = step.place
        events = self._numbered(step.events) if read is None else read
        for at, said in enumerate(events):
            if said.kind == "call":
                self._call_at = len(self._log) - 1
            elif said.kind == "call_end":
                self._calls += 1
                if said.done is None:
                    last = Step(step.events[:at], step.text, step.place)
                    events[at] = said._replace(done=self._ended_call(last))
        return events

    def _numbered(self, events: Iterable[Event]) -> list[Event]:
        """Events of a step, with the numbers that their calls have here."""
        number = self._calls
        return [event(it[0], it[1], it[2] if it[2] < 0 else it[2] + number) for it in events]

    def _ended_call(self, last: Step) -> ParsedCall:
        """The last call, by its events. `last`: the last step, with its events up to that end."""
        name, pieces = "", list[str]()
        for it in (*self._log[self._call_at : -1], last):
            if not isinstance(it, Step):
                pieces.append(it.text)
            else:
                for kind, text, _, _ in it.events:
                    if kind == "call":
                        name, pieces = text, []
                    elif kind == "arguments":
                        pieces.append(text)
        return ParsedCall(name, arguments_of("".join(pieces))[0])

    def _continue(self, text: str, before: Place, key: int | str) -> list[Event]:
        """Takes text that only continues, and learns that it does."""
        kind = before.continuation.kind
        said = event(kind, text, 0 if kind == "arguments" else -1) if kind and text else None
        if said is not None and not self._split and not before.split:
            self._places.count()
            before.known[key] = said
            self._log.append(said)
            self._place = before
            return self._numbered((said,))
        after = before
        if self._split != before.split:
            after = self._places.at(before.where, self._split, lambda: before.continuation)
        step = Step(() if said is None else (said,), text, after)
        self._places.learn(before, key, step)
        return self._step(step)

    def _feed(self, text: str, before: Place, key: int | str | None) -> list[Event]:
        """Has the machine read text, and adds the step if the place before decides it."""
        machine = self._machine
        self._catch_up()
        machine.used_history = False
        machine.feed(text)
        self._caught_up += 1
        events, machine.events = machine.events, []
        step = Step(self._unnumbered(events), text, self._place_of_machine())
        if key is not None:
            self._places.learn(before, key, step, used_history=machine.used_history)
        return self._step(step, events)

    def _unnumbered(self, events: Iterable[Event]) -> tuple[Event, ...]:
        """Events of the machine, as a step has them."""
        return tuple(event(it[0], it[1], max(it[2] - self._calls, -1)) for it in events)

    def _step_of_call(self, before: Place, key: int | str) -> Step | None:
        """A step that begins or ends a call; or one that ends a value, with the event of the value,
        if that began with a token and no mark of plain text may end it."""
        step, kept = before.of_calls.get(key), before.where.within
        if step is None or not isinstance(kept, Kept):
            return step
        if before.where.held:
            return None
        steps = [step]
        for it in reversed(self._log):
            if not isinstance(it, Step) or it.place is NOWHERE:
                return None
            if (it.place.where.state, it.place.where.within) != (before.where.state, kept):
                break
            steps.append(it)
        first = steps.pop()
        if not {first.text, step.text} <= self._compiled.spellings.keys() or first.place.where.drop:
            return None
        text = self._compiled.spelled("".join(it.text for it in steps[:0:-1]))
        said = kept.before + json.dumps(typed(text, kept.types)[0], ensure_ascii=False)
        return Step((event("arguments", said, 0),), step.text, step.place)

    def _catch_up(self) -> None:
        self._machine.catch_up([it.text for it in self._log[self._caught_up :]])
        self._caught_up = len(self._log)

    def _known_place(self) -> Place:
        """The place, which may have been forgotten since."""
        place = self._place
        if place.is_forgotten:
            return self._places.at(place.where, place.split, lambda: place.continuation)
        return place

    def _place_of_machine(self) -> Place:
        machine = self._machine
        return self._places.at(machine.where(), self._split, machine.continuation)

    def _decode_anew(self) -> None:
        self._decoding = self._tok.decode_stream(unknown_ids="show")

    def _refuse(self) -> NoReturn:
        if self._finished:
            raise ArgumentError("the stream is finished: parse_stream() makes another one")
        raise ArgumentError("the stream has taken text: it takes no ids")

    def _listed(self, ids: object) -> Iterable[int]:
        """The ids, once all of them are known to be ids."""
        # An array of no dimensions has `__iter__`, which fails.
        is_one = hasattr(ids, "__index__") and not isinstance(ids, Iterable)
        if is_one or getattr(ids, "shape", None) == ():
            return (checked_id("ids", ids),)
        if isinstance(ids, (bytes, dict)) or not isinstance(ids, Iterable):
            raise ArgumentTypeError(
                f"ids must be an int, an iterable of them or a str, not {type(ids).__name__}"
            )
        return [checked_id("ids", id) for id in ids]

    def _read_text(self, text: str) -> list[Event]:
        if self._takes_ids:
            if len(self._log) > 1:
                raise ArgumentError("the stream has taken ids: it takes no text")
            # It begins again for text without ids, in which all marks are found by their spelling.
            prefix = self._compiled.spelled("".join(self._machine.texts))
            self._takes_ids, self._compiled = False, self._turn.compiled_for_text
            self._begin(prefix)
            # Any text may be pushed: what is learnt of it ends with the stream.
            self._places, self._split = Places(), b""
            self._place = self._place_of_machine()
        elif self._finished:
            self._refuse()
        return self._read_piece(text.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))

    def _joined_text(self, id: int) -> str:
        """The text that is certain with an id, where a token has the same bytes everywhere."""
        text = self._symbols.get(id)
        if text is None:
            try:
                bytes = self._split + self._tok.token_bytes(id)
            except UnknownTokenError:
                text = self._tok.decode_stream(unknown_ids="show").push(id)
            else:
                text, end = utf_8_decode(bytes, "replace", False)
                if bytes[end : end + 1] == b"\xed" and bytes[end + 1 :] >= b"\xa0":
                    # No character begins like this, but Python waits for its third byte.
                    text, end = text + "\ufffd" * (len(bytes) - end), len(bytes)
                self._split = bytes[end:]
                return text
        split, self._split = self._split, b""
        return split.decode("utf-8", "replace") + text

    def _text_of(self, id: int) -> str:
        """The text that is certain with an id: of a control token its symbol, behind the text that
        was held back."""
        text = self._decoding.push(id)
        symbol = self._symbols.get(id)
        if symbol is None:
            return text
        if (said := self._without(text, id, symbol)) is None:
            # Some decoders give all text at the end: this one ends here, and another begins.
            said = self._without(text + self._decoding.finish(), id, symbol)
            assert said is not None
            self._decode_anew()
            if self._without(self._decoding.push(id), id, symbol) is None:
                self._decode_anew()  # what it holds back would come again
        return said + symbol

    def _without(self, text: str, id: int, symbol: str) -> str | None:
        """A text without the control token at its end; `None` if it is not there.

        Some decoders write it in another way than it is spelled: a space for its `▁`, nothing for
        that at the beginning.
        """
        spelling = self._compiled.spellings[symbol]
        if text.endswith(spelling):
            return text.removesuffix(spelling)
        alone, twice = self._tok.decode([id]), self._tok.decode([id, id])
        for written in (twice.removeprefix(alone), alone):
            if text.endswith(written):
                return text.removesuffix(written)
        return None

    def finish(self) -> list[Event]:
        """Ends the answer. Returns the last events; `parsed` is there from now on.

        Raises:
            ArgumentError: The stream is finished.
        """
        if self._finished:
            raise ArgumentError("the stream is finished already")
        machine, before = self._machine, self._known_place()
        self._ids = len(self._log) - 1
        split = self._split if before is NOWHERE else before.split
        text = split.decode("utf-8", "replace")
        if self._takes_ids:
            text += self._decoding.finish()
        read, step = None, before.get("") or before.of_calls.get("")
        if step is None or text:
            self._catch_up()
            if text:
                machine.feed(text)
            machine.used_history = False
            machine.finish()
            self._is_read, read = True, machine.events
            step = Step(self._unnumbered(read), text, before)
            if not text:
                self._places.learn(before, "", step, used_history=machine.used_history)
        events = self._step(step, read)
        self._takes_ids, self._place, self._finished = False, NOWHERE, True
        return events

    @functools.cached_property
    def parsed(self) -> Parsed:
        """The answer, once the stream is finished.

        Raises:
            ArgumentError: It is not finished.
        """
        if not self._finished:
            raise ArgumentError("finish() the stream first")
        machine = self._machine
        if not self._is_read:
            self._catch_up()
            machine.finish()
        problems = [Problem(what, self._id_at(at)) for what, at in machine.problems]
        problems = sorted([*problems, *self._unknown_ids()], key=lambda it: it.at)
        finish: Finish = "complete" if machine.is_complete else "length"
        return Parsed(
            self._turn.message_of(machine),
            tuple(machine.calls),
            machine.unfinished,
            "malformed" if problems else finish,
            tuple(problems),
            tuple(self._parts()),
            tuple(machine.text_marks),
            self._compiled.format.name,
        )

    def _unknown_ids(self) -> Iterable[Problem]:
        """The ids that belong to no token."""
        steps = [] if self._compiled is self._turn.compiled_for_text else self._log[1:]
        for at, it in enumerate(steps):
            for match in _UNKNOWN.finditer(it.text) if "[unknown id" in it.text else ():
                try:
                    self._tok.token_bytes(int(match[1]))
                except UnknownTokenError as error:
                    yield Problem(str(error), at)

    def _parts(self) -> Iterable[Part]:
        text = "".join(self._machine.texts)
        at = self._start
        stretches = sorted(self._machine.stretches)
        for start, end, kind, call in [*stretches, (len(text), len(text), "", -1)]:
            start, end = max(start, at), max(end, at)
            if start > at:
                yield self._part("mark", text, at, start)
            if end > start:
                yield self._part(kind, text, start, end, call)
            at = end

    def _part(self, kind: Any, text: str, start: int, end: int, call: int = -1) -> Part:
        span = self._id_at(start), self._id_behind(end)
        shown = self._compiled.spelled(text[start:end])
        return Part(kind, shown, span, None if call < 0 else call)

    @functools.cached_property
    def _ends(self) -> list[int]:
        """The number of characters up to the end of each id, or of each character of text."""
        texts = self._machine.texts[self._first :]
        if self._compiled is self._turn.compiled_for_text:
            return list(range(self._start + 1, self._machine.total + 1))
        ends = list(accumulate(map(len, texts), initial=self._start))[1 : self._ids + 1]
        return [*ends[:-1], self._machine.total] if ends else ends

    def _id_at(self, place: int) -> int:
        """The id that holds a character, or the first of several."""
        ends = self._ends
        at = bisect_right(ends, place)
        # The ids of a character have no text before its last: that comes with a whole character.
        while at and ends[at - 1] == (ends[at - 2] if at > 1 else self._start):
            at -= 1
        return at

    def _id_behind(self, place: int) -> int:
        return min(bisect_left(self._ends, place) + 1, len(self._ends))
