"""Cutting a text so that each part, encoded by itself, has no more tokens than asked for.

Tokens at the end of a text differ from those in its middle, so no part is taken to have the tokens
that stand for it in the whole: these only say where to try, and each part is counted by itself.
"""

from __future__ import annotations

import functools
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias, TypeVar

from jeton.arguments import check_kind, checked_flag, checked_int, one_of
from jeton.encoding.chunks import boundaries, structure
from jeton.encoding.chunks.token_boundaries import TokenPlaces
from jeton.errors import ArgumentError, ArgumentTypeError, EncodeError

if TYPE_CHECKING:
    from jeton.argument_types import SpecialPolicy
    from jeton.encoding.base_tokenizer import BaseTokenizer

__all__ = [
    "Boundaries",
    "Chunk",
    "Side",
    "Truncated",
    "Unit",
    "chunks_of",
    "chunks_of_batch",
    "split_at",
    "truncated",
]

Unit: TypeAlias = Literal["sentence", "line", "word", "token"]
"""Where a text is cut: behind which of its parts."""

Side: TypeAlias = Literal["right", "left", "middle"]
"""What is cut off from a text."""

Boundaries: TypeAlias = (
    Literal["markdown", "code", "html"] | Iterable[int] | Callable[[str], Iterable[int]]
)
"""Where parts of a text begin that are kept whole before all: a kind of text, the places
themselves, or what gives them for a text."""

_FINER: Final[dict[str, tuple[str, ...]]] = {
    "sentence": ("sentence", "line", "word", "token", "code point"),
    "line": ("line", "sentence", "word", "token", "code point"),
    "word": ("word", "token", "code point"),
    "token": ("token", "code point"),
}
"""What a text is cut at, and at what if that is too long."""

_ANYWHERE: Final = 1 << 10
"""The level of a cut that is at none of these units, within a token too: finer than all of them."""

_PART = 1 << 20
"""How many characters are encoded at a time."""
_MARGIN = 256
"""Tokens before the end of a part that may not be those of the whole text: a word that goes on
beyond it may be that many."""
_LIKELY = 4
"""Characters per token up to which a whole text is likely to be short enough, and is counted."""
_TRIED = 16
"""How many characters are tried one by one before a text is given up."""

_T = TypeVar("_T")


@dataclass(frozen=True)
class Chunk:
    """A part of a text that is short enough.

    Attributes:
        text: The part.
        start, end: Where it stands in the text, half open, in characters.
        tokens: How many tokens it has when it is encoded by itself, behind its `head`.
        head: Of a part that begins among the rows of a table, the head of that table, to be put in
            front of it; empty otherwise, and wherever `boundaries` is neither `"markdown"` nor
            `"html"`.
    """

    text: str
    start: int
    end: int
    tokens: int
    head: str = ""

    def __post_init__(self) -> None:
        _check_part(self)
        check_kind("head", self.head, str, "a str")

    @classmethod
    def _of(cls, text: str, start: int, end: int, tokens: int, head: str = "") -> Chunk:
        """One whose values are known to be right: a check takes longer than cutting it."""
        chunk = object.__new__(cls)
        chunk.__dict__.update(text=text, start=start, end=end, tokens=tokens, head=head)
        return chunk

    def __repr__(self) -> str:
        return f"Chunk({self.start}:{self.end}, {_tokens(self.tokens)}, {_excerpt(self.text)})"


@dataclass(frozen=True)
class Truncated:
    """What is left of a text that was cut to a number of tokens, and what was dropped.

    Attributes:
        text: What is left; of a text whose middle was cut, its beginning and its end.
        start, end: Where it stands in the text, half open, in characters.
        tokens: How many tokens it has when it is encoded by itself.
        dropped_text: The rest: before it if the left side was cut, else behind it; empty where all
            is kept.
        dropped_tokens: How many tokens the rest has by itself, without special tokens around it.
        gap: Where the middle of the text was dropped, in characters of `text`; `None` if no middle
            was.
    """

    text: str
    start: int
    end: int
    tokens: int
    dropped_text: str
    dropped_tokens: int
    gap: int | None = None

    def __post_init__(self) -> None:
        _check_part(self)
        if self.gap is not None:
            checked_int("gap", self.gap, 0)
        check_kind("dropped_text", self.dropped_text, str, "a str")
        checked_int("dropped_tokens", self.dropped_tokens, 0)

    def __repr__(self) -> str:
        dropped = f"{_tokens(self.dropped_tokens)} dropped"
        return (
            f"Truncated({self.start}:{self.end}, {_tokens(self.tokens)}, {_excerpt(self.text)}, "
            f"{dropped})"
        )


