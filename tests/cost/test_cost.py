"""`jeton.cost`: prices by name, tables from files, and what requests cost."""

from __future__ import annotations

import datetime
import json
import random
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from jeton import cost
from jeton.chat.message_counts import MessageCount
from jeton.cost import Above, Price, Prices
from jeton.errors import (
    ArgumentError,
    ArgumentTypeError,
    FileError,
    FormatError,
    JetonError,
    MissingFileError,
    UnknownNameError,
)

TODAY = datetime.date(2026, 11, 23)
LONG = Price(
    input=1, cached=0.1, output=4, date=TODAY, above=Above(1_000, input=2, cached=0.2, output=8)
)
TABLE = Prices({"mine": Price(input=2, cached=0.5, output=8, date=TODAY), "long": LONG})


def test_input_cached_and_output_tokens() -> None:
    told = cost.estimate(
        "mine", 1_000_000, cached_tokens=400_000, output_tokens=1_000, prices=TABLE, on=TODAY
    )
    assert (told.input, told.cached, told.output) == (
        Decimal("1.2"),
        Decimal("0.2"),
        Decimal("0.008"),
    )
    assert told.total == Decimal("1.408") and str(told) == "$1.41"
    assert told.exact and told.notes == ()


def test_sums_are_exact() -> None:
    draw = random.Random(0)
    for _ in range(1_000):
        prices = [draw.randrange(10**6) for _ in range(3)]
        tokens, written = draw.randrange(10**9), draw.randrange(10**9)
        cached = draw.randrange(tokens + 1)
        price = Price(
            **{  # type: ignore[arg-type]
                name: Decimal(number) / 10**4
                for name, number in zip(("input", "cached", "output"), prices, strict=True)
            }
        )
        told = cost.estimate(
            "m", tokens, cached_tokens=cached, output_tokens=written, prices=Prices({"m": price})
        )
        want = (tokens - cached) * prices[0] + cached * prices[1] + written * prices[2]
        assert told.total * 10**10 == want


def test_long_prompts_cost_more_on_all_their_tokens() -> None:
    def total(tokens: int) -> Decimal:
        return (
            cost.estimate("long", tokens, cached_tokens=100, output_tokens=100, prices=TABLE).total
            * 1_000_000
        )

    assert total(1_000) == 900 * 1 + 10 + 400
    assert total(1_001) == 901 * 2 + 20 + 800


def test_what_is_to_be_known_is_noted() -> None:
    def notes(price: Price, *, cached: int = 0, count: Any = 9, on: datetime.date = TODAY) -> str:
        told = cost.estimate("m", count, cached_tokens=cached, prices=Prices({"m": price}), on=on)
        return " ".join(told.notes)

    fresh = Price(input=1, date="2026-11-01")
    assert notes(fresh) == ""
    assert "no price of cached tokens is known for m" in notes(fresh, cached=2)
    assert "from 2026-11-01, 91 days old" in notes(fresh, on=datetime.date(2027, 1, 31))
    assert notes(fresh, on=datetime.date(2027, 1, 30)) == ""
    assert notes(fresh, on=datetime.date(2020, 1, 1)) == ""
    assert "no date" in notes(Price(input=1))
    guess = MessageCount(9, False, "estimated: by hand")
    assert notes(fresh, count=guess) == "estimated: by hand"
    table = Prices({"m": fresh})
    assert not cost.estimate("m", guess, prices=table).exact
    assert cost.estimate("m", MessageCount(9, True, "exact"), prices=table).input_tokens == 9
    told = cost.estimate("M-2026-11-01", 9, prices=table, on=TODAY)
    assert told.notes == ("the table has no price for M-2026-11-01: this is the one of m",)
    assert told.exact


