"""Documents from Python: iterables of texts or records, columns of Arrow, data sets.

While one batch is encoded on all cores, the next is fetched and the previous one written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import Any, Generic, TypeVar

from jeton.arguments import suggestion
from jeton.corpora.dropped import DroppedRecord, RecordPlace
from jeton.corpora.token_blocks.blocks import (
    Block,
    Blocks,
    DocumentEncoding,
    DocumentSource,
    Facts,
    SourcePosition,
)
from jeton.errors import ArgumentError, ArgumentTypeError, FormatError, UnsupportedError

_CHARACTERS = 8_000_000
"""Characters that are encoded at a time: enough for all cores."""
_TEXTS = 100_000
"""Maximum texts that are encoded at a time."""
_ROWS = 10_000
"""Rows of a column that are examined for their length."""

T = TypeVar("T")


def encoded(
    batches: Iterator[T], encode: Callable[[T], list[tuple[Any, ...]]]
) -> Iterator[list[tuple[Any, ...]]]:
    """The results of `encode` for each batch; it runs one batch ahead of the caller."""
    with ThreadPoolExecutor(1) as thread:
        waiting = None
        for batch in batches:
            result = thread.submit(encode, batch)
            if waiting is not None:
                yield waiting.result()
            waiting = result
        if waiting is not None:
            yield waiting.result()


def of_rows(
    results: Iterable[list[tuple[Any, ...]]],
    progress: SourcePosition,
    place: Callable[[int], tuple[int, ...]],
    read: Callable[[int], int],
    name: Callable[[int], RecordPlace] = lambda row: RecordPlace(None, "document", row),
) -> Blocks:
    """The blocks of rows, each a document or empty.

    Args:
        results: The results of `_core.blocks_of_texts`, batch by batch.
        progress: The position of the first row.
        place: Returns the place where reading resumes after a number of rows.
        read: Returns the approximate bytes of the input in a number of rows.
        name: Returns the place of a row, by its number, that was left out.
    """
    rows, documents, size, empty = 0, progress.documents, progress.bytes, progress.empty
    bad = progress.bad
    for tokens, lengths, _, keys, size_here, empty_here, left_out, *_ in chain.from_iterable(
        results
    ):
        rows += len(lengths) + empty_here + len(left_out)
        documents += len(lengths)
        size += size_here
        empty += empty_here
        bad += len(left_out)
        after = SourcePosition(place(rows), documents, size, empty, bad)
        records = tuple(DroppedRecord(name(row), reason) for _, _, row, reason in left_out)
        yield Block(tokens, lengths, keys, progress, after, read(rows), dropped=records)
        progress = after


class Iterated(DocumentSource):
    """The items of an iterable. A place is the number of items before it."""

    def __init__(self, items: Iterable[object], what: str) -> None:
        self._items, self._what = items, what

    def identity(self) -> list[dict[str, object]]:
        """The type of the iterable."""
        return [{"iterable": type(self._items).__name__}]

    def facts(self, end: SourcePosition, digests: Mapping[int, tuple[int, str]]) -> Facts:
        facts = super().facts(end, digests)
        return replace(facts, inputs=({**facts.inputs[0], "documents": end.documents},))

    def _from(self, before: int) -> Iterator[object]:
        """The items after the first `before`."""
        items = iter(self._items)
        skipped = sum(1 for _ in islice(items, before))
        if skipped < before:
            raise FormatError(
                f"the iterable gave {before:,} {self._what} in the first run, and only {skipped:,} "
                "now; resume with the same data, or start again"
            )
        return items


class IteratedTexts(Iterated):
    """An iterable of texts, or of records with a field that holds one."""

    def __init__(
        self,
        items: Iterable[object],
        encoding: DocumentEncoding,
        field: str | None,
        characters: int | None = None,
    ) -> None:
        super().__init__(items, "documents")
        self._encoding, self._field, self._characters = encoding, field, characters
        #: Why items that are left out are no texts, by their numbers.
        self._reasons: dict[int, str] = {}

    def blocks(self, start: SourcePosition) -> Blocks:
        """The blocks of the texts from `start` on."""
        before = start.place[0] if start.place else 0
        batches = self._batches(self._from(before), before)
        results = encoded(batches, self._encoded)
        return of_rows(results, start, lambda rows: (before + rows,), lambda _: 0)

    def _encoded(self, batch: tuple[int, list[str | None]]) -> list[tuple[Any, ...]]:
        """The blocks of a batch; items that are not text count as bad, not as empty."""
        number, texts = batch
        blocks: list[tuple[Any, ...]] = []
        at = 0
        for block in self._encoding.of_texts(texts, "strict", number):
            tokens, lengths, unfinished, keys, size, empty, dropped, *rest = block
            rows = range(at, at + len(lengths) + empty + len(dropped))
            none = [number + row for row in rows if texts[row] is None]
            dropped = sorted(
                [*dropped, *(("", "document", item, self._reasons.pop(item)) for item in none)],
                key=lambda record: record[2],
            )
            counts = (empty - len(none), dropped)
            blocks.append((tokens, lengths, unfinished, keys, size, *counts, *rest))
            at = rows.stop
        return blocks

    def _batches(
        self, items: Iterator[object], number: int
    ) -> Iterator[tuple[int, list[str | None]]]:
        """Batches of texts of about equal size in characters, each with the number of its first
        text; `None` represents an item that is left out."""
        batch: list[str | None] = []
        characters = 0
        for at, item in enumerate(items, number):
            text = None
            try:
                text = self._text(item, at)
            except (ArgumentError, ArgumentTypeError) as error:
                if not self._encoding.drops_bad:
                    raise
                self._reasons[at] = str(error)
            batch.append(text)
            characters += len(text or "")
            if characters >= (self._characters or _CHARACTERS) or len(batch) >= _TEXTS:
                yield at + 1 - len(batch), batch
                batch, characters = [], 0
        if batch:
            yield at + 1 - len(batch), batch

    def _text(self, item: object, number: int) -> str:
        if isinstance(item, Mapping):
            field = self._field or "text"
            if field not in item:
                hint = suggestion(field, [str(name) for name in item]) or "name one by field="
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
        count: The number of rows.
        slice: Returns the rows from one index up to another.
        identity: The properties that must be unchanged to resume.
    """

    count: int
    slice: Callable[[int, int], T]
    identity: dict[str, object]

    def part(self, number: int, parts: int) -> SlicedRows[T]:
        """The rows of part `number` of `parts`, counted from 1."""
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
        """The rows of part `number` of `parts`, counted from 1."""
        return Columns(self._rows.part(number, parts), self._encoding, self._errors)

    def identity(self) -> list[dict[str, object]]:
        """The properties of the column that must be unchanged to resume."""
        return [self._rows.identity]

    def blocks(self, start: SourcePosition) -> Blocks:
        """The blocks of the rows from `start` on."""
        before = start.place[0] if start.place else 0
        results = encoded(
            self._batches(before),
            lambda batch: self._encoding.of_texts(batch[1], self._errors, batch[0]),
        )
        return of_rows(results, start, lambda rows: (before + rows,), lambda _: 0)

    def _batches(self, row: int) -> Iterator[tuple[int, Any]]:
        rows = 100
        while row < self._rows.count:
            column = self._rows.slice(row, min(row + rows, self._rows.count))
            yield row, column
            row += len(column)
            # As many rows as have about the target size.
            size = max(1, int(getattr(column, "nbytes", 0)) // max(1, len(column)))
            rows = max(1, min(_TEXTS, 2 * rows, _CHARACTERS // size))


def column_of(
    data: object, encoding: DocumentEncoding, field: str | None, errors: str
) -> Columns | None:
    """The column of a table of Arrow or of a data set; `None` if it is neither."""
    rows = column_rows(data, field)
    return None if rows is None else Columns(rows, encoding, errors)


def column_rows(data: object, field: str | None) -> SlicedRows[Any] | None:
    """The rows of a column with texts, as slices of Arrow: of a table or an array of Arrow, or of a
    data set; `None` if the data is something else."""
    if type(data).__module__.split(".")[0] == "datasets":
        return _of_dataset(data, field)
    if not hasattr(data, "__arrow_c_stream__") and not hasattr(data, "__arrow_c_array__"):
        return None
    try:
        import pyarrow
    except ImportError:
        raise UnsupportedError(
            "reading columns of Arrow needs pyarrow (pip install 'jeton[parquet]')"
        ) from None
    try:
        table = pyarrow.table(data)
    except (TypeError, ValueError):
        if field is not None:
            raise ArgumentError(_IS_COLUMN) from None
        try:
            table = pyarrow.table({"text": pyarrow.chunked_array(data)})
        except pyarrow.ArrowException as error:
            raise ArgumentError(f"data cannot be read as a column of Arrow: {error}") from None
    names = table.column_names
    name = names[0] if field is None and len(names) == 1 else _column(field or "text", names)
    column = table.column(name)
    identity = {"column": name, "rows": len(column)}
    return SlicedRows(len(column), lambda at, end: column.slice(at, end - at), identity)


_IS_COLUMN = "field names a column, and data is one; leave it out"


def _of_dataset(data: Any, field: str | None) -> SlicedRows[Any] | None:
    if not is_one_split(data):
        return None
    if is_column(data):
        if field is not None:
            raise ArgumentError(_IS_COLUMN)
        data, field = data.source, data.column_name
    if not can_be_sliced(data):
        return None
    name = _column(field or "text", data.column_names)
    rows = data.select_columns([name]).with_format("arrow")
    identity = {"dataset": str(data._fingerprint), "column": name, "rows": len(data)}
    return SlicedRows(len(data), lambda at, end: rows[at:end].column(0), identity)


def is_one_split(data: object) -> bool:
    """Whether a Hugging Face data set is a single split that has a length."""
    if isinstance(data, Mapping):
        raise ArgumentError(
            f"data has the splits {', '.join(map(repr, data))}: pass one of them, and another as "
            "validation="
        )
    return hasattr(data, "__len__")


def is_column(data: object) -> bool:
    """Whether this is a column of a Hugging Face data set, such as `ds["text"]` (version 4 on)."""
    return hasattr(data, "column_name") and hasattr(data, "source")


def can_be_sliced(data: Any) -> bool:
    """Whether the rows of a data set are those of its table; not if it is a column, or if a
    function computes each row."""
    return hasattr(data, "column_names") and data.format["type"] != "custom"


def _column(name: str, names: list[str]) -> str:
    if names.count(name) > 1:
        raise ArgumentError(f"data has more than one column {name!r} (rename all but one)")
    if name not in names:
        hint = suggestion(name, names) or f"it has {', '.join(names)}"
        raise ArgumentError(f"data has no column {name!r} ({hint}); name one by field=")
    return name
