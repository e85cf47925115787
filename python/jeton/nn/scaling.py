"""Changes of rotary frequencies to reach beyond the length that a model was trained on.

Look here for the values of `RotaryPositions(scaling=…)`; the formulas are in `reference`. They are
computed in float32, in the same order as in the released models, so that tables equal those of
transformers to the last bit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import TypeAlias

import torch
from torch import Tensor

from jeton.arguments import check_kind, checked_iterable, checked_number
from jeton.errors import ArgumentError
from jeton.nn import reference


class _PositiveNumbers:
    """Checks that the numbers of a scaling are positive and finite."""

    def __post_init__(self) -> None:
        for field in fields(self):  # type: ignore[arg-type]
            value = getattr(self, field.name)
            where = f"{type(self).__name__}.{field.name}"
            if field.type == "bool":
                check_kind(where, value, bool, "a bool")
            elif value is not None or "None" not in str(field.type):
                checked_number(where, value)


@dataclass(frozen=True)
class LinearScaling(_PositiveNumbers):
    """Position interpolation: position p is treated as p / factor.

    Source: Chen et al., "Extending Context Window of Large Language Models via Positional
        Interpolation", 2023.

    Example:
        >>> from jeton.nn import LinearScaling, RotaryPositions
        >>> RotaryPositions(4, scaling=LinearScaling(4.0)).frequencies()
        tensor([0.2500, 0.0025])
    """

    factor: float

    attention_factor = 1.0

    def frequencies(self, rotary_dim: int, base: float, length: int) -> Tensor:
        """The frequencies, float32 of shape (rotary_dim / 2,)."""
        return plain(rotary_dim, base) / self.factor


@dataclass(frozen=True)
class DynamicNTKScaling(_PositiveNumbers):
    """The base grows with the length of the sequence, once that exceeds `original_length`.

    Keys in a cache keep the rotation by the base at their time, as in transformers.

    Source: Peng et al., "YaRN", 2023, section 3.

    Example:
        >>> from jeton.nn import DynamicNTKScaling, RotaryPositions
        >>> rotary = RotaryPositions(4, scaling=DynamicNTKScaling(2.0, original_length=100))
        >>> rotary.frequencies(length=100), rotary.frequencies(length=200)
        (tensor([1.0000, 0.0100]), tensor([1.0000, 0.0033]))
    """

    factor: float
    original_length: int

    attention_factor = 1.0

    def frequencies(self, rotary_dim: int, base: float, length: int) -> Tensor:
        """The frequencies for a sequence of this length, float32 of shape (rotary_dim / 2,)."""
        if rotary_dim == 2:
            return plain(rotary_dim, base)
        # A tensor, so that a graph is valid for every length, and all numbers are float32.
        reached = torch.full((), length, dtype=torch.int64, device="cpu")
        reached = reached.clamp(min=self.original_length)
        stretch = self.factor * reached / self.original_length - (self.factor - 1)
        return plain(rotary_dim, base * stretch ** (rotary_dim / (rotary_dim - 2)))


@dataclass(frozen=True)
class YaRNScaling(_PositiveNumbers):
    """Fast pairs keep their frequency, slow ones have it divided, and all scores are scaled.

    Attributes:
        factor: How much longer the context is.
        original_length: The length of training, in tokens.
        beta_fast: Turns over the trained length from which on a pair is fast.
        beta_slow: Turns up to which it is slow.
        scale: The factor for queries and keys; `None` for `0.1 ln(factor) + 1`.
        mscale: With `mscale_all_dim`, `scale` is the ratio that DeepSeek's models use.
        mscale_all_dim: See `mscale`.
        truncate: Whether to round the ends of the ramp to whole pairs.

    Source: Peng et al., "YaRN: Efficient Context Window Extension of Large Language Models", 2023.

    Example:
        >>> from jeton.nn import YaRNScaling
        >>> round(YaRNScaling(4.0, original_length=2048).attention_factor, 6)
        1.138629
    """

    factor: float
    original_length: int
    beta_fast: float = 32.0
    beta_slow: float = 1.0
    scale: float | None = None
    mscale: float | None = None
    mscale_all_dim: float | None = None
    truncate: bool = True

    @property
    def attention_factor(self) -> float:
        """The factor for the rotated queries and keys."""
        if self.scale is not None:
            return self.scale
        return reference.yarn_attention_factor(self.factor, self.mscale, self.mscale_all_dim)

    def frequencies(self, rotary_dim: int, base: float, length: int) -> Tensor:
        """The frequencies, float32 of shape (rotary_dim / 2,)."""
        wavelengths = powers(rotary_dim, base)
        low, high = (
            rotary_dim
            * math.log(self.original_length / (turns * 2 * math.pi))
            / (2 * math.log(base))
            for turns in (self.beta_fast, self.beta_slow)
        )
        if self.truncate:
            low, high = math.floor(low), math.ceil(high)
        low, high = max(low, 0), min(high, rotary_dim - 1)
        if low == high:
            high += 0.001  # to avoid a division by zero
        pairs = torch.arange(rotary_dim // 2, dtype=torch.float32, device="cpu")
        ramp = (pairs - low) / (high - low)
        fast = 1 - ramp.clamp(0, 1)
        return 1.0 / (self.factor * wavelengths) * (1 - fast) + 1.0 / wavelengths * fast


@dataclass(frozen=True)
class Llama3Scaling(_PositiveNumbers):
    """The frequency of long waves is divided, short ones keep theirs: Llama 3.1 and later.

    Attributes:
        factor: The divisor for the frequencies of long waves.
        original_length: The length of training, in tokens.
        low_freq_factor: Turns over that length below which a wave is long.
        high_freq_factor: Turns above which it is short.

    Source: Grattafiori et al., "The Llama 3 Herd of Models", 2024, and the released code.

    Example:
        >>> from jeton.nn import Llama3Scaling, RotaryPositions
        >>> scaling = Llama3Scaling(8.0, original_length=8192)
        >>> RotaryPositions(128, base=500_000.0, scaling=scaling).frequencies().shape
        torch.Size([64])
    """

    factor: float
    original_length: int
    low_freq_factor: float = 1.0
    high_freq_factor: float = 4.0

    attention_factor = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.low_freq_factor >= self.high_freq_factor:
            raise ArgumentError(
                f"low_freq_factor must be below high_freq_factor, not {self.low_freq_factor} and "
                f"{self.high_freq_factor}"
            )

    def frequencies(self, rotary_dim: int, base: float, length: int) -> Tensor:
        """The frequencies, float32 of shape (rotary_dim / 2,)."""
        old = plain(rotary_dim, base)
        wavelengths = 2 * math.pi / old
        longest = self.original_length / self.low_freq_factor
        shortest = self.original_length / self.high_freq_factor
        mixture = (self.original_length / wavelengths - self.low_freq_factor) / (
            self.high_freq_factor - self.low_freq_factor
        )
        average = (1 - mixture) * old / self.factor + mixture * old
        outside = torch.where(wavelengths > longest, old / self.factor, old)
        is_between = (wavelengths >= shortest) & (wavelengths <= longest)
        return torch.where(is_between, average, outside)


@dataclass(frozen=True)
class LongRoPEScaling:
    """Each pair has its own divisor, and another one beyond `original_length`: Phi-3.

    Keys in a cache keep the rotation by the divisors at their time, as in transformers.

    Attributes:
        short_factors: The divisor for the frequency of each pair up to that length.
        long_factors: The divisor in a longer sequence.
        original_length: The length of training, in tokens.
        factor: How much longer the context is.
        scale: The factor for queries and keys; `None` for
            `sqrt(1 + ln(factor) / ln(original_length))`.

    Source: Ding et al., "LongRoPE: Extending LLM Context Window Beyond 2 Million Tokens", 2024.

    Example:
        >>> from jeton.nn import LongRoPEScaling, RotaryPositions
        >>> scaling = LongRoPEScaling((1.0, 1.0), (1.0, 4.0), original_length=100, factor=8.0)
        >>> rotary = RotaryPositions(4, scaling=scaling)
        >>> rotary.frequencies(length=100), rotary.frequencies(length=101)
        (tensor([1.0000, 0.0100]), tensor([1.0000, 0.0025]))
    """

    short_factors: tuple[float, ...]
    long_factors: tuple[float, ...]
    original_length: int
    factor: float = 1.0
    scale: float | None = None

    def __post_init__(self) -> None:
        for name in ("short_factors", "long_factors"):
            factors = getattr(self, name)
            factors = checked_iterable(name, factors, "a number for each pair")
            numbers = tuple(factors)
            for factor in numbers:
                checked_number(f"each of {name}", factor)
            object.__setattr__(self, name, numbers)
        for name in ("original_length", "factor"):
            checked_number(f"LongRoPEScaling.{name}", getattr(self, name))
        if self.scale is not None:
            checked_number("LongRoPEScaling.scale", self.scale)

    @property
    def attention_factor(self) -> float:
        """The factor for the rotated queries and keys."""
        if self.scale is not None:
            return self.scale
        if self.factor <= 1.0:
            return 1.0
        return math.sqrt(1 + math.log(self.factor) / math.log(self.original_length))

    def frequencies(self, rotary_dim: int, base: float, length: int) -> Tensor:
        """The frequencies for a sequence of this length, float32 of shape (rotary_dim / 2,)."""
        for name in ("short_factors", "long_factors"):
            if len(getattr(self, name)) != rotary_dim // 2:
                raise ArgumentError(
                    f"{name} must have one number for each of {rotary_dim // 2} pairs, not "
                    f"{len(getattr(self, name))}"
                )
        short, long = (
            torch.tensor(factors, dtype=torch.float32, device="cpu")
            for factors in (self.short_factors, self.long_factors)
        )
        # A tensor, so that a graph is valid for every length.
        reached = torch.full((), length, dtype=torch.int64, device="cpu")
        divisors = torch.where(reached > self.original_length, long, short)
        return 1.0 / (divisors * powers(rotary_dim, base))


Scaling: TypeAlias = (
    LinearScaling | DynamicNTKScaling | YaRNScaling | Llama3Scaling | LongRoPEScaling
)
"""Any of the five."""


def powers(rotary_dim: int, base: float | Tensor) -> Tensor:
    """base^(2i / rotary_dim) for each pair i: float32."""
    exponents = torch.arange(0, rotary_dim, 2, dtype=torch.int64, device="cpu").float() / rotary_dim
    result: Tensor = base**exponents
    return result


def plain(rotary_dim: int, base: float | Tensor) -> Tensor:
    """The frequencies without scaling: float32 of shape (rotary_dim / 2,)."""
    return 1.0 / powers(rotary_dim, base)
