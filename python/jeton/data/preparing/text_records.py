"""Encodes the texts of records that pass filters: many at a time, on all cores."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from jeton.arguments import suggestion
from jeton.corpora.dropped import DroppedRecord
from jeton.corpora.token_blocks.blocks import Block, Blocks, DocumentEncoding, SourcePosition
from jeton.corpora.token_blocks.rows import encoded
from jeton.data.preparing.filters import Filters
from jeton.data.preparing.record_encoder import RecordEncoder, SourceRecord
from jeton.errors import FormatError, JetonError

_CHARACTERS = 4_000_000
"""Characters that are encoded at a time."""
_RECORDS = 20_000
"""Maximum records that are encoded at a time."""


class TextRecordEncoder(RecordEncoder):
    """Encodes one field of each record; items that are no records are texts themselves."""

    def __init__(
        self, encoding: DocumentEncoding, filters: Filters, field: str | None, errors: str
    ) -> None:
        self._encoding, self._field, self._errors = encoding, field or "text", errors
        super().__init__(filters, [self._field])
        self.dtype = encoding.dtype

    def _blocks(self, rows: Iterator[SourceRecord], progress: SourcePosition) -> Blocks:
        for some in encoded(self._batches(rows), self._encoded):
            [(batch, failures, results)] = some
            at = 0
            for tokens, lengths, _, keys, size, empty, dropped, *_ in results:
                count = len(lengths) + empty + len(dropped)
                of_block = range(at, at + count)
                counts, bad = self._counts(progress), dict(failures)
                bad |= {number: reason for _, _, number, reason in dropped}
                bad = {number: reason for number, reason in bad.items() if number in of_block}
                filtered = [batch[it].filtered for it in of_block]
                for number in filtered:
                    if number is not None:
                        counts[number] += 1
                left_out = sum(it is not None for it in filtered)
                after = SourcePosition(
                    batch[of_block[-1]].place,
                    progress.documents + len(lengths),
                    progress.bytes + size,
                    progress.empty + empty + len(dropped) - left_out - len(bad),
                    progress.bad + len(bad),
                    tuple(counts),
                )
                records = tuple(
                    DroppedRecord(batch[number].name, bad[number]) for number in sorted(bad)
                )
                read = batch[of_block[-1]].read
                yield Block(tokens, lengths, keys, progress, after, read, dropped=records)
                progress, at = after, of_block.stop

    def _batches(self, rows: Iterator[SourceRecord]) -> Iterator[Any]:
        """Records with their texts, and why others have none; `None` for those left out."""
        batch, texts, size = list[SourceRecord](), list[str | None](), 0
        failures = dict[int, str]()
        for row in rows:
            text: str | None = None
            if row.filtered is None:
                try:
                    text = self._text(row.record)
                except JetonError as error:
                    if not self._encoding.drops_bad:
                        raise type(error)(f"{row.name}: {error}") from None
                    failures[len(batch)] = str(error)
            batch.append(row)
            texts.append(text)
            size += len(text or "")
            if size >= _CHARACTERS or len(batch) >= _RECORDS:
                yield batch, texts, failures
                batch, texts, failures, size = [], [], {}, 0
        if batch:
            yield batch, texts, failures

    def _encoded(self, work: Any) -> list[tuple[Any, ...]]:
        batch, texts, failures = work
        try:
            results = self._encoding.of_texts(texts, self._errors, 0, "record")
        except JetonError as error:
            match = re.match(r"record (\d+): ", str(error))
            if match is None:
                raise
            name = batch[int(match[1])].name
            raise error.reworded(f"{name}: {error.message[match.end() :]}") from None
        return [(batch, failures, results)]

    def _text(self, record: Any) -> str:
        if isinstance(record, JetonError):
            raise record
        if isinstance(record, Mapping):
            if self._field not in record:
                close = suggestion(self._field, [str(name) for name in record])
                hint = close or "name one by field="
                raise FormatError(f"there is no field {self._field!r}", hint=hint)
            record = record[self._field]
            record = "" if record is None else record
        if not isinstance(record, str):
            raise FormatError(
                f"expected a text, or a record with a field {self._field!r} that is one, not a "
                f"value of type {type(record).__name__}"
            )
        return record
