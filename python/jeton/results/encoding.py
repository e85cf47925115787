"""The results of encoding besides lists of ids.

`Encoding` is one text with where each token came from; `TokenBatch` is many texts in two arrays.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar, overload

import jeton._core as _core
from jeton.arguments import check_kind, checked_iterable, checked_numbers
from jeton.errors import ArgumentError
from jeton.results.pad_batch import BatchSource, PaddedBatch, pad_batch, torch_of

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import torch

__all__ = ["Encoding", "PaddedBatch", "TokenBatch"]

_T = TypeVar("_T")

_COLUMNS = (
    "ids",
    "spans",
    "word_ids",
    "type_ids",
    "sequence_ids",
    "special_tokens_mask",
    "tokens",
)
"""The fields of an `Encoding`."""
AT_ONCE = 1 << 17
"""Entries of a column that become objects at a time, in some 10 ms."""
_REPR_ENTRIES = 6
"""How many entries of a column a `repr` shows."""
_MAX_ID = 2**32 - 1
_NOTEBOOK_IDS = 24
"""How many ids of a text a notebook shows."""
_NO_ORIGIN = BatchSource()
"""The origin of a batch that does not come from a tokenizer."""


@dataclass(frozen=True, repr=False)
class Encoding:
    """The tokens of a text, or of a pair of texts, with where each came from.

    All columns have the same length, one entry per token. After encoding, a column becomes a list
    at its first use; until then it takes a few bytes per token.

    Attributes:
        ids: The ids.
        spans: Where each token came from: `(start, end)`, half open, in the `unit` of the call. A
            token that holds part of a character has the span of the whole character.
        word_ids: The piece of the text that each token belongs to; `None` for tokens that the
            post-processor added.
        type_ids: 0 for the first text and 1 for the second, or as a template says.
        sequence_ids: The text that each token came from, 0 or 1; `None` for added tokens.
        special_tokens_mask: Whether the post-processor added the token.
        tokens: The bytes of each token.

    Example:
        >>> import jeton
        >>> tok = jeton.CharTrainer().train("héllo")
        >>> encoding = tok.encode_with_spans("hél")
        >>> encoding.spans
        [(0, 1), (1, 2), (2, 3)]
        >>> tok.encode_with_spans("hél", unit="bytes").spans
        [(0, 1), (1, 3), (3, 4)]
    """

    ids: list[int]
    spans: list[tuple[int, int]]
    word_ids: list[int | None]
    type_ids: list[int]
    sequence_ids: list[int | None]
    special_tokens_mask: list[bool]
    tokens: list[bytes]

    # A column is no attribute before its first use.
    _core_encoding: ClassVar[_core.Encoded | None] = None
    _mask: ClassVar[list[bool] | None] = None

    def __post_init__(self) -> None:
        for name in _COLUMNS:
            column = getattr(self, name)
            check_kind(name, column, list, "a list")

    @classmethod
    def _of_core(cls, core_encoding: _core.Encoded) -> Encoding:
        encoding = cls.__new__(cls)
        encoding.__dict__["_core_encoding"] = core_encoding
        return encoding

    def _with_mask(self, mask: list[bool]) -> Encoding:
        """Sets a mask that is false for padding, and returns this encoding."""
        self.__dict__["_mask"] = None if all(mask) else mask
        return self

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> list[object]:
            """A column at its first use."""
            core_encoding = self._core_encoding
            if core_encoding is None or name not in _COLUMNS:
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            entries = core_encoding.rows(name, 0, AT_ONCE)
            # Ctrl-C interrupts between two parts. The list so far is freed with the traceback, that
            # is later: millions of tuples take as long to free as to make.
            for start in range(AT_ONCE, len(core_encoding), AT_ONCE):
                entries += core_encoding.rows(name, start, start + AT_ONCE)
            # If two threads make a column at the same time, both get the list of the first.
            return self.__dict__.setdefault(name, entries)

    def __getstate__(self) -> dict[str, object]:
        columns = {name: getattr(self, name) for name in _COLUMNS}
        return {**self.__dict__, **columns, "_core_encoding": None}

    def _source_of(self, name: str) -> _core.Encoded | None:
        """The core's encoding while a column is no list, which the caller may have changed."""
        return None if name in self.__dict__ else self._core_encoding

    def _first(self, name: str, count: int) -> list[Any]:
        """The first entries of a column."""
        core = self._source_of(name)
        first: list[Any] = (
            getattr(self, name)[:count] if core is None else core.rows(name, 0, count)
        )
        return first

    def __len__(self) -> int:
        core = self._source_of("ids")
        return len(self.ids if core is None else core)

    @property
    def attention_mask(self) -> list[bool]:
        """Whether each entry is a token: `False` for the padding of `pad`."""
        return [True] * len(self) if self._mask is None else list(self._mask)

    def pad(
        self,
        length: int,
        *,
        pad_id: int,
        pad_token: bytes | str = b"[PAD]",
        pad_type_id: int = 0,
        side: Literal["right", "left"] = "right",
    ) -> Encoding:
        """A copy of this encoding with padding, so that it has at least `length` entries.

        Padding has the span (0, 0), no word and no sequence; `special_tokens_mask` is true for it,
        and `attention_mask` false. `tok(texts, padding=True)` and `TokenBatch.pad` pad many texts.

        Args:
            length: The minimum number of entries; a longer encoding is unchanged.
            pad_id, pad_token, pad_type_id: The id, the token and the type id of padding.
            side: Where padding goes.

        Raises:
            ArgumentTypeError: A value of the wrong type.
            ArgumentError: A number that is negative or too large; an unknown side.

        Example:
            >>> import jeton
            >>> tok = jeton.CharTrainer().train("héllo")
            >>> padded = tok.encode_with_spans("hél").pad(5, pad_id=9)
            >>> padded.ids, padded.attention_mask
            ([0, 3, 1, 9, 9], [True, True, True, False, False])
        """
        from jeton.arguments import check_id, checked_int, one_of

        token = pad_token
        if isinstance(token, str):
            token = token.encode("utf-8", "surrogatepass")
        check_kind("pad_token", token, bytes, "bytes or a str")
        missing = max(checked_int("length", length, 0) - len(self), 0)
        check_id("pad_id", pad_id)
        check_id("pad_type_id", pad_type_id)
        one_of("side", side, ("right", "left"))
        padding: dict[str, object] = {
            "ids": pad_id,
            "spans": (0, 0),
            "word_ids": None,
            "type_ids": pad_type_id,
            "sequence_ids": None,
            "special_tokens_mask": True,
            "tokens": token,
        }

        def extend(column: list[_T], value: _T) -> list[_T]:
            more = [value] * missing
            return column + more if side == "right" else more + column

        columns = (extend(getattr(self, name), padding[name]) for name in _COLUMNS)
        return Encoding(*columns)._with_mask(extend(self.attention_mask, False))

    def truncate(self, max_length: int, *, side: Literal["right", "left"] = "right") -> Encoding:
        """The first `max_length` entries, or with `side="left"` the last ones.

        Special tokens count like others, so truncate before `tok.stages.post_process` adds them.

        Args:
            max_length: The maximum number of entries.
            side: The side that loses entries.

        Raises:
            ArgumentTypeError: `max_length` is not an int.
            ArgumentError: It is negative; an unknown side.

        Example:
            >>> import jeton
            >>> encoding = jeton.CharTrainer().train("héllo").encode_with_spans("hél")
            >>> encoding.truncate(2).ids, encoding.truncate(2, side="left").ids
            ([0, 3], [3, 1])
        """
        from jeton.arguments import checked_int, one_of

        count = checked_int("max_length", max_length, 0)
        if one_of("side", side, ("right", "left")) == "right":
            return self._slice(0, count)
        return self._slice(max(len(self) - count, 0), len(self))

    def windows(
        self, max_length: int, *, stride: int = 0, side: Literal["right", "left"] = "right"
    ) -> list[Encoding]:
        """All entries in windows of `max_length`: first the result of `truncate`, then the rest.

        Args:
            max_length: The maximum number of entries per window.
            stride: How many entries a window shares with the one before.
            side: As in `truncate`: with `"left"`, the first window is the end of the text.

        Raises:
            ArgumentTypeError: A number that is not an int.
            ArgumentError: `max_length` below 1; a `stride` that is not less; an unknown side.

        Example:
            >>> import jeton
            >>> encoding = jeton.CharTrainer().train("abcde").encode_with_spans("abcde")
            >>> [window.ids for window in encoding.windows(3, stride=1)]
            [[0, 1, 2], [2, 3, 4]]
        """
        from jeton.arguments import checked_int, one_of

        size = checked_int("max_length", max_length, 1)
        step = size - checked_int("stride", stride, 0)
        if step < 1:
            raise ArgumentError(f"stride={stride} must be less than max_length={max_length}")
        length = len(self)
        starts = range(0, max(length - size, 0) + step, step)
        if one_of("side", side, ("right", "left")) == "right":
            return [self._slice(start, start + size) for start in starts]
        ends = (length - start for start in starts)
        return [self._slice(max(end - size, 0), end) for end in ends]

    def _slice(self, start: int, stop: int) -> Encoding:
        columns = (getattr(self, name)[start:stop] for name in _COLUMNS)
        return Encoding(*columns)._with_mask(self.attention_mask[start:stop])

    def to_numpy(self) -> npt.NDArray[np.int64]:
        """The ids as an array of int64, shape (tokens,)."""
        import numpy as np

        core = self._source_of("ids")
        return np.array(self.ids if core is None else core.array(), np.int64)

    def to_torch(self) -> torch.Tensor:
        """The ids as a tensor of int64, shape (tokens,). Needs PyTorch.

        Raises:
            UnsupportedError: PyTorch is not installed.
        """
        return torch_of(self.to_numpy())

    def _repr_html_(self) -> str:
        """The tokens in colour, for notebooks."""
        from jeton.display import human_readable, notebooks

        title = f"Encoding of {human_readable.counted(len(self), 'token')}"
        columns = (self._first(name, notebooks.MAX_TOKENS) for name in ("ids", "tokens", "spans"))
        return notebooks.boxed(title, notebooks.chips(len(self), *columns))

    def __repr__(self) -> str:
        columns = []
        for name in ("ids", "tokens", "spans"):
            first = self._first(name, _REPR_ENTRIES)
            rest = ", …" * (len(self) > len(first))
            columns.append(f"{name}=[{', '.join(map(repr, first))}{rest}]")
        return f"Encoding({len(self):,} token{'s' * (len(self) != 1)}: {', '.join(columns)})"


