"""Types of the arguments of a tokenizer: texts, batches, Arrow columns, special tokens in text.

Look here for what `special=` means. An Arrow column is any object with a method of the PyCapsule
interface; these types are only for annotations.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, Literal, Protocol, TypeAlias


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

SpecialPolicy: TypeAlias = Literal["ignore", "allow", "raise"] | AbstractSet[str] | Sequence[str]
"""How to read the spelling of a special token in text.

- `"ignore"`: it is text like any other.
- `"allow"`: it is that token.
- `"raise"`: it is an error.
- a set of names: these are tokens, the others are text like any other.

Text that is not such a token never becomes its id: the model segments it as if the token were not
in the vocabulary. A character that no other token spells becomes the unknown token, or is an
`EncodeError` if there is none.
"""

Texts: TypeAlias = str | Iterable[str | Sequence[Any] | None] | ArrowColumn
"""A text, words of one, or a batch: texts, pairs of texts, lists of words, pairs of these."""

Entry: TypeAlias = str | float | tuple[Any, Any] | Iterable[str | float | None] | None
"""An item of a batch: a text, a pair, the words of a text, or a missing value (`None`, NaN)."""
