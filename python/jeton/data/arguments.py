"""Checks of arguments that only data sets take: flags, and numbers of examples."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from jeton.arguments import check_kind
from jeton.errors import ArgumentError, ArgumentTypeError


def checked_bool(name: str, value: object) -> bool:
    """`value`, if it is a bool; other truthy or falsy values are an error."""
    check_kind(name, value, (bool, np.bool_), "a bool")
    return bool(value)


def checked_numbers(name: str, numbers: npt.ArrayLike, below: int) -> npt.NDArray[np.int64]:
    """Integers from 0 up to `below`, as an array with one axis."""
    try:
        array = np.asarray(numbers)
    except (ValueError, TypeError, OverflowError):
        array = np.empty(0, object)
    if array.ndim == 1 and not array.size and array.dtype.kind == "f":
        array = array.astype(np.int64)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise ArgumentTypeError(f"{name} must be an array of integers with one axis")
    if array.size and not 0 <= int(array.min()) <= int(array.max()) < below:
        worst = int(array.min()) if int(array.min()) < 0 else int(array.max())
        raise ArgumentError(f"{name} has {worst:,}, but must be between 0 and {below - 1:,}")
    return array.astype(np.int64)
