"""A chat for the page: its text, the author of each token, the learnt tokens; and an answer."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from jeton.chat.chat import Chat, Notes, Request
from jeton.chat.showing import pieces
from jeton.display.human_readable import counted
from jeton.errors import ArgumentError, JetonError

if TYPE_CHECKING:
    from jeton.play.questions import Question
    from jeton.play.shelf import Card

_MARK: Final = re.compile(
    r"<\|[^<>|\s]{1,60}\|>|<｜[^<>｜]{1,60}｜>|\[/?[A-Z_]{2,40}\]|</?[a-z_]{1,40}>"
)
"""How templates spell control tokens."""

_MAX_TEXT: Final = 200_000
"""Characters of a rendered chat that the page draws."""


def shown_chat(card: Card, question: Question) -> dict[str, object]:
    """The chat of `messages`, `template` and `tools`."""
    notes: list[Notes] = []
    chat = _chat(card, question, bool(question.value("prompt", False)), notes.append)
    if len(chat.text) > _MAX_TEXT:
        raise ArgumentError(f"the chat has {len(chat.text):,} characters; {_MAX_TEXT:,} are shown")
    try:
        mask = chat.loss_mask()
        fault = ""
    except JetonError as error:
        mask, fault = [0] * len(chat.ids), str(error)
    left_out = [loss for note in notes for loss in note.losses]
    special = set(card.tokenizer.special_tokens.values())
    parts = list(pieces(chat))
    if marks := [it for text, look in parts if look == "template" for it in _MARK.findall(text)]:
        # This says more than `Notes.marks`.
        names = ", ".join(dict.fromkeys(marks))
        left_out.append(
            f"this tokenizer has no token for {counted(len(marks), 'mark')} of the template, "
            f"which are plain text: {names[:200]}"
        )
    return {
        "text": chat.text,
        "pieces": [{"text": text, "look": look} for text, look in parts],
        "tokens": [
            {
                "id": id,
                "start": start,
                "end": end,
                "origin": str(origin),
                "special": id in special,
                "learnt": bool(bit),
            }
            for id, (start, end), origin, bit in zip(
                chat.ids, chat.spans, chat.origins, mask, strict=True
            )
        ],
        "learnt": fault,
        "left_out": left_out,
    }


def parsed_answer(card: Card, question: Question) -> dict[str, object]:
    """The message in `answer`: what a model wrote after the chat.

    Control tokens in it are control tokens, as in what a model samples.
    """
    text = question.text("answer")
    if len(text) > _MAX_TEXT:
        raise ArgumentError(f"an answer of more than {_MAX_TEXT:,} characters is not read here")
    tokenizer = card.tokenizer
    chat = _chat(card, question, True, lambda _: None)
    ids = tokenizer.encode(text, special="allow", add_special_tokens=False)
    answer = tokenizer.parse(ids, prompt=chat)
    return {
        "message": answer.message,
        "finish": answer.finish,
        "problems": list(map(str, answer.problems)),
        "text_marks": list(map(str, answer.text_marks)),
    }


def _chat(card: Card, question: Question, has_prompt: bool, says: Callable[[Notes], None]) -> Chat:
    """The chat. Templates are untrusted, so a separate process renders it."""
    messages = _parsed("messages", question.value("messages"))
    tools = _parsed("tools", question.value("tools")) if question.value("tools", "") else None
    return Request(
        card.tokenizer,
        messages,
        question.text("template", "") or None,
        tools,
        add_generation_prompt=has_prompt,
        isolate=True,
        says=says,
    ).build()


def _parsed(name: str, value: object) -> Any:
    """JSON that was typed, or a value."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError) as error:
        raise ArgumentError(f"{name} are not JSON: {error}") from None
