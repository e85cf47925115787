"""Documents that Python has: iterables of texts or records, columns of Arrow, data sets.

While a batch of them is encoded on all cores, the next is fetched and the one before is written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import Any, Generic, TypeVar

import jeton._core as _core
from jeton.corpora.token_blocks.blocks import (
    Block,
    DocumentEncoding,
    DocumentSource,
    Facts,
    SourcePosition,
)
from jeton.errors import ArgumentError, ArgumentTypeError, FormatError, UnsupportedError

__all__ = [
    "Columns",
    "Iterated",
    "IteratedTexts",
    "SlicedRows",
    "can_be_sliced",
    "column_of",
    "encoded",
    "is_column",
    "is_one_split",
    "of_rows",
]

_CHARACTERS = 8_000_000
"""How many characters are encoded at a time: enough for all cores."""
_TEXTS = 100_000
"""The most texts at a time."""
_ROWS = 10_000
"""How many rows of a column are looked at to learn how long they are."""

T = TypeVar("T")


def encoded(
    batches: Iterator[T], encode: Callable[[T], list[tuple[Any, ...]]]
) -> Iterator[list[tuple[Any, ...]]]:
    """What `encode` makes of each batch, a batch ahead of whoever takes it."""
    with ThreadPoolExecutor(1) as thread:
        waiting = None
        for batch in batches:
            made = thread.submit(encode, batch)
            if waiting is not None:
                yield waiting.result()
            waiting = made
        if waiting is not None:
            yield waiting.result()


def of_rows(
    made: Iterable[list[tuple[Any, ...]]],
    progress: SourcePosition,
    place: Callable[[int], tuple[int, ...]],
    read: Callable[[int], int],
) -> Iterator[Block]:
    """The blocks that the core made of rows that each are a document, or hold none.

    Args:
        made: What `_core.blocks_of_texts` gave, batch by batch.
        progress: Where the first row stands.
        place: Where reading goes on behind so many rows.
        read: How many bytes of the input so many rows are, about.
    """
    rows, documents, size, empty = 0, progress.documents, progress.bytes, progress.empty
    bad = progress.bad
    for tokens, lengths, _, keys, size_here, empty_here, bad_here, *_ in chain.from_iterable(made):
        rows += len(lengths) + empty_here + bad_here
        documents += len(lengths)
        size += size_here
        empty += empty_here
        bad += bad_here
        after = SourcePosition(place(rows), documents, size, empty, bad)
        yield Block(tokens, lengths, keys, progress, after, read(rows))
        progress = after


class Iterated(DocumentSource):
    """What an iterable gives. A place is how many came before."""

    def __init__(self, items: Iterable[object], what: str) -> None:
        self._items, self._what = items, what

    def identity(self) -> list[dict[str, Any]]:
        """What is known of them beforehand."""
        return [{"iterable": type(self._items).__name__}]

    def facts(self, end: SourcePosition, digests: Mapping[int, tuple[int, str]]) -> Facts:
        found = super().facts(end, digests)
        return replace(found, inputs=({**found.inputs[0], "documents": end.documents},))

    def _from(self, before: int) -> Iterator[object]:
        """Those behind the first so many."""
        items = iter(self._items)
        passed = sum(1 for _ in islice(items, before))
        if passed < before:
            raise FormatError(
                f"the iterable gave {before:,} {self._what} when it was read first, and "
                f"{passed:,} now; go on with what it began with, or begin anew"
            )
        return items


class IteratedTexts(Iterated):
    """An iterable of texts, or of records with a field that holds one."""

    def __init__(
        self, items: Iterable[object], encoding: DocumentEncoding, field: str | None, errors: str
    ) -> None:
        super().__init__(items, "documents")
        self._encoding, self._field, self._errors = encoding, field, errors
        self._taken = 0

    def blocks(self, start: SourcePosition) -> Iterator[Block]:
        """The blocks of all texts behind those that came before."""
        before = start.place[0] if start.place else 0
        batches = self._batches(self._from(before), before)
        made = encoded(batches, self._encoded)
        return of_rows(made, start, lambda rows: (before + rows,), lambda _: 0)

    def _encoded(self, batch: tuple[int, list[str | None]]) -> list[tuple[Any, ...]]:
        """The blocks of a batch, in which items that are no text count as bad, not as empty."""
        number, texts = batch
        blocks: list[tuple[Any, ...]] = []
        at = 0
        for block in self._encoding.of_texts(texts, "strict", number):
            tokens, lengths, unfinished, keys, size, empty, bad, *rest = block
            rows = len(lengths) + empty + bad
            none = texts[at : at + rows].count(None)
            counts = (empty - none, bad + none)
            blocks.append((tokens, lengths, unfinished, keys, size, *counts, *rest))
            at += rows
        return blocks

    def _batches(
        self, items: Iterator[object], number: int
    ) -> Iterator[tuple[int, list[str | None]]]:
        """Batches of texts of about equal size in characters, with the number of its first;
        `None` for what is left out."""
        batch: list[str | None] = []
        characters = 0
        for at, item in enumerate(items, number):
            text = None
            try:
                text = self._text(item, at)
            except (ArgumentError, ArgumentTypeError):
                if not self._encoding.drops_bad:
                    raise
            batch.append(text)
            characters += len(text or "")
            if characters >= _CHARACTERS or len(batch) >= _TEXTS:
                yield at + 1 - len(batch), batch
                batch, characters = [], 0
        if batch:
            yield at + 1 - len(batch), batch

    def _text(self, item: object, number: int) -> str:
        if isinstance(item, Mapping):
            field = self._field or "text"
            if field not in item:
                close = _core.did_you_mean(field, [str(name) for name in item])
                hint = f"did you mean {close!r}?" if close else "name one by field="
                raise ArgumentError(f"document {number} has no field {field!r} ({hint})")
            item = item[field]
            item = "" if item is None else item
        if not isinstance(item, str):
            raise ArgumentTypeError(
                f"document {number} must be a str, or a record with a field that is one, not "
                f"{type(item).__name__}"
            )
        return item


@dataclass(frozen=True)
class SlicedRows(Generic[T]):
    """Rows that can be sliced.

    Attributes:
        count: How many there are.
        slice: Gives those from one place up to another.
        identity: What is known of them beforehand.
    """

    count: int
    slice: Callable[[int, int], T]
    identity: dict[str, Any]

    def part(self, number: int, parts: int) -> SlicedRows[T]:
        """The rows of one of so many parts, counted from 1."""
        first = self.count * (number - 1) // parts
        end = self.count * number // parts
        return SlicedRows(
            end - first,
            lambda at, stop: self.slice(first + at, first + stop),
            {**self.identity, "first": first, "end": end},
        )


class Columns(DocumentSource):
    """A column of Arrow that can be sliced, or one of a Hugging Face data set."""

    def __init__(self, rows: SlicedRows[Any], encoding: DocumentEncoding, errors: str) -> None:
        self._rows, self._encoding, self._errors = rows, encoding, errors

    def part(self, number: int, parts: int) -> Columns:
        """The rows of one of so many parts, counted from 1."""
        return Columns(self._rows.part(number, parts), self._encoding, self._errors)

    def identity(self) -> list[dict[str, Any]]:
        """What is known of it beforehand."""
        return [self._rows.identity]

    def blocks(self, start: SourcePosition) -> Iterator[Block]:
        """The blocks of all rows behind those that came before."""
        before = start.place[0] if start.place else 0
        made = encoded(
            self._batches(before),
            lambda batch: self._encoding.of_texts(batch[1], self._errors, batch[0]),
        )
        return of_rows(made, start, lambda rows: (before + rows,), lambda _: 0)

    def _batches(self, row: int) -> Iterator[tuple[int, Any]]:
        rows = 100
        while row < self._rows.count:
            column = self._rows.slice(row, min(row + rows, self._rows.count))
            yield row, column
            row += len(column)
            # As many as have about the size that is wanted.
            size = max(1, int(getattr(column, "nbytes", 0)) // max(1, len(column)))
            rows = max(1, min(_TEXTS, 2 * rows, _CHARACTERS // size))


def column_of(
    data: object, encoding: DocumentEncoding, field: str | None, errors: str
) -> Columns | None:
    """The column of a table of Arrow or of a data set; `None` if it is neither."""
    if type(data).__module__.split(".")[0] == "datasets":
        return _of_dataset(data, encoding, field, errors)
    if not hasattr(data, "__arrow_c_stream__") and not hasattr(data, "__arrow_c_array__"):
        return None
    try:
        import pyarrow
    except ImportError:
        raise UnsupportedError(
            "columns of Arrow are read by pyarrow (pip install 'jeton[parquet]')"
        ) from None
    try:
        table = pyarrow.table(data)
    except (TypeError, ValueError):
        table = pyarrow.table({"text": pyarrow.chunked_array(data)})
        field = None
    names = table.column_names
    name = names[0] if field is None and len(names) == 1 else _column(field or "text", names)
    column = table.column(name)
    identity = {"column": name, "rows": len(column)}
    given = SlicedRows(len(column), lambda at, end: column.slice(at, end - at), identity)
    return Columns(given, encoding, errors)


def _of_dataset(
    data: Any, encoding: DocumentEncoding, field: str | None, errors: str
) -> Columns | None:
    if not is_one_split(data):
        return None
    if is_column(data):
        if field is not None:
            raise ArgumentError("field names a column, and data is one; leave it out")
        data, field = data.source, data.column_name
    if not can_be_sliced(data):
        return None
    name = _column(field or "text", data.column_names)
    rows = data.select_columns([name]).with_format("arrow")
    identity = {"dataset": str(data._fingerprint), "column": name, "rows": len(data)}
    given = SlicedRows(len(data), lambda at, end: rows[at:end].column(0), identity)
    return Columns(given, encoding, errors)


def is_one_split(data: object) -> bool:
    """Whether a Hugging Face data set is one that can be sliced.

    Raises:
        ArgumentError: It holds several.
    """
    if isinstance(data, Mapping):
        raise ArgumentError(
            f"data has the splits {', '.join(map(repr, data))}: pass one of them, and another as "
            "validation="
        )
    return hasattr(data, "__len__")


def is_column(data: object) -> bool:
    """Whether this is a column of a Hugging Face data set, as `ds["text"]` is from version 4 on."""
    return hasattr(data, "column_name") and hasattr(data, "source")


def can_be_sliced(data: Any) -> bool:
    """Whether rows of a data set are what its table holds: not within a column, nor if a function
    makes each of them."""
    return hasattr(data, "column_names") and data.format["type"] != "custom"


def _column(name: str, names: list[str]) -> str:
    if name not in names:
        close = _core.did_you_mean(name, names)
        hint = f"did you mean {close!r}?" if close else f"it has {', '.join(names)}"
        raise ArgumentError(f"data has no column {name!r} ({hint}); name one by field=")
    return name
