"""Tools as a template sees them, kept for the next call that has the same ones.

Calls of one program have the same tools, and more of these than of anything else. Look here for how
they are turned into what a template sees, measured and written as JSON once.
"""

from __future__ import annotations

import functools
import marshal
from typing import Any, Final

from jeton.chat.templates.input import TemplateInput
from jeton.chat.templates.limits import Known, measured
from jeton.chat.templates.trust import Trust

__all__ = ["KeptTools", "kept_tools"]

_MAX_BYTES: Final = 1 << 18
_MAX_LISTS: Final = 8


class KeptTools:
    """A list of tools as a template sees it. Its pickle holds the original list.

    Attributes:
        value: The tools, with their origins.
        characters: How many characters they have.
        groups: The fields with text, as in `TemplateInput`.
        known: Measures of them, which stay for later runs.
    """

    def __init__(self, key: bytes) -> None:
        values = TemplateInput(Trust())
        self._key = key
        self.value = values.other("tools", marshal.loads(key))
        self.characters = values.characters
        self.groups = values.groups
        self.known = Known(measured(self.value, values.characters), {})

    def __reduce__(self) -> tuple[Any, ...]:
        return _tools_of, (self._key,)


@functools.lru_cache(maxsize=_MAX_LISTS)
def _tools_of(key: bytes) -> KeptTools:
    return KeptTools(key)


def kept_tools(tools: list[Any]) -> KeptTools | None:
    """The tools, none of them trusted; `None` if they are too long or hold other objects."""
    try:
        # Version 2 writes equal values alike, whether or not they are the same object.
        key = marshal.dumps(tools, 2)
    except ValueError:
        return None
    return _tools_of(key) if len(key) <= _MAX_BYTES else None
