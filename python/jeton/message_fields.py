"""The fields of a message, a part or a tool, whatever holds them: a dict, a dataclass, a pydantic
model."""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Callable, Mapping
from typing import Any

__all__ = ["fields_of"]


def fields_of(value: Any) -> Mapping[Any, Any] | None:
    """The fields by name; `None` for what has none.

    >>> fields_of({"role": "user"}), fields_of("user")
    ({'role': 'user'}, None)
    """
    if isinstance(value, Mapping):
        return value
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    dump: Callable[[], Any] | None = getattr(value, "model_dump", None)
    if isinstance(dump, types.MethodType):
        dumped = dump()
        return dumped if isinstance(dumped, Mapping) else None
    return None
