"""Prices of models by name: the table that comes with jeton, and tables from files.

Look here for the format of a table, for how the name of a model's version finds its row, and for
when a price is stale.
"""

from __future__ import annotations

import datetime
import difflib
import functools
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from decimal import Decimal
from importlib import resources
from pathlib import Path
from typing import Any, Final

import jeton._core as _core
from jeton import files
from jeton.arguments import check_kind, checked_int, checked_path
from jeton.errors import (
    ArgumentError,
    ArgumentTypeError,
    FormatError,
    JetonError,
    UnknownNameError,
    UnsupportedError,
)

__all__ = ["STALE_AFTER", "Above", "Price", "Prices", "money", "places_of", "shipped", "table_of"]

STALE_AFTER: Final = datetime.timedelta(days=90)
"""How old a price may be before it is called stale."""

_MOST: Final = 10**9
_MAX_BYTES: Final = 16 << 20
_VERSION: Final = re.compile(r"[-@](\d{4}-?\d{2}-?\d{2}|latest)\Z")
_SIGNS: Final = {"USD": "$", "EUR": "€", "GBP": "£", "CNY": "¥", "JPY": "¥"}


@dataclass(frozen=True)
class Above:
    """What a request with a longer prompt costs, on all of its tokens."""

    tokens: int
    """The longest prompt to which the lower prices apply."""
    input: Any
    output: Any = None
    cached: Any = None

    def __post_init__(self) -> None:
        if not isinstance(self.tokens, int) or isinstance(self.tokens, bool) or self.tokens < 1:
            raise ArgumentError(f"tokens must be an int of at least 1, not {self.tokens!r:.60}")
        _set_prices(self)


@dataclass(frozen=True)
class Price:
    """What a million tokens of a model cost.

    Numbers are kept as `Decimal`, so sums are exact.

    Raises:
        ArgumentError: A negative price, or one that is not a number; a date that is not one.

    Example:
        >>> from jeton.cost import Price
        >>> Price(input=2.5, output=10, cached=1.25, date="2026-11-01").date
        datetime.date(2026, 11, 1)
    """

    input: Any
    """A million tokens of a prompt."""
    output: Any = None
    """A million tokens of an answer; `None` where a model writes none."""
    cached: Any = None
    """A million tokens of a prompt that are read from the provider's cache; `None` where that is
    not offered, or not known."""
    currency: str = "USD"
    date: Any = None
    """The day on which the price was read."""
    source: str = ""
    """Where the price was read."""
    above: Above | None = None
    """What longer prompts cost."""
    tokenizer: str | None = None
    """The tokenizer of the model, as `jeton.load` takes it."""

    def __post_init__(self) -> None:
        _set_prices(self)
        for name in ("currency", "source"):
            check_kind(name, getattr(self, name), str, "a str")
        if not re.fullmatch(r"[A-Z]{3}", self.currency):
            raise ArgumentError(
                f"currency must be a code of three capitals, as 'EUR', not {self.currency!r:.40}"
            )
        if self.above is not None:
            check_kind("above", self.above, Above, "an Above or None")
        if self.tokenizer is not None:
            check_kind("tokenizer", self.tokenizer, str, "a str or None")
        object.__setattr__(self, "date", _date(self.date))

    def age(self, on: datetime.date) -> int | None:
        """How many days old the price is; `None` if it has no date.

        Example:
            >>> import datetime
            >>> from jeton.cost import Price
            >>> Price(input=1, date="2026-11-01").age(datetime.date(2026, 11, 23))
            22
        """
        check_kind("on", on, datetime.date, "a date")
        return None if self.date is None else int((_day(on) - self.date).days)

    def is_stale(self, on: datetime.date) -> bool:
        """Whether the price is older than `STALE_AFTER`, or has no date."""
        age = self.age(on)
        return age is None or age > STALE_AFTER.days


def _set_prices(owner: Price | Above) -> None:
    for name in ("input", "output", "cached"):
        value = getattr(owner, name)
        if value is None and name != "input":
            continue
        if isinstance(value, bool) or not isinstance(value, (int, float, Decimal)):
            raise ArgumentTypeError(f"{name} must be a number, not {type(value).__name__}")
        if isinstance(value, int) and value.bit_length() > 64:
            raise ArgumentError(f"{name} must be at most {_MOST:,}")
        number = Decimal(str(value))
        if not (number.is_finite() and 0 <= number <= _MOST):
            raise ArgumentError(f"{name} must be from 0 to {_MOST:,}, not {value!r}")
        object.__setattr__(owner, name, number)


