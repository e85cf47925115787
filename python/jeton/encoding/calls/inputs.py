"""The texts of `tok(...)`: one text or many, pairs, words; checked, as columns.

Look here for what is a batch or a pair, and for entries that are None or NaN.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence, Set, Sized
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias, TypeGuard

from jeton.errors import ArgumentError, ArgumentTypeError

if TYPE_CHECKING:
    from jeton.argument_types import ArrowColumn

Texts: TypeAlias = "list[str | None] | ArrowColumn"


@dataclass(frozen=True)
class Column:
    """The first texts of all samples, or the second ones."""

    texts: Texts
    """The texts, or the words of all samples one after another; `None` for a null."""
    words: list[int] | None = None
    """How many words each sample has, if texts are split into words."""
    present: list[bool] | None = None
    """Which samples have such a text, if not all do; the others have no entry above."""


@dataclass(frozen=True)
class Inputs:
    """The texts to encode."""

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
    """The texts of a call as columns.

    Args:
        text, text_pair: The values of the two arguments.
        is_split_into_words: Whether a text is a list of words.
        nulls: Whether a missing entry is an error (`"raise"`) or an empty text.
        names: The names of the two arguments.
    """
    reader = _Reader(nulls, names)
    return reader.words(text, text_pair) if is_split_into_words else reader.texts(text, text_pair)


def is_null(entry: object) -> bool:
    """Whether an entry is missing: None, NaN, or pandas' NA or NaT."""
    if entry is None:
        return True
    # NaN differs from itself. pandas.NA answers no comparison, so its type is compared instead.
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
        listed = _as_list(first, text, "a list of words, or of lists of them")
        nested = [_is_nested(entry) for entry in listed]
        if not any(nested):
            column = Column(self._entries(first, listed), [len(listed)])
            if text_pair is None:
                return Inputs(column, None, False)
            beside = _as_list(second, text_pair, f"a list of words, as {first} is")
            return Inputs(column, Column(self._entries(second, beside), [len(beside)]), False)
        if text_pair is not None:
            beside = _as_list(second, text_pair, f"a list of lists of words, as {first} is")
            _check_lengths(self.names, listed, beside)
            return Inputs(self._word_lists(first, listed), self._word_lists(second, beside), True)
        pairs = [
            isinstance(entry, (list, tuple)) and len(entry) == 2 and all(map(_is_nested, entry))
            for entry in listed
        ]
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

    def _word_lists(self, name: str, listed: Sequence[object]) -> Column:
        rows: list[list[Any]] = []
        for number, entry in enumerate(listed):
            place = f"{name}[{number}]"
            if is_null(entry):
                self._check_null(place, entry)
                rows.append([])
            else:
                rows.append(_as_list(place, entry, "a list of words"))
        flat = list(itertools.chain.from_iterable(rows))
        if not _all_str(flat):
            for number, row in enumerate(rows):
                rows[number] = self._entries(f"{name}[{number}]", row)
            flat = list(itertools.chain.from_iterable(rows))
        return Column(flat, [len(row) for row in rows])

    def _column(
        self, name: str, value: object, *, beside: object = None, pairs: bool = False
    ) -> Column:
        if not isinstance(value, (list, tuple)) and is_column(value):
            return Column(value)
        if beside is not None and isinstance(value, str):
            raise ArgumentTypeError(f"{name} must be a list of str, as {self.names[0]} is, not str")
        listed = _as_list(name, value, "a str or a list of str")
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
        """The two columns of a batch in which some entries are pairs."""
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

    def _entries(self, name: str, listed: list[object]) -> list[str | None]:
        """Texts or words, some of which may be missing."""
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


def is_column(value: object) -> TypeGuard[ArrowColumn]:
    """Whether a value exports itself as Arrow."""
    return hasattr(value, "__arrow_c_stream__") or hasattr(value, "__arrow_c_array__")


def _all_str(listed: list[object]) -> TypeGuard[list[str | None]]:
    return set(map(type, listed)) <= {str}


def _is_nested(entry: object) -> bool:
    return not isinstance(entry, (str, bytes, bytearray, Mapping, Set)) and isinstance(
        entry, Iterable
    )


def _as_list(name: str, value: object, kinds: str) -> list[Any]:
    # An array without an axis has `__iter__` but cannot be iterated over.
    if not _is_nested(value) or getattr(value, "ndim", 1) == 0:
        raise ArgumentTypeError(f"{name} must be {kinds}, not {type(value).__name__}")
    return list(value)  # type: ignore[call-overload,no-any-return]


def _check_lengths(names: tuple[str, str], first: object, second: Sized) -> None:
    if isinstance(first, Sized) and len(first) != len(second):
        raise ArgumentError(
            f"{names[0]} has {len(first)} entries and {names[1]} {len(second)}; give both the same "
            "number"
        )
