"""`Record`: dataclasses whose fields are checked by their annotations, and read from JSON.

Look here for what a saved result may hold, and for the error about a field of another type.
"""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Mapping
from typing import Any, Final, TypeVar

from jeton.arguments import check_kind, check_text, checked_int, one_of
from jeton.errors import ArgumentError, ArgumentTypeError

_MOST: Final = 1e100
"""No measure is this large; larger numbers could not be added, scaled and drawn."""

_KNOWN: Final[dict[Any, dict[str, Any]]] = {}
"""The annotations of each class, read once."""

Self = TypeVar("Self", bound="Record")


class Record:
    """A dataclass of text, whole numbers from 0, finite numbers, and containers of these."""

    def __post_init__(self) -> None:
        for name, hint in _hints(type(self)).items():
            _check(name, getattr(self, name), hint)

    def to_dict(self) -> dict[str, Any]:
        """The same, for JSON."""
        return {name: plain(getattr(self, name)) for name in _hints(type(self))}

    @classmethod
    def from_dict(cls: type[Self], record: Any) -> Self:
        """Undoes `to_dict`."""
        return cls._of_fields(record)

    @classmethod
    def _of_fields(cls: type[Self], record: Any) -> Self:
        hints = _hints(cls)
        return cls(**{name: read(hint, record[name]) for name, hint in hints.items()})


def check_number(name: str, number: object, expected: str = "a number") -> None:
    """Fails unless `number` is a finite number, small enough to calculate with."""
    if isinstance(number, bool) or not isinstance(number, (int, float)):
        raise ArgumentTypeError(f"{name} must be {expected}, not {type(number).__name__}")
    if not -_MOST < number < _MOST:
        description = "a longer integer" if isinstance(number, int) else number
        raise ArgumentError(
            f"{name} must be finite and below 1e100, not {description}; None is unknown"
        )


def plain(value: Any) -> Any:
    """A value for JSON: records and mappings as dicts, tuples as lists."""
    if isinstance(value, Record):
        return value.to_dict()
    if isinstance(value, Mapping):
        return {name: plain(it) for name, it in value.items()}
    return [plain(it) for it in value] if isinstance(value, tuple) else value


def read(hint: Any, value: Any) -> Any:
    """The value of an annotation that `plain` gave."""
    kind, arguments = typing.get_origin(hint) or hint, typing.get_args(hint)
    if kind is tuple:
        each = arguments[:1] * len(value) if arguments[-1] is ... else arguments
        return tuple(read(of, it) for of, it in zip(each, value, strict=True))
    if kind in (dict, Mapping):
        return {name: read(arguments[1], it) for name, it in value.items()}
    from_dict = getattr(kind, "from_dict", None)
    return value if from_dict is None else from_dict(value)


def _hints(cls: Any) -> dict[str, Any]:
    """The annotations of the fields that the constructor takes."""
    if cls not in _KNOWN:
        hints = typing.get_type_hints(cls)
        _KNOWN[cls] = {it.name: hints[it.name] for it in dataclasses.fields(cls) if it.init}
    return _KNOWN[cls]


def _check(name: str, value: Any, hint: Any) -> None:
    """Fails unless a value has the type of an annotation."""
    kind, arguments = typing.get_origin(hint) or hint, typing.get_args(hint)
    if kind in (typing.Union, types.UnionType):
        if value is None and types.NoneType in arguments:
            return
        if str in arguments and isinstance(value, (str, bool)):
            return
        others = [it for it in arguments if it not in (types.NoneType, str)]
        _check(name, value, float if float in others else others[0] if others else str)
    elif kind is str:
        check_text(name, value)
    elif kind is int:
        checked_int(name, value, 0)
    elif kind is float:
        check_number(name, value, "a number")
    elif kind is typing.Literal:
        one_of(name, value, arguments)
    elif kind in (tuple, frozenset):
        check_kind(name, value, kind, f"a {kind.__name__}")
        if kind is tuple and arguments[-1] is not ... and len(value) != len(arguments):
            raise ArgumentError(f"{name} must have {len(arguments)} items, not {len(value)}")
        for it in value:
            _check(f"each of {name}", it, arguments[0])
    elif kind in (dict, Mapping):
        check_kind(name, value, kind, "a mapping of names" if kind is Mapping else "a dict")
        for key, it in value.items():
            check_text(f"each name of {name}", key)
            _check(f"{name}[{key!r:.60}]", it, arguments[1])
    else:
        check_kind(name, value, kind, f"of type {kind.__name__}")