class TokenBatch:
    """The ids of many texts in two arrays, without padding and without a Python object per token.

    `batch[i]` is the ids of text `i` as a view into the flat array, `batch[i:j]` a smaller batch.
    It has a length and can be iterated over, and `tolist()` returns lists of ints.

    Libraries that read Arrow take it as a column of lists: `pyarrow.array(batch)`,
    `polars.Series(batch)`. The ids are then uint16 if every id of the tokenizer fits. Otherwise,
    and in batches that do not come from a tokenizer, they are uint32 and share the memory of the
    batch.

    Args:
        ids: The ids of all texts, one after another.
        offsets: Where the ids of each text begin and end: one more than there are texts, from 0 up
            to the number of ids.

    Raises:
        ArgumentError: The offsets do not fit the ids.

    Example:
        >>> import jeton
        >>> tok = jeton.CharTrainer().train("abc")
        >>> batch = tok.encode_batch(["ab", "", "cab"])
        >>> batch
        TokenBatch(3 texts, 5 tokens)
        >>> batch.tolist()
        [[0, 1], [], [2, 0, 1]]
        >>> batch[2]
        array([2, 0, 1], dtype=uint32)
        >>> batch.pad(pad_id=9).ids.tolist()
        [[0, 1, 9], [9, 9, 9], [2, 0, 1]]
    """

    __slots__ = ("_ids", "_max_id", "_offsets", "_origin", "_spans")

    _spans: npt.NDArray[np.int64] | None
    _origin: BatchSource

    def __init__(
        self,
        ids: npt.NDArray[np.uint32] | Sequence[int],
        offsets: npt.NDArray[np.int64] | Sequence[int],
    ) -> None:

        self._max_id = _MAX_ID
        self._origin = _NO_ORIGIN
        self._spans = None
        self._ids = checked_numbers("ids", ids, 1 << 32, dtype="uint32")
        self._offsets = checked_numbers("offsets", offsets)
        self._check_offsets()

    def _check_offsets(self) -> None:
        """Raises if the offsets do not fit the ids; the caller may have changed them."""
        offsets = self._offsets
        if (
            not len(offsets)
            or offsets[0] != 0
            or offsets[-1] != len(self._ids)
            or bool((offsets[1:] < offsets[:-1]).any())
        ):
            raise ArgumentError(
                f"offsets must rise from 0 to the number of ids, {len(self._ids)}, and never fall"
            )

    @classmethod
    def _of_core(
        cls,
        ids: npt.NDArray[np.uint32],
        offsets: npt.NDArray[np.int64],
        max_id: int | None,
        origin: BatchSource = _NO_ORIGIN,
        spans: npt.NDArray[np.int64] | None = None,
    ) -> TokenBatch:
        batch = cls.__new__(cls)
        batch._spans = spans
        batch._ids = ids
        batch._offsets = offsets
        batch._max_id = 0 if max_id is None else max_id
        batch._origin = origin
        return batch

    @classmethod
    def from_rows(cls, rows: Iterable[Sequence[int] | npt.NDArray[np.uint32]]) -> TokenBatch:
        """A batch from sequences of ids.

        Example:
            >>> from jeton import TokenBatch
            >>> TokenBatch.from_rows([[1, 2], [3]]).ids
            array([1, 2, 3], dtype=uint32)
        """
        import numpy as np

        rows = checked_iterable("rows", rows, "an iterable of sequences of ids")
        arrays = [
            checked_numbers(f"rows[{number}]", row, 1 << 32, dtype="uint32")
            for number, row in enumerate(rows)
        ]
        offsets = np.zeros(len(arrays) + 1, np.int64)
        np.cumsum([len(row) for row in arrays], out=offsets[1:])
        flat = np.concatenate(arrays) if arrays else np.empty(0, np.uint32)
        return cls(flat, offsets)

    @property
    def ids(self) -> npt.NDArray[np.uint32]:
        """The ids of all texts, one after another."""
        return self._ids

    @property
    def offsets(self) -> npt.NDArray[np.int64]:
        """Text `i` has the ids from `offsets[i]` up to `offsets[i + 1]`."""
        return self._offsets

    @property
    def spans(self) -> npt.NDArray[np.int64]:
        """Where each token came from: int64 of shape `(tokens, 2)`, start and end in its text.

        Those of text `i` are the rows from `offsets[i]` up to `offsets[i + 1]`; in an entry of
        words, a span is a range of its word.

        Raises:
            AttributeError: The batch has no spans; `encode_batch(texts, spans="characters")` adds
                them.

        Example:
            >>> import jeton
            >>> tok = jeton.CharTrainer().train("hello 🙂")
            >>> batch = tok.encode_batch(["hole", "🙂o"], spans="utf-16")
            >>> batch.spans[batch.offsets[1] : batch.offsets[2]].tolist()
            [[0, 2], [2, 3]]
        """
        if self._spans is None:
            raise AttributeError(
                "this batch has no spans: encode_batch(texts, spans='characters') adds them"
            )
        return self._spans

    @property
    def lengths(self) -> npt.NDArray[np.int64]:
        """The number of tokens of each text."""
        lengths: npt.NDArray[np.int64] = self._offsets[1:] - self._offsets[:-1]
        return lengths

    def __len__(self) -> int:
        return len(self._offsets) - 1

    @overload
    def __getitem__(self, index: int) -> npt.NDArray[np.uint32]: ...
    @overload
    def __getitem__(self, index: slice) -> TokenBatch: ...
    def __getitem__(self, index: int | slice) -> npt.NDArray[np.uint32] | TokenBatch:
        if isinstance(index, slice):
            start, stop, step = index.indices(len(self))
            if step != 1:
                texts = range(start, stop, step)
                part = TokenBatch.from_rows([self[row] for row in texts])
                if self._spans is not None:
                    spans = [
                        self._spans[self._offsets[row] : self._offsets[row + 1]] for row in texts
                    ]
                    part._spans = np.concatenate([self._spans[:0], *spans])
            else:
                offsets = self._offsets[start : max(start, stop) + 1]
                part = TokenBatch(self._ids[offsets[0] : offsets[-1]], offsets - offsets[0])
                if self._spans is not None:
                    part._spans = self._spans[offsets[0] : offsets[-1]]
            part._max_id = self._max_id
            part._origin = self._origin
            return part
        try:
            row = range(len(self))[index]
        except IndexError:
            raise IndexError(
                f"text {index} of a batch of {len(self)}: there is no such text"
            ) from None
        return self._ids[self._offsets[row] : self._offsets[row + 1]]

    def __iter__(self) -> Iterator[npt.NDArray[np.uint32]]:
        return (self._ids[start:end] for start, end in itertools.pairwise(self._offsets.tolist()))

    def tolist(self) -> list[list[int]]:
        """The ids as one list of ints per text."""
        import numpy as np

        ids, offsets = (np.require(it, None, ["C", "A"]) for it in (self._ids, self._offsets))
        return _core.lists(ids, offsets)

    def to_numpy(self) -> list[npt.NDArray[np.int64]]:
        """The ids of each text as an array of int64; all share one block of memory.

        `pad` returns one array for all texts.

        Example:
            >>> import jeton
            >>> jeton.TokenBatch([1, 2, 3], [0, 2, 3]).to_numpy()
            [array([1, 2]), array([3])]
        """
        import numpy as np

        ids, offsets = self._ids.astype(np.int64), self._offsets.tolist()
        return [ids[start:stop] for start, stop in itertools.pairwise(offsets)]

    def to_torch(self) -> list[torch.Tensor]:
        """The ids of each text as a tensor of int64; all share one block of memory. Needs PyTorch.

        For one tensor of all texts, use `batch.pad().to_torch()`.

        Raises:
            UnsupportedError: PyTorch is not installed.
        """
        return list(map(torch_of, self.to_numpy()))

    def pad(
        self,
        length: int | None = None,
        *,
        pad_id: int | None = None,
        side: Literal["right", "left"] = "right",
        multiple_of: int = 1,
        truncate: bool = False,
        dtype: npt.DTypeLike | None = None,
    ) -> PaddedBatch:
        """The ids padded to sequences of the same length.

        Args:
            length: The length; by default that of the longest text.
            pad_id: The id of padding; by default that of the tokenizer's pad token: of `tok.roles`,
                or else of its only special token with a name such as `[PAD]` or `<pad>`.
            side: Where the padding goes.
            multiple_of: Round the length up to a multiple of this.
            truncate: Whether to truncate longer texts, at the side of the padding; otherwise they
                are an error. Special tokens around a text are kept.
            dtype: The type of the ids, a numpy type of integers; uint32 by default.

        Returns:
            The ids, and a mask that is true for tokens.

        Raises:
            ArgumentError: A text longer than `length` without `truncate`; no `pad_id`, although the
                tokenizer has no pad token; an invalid value.

        Example:
            >>> import jeton
            >>> tok = jeton.CharTrainer(special_tokens=["<pad>"]).train("abc")
            >>> tok.encode_batch(["ab", "cab"]).pad(dtype="int64").ids
            array([[0, 1, 3],
                   [2, 0, 1]])
        """
        self._check_offsets()
        return pad_batch(
            self._ids,
            self._offsets,
            self._origin,
            length=length,
            pad_id=pad_id,
            side=side,
            multiple_of=multiple_of,
            truncate=truncate,
            dtype=dtype,
        )

    def to_datasets(self) -> Any:
        """The ids as a `datasets.Dataset` with a column `input_ids`; they are not copied.

        Raises:
            UnsupportedError: `datasets` is not installed.
            ArgumentError: The offsets were changed and do not fit the ids.
        """
        from jeton.results.datasets import dataset_of

        return dataset_of({"input_ids": self})

    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]:
        """This batch as a list array: capsules of its schema and of its data.

        Args:
            requested_schema: May ask for lists with 64-bit offsets or with another type of ids,
                which are returned if the ids fit.

        Raises:
            ArgumentError: The offsets were changed and do not fit the ids.
        """
        import numpy as np

        self._check_offsets()
        ids, offsets = (np.require(it, None, ["C", "A"]) for it in (self._ids, self._offsets))
        narrow = self._max_id <= 0xFFFF and int(ids.max(initial=0)) <= 0xFFFF
        return _core.arrow_lists(ids, offsets, narrow, requested_schema)

    def __eq__(self, other: object) -> bool:
        import numpy as np

        if not isinstance(other, TokenBatch):
            return NotImplemented
        return np.array_equal(self._offsets, other._offsets) and np.array_equal(
            self._ids, other._ids
        )

    __hash__ = None  # type: ignore[assignment]  # its arrays can be written to

    def __reduce__(self) -> tuple[object, ...]:
        own = self._ids, self._offsets, self._max_id, self._origin, self._spans
        return TokenBatch._of_core, own

    def _repr_html_(self) -> str:
        """The first texts, for notebooks."""
        from jeton.display import human_readable, notebooks

        rows = []
        for at, row in zip(range(notebooks.MAX_ROWS), self, strict=False):
            first = " ".join(map(str, row[:_NOTEBOOK_IDS].tolist()))
            rows.append((str(at), f"{len(row):,}", first + " …" * (len(row) > _NOTEBOOK_IDS)))
        rest = len(self) - notebooks.MAX_ROWS
        more = f"<div>… {rest:,} more</div>" if rest > 0 else ""
        texts, tokens = (
            human_readable.counted(len(self), "text"),
            human_readable.counted(len(self._ids), "token"),
        )
        return notebooks.boxed(
            f"{texts}, {tokens}", notebooks.table(["text", "tokens", "ids"], rows) + more
        )

    def __repr__(self) -> str:
        texts, tokens = len(self), len(self._ids)
        return f"TokenBatch({texts} text{'s' * (texts != 1)}, {tokens} token{'s' * (tokens != 1)})"