def _check_part(part: Chunk | Truncated) -> None:
    check_kind("text", part.text, str, "a str")
    for name in ("start", "end", "tokens"):
        checked_int(name, getattr(part, name), 0)


def _tokens(count: int) -> str:
    return f"{count:,} token{'s' * (count != 1)}"


def _excerpt(text: str, most: int = 40) -> str:
    return repr(text if len(text) <= most else text[: most - 1] + "…")


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
    options = _Options(
        name="max_tokens",
        limit=limit,
        at=at,
        special=special,
        add_special_tokens=add_special_tokens,
        width=_PART,
        boundaries=within,
    )
    cutter = _Cutter(tokenizer, text, options)
    if cutter.room < 1:
        raise _no_room(options, cutter.frame)
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
    if isinstance(texts, (str, bytes)) or not isinstance(texts, Iterable):
        raise ArgumentTypeError(f"texts must be an iterable of str, not {type(texts).__name__}")
    cut = functools.partial(
        chunks_of,
        tokenizer,
        max_tokens=max_tokens,
        overlap=overlap,
        at=at,
        special=special,
        add_special_tokens=add_special_tokens,
    )
    cut("", within=None)  # what is wrong with an argument is so without a text, too
    found = []
    for number, text in enumerate(texts):
        try:
            found.append(cut(text, within=within))
        except (ArgumentError, ArgumentTypeError, EncodeError) as error:
            raise type(error)(f"texts[{number}]: {error}") from None
    return found


def truncated(
    tokenizer: BaseTokenizer,
    text: str,
    n: int,
    side: Side,
    at: Unit,
    special: SpecialPolicy,
    add_special_tokens: bool,
) -> Truncated:
    """What is kept of a text and what is not; see `Tokenizer.truncate`."""
    one_of("side", side, ("right", "left", "middle"))
    if side == "middle":
        return _without_middle(tokenizer, text, n, at, special, add_special_tokens)
    cutter = _cutter_of_ends(tokenizer, text, n, at, special, add_special_tokens)

    def cut() -> Truncated:
        start, end = cutter.kept(side)
        dropped = text[end:] if side == "right" else text[:start]
        return Truncated(
            text=text[start:end],
            start=start,
            end=end,
            tokens=cutter.size(start, end),
            dropped_text=dropped,
            dropped_tokens=tokenizer.count(dropped, special=cutter.special),
        )

    return cutter.run(cut)


def _without_middle(
    tokenizer: BaseTokenizer,
    text: str,
    n: int,
    at: Unit,
    special: SpecialPolicy,
    add_special_tokens: bool,
) -> Truncated:
    """The beginning and the end of a text, of which the end has no more tokens.

    Joined they may have other tokens than apart, so the end gives way until they fit.
    """
    whole = _cutter_of_ends(tokenizer, text, n, at, special, add_special_tokens)
    if whole.run(lambda: whole.kept("right")) == (0, len(text)):
        return Truncated(text, 0, len(text), whole.size(0, len(text)), "", 0)
    half = (whole.room + 1) // 2
    head = _cutter_of_ends(tokenizer, text, half, at, special, False)
    _, end = head.run(lambda: head.kept("right"))
    room, step = whole.room - half, 1
    while True:
        tail = _cutter_of_ends(tokenizer, text, max(room, 0), at, special, False)
        start, _ = tail.run(functools.partial(tail.kept, "left"))
        start = len(text) if room < 1 else max(start, end)
        left = text[:end] + text[start:]
        tokens = tokenizer.count(left, special=whole.special, add_special_tokens=add_special_tokens)
        if tokens <= n or start == len(text):
            break
        room -= max(tokens - n, step)
        step *= 2
    dropped = text[end:start]
    dropped_tokens = tokenizer.count(dropped, special=whole.special)
    return Truncated(left, 0, len(text), tokens, dropped, dropped_tokens, gap=end)


