"""A chat as the page shows it: the rendered text, who wrote each token, and what is learnt."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from jeton.chat.chat import Request
from jeton.chat.showing import pieces
from jeton.errors import ArgumentError, JetonError

if TYPE_CHECKING:
    from jeton.play.questions import Question
    from jeton.play.shelf import Card

__all__ = ["shown_chat"]

_MAX_TEXT: Final = 200_000
"""Characters of a rendered chat that the page draws."""


def shown_chat(card: Card, asked: Question) -> dict[str, Any]:
    """The chat that `messages`, `template` and `tools` give.

    Templates come from strangers, so they are rendered in a process of their own.
    """
    messages = _parsed("messages", asked.value("messages"))
    tools = _parsed("tools", asked.value("tools")) if asked.value("tools", "") else None
    left_out: list[str] = []
    chat = Request(
        card.tokenizer,
        messages,
        asked.text("template", "") or None,
        tools,
        add_generation_prompt=bool(asked.value("prompt", False)),
        isolate=True,
        says=left_out.append,
    ).made()
    if len(chat.text) > _MAX_TEXT:
        raise ArgumentError(f"the chat has {len(chat.text):,} characters; {_MAX_TEXT:,} are shown")
    try:
        mask = chat.loss_mask()
        learnt = ""
    except JetonError as error:
        mask, learnt = [0] * len(chat.ids), str(error)
    special = set(card.tokenizer.special_tokens.values())
    return {
        "text": chat.text,
        "pieces": [{"text": text, "look": look} for text, look in pieces(chat)],
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
        "learnt": learnt,
        "left_out": left_out,
    }


def _parsed(name: str, value: Any) -> Any:
    """JSON that was typed, or a value."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError) as error:
        raise ArgumentError(f"{name} are no JSON: {error}") from None
