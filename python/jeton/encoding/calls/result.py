"""What `tok(...)` gives: columns by name, and where each token came from.

Look here for a method that transformers' `BatchEncoding` has, and for what is found out only where
it is asked for: words, tokens and spans that no column holds.
"""

from __future__ import annotations

import itertools
from collections import UserDict
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

import jeton._core as _core
from jeton.arguments import check_kind, checked_int, one_of
from jeton.errors import ArgumentError, UnknownNameError, UnsupportedError
from jeton.results.encoding import AT_ONCE, Encoding
from jeton.results.padding import torch_of

if TYPE_CHECKING:
    import numpy.typing as npt

    from jeton.encoding.calls.batch_tokenizer import BatchTokenizer
    from jeton.encoding.calls.rows import BatchRows

__all__ = ["BatchEncoding", "CharSpan", "TokenSpan"]


_LEAST: Final = -(2**63)


class CharSpan(NamedTuple):
    """A span of text: from `start` up to `end`, in the unit asked for."""

    start: int
    end: int


class TokenSpan(NamedTuple):
    """Tokens of a row: from `start` up to `end`."""

    start: int
    end: int


class BatchEncoding(UserDict[str, Any]):
    """Columns by name, as a model takes them; what `tok(...)` gives.

    It is a mapping, `model(**batch)`, whose columns are attributes too, `batch.input_ids`, and can
    be replaced, added and taken out. A batch that was made by a call knows more of its rows than
    its columns hold. A row is a sample, or a window of one; padding is among its tokens. Rows,
    tokens and words are counted from 0, rows and tokens from the end where they are negative.
    Lookups give `None` for a token, a place or a word that is not there, and raise `IndexError`
    for a row that is not, and `UnsupportedError` where the batch was made of columns alone.

    Args:
        data: The columns. One that is made so knows of nothing else.

    Attributes:
        input_ids: The ids.
        attention_mask: 1 for tokens and 0 for padding.
        token_type_ids: 0 for the first text and 1 for the second, or as a template says.
        special_tokens_mask: 1 for special tokens that were added, and for padding.
        offset_mapping: Where each token came from in its text, or in its word.
        length: How many tokens each row has, padding included.
        overflow_to_sample_mapping: Which sample each row is of.

    Example:
        >>> import jeton
        >>> tok = jeton.WordPieceTrainer(60).train(["the weather, the weathers"])
        >>> batch = tok(["the weather", "weather"], padding=True, return_tensors="np")
        >>> batch["attention_mask"].shape == batch.input_ids.shape
        True
        >>> batch.tokens(0)[:3]
        ['[CLS]', 'the', 'weather']
        >>> batch.char_to_token(0, 4)
        2
    """

    _rows: BatchRows | Callable[[], BatchRows] | None = None
    _spelling: BatchTokenizer | None = None

    def __init__(self, data: Mapping[str, Any] | None = None) -> None:
        if data is not None:
            check_kind("data", data, Mapping, "a dict of columns")
        super().__init__(data)

    @classmethod
    def _of_rows(
        cls,
        rows: BatchRows,
        columns: list[str],
        *,
        spelling: BatchTokenizer,
        tensors: str | None,
        is_single: bool,
    ) -> BatchEncoding:
        """The result of a call.

        Raises:
            ArgumentError: Tensors of rows that are not equally long.
        """
        batch = cls()
        batch._rows = rows
        batch._spelling = spelling
        for name in columns:
            if tensors is None:
                batch.data[name] = _lists(rows, name, is_single)
            else:
                array = _array(rows, name, ragged=tensors == "np")
                batch.data[name] = array if tensors == "np" else torch_of(array)
        return batch

    @classmethod
    def _of_lists(
        cls,
        columns: dict[str, list[Any]],
        *,
        rows: Callable[[], BatchRows],
        spelling: BatchTokenizer,
        tensors: str | None,
    ) -> BatchEncoding:
        """The result of a call with one row, whose columns are there already."""
        batch = cls()
        batch._rows = rows
        batch._spelling = spelling
        batch.data.update(columns)
        if tensors is not None:
            for name, column in columns.items():
                shape = (1,) if name == "length" else (1, -1, 2)[: 2 + (name == "offset_mapping")]
                array = np.array(column, np.int64).reshape(shape)
                batch.data[name] = array if tensors == "np" else torch_of(array)
        return batch

    def __getstate__(self) -> dict[str, Any]:
        rows = None if self._rows is None else self._rows_of_call
        return {**self.__dict__, "_rows": rows}

    # As a mapping

    def __getitem__(self, key: object) -> Any:
        """A column by its name, the encoding of a row by its number, or rows by a slice."""
        if isinstance(key, str):
            if key not in self.data:
                raise UnknownNameError(f"there is no column {key!r} ({self._instead_of(key)})")
            return self.data[key]
        if isinstance(key, slice):
            return {name: column[key] for name, column in self.data.items()}
        return self._encoding(self._row(key))

    def __getattr__(self, name: str) -> Any:
        # Copying and unpickling ask for attributes before there are any.
        data = self.__dict__.get("data", {})
        if name in data:
            return data[name]
        hint = f" ({self._instead_of(name)})" if name in _ASKED_FOR_BY else ""
        raise AttributeError(f"BatchEncoding has no column and no method {name!r}{hint}")

    def _instead_of(self, name: str) -> str:
        """What to do about a column that is not there."""
        if name in _ASKED_FOR_BY and self._rows is not None:
            return f"the call gives it with {_ASKED_FOR_BY[name]}"
        close = _core.did_you_mean(name, list(self.data))
        return f"did you mean {close!r}?" if close else f"it has {', '.join(self.data) or 'none'}"

    def __repr__(self) -> str:
        return f"BatchEncoding({', '.join(map(self._column_text, self.data))})"

    def _column_text(self, name: str) -> str:
        column = self.data[name]
        if hasattr(column, "shape"):
            kind = type(column).__name__
            return f"{name}: {kind} {'×'.join(map(str, column.shape))}"
        text = repr(column)
        return f"{name}: {text if len(text) <= 72 else text[:71] + '…'}"

    # To arrays and tensors

    def to_numpy(self) -> BatchEncoding:
        """The same with columns that are arrays of int64.

        Raises:
            ArgumentError: Rows that are not equally long.
        """
        return self._converted(lambda name, column: _as_array(name, column))

    def to_torch(self) -> BatchEncoding:
        """The same with columns that are tensors of int64. Needs PyTorch.

        Raises:
            ArgumentError: Rows that are not equally long.
        """
        return self._converted(lambda name, column: torch_of(_as_array(name, column)))

    def to(self, device: object, *, non_blocking: bool = False) -> BatchEncoding:
        """Moves all tensors to a device. Changes this batch, and gives it back.

        Args:
            device: What `torch.Tensor.to` takes: `"cuda"`, `torch.device("cpu")`, a number.
            non_blocking: As there.
        """
        for name, column in self.data.items():
            if callable(getattr(column, "to", None)):
                self.data[name] = column.to(device=device, non_blocking=non_blocking)
        return self

    def convert_to_tensors(
        self, tensor_type: str | None = None, prepend_batch_axis: bool = False
    ) -> BatchEncoding:
        """Makes columns arrays (`"np"`) or tensors (`"pt"`), as transformers' method of that name.

        Changes this batch, and gives it back.

        Args:
            tensor_type: Which of them; `None` changes nothing.
            prepend_batch_axis: Whether each column becomes the only row of a batch.
        """
        if tensor_type is None:
            return self
        kind = one_of("tensor_type", getattr(tensor_type, "value", tensor_type), ("np", "pt"))
        for name, column in self.data.items():
            array = _as_array(name, [column] if prepend_batch_axis else column)
            self.data[name] = array if kind == "np" else torch_of(array)
        return self

    def _converted(self, convert: Callable[[str, Any], Any]) -> BatchEncoding:
        batch = BatchEncoding({name: convert(name, column) for name, column in self.data.items()})
        batch._rows, batch._spelling = self._rows, self._spelling
        return batch

    # What is known of rows

    @property
    def is_fast(self) -> bool:
        """Whether it knows of its rows, as a batch that was made by a call does."""
        return self._rows is not None

    @property
    def n_sequences(self) -> int | None:
        """How many texts each sample has: 1, or 2 for pairs; `None` where nothing is known."""
        if self._rows is None:
            return None
        return 2 if len(self._rows_of_call) and bool(self._rows_of_call.paired[0]) else 1

    @property
    def encodings(self) -> list[Encoding] | None:
        """The encoding of each row; `None` where nothing is known."""
        if self._rows is None:
            return None
        return [self._encoding(row) for row in range(len(self._rows_of_call))]

    def tokens(self, batch_index: int = 0) -> list[str]:
        """The tokens of a row, as a `tokenizer.json` spells them."""
        row = self._row(batch_index)
        assert self._spelling is not None
        return [self._spelling(id) for id in self._cut(self._rows_of_call.ids, row).tolist()]

    def word_ids(self, batch_index: int = 0) -> list[int | None]:
        """Which word each token of a row belongs to; `None` for what is of no text.

        A word is one of those that were given, or else a piece as the pre-tokenizer cuts the text.
        """
        return self._rows_of_call.word_ids(self._row(batch_index))

    def sequence_ids(self, batch_index: int = 0) -> list[int | None]:
        """Which text each token of a row is of, 0 or 1; `None` for what is of no text."""
        texts = self._cut(self._rows_of_call.texts, self._row(batch_index)).tolist()
        return [None if text < 0 else text for text in texts]

    def token_to_sequence(
        self, batch_or_token_index: int, token_index: int | None = None
    ) -> int | None:
        """Which text a token is of: `(row, token)`, or `(token)` of row 0."""
        row, token = self._token(batch_or_token_index, token_index)
        return None if token is None else self.sequence_ids(row)[token]

    def token_to_word(
        self, batch_or_token_index: int, token_index: int | None = None
    ) -> int | None:
        """Which word a token belongs to: `(row, token)`, or `(token)` of row 0."""
        row, token = self._token(batch_or_token_index, token_index)
        return None if token is None else self.word_ids(row)[token]

    def token_to_chars(
        self, batch_or_token_index: int, token_index: int | None = None
    ) -> CharSpan | None:
        """Where a token came from: `(row, token)`, or `(token)` of row 0."""
        row, token = self._token(batch_or_token_index, token_index)
        if token is None or self.sequence_ids(row)[token] is None:
            return None
        start, end = self._cut(self._rows_of_call.spans, row)[token].tolist()
        return CharSpan(start, end)

    def char_to_token(
        self, batch_or_char_index: int, char_index: int | None = None, sequence_index: int = 0
    ) -> int | None:
        """The token that holds a place in the text: `(row, place)`, or `(place)` of row 0.

        Args:
            batch_or_char_index, char_index: The row, and the place in the unit asked for.
            sequence_index: Which text of a pair.
        """
        row, place = self._row_and_number("char", batch_or_char_index, char_index)
        text = checked_int("sequence_index", sequence_index, 0)
        spans = self._cut(self._rows_of_call.spans, row)
        holds = (spans[:, 0] <= place) & (place < spans[:, 1])
        found = np.flatnonzero(holds & (self._cut(self._rows_of_call.texts, row) == text))
        return int(found[0]) if found.size else None

    def char_to_word(
        self, batch_or_char_index: int, char_index: int | None = None, sequence_index: int = 0
    ) -> int | None:
        """The word that holds a place in the text; the arguments are those of `char_to_token`."""
        row, _ = self._row_and_number("char", batch_or_char_index, char_index)
        token = self.char_to_token(batch_or_char_index, char_index, sequence_index)
        return None if token is None else self.word_ids(row)[token]

    def word_to_tokens(
        self, batch_or_word_index: int, word_index: int | None = None, sequence_index: int = 0
    ) -> TokenSpan | None:
        """The tokens of a word: `(row, word)`, or `(word)` of row 0.

        Args:
            batch_or_word_index, word_index: The row and the number of the word.
            sequence_index: Which text of a pair.
        """
        row, word = self._row_and_number("word", batch_or_word_index, word_index)
        text = checked_int("sequence_index", sequence_index, 0)
        texts = self._cut(self._rows_of_call.texts, row).tolist()
        found = [
            token
            for token, of_word in enumerate(zip(texts, self.word_ids(row), strict=True))
            if of_word == (text, word)
        ]
        return TokenSpan(found[0], found[-1] + 1) if found else None

    def word_to_chars(
        self, batch_or_word_index: int, word_index: int | None = None, sequence_index: int = 0
    ) -> CharSpan | None:
        """Where a word came from; the arguments are those of `word_to_tokens`."""
        row, _ = self._row_and_number("word", batch_or_word_index, word_index)
        tokens = self.word_to_tokens(batch_or_word_index, word_index, sequence_index)
        if tokens is None:
            return None
        spans = self._cut(self._rows_of_call.spans, row)
        return CharSpan(int(spans[tokens.start, 0]), int(spans[tokens.end - 1, 1]))

    # How it is found out

    @property
    def _rows_of_call(self) -> BatchRows:
        if self._rows is None:
            raise UnsupportedError(
                "this batch was made from columns and holds nothing else (the one that a call "
                "gives knows where its tokens came from)"
            )
        if callable(self._rows):
            self._rows = self._rows()
        return self._rows

    def _row(self, index: object, name: str = "batch_index") -> int:
        """A row by its number, counted from the end where it is negative."""
        number = checked_int(name, index, _LEAST)
        rows = len(self._rows_of_call)
        if not -rows <= number < rows:
            raise IndexError(f"row {number} of a batch of {rows}: there is no such row")
        return number % rows

    def _row_and_number(self, kind: str, first: object, second: object) -> tuple[int, int]:
        """A row and a number in it; a number alone is one in row 0."""
        name = f"batch_or_{kind}_index"
        if second is None:
            return self._row(0), checked_int(name, first, _LEAST)
        return self._row(first, name), checked_int(f"{kind}_index", second, _LEAST)

    def _token(self, first: object, second: object) -> tuple[int, int | None]:
        """A row and a token in it, from the end where it is negative; `None` if there is none."""
        row, token = self._row_and_number("token", first, second)
        width = int(self._rows_of_call.widths[row])
        return row, token % width if -width <= token < width else None

    def _cut(self, column: npt.NDArray[np.int64], row: int) -> npt.NDArray[np.int64]:
        start, stop = self._rows_of_call.offsets[row : row + 2]
        return column[start:stop]

    def _encoding(self, row: int) -> Encoding:
        rows, spelling = self._rows_of_call, self._spelling
        assert spelling is not None
        ids = self._cut(rows.ids, row).tolist()
        return Encoding(
            ids=ids,
            spans=_list(self._cut(rows.spans, row)),
            word_ids=rows.word_ids(row),
            type_ids=self._cut(rows.type_ids, row).tolist(),
            sequence_ids=self.sequence_ids(row),
            special_tokens_mask=self._cut(rows.special, row).astype(bool).tolist(),
            tokens=[spelling.tokenizer.token_spelling(id) for id in ids],
        )


