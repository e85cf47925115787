"""The price of a request: of its prompt, the cached part of it, and the answer."""

from __future__ import annotations

import datetime
import os
from dataclasses import dataclass
from decimal import Decimal
from typing import SupportsIndex

from jeton.arguments import check_kind, checked_int
from jeton.chat.message_counts import PRIVATE, MessageCount
from jeton.cost.prices import Above, Price, Prices, money, table_of
from jeton.errors import ArgumentError
from jeton.loading import registry

__all__ = ["Cost", "amounts", "estimate", "is_private", "tokenizer_of"]

_MILLION = Decimal(1_000_000)


@dataclass(frozen=True)
class Cost:
    """What a request costs. Printed, it is the total.

    Amounts are in the currency of `price`, as `Decimal`.
    """

    model: str
    price: Price
    input_tokens: int
    """The tokens of the prompt, cached ones included."""
    cached_tokens: int
    """How many of them are read from the provider's cache."""
    output_tokens: int
    """The tokens of the answer."""
    exact: bool
    """Whether the tokens are a count rather than an estimate. What is billed may differ even so:
    by discounts, tiers, taxes, and tokens that a model thinks with."""
    notes: tuple[str, ...]
    """What to know about the number: a stale price, an estimated count, a missing price."""

    @property
    def rates(self) -> Price | Above:
        """The prices that apply: those of longer prompts, if this is one."""
        above = self.price.above
        return above if above is not None and self.input_tokens > above.tokens else self.price

    @property
    def input(self) -> Decimal:
        """What the tokens cost, without the cached ones."""
        return amounts(self.rates, self.input_tokens, self.cached_tokens, self.output_tokens)[0]

    @property
    def cached(self) -> Decimal:
        """What the cached tokens cost; without a price of their own, that of other tokens."""
        return amounts(self.rates, self.input_tokens, self.cached_tokens, self.output_tokens)[1]

    @property
    def output(self) -> Decimal:
        """What the answer costs."""
        return amounts(self.rates, self.input_tokens, self.cached_tokens, self.output_tokens)[2]

    @property
    def total(self) -> Decimal:
        """The sum."""
        return self.input + self.cached + self.output

    def __str__(self) -> str:
        return money(self.total, self.price.currency)


def amounts(
    rates: Price | Above, tokens: int, cached: int, output: int
) -> tuple[Decimal, Decimal, Decimal]:
    """What the rest of a prompt, the cached tokens among its `tokens`, and the answer cost."""
    of_cached = rates.input if rates.cached is None else rates.cached
    return (
        (tokens - cached) * Decimal(rates.input) / _MILLION,
        cached * Decimal(of_cached) / _MILLION,
        output * Decimal(rates.output or 0) / _MILLION,
    )


def estimate(
    model: str,
    input_tokens: SupportsIndex | MessageCount = 0,
    *,
    output_tokens: int = 0,
    cached_tokens: int = 0,
    prices: Prices | str | os.PathLike[str] | None = None,
    on: datetime.date | None = None,
) -> Cost:
    """What a request to a model costs.

    Args:
        model: The name of a model, or of a version of it, such as `gpt-4o-2024-08-06`.
        input_tokens: The tokens of the prompt: a number, or what `tok.count_messages` gives.
        output_tokens: The tokens of the answer, with those that the model thinks with.
        cached_tokens: How many of the prompt's tokens are read from the provider's cache.
        prices: A table, or the path of one (`Prices.load`); by default jeton's own, which says
            the date of each price.
        on: The day by which prices are stale or not; by default today.

    Raises:
        ArgumentError: More cached tokens than input tokens; output tokens of a model that has no
            price for output.
        UnknownNameError: The table has no such model; the message names near ones.
        As `Prices.load`.

    Example:
        >>> from jeton import cost
        >>> table = cost.Prices({"mine": cost.Price(input=2, output=8, date="2026-11-01")})
        >>> total = cost.estimate("mine", 1_000, output_tokens=500, prices=table)
        >>> print(total, total.total)
        $0.0060 0.006
    """
    table = table_of(prices)
    price = table.of(model)
    notes = []
    if isinstance(input_tokens, MessageCount) and not input_tokens.exact:
        notes.append(input_tokens.basis)
    exact = not notes
    tokens = checked_int("input_tokens", input_tokens, 0)
    cached = checked_int("cached_tokens", cached_tokens, 0)
    output = checked_int("output_tokens", output_tokens, 0)
    if on is not None:
        check_kind("on", on, datetime.date, "a date or None")
    if cached > tokens:
        raise ArgumentError(
            f"cached_tokens are {cached:,}, more than the {tokens:,} input_tokens that they are "
            "part of"
        )
    if output and price.output is None:
        raise ArgumentError(f"output_tokens: {model!r:.60} has no price for output")
    row = table.row_of(model)
    if row not in (model, model.lower()):
        notes.append(f"the table has no price for {model}: this is the one of {row}")
    if cached and price.cached is None:
        notes.append(f"no price of cached tokens is known for {model}: they cost as much as others")
    notes += stale_note(price, datetime.date.today() if on is None else on)
    return Cost(model, price, tokens, cached, output, exact, tuple(notes))


def stale_note(price: Price, on: datetime.date) -> list[str]:
    """What to say about a price that is stale, if it is."""
    if not price.is_stale(on):
        return []
    if price.date is None:
        return ["the price has no date: it may be stale"]
    return [f"the price is from {price.date}, {price.age(on):,} days old: it may be stale"]


def tokenizer_of(
    model: str, *, prices: Prices | str | os.PathLike[str] | None = None
) -> str | None:
    """The tokenizer of a model, as `jeton.load` takes it; `None` if it is not public or not known.

    Args:
        model: The name of a model.
        prices: A table whose rows may name tokenizers, as in `estimate`.

    Example:
        >>> from jeton import cost
        >>> cost.tokenizer_of("gpt-4o"), cost.tokenizer_of("claude-sonnet-5")
        ('o200k_base', None)
    """
    price = table_of(prices).find(model)
    name = None if price is None else price.tokenizer
    return name or registry.name_for_model(model.lower())


def is_private(model: str) -> bool:
    """Whether a model is one whose tokenizer is known not to be public."""
    return model.lower().startswith(PRIVATE)
