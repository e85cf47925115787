"""Splits a text so that each part, encoded alone, has at most a given number of tokens.

A part encoded alone may have other tokens than within the whole text. So the tokens of the whole
text only suggest where to split, and each part is counted alone.
"""

from __future__ import annotations

import functools
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias, TypeVar

from jeton.arguments import check_kind, checked_flag, checked_int, checked_iterable, one_of
from jeton.encoding.chunks import boundaries, structure
from jeton.encoding.chunks.token_boundaries import TokenPositions
from jeton.errors import ArgumentError, ArgumentTypeError, EncodeError

if TYPE_CHECKING:
    from jeton.argument_types import SpecialPolicy
    from jeton.encoding.base_tokenizer import BaseTokenizer

Unit: TypeAlias = Literal["sentence", "line", "word", "token"]
"""A text is split after a unit of this kind."""

Side: TypeAlias = Literal["right", "left", "middle"]
"""The part of a text that truncation removes."""

Boundaries: TypeAlias = (
    Literal["markdown", "code", "html"] | Iterable[int] | Callable[[str], Iterable[int]]
)
"""The preferred places to split, where parts of the text begin: a kind of text, the positions
themselves, or a function that returns them for a text."""

_FINER: Final[dict[str, tuple[str, ...]]] = {
    "sentence": ("sentence", "line", "word", "token", "code point"),
    "line": ("line", "sentence", "word", "token", "code point"),
    "word": ("word", "token", "code point"),
    "token": ("token", "code point"),
}
"""For each unit, the units to split at in turn: a finer one if the coarser is too long."""

_ANYWHERE: Final = 1 << 10
"""The level of a split at any character, even within a token: finer than all units."""

_PART = 1 << 20
"""How many characters are encoded at a time."""
_MARGIN = 256
"""Tokens before the end of an encoded part that may differ from those of the whole text: a word
that goes on beyond the end may have that many."""
_LIKELY = 4
"""Characters per token up to which a whole text probably fits, so that it is counted first."""
_MAX_ATTEMPTS = 16
"""How many ends are tried character by character before the error."""

_T = TypeVar("_T")


@dataclass(frozen=True)
class Chunk:
    """A part of a text that is short enough.

    Attributes:
        text: The part.
        start, end: Its range in the text, half open, in characters.
        tokens: How many tokens it has when it is encoded alone, after its `head`.
        head: For a part that begins among the rows of a table, the head of that table, to be put in
            front of it. Otherwise empty, and always empty unless `boundaries` is `"markdown"` or
            `"html"`.
    """

    text: str
    start: int
    end: int
    tokens: int
    head: str = ""

    def __repr__(self) -> str:
        return f"Chunk({self.start}:{self.end}, {_tokens(self.tokens)}, {_excerpt(self.text)})"


@dataclass(frozen=True)
class Truncated:
    """A text truncated to a number of tokens, and the text that was dropped.

    Attributes:
        text: The rest of the text; without its middle, the beginning joined to the end.
        start, end: Its range in the text, half open, in characters.
        tokens: How many tokens it has when it is encoded alone.
        dropped_text: The text that was dropped from the left, the right or the middle; empty if
            everything fits.
        dropped_tokens: How many tokens `dropped_text` has alone, without special tokens.
        gap: Where the middle was dropped, in characters of `text`; `None` if no middle was.
    """

    text: str
    start: int
    end: int
    tokens: int
    dropped_text: str
    dropped_tokens: int
    gap: int | None = None

    def __repr__(self) -> str:
        return (
            f"Truncated({self.start}:{self.end}, {_tokens(self.tokens)}, {_excerpt(self.text)}, "
            f"{_tokens(self.dropped_tokens)} dropped)"
        )


def _tokens(count: int) -> str:
    return f"{count:,} token{'s' * (count != 1)}"


def _excerpt(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:39] + "…")


