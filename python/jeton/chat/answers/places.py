"""`Places`: what each token leads to, from each place of an answer that was reached before.

A place is all that decides what the next token leads to. A stream looks up the token there, and
only where it finds nothing does the machine read (`stream.py`); so most tokens cost one look-up.
What a place knows is never needed, so it may be dropped at any time.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Final, NamedTuple

from jeton.chat.answers.parsed import Event, Kind

__all__ = ["NOWHERE", "Continuation", "Kept", "Place", "Places", "Step", "Where"]

_MAX_PLACES: Final = 1 << 12
_MAX_STEPS: Final = 1 << 16
"""Some 20 MB for each format of a tokenizer."""


class Waits(NamedTuple):
    """A place within a value of a call.

    Attributes:
        quote: The quote of the string that is open; empty outside of strings.
        is_escaped: Whether the next character is escaped.
        depth: How many brackets of JSON are open; -1 in a value that is reported when it is whole.
        is_empty: Whether a string of Python has just begun.
    """

    quote: str
    is_escaped: bool = False
    depth: int = -1
    is_empty: bool = False


class Kept(NamedTuple):
    """A place within an argument that is reported when it is whole: what the event has in front of
    the value, and the types of the parameter."""

    before: str
    types: tuple[str, ...]


class Where(NamedTuple):
    """All that decides what the next text leads to, and the events that it has.

    Attributes:
        state: The name of the state.
        held: The end of the text, if that may become a mark.
        word: The text that is not reported yet, as that in front of the arguments of a call.
        drop: White space that is dropped in front of the next text.
        tools: The tools with the types of their parameters, if they decide anything.
        tool: The tool of the open call, if that decides what a value is.
        flags: Whether the state has just begun, there is a call, it has arguments, there is an id
            for a call, and there is a reader.
        within: What the reader waits for and what is open around that, or how the text of a
            value is reported.
    """

    state: str
    held: str
    word: str
    drop: str
    tools: str
    tool: str | None
    flags: tuple[bool, bool, bool, bool, bool]
    within: Hashable


class Continuation(NamedTuple):
    """What only continues at a place, and leads back there.

    Attributes:
        breaks: The characters with which a text may do more; `None` if any may.
        kind: What such a text is reported as, just as it is; `None` if it is not.
    """

    breaks: re.Pattern[str] | None = None
    kind: Kind | None = None


class Place(dict["int | str", "Step"]):
    """A place, and the steps from it to others, by id or by text; to the end, by an empty one.

    Attributes:
        where: What `Machine.where` returns there.
        split: The bytes of a character that is not whole yet.
        continuation: What only continues there.
        known: The events of tokens that do. All places with this continuation share them; a place
            within a character has none.
        of_calls: The steps that begin or end a call.
        is_forgotten: Whether it is none of `Places` any more.
    """

    __slots__ = ("continuation", "is_forgotten", "known", "of_calls", "split", "where")

    def __init__(
        self,
        where: Where,
        split: bytes,
        continuation: Continuation,
        known: dict[int | str, Event],
    ) -> None:
        super().__init__()
        self.where, self.split, self.continuation = where, split, continuation
        self.known, self.is_forgotten = known, False
        self.of_calls: dict[int | str, Step] = {}

    def continues(self, text: str) -> bool:
        """Whether a text only continues."""
        breaks = self.continuation.breaks
        return breaks is not None and not breaks.search(text)


@dataclass(slots=True)
class Step:
    """What a token leads to.

    Attributes:
        events: Its events. Calls are numbered as if none came before, and `"call_end"` has no call.
        text: Its text.
        place: The next place.
    """

    events: tuple[Event, ...]
    text: str
    place: Place


NOWHERE: Final = Place(Where("", "", "", "", "", None, (False,) * 5, None), b"", Continuation(), {})
"""The place of a stream of which nothing is known."""


class Places:
    """The places of a format for the tokens of a tokenizer. All its streams share them, also in
    several threads: a step is the same whoever adds it.

    There are at most 4,096 places and 65,536 steps; then all are forgotten, and learnt again.
    """

    def __init__(self) -> None:
        self._places: dict[tuple[Where, bytes], Place] = {}
        self._known: dict[Continuation, dict[int | str, Event]] = {}
        self._steps = 0

    def at(
        self,
        where: Where | None,
        split: bytes,
        continuation: Callable[[], Continuation],
    ) -> Place:
        """The place with these attributes."""
        if where is None:
            return NOWHERE
        places, key = self._places, (where, split)
        place = places.get(key)
        if place is None:
            if len(places) >= _MAX_PLACES:
                self._forget()
                places = self._places
            continued = continuation()
            known = {} if split else self._known.setdefault(continued, {})
            place = places.setdefault(key, Place(where, split, continued, known))
            if places is not self._places:
                place.is_forgotten = True  # another thread forgot the others meanwhile
        return place

    def learn(
        self, place: Place, key: int | str, step: Step, *, used_history: bool = False
    ) -> None:
        """Adds a step from a place, if both its ends are known and, but for the event of a value,
        decide it."""
        kinds = [it.kind for it in step.events]
        ends_value = kinds == ["arguments"] and isinstance(place.where.within, Kept)
        if place is NOWHERE or step.place is NOWHERE or (used_history and not ends_value):
            return
        self.count()
        step = Step((), step.text, step.place) if ends_value else step
        is_of_calls = ends_value or "call" in kinds or "call_end" in kinds
        steps = place.of_calls if is_of_calls else place
        steps[key] = step
        if place.is_forgotten or step.place.is_forgotten:
            steps.pop(key, None)

    def count(self) -> None:
        """Counts something that is learnt."""
        if self._steps >= _MAX_STEPS:
            self._forget()
        self._steps += 1

    def _forget(self) -> None:
        places = [*self._places.values()]
        self._places, self._known, self._steps = {}, {}, 0
        for place in places:
            place.is_forgotten = True
            for learnt in (place, place.known, place.of_calls):
                learnt.clear()
