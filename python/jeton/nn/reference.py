"""The mathematics of positions in plain numpy, one formula per function, in 64-bit floats.

Look here to read what the modules of `jeton.nn` compute, or to use it without PyTorch. Tests check
that the modules agree with these functions.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
import numpy.typing as npt

from jeton.arguments import check_kind, checked_int, checked_number, one_of
from jeton.errors import ArgumentError, ArgumentTypeError

__all__ = [
    "alibi_bias",
    "alibi_slopes",
    "dynamic_ntk_base",
    "linear_frequencies",
    "llama3_frequencies",
    "rotary_frequencies",
    "rotate",
    "sinusoids",
    "yarn_attention_factor",
    "yarn_frequencies",
]

Floats = npt.NDArray[np.float64]


def sinusoids(
    positions: npt.ArrayLike,
    dim: int,
    *,
    form: Literal["interleaved", "concatenated"] = "interleaved",
    base: float = 10_000.0,
) -> Floats:
    """The sinusoids of these positions: one row of `dim` numbers each.

    Column `2i` of the interleaved form is `sin(p / base^(2i / dim))` and column `2i + 1` the cosine
    of the same angle; the concatenated form has all sines first, then all cosines.

    Source: Vaswani et al., "Attention Is All You Need", 2017, section 3.5.

    Example:
        >>> sinusoids([0, 1], 4).round(4)
        array([[0.    , 1.    , 0.    , 1.    ],
               [0.8415, 0.5403, 0.01  , 1.    ]])
    """
    dim = _even("dim", dim)
    one_of("form", form, ("interleaved", "concatenated"))
    angles = _floats("positions", positions)[..., None] * rotary_frequencies(dim, base=base)
    sines, cosines = np.sin(angles), np.cos(angles)
    if form == "concatenated":
        return np.concatenate([sines, cosines], axis=-1)
    return np.stack([sines, cosines], axis=-1).reshape(*angles.shape[:-1], dim)


def rotary_frequencies(rotary_dim: int, *, base: float = 10_000.0) -> Floats:
    """The angle by which each pair of dimensions turns per position, in radians.

    Pair `i` of `rotary_dim / 2` turns by `base^(-2i / rotary_dim)`.

    Source: Su et al., "RoFormer", 2021, section 3.2.2.

    Example:
        >>> rotary_frequencies(4)
        array([1.  , 0.01])
    """
    rotary_dim, base = _even("rotary_dim", rotary_dim), checked_number("base", base)
    exponents: Floats = np.arange(0, rotary_dim, 2) / rotary_dim
    return 1.0 / base**exponents


def rotate(
    x: npt.ArrayLike,
    angles: npt.ArrayLike,
    *,
    pairing: Literal["halves", "neighbours"] = "halves",
) -> Floats:
    """Turns each pair of the last axis by its angle.

    The pair `(a, b)` becomes `(a cos t - b sin t, b cos t + a sin t)`. With `n` angles the first
    `2n` numbers of the last axis turn and the others stay. `"halves"` pairs number `i` with number
    `i + n` (GPT-NeoX, Llama), `"neighbours"` pairs `2i` with `2i + 1` (the paper, GPT-J).

    Example:
        >>> rotate([1.0, 2.0, 3.0, 4.0], [np.pi / 2, 0.0]).round(9)
        array([-3.,  2.,  1.,  4.])
        >>> rotate([1.0, 2.0, 3.0, 4.0], [np.pi / 2, 0.0], pairing="neighbours").round(9)
        array([-2.,  1.,  3.,  4.])
    """
    x, angles = _floats("x", x), _floats("angles", angles)
    one_of("pairing", pairing, ("halves", "neighbours"))
    pairs = angles.shape[-1] if angles.ndim else 0
    if x.ndim < 1 or not 1 <= pairs <= x.shape[-1] // 2:
        raise ArgumentError(
            f"the last axis of x must have at least two numbers per angle: x has the shape "
            f"{x.shape}, angles {angles.shape}"
        )
    try:
        np.broadcast_shapes(x.shape[:-1], angles.shape[:-1])
    except ValueError:
        raise ArgumentError(
            f"x of shape {x.shape} and angles of shape {angles.shape} do not match"
        ) from None
    first, second = (
        (slice(0, pairs), slice(pairs, 2 * pairs))
        if pairing == "halves"
        else (slice(0, 2 * pairs, 2), slice(1, 2 * pairs, 2))
    )
    a, b, cosine, sine = x[..., first], x[..., second], np.cos(angles), np.sin(angles)
    result = np.array(
        np.broadcast_to(x, (*np.broadcast_shapes(a.shape, angles.shape)[:-1], x.shape[-1]))
    )
    result[..., first] = a * cosine - b * sine
    result[..., second] = b * cosine + a * sine
    return result


def linear_frequencies(frequencies: npt.ArrayLike, factor: float) -> Floats:
    """Position interpolation: all frequencies divided by `factor`.

    Source: Chen et al., "Extending Context Window of Large Language Models via Positional
    Interpolation", 2023.

    Example:
        >>> linear_frequencies([1.0, 0.01], 2.0)
        array([0.5  , 0.005])
    """
    return _floats("frequencies", frequencies) / checked_number("factor", factor)


def dynamic_ntk_base(
    base: float, rotary_dim: int, *, factor: float, length: int, original_length: int
) -> float:
    """The base that stretches the slowest pair over `length` positions and not the fastest.

    Up to the trained length it is `base` itself; beyond, `base` times
    `(factor · length / original_length - (factor - 1))^(d / (d - 2))`.

    Source: the "NTK-aware" scaling that Peng et al., "YaRN", 2023, describe in section 3.

    Example:
        >>> dynamic_ntk_base(10_000.0, 4, factor=1.0, length=200, original_length=100)
        40000.0
    """
    base, factor = checked_number("base", base), checked_number("factor", factor)
    original_length = checked_int("original_length", original_length, 1)
    rotary_dim, length = checked_int("rotary_dim", rotary_dim, 3), checked_int("length", length, 0)
    stretch = factor * max(length, original_length) / original_length - (factor - 1)
    return float(base * stretch ** (rotary_dim / (rotary_dim - 2)))


def yarn_frequencies(
    rotary_dim: int,
    *,
    factor: float,
    original_length: int,
    base: float = 10_000.0,
    beta_fast: float = 32.0,
    beta_slow: float = 1.0,
    truncate: bool = True,
) -> Floats:
    """YaRN: fast pairs keep their frequency, slow ones have it divided by `factor`.

    A pair that turns `beta_fast` times or more over the trained length is fast, one that turns
    `beta_slow` times or less is slow, and between the two a ramp over the pair's number mixes them.

    Source: Peng et al., "YaRN: Efficient Context Window Extension of Large Language Models", 2023,
    section 3.2.

    Example:
        >>> rotary_frequencies(8).round(6)
        array([1.   , 0.1  , 0.01 , 0.001])
        >>> yarn_frequencies(8, factor=4.0, original_length=2048).round(6)
        array([1.00e+00, 1.00e-01, 6.25e-03, 2.50e-04])
    """
    rotary_dim, base = _even("rotary_dim", rotary_dim), checked_number("base", base, above=1.0)
    factor = checked_number("factor", factor)
    original_length = checked_int("original_length", original_length, 1)
    beta_fast = checked_number("beta_fast", beta_fast)
    beta_slow = checked_number("beta_slow", beta_slow)
    check_kind("truncate", truncate, bool, "a bool")
    frequencies = rotary_frequencies(rotary_dim, base=base)

    def pair_that_turns(times: float) -> float:
        turns = original_length / (times * 2 * math.pi)
        return rotary_dim * math.log(turns) / (2 * math.log(base))

    low, high = pair_that_turns(beta_fast), pair_that_turns(beta_slow)
    if truncate:
        low, high = math.floor(low), math.ceil(high)
    low, high = max(low, 0), min(high, rotary_dim - 1)
    if low == high:
        high += 0.001
    slow = np.clip((np.arange(rotary_dim // 2) - low) / (high - low), 0.0, 1.0)
    result: Floats = frequencies / factor * slow + frequencies * (1 - slow)
    return result


def yarn_attention_factor(
    factor: float, mscale: float | None = None, mscale_all_dim: float | None = None
) -> float:
    """YaRN's factor for queries and keys: `0.1 ln(factor) + 1`, or a ratio of two such numbers.

    Example:
        >>> round(yarn_attention_factor(4.0), 6)
        1.138629
    """
    factor = checked_number("factor", factor)
    if mscale is not None:
        mscale = checked_number("mscale", mscale, least=0.0)
    if mscale_all_dim is not None:
        mscale_all_dim = checked_number("mscale_all_dim", mscale_all_dim, least=0.0)

    def scale(weight: float) -> float:
        return 0.1 * weight * math.log(factor) + 1.0 if factor > 1 else 1.0

    if mscale and mscale_all_dim:
        return scale(mscale) / scale(mscale_all_dim)
    return scale(1.0)


def llama3_frequencies(
    frequencies: npt.ArrayLike,
    *,
    factor: float,
    low_freq_factor: float,
    high_freq_factor: float,
    original_length: int,
) -> Floats:
    """Llama 3.1: the frequency of long waves is divided by `factor`, short ones keep theirs.

    A wave is long if it turns less than `low_freq_factor` times over the trained length, short if
    more than `high_freq_factor` times; between the two the frequency is mixed in proportion.

    Source: Grattafiori et al., "The Llama 3 Herd of Models", 2024, and the released code.

    Example:
        >>> llama3_frequencies(
        ...     [1.0, 0.001, 1e-5],
        ...     factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0, original_length=8192,
        ... ).round(8)
        array([1.0000e+00, 2.1361e-04, 1.2500e-06])
    """
    frequencies = _floats("frequencies", frequencies)
    factor = checked_number("factor", factor)
    original_length = checked_int("original_length", original_length, 1)
    low_freq_factor = checked_number("low_freq_factor", low_freq_factor)
    high_freq_factor = checked_number("high_freq_factor", high_freq_factor)
    if low_freq_factor >= high_freq_factor:
        raise ArgumentError(
            f"low_freq_factor must be below high_freq_factor, not {low_freq_factor:g} and "
            f"{high_freq_factor:g}"
        )
    turns = original_length * frequencies / (2 * math.pi)
    weight = np.clip((turns - low_freq_factor) / (high_freq_factor - low_freq_factor), 0.0, 1.0)
    result: Floats = (1 - weight) * frequencies / factor + weight * frequencies
    return result


def alibi_slopes(heads: int) -> Floats:
    """The slope of each head: for a power of two, `2^(-8/n), 2^(-16/n), …, 2^-8`.

    For another number of heads, the slopes of the power of two below it, and then every other one
    of the power of two above it.

    Source: Press et al., "Train Short, Test Long", 2022, section 3 and the released code.

    Example:
        >>> alibi_slopes(8)
        array([0.5       , 0.25      , 0.125     , 0.0625    , 0.03125   ,
               0.015625  , 0.0078125 , 0.00390625])
        >>> alibi_slopes(3).tolist()
        [0.0625, 0.00390625, 0.25]
    """
    heads = checked_int("heads", heads, 1)
    below = 1 << (heads.bit_length() - 1)

    def of_power(count: int) -> Floats:
        return np.asarray(2.0 ** (-8.0 * np.arange(1, count + 1) / count), np.float64)

    return np.concatenate([of_power(below), of_power(2 * below)[::2][: heads - below]])


def alibi_bias(
    heads: int, query_length: int, key_length: int | None = None, *, causal: bool = True
) -> Floats:
    """The bias that ALiBi adds to scores: `-slope · distance`, shape (heads, queries, keys).

    The last query has the position of the last key. If `causal`, keys after a query get `-inf`.

    Example:
        >>> alibi_bias(8, 2)[0].tolist()
        [[0.0, -inf], [-0.5, 0.0]]
    """
    slopes = alibi_slopes(heads)
    check_kind("causal", causal, bool, "a bool")
    query_length, keys = lengths_of(query_length, key_length)
    distance = np.arange(keys - query_length, keys)[:, None] - np.arange(keys)[None, :]
    bias = -slopes[:, None, None] * np.abs(distance) + 0.0
    return np.where(distance < 0, -np.inf, bias) if causal else bias


def lengths_of(query_length: int, key_length: int | None) -> tuple[int, int]:
    """The numbers of queries and of keys, checked."""
    query_length = checked_int("query_length", query_length, 0)
    if key_length is None:
        return query_length, query_length
    if checked_int("key_length", key_length, 0) < query_length:
        raise ArgumentError(
            f"key_length must be at least query_length, {query_length}, not {key_length}"
        )
    return query_length, key_length


def _even(name: str, value: int) -> int:
    value = checked_int(name, value, 2)
    if value % 2:
        raise ArgumentError(f"{name} must be even, not {value}")
    return value


def _floats(name: str, values: npt.ArrayLike) -> npt.NDArray[np.float64]:
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
