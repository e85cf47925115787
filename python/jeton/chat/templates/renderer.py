"""`Renderer`: runs templates here, or in a process of their own."""

from __future__ import annotations

import contextlib
import functools
import time
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Final

from jeton.chat.templates.limits import current, limits
from jeton.chat.templates.rendering import RenderRequest, rendered
from jeton.chat.templates.source import TemplateText, source_of

_MIN_SECONDS: Final = 0.01
_UNTIL: ContextVar[float] = ContextVar("jeton_chat_until")


@contextlib.contextmanager
def questions() -> Iterator[None]:
    """Limits all questions to templates in the block to the time that one chat may take."""
    token = _UNTIL.set(time.monotonic() + current().seconds)
    try:
        yield
    finally:
        _UNTIL.reset(token)


@dataclass(frozen=True)
class Renderer:
    """What templates are run and read by.

    Attributes:
        apart: Whether that is a process of its own.
    """

    apart: bool

    def text(self, request: RenderRequest) -> str:
        """The text of a chat, as `rendered` gives it."""
        if not self.apart:
            return rendered(request)
        from jeton.chat.templates.isolation import rendered_apart

        return rendered_apart(request)

    def answer(self, request: RenderRequest) -> str:
        """The text of a chat that jeton itself renders, to learn how the template writes.

        All of these in one block of `questions` take at most the time of one chat.
        """
        now = time.monotonic()
        left = _UNTIL.get(now + current().seconds) - now
        with limits(seconds=max(left, _MIN_SECONDS)):
            return self.text(request)

    def source(self, template: str) -> TemplateText:
        """What a template says, as `source_of` gives it."""
        return _source_apart(template) if self.apart else source_of(template)


@functools.lru_cache(maxsize=64)
def _source_apart(template: str) -> TemplateText:
    from jeton.chat.templates.isolation import source_apart

    return source_apart(template)
