"""`Renderer`: runs templates here, or in a process of their own."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from jeton.chat.rendering import rendered
from jeton.chat.source import Source, source_of

__all__ = ["Renderer"]


@dataclass(frozen=True)
class Renderer:
    """What templates are run and read by.

    Attributes:
        apart: Whether that is a process of its own.
    """

    apart: bool

    def text(
        self,
        template: str,
        messages: list[dict[str, Any]],
        continued: str | None,
        variables: Mapping[str, Any],
        given: int,
    ) -> str:
        """The text of a chat, as `rendered` gives it."""
        if not self.apart:
            return rendered(template, messages, continued, variables, given)
        from jeton.chat.isolation import rendered_apart

        return rendered_apart(template, messages, continued, variables, given)

    def source(self, template: str) -> Source:
        """What a template says, as `source_of` gives it."""
        return _source_apart(template) if self.apart else source_of(template)


@functools.lru_cache(maxsize=64)
def _source_apart(template: str) -> Source:
    from jeton.chat.isolation import source_apart

    return source_apart(template)