_ASKED_FOR_BY: Final = {
    "attention_mask": "return_attention_mask=True",
    "labels": "text_target=…",
    "length": "return_length=True",
    "offset_mapping": "return_offsets_mapping=True",
    "overflow_to_sample_mapping": "return_overflowing_tokens=True",
    "special_tokens_mask": "return_special_tokens_mask=True",
    "token_type_ids": "return_token_type_ids=True",
}
"""The columns that a call may leave out, and the argument that asks for each."""

_COLUMNS: dict[str, str] = {
    "input_ids": "ids",
    "token_type_ids": "type_ids",
    "attention_mask": "mask",
    "special_tokens_mask": "special",
    "offset_mapping": "spans",
}
"""The columns that have an entry a token, and what they are in `BatchRows`."""


def _array(rows: BatchRows, name: str, *, ragged: bool) -> npt.NDArray[Any]:
    """A column as an array whose first axis is that of rows.

    Where they are not equally long, it is one of objects, an array each, if it may be `ragged`.
    """
    if name not in _COLUMNS:
        return _by_row(rows, name)
    column: npt.NDArray[np.int64] = getattr(rows, _COLUMNS[name])
    if rows.width is None and ragged:
        parts = np.empty(len(rows), object)
        parts[:] = np.split(column, rows.offsets[1:-1])
        return parts
    if rows.width is None:
        raise ArgumentError(
            f"rows have {int(rows.widths.min())} to {int(rows.widths.max())} tokens, and do "
            "not make an array (give padding=True, with truncation=True where rows have a limit)"
        )
    return column.reshape(len(rows), rows.width, *column.shape[1:])


