"""`TokenBatch.pad`: pads or truncates sequences to the same length.

Look here for the default id of padding, and for why a `[SEP]` survives truncation.
`tok(texts, padding=…)` is another operation: it has transformers' strategies and sections of
`tokenizer.json`, truncates texts before special tokens are added, and returns windows and many
columns (`jeton.encoding.calls`). Both use `BatchSource`, which says which id pads, and `torch_of`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from jeton.errors import ArgumentError, ArgumentTypeError, UnsupportedError

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    import torch

_PAD = re.compile(r"[\[<]\W*(finetune_right_|right_|left_)?pad(ding)?(_token)?(_id)?\W*[\]>]", re.I)
"""The names of special tokens that pad, if there is no such role: `[PAD]`, `<|pad|>`, …"""


class PaddedBatch(NamedTuple):
    """Sequences of the same length, and a mask of their tokens."""

    ids: npt.NDArray[np.integer]
    """sequences × length: the ids, and the id of padding after or before them."""
    mask: npt.NDArray[np.bool_]
    """sequences × length: true for tokens, false for padding."""

    def to_numpy(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Ids and mask as arrays of int64, as models take them: the mask is 1 for tokens."""
        import numpy as np

        return self.ids.astype(np.int64), self.mask.astype(np.int64)

    def to_torch(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Ids and mask as tensors of int64, as models take them. Needs PyTorch.

        Raises:
            UnsupportedError: PyTorch is not installed.
        """
        ids, mask = self.to_numpy()
        return torch_of(ids), torch_of(mask)

    def __repr__(self) -> str:
        import numpy as np

        with np.printoptions(threshold=60):
            return f"PaddedBatch(ids={self.ids!r}, mask={self.mask!r})"


def torch_of(array: npt.NDArray[np.generic]) -> torch.Tensor:
    """A tensor that shares the memory of an array."""
    try:
        import torch
    except ImportError:
        raise UnsupportedError(
            "tensors need PyTorch, which is not installed (pip install 'jeton[torch]')"
        ) from None
    return torch.from_numpy(array)


@dataclass(frozen=True)
class BatchSource:
    """The properties of a tokenizer that its batches need."""

    pad_id: int | None = None
    """The id of its pad token, if there is one."""
    pad_tokens: tuple[str, ...] | None = None
    """The special tokens with such a name; `None` if the batch comes from no tokenizer."""
    before: int = 0
    """How many tokens the post-processor adds before each text."""
    after: int = 0
    """How many it adds after each text."""
    is_framed: bool = True
    """Whether the post-processor adds no other tokens."""

    @classmethod
    def of(
        cls,
        special_tokens: Mapping[str, int],
        role_ids: Mapping[str, int],
        frame: tuple[Sequence[int], Sequence[int]] | None,
    ) -> BatchSource:
        """The origin of a tokenizer's batches.

        Args:
            special_tokens: The special tokens of the tokenizer with their ids.
            role_ids: The ids of its roles.
            frame: The ids that its post-processor adds before and after each text; `None` if it
                does something else.
        """
        pad_tokens = tuple(token for token in special_tokens if _PAD.fullmatch(token))
        only = special_tokens[pad_tokens[0]] if len(pad_tokens) == 1 else None
        before, after = ((), ()) if frame is None else frame
        return cls(
            pad_id=role_ids.get("pad", only),
            pad_tokens=pad_tokens,
            before=len(before),
            after=len(after),
            is_framed=frame is not None,
        )

    def pad(self, remedy: str = "give pad_id, or roles={'pad': …} to tok.replace") -> int:
        """The id of padding."""
        if self.pad_id is not None:
            return self.pad_id
        if self.pad_tokens is None:
            why = "a batch that does not come from a tokenizer has no pad token"
        elif self.pad_tokens:
            why = f"the tokenizer has several pad tokens: {', '.join(self.pad_tokens)}"
        else:
            why = "the tokenizer has no pad token"
        raise ArgumentError(f"{why} ({remedy})")


def pad_batch(
    ids: npt.NDArray[np.uint32],
    offsets: npt.NDArray[np.int64],
    origin: BatchSource,
    *,
    length: int | None,
    pad_id: int | None,
    side: Literal["right", "left"],
    multiple_of: int,
    truncate: bool,
    dtype: npt.DTypeLike | None,
) -> PaddedBatch:
    """Pads sequences to the same length; see `TokenBatch.pad`."""
    import numpy as np

    from jeton.arguments import checked_flag, checked_int, one_of

    kind = _integer_type(dtype)
    checked_flag("truncate", truncate)
    multiple_of = checked_int("multiple_of", multiple_of, 1)
    # A negative id is valid with an explicit dtype, so `check_id` does not apply.
    if pad_id is None:
        pad_id = origin.pad()
    elif isinstance(pad_id, bool) or not isinstance(pad_id, (int, np.integer)):
        raise ArgumentTypeError(f"pad_id must be an int, not {type(pad_id).__name__}")
    filler = int(pad_id)
    one_of("side", side, ("right", "left"))
    lengths = offsets[1:] - offsets[:-1]
    longest = int(lengths.max()) if len(lengths) else 0
    width = longest if length is None else checked_int("length", length, 0)
    width += -width % multiple_of
    if width >= 2**31:
        option = "multiple_of" if multiple_of >= 2**31 else "length"
        raise ArgumentError(f"{option} must be less than 2**31, since rows have that many ids")
    largest = int(ids.max()) if ids.size else 0
    limits = np.iinfo(kind)
    for name, id in (("the largest id", largest), ("pad_id", filler)):
        if not limits.min <= id <= limits.max:
            raise ArgumentError(f"{name} is {id}, which {kind} does not hold (set dtype)")
    if longest > width:
        _check_truncation(origin, int(lengths.argmax()), longest, width, truncate)
    counts = np.minimum(lengths, width)[:, None]
    # Positions count from the end of the row if padding is on the left, and after truncated tokens.
    from_start = np.broadcast_to(np.arange(width), (len(lengths), width))
    from_end = from_start - width
    starts, ends = offsets[:-1, None], offsets[1:, None]
    is_truncated = lengths[:, None] > width
    if side == "right":
        mask = from_start < counts
        counts_from_end = is_truncated & (from_start >= width - origin.after)
    else:
        mask = from_start >= width - counts
        counts_from_end = ~is_truncated | (from_start >= origin.before)
    source = np.where(counts_from_end, ends + from_end, starts + from_start)
    rows = np.full((len(lengths), width), filler, kind)
    rows[mask] = ids[source[mask]]
    return PaddedBatch(rows, mask)


def _check_truncation(
    origin: BatchSource, row: int, longest: int, width: int, truncate: bool
) -> None:
    """Raises if truncation is not allowed, or would lose tokens of the post-processor."""
    if not truncate:
        raise ArgumentError(
            f"text {row} has {longest} tokens, more than length={width}; pass truncate=True to "
            "truncate it"
        )
    if not origin.is_framed:
        raise UnsupportedError(
            "the post-processor does more than add special tokens around one text, so ids cannot "
            "be truncated (truncate the texts, or encode without add_special_tokens)"
        )
    if origin.before + origin.after > width:
        raise ArgumentError(
            f"length={width} has no room for the {origin.before + origin.after} special tokens "
            "around each text"
        )


def _integer_type(dtype: npt.DTypeLike | None) -> np.dtype[np.integer]:
    import numpy as np

    if dtype is None:
        return np.dtype(np.uint32)
    message = f"dtype must be a numpy type of integers, not {dtype!r}"
    try:
        kind: np.dtype[Any] = np.dtype(dtype)
    except (TypeError, ValueError):
        raise ArgumentTypeError(message) from None
    if kind.kind not in "iu":
        raise ArgumentTypeError(message)
    return kind
