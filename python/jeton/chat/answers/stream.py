"""`ParseStream`: parses an answer while a model writes it. `tok.parse` pushes all of it at once."""

from __future__ import annotations

import functools
from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Final, NoReturn, SupportsIndex

from jeton.arguments import checked_id
from jeton.chat.answers.parsed import Event, Finish, Parsed, Part, Problem
from jeton.errors import ArgumentError, ArgumentTypeError, UnknownTokenError

if TYPE_CHECKING:
    from jeton.chat.answers.calls import Tools
    from jeton.chat.answers.described import DescribedTurn
    from jeton.chat.answers.turns import Turn
    from jeton.encoding.base_tokenizer import BaseTokenizer

__all__ = ["ParseStream"]


_IDS: Final = 1 << 32
"""Behind the largest id."""


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
        self._tok = tok
        self._turn = turn
        self._compiled = turn.compiled
        self._symbols = turn.compiled.symbols
        self._tools = tools
        self._space = space
        self._ids: list[int] = []
        self._takes_ids, self._finished = True, False
        self._decode_anew()
        if before is not None:
            self._decoding.push(before)
        self._begin(prefix)

    def _begin(self, prefix: str) -> None:
        """Starts to read behind the beginning of the answer that is in the prompt."""
        machine = self._turn.machine(self._compiled, self._tools)
        if prefix:
            machine.feed(prefix)
        if machine.is_over:
            # The prompt ends with a whole answer, which is no part of this one.
            machine = self._turn.machine(self._compiled, self._tools)
        if not machine.texts:
            machine.skip(self._space)
        self._machine, self._feed = machine, machine.feed
        self._first, self._start = len(machine.texts), machine.total
        machine.events = []

    def _taken(self) -> list[Event]:
        """The events that the machine has."""
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
        if isinstance(ids, str):
            return self._read_text(ids)
        if not self._takes_ids:
            self._refuse()
        for id in (ids,) if type(ids) is int and 0 <= ids < _IDS else self._listed(ids):
            self._ids.append(id)
            self._feed(self._text_of(id) if id in self._symbols else self._decoding.push(id))
        return self._taken()

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
        if self._finished:
            self._refuse()
        if self._takes_ids:
            if self._ids:
                raise ArgumentError("the stream has taken ids: it takes no text")
            # It begins again for text without ids, in which all marks are found by their spelling.
            prefix = self._compiled.spelled("".join(self._machine.texts))
            self._takes_ids, self._compiled = False, self._turn.compiled_for_text
            self._begin(prefix)
        self._feed(text.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))
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
        if self._takes_ids and (text := self._decoding.finish()):
            self._feed(text)
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
        unknown = {}
        for id in {*self._ids}:
            try:
                self._tok.token_bytes(id)
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
        texts = self._machine.texts[self._first :]
        if self._compiled is self._turn.compiled_for_text:
            return list(range(self._start + 1, self._machine.total + 1))
        ends = list(accumulate(map(len, texts), initial=self._start))[1 : len(self._ids) + 1]
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
