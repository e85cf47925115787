"""Small conversations through a template, to learn what it accepts and how it frames a turn."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from jeton.chat.messages import sent_messages
from jeton.chat.templates.input import TemplateInput
from jeton.chat.templates.limits import LimitError
from jeton.chat.templates.origins import ANSWERING
from jeton.chat.templates.parts import raw
from jeton.chat.templates.renderer import Renderer
from jeton.chat.templates.rendering import RenderRequest
from jeton.chat.templates.trust import Trust
from jeton.errors import JetonError

__all__ = [
    "Frames",
    "frames_of",
    "prints_arguments_as_text",
    "required_text",
    "takes_parts",
    "text_of",
]

_WORDS: Final = "Hello there."
_USER: Final = {"role": "user", "content": "Who is it?"}
_CALLS: Final[list[dict[str, Any]]] = [
    {
        "role": "assistant",
        "content": "",
        "tool_calls": [
            {"id": "call12345", "type": "function", "function": {"name": "f", "arguments": it}}
        ],
    }
    for it in ({"a": 1}, '{"a": 1}')
]
"""A call of a tool, as some templates take it and as others do."""
_RESULT: Final = {"role": "tool", "name": "f", "tool_call_id": "call12345", "content": _WORDS}

Variables = tuple[tuple[str, Any], ...]


@dataclass(frozen=True)
class Frames:
    """What a template writes around the words of a turn; an empty text where it takes none."""

    question: str
    """All of a chat that is a question of the user."""
    opening: str
    """What is in front of the words of an answer."""
    call: str
    """A call of a tool."""
    result: str
    """The result of a tool."""


@functools.lru_cache(maxsize=64)
def frames_of(renderer: Renderer, template: str, variables: Variables) -> Frames:
    """How a template frames turns. `variables` are its inputs besides the messages."""
    question = text_of(renderer, template, [_USER], variables)
    calls = ((it, text_of(renderer, template, [_USER, it], variables)) for it in _CALLS)
    message, call = next((it for it in calls if it[1] is not None), (_CALLS[0], None))
    return Frames(
        question=question or "",
        opening=_behind(
            question,
            text_of(
                renderer, template, [_USER, {"role": "assistant", "content": _WORDS}], variables
            ),
        ).rpartition(_WORDS)[0],
        call=_behind(question, call),
        result=_behind(call, text_of(renderer, template, [_USER, message, _RESULT], variables)),
    )


def _behind(before: str | None, text: str | None) -> str:
    """The rest of a text after another one that it begins with, except for the end of that one."""
    if before is None or text is None:
        return ""
    shared = next(
        (at for at, (a, b) in enumerate(zip(before, text, strict=False)) if a != b), len(before)
    )
    # The difference may begin in the middle of a token.
    return text[shared if shared == len(before) else max(0, shared - 40) :]


@functools.lru_cache(maxsize=256)
def takes_parts(
    renderer: Renderer, template: str, role: str | None, variables: Variables
) -> bool | None:
    """Whether a template accepts a content of parts, from this role; `None` if that is unknown.

    It does if it writes the same for a text in one part as for the text alone.
    """
    after = [_USER] if role in ("system", "developer") else []
    before: list[list[Any]] = [[]]
    if role in ANSWERING:
        before = [[_USER]]
    elif role != "user" and not after:
        before = [*([_USER, call] for call in _CALLS), [_USER], []]
    for first in before:
        message = {**(_RESULT if len(first) == 2 else {}), "role": role}
        alone, as_part = (
            text_of(renderer, template, [*first, {**message, "content": it}, *after], variables)
            for it in (_WORDS, [{"type": "text", "text": _WORDS}])
        )
        if alone is not None and _WORDS in alone:
            return alone == as_part
    return None


@functools.lru_cache(maxsize=256)
def prints_arguments_as_text(renderer: Renderer, template: str, variables: Variables) -> bool:
    """Whether a template prints arguments that are a JSON string unchanged, and does not write a
    dict as JSON: it prints the same, or as Python does, or fails.
    """
    as_dict, as_text = (text_of(renderer, template, [_USER, it], variables) for it in _CALLS)
    a_dict, a_text = (it["tool_calls"][0]["function"]["arguments"] for it in _CALLS)
    if as_text is None or a_text not in as_text:
        return False
    return as_dict is None or as_dict == as_text or repr(a_dict) in as_dict


def text_of(
    renderer: Renderer, template: str, messages: Iterable[Mapping[str, Any]], variables: Variables
) -> str | None:
    """The text of a conversation, if the template takes it."""
    try:
        return required_text(renderer, template, messages, variables)
    except LimitError:
        raise
    except JetonError:
        return None


def required_text(
    renderer: Renderer, template: str, messages: Iterable[Mapping[str, Any]], variables: Variables
) -> str:
    """The text of a conversation.

    Raises:
        JetonError: The template does not take it.
    """
    values = TemplateInput(Trust())
    plain = values.messages(sent_messages(messages))
    request = RenderRequest(template, plain, None, dict(variables), values.characters)
    return raw(renderer.answer(request))