def _date(value: object) -> datetime.date | None:
    if value is None:
        return None
    if isinstance(value, datetime.date):
        return _day(value)
    if not isinstance(value, str):
        raise ArgumentTypeError(f"date must be a date or a str, not {type(value).__name__}")
    try:
        return datetime.date.fromisoformat(value)
    except ValueError:
        raise ArgumentError(f"date must be a day, as '2026-11-01', not {value!r:.40}") from None


def _day(moment: datetime.date) -> datetime.date:
    return moment.date() if isinstance(moment, datetime.datetime) else moment


class Prices(Mapping[str, Price]):
    """A table of prices by the names of models.

    Example:
        >>> from jeton.cost import Price, Prices
        >>> prices = Prices({"mine": Price(input=2, output=8)})
        >>> prices.of("mine-2026-11-01").input
        Decimal('2')
    """

    def __init__(self, prices: Mapping[str, Price]) -> None:
        if not isinstance(prices, Mapping):
            raise ArgumentTypeError(
                f"prices must map names of models to prices, not be a {type(prices).__name__}"
            )
        for model, price in prices.items():
            check_kind("each model of prices", model, str, "a str")
            check_kind(f"prices[{model!r:.60}]", price, Price, "a Price")
        self._prices = dict(prices)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Prices:
        """The table of a file, JSON or TOML by the ending of its name.

        It holds `models`, each with its `input` and other fields of a `Price`, and may hold
        `currency`, `date` and `source` for all models that do not have their own.

        Raises:
            FormatError: The file is something else.
            MissingFileError: There is no such file.
            UnsupportedError: TOML, before Python 3.11.

        Example:
            >>> import pathlib, tempfile
            >>> from jeton.cost import Prices
            >>> with tempfile.TemporaryDirectory() as folder:
            ...     file = pathlib.Path(folder) / "prices.json"
            ...     _ = file.write_text('{"models": {"mine": {"input": 2, "output": 8}}}')
            ...     Prices.load(file)
            Prices(1 model)
        """
        name = checked_path("path", path)
        data = files.read(os.path.expanduser(name), _MAX_BYTES)
        return cls(_rows(_parsed(data, name), name))

    def of(self, model: str) -> Price:
        """The price of a model, or of a version of it, such as `gpt-4o-2024-08-06`.

        Raises:
            UnknownNameError: The table has no such model; the message names near ones.
        """
        price = self.find(model)
        if price is None:
            raise UnknownNameError(
                f"no price is known for a model {model!r:.60} ({self._near(model.lower())})"
            )
        return price

    def find(self, model: str) -> Price | None:
        """The price that `of` gives, or `None`.

        Example:
            >>> from jeton import cost
            >>> cost.shipped().find("gpt-0")
        """
        name = self.row_of(model)
        return None if name is None else self._prices[name]

    def row_of(self, model: str) -> str | None:
        """The name that a model has in the table: its own, or one without the version's date.

        Example:
            >>> from jeton import cost
            >>> cost.shipped().row_of("gpt-4o-2024-08-06")
            'gpt-4o'
        """
        check_kind("model", model, str, "the name of a model")
        name = model.lower()
        candidates = (model, name, _VERSION.sub("", name))
        return next((candidate for candidate in candidates if candidate in self._prices), None)

    def _near(self, name: str) -> str:
        if name.startswith("ft:"):
            return "fine-tuned models have prices of their own: prices= takes a table"
        close = difflib.get_close_matches(name[:100], self._prices, 3)
        hint = f"did you mean {' or '.join(map(repr, close))}? " if close else ""
        return f"{hint}prices= takes a table of your own"

    def __getitem__(self, model: str) -> Price:
        if not isinstance(model, str):
            raise KeyError(model)
        return self._prices[model]

    def __iter__(self) -> Iterator[str]:
        return iter(self._prices)

    def __len__(self) -> int:
        return len(self._prices)

    def __repr__(self) -> str:
        return f"Prices({len(self):,} model{'s' * (len(self) != 1)})"


@functools.cache
def shipped() -> Prices:
    """The table that comes with jeton: each price with its source and the day of reading it.

    Example:
        >>> from jeton import cost
        >>> price = cost.shipped()["gpt-4o"]
        >>> price.currency, price.source
        ('USD', 'OpenAI, API pricing')
    """
    data = (resources.files("jeton.cost") / "prices.json").read_bytes()
    return Prices(_rows(_parsed(data, "prices.json"), "prices.json"))


