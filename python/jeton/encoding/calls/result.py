"""The result of `tok(...)`: columns by name, and where each token came from.

Look here for a method that transformers' `BatchEncoding` has, and for what is computed at its first
use: words, tokens and spans that no column holds.
"""

from __future__ import annotations

import itertools
from collections import UserDict
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from jeton.arguments import check_kind, checked_int, one_of, suggestion
from jeton.errors import ArgumentError, UnknownNameError, UnsupportedError
from jeton.results.encoding import AT_ONCE, Encoding
from jeton.results.pad_batch import torch_of

if TYPE_CHECKING:
    import numpy.typing as npt

    from jeton.encoding.calls.batch_tokenizer import BatchTokenizer
    from jeton.encoding.calls.rows import BatchRows

_LEAST: Final = -(2**63)


class CharSpan(NamedTuple):
    """A span of text: from `start` up to `end`, in the `unit` of the call."""

    start: int
    end: int


class TokenSpan(NamedTuple):
    """Tokens of a row: from `start` up to `end`."""

    start: int
    end: int


class BatchEncoding(UserDict[str, Any]):
    """Columns by name, as a model takes them: the result of `tok(...)`.

    It is a mapping, so `model(**batch)` works; columns are also attributes (`batch.input_ids`), and
    you can replace, add and delete them. A batch that a call returns knows more about its rows than
    its columns hold. A row is a sample, or a window of one; padding counts as tokens of it. Rows,
    tokens and words are counted from 0; negative numbers of rows and tokens count from the end.
    Lookups return `None` for a token, a position or a word that does not exist. They raise
    `IndexError` for a row that does not exist, and `UnsupportedError` if the batch was built from
    columns alone.

    Args:
        data: The columns. A batch built from them knows nothing else.

    Attributes:
        input_ids: The ids.
        attention_mask: 1 for tokens and 0 for padding.
        token_type_ids: 0 for the first text and 1 for the second, or as a template says.
        special_tokens_mask: 1 for added special tokens, and for padding.
        offset_mapping: Where each token came from in its text, or in its word.
        length: How many tokens each row has, including padding.
        overflow_to_sample_mapping: The sample that each row belongs to.

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
            ArgumentError: Rows of different lengths do not fit one tensor.
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
        columns: dict[str, list[object]],
        *,
        rows: Callable[[], BatchRows],
        spelling: BatchTokenizer,
        tensors: str | None,
    ) -> BatchEncoding:
        """The result of a call with one row, whose columns are computed already."""
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
        hint = f" ({self._instead_of(name)})" if name in _OPTIONS else ""
        raise AttributeError(f"BatchEncoding has no column and no method {name!r}{hint}")

    def _instead_of(self, name: str) -> str:
        """What to do about a missing column."""
        if name in _OPTIONS and self._rows is not None:
            return f"the call returns it with {_OPTIONS[name]}"
        close = suggestion(name, list(self.data))
        return close or f"it has {', '.join(self.data) or 'none'}"

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
        """A copy with columns as int64 arrays.

        Raises:
            ArgumentError: Rows differ in length.
        """
        return self._converted(lambda name, column: _as_array(name, column))

    def to_torch(self) -> BatchEncoding:
        """A copy with columns as int64 tensors. Needs PyTorch.

        Raises:
            ArgumentError: Rows differ in length.
        """
        return self._converted(lambda name, column: torch_of(_as_array(name, column)))

    def to(self, device: object, *, non_blocking: bool = False) -> BatchEncoding:
        """Moves all tensors to a device. Changes this batch and returns it.

        Args:
            device: As in `torch.Tensor.to`: `"cuda"`, `torch.device("cpu")`, a number.
            non_blocking: As in `torch.Tensor.to`.
        """
        for name, column in self.data.items():
            if callable(getattr(column, "to", None)):
                self.data[name] = column.to(device=device, non_blocking=non_blocking)
        return self

    def convert_to_tensors(
        self, tensor_type: str | None = None, prepend_batch_axis: bool = False
    ) -> BatchEncoding:
        """Converts columns to arrays (`"np"`) or tensors (`"pt"`), as in transformers.

        Changes this batch and returns it.

        Args:
            tensor_type: `"np"` or `"pt"`; `None` changes nothing.
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

    # Rows

    @property
    def is_fast(self) -> bool:
        """Whether the batch came from a call, so that it knows more than its columns."""
        return self._rows is not None

    @property
    def n_sequences(self) -> int | None:
        """How many texts each sample has: 1, or 2 for pairs; `None` if the batch does not know."""
        if self._rows is None:
            return None
        return 2 if len(self._rows_of_call) and bool(self._rows_of_call.paired[0]) else 1

    @property
    def encodings(self) -> list[Encoding] | None:
        """The encoding of each row; `None` if the batch does not know."""
        if self._rows is None:
            return None
        return [self._encoding(row) for row in range(len(self._rows_of_call))]

    def tokens(self, batch_index: int = 0) -> list[str]:
        """The tokens of a row, as a `tokenizer.json` spells them."""
        row = self._row(batch_index)
        assert self._spelling is not None
        return [self._spelling(id) for id in self._of_row(self._rows_of_call.ids, row).tolist()]

    def word_ids(self, batch_index: int = 0) -> list[int | None]:
        """The word that each token of a row belongs to; `None` for a token outside of the texts.

        A word is a word of the caller, or else a piece of text from the pre-tokenizer.
        """
        return self._rows_of_call.word_ids(self._row(batch_index))

    def sequence_ids(self, batch_index: int = 0) -> list[int | None]:
        """The text that each token of a row belongs to, 0 or 1; `None` for one outside of them."""
        texts = self._of_row(self._rows_of_call.texts, self._row(batch_index)).tolist()
        return [None if text < 0 else text for text in texts]

    def token_to_sequence(
        self, batch_or_token_index: int, token_index: int | None = None
    ) -> int | None:
        """The text that a token belongs to: `(row, token)`, or `(token)` of row 0."""
        row, token = self._token(batch_or_token_index, token_index)
        return None if token is None else self.sequence_ids(row)[token]

    def token_to_word(
        self, batch_or_token_index: int, token_index: int | None = None
    ) -> int | None:
        """The word that a token belongs to: `(row, token)`, or `(token)` of row 0."""
        row, token = self._token(batch_or_token_index, token_index)
        return None if token is None else self.word_ids(row)[token]

    def token_to_chars(
        self, batch_or_token_index: int, token_index: int | None = None
    ) -> CharSpan | None:
        """Where a token came from: `(row, token)`, or `(token)` of row 0."""
        row, token = self._token(batch_or_token_index, token_index)
        if token is None or self.sequence_ids(row)[token] is None:
            return None
        start, end = self._of_row(self._rows_of_call.spans, row)[token].tolist()
        return CharSpan(start, end)

    def char_to_token(
        self, batch_or_char_index: int, char_index: int | None = None, sequence_index: int = 0
    ) -> int | None:
        """The token at a position of the text: `(row, position)`, or `(position)` of row 0.

        Args:
            batch_or_char_index, char_index: The row, and the position in the `unit` of the call.
            sequence_index: Which text of a pair.
        """
        row, place = self._row_and_number("char", batch_or_char_index, char_index)
        text = checked_int("sequence_index", sequence_index, 0)
        spans = self._of_row(self._rows_of_call.spans, row)
        holds = (spans[:, 0] <= place) & (place < spans[:, 1])
        tokens = np.flatnonzero(holds & (self._of_row(self._rows_of_call.texts, row) == text))
        return int(tokens[0]) if tokens.size else None

    def char_to_word(
        self, batch_or_char_index: int, char_index: int | None = None, sequence_index: int = 0
    ) -> int | None:
        """The word at a position of the text; the arguments are those of `char_to_token`."""
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
        texts = self._of_row(self._rows_of_call.texts, row).tolist()
        tokens = [
            token
            for token, of_word in enumerate(zip(texts, self.word_ids(row), strict=True))
            if of_word == (text, word)
        ]
        return TokenSpan(tokens[0], tokens[-1] + 1) if tokens else None

    def word_to_chars(
        self, batch_or_word_index: int, word_index: int | None = None, sequence_index: int = 0
    ) -> CharSpan | None:
        """Where a word came from; the arguments are those of `word_to_tokens`."""
        row, _ = self._row_and_number("word", batch_or_word_index, word_index)
        tokens = self.word_to_tokens(batch_or_word_index, word_index, sequence_index)
        if tokens is None:
            return None
        spans = self._of_row(self._rows_of_call.spans, row)
        return CharSpan(int(spans[tokens.start, 0]), int(spans[tokens.end - 1, 1]))

    @property
    def _rows_of_call(self) -> BatchRows:
        if self._rows is None:
            raise UnsupportedError(
                "this batch was built from columns and holds nothing else (a batch that tok(...) "
                "returns knows where its tokens came from)"
            )
        if callable(self._rows):
            self._rows = self._rows()
        return self._rows

    def _row(self, index: object, name: str = "batch_index") -> int:
        """The number of a row from 0; a negative one counts from the end."""
        number = checked_int(name, index, _LEAST)
        rows = len(self._rows_of_call)
        if not -rows <= number < rows:
            raise IndexError(f"row {number} of a batch of {rows}: there is no such row")
        return number % rows

    def _row_and_number(self, kind: str, first: object, second: object) -> tuple[int, int]:
        """A row and a number in it; one number alone is in row 0."""
        name = f"batch_or_{kind}_index"
        if second is None:
            return self._row(0), checked_int(name, first, _LEAST)
        return self._row(first, name), checked_int(f"{kind}_index", second, _LEAST)

    def _token(self, first: object, second: object) -> tuple[int, int | None]:
        """A row and a token in it, counted from the end if negative; `None` if there is none."""
        row, token = self._row_and_number("token", first, second)
        width = int(self._rows_of_call.widths[row])
        return row, token % width if -width <= token < width else None

    def _of_row(self, column: npt.NDArray[np.int64], row: int) -> npt.NDArray[np.int64]:
        start, stop = self._rows_of_call.offsets[row : row + 2]
        return column[start:stop]

    def _encoding(self, row: int) -> Encoding:
        rows, spelling = self._rows_of_call, self._spelling
        assert spelling is not None
        ids = self._of_row(rows.ids, row).tolist()
        return Encoding(
            ids=ids,
            spans=_list(self._of_row(rows.spans, row)),
            word_ids=rows.word_ids(row),
            type_ids=self._of_row(rows.type_ids, row).tolist(),
            sequence_ids=self.sequence_ids(row),
            special_tokens_mask=self._of_row(rows.special, row).astype(bool).tolist(),
            tokens=[spelling.tokenizer.vocab.spelling(id) for id in ids],
        )