def test_versions_find_their_row() -> None:
    shipped = cost.shipped()
    assert shipped.row_of("gpt-4o-2024-05-13") == "gpt-4o-2024-05-13"
    assert shipped.row_of("GPT-4o-2024-11-20") == "gpt-4o"
    assert shipped.row_of("claude-haiku-4-5-20251001") == "claude-haiku-4-5"
    assert shipped.row_of("claude-opus-4-5@20251101") == "claude-opus-4-5"
    assert shipped.row_of("claude-3-5-haiku-latest") == "claude-3-5-haiku"
    assert shipped.find("gpt-4o-turbo") is None and shipped.get("gpt-0") is None


def test_the_table_that_ships() -> None:
    for model, price in cost.shipped().items():
        assert price.currency == "USD" and price.source and price.date <= datetime.date.today()
        assert price.cached is None or price.cached < price.input
        assert price.output is None or price.output > price.input
        above = price.above
        assert above is None or (above.input > price.input and above.output > price.output)
        named = cost.tokenizer_of(model)
        assert (named is None) == model.startswith(("claude", "gemini"))
    assert len(cost.shipped()) > 50


def test_tokenizers_of_models() -> None:
    assert cost.tokenizer_of("GPT-4o-mini-2024-07-18") == "o200k_base"
    assert cost.tokenizer_of("claude-opus-5") is cost.tokenizer_of("nothing") is None
    table = Prices({"mine": Price(input=1, tokenizer="./mine.json")})
    assert cost.tokenizer_of("mine-latest", prices=table) == "./mine.json"


ROW: dict[str, Any] = {"input": 2, "output": 8, "cached": 0.5, "date": "2026-11-01", "source": "me"}


def test_tables_from_files(tmp_path: Path) -> None:
    rows = {"a": ROW, "b": {"input": 1, "above": {"tokens": 5, "input": 2}}}
    path = tmp_path / "prices.JSON"
    path.write_text(json.dumps({"currency": "EUR", "date": "2026-01-01", "models": rows}))
    table = Prices.load(path)
    assert [*table] == ["a", "b"] and repr(table) == "Prices(2 models)"
    assert table["a"] == Price(**ROW, currency="EUR")
    assert table["b"].date == datetime.date(2026, 1, 1) and table["b"].above == Above(5, input=2)
    told = cost.estimate("b", 5_000_000, prices=path)
    assert str(told) == "€10.00"
    assert cost.estimate("b", 5_000_000, prices=str(path)) == told


@pytest.mark.skipif(sys.version_info < (3, 11), reason="TOML is read from Python 3.11 on")
def test_tables_in_toml(tmp_path: Path) -> None:
    path = tmp_path / "prices.toml"
    path.write_text(
        'currency = "CHF"\ndate = 2026-11-01\n[models."my.model"]\ninput = 0.1\noutput = 3\n'
    )
    price = Prices.load(path)["my.model"]
    assert price == Price(input=Decimal("0.1"), output=3, currency="CHF", date="2026-11-01")
    assert str(cost.estimate("my.model", 10**6, prices=path)) == "0.10 CHF"
    path.write_text("models = [")
    with pytest.raises(FormatError, match="not TOML"):
        Prices.load(path)


