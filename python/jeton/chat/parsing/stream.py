"""`ParseStream`: parses an answer while a model writes it. `tok.parse` pushes all of it at once."""

from __future__ import annotations

import functools
import re
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Final, SupportsIndex

from jeton.arguments import checked_id
from jeton.chat.parsing.answer_formats import END
from jeton.chat.parsing.calls import arguments_of
from jeton.chat.parsing.parsed import Event, Finish, Parsed, ParsedCall, Part, Problem
from jeton.chat.parsing.places import NOWHERE, Place, Places, Step
from jeton.components import decoders
from jeton.errors import ArgumentError, ArgumentTypeError, UnknownTokenError

if TYPE_CHECKING:
    from jeton.chat.parsing.calls import Tools
    from jeton.chat.parsing.described import DescribedTurn
    from jeton.chat.parsing.turns import Turn
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
        """Whether the answer has ended, and the machine has read all of it."""
        self._split: tuple[int, ...] | None = ()
        """The ids of a character that the decoder holds back; `None` if that is not known."""
        self._whole: int | None = None
        """An id after which it holds back nothing."""
        self._unknown: list[Problem] = []
        """Ids that belong to no token."""
        self._decode_anew()
        if before is not None:
            text = self._push_id(before)
            self._split = self._split_by(before, text) if self._joins_bytes else ()
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
        self._call_at = 0
        """Where in them the last call begins."""

    @property
    def ends(self) -> frozenset[int]:
        """The ids that end an answer wherever they are: a model may be stopped at each."""
        return frozenset(id for id, targets in self._targets() if targets and all(targets))

    @property
    def closing(self) -> frozenset[int]:
        """The ids that may end an answer: some of them end only a part of it elsewhere, as
        `<|end|>` of gpt-oss ends reasoning."""
        return frozenset(id for id, targets in self._targets() if any(targets))

    @property
    def closing_texts(self) -> frozenset[str]:
        """The marks of plain text that may end an answer, of a tokenizer that has no token for
        them."""
        states = self._compiled.states.values()
        return frozenset(
            mark.core
            for state in states
            for mark in state.marks
            if mark.core and mark.is_text and mark.state in self._done
        )

    @property
    def _done(self) -> set[str]:
        """The states in which an answer is complete."""
        states = self._compiled.states.values()
        return {it.name for it in states if it.spec.done or it.name == END}

    def _targets(self) -> Iterable[tuple[int, list[bool]]]:
        """Each control token that is a mark, and whether it ends an answer, by state."""
        states = self._compiled.states.values()
        done = self._done
        for id, symbol in self._symbols.items():
            yield (
                id,
                [mark.state in done for it in states for mark in it.marks if mark.core == symbol],
            )

    @property
    def marks(self) -> list[str]:
        """The marks of the format that are plain text and count among words: whether a model uses
        such a mark or only quotes it cannot be known."""
        words = ("content", "reasoning", "head")
        return [
            mark.text.strip() or mark.text
            for state in self._compiled.states.values()
            for mark in state.marks
            if state.spec.takes in words and mark.is_text
        ] + [
            "".join(shape.steps)
            for state in self._compiled.states.values()
            if state.spec.takes in words
            for shape in state.spec.shapes
        ]

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
                return [said]
            step = place.get(ids)
            if step is None:
                return self._read(ids)
            self._log.append(step)
            self._place = step[2]
            return [*step[0]]
        if isinstance(ids, str):
            return self._read_text(ids)
        return [said for id in self._listed(ids) for said in self.push(id)]

    def _read(self, id: int) -> list[Event]:
        """Reads an id to which `push` has no step, and learns it."""
        if not self._joins_bytes:
            return self._read_piece(self._text_of(id))
        if (step := self._place.of_calls.get(id)) is not None:
            return self._step(step)
        before = self._known_place()
        if before.split != self._split and before is not NOWHERE:
            self._decode_behind(before.split)  # it has not got the ids of steps
        text = self._text_of(id)
        self._split = self._split_by(id, text)
        if self._split is None or not before.continues(text):
            return self._feed(text, before, id)
        return self._continue(text, before, id)

    def _read_piece(self, text: str) -> list[Event]:
        """Reads text by what is learnt by text."""
        before = self._known_place()
        said = before.known.get(text)
        if said is not None:
            self._log.append(said)
            return [said]
        key = text if 0 < len(text) <= _LONGEST_PIECE else None
        if key and (step := before.get(text) or before.of_calls.get(text)):
            return self._step(step)
        if key is None or not before.continues(text):
            return self._feed(text, before, key)
        return self._continue(text, before, key)

    def _step(self, step: Step) -> list[Event]:
        """Takes a step. Returns its events, and in them the call that ends."""
        self._log.append(step)
        self._place = step.place
        events = [*step.events]
        for at, said in enumerate(events):
            if said.kind == "call":
                self._call_at = len(self._log) - 1
            elif said.kind == "call_end" and said.done is None:
                events[at] = said._replace(done=self._call(said.call))
        return events

    def _call(self, number: int) -> ParsedCall:
        """The call with a number, by its events."""
        name, pieces = "", []
        for it in self._log[self._call_at :]:
            for kind, text, call, _ in it.events if isinstance(it, Step) else (it,):
                if call == number and kind == "arguments":
                    pieces.append(text)
                elif call == number and kind == "call":
                    name = text
        return ParsedCall(name, arguments_of("".join(pieces))[0])

    def _continue(self, text: str, before: Place, key: int | str) -> list[Event]:
        """Takes text that only continues, and learns that it does."""
        said = before.event(text)
        if said is not None and not self._split and not before.split:
            self._places.count()
            before.known[key] = said
            self._log.append(said)
            self._place = before
            return [said]
        split = self._split or ()
        after = self._places.at(before.where, split, lambda: before.continuation)
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
        step = Step(tuple(machine.events), text, self._place_of_machine())
        machine.events = []
        if key is not None and not machine.used_history:
            self._places.learn(before, key, step)
        return self._step(step)

    def _catch_up(self) -> None:
        self._machine.catch_up([it[1] for it in self._log[self._caught_up :]])
        self._caught_up = len(self._log)

    def _known_place(self) -> Place:
        """The place, which may have been forgotten since."""
        place = self._place
        if place.is_forgotten:
            return self._places.at(place.where, place.split, lambda: place.continuation)
        return place

    def _place_of_machine(self) -> Place:
        if self._split is None:
            return NOWHERE
        machine = self._machine
        return self._places.at(machine.where(), self._split, machine.continuation)

    def _decode_anew(self) -> None:
        self._decoding = self._tok.decode_stream(unknown_ids="show")
        self._push_id: Callable[[int], str] = self._decoding.push

    def _decode_behind(self, split: tuple[int, ...]) -> None:
        """Has the decoder hold back these ids, and nothing else."""
        if self._whole is None:
            self._decode_anew()
        else:
            self._push_id(self._whole)
        for id in split:
            self._push_id(id)
        self._split = split

    def _split_by(self, id: int, text: str) -> tuple[int, ...] | None:
        """What the decoder holds back after an id for which it has returned a text."""
        if id in self._symbols:
            return ()
        try:
            bytes = self._tok.token_bytes(id)
        except UnknownTokenError:
            return None
        said = text.encode()
        if said == bytes:
            self._whole = id
            return ()
        if self._split is None:
            return None
        if not text:
            return (*self._split, id)
        return () if said == b"".join(map(self._tok.token_bytes, (*self._split, id))) else None

    def _refuse(self, ids: Any) -> str:
        if self._finished:
            raise ArgumentError("the stream is finished: parse_stream() makes another one")
        raise ArgumentError("the stream has taken text: it takes no ids")

    def _listed(self, ids: Any) -> Iterable[int]:
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
            self._take_no_ids()
            self._read_text_only()
        elif self._finished:
            self._refuse(text)
        return self._read_piece(text.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))

    def _take_no_ids(self) -> None:
        self._takes_ids, self._push_id, self._place = False, self._refuse, NOWHERE

    def _read_text_only(self) -> None:
        """Begins again for text without ids, in which all marks are found by their spelling."""
        prefix = self._compiled.spelled("".join(self._machine.texts))
        self._compiled = self._turn.compiled_for_text
        self._begin(prefix)
        # Any text may be pushed: what is learnt of it ends with the stream.
        self._places, self._split = Places(), ()
        self._place = self._place_of_machine()

    def _text_of(self, id: int) -> str:
        """The text that is certain with an id: of a control token its symbol, behind the text that
        was held back."""
        text = self._push_id(id)
        symbol = self._symbols.get(id)
        if symbol is None:
            self._note_unknown(text)
            return text
        if (said := self._without(text, id, symbol)) is None:
            # Some decoders give all text at the end: this one ends here, and another begins.
            said = self._without(text + self._decoding.finish(), id, symbol)
            assert said is not None
            self._decode_anew()
            if self._without(self._push_id(id), id, symbol) is None:
                self._decode_anew()  # what it holds back would come again
        self._note_unknown(said)
        return said + symbol

    def _note_unknown(self, text: str) -> None:
        """Notes the ids in a text that belong to no token."""
        for match in _UNKNOWN.finditer(text) if "[unknown id" in text else ():
            try:
                self._tok.token_bytes(int(match[1]))
            except UnknownTokenError as error:
                self._unknown.append(Problem(str(error), len(self._log) - 1))

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
        text = ""
        if self._takes_ids:
            if before is not NOWHERE and before.split != self._split:
                self._decode_behind(before.split)
            text = self._decoding.finish()
            self._note_unknown(text)
        step = before.get("") or before.of_calls.get("")
        if step is None or text:
            self._catch_up()
            if text:
                machine.feed(text)
            machine.used_history = False
            machine.finish()
            self._is_read = True
            step = Step(tuple(machine.events), "", before)
            if not text and not machine.used_history:
                self._places.learn(before, "", step)
        events = self._step(step)
        self._take_no_ids()
        self._finished = True
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
        problems = sorted(problems + self._unknown, key=lambda it: it.at)
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
        """The id that holds a character."""
        return min(bisect_right(self._ends, place), len(self._ends))

    def _id_behind(self, place: int) -> int:
        return min(bisect_left(self._ends, place) + 1, len(self._ends))