_OPTIONS: Final = {
    "attention_mask": "return_attention_mask=True",
    "labels": "text_target=…",
    "length": "return_length=True",
    "offset_mapping": "return_offsets_mapping=True",
    "overflow_to_sample_mapping": "return_overflowing_tokens=True",
    "special_tokens_mask": "return_special_tokens_mask=True",
    "token_type_ids": "return_token_type_ids=True",
}
"""The columns that a call may leave out, and the argument that adds each."""

_COLUMNS: dict[str, str] = {
    "input_ids": "ids",
    "token_type_ids": "type_ids",
    "attention_mask": "mask",
    "special_tokens_mask": "special",
    "offset_mapping": "spans",
}
"""The columns with one entry per token, and their names in `BatchRows`."""


def _array(rows: BatchRows, name: str, *, ragged: bool) -> npt.NDArray[Any]:
    """A column as an array whose first axis is the rows.

    With `ragged`, rows of different lengths become an array of objects, one array per row.
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
            f"rows have {int(rows.widths.min())} to {int(rows.widths.max())} tokens, so they do "
            "not fit one array (give padding=True, and truncation=True if there is a limit)"
        )
    return column.reshape(len(rows), rows.width, *column.shape[1:])


def _lists(rows: BatchRows, name: str, is_single: bool) -> list[Any]:
    """A column as one list per row, or as the list of the only row."""
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
    """A column as a list; spans become tuples."""
    flat: list[Any] = []
    # Ctrl-C interrupts between two parts, and the list so far is freed with the traceback.
    for start in range(0, len(column), AT_ONCE):
        part = column[start : start + AT_ONCE]
        flat += part.tolist() if part.ndim == 1 else zip(*part.T.tolist(), strict=True)
    return flat


def _by_row(rows: BatchRows, name: str) -> npt.NDArray[np.int64]:
    """A column with one entry per row."""
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
            f"the rows of {name} differ in length and do not fit one array (give padding=True)"
        )
    return array if array.size else array.astype(np.int64)
