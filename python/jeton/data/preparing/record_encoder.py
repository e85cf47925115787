"""Records on their way from files, tables and iterables to tokens, and what encodes them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from jeton.corpora.token_blocks.blocks import Blocks, SourcePosition
from jeton.corpora.token_blocks.rows import Row
from jeton.data.preparing.filters import Filters
from jeton.errors import JetonError


@dataclass(frozen=True)
class SourceRecord(Row):
    """A record with its position."""

    record: Any = None
    """The record; or the error of reading it."""
    filtered: str | None = None
    """The filter that leaves it out, by its name."""


class RecordEncoder(ABC):
    """Turns the records that pass the filters into blocks."""

    dtype: str
    """The type of the tokens of blocks."""

    def __init__(self, filters: Filters, columns: list[str]) -> None:
        self.filters = filters
        self.columns: list[str] | None = None
        """The fields to read, or `None` for all."""
        if filters.columns is not None:
            self.columns = [*dict.fromkeys([*columns, *filters.columns])]

    def blocks(self, rows: Iterable[SourceRecord], progress: SourcePosition) -> Blocks:
        """The blocks of records, in order.

        Raises:
            JetonError: A record cannot be encoded, and these are not dropped; says where.
        """
        return self._blocks(map(self._filtered, rows), self.counted(progress))

    def close(self) -> None:
        """Ends what it has started."""
        return

    def counted(self, position: SourcePosition) -> SourcePosition:
        """A position with what the encoder counts, which begins at 0."""
        if position.filtered is not None or not self.filters.names:
            return position
        return replace(position, filtered=dict.fromkeys(self.filters.names, 0))

    @abstractmethod
    def _blocks(self, rows: Iterator[SourceRecord], progress: SourcePosition) -> Blocks:
        """The blocks of records that say which filter leaves them out."""

    def _filtered(self, row: SourceRecord) -> SourceRecord:
        if not self.filters.keep or isinstance(row.record, JetonError):
            return row
        try:
            failed = self.filters.failed(row.record)
        except JetonError as error:
            return replace(row, record=error)
        return row if failed is None else replace(row, filtered=failed)