def chunks_of(
    tokenizer: BaseTokenizer,
    text: str,
    max_tokens: int,
    overlap: int | None,
    at: Unit,
    within: Boundaries | None,
    special: SpecialPolicy,
    add_special_tokens: bool,
) -> list[Chunk]:
    """The chunks of a text; see `Tokenizer.chunk`."""
    limit = checked_int("max_tokens", max_tokens, 1)
    shared = None if overlap is None else checked_int("overlap", overlap, 0)
    cutter = _Cutter(tokenizer, text, "max_tokens", limit, at, special, add_special_tokens, within)
    if cutter.room < 1:
        raise cutter.no_room()
    if shared is None:
        shared = cutter.room // 4
    elif shared >= cutter.room:
        raise ArgumentError(
            f"overlap={shared} must be less than the {_tokens(cutter.room)} that a chunk has for "
            "text"
        )
    return cutter.run(lambda: list(cutter.chunks(shared)))


def chunks_of_batch(
    tokenizer: BaseTokenizer,
    texts: Iterable[str],
    max_tokens: int,
    overlap: int | None,
    at: Unit,
    within: Boundaries | None,
    special: SpecialPolicy,
    add_special_tokens: bool,
) -> list[list[Chunk]]:
    """The chunks of each text; see `Tokenizer.chunk_batch`."""
    texts = checked_iterable("texts", texts, "an iterable of str")
    split = functools.partial(
        chunks_of,
        tokenizer,
        max_tokens=max_tokens,
        overlap=overlap,
        at=at,
        special=special,
        add_special_tokens=add_special_tokens,
    )
    split("", within=None)  # raises for a wrong argument even if there are no texts
    batch = []
    for number, text in enumerate(texts):
        try:
            batch.append(split(text, within=within))
        except (ArgumentError, ArgumentTypeError, EncodeError) as error:
            raise error.reworded(f"texts[{number}]: {error.message}") from None
    return batch


def truncate(
    tokenizer: BaseTokenizer,
    text: str,
    n: int,
    side: Side,
    at: Unit,
    special: SpecialPolicy,
    add_special_tokens: bool,
) -> Truncated:
    """A text without its right side, its left side or its middle; see `Tokenizer.truncate`."""
    one_of("side", side, ("right", "left", "middle"))
    limit = checked_int("n", n, 0)

    def cutter_of(limit: int, added: bool) -> _Cutter:
        cutter = _Cutter(tokenizer, text, "n", limit, at, special, added)
        # Tokens of usual text are no longer than this, so only the beginning of a long text is
        # encoded.
        cutter.width = min(8 * limit + 1024, _PART)
        return cutter

    cutter = cutter_of(limit, add_special_tokens)
    if side == "middle":
        return _without_middle(cutter, lambda limit: cutter_of(limit, False))

    def truncate_side() -> Truncated:
        start, end = cutter.fit(side)
        rest = text[end:] if side == "right" else text[:start]
        return Truncated(
            text=text[start:end],
            start=start,
            end=end,
            tokens=cutter.size(start, end),
            dropped_text=rest,
            dropped_tokens=tokenizer.count(rest, special=cutter.special),
        )

    return cutter.run(truncate_side)


def _without_middle(whole: _Cutter, part_of: Callable[[int], _Cutter]) -> Truncated:
    """The beginning and the end of a text; the end has no more tokens than the beginning.

    Joined, the two may have other tokens than apart, so the end is shortened until they fit.

    Args:
        whole: Finds out whether all of the text fits.
        part_of: Finds parts of the same text, given the maximum number of their tokens.
    """
    text = whole.text
    if whole.run(lambda: whole.fit("right")) == (0, len(text)):
        return Truncated(text, 0, len(text), whole.size(0, len(text)), "", 0)
    half = (whole.room + 1) // 2
    head = part_of(half)
    _, end = head.run(lambda: head.fit("right"))
    room, step = whole.room - half, 1
    while True:
        tail = part_of(max(room, 0))
        start, _ = tail.run(functools.partial(tail.fit, "left"))
        start = len(text) if room < 1 else max(start, end)
        both = text[:end] + text[start:]
        tokens = whole.count(both)
        if tokens <= whole.limit or start == len(text):
            break
        room -= max(tokens - whole.limit, step)
        step *= 2
    return Truncated(
        both, 0, len(text), tokens, text[end:start], whole.bare_size(end, start), gap=end
    )


