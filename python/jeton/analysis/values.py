"""Measured numbers: value, unit, and how it was aggregated; curves; all values of a corpus."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import jeton._core as _core
from jeton.analysis.known_measures import MEASURES
from jeton.arguments import check_kind, check_text
from jeton.errors import ArgumentError, ArgumentTypeError, UnknownNameError

__all__ = ["Curve", "Measured", "Value", "check_number"]

_MOST: Final = 1e100
"""No measure is this large; larger numbers could not be added, scaled and drawn."""


def check_number(name: str, number: object, expected: str = "a number") -> None:
    """Fails unless `number` is a finite number, small enough to calculate with."""
    if isinstance(number, bool) or not isinstance(number, (int, float)):
        raise ArgumentTypeError(f"{name} must be {expected}, not {type(number).__name__}")
    if not -_MOST < number < _MOST:
        description = "a longer integer" if isinstance(number, int) else number
        raise ArgumentError(
            f"{name} must be finite and below 1e100, not {description}; None is unknown"
        )


@dataclass(frozen=True)
class Value:
    """The value of a measure.

    Attributes:
        value: The number; `None` if it was not, or could not be, measured.
        unit: Its unit, such as `bytes/token`.
        how: How it was aggregated, and over what.

    Example:
        >>> from jeton.analysis import Value
        >>> Value(4.5, "bytes/token", "bytes of all texts / tokens of all texts").value
        4.5
    """

    value: float | int | None
    unit: str
    how: str

    def __post_init__(self) -> None:
        if self.value is not None:
            check_number("value", self.value, "a number or None")
        check_text("unit", self.unit)
        check_text("how", self.how)

    @classmethod
    def ratio(cls, above: float, below: float, unit: str, how: str) -> Value:
        """A quotient; its value is `None` if the divisor is 0."""
        return cls(above / below if below else None, unit, how)

    def to_dict(self) -> dict[str, Any]:
        """The value as a dict for JSON."""
        return {"value": self.value, "unit": self.unit, "how": self.how}

    @classmethod
    def from_dict(cls, record: Any) -> Value:
        """The value that `to_dict` gave."""
        return cls(record["value"], record["unit"], record["how"])


@dataclass(frozen=True)
class Curve:
    """Points of a curve, or the bars of a histogram.

    Attributes:
        x: The x of each point, ascending.
        y: The y of each point.
        x_unit: The unit of `x`.
        y_unit: The unit of `y`.
    """

    x: tuple[float, ...]
    y: tuple[float, ...]
    x_unit: str
    y_unit: str

    def __post_init__(self) -> None:
        for name in ("x", "y"):
            check_kind(name, getattr(self, name), tuple, "a tuple of numbers")
            for number in getattr(self, name):
                check_number(f"each of {name}", number)
        if len(self.x) != len(self.y):
            raise ArgumentError(f"y has {len(self.y)} numbers for {len(self.x)} of x")
        check_text("x_unit", self.x_unit)
        check_text("y_unit", self.y_unit)

    def to_dict(self) -> dict[str, Any]:
        """The same, for JSON."""
        return {
            "x": list(self.x),
            "y": list(self.y),
            "x_unit": self.x_unit,
            "y_unit": self.y_unit,
        }

    @classmethod
    def from_dict(cls, record: Any) -> Curve:
        """Undoes `to_dict`."""
        return cls(tuple(record["x"]), tuple(record["y"]), record["x_unit"], record["y_unit"])


@dataclass(frozen=True)
class Measured:
    """The measures on a corpus, on a language, or on jeton's own texts.

    `measured["bytes_per_token"]` is the number of a measure, and `list(measured)` names the
    measures.

    Attributes:
        values: The values, by the names of the measures.
        examples: The first line of each kind of loss, by the cause: the line, and what decoding
            gave instead.
    """

    values: dict[str, Value]
    examples: dict[str, tuple[str, str]]

    def __post_init__(self) -> None:
        for name in ("values", "examples"):
            check_kind(name, getattr(self, name), dict, "a dict")
        for measure, value in self.values.items():
            check_text("each name of values", measure)
            check_kind(f"values[{measure!r:.60}]", value, Value, "a Value")

    def __getitem__(self, measure: str) -> float | int | None:
        """The number of a measure; `None` if it was not measured here.

        Raises:
            UnknownNameError: There is no such measure.
        """
        if measure in self.values:
            return self.values[measure].value
        if measure in MEASURES:
            return None
        close = _core.did_you_mean(str(measure), list(MEASURES))
        hint = f"did you mean {close!r}?" if close else "jeton.analysis.MEASURES has all"
        raise UnknownNameError(f"there is no measure {measure!r:.60}; {hint}")

    def __iter__(self) -> Iterator[str]:
        return iter(self.values)

    def __len__(self) -> int:
        return len(self.values)

    def __contains__(self, measure: object) -> bool:
        return measure in self.values

    def to_dict(self) -> dict[str, Any]:
        """The same, for JSON."""
        return {
            "values": {name: value.to_dict() for name, value in self.values.items()},
            "examples": {cause: list(pair) for cause, pair in self.examples.items()},
        }

    @classmethod
    def from_dict(cls, record: Any) -> Measured:
        """Undoes `to_dict`."""
        return cls(
            {name: Value.from_dict(value) for name, value in record["values"].items()},
            {cause: (line, gave) for cause, (line, gave) in record["examples"].items()},
        )
