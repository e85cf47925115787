"""What `tok(...)` was given: one text or many, pairs, words; checked, in columns.

Look here for what counts as a batch and as a pair, and for entries that are None or NaN.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, TypeGuard

from jeton.errors import ArgumentError, ArgumentTypeError

if TYPE_CHECKING:
    from jeton.argument_types import ArrowColumn

__all__ = ["Column", "Inputs", "is_null", "read"]

Texts: TypeAlias = "list[str | None] | ArrowColumn"


@dataclass(frozen=True)
class Column:
    """The first texts of all samples, or the second ones."""

    texts: Texts
    """The texts, or the words of all samples one after another; `None` for a null."""
    words: list[int] | None = None
    """How many words each sample has, where texts were given as words."""
    present: list[bool] | None = None
    """Which samples have such a text, where not all do; the others have no entry above."""


@dataclass(frozen=True)
class Inputs:
    """What is to be encoded."""

    first: Column
    second: Column | None
    is_batch: bool


def read(
    text: object,
    text_pair: object,
    *,
    is_split_into_words: bool,
    nulls: str,
    names: tuple[str, str],
) -> Inputs:
    """The columns of texts that a call means.

    Args:
        text, text_pair: What was given.
        is_split_into_words: Whether a text is a list of words.
        nulls: Whether an entry that is missing is an error (`"raise"`) or an empty text.
        names: What the two arguments are called.
    """
    reader = _Reader(nulls, names)
    return reader.words(text, text_pair) if is_split_into_words else reader.texts(text, text_pair)


def is_null(entry: object) -> bool:
    """Whether an entry is missing: None, NaN, or what pandas has for these."""
    if entry is None:
        return True
    # Of all values only NaN, and NaT, is not equal to itself; pandas.NA says neither.
    if type(entry).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(entry, float) and entry != entry


@dataclass(frozen=True)
class _Reader:
    nulls: str
    names: tuple[str, str]

    def texts(self, text: object, text_pair: object) -> Inputs:
        first, second = self.names
        if isinstance(text, str):
            if text_pair is None:
                return Inputs(Column([text]), None, False)
            if not isinstance(text_pair, str):
                raise ArgumentTypeError(
                    f"{second} must be a str, as {first} is, not {type(text_pair).__name__}"
                )
            return Inputs(Column([text]), Column([text_pair]), False)
        if text_pair is not None:
            return Inputs(
                self._column(first, text), self._column(second, text_pair, beside=text), True
            )
        column = self._column(first, text, pairs=True)
        return (
            self._paired(column) if isinstance(column.texts, list) else Inputs(column, None, True)
        )

    def words(self, text: object, text_pair: object) -> Inputs:
        first, second = self.names
        listed = _listed(first, text, "a list of words, or of lists of them")
        nested = [_is_nested(entry) for entry in listed]
        if not any(nested):
            return self._one_of_words(listed, text_pair)
        if text_pair is not None:
            beside = _listed(second, text_pair, f"a list of lists of words, as {first} is")
            _check_lengths(self.names, listed, beside)
            return Inputs(self._word_lists(first, listed), self._word_lists(second, beside), True)
        pairs = [_is_word_pair(entry) for entry in listed]
        if not any(pairs):
            return Inputs(self._word_lists(first, listed), None, True)
        firsts = [entry[0] if pair else entry for pair, entry in zip(pairs, listed, strict=True)]
        seconds = [entry[1] for pair, entry in zip(pairs, listed, strict=True) if pair]
        column = self._word_lists(f"the second of {first}", seconds)
        return Inputs(
            self._word_lists(first, firsts),
            Column(column.texts, column.words, None if all(pairs) else pairs),
            True,
        )

    def _one_of_words(self, listed: list[Any], text_pair: object) -> Inputs:
        first, second = self.names
        column = Column(self._entries(first, listed), [len(listed)])
        if text_pair is None:
            return Inputs(column, None, False)
        beside = _listed(second, text_pair, f"a list of words, as {first} is")
        return Inputs(column, Column(self._entries(second, beside), [len(beside)]), False)

    def _word_lists(self, name: str, listed: list[Any]) -> Column:
        rows: list[list[Any]] = []
        for number, entry in enumerate(listed):
            place = f"{name}[{number}]"
            if is_null(entry):
                self._check_null(place, entry)
                rows.append([])
            else:
                rows.append(_listed(place, entry, "a list of words"))
        flat = list(itertools.chain.from_iterable(rows))
        if not _all_str(flat):
            for number, row in enumerate(rows):
                rows[number] = self._entries(f"{name}[{number}]", row)
            flat = list(itertools.chain.from_iterable(rows))
        return Column(flat, [len(row) for row in rows])

    def _column(
        self, name: str, given: object, *, beside: object = None, pairs: bool = False
    ) -> Column:
        if not isinstance(given, (list, tuple)) and is_column(given):
            return Column(given)
        if beside is not None and isinstance(given, str):
            raise ArgumentTypeError(f"{name} must be a list of str, as {self.names[0]} is, not str")
        listed = _listed(name, given, "a str or a list of str")
        if beside is not None and not is_column(beside):
            _check_lengths(self.names, beside, listed)
        if _all_str(listed):
            return Column(listed)
        if pairs and any(map(_is_nested, listed)):
            return Column(
                [
                    entry if _is_nested(entry) else self._entry(name, number, entry)
                    for number, entry in enumerate(listed)
                ]
            )
        return Column(self._entries(name, listed))

    def _paired(self, column: Column) -> Inputs:
        """The two columns of a batch some of whose entries are pairs."""
        name = self.names[0]
        listed: Any = column.texts
        pairs = [_is_nested(entry) for entry in listed]
        if not any(pairs):
            return Inputs(column, None, True)
        firsts, seconds = [], []
        for number, (pair, entry) in enumerate(zip(pairs, listed, strict=True)):
            if not pair:
                firsts.append(entry)
                continue
            if len(entry) != 2:
                raise ArgumentTypeError(
                    f"{name}[{number}] must be a str, or a pair of them, not a "
                    f"{type(entry).__name__} of {len(entry)} (for words, give "
                    "is_split_into_words=True)"
                )
            one, other = self._entries(f"{name}[{number}]", list(entry))
            firsts.append(one)
            seconds.append(other)
        return Inputs(Column(firsts), Column(seconds, None, None if all(pairs) else pairs), True)

    def _entries(self, name: str, listed: list[Any]) -> list[str | None]:
        """Texts or words, of which some may be missing."""
        if _all_str(listed):
            return listed
        return [self._entry(name, number, entry) for number, entry in enumerate(listed)]

    def _entry(self, name: str, number: int, entry: object) -> str | None:
        if isinstance(entry, str):
            return entry
        place = f"{name}[{number}]"
        if is_null(entry):
            self._check_null(place, entry)
            return None
        hint = " (decode it first)" if isinstance(entry, (bytes, bytearray)) else ""
        raise ArgumentTypeError(f"{place} must be a str, not {type(entry).__name__}{hint}")

    def _check_null(self, place: str, entry: object) -> None:
        if self.nulls == "raise":
            raise ArgumentTypeError(
                f"{place} is {'None' if entry is None else 'not a text but missing (NaN)'}; "
                'leave it out, or give nulls="empty"'
            )


def is_column(given: object) -> TypeGuard[ArrowColumn]:
    """Whether a thing exports itself as Arrow."""
    return hasattr(given, "__arrow_c_stream__") or hasattr(given, "__arrow_c_array__")


def _all_str(listed: list[Any]) -> TypeGuard[list[str | None]]:
    return set(map(type, listed)) <= {str}


def _is_nested(entry: object) -> bool:
    return not isinstance(entry, (str, bytes, bytearray, Mapping, Set)) and isinstance(
        entry, Iterable
    )


def _is_word_pair(entry: object) -> bool:
    """Whether an entry is two lists of words, and not one."""
    return isinstance(entry, (list, tuple)) and len(entry) == 2 and all(map(_is_nested, entry))


def _listed(name: str, given: object, expected: str) -> list[Any]:
    # An array without an axis is iterable by its type alone.
    if not _is_nested(given) or getattr(given, "ndim", 1) == 0:
        kind = type(given).__name__
        raise ArgumentTypeError(f"{name} must be {expected}, not {kind}")
    return list(given)  # type: ignore[call-overload,no-any-return]


def _check_lengths(names: tuple[str, str], first: object, second: list[Any]) -> None:
    if hasattr(first, "__len__") and len(first) != len(second):
        raise ArgumentError(
            f"{names[0]} has {len(first)} entries and {names[1]} {len(second)}; give one to each"
        )
