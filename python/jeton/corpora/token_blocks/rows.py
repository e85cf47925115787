"""Documents from Python: iterables of texts or records, columns of Arrow, data sets.

While one batch is encoded on all cores, the next is fetched and the previous one written.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, Generic, TypeVar

from jeton.arguments import suggestion
from jeton.corpora.dropped import DroppedRecord, RecordPlace
from jeton.corpora.tables import check_text_type, names_hint
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

T = TypeVar("T")
U = TypeVar("U")


@dataclass(frozen=True)
class Row:
    """The position of a text or a record."""

    name: RecordPlace
    """How errors name it."""
    place: tuple[int, ...]
    """Where reading resumes after it."""
    read: int = 0
    """The approximate bytes of the input that were read up to there."""


@dataclass(frozen=True)
class TextBatch:
    """Texts that are encoded together."""

    texts: Any
    """Texts, with `None` for those that are left out; or a column of Arrow."""
    row: Callable[[int], Row]
    """Returns the position of a text, by its index."""
    bad: Mapping[int, str] = field(default_factory=dict)
    """Why some have no text."""
    filtered: Mapping[int, str] = field(default_factory=dict)
    """The filters that leave some out."""


def blocks_of_texts(
    batches: Iterator[TextBatch],
    encoding: DocumentEncoding,
    progress: SourcePosition,
) -> Blocks:
    """The blocks of texts, each a document, empty or left out.

    Args:
        batches: The texts. One batch is encoded ahead of the caller.
        encoding: How they become tokens.
        progress: The position of the first text.
    """

    def encoded(batch: TextBatch) -> tuple[TextBatch, list[Any]]:
        return batch, encoding.of_texts(batch.texts, lambda at: batch.row(at).name)

    for batch, results in _ahead(batches, encoded):
        at = 0
        for tokens, lengths, _, keys, size, empty, dropped, *_ in results:
            rows = range(at, at + len(lengths) + empty + len(dropped))
            bad = {row: batch.bad[row] for row in rows if row in batch.bad}
            bad |= {row: why for _, _, row, why in dropped}
            filtered = [batch.filtered[row] for row in rows if row in batch.filtered]
            last = batch.row(rows[-1])
            after = SourcePosition(
                last.place,
                progress.documents + len(lengths),
                progress.bytes + size,
                progress.empty + empty + len(dropped) - len(filtered) - len(bad),
                progress.bad + len(bad),
                filtered=added(progress.filtered, filtered),
            )
            records = tuple(DroppedRecord(batch.row(row).name, bad[row]) for row in sorted(bad))
            yield Block(tokens, lengths, keys, progress, after, last.read, dropped=records)
            progress, at = after, rows.stop


def added(counts: Mapping[str, int] | None, names: Iterable[str]) -> Mapping[str, int] | None:
    """Counts by name, with 1 more for each of some names."""
    if counts is None:
        return None
    more = Counter(names)
    return {name: count + more[name] for name, count in counts.items()}


def _ahead(items: Iterator[T], work: Callable[[T], U]) -> Iterator[U]:
    """The results of `work` for each item; it runs one item ahead of the caller."""
    with ThreadPoolExecutor(1) as thread:
        waiting = None
        for item in items:
            result = thread.submit(work, item)
            if waiting is not None:
                yield waiting.result()
            waiting = result
        if waiting is not None:
            yield waiting.result()


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
        characters: int | None = None,
    ) -> None:
        super().__init__(items, "documents")
        # Texts of Python are no bytes.
        self._encoding, self._characters = replace(encoding, errors="strict"), characters

    def blocks(self, start: SourcePosition) -> Blocks:
        """The blocks of the texts from `start` on."""
        before = start.place[0] if start.place else 0
        batches = self._batches(self._from(before), before)
        return blocks_of_texts(batches, self._encoding, start)

    def _batches(self, items: Iterator[object], first: int) -> Iterator[TextBatch]:
        """Batches of texts of about equal size in characters."""
        texts, bad, characters = list[str | None](), dict[int, str](), 0
        for number, item in enumerate(items, first):
            text = None
            try:
                text = self._text(item, number)
            except (ArgumentError, ArgumentTypeError) as error:
                if not self._encoding.drops_bad:
                    raise
                bad[len(texts)] = str(error)
            texts.append(text)
            characters += len(text or "")
            if characters >= (self._characters or _CHARACTERS) or len(texts) >= _TEXTS:
                yield TextBatch(texts, numbered(first), bad)
                first, texts, bad, characters = number + 1, [], {}, 0
        if texts:
            yield TextBatch(texts, numbered(first), bad)

    def _text(self, item: object, number: int) -> str:
        if isinstance(item, Mapping):
            field = self._encoding.field or "text"
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


def numbered(first: int, unit: str = "document") -> Callable[[int], Row]:
    """The positions of texts of Python from number `first` on."""
    return lambda at: Row(RecordPlace(None, unit, first + at), (first + at + 1,))


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

    def __init__(self, rows: SlicedRows[Any], encoding: DocumentEncoding) -> None:
        self._rows, self._encoding = rows, encoding

    def identity(self) -> list[dict[str, object]]:
        """The properties of the column that must be unchanged to resume."""
        return [self._rows.identity]

    def blocks(self, start: SourcePosition) -> Blocks:
        """The blocks of the rows from `start` on."""
        before = start.place[0] if start.place else 0
        return blocks_of_texts(self._batches(before), self._encoding, start)

    def _batches(self, row: int) -> Iterator[TextBatch]:
        rows = 100
        while row < self._rows.count:
            column = self._rows.slice(row, min(row + rows, self._rows.count))
            yield TextBatch(column, numbered(row))
            row += len(column)
            # As many rows as have about the target size.
            size = max(1, int(getattr(column, "nbytes", 0)) // max(1, len(column)))
            rows = max(1, min(_TEXTS, 2 * rows, _CHARACTERS // size))


def column_rows(data: object, field: str | None) -> SlicedRows[Any] | None:
    """The rows of a column with texts, as slices of Arrow: of a table or an array of Arrow, or of a
    data set; `None` if the data is something else."""
    table = table_of(data)
    if table is None:
        return None
    if table.is_column and field is not None:
        raise ArgumentError("field names a column, and data is one; leave it out")
    name, names = table.text if field is None else field, table.names
    if names.count(name) > 1:
        raise ArgumentError(f"data has more than one column {name!r} (rename all but one)")
    if name not in names:
        hint = names_hint(name, names)
        raise ArgumentError(f"data has no column {name!r} ({hint}); name one by field=")
    rows = table.select([name])
    check_text_type(f"data: column {name!r}", rows(0, 0).column(0).type)
    identity = {**table.identity, "column": name, "rows": table.count}
    return SlicedRows(table.count, lambda at, end: rows(at, end).column(0), identity)


@dataclass(frozen=True)
class SlicedTable:
    """A table of Arrow, or a Hugging Face data set, whose rows can be sliced."""

    names: list[str]
    """The names of its columns."""
    text: str
    """The column of texts, unless the caller names another."""
    is_column: bool
    """Whether the data is this column alone."""
    count: int
    """The number of rows."""
    select: Callable[[list[str]], Callable[[int, int], Any]]
    """Returns what slices the rows of some columns, as tables of Arrow."""
    identity: dict[str, object]
    """The properties that must be unchanged to resume."""


def table_of(data: Any) -> SlicedTable | None:
    """The table that the data is; `None` if it is something else."""
    if type(data).__module__.split(".")[0] == "datasets":
        return _of_dataset(data)
    if not hasattr(data, "__arrow_c_stream__") and not hasattr(data, "__arrow_c_array__"):
        return None
    try:
        import pyarrow
    except ImportError:
        raise UnsupportedError(
            "reading tables of Arrow needs pyarrow (pip install 'jeton[parquet]')"
        ) from None
    is_column = False
    try:
        table = pyarrow.table(data)
    except (TypeError, ValueError):
        is_column = True
        try:
            table = pyarrow.table({"text": pyarrow.chunked_array(data)})
        except (pyarrow.ArrowException, TypeError, ValueError) as error:
            reason = " ".join(str(error).split())
            raise ArgumentError(f"data cannot be read as a column of Arrow: {reason}") from None

    def select(columns: list[str]) -> Callable[[int, int], Any]:
        some = table.select(columns)
        return lambda at, end: some.slice(at, end - at)

    names = table.column_names
    text = names[0] if len(names) == 1 else "text"
    return SlicedTable(names, text, is_column, len(table), select, {})


def _of_dataset(data: Any) -> SlicedTable | None:
    if isinstance(data, Mapping):
        raise ArgumentError(
            f"data has the splits {', '.join(map(repr, data))}: pass one of them, and another as "
            "validation="
        )
    if not hasattr(data, "__len__"):  # it is a stream
        return None
    text = "text"
    # A column, such as `ds["text"]` (version 4 on).
    is_column = hasattr(data, "column_name") and hasattr(data, "source")
    if is_column:
        data, text = data.source, data.column_name
    # It may be a column of a column, or have a function that computes each row.
    if not hasattr(data, "column_names") or data.format["type"] == "custom":
        return None

    def select(columns: list[str]) -> Callable[[int, int], Any]:
        some = data.select_columns(columns).with_format("arrow")
        return lambda at, end: some[at:end]

    identity: dict[str, object] = {"dataset": str(data._fingerprint)}
    return SlicedTable(data.column_names, text, is_column, len(data), select, identity)
