"""Arguments of positions and tables, checked before any arithmetic: numbers and arrays.

Look here for the errors about invalid numbers; `checked_int` checks whole numbers.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from jeton.errors import ArgumentError, ArgumentTypeError


def checked_number(name: str, value: object, *, above: float = 0.0, least: float = -1.0) -> float:
    """A finite number greater than `above`, or at least `least` if that is given."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ArgumentTypeError(f"{name} must be a number, not {type(value).__name__}")
    bound = f"of at least {least:g}" if least >= 0 else f"above {above:g}"
    fits = value >= least if least >= 0 else value > above
    if not fits or not value <= 1e300 or math.isnan(value):
        is_short = isinstance(value, float) or value.bit_length() < 99
        raise ArgumentError(
            f"{name} must be a finite number {bound}, not {value if is_short else 'so large'}"
        )
    return float(value)


def checked_floats(name: str, values: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """An array of numbers, as float64."""
    try:
        array = np.asarray(values)
        if array.dtype.kind not in "iuf":
            raise TypeError
        return np.asarray(array, np.float64)
    except (TypeError, ValueError, RuntimeError):
        raise ArgumentTypeError(
            f"{name} must be an array of numbers, not {type(values).__name__}"
        ) from None