def split_at(
    tokenizer: BaseTokenizer,
    text: str,
    n: int,
    at: Unit,
    special: SpecialPolicy,
    add_special_tokens: bool,
) -> tuple[str, str]:
    """A text in two; see `Tokenizer.split_at`."""
    cutter = _cutter_of_ends(tokenizer, text, n, at, special, add_special_tokens)
    _, end = cutter.run(lambda: cutter.kept("right"))
    return text[:end], text[end:]


def _cutter_of_ends(
    tokenizer: BaseTokenizer,
    text: str,
    n: int,
    at: Unit,
    special: SpecialPolicy,
    add_special_tokens: bool,
) -> _Cutter:
    limit = checked_int("n", n, 0)
    options = _Options(
        name="n",
        limit=limit,
        at=at,
        special=special,
        add_special_tokens=add_special_tokens,
        # No token of usual text is longer, so that of a long text only its beginning is encoded.
        width=min(8 * limit + 1024, _PART),
    )
    return _Cutter(tokenizer, text, options)


class _Options(NamedTuple):
    """How a text is cut; `at`, `special` and `add_special_tokens` as in `Tokenizer.chunk`."""

    name: str
    """The argument that the limit was given as, for messages."""
    limit: int
    """The most tokens of a part, with those that are added to it."""
    at: Unit
    special: SpecialPolicy
    add_special_tokens: bool
    width: int
    """How many characters are encoded at a time."""
    boundaries: Boundaries | None = None


def _no_room(options: _Options, frame: int) -> ArgumentError:
    return ArgumentError(
        f"{options.name}={options.limit} has no room for text: the special tokens around it are "
        f"{_tokens(frame)} (give more, or add_special_tokens=False)"
    )


def _places_of(text: str, given: Boundaries | None) -> list[list[int]]:
    """The levels of places at which a text is to be cut, coarsest first.

    Raises:
        ArgumentError, ArgumentTypeError: What is no boundary, or lies outside of the text.
    """
    if given is None:
        return []
    if isinstance(given, str):
        one_of("boundaries", given, tuple(structure.KINDS))
        return structure.KINDS[given](text)
    try:
        found = given(text) if callable(given) else given
    except (ArgumentError, ArgumentTypeError) as error:
        raise type(error)(f"boundaries: {error}") from None
    if isinstance(found, (str, bytes)) or not isinstance(found, Iterable):
        raise ArgumentTypeError(
            f"boundaries must be a kind of text, places or a function that gives them, not "
            f"{type(found).__name__}"
        )
    places = sorted({checked_int("each of boundaries", place, 0) for place in found})
    if places and places[-1] > len(text):
        raise ArgumentError(
            f"boundaries: {places[-1]} lies behind the {len(text)} characters of the text"
        )
    return [places] if places else []


class _Found(NamedTuple):
    """Where a chunk can end."""

    end: int
    tokens: int
    """How many it has by itself."""
    level: int
    """Which of the units it was cut at: 0 is what was asked for, the next ones are finer, and
    `_ANYWHERE` is none of them."""


