"""Encodes the texts of records that pass filters: many at a time, on all cores."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from jeton.arguments import suggestion
from jeton.corpora.corpus import SURROGATE
from jeton.corpora.token_blocks.blocks import Blocks, DocumentEncoding, SourcePosition
from jeton.corpora.token_blocks.rows import TextBatch, blocks_of_texts
from jeton.data.preparing.filters import Filters
from jeton.data.preparing.record_encoder import RecordEncoder, SourceRecord
from jeton.errors import FormatError, JetonError

_CHARACTERS = 4_000_000
"""Characters that are encoded at a time."""
_RECORDS = 20_000
"""Maximum records that are encoded at a time."""


class TextRecordEncoder(RecordEncoder):
    """Encodes one field of each record; items that are no records are texts themselves."""

    def __init__(self, encoding: DocumentEncoding, filters: Filters) -> None:
        self._encoding, self._field = encoding, encoding.field or "text"
        super().__init__(filters, [self._field])
        self.dtype = encoding.dtype

    def _blocks(self, rows: Iterator[SourceRecord], progress: SourcePosition) -> Blocks:
        return blocks_of_texts(self._batches(rows), self._encoding, progress)

    def _batches(self, records: Iterator[SourceRecord]) -> Iterator[TextBatch]:
        rows, texts, size = list[SourceRecord](), list[str | None](), 0
        bad, filtered = dict[int, str](), dict[int, str]()
        for row in records:
            text: str | None = None
            if row.filtered is not None:
                filtered[len(rows)] = row.filtered
            else:
                try:
                    text = self._text(row)
                except JetonError as error:
                    if not self._encoding.drops_bad:
                        raise type(error)(f"{row.name}: {error}") from None
                    bad[len(rows)] = str(error)
            rows.append(row)
            texts.append(text)
            size += len(text or "")
            if size >= _CHARACTERS or len(rows) >= _RECORDS:
                yield TextBatch(texts, rows.__getitem__, bad, filtered)
                rows, texts, bad, filtered, size = [], [], {}, {}, 0
        if rows:
            yield TextBatch(texts, rows.__getitem__, bad, filtered)

    def _text(self, row: SourceRecord) -> str:
        record: Any = row.record
        if isinstance(record, JetonError):
            raise record
        if isinstance(record, Mapping):
            if self._field not in record:
                close = suggestion(self._field, [str(name) for name in record])
                raise FormatError(
                    f"there is no field {self._field!r}",
                    hint=close or "name one by field=",
                    parameter=None if close else "field",
                )
            record = record[self._field]
            record = "" if record is None else record
        if isinstance(record, bytes) and row.name.unit == "row":
            return _of_bytes(record, self._encoding.errors)
        if isinstance(record, str) and row.name.unit == "line":
            return _without_halves(record, self._encoding.errors)
        if not isinstance(record, str):
            raise FormatError(
                f"expected a text, or a record with a field {self._field!r} that is one, not a "
                f"value of type {type(record).__name__}"
            )
        return record


def _of_bytes(data: bytes, errors: str) -> str:
    """The text in a cell of a table that is not marked as text."""
    try:
        return data.decode("utf-8", errors)
    except UnicodeDecodeError as error:
        raise _bad_text(f"not UTF-8 at byte {error.start}") from None


def _without_halves(text: str, errors: str) -> str:
    """A text of JSON, in which surrogates may be escaped without their other half."""
    if text.isascii() or not SURROGATE.search(text):
        return text
    if errors == "strict":
        raise _bad_text("a surrogate is escaped without its other half, so it is not text")
    return SURROGATE.sub("\ufffd" if errors == "replace" else "", text)


def _bad_text(problem: str) -> FormatError:
    return FormatError(problem, hint='set errors="replace" or errors="ignore"', parameter="errors")
