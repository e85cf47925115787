"""`jeton.cost`: what numbers of tokens cost, by prices that the caller gives."""

from __future__ import annotations

import math
import random
from decimal import Decimal
from typing import Any

import pytest

from jeton import cost
from jeton.chat.message_counts import MessageCount
from jeton.cost import Price
from jeton.errors import ArgumentError, ArgumentTypeError, JetonError

PRICE = Price(input=2, cached=0.5, output=8)


def test_input_cached_and_output_tokens_have_prices_of_their_own() -> None:
    found = cost.estimate(1_000_000, PRICE, cached_tokens=400_000, output_tokens=1_000)
    assert (found.input, found.cached) == (Decimal("1.2"), Decimal("0.2"))
    assert found.output == Decimal("0.008")
    assert found.total == Decimal("1.408") and str(found) == "$1.41"


def test_sums_are_exact() -> None:
    draw = random.Random(0)
    for _ in range(1_000):
        prices = [draw.randrange(10**6) for _ in range(3)]
        tokens, written = draw.randrange(10**9), draw.randrange(10**9)
        cached = draw.randrange(tokens + 1)
        read, stored, answered = (Decimal(number) / 10**4 for number in prices)
        price = Price(input=read, cached=stored, output=answered)
        found = cost.estimate(tokens, price, cached_tokens=cached, output_tokens=written)
        want = (tokens - cached) * prices[0] + cached * prices[1] + written * prices[2]
        assert found.total * 10**10 == want


def test_cached_tokens_without_a_price_cost_as_much_as_others() -> None:
    assert cost.estimate(9, Price(2), cached_tokens=4).total == cost.estimate(9, Price(2)).total


def test_a_count_of_messages_is_a_number_of_tokens() -> None:
    count = MessageCount(9, True, "exact")
    assert cost.estimate(count, PRICE) == cost.estimate(9, PRICE)


def test_amounts_show_two_digits() -> None:
    shown = [str(cost.estimate(count, PRICE)) for count in (0, 1, 61_728, 50_000, 600_000_000)]
    assert shown == ["$0.00", "$0.0000020", "$0.12", "$0.10", "$1,200.00"]


BAD: list[tuple[dict[str, Any], type[JetonError], str]] = [
    ({"input_tokens": -1}, ArgumentError, "input_tokens must be at least 0"),
    ({"input_tokens": 1.5}, ArgumentTypeError, "input_tokens must be an int"),
    ({"input_tokens": 5, "cached_tokens": 6}, ArgumentError, "cached_tokens are 6"),
    ({"price": Price(2), "output_tokens": 1}, ArgumentError, "the price has no output"),
    ({"price": 2}, ArgumentTypeError, "price must be a Price"),
]


@pytest.mark.parametrize(("arguments", "error", "says"), BAD)
def test_estimates_refuse_bad_arguments(
    arguments: dict[str, Any], error: type[JetonError], says: str
) -> None:
    with pytest.raises(error) as raised:
        cost.estimate(**{"price": PRICE, "input_tokens": 1, **arguments})
    assert says in str(raised.value)


@pytest.mark.parametrize(
    ("value", "says"),
    [
        ("1", "must be a number, not str"),
        (True, "must be a number, not bool"),
        (-1, "must be from 0 to"),
        (math.nan, "must be from 0 to"),
        (Decimal("NaN"), "must be from 0 to"),
        (10**9 + 1, "must be from 0 to"),
        (1 << 20_000, "must be from 0 to"),
    ],
    ids=["text", "a flag", "negative", "no number", "no Decimal", "too large", "huge"],
)
@pytest.mark.parametrize("name", ["input", "output", "cached"])
def test_prices_refuse_bad_numbers(name: str, value: Any, says: str) -> None:
    with pytest.raises((ArgumentError, ArgumentTypeError), match=f"{name} {says}"):
        Price(**{"input": 1, name: value})