class _Cutter:
    """A text, and how much of it may stand together.

    Attributes:
        limit: The most tokens that a part may have.
        frame: How many of these are added to each part.
        room: How many are left for its text.
        levels: What the text is cut at: the places that were given, by their number in `places`,
            the unit asked for, and the finer ones.
        special: What special tokens in a part mean. Those that are an error are looked for once,
            in the whole text.
    """

    def __init__(self, tokenizer: BaseTokenizer, text: str, options: _Options) -> None:
        check_kind("text", text, str, "a str")
        one_of("at", options.at, tuple(_FINER))
        checked_flag("add_special_tokens", options.add_special_tokens)
        self.frame = tokenizer.count(
            "", special=options.special, add_special_tokens=options.add_special_tokens
        )
        self.limit = options.limit
        self.room = self.limit - self.frame
        if self.room < 0:
            raise _no_room(options, self.frame)
        self.places = _places_of(text, options.boundaries)
        self.levels: tuple[str | int, ...] = (*range(len(self.places)), *_FINER[options.at])
        kind = options.boundaries
        find = structure.TABLES.get(kind) if isinstance(kind, str) else None
        self.tables = [] if find is None else find(text)
        self.special = "ignore" if options.special == "raise" else options.special
        self.tokenizer = tokenizer
        self.text = text
        self.options = options
        self._part: TokenPlaces | None = None

    def run(self, cut: Callable[[], _T]) -> _T:
        """Cuts, and has errors of encoding name their place in the whole text."""
        if self.options.special == "raise":
            self.tokenizer.count(self.text, special="raise")
        try:
            return cut()
        except EncodeError:
            self.bare_size(0, len(self.text))
            raise

    def size(self, start: int, end: int) -> int:
        """How many tokens a part of the text has by itself, with those that are added to it."""
        part = self.text[start:end]
        return self.tokenizer.count(
            self.head(start) + part if self.tables else part,
            special=self.special,
            add_special_tokens=self.options.add_special_tokens,
        )

    def head(self, start: int) -> str:
        """The head of the table that a part begins in, if it leaves as much room for rows."""
        head = structure.head_of(start, self.tables)
        return head if 2 * self.tokenizer.count(head, special=self.special) <= self.room else ""

    def bare_size(self, start: int, end: int) -> int:
        """The same without what is added."""
        return self.tokenizer.count(self.text[start:end], special=self.special)

    # Chunks

    def chunks(self, overlap: int) -> Iterator[Chunk]:
        """The chunks, each of which ends behind the one before it."""
        begin = end = level = 0
        if 0 < len(self.text) <= _LIKELY * self.room:
            tokens = self.size(0, len(self.text))
            if tokens <= self.limit:
                yield Chunk._of(self.text, 0, len(self.text), tokens)
                return
        while end < len(self.text):
            start = self._start_within(begin, end, overlap, level)
            found = self._furthest(self._part_with(start, start), start, end)
            if start < end and (found is None or found.level > 0):
                start, found = self._with_less_overlap(start, end, overlap, level, found)
            if found is None:
                raise self._refused(end)
            begin, end, level = start, found.end, found.level
            head = self.head(begin) if self.tables else ""
            yield Chunk._of(self.text[begin:end], begin, end, found.tokens, head)

    def _with_less_overlap(
        self, start: int, end: int, overlap: int, level: int, found: _Found | None
    ) -> tuple[int, _Found | None]:
        """Gives way to a unit that fits only with less overlap, or with none."""
        part = self._part_with(start, end)
        alone = self._furthest(part, end, end)
        if alone is None or (found is not None and found.level <= alone.level):
            return start, found
        unit = self.levels[-1 if alone.level == _ANYWHERE else alone.level]
        following = self._first(unit, part, end + 1, alone.end, end)
        needed = self.bare_size(end, alone.end if following is None else following)
        nearer = self._start_within(start, end, min(overlap, self.room - needed), level)
        if nearer < end:
            shorter = self._furthest(part, nearer, end)
            if shorter is not None and shorter.level <= alone.level:
                return nearer, shorter
        return end, alone

    def _refused(self, at: int) -> ArgumentError:
        size = self.size(at, at + 1)
        return ArgumentError(
            f"{self.options.name}={self.limit} is less than the {_tokens(size)} of the character "
            f"{self.text[at]!r} at {at}"
        )

    # The two ends

    def kept(self, side: Literal["right", "left"]) -> tuple[int, int]:
        """The start and the end of what stays of the text if a side of it is cut."""
        length = len(self.text)
        if not self.tokenizer.exceeds(
            self.text,
            self.limit,
            special=self.special,
            add_special_tokens=self.options.add_special_tokens,
        ):
            return 0, length
        if side == "right":
            found = self._furthest(self._part_with(0, 0), 0, 0)
            return 0, 0 if found is None else found.end
        begin = max(0, length - self.options.width)
        while True:
            places = self._encoded(begin, begin, length - begin, 0)
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

    # Places

    def _furthest(self, part: TokenPlaces, start: int, floor: int) -> _Found | None:
        """The furthest end behind `floor` of a chunk from `start`, at the coarsest level it has.

        It is tried where tokens part in the text, then where they part from `start` on, then at
        each character.
        """
        found = self._furthest_at(part, start, floor)
        if found is None and part.start < start:
            from_start = self._encoded(start, start, 4 * self.room + 64, self.room + 8)
            found = self._furthest_at(from_start, start, floor)
        if found is not None:
            return found
        for end in range(floor + 1, min(floor + _TRIED, len(self.text)) + 1):
            if end < len(self.text) and boundaries.splits_pair(self.text, end):
                continue
            size = self.size(start, end)
            if size <= self.limit:
                return _Found(end, size, _ANYWHERE)
        return None

    def _start_within(self, begin: int, end: int, tokens: int, level: int) -> int:
        """The first place behind `begin` with so many tokens at most from there to `end`.

        A word is cut only if the text is cut at this level at `end` too.
        """
        if begin == end or tokens < 1:
            return end
        uncut = self.levels.index("word") if "word" in self.levels else 0
        units = self.levels[: max(level, uncut) + 1]
        part = self._part_with(begin, begin)
        return self._nearest(part, begin + 1, end, tokens, units, self.bare_size)

    # The next two mirror each other; docs/experiments.md says why they are not one.

    def _furthest_at(self, places: TokenPlaces, start: int, floor: int) -> _Found | None:
        """The last end behind `floor` and at a unit of a chunk from `start`, as `places` has it.

        An end with too many tokens gives way to one with fewer before it: by as many as were too
        many, and by steps that double, so that a text is counted a few times, not once a unit.
        """
        base = places.tokens_before(start)
        for level, unit in enumerate(self.levels):
            room, step = self.room, 1
            high = places.last_with(base + room)
            while (end := self._last(unit, places, floor, high)) is not None:
                size = self.size(start, end)
                if size <= self.limit:
                    return _Found(end, size, level)
                room -= max(size - self.limit, step)
                step *= 2
                high = min(places.last_with(base + room), end - 1)
        return None

    def _nearest(
        self,
        places: TokenPlaces,
        first: int,
        end: int,
        tokens: int,
        units: tuple[str | int, ...],
        size: Callable[[int, int], int],
    ) -> int:
        """The first place from `first` on, at the coarsest unit, from which so few reach `end`.

        Searched as in `_furthest_at`.
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

    def _last(self, unit: str | int, places: TokenPlaces, low: int, high: int) -> int | None:
        """The last place behind `low` and up to `high` for a cut at a unit."""
        if isinstance(unit, int):
            given = self.places[unit]
            place = high if high == len(self.text) else given[bisect_right(given, high) - 1]
            return place if low < place <= high else None
        if unit not in ("token", "code point"):
            return boundaries.last(unit, self.text, low, high)
        for place in places.down_from(high, low):
            if unit == "code point" or boundaries.is_between_characters(self.text, place, low):
                return place
        return None

    def _first(
        self, unit: str | int, places: TokenPlaces, low: int, high: int, since: int
    ) -> int | None:
        """The first place from `low` on and before `high` for a cut at a unit."""
        if isinstance(unit, int):
            place = next(iter(self.places[unit][bisect_left(self.places[unit], low) :]), high)
            return place if place < high else None
        if unit not in ("token", "code point"):
            return boundaries.first(unit, self.text, low, high, since)
        for place in places.up_from(low, high):
            if unit == "code point" or boundaries.is_between_characters(self.text, place, since):
                return place
        return None

    # Tokens

    def _part_with(self, begin: int, start: int) -> TokenPlaces:
        """The part of the text that is encoded now, with more than a chunk from `start` on.

        Where it has less, the part from `begin` on takes its place.
        """
        needed = self.room + _MARGIN
        part = self._part
        if part is None or (
            part.end < len(self.text) and part.tokens - part.tokens_before(start) < needed
        ):
            part = self._encoded(begin, start, self.options.width, 2 * needed)
            self._part = part
        return part

    def _encoded(self, begin: int, start: int, width: int, needed: int) -> TokenPlaces:
        """The places of the text from `begin` on, with so many tokens behind `start`."""
        end = min(start + width, len(self.text))
        while True:
            _, spans = self.tokenizer.encode_array_with_spans(
                self.text[begin:end], special=self.special
            )
            places = TokenPlaces(spans, begin, end)
            behind = places.tokens - places.tokens_before(start)
            if behind >= needed or end == len(self.text):
                return places
            end = min(begin + 2 * (end - begin), len(self.text))