BROKEN: list[tuple[str, str]] = [
    ("", "not JSON"),
    ("[" * 100_000, "not JSON"),
    ("\ufeff{}", "not JSON"),
    ("[]", 'expected an object with "models"'),
    ("{}", 'expected an object with "models"'),
    ('{"models": []}', 'expected an object with "models"'),
    ('{"models": {}, "curency": "EUR"}', "did you mean 'currency'?"),
    ('{"models": {"a": 3}}', "models.a: must be a table of prices, not int"),
    ('{"models": {"a": {}}}', "models.a: has no 'input'"),
    ('{"models": {"a": {"inputs": 1}}}', "did you mean 'input'?"),
    ('{"models": {"a": {"input": "1"}}}', "models.a: input must be a number, not str"),
    ('{"models": {"a": {"input": true}}}', "input must be a number, not bool"),
    ('{"models": {"a": {"input": -1}}}', "input must be from 0 to"),
    ('{"models": {"a": {"input": NaN}}}', "input must be from 0 to"),
    ('{"models": {"a": {"input": 1e999999999999999999999}}}', "prices.json: "),
    ('{"models": {"a": {"input": 1' + "0" * 5_000 + "}}}", "prices.json: "),
    ('{"models": {"a": {"input": 1, "date": "soon"}}}', "date must be a day"),
    ('{"models": {"a": {"input": 1, "currency": "dollars"}}}', "three capitals"),
    ('{"models": {"a": {"input": 1, "above": 3}}}', "models.a.above: must be a table"),
    ('{"models": {"a": {"input": 1, "above": {"input": 1}}}}', "a.above: has no 'tokens'"),
    ('{"models": {"a": {"input": 1, "above": {"input": 1, "tokens": 0}}}}', "tokens must be"),
    ('{"models": {"a": {"input": 1, "source": 3}}}', "source must be a str"),
    ('{"models": {"a": {"input": 1, "tokenizer": 3}}}', "tokenizer must be a str"),
]


@pytest.mark.parametrize(("text", "says"), BROKEN, ids=[text[:40] for text, _ in BROKEN])
def test_broken_tables(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "prices.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(FormatError) as raised:
        Prices.load(path)
    assert says in str(raised.value) and "prices.json" in str(raised.value)


def test_files_that_are_no_tables(tmp_path: Path) -> None:
    with pytest.raises(MissingFileError, match="no such file"):
        Prices.load(tmp_path / "none.json")
    with pytest.raises(JetonError, match="cannot be read"):
        Prices.load(tmp_path)
    (tmp_path / "prices.txt").write_text("{}")
    with pytest.raises(FormatError, match=r"\.json or \.toml by its name"):
        Prices.load(tmp_path / "prices.txt")
    (tmp_path / "prices.json").write_bytes(b'{"\xff')
    with pytest.raises(FormatError, match="byte 2 is not UTF-8"):
        Prices.load(tmp_path / "prices.json")
    (tmp_path / "endless.json").symlink_to("/dev/zero")
    with pytest.raises(FileError, match=r"endless\.json: this is a device"):
        Prices.load(tmp_path / "endless.json")


BAD: list[tuple[dict[str, Any], type[JetonError], str]] = [
    ({"model": "gpt-4oo"}, UnknownNameError, "did you mean 'gpt-4o'"),
    ({"model": "ft:gpt-4o:me::1"}, UnknownNameError, "fine-tuned models"),
    ({"model": "x" * 100_000}, UnknownNameError, "no price is known"),
    ({"model": 3}, ArgumentTypeError, "model must be"),
    ({"input_tokens": -1}, ArgumentError, "input_tokens must be at least 0"),
    ({"input_tokens": 1.5}, ArgumentTypeError, "input_tokens must be an int"),
    ({"input_tokens": 5, "cached_tokens": 6}, ArgumentError, "cached_tokens are 6"),
    ({"model": "text-embedding-3-small", "output_tokens": 1}, ArgumentError, "no price for output"),
    ({"prices": {}}, ArgumentTypeError, "prices must be a Prices, a path or None"),
    ({"on": "today"}, ArgumentTypeError, "on must be a date"),
]


@pytest.mark.parametrize(("arguments", "error", "says"), BAD)
def test_bad_arguments(arguments: dict[str, Any], error: type[JetonError], says: str) -> None:
    with pytest.raises(error) as raised:
        cost.estimate(**{"model": "gpt-4o", "input_tokens": 1, **arguments})
    assert says in str(raised.value)


def test_money() -> None:
    amounts = ["0", "0.1", "0.123456", "0.00000012345", "-0.5", "12", "1234567.891"]
    shown = [cost.money(Decimal(amount)) for amount in amounts]
    assert shown == ["$0.00", "$0.10", "$0.12", "$0.00000012", "$-0.50", "$12.00", "$1,234,567.89"]
    assert cost.money(Decimal(3), "SEK", places=1) == "3.0 SEK"