def _lists(rows: BatchRows, name: str, is_single: bool) -> list[Any]:
    """A column as a list for each row, or as that of the only row."""
    if name not in _COLUMNS:
        by_row: list[Any] = _by_row(rows, name).tolist()
        return by_row
    column: npt.NDArray[np.int64] = getattr(rows, _COLUMNS[name])
    flat = _list(column)
    if is_single:
        return flat
    offsets = rows.offsets.tolist()
    return [flat[start:stop] for start, stop in itertools.pairwise(offsets)]


def _list(column: npt.NDArray[np.int64]) -> list[Any]:
    """A column as a list, of spans one of tuples."""
    flat: list[Any] = []
    # Ctrl-C is heard between two parts, and what is there by then is freed with the traceback.
    for start in range(0, len(column), AT_ONCE):
        part = column[start : start + AT_ONCE]
        flat += part.tolist() if part.ndim == 1 else zip(*part.T.tolist(), strict=True)
    return flat


def _by_row(rows: BatchRows, name: str) -> npt.NDArray[np.int64]:
    """A column with one entry a row."""
    return rows.widths if name == "length" else rows.windows.sample


def _as_array(name: str, column: object) -> npt.NDArray[np.int64]:
    """A column of any kind as an array."""
    if hasattr(column, "detach"):
        column = column.detach().cpu()
    try:
        array = np.asarray(column)
    except ValueError:
        array = np.empty(0, object)
    if array.dtype == object:
        raise ArgumentError(
            f"the rows of {name} differ in length and do not make an array (give padding=True)"
        )
    return array if array.size else array.astype(np.int64)
