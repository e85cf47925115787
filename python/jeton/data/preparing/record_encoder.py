"""Records on their way from files, tables and iterables to tokens, and what encodes them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from jeton.corpora.token_blocks.blocks import Blocks, Facts, SourcePosition
from jeton.corpora.token_blocks.rows import Row
from jeton.data.preparing.filters import Filters
from jeton.errors import JetonError


@dataclass(frozen=True)
class SourceRecord(Row):
    """A record with its position."""

    record: Any = None
    """The record; or the error of reading it."""
    filtered: int | None = None
    """The filter that leaves it out, by its number."""


class RecordEncoder(ABC):
    """Turns the records that pass the filters into blocks.

    The `counts` of positions are those of the encoder, and behind them those of the filters.
    `columns`: the fields that it reads.
    """

    dtype: str
    """The type of the tokens of blocks."""
    own_counts = 0
    """How many counts the encoder has."""

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
        return self._blocks(map(self._filtered, rows), progress)

    def close(self) -> None:
        """Ends what it has started."""
        return

    def facts(self, facts: Facts, end: SourcePosition) -> Facts:
        """The facts about a source with what the encoder has counted."""
        if not self.filters.names:
            return facts
        counts = end.counts[self.own_counts :] or (0,) * len(self.filters.names)
        return replace(facts, filtered=dict(zip(self.filters.names, counts, strict=True)))

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

    def _counts(self, progress: SourcePosition) -> list[int]:
        """The counts of a position, to change."""
        return [*progress.counts] or [0] * (self.own_counts + len(self.filters.names))
