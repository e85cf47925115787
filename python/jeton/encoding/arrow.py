"""The Arrow PyCapsule interface as types: what `encode_batch` and `count_batch` take columns from.

Any object with one of these methods will do; nothing here is to be called or made.
"""

from __future__ import annotations

from typing import Protocol, TypeAlias

__all__ = ["ArrowArrayExportable", "ArrowColumn", "ArrowStreamExportable"]


class ArrowArrayExportable(Protocol):
    """An array, such as those of pyarrow."""

    def __arrow_c_array__(
        self, requested_schema: object | None = None
    ) -> tuple[object, object]: ...


class ArrowStreamExportable(Protocol):
    """A series of polars or pandas, a chunked array of pyarrow, a relation of DuckDB."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


ArrowColumn: TypeAlias = ArrowArrayExportable | ArrowStreamExportable
"""A column of strings, or a table that has no other."""