def table_of(prices: Prices | str | os.PathLike[str] | None) -> Prices:
    """The table that an argument `prices` means: jeton's own, a file's, or itself."""
    if prices is None:
        return shipped()
    if isinstance(prices, Prices):
        return prices
    return Prices.load(checked_path("prices", prices, "a Prices, a path or None"))


def _parsed(data: bytes, name: str) -> Any:
    ending = Path(name).suffix.lower()
    if ending not in (".json", ".toml"):
        raise FormatError(f"{name}: a table of prices is .json or .toml by its name")
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise FormatError(f"{name}: byte {error.start} is not UTF-8") from None
    try:
        if ending == ".json":
            return json.loads(text, parse_float=Decimal)
        return _toml(text, name)
    except (ValueError, ArithmeticError, RecursionError) as error:
        if isinstance(error, JetonError):
            raise
        kind = ending[1:].upper()
        raise FormatError(f"{name}: not {kind}: {' '.join(str(error).split())}") from None


def _toml(text: str, name: str) -> Any:
    try:
        import tomllib
    except ImportError:
        raise UnsupportedError(
            f"{name}: TOML is read by Python 3.11 or newer (write the table as JSON)"
        ) from None
    return tomllib.loads(text, parse_float=Decimal)


_SHARED: Final = ("currency", "date", "source")


def _rows(table: object, name: str) -> dict[str, Price]:
    if not isinstance(table, dict) or not isinstance(table.get("models"), dict):
        raise FormatError(
            f'{name}: expected an object with "models", as '
            '{"models": {"gpt-4o": {"input": 2.5, "output": 10}}}'
        )
    _check_names(table, (*_SHARED, "models"), name)
    shared = {key: table[key] for key in _SHARED if key in table}
    return {
        model: _record(Price, row, f"{name}: models.{model:.60}", shared)
        for model, row in table["models"].items()
    }


def _record(kind: Any, row: Any, place: str, shared: Mapping[str, Any]) -> Any:
    if not isinstance(row, dict):
        raise FormatError(f"{place}: must be a table of prices, not {type(row).__name__}")
    _check_names(row, tuple(item.name for item in fields(kind)), place)
    values = {**shared, **row}
    for field in ("input", "tokens") if kind is Above else ("input",):
        if field not in values:
            raise FormatError(f"{place}: has no {field!r}")
    if values.get("above") is not None:
        values["above"] = _record(Above, values["above"], f"{place}.above", {})
    try:
        return kind(**values)
    except JetonError as error:
        raise FormatError(f"{place}: {error}") from None


def _check_names(fields: dict[str, Any], names: tuple[str, ...], place: str) -> None:
    for key in fields:
        if key not in names:
            close = _core.did_you_mean(key, list(names))
            hint = f"did you mean {close!r}?" if close else f"there are {', '.join(names)}"
            raise FormatError(f"{place}: there is no {key!r:.60} in a table of prices ({hint})")


def places_of(amounts: Iterable[Decimal]) -> int:
    """How many decimal places amounts need: two digits of the least, from 2 to 12.

    >>> places_of([Decimal("1.5"), Decimal("0.00123")]), places_of([])
    (4, 2)
    """
    least = min((abs(amount) for amount in amounts if amount), default=Decimal(1))
    return max(2, min(12, 1 - least.adjusted()))


def money(amount: Decimal, currency: str = "USD", *, places: int | None = None) -> str:
    """An amount as people write it, with two digits of one that is less than 1.

    Args:
        amount: How much.
        currency: Its code, such as `"EUR"`.
        places: How many decimal places are shown; by default as many as needed.

    Example:
        >>> from decimal import Decimal
        >>> from jeton.cost import money
        >>> money(Decimal("1234.5678")), money(Decimal("0.00123456")), money(Decimal(0), "EUR")
        ('$1,234.57', '$0.0012', '€0.00')
    """
    check_kind("amount", amount, Decimal, "a Decimal")
    check_kind("currency", currency, str, "a str")
    if not amount.is_finite():
        raise ArgumentError(f"amount must be a number, not {amount}")
    if places is None:
        places = places_of([amount])
    text = f"{amount:,.{min(30, checked_int('places', places, 0))}f}"
    sign = _SIGNS.get(currency)
    return f"{sign}{text}" if sign else f"{text} {currency}"
