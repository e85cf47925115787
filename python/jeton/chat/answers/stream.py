"""`ParseStream`: parses an answer while a model writes it. `tok.parse` pushes all of it at once."""

from __future__ import annotations

import functools
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Final, NoReturn, SupportsIndex

from jeton.arguments import checked_id, checked_iterable
from jeton.chat.answers.call_readers import without_halves
from jeton.chat.answers.parsed import Event, Finish, Parsed, Part, Problem
from jeton.chat.answers.prompts import BegunAnswer
from jeton.errors import ArgumentError, UnknownTokenError

if TYPE_CHECKING:
    from jeton.chat.answers.calls import Tools
    from jeton.chat.answers.turns import Turn
    from jeton.encoding.base_tokenizer import BaseTokenizer

_IDS: Final = 1 << 32
"""Behind the largest id."""


class Stops:
    """Looks for stops in the text of an answer.

    Attributes:
        texts: The texts that stop it, also with symbols for control tokens.
        ids: The ids that stop it.
        held: The end of the text, if that may become a stop.
        found: The stop that came.
        found_id: The same, if it is an id.
    """

    def __init__(self, texts: Iterable[str], ids: Iterable[int]) -> None:
        self.texts, self.ids = [*texts], frozenset(ids)
        self._longest = max(map(len, self.texts), default=0)
        self.held = ""
        self.found: str | None = None
        self.found_id: int | None = None

    def before(self, text: str) -> tuple[str, str]:
        """The text that no stop is in, and the first stop that is whole."""
        text, self.held = self.held + text, ""
        found = ((text.find(it), it) for it in self.texts)
        whole = [(at + len(it), -len(it), it) for at, it in found if at >= 0]
        if whole:
            end, _, stop = min(whole)
            return text[: end - len(stop)], stop
        at = next(
            (
                at
                for at in range(max(len(text) - self._longest + 1, 0), len(text))
                if any(it.startswith(text[at:]) for it in self.texts)
            ),
            len(text),
        )
        self.held = text[at:]
        return text[:at], ""


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
        ({'role': 'assistant', 'content': 'yes'}, 'stop')
    """

    def __init__(
        self,
        tok: BaseTokenizer,
        turn: Turn,
        tools: Tools | None,
        begun: BegunAnswer,
        ids: Callable[[], Iterator[str]],
        stops: Stops,
    ) -> None:
        """A stream of an answer.

        Args:
            tok: The tokenizer.
            turn: How its model writes answers.
            tools: The types of the parameters of each tool.
            begun: The beginning of the answer that is in the prompt.
            ids: The ids of calls that have none.
            stops: What stops the answer.
        """
        self._tok = tok
        self._turn = turn
        self._compiled = turn.compiled
        self._symbols = turn.compiled.symbols
        self._tools = tools
        self._space = begun.space
        self._ids: list[int] = []
        self._lengths: list[int] = []
        """The number of characters that each id, or each text, added."""
        self._call_ids, self._stops = ids, stops
        self._takes_ids, self._finished = True, False
        self._decode_anew()
        if begun.last_of_prompt is not None:
            self._decoding.push(begun.last_of_prompt)
        self._begin(begun.text)

    def _begin(self, prefix: str) -> None:
        """Starts to read behind the beginning of the answer that is in the prompt."""
        machine = self._turn.machine(self._compiled, self._tools, self._call_ids())
        if prefix:
            machine.feed(prefix)
        if machine.is_over:
            # The prompt ends with a whole answer, which is no part of this one.
            machine = self._turn.machine(self._compiled, self._tools, self._call_ids())
        if not machine.texts:
            machine.skip(self._space)
        self._machine, self._start = machine, machine.total
        self._take = self._add if self._stops.texts else machine.feed
        machine.events = []

    def _taken(self) -> list[Event]:
        """Takes the machine's events."""
        events, self._machine.events = self._machine.events, []
        return events

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
    def closing_marks(self) -> frozenset[str]:
        """The marks of several tokens, or of tokens and text, that may end an answer, as they are
        spelled: `<|close|>message<|sep|>` of Kimi K3."""
        spelled = self._compiled.spelled
        endings = self._compiled.endings.items()
        found = (it for it, ends in endings if any(ends) and len(it) > 1)
        return frozenset(it for mark in found if (it := spelled(mark)) != mark)

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
        known = (mark for it in found for mark in it.marks if mark.is_text)
        known = (it for it in known if it.names != "call" and not it.is_stray)
        known = (it for it in known if it.names or not it.fault)
        marks = [mark.text.strip() or mark.text for mark in known]
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
        if isinstance(ids, str):
            return self._read_text(ids)
        if not self._takes_ids:
            self._refuse()
        for id in (ids,) if type(ids) is int and 0 <= ids < _IDS else self._listed(ids):
            if self._stops.found is not None:
                break
            if id in self._stops.ids:
                self._add(self._decoding.finish())
                self._flush(id)
                break
            self._ids.append(id)
            text = self._text_of(id) if id in self._symbols else self._decoding.push(id)
            self._lengths.append(len(text))
            self._take(text)
        return self._taken()

    def _add(self, text: str) -> None:
        """Takes text up to a stop."""
        said, found = self._stops.before(text)
        self._machine.feed(said)
        if found:
            self._stops.found = self._compiled.spelled(found)

    def _flush(self, id: int | None = None) -> None:
        """Takes what was held back, as no stop will follow; or one that is an id."""
        self._machine.feed(self._stops.held)
        self._stops.held = ""
        if id is not None:
            self._stops.found = self._tok.decode([id], unknown_ids="show")
            self._stops.found_id = id

    @property
    def stopped(self) -> str | None:
        """The stop that ended the answer; `None` if none did yet."""
        return self._stops.found

    @property
    def stopped_id(self) -> int | None:
        """The id that ended the answer, if one of `stop_ids` did."""
        return self._stops.found_id

    @property
    def kept_tokens(self) -> int:
        """How many of the ids come before the stop, whole: those for the history. All, if none
        stopped the answer."""
        if self._stops.found is None:
            return len(self._ids)
        ends = [*accumulate(self._lengths, initial=self._start)][1:]
        kept = bisect_right(ends, self._machine.total)
        # The first ids of a character have no text: that comes with its last.
        while self._stops.found_id is None and kept and not self._lengths[kept - 1]:
            kept -= 1
        return kept

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
        ids = checked_iterable(
            "ids", ids, "an int, an iterable of them or a str", but=(bytes, dict)
        )
        return [checked_id("ids", id) for id in ids]

    def _read_text(self, text: str) -> list[Event]:
        if self._finished:
            self._refuse()
        if self._takes_ids:
            if self._ids:
                raise ArgumentError("the stream has taken ids: it takes no text")
            # It begins again for text without ids, in which all marks are found by their spelling.
            prefix = self._compiled.spelled("".join(self._machine.texts))
            self._takes_ids, self._compiled = False, self._turn.compiled_for_text
            self._begin(prefix)
        text = without_halves(text)
        if self._stops.found is None:
            self._lengths.append(len(text))
            self._add(text)
        return self._taken()

    def _text_of(self, id: int) -> str:
        """The text that is certain with a control token: its symbol, behind the text that was held
        back."""
        text, symbol = self._decoding.push(id), self._symbols[id]
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
        if self._stops.found is None:
            if self._takes_ids and (text := self._decoding.finish()):
                self._add(text)
            if self._stops.found is None:
                self._flush()
        self._machine.finish()
        self._takes_ids, self._finished = False, True
        return self._taken()

    @functools.cached_property
    def parsed(self) -> Parsed:
        """The answer, once the stream is finished.

        Raises:
            ArgumentError: It is not finished.
        """
        if not self._finished:
            raise ArgumentError("finish() the stream first")
        machine = self._machine
        problems = [Problem(what, self._id_at(at)) for what, at in machine.problems]
        problems = sorted([*problems, *self._unknown_ids()], key=lambda it: it.at)
        finish: Finish = "length"
        if self._stops.found is not None or machine.is_complete:
            finish = "tool_calls" if machine.calls and self._stops.found is None else "stop"
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
        unknown = {}
        for id in {*self._ids}:
            try:
                self._tok.vocab.token_bytes(id)
            except UnknownTokenError as error:
                unknown[id] = str(error)
        return [Problem(unknown[id], at) for at, id in enumerate(self._ids) if id in unknown]

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
        if self._compiled is self._turn.compiled_for_text:
            return list(range(self._start + 1, self._machine.total + 1))
        total = self._machine.total
        ends = [min(it, total) for it in accumulate(self._lengths, initial=self._start)][1:]
        return [*ends[:-1], total] if ends else ends

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
