"""How many tokens a conversation has as its chat template writes it, and whether that is exact.

`tok.count_messages` is the way in. Look here for what makes a count an estimate.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from jeton.arguments import checked_flag, checked_int
from jeton.chat.messages import fields_of, is_media
from jeton.errors import ArgumentError

if TYPE_CHECKING:
    from jeton.encoding.base_tokenizer import BaseTokenizer


@dataclass(frozen=True, slots=True)
class MessageCount:
    """How many tokens messages have. `int(count)` is the number.

    Example:
        >>> from jeton.chat.message_counts import MessageCount
        >>> count = MessageCount(12, False, "estimated: …")
        >>> int(count), count.exact
        (12, False)
    """

    tokens: int
    """The tokens of the whole prompt, control tokens included."""
    exact: bool
    """Whether it is the number that the model is sent, rather than an estimate."""
    basis: str
    """How the number was computed; for an estimate, also what is not known."""

    def __int__(self) -> int:
        return self.tokens

    __index__ = __int__


_OF_CHAT: Final = ("documents", "continue_final_message", "trusted", "control")
"""What `Tokenizer.chat` takes by name beside the variables of a template."""


def counted(
    tok: BaseTokenizer,
    messages: object,
    *,
    template: str | None,
    tools: object,
    add_generation_prompt: bool,
    tokens_per_part: int | None,
    variables: Mapping[str, Any],
) -> MessageCount:
    """The count that `Tokenizer.count_messages` gives."""
    from jeton.chat.chat import Request
    from jeton.chat.messages import sent_messages
    from jeton.chat.templates.finding import left_to_models

    checked_flag("add_generation_prompt", add_generation_prompt)
    if tokens_per_part is not None:
        tokens_per_part = checked_int("tokens_per_part", tokens_per_part, 0)
    sent = sent_messages(messages)
    chat = Request(
        tok,
        sent,
        template=template,
        tools=tools,
        add_generation_prompt=add_generation_prompt,
        variables=tuple((name, it) for name, it in variables.items() if name not in _OF_CHAT),
        counts_media=True,
        says=lambda notes: None,  # the count says it
        **{name: it for name, it in variables.items() if name in _OF_CHAT},
    ).build()
    media = [
        part
        for number, message in enumerate(sent)
        for part in _media(f"messages[{number}].content", message.fields.get("content"))
    ]
    if media and tokens_per_part is None:
        place, kind = media[0]
        raise ArgumentError(
            f"{place} is not text ({kind}), and its tokens cannot be counted here",
            hint="tokens_per_part= what each such part has, for an estimate",
            parameter="tokens_per_part",
        )
    basis = "by the tokenizer's own chat template"
    if template is not None:
        is_name = len(template) < 60 and "{" not in template and "\n" not in template
        basis = f"by the chat template {template!r}" if is_name else "by the passed chat template"
    guesses = []
    if media:
        kinds = ", ".join(dict.fromkeys(kind for _, kind in media))
        guesses.append(f"{tokens_per_part:,} tokens for each part that is not text ({kinds})")
    if left_out := chat.left_out(with_media=False):
        guesses.append(f"it does not print {', '.join(map(str, left_out))}")
    if more := left_to_models(chat.template, chat.roles):
        guesses.append(more)
    tokens = len(chat.ids) + len(media) * (tokens_per_part or 0)
    how = "estimated" if guesses else "exact"
    return MessageCount(tokens, not guesses, "; ".join([f"{how}: {basis}", *guesses]))


def _media(place: str, content: object) -> Iterator[tuple[str, str]]:
    """The place and the kind of each part of a content that is not text, at any depth."""
    for at, part in enumerate(content if isinstance(content, (list, tuple)) else ()):
        fields = fields_of(part) or {}
        if is_media(part):
            yield f"{place}[{at}]", f"{fields.get('type') or type(part).__name__:.40}"
        else:
            yield from _media(f"{place}[{at}].content", fields.get("content"))
