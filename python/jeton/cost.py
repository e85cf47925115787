"""What tokens cost: how many there are, times the prices that you give.

Prices change often and differ by contract, so jeton has no list of them. `jeton cost` counts files
and prices them.

Example:
    >>> from jeton import cost
    >>> price = cost.Price(input=2, cached=0.5, output=8)
    >>> total = cost.estimate(10_000, price, cached_tokens=4_000, output_tokens=500)
    >>> print(total.input, total.cached, total.output, total)
    0.012 0.002 0.004 $0.018
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final, SupportsIndex

from jeton.arguments import check_kind, checked_int
from jeton.errors import ArgumentError, ArgumentTypeError

__all__ = ["Cost", "Price", "estimate"]

_MAX_PRICE: Final = 10**9


@dataclass(frozen=True)
class Price:
    """What a million tokens of a model cost, in any one currency.

    Numbers are kept as `Decimal`, so sums are exact.

    Raises:
        ArgumentError: A price that is negative, or not a number.

    Example:
        >>> from jeton.cost import Price
        >>> Price(input=2.5, output=10).output
        Decimal('10')
    """

    input: Any
    """A million tokens of a prompt."""
    output: Any = None
    """A million tokens of an answer; `None` for a model that writes none."""
    cached: Any = None
    """A million tokens of a prompt that are read from the provider's cache; by default `input`."""

    def __post_init__(self) -> None:
        for name in ("input", "output", "cached"):
            value = getattr(self, name)
            if value is None and name != "input":
                continue
            if isinstance(value, bool) or not isinstance(value, (int, float, Decimal)):
                raise ArgumentTypeError(f"{name} must be a number, not {type(value).__name__}")
            number = Decimal(str(value) if isinstance(value, float) else value)
            if not (number.is_finite() and 0 <= number <= _MAX_PRICE):
                raise ArgumentError(f"{name} must be from 0 to {_MAX_PRICE:,}")
            object.__setattr__(self, name, number)


@dataclass(frozen=True)
class Cost:
    """What a request costs, in the currency of its prices. Printed, it is the total in dollars."""

    input: Decimal
    """What the prompt costs without the cached tokens."""
    cached: Decimal
    """What the cached tokens of the prompt cost."""
    output: Decimal
    """What the answer costs."""

    @property
    def total(self) -> Decimal:
        """The sum."""
        return self.input + self.cached + self.output

    def __str__(self) -> str:
        return money(self.total)


def estimate(
    input_tokens: SupportsIndex,
    price: Price,
    *,
    output_tokens: SupportsIndex = 0,
    cached_tokens: SupportsIndex = 0,
) -> Cost:
    """What requests to a model cost.

    Args:
        input_tokens: The tokens of the prompts, cached ones included: a number, or what
            `tok.count_messages` gives.
        price: The price of a million tokens.
        output_tokens: The tokens of the answers, with those that the model thinks with.
        cached_tokens: How many of the prompts' tokens are read from the provider's cache.

    Raises:
        ArgumentError: More cached tokens than input tokens; output tokens without a price.

    Example:
        >>> from jeton import cost
        >>> print(cost.estimate(1_000, cost.Price(input=2, output=8), output_tokens=500))
        $0.0060
    """
    check_kind("price", price, Price, "a Price")
    tokens = checked_int("input_tokens", input_tokens, 0)
    cached = checked_int("cached_tokens", cached_tokens, 0)
    output = checked_int("output_tokens", output_tokens, 0)
    if cached > tokens:
        raise ArgumentError(
            f"cached_tokens are {cached:,}, more than the {tokens:,} input_tokens that they are "
            "part of"
        )
    if output and price.output is None:
        raise ArgumentError(
            f"output_tokens are {output:,}, but the price has no output (as Price(input=2, "
            "output=8))"
        )
    of_cached = price.input if price.cached is None else price.cached
    return Cost(
        (tokens - cached) * price.input / 1_000_000,
        cached * of_cached / 1_000_000,
        output * (price.output or Decimal()) / 1_000_000,
    )


def money(amount: Decimal) -> str:
    """An amount as people write it, with two digits if it is less than 1.

    >>> money(Decimal("1234.5678")), money(Decimal("0.00123456")), money(Decimal(0))
    ('$1,234.57', '$0.0012', '$0.00')
    """
    places = max(2, min(12, 1 - amount.adjusted())) if amount else 2
    return f"${amount:,.{places}f}"
