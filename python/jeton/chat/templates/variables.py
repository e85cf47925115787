"""The values of a call as its template sees them, and the text that the template writes.

Look here for how parts of text are joined for templates that take only strings.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final

from jeton.chat.messages import TEXTS, Sent, is_text
from jeton.chat.templates.held_text import Blank, HeldText, Reading
from jeton.chat.templates.input import Group, TemplateInput
from jeton.chat.templates.parts import raw, runs_of
from jeton.chat.templates.renderer import Renderer
from jeton.chat.templates.rendering import RenderRequest
from jeton.chat.templates.traced import joined
from jeton.chat.templates.trust import REASONING, Path
from jeton.chat.templates.turn_shape import TurnShape
from jeton.errors import ArgumentError

PLAIN: Final = (str, bool, int, float, type(None))
"""The kinds of variables that probes get as well."""


@dataclass(frozen=True)
class TemplateValues:
    """The values of a call."""

    template: str
    """The text of the template."""
    renderer: Renderer
    """What runs it."""
    shape: TurnShape
    """How it writes turns."""
    sent: list[Sent]
    """The messages."""
    variables: Mapping[str, Any]
    """Further variables of the template, as the caller passed them."""
    input: TemplateInput
    """What turned the messages and all that follows into what the template sees."""
    messages: list[dict[str, Any]]
    tools: list[Any] | None
    documents: list[Any] | None
    others: Mapping[str, Any]
    """All other variables, and whether the beginning of an answer follows."""
    continued: str | None
    """The field of the last message that is left open."""

    @property
    def has_more_than_messages(self) -> bool:
        """Whether the template gets tools or documents, or leaves a message open."""
        return not (self.tools is self.documents is None and self.continued is None)

    def held(self, reading: Reading) -> TemplateValues:
        """The values of the same call, in which all that messages say but their roles is held
        back."""
        messages = [
            {name: _held(value, reading) for name, value in message.items()}
            for message in self.messages
        ]
        return dataclasses.replace(self, messages=messages)

    def text(self, left_out: Collection[Group] = ()) -> str:
        """What the template writes; or what it would write without some of its values."""
        gone: dict[tuple[str, int | None], set[Path]] = {}
        for kind, message, path in left_out:
            gone.setdefault((kind, message), set()).add(path)
        messages = [
            _without(message, gone.get(("message", at), set()))
            for at, message in enumerate(self.messages)
        ]
        write = self.renderer.answer if left_out else self.renderer.text
        try:
            return self._written(write, messages, gone)
        except ArgumentError:
            # A template that fails without a content may take `None`, as transformers passes it.
            silent = [
                "content" not in message and "content" in sent.fields
                for message, sent in zip(messages, self.sent, strict=True)
            ]
            if not any(silent):
                raise
            written = []
            for nothing in (None, ""):
                seen = [
                    {**message, "content": nothing} if is_silent else message
                    for message, is_silent in zip(messages, silent, strict=True)
                ]
                try:
                    written.append(self._written(write, seen, gone))
                except ArgumentError:
                    continue
            if not written:
                raise
            # A template that prints it as a word (`null`) means no word.
            as_none, empty = map(raw, (written[0], written[-1]))
            is_word = any(as_none.count(it) > empty.count(it) for it in ("null", "None"))
            return written[-1] if is_word else written[0]

    def _written(
        self,
        write: Callable[[RenderRequest], str],
        messages: list[dict[str, Any]],
        gone: Mapping[tuple[str, int | None], set[Path]],
    ) -> str:
        request = RenderRequest(
            self.template,
            [self._with_text(message) for message in messages],
            self.continued,
            {
                "tools": _without_items(self.tools, gone.get(("tools", None), set())),
                "documents": _without_items(self.documents, gone.get(("documents", None), set())),
                **self.others,
            },
            self.input.characters,
        )
        return write(request)

    def _with_text(self, message: dict[str, Any]) -> dict[str, Any]:
        """A message whose parts of text are one text, if the template takes no parts."""
        content = message.get("content")
        if not isinstance(content, (list, tuple)) or not any(map(is_text, content)):
            return message
        role = message.get("role")
        takes = self.shape.takes_parts(role and raw(role))
        if takes is None:
            return message
        parts = [{"type": "text", "text": it} if isinstance(it, str) else it for it in content]
        texts = [it[TEXTS[it.get("type", "text")]] for it in parts if is_text(it)]
        return {**message, "content": parts if takes else joined(texts)}


def _held(value: Any, reading: Reading) -> Any:
    """A field of a message, held back if it is text."""
    for _, origin in runs_of(value) if isinstance(value, str) else ():
        if origin.field != "role":
            return HeldText([Blank(origin.message or 0, origin.field, (), origin)], reading)
    return value


def _without_items(items: list[Any] | None, left_out: set[Path]) -> list[Any] | None:
    """Tools or documents without some of them."""
    if not left_out or items is None:
        return items
    return [item for at, item in enumerate(items) if (at,) not in left_out] or None


def _without(message: dict[str, Any], left_out: set[Path]) -> dict[str, Any]:
    """A message without some fields, or without items of lists in them."""
    if not left_out:
        return message
    if any(path[0] in REASONING for path in left_out):
        left_out = left_out | {(name,) for name in REASONING}  # a template sees it by two names
    kept: dict[str, Any] = {}
    for name, value in message.items():
        if isinstance(value, (list, tuple)):
            items = [item for at, item in enumerate(value) if (raw(name), at) not in left_out]
            if items or not value:
                kept[name] = items
        elif (raw(name),) not in left_out:
            kept[name] = value
    # A template may fail on a message that has no content, and take an empty one.
    return kept if "content" in kept or "content" not in message else {**kept, "content": ""}
