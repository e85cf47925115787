"""`TokenBatch.pad`: sequences of one length, what fills them, and what is cut of longer ones.

Look here for which id padding has where none is given, and for why a `[SEP]` outlives truncation.
`tok(texts, padding=…)` is another operation: it has transformers' strategies and sections of
`tokenizer.json`, cuts texts before special tokens are added, and returns windows and many columns
(`jeton.encoding.calls`). What both need is here: which id pads (`Origin`) and `torch_of`.
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

__all__ = ["Origin", "PaddedBatch", "padded", "torch_of"]

_PAD = re.compile(r"[\[<]\W*(finetune_right_|right_|left_)?pad(ding)?(_token)?(_id)?\W*[\]>]", re.I)
"""What a special token is called that is there to pad, where no role says: `[PAD]`, `<|pad|>`, …"""


class PaddedBatch(NamedTuple):
    """Rows of one length, and which of their places hold tokens."""

    ids: npt.NDArray[Any]
    """rows × length: the ids, and the padding id where there is none."""
    mask: npt.NDArray[np.bool_]
    """rows × length: true where a token stands, false where padding does."""

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


def torch_of(array: npt.NDArray[Any]) -> torch.Tensor:
    """A tensor that shares the memory of an array.

    Raises:
        UnsupportedError: PyTorch is not installed.
    """
    try:
        import torch
    except ImportError:
        raise UnsupportedError(
            "tensors need PyTorch, which is not installed (pip install 'jeton[torch]')"
        ) from None
    return torch.from_numpy(array)


@dataclass(frozen=True)
class Origin:
    """What a batch knows of the tokenizer that made it."""

    pad_id: int | None = None
    """The id of its pad token, if there is one."""
    pad_tokens: tuple[str, ...] | None = None
    """The special tokens that are called so; `None` for a batch that no tokenizer made."""
    before: int = 0
    """How many tokens the post-processor put before each text."""
    after: int = 0
    """How many it put behind."""
    is_framed: bool = True
    """Whether that is all that it did."""

    @classmethod
    def of(
        cls,
        special_tokens: Mapping[str, int],
        role_ids: Mapping[str, int],
        frame: tuple[Sequence[int], Sequence[int]] | None,
        *,
        is_whole: bool,
    ) -> Origin:
        """What a batch knows of the tokenizer that has these tokens.

        Args:
            special_tokens: Its special tokens with their ids.
            role_ids: The ids of its roles.
            frame: The ids that its post-processor puts before and behind each text; `None` if it
                does something else.
            is_whole: Whether the frame is all that it adds.
        """
        named = tuple(token for token in special_tokens if _PAD.fullmatch(token))
        only = special_tokens[named[0]] if len(named) == 1 else None
        before, after = ((), ()) if frame is None else frame
        return cls(
            pad_id=role_ids.get("pad", only),
            pad_tokens=named,
            before=len(before),
            after=len(after),
            is_framed=frame is not None and is_whole,
        )

    def pad(self, remedy: str = "give pad_id, or roles={'pad': …} to tok.replace") -> int:
        """The id that padding has.

        Raises:
            ArgumentError: Nothing says which; `remedy` is what to do then.
        """
        if self.pad_id is not None:
            return self.pad_id
        if self.pad_tokens is None:
            why = "nothing says what fills the rows of a batch that no tokenizer made"
        elif self.pad_tokens:
            why = f"the tokenizer has several pad tokens: {', '.join(self.pad_tokens)}"
        else:
            why = "the tokenizer has no pad token"
        raise ArgumentError(f"{why} ({remedy})")


def padded(
    ids: npt.NDArray[np.uint32],
    offsets: npt.NDArray[np.int64],
    origin: Origin,
    *,
    length: int | None,
    pad_id: int | None,
    side: Literal["right", "left"],
    multiple_of: int,
    truncate: bool,
    dtype: npt.DTypeLike | None,
) -> PaddedBatch:
    """Rows of one length; see `TokenBatch.pad`."""
    import numpy as np

    from jeton.arguments import checked_flag, checked_int

    kind = _integer_type(dtype)
    checked_flag("truncate", truncate)
    multiple_of = checked_int("multiple_of", multiple_of, 1)
    filler = origin.pad() if pad_id is None else _id(pad_id)
    if not isinstance(side, str) or side not in ("right", "left"):
        raise ArgumentError(f'side must be "right" or "left", not {side!r}')
    lengths = offsets[1:] - offsets[:-1]
    longest = int(lengths.max()) if len(lengths) else 0
    width = longest if length is None else checked_int("length", length, 0)
    width += -width % multiple_of
    if width >= 2**31:
        asked = "multiple_of" if multiple_of >= 2**31 else "length"
        raise ArgumentError(f"{asked} must be less than 2**31: a row has that many ids")
    largest = int(ids.max()) if ids.size else 0
    limits = np.iinfo(kind)
    for name, id in (("the largest id", largest), ("pad_id", filler)):
        if not limits.min <= id <= limits.max:
            raise ArgumentError(f"{name} is {id}, which {kind} does not hold (set dtype)")
    if longest > width:
        _check_truncation(origin, int(lengths.argmax()), longest, width, truncate)
    kept = np.minimum(lengths, width)[:, None]
    # Places count from the end of the row where padding is on the left, and behind what is cut.
    from_start = np.broadcast_to(np.arange(width), (len(lengths), width))
    from_end = from_start - width
    starts, ends = offsets[:-1, None], offsets[1:, None]
    is_cut = lengths[:, None] > width
    if side == "right":
        mask = from_start < kept
        behind = is_cut & (from_start >= width - origin.after)
    else:
        mask = from_start >= width - kept
        behind = ~is_cut | (from_start >= origin.before)
    source = np.where(behind, ends + from_end, starts + from_start)
    rows = np.full((len(lengths), width), filler, kind)
    rows[mask] = ids[source[mask]]
    return PaddedBatch(rows, mask)


def _check_truncation(origin: Origin, row: int, longest: int, width: int, truncate: bool) -> None:
    """Refuses to cut where that is not asked for, or would lose what the post-processor added."""
    if not truncate:
        raise ArgumentError(
            f"text {row} has {longest} tokens, more than length={width}; pass truncate=True to cut "
            "it"
        )
    if not origin.is_framed:
        raise UnsupportedError(
            "the post-processor does more than to put special tokens around one text, so that rows "
            "cannot be cut (cut the texts, or encode without add_special_tokens)"
        )
    if origin.before + origin.after > width:
        raise ArgumentError(
            f"length={width} has no room for the {origin.before + origin.after} special tokens "
            "that stand around each text"
        )


def _id(pad_id: object) -> int:
    """The id that was given to pad with; below zero only an explicit dtype holds it."""
    import numpy as np

    if isinstance(pad_id, bool) or not isinstance(pad_id, (int, np.integer)):
        raise ArgumentTypeError(f"pad_id must be an int, not {type(pad_id).__name__}")
    return int(pad_id)


def _integer_type(dtype: npt.DTypeLike | None) -> np.dtype[np.integer[Any]]:
    import numpy as np

    if dtype is None:
        return np.dtype(np.uint32)
    refused = f"dtype must be a type of integers of numpy, not {dtype!r}"
    try:
        kind: np.dtype[Any] = np.dtype(dtype)
    except (TypeError, ValueError):
        raise ArgumentTypeError(refused) from None
    if kind.kind not in "iu":
        raise ArgumentTypeError(refused)
    return kind
