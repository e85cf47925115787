"""A question of the page: a JSON object whose fields are read by name and kind."""

from __future__ import annotations

import json
from typing import Any, Final

from jeton.errors import ArgumentError

_MAX_NUMBER: Final = 2**53
"""Whole numbers that a browser holds exactly are below this."""


class Question:
    """The fields of a question. A field that is absent has the default of the call, if any.

    >>> Question(b'{"id": 7}').number("id")
    7
    """

    def __init__(self, body: bytes) -> None:
        try:
            fields = json.loads(body or b"{}")
        except (ValueError, RecursionError) as error:
            raise ArgumentError(f"a question is JSON: {error}") from None
        if not isinstance(fields, dict):
            raise ArgumentError("a question is a JSON object")
        self._fields: dict[str, object] = fields

    def __contains__(self, name: str) -> bool:
        return self._fields.get(name) is not None

    def value(self, name: str, default: object = None) -> Any:
        """A field of any kind; `None` counts as absent."""
        value = self._fields.get(name)
        if value is None:
            value = default
        if value is None:
            raise ArgumentError(f"the question lacks {name!r}")
        return value

    def text(self, name: str, default: str | None = None) -> str:
        """A string."""
        value = self.value(name, default)
        if not isinstance(value, str):
            raise ArgumentError(f"{name!r} of the question is not a string")
        return value

    def number(self, name: str, default: int | None = None) -> int:
        """A whole number."""
        return _whole(name, self.value(name, default))

    def numbers(self, name: str) -> list[int]:
        """A list of whole numbers."""
        return [_whole(name, it) for it in self._list(name)]

    def texts(self, name: str) -> list[str]:
        """A list of strings."""
        values = self._list(name)
        if not all(isinstance(it, str) for it in values):
            raise ArgumentError(f"{name!r} of the question must hold only strings")
        return values

    def _list(self, name: str) -> list[Any]:
        value = self.value(name)
        if not isinstance(value, list):
            raise ArgumentError(f"{name!r} of the question is not a list")
        return value


def _whole(name: str, value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or abs(value) >= _MAX_NUMBER:
        raise ArgumentError(f"{name!r} of the question is not a whole number below 2**53")
    return value
