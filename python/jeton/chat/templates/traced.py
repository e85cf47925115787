"""`Traced`: a `str` that knows who wrote each of its characters, whatever a template does to it.

Every method that returns text keeps the origins. Where they cannot be separated, all of the
text is taken for data. A plain `str` is text of the template.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, SupportsIndex

from jeton.chat.templates.limits import ITEM, PIECE, spend
from jeton.chat.templates.origins import TEMPLATE, Origin, Runs
from jeton.chat.templates.parts import cut, data_in, plain, raw, runs_of


def traced(text: str, runs: Iterable[tuple[int, Origin]]) -> str:
    """A text with its runs; a plain `str` where the template wrote it all."""
    merged: list[tuple[int, Origin]] = []
    for run in runs:
        length, origin = run
        if not length:
            continue
        if merged:
            last = merged[-1][1]
            if last is origin or (last.kind == origin.kind and last == origin):
                merged[-1] = (merged[-1][0] + length, origin)
                continue
        merged.append(run)
    if not merged or (len(merged) == 1 and merged[0][1] == TEMPLATE):
        return raw(text)
    return Traced(text, tuple(merged))


def marked(text: str, origin: Origin | None) -> str:
    """A text that one origin wrote."""
    if origin is None or not text:
        return raw(text)
    return Traced(text, ((len(text), origin),))


def joined(parts: Iterable[str]) -> str:
    """Texts one after another."""
    parts = parts if isinstance(parts, (list, tuple)) else list(parts)
    spend(ITEM * len(parts) + sum(map(len, parts)))
    kinds = {*map(type, parts)}
    if kinds <= {str}:
        return "".join(parts)
    for kind in kinds - {str, Traced}:
        if issubclass(kind, Traced):
            return kind._joined(parts)
    runs: list[tuple[int, Origin]] = []
    for part in parts:
        if type(part) is str:
            runs.append((len(part), TEMPLATE))
        else:
            runs += runs_of(part)
    return traced("".join(parts), runs)


class Traced(str):
    """A text with the origin of each character."""

    __slots__ = ("_runs",)
    _runs: Runs

    def __new__(cls, text: str, runs: Runs | None = None) -> Traced:
        self = str.__new__(cls, raw(text))
        self._runs = runs_of(text) if runs is None else runs
        return self

    def __getnewargs__(self) -> tuple[str, Runs]:  # type: ignore[override]
        return raw(self), self._runs

    def __str__(self) -> str:
        return self

    def __repr__(self) -> str:
        return self._whole(str.__repr__(self))

    def __format__(self, spec: str) -> str:
        return self if not spec else self._whole(str.__format__(raw(self), spec))

    @staticmethod
    def _joined(parts: Sequence[str]) -> str:
        """Texts one after another, of which a subclass makes one of its own."""
        raise NotImplementedError

    def _whole(self, text: str, *others: object) -> str:
        """A text from this one and others, joined in a way that is not followed."""
        return marked(text, data_in((self, others)))

    def _slice(self, start: int, stop: int) -> str:
        # `raw` would copy all of the text.
        return traced(str.__getitem__(self, slice(start, stop)), cut(self._runs, start, stop))

    def _slices(self, ranges: Iterable[tuple[int, int]]) -> list[str]:
        """The slices of ranges that follow each other, in linear time."""
        text, runs = raw(self), self._runs
        if len(runs) == 1:
            return [marked(text[start:stop], runs[0][1]) for start, stop in ranges]
        found: list[str] = []
        first = before = 0
        for start, stop in ranges:
            spend(PIECE)
            while first < len(runs) and before + runs[first][0] <= start:
                before += runs[first][0]
                first += 1
            number, at, cut = first, before, []
            while number < len(runs) and at < stop:
                length, origin = runs[number]
                cut.append((min(at + length, stop) - max(at, start), origin))
                at += length
                number += 1
            found.append(traced(text[start:stop], cut))
        return found

    def _pieces(self, pieces: Iterable[str]) -> list[str]:
        """The slices whose texts these are, in order."""
        text, at, ranges = raw(self), 0, []
        for piece in pieces:
            start = text.index(piece, at)
            at = start + len(piece)
            ranges.append((start, at))
        return self._slices(ranges)

    def __getitem__(self, key: SupportsIndex | slice) -> str:
        if isinstance(key, slice):
            start, stop, step = key.indices(len(self))
            if step == 1:
                return self._slice(start, max(start, stop))
            text = raw(self)[key]
            if len(self._runs) == 1:
                return marked(text, self._runs[0][1])
            spend(PIECE * len(self))
            each = [origin for length, origin in self._runs for _ in range(length)]
            return traced(text, [(1, origin) for origin in each[key]])
        at = range(len(self))[key]
        return self._slice(at, at + 1)

    def __iter__(self) -> Iterator[str]:
        text, at = raw(self), 0
        for length, origin in self._runs:
            for start in range(at, at + length, 1024):
                characters = text[start : min(start + 1024, at + length)]
                spend(PIECE * len(characters))
                for character in characters:
                    yield traced(character, ((1, origin),))
            at += length

    def __add__(self, other: object) -> str:
        # Of other values Python says that they do not fit, and Jinja which of them is undefined.
        return joined((self, other)) if isinstance(other, str) else NotImplemented

    def __radd__(self, other: object) -> str:
        return joined((other, self)) if isinstance(other, str) else NotImplemented

    def __mul__(self, count: SupportsIndex) -> str:
        if not hasattr(count, "__index__"):
            return NotImplemented
        times = max(0, count.__index__())
        spend(len(self._runs) * times * (PIECE // 4))
        return traced(raw(self) * times, self._runs * times)

    __rmul__ = __mul__

    def __mod__(self, values: object) -> str:
        return self._whole(raw(self) % plain(values), values)

    def __rmod__(self, template: object) -> str:
        return self._whole(template % raw(self)) if isinstance(template, str) else NotImplemented

    # Parts

    def strip(self, chars: str | None = None) -> str:
        text = raw(self)
        start = len(text) - len(text.lstrip(chars))
        return self._slice(start, max(start, len(text.rstrip(chars))))

    def lstrip(self, chars: str | None = None) -> str:
        return self._slice(len(self) - len(raw(self).lstrip(chars)), len(self))

    def rstrip(self, chars: str | None = None) -> str:
        return self._slice(0, len(raw(self).rstrip(chars)))

    def removeprefix(self, prefix: str) -> str:
        return self._slice(len(self) - len(raw(self).removeprefix(prefix)), len(self))

    def removesuffix(self, suffix: str) -> str:
        return self._slice(0, len(raw(self).removesuffix(suffix)))

    def split(self, sep: str | None = None, maxsplit: SupportsIndex = -1) -> list[str]:
        return self._parted(raw(self).split(sep, maxsplit), sep)

    def rsplit(self, sep: str | None = None, maxsplit: SupportsIndex = -1) -> list[str]:
        return self._parted(raw(self).rsplit(sep, maxsplit), sep)

    def _parted(self, pieces: list[str], sep: str | None) -> list[str]:
        if sep is None:
            return self._pieces(pieces)
        ranges, at = [], 0
        for piece in pieces:
            ranges.append((at, at + len(piece)))
            at += len(piece) + len(sep)
        return self._slices(ranges)

    def splitlines(self, keepends: bool = False) -> list[str]:
        text, ranges, at = raw(self), [], 0
        for whole, line in zip(text.splitlines(True), text.splitlines(keepends), strict=True):
            ranges.append((at, at + len(line)))
            at += len(whole)
        return self._slices(ranges)

    def partition(self, sep: str) -> tuple[str, str, str]:
        return self._three(raw(self).partition(sep))

    def rpartition(self, sep: str) -> tuple[str, str, str]:
        return self._three(raw(self).rpartition(sep))

    def _three(self, parts: tuple[str, str, str]) -> tuple[str, str, str]:
        first, second = len(parts[0]), len(parts[0]) + len(parts[1])
        return self._slice(0, first), self._slice(first, second), self._slice(second, len(self))

    # Wholes

    def join(self, parts: Iterable[str]) -> str:
        items = list(parts)
        if not all(isinstance(item, str) for item in items):
            str.join(raw(self), items)  # says which is no str
        between: list[str] = []
        for item in items:
            between += (self, item)
        return joined(between[1:])

    def replace(self, old: str, new: str, count: SupportsIndex = -1) -> str:
        most, text = count.__index__(), raw(self)
        if not old:
            places = list(range(len(text) + 1))
        else:
            places, at = [], text.find(old)
            while at >= 0 and not 0 <= most <= len(places):
                places.append(at)
                at = text.find(old, at + len(old))
        places = places if most < 0 else places[:most]
        starts = [0, *(place + len(old) for place in places)]
        kept = self._slices(zip(starts, [*places, len(text)], strict=True))
        between: list[str] = []
        for part in kept[1:]:
            between += (new, part)
        return joined((kept[0], *between))

    def _padded(self, text: str, before: int, fill: str) -> str:
        writer = runs_of(fill)[0][1]
        behind = len(text) - before - len(self)
        return traced(text, ((before, writer), *self._runs, (behind, writer)))

    def center(self, width: SupportsIndex, fillchar: str = " ") -> str:
        text = raw(self).center(width, fillchar)
        extra = len(text) - len(self)
        # CPython puts the odd one in front where the width is odd too.
        before = extra // 2 + (extra & width.__index__() & 1) if extra else 0
        return self._padded(text, before, fillchar)

    def ljust(self, width: SupportsIndex, fillchar: str = " ") -> str:
        return self._padded(raw(self).ljust(width, fillchar), 0, fillchar)

    def rjust(self, width: SupportsIndex, fillchar: str = " ") -> str:
        text = raw(self).rjust(width, fillchar)
        return self._padded(text, len(text) - len(self), fillchar)

    def zfill(self, width: SupportsIndex) -> str:
        return self._whole(raw(self).zfill(width))

    def expandtabs(self, tabsize: SupportsIndex = 8) -> str:
        return self._whole(raw(self).expandtabs(tabsize))

    def translate(self, table: Any) -> str:
        return self._whole(raw(self).translate(table), table)

    def encode(self, encoding: str = "utf-8", errors: str = "strict") -> bytes:
        if any(origin != TEMPLATE for _, origin in self._runs):
            raise TypeError("bytes do not know who wrote them")
        return raw(self).encode(encoding, errors)

    # Case. No character becomes less than one, so an equal length means one for one.

    def _recased(self, text: str) -> str:
        return traced(text, self._runs) if len(text) == len(self) else self._whole(text)

    def upper(self) -> str:
        return self._recased(raw(self).upper())

    def lower(self) -> str:
        return self._recased(raw(self).lower())

    def title(self) -> str:
        return self._recased(raw(self).title())

    def capitalize(self) -> str:
        return self._recased(raw(self).capitalize())

    def swapcase(self) -> str:
        return self._recased(raw(self).swapcase())

    def casefold(self) -> str:
        return self._recased(raw(self).casefold())
