"""Checks of the arguments of writers, before any file is created."""

from __future__ import annotations

import re

import numpy as np
import numpy.typing as npt

from jeton.arguments import check_text, checked_flag, checked_int, one_of
from jeton.data.layouts.layout import BaseLayout
from jeton.errors import ArgumentError, ArgumentTypeError


def checked_split(split: object) -> str:
    """`split`, if file names can begin with it."""
    split = check_text("split", split)
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]{0,99}", split) or re.search(r"_\d+$", split):
        raise ArgumentError(
            f"split cannot be {split[:100]!r}: it must be a letter, then letters, digits and _, "
            "without a number after a _ at the end"
        )
    return split


def checked_dtype(dtype: object) -> str:
    """`"uint16"` or `"uint32"`."""
    return one_of("dtype", dtype, ("uint16", "uint32"))


def checked_masks(layout: BaseLayout, masks: object) -> bool:
    if checked_flag("masks", masks) and not layout.holds_masks:
        raise no_masks(layout)
    return bool(masks)


def no_masks(layout: BaseLayout) -> ArgumentError:
    """The error about a layout that cannot hold a loss mask."""
    return ArgumentError(
        f"layout {layout.name!r} cannot hold a loss mask; jeton, datatrove, parquet and olmo can"
    )


def most_tokens(layout: BaseLayout) -> int:
    return 2**62 if layout.most_tokens is None else layout.most_tokens


def checked_shard_tokens(layout: BaseLayout, shard_tokens: object) -> int:
    most = most_tokens(layout)
    if shard_tokens is None:
        return layout.default_shard or most
    if layout.single:
        raise ArgumentError(
            f"layout {layout.name!r} has one file per split; leave shard_tokens out"
        )
    number = checked_int("shard_tokens", shard_tokens, 1)
    if number > most:
        raise ArgumentError(f"a shard of layout {layout.name!r} holds at most {most:,} tokens")
    return number


def integers(name: str, values: object) -> npt.NDArray[np.integer]:
    array = np.asarray(values)
    if array.ndim != 1 or (array.dtype.kind not in "iu" and array.size):
        raise ArgumentTypeError(f"{name} must be an array of ints with one axis")
    return array if array.size else array.astype(np.uint16)