def _places_of(text: str, boundaries: Boundaries | None) -> list[list[int]]:
    """The levels of positions at which to split a text, coarsest first."""
    if boundaries is None:
        return []
    if isinstance(boundaries, str):
        one_of("boundaries", boundaries, tuple(structure.KINDS))
        return structure.KINDS[boundaries](text)
    try:
        numbers = boundaries(text) if callable(boundaries) else boundaries
    except (ArgumentError, ArgumentTypeError) as error:
        raise error.reworded(f"boundaries: {error.message}") from None
    numbers = checked_iterable(
        "boundaries", numbers, "a kind of text, positions, or a function that returns them"
    )
    places = sorted({checked_int("each of boundaries", place, 0) for place in numbers})
    if places and places[-1] > len(text):
        raise ArgumentError(
            f"boundaries: {places[-1]} is outside of the text, which has {len(text)} characters"
        )
    return [places] if places else []


class _ChunkEnd(NamedTuple):
    """Where a chunk can end."""

    end: int
    tokens: int
    """How many tokens the chunk has alone."""
    level: int
    """The index of the unit that it ends after: 0 is the requested one, higher ones are finer, and
    `_ANYWHERE` is none of them."""


class _Cutter:
    """A text, and how much of it fits into a limit of tokens.

    Args:
        name: The name of the argument with the limit, for messages.
        limit: The maximum number of tokens of a part, including added special tokens.
        at, special, add_special_tokens, kind: As in `Tokenizer.chunk`; `kind` is its `boundaries`.

    Attributes:
        frame: How many tokens of a part are special tokens around it.
        room: How many remain for its text.
        width: How many characters are encoded at a time.
        levels: Where to split the text: the given positions, by their index in `places`, the
            requested unit, and the finer ones.
        special: What special tokens in a part mean. With `"raise"`, the whole text is searched
            once for them.
    """

    def __init__(
        self,
        tokenizer: BaseTokenizer,
        text: str,
        name: str,
        limit: int,
        at: Unit,
        special: SpecialPolicy,
        add_special_tokens: bool,
        kind: Boundaries | None = None,
    ) -> None:
        check_kind("text", text, str, "a str")
        one_of("at", at, tuple(_FINER))
        self.adds = checked_flag("add_special_tokens", add_special_tokens)
        self.name, self.limit, self.width = name, limit, _PART
        self.frame = tokenizer.count("", special=special, add_special_tokens=self.adds)
        self.room = limit - self.frame
        if self.room < 0:
            raise self.no_room()
        self.places = _places_of(text, kind)
        self.levels: tuple[str | int, ...] = (*range(len(self.places)), *_FINER[at])
        find = structure.TABLES.get(kind) if isinstance(kind, str) else None
        self.tables = [] if find is None else find(text)
        self.refuses_special = special == "raise"
        self.special = "ignore" if special == "raise" else special
        self.tokenizer = tokenizer
        self.text = text
        self._part: TokenPositions | None = None

    def no_room(self) -> ArgumentError:
        """The error about a limit that special tokens alone reach."""
        return ArgumentError(
            f"{self.name}={self.limit} has no room for text: the special tokens around it are "
            f"{_tokens(self.frame)} (give more, or add_special_tokens=False)"
        )

    def run(self, work: Callable[[], _T]) -> _T:
        """Runs `work`; an encoding error names the position in the whole text."""
        if self.refuses_special:
            self.tokenizer.count(self.text, special="raise")
        try:
            return work()
        except EncodeError:
            self.bare_size(0, len(self.text))
            raise

    def size(self, start: int, end: int) -> int:
        """How many tokens a part of the text has alone, including added special tokens."""
        part = self.text[start:end]
        return self.count(self.head(start) + part if self.tables else part)

    def count(self, text: str) -> int:
        """How many tokens a text has, including added special tokens."""
        return self.tokenizer.count(text, special=self.special, add_special_tokens=self.adds)

    def head(self, start: int) -> str:
        """The head of the table that a part begins in, unless it takes over half of the room."""
        head = structure.head_of(start, self.tables)
        return head if 2 * self.tokenizer.count(head, special=self.special) <= self.room else ""

    def bare_size(self, start: int, end: int) -> int:
        """How many tokens a part of the text has alone, without added special tokens."""
        return self.tokenizer.count(self.text[start:end], special=self.special)

    # Chunks

    def chunks(self, overlap: int) -> Iterator[Chunk]:
        """The chunks; each ends after the end of the one before."""
        begin = end = level = 0
        if 0 < len(self.text) <= _LIKELY * self.room:
            tokens = self.size(0, len(self.text))
            if tokens <= self.limit:
                yield Chunk(self.text, 0, len(self.text), tokens)
                return
        while end < len(self.text):
            start = self._start_within(begin, end, overlap, level)
            reach = self._furthest(self._part_with(start, start), start, end)
            if start < end and (reach is None or reach.level > 0):
                start, reach = self._with_less_overlap(start, end, overlap, level, reach)
            if reach is None:
                size = self.size(end, end + 1)
                raise ArgumentError(
                    f"{self.name}={self.limit} is less than the {_tokens(size)} of the "
                    f"character {self.text[end]!r} at {end}"
                )
            begin, end, level = start, reach.end, reach.level
            head = self.head(begin) if self.tables else ""
            yield Chunk(self.text[begin:end], begin, end, reach.tokens, head)

    def _with_less_overlap(
        self, start: int, end: int, overlap: int, level: int, reach: _ChunkEnd | None
    ) -> tuple[int, _ChunkEnd | None]:
        """Reduces the overlap if a coarser unit then fits, down to no overlap."""
        part = self._part_with(start, end)
        alone = self._furthest(part, end, end)
        if alone is None or (reach is not None and reach.level <= alone.level):
            return start, reach
        unit = self.levels[-1 if alone.level == _ANYWHERE else alone.level]
        following = self._first(unit, part, end + 1, alone.end, end)
        size = self.bare_size(end, alone.end if following is None else following)
        nearer = self._start_within(start, end, min(overlap, self.room - size), level)
        if nearer < end:
            shorter = self._furthest(part, nearer, end)
            if shorter is not None and shorter.level <= alone.level:
                return nearer, shorter
        return end, alone

    # The two ends

    def fit(self, side: Literal["right", "left"]) -> tuple[int, int]:
        """The range of the text that remains after truncation at one side."""
        length = len(self.text)
        if not self.tokenizer.exceeds(
            self.text, self.limit, special=self.special, add_special_tokens=self.adds
        ):
            return 0, length
        if side == "right":
            reach = self._furthest(self._part_with(0, 0), 0, 0)
            return 0, 0 if reach is None else reach.end
        begin = max(0, length - self.width)
        while True:
            places = self._token_places(begin, begin, length - begin, 0)
            if begin == 0 or places.tokens > self.room + _MARGIN:
                break
            begin = max(0, length - 2 * (length - begin))
        start = self._nearest(
            places,
            first=0,
            end=length,
            tokens=self.room,
            units=self.levels,
            size=lambda start, end: self.size(start, end) - self.frame,
        )
        return start, length

    # Positions

    def _furthest(self, part: TokenPositions, start: int, floor: int) -> _ChunkEnd | None:
        """The furthest end after `floor` of a chunk from `start`, at its coarsest level.

        It tries the ends of tokens of the text, then the ends of tokens of the text from `start`
        on, then every character.
        """
        reach = self._furthest_at(part, start, floor)
        if reach is None and part.start < start:
            from_start = self._token_places(start, start, 4 * self.room + 64, self.room + 8)
            reach = self._furthest_at(from_start, start, floor)
        if reach is not None:
            return reach
        for end in range(floor + 1, min(floor + _MAX_ATTEMPTS, len(self.text)) + 1):
            if end < len(self.text) and boundaries.splits_pair(self.text, end):
                continue
            size = self.size(start, end)
            if size <= self.limit:
                return _ChunkEnd(end, size, _ANYWHERE)
        return None

    def _start_within(self, begin: int, end: int, tokens: int, level: int) -> int:
        """The first position after `begin` with at most `tokens` tokens from there to `end`.

        It splits a word only if `level`, that of the split at `end`, does.
        """
        if begin == end or tokens < 1:
            return end
        uncut = self.levels.index("word") if "word" in self.levels else 0
        units = self.levels[: max(level, uncut) + 1]
        part = self._part_with(begin, begin)
        return self._nearest(part, begin + 1, end, tokens, units, self.bare_size)

    # The next two mirror each other; docs/experiments.md says why they are not one.

    def _furthest_at(self, places: TokenPositions, start: int, floor: int) -> _ChunkEnd | None:
        """The last end after `floor` of a chunk from `start`, at a unit and among `places`.

        If an end has too many tokens, an earlier one is tried: earlier by the excess, and by steps
        that double, so that a text is counted a few times, not once per unit.
        """
        base = places.tokens_before(start)
        for level, unit in enumerate(self.levels):
            room, step = self.room, 1
            high = places.last_with(base + room)
            while (end := self._last(unit, places, floor, high)) is not None:
                size = self.size(start, end)
                if size <= self.limit:
                    return _ChunkEnd(end, size, level)
                room -= max(size - self.limit, step)
                step *= 2
                high = min(places.last_with(base + room), end - 1)
        return None

    def _nearest(
        self,
        places: TokenPositions,
        first: int,
        end: int,
        tokens: int,
        units: tuple[str | int, ...],
        size: Callable[[int, int], int],
    ) -> int:
        """The first position from `first` on with at most `tokens` tokens up to `end`.

        It takes the coarsest unit that has one, and searches as `_furthest_at` does.
        """
        top = places.tokens_before(end)
        since = max(first - 1, 0)
        for unit in units:
            room, step = tokens, 1
            low = max(places.first_with(top - room), first)
            while (start := self._first(unit, places, low, end, since)) is not None:
                excess = size(start, end) - tokens
                if excess <= 0:
                    return start
                room -= max(excess, step)
                step *= 2
                low = max(places.first_with(top - room), start + 1)
        return end

    def _last(self, unit: str | int, places: TokenPositions, low: int, high: int) -> int | None:
        """The last position after `low` and up to `high` where the text splits at a unit."""
        if isinstance(unit, int):
            numbers = self.places[unit]
            place = high if high == len(self.text) else numbers[bisect_right(numbers, high) - 1]
            return place if low < place <= high else None
        if unit not in ("token", "code point"):
            return boundaries.last(unit, self.text, low, high)
        for place in reversed(places.between(low + 1, high + 1)):
            if unit == "code point" or boundaries.is_between_characters(self.text, place, low):
                return place
        return None

    def _first(
        self, unit: str | int, places: TokenPositions, low: int, high: int, since: int
    ) -> int | None:
        """The first position from `low` on and before `high` where the text splits at a unit."""
        if isinstance(unit, int):
            place = next(iter(self.places[unit][bisect_left(self.places[unit], low) :]), high)
            return place if place < high else None
        if unit not in ("token", "code point"):
            return boundaries.first(unit, self.text, low, high, since)
        for place in places.between(low, high):
            if unit == "code point" or boundaries.is_between_characters(self.text, place, since):
                return place
        return None

    # Tokens

    def _part_with(self, begin: int, start: int) -> TokenPositions:
        """An encoded part of the text with more than a chunk from `start` on.

        If the current part has less, the part from `begin` on is encoded and replaces it.
        """
        tokens = self.room + _MARGIN
        part = self._part
        if part is None or (
            part.end < len(self.text) and part.tokens - part.tokens_before(start) < tokens
        ):
            part = self._token_places(begin, start, self.width, 2 * tokens)
            self._part = part
        return part

    def _token_places(self, begin: int, start: int, width: int, tokens: int) -> TokenPositions:
        """The ends of tokens of the text from `begin` on, with `tokens` tokens after `start`."""
        end = min(start + width, len(self.text))
        while True:
            _, spans = self.tokenizer.encode_array(
                self.text[begin:end], spans="characters", special=self.special
            )
            places = TokenPositions(spans, begin, end)
            after = places.tokens - places.tokens_before(start)
            if after >= tokens or end == len(self.text):
                return places
            end = min(begin + 2 * (end - begin), len(self.text))
