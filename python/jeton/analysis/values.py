"""Measured numbers: value, unit, and how it was aggregated; curves; all values of a corpus."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from jeton.analysis.known_measures import MEASURES
from jeton.arguments import suggestion
from jeton.errors import ArgumentError, UnknownNameError
from jeton.record import Record


@dataclass(frozen=True)
class Value(Record):
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

    @classmethod
    def ratio(cls, above: float, below: float, unit: str, how: str) -> Value:
        """A quotient; its value is `None` if the divisor is 0."""
        return cls(above / below if below else None, unit, how)


@dataclass(frozen=True)
class Curve(Record):
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
        super().__post_init__()
        if len(self.x) != len(self.y):
            raise ArgumentError(f"y has {len(self.y)} numbers for {len(self.x)} of x")


@dataclass(frozen=True)
class Measured(Record):
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

    def __getitem__(self, measure: str) -> float | int | None:
        """The number of a measure; `None` if it was not measured here.

        Raises:
            UnknownNameError: There is no such measure.
        """
        if measure in self.values:
            return self.values[measure].value
        if measure in MEASURES:
            return None
        hint = suggestion(str(measure), list(MEASURES)) or "jeton.analysis.MEASURES has all"
        raise UnknownNameError(f"there is no measure {measure!r:.60}; {hint}")

    def __iter__(self) -> Iterator[str]:
        return iter(self.values)

    def __len__(self) -> int:
        return len(self.values)

    def __contains__(self, measure: object) -> bool:
        return measure in self.values
