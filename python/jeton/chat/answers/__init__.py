"""Parses what a model wrote: from ids to a message, at once or as a stream.

`tok.parse` and `tok.parse_stream` call this. Look here for which template and which tools are
taken; `prompts.py` finds the beginning of the answer that is in a prompt.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from jeton.chat.answers.arguments import parameters_of
from jeton.chat.answers.described import DescribedTurn, described
from jeton.chat.answers.formats import FORMATS
from jeton.chat.answers.marks import compiled
from jeton.chat.answers.parsed import Event, Parsed, ParsedCall, Part, Problem
from jeton.chat.answers.prompts import begun_answer
from jeton.chat.answers.stream import ParseStream
from jeton.chat.answers.turns import Turn, turn_of
from jeton.chat.chat import Chat
from jeton.chat.once import added_tokens_of, once_per_tokenizer
from jeton.chat.schemas import tools_of
from jeton.chat.templates.finding import template_of
from jeton.chat.templates.limits import current
from jeton.chat.templates.renderer import Renderer, questions
from jeton.errors import ArgumentTypeError, UnknownNameError

if TYPE_CHECKING:
    from jeton.encoding.base_tokenizer import BaseTokenizer

__all__ = ["Event", "ParseStream", "Parsed", "ParsedCall", "Part", "Problem", "parse_stream"]


def parse_stream(
    tok: BaseTokenizer,
    prompt: Chat | Iterable[int] | str | None,
    template: str | None,
    tools: Iterable[Mapping[str, Any] | Callable[..., Any]] | None,
    format: str | None,
) -> ParseStream:
    """A stream that reads an answer to a prompt; the arguments are those of `Tokenizer.parse`."""
    if isinstance(prompt, (bytes, dict)) or not isinstance(
        prompt, (Chat, str, Iterable, type(None))
    ):
        raise ArgumentTypeError(
            f"prompt must be a chat, ids, a str or None, not {type(prompt).__name__}"
        )
    if tools is not None:
        schemas: list[Any] | None = tools_of(tools)
    else:
        schemas = prompt.tools if isinstance(prompt, Chat) else None
    if template is None and isinstance(prompt, Chat):
        template = prompt.template
    else:
        template = template_of(tok, template, with_tools=bool(schemas)) if format is None else ""
    turn: Turn | DescribedTurn | None = None
    if format is None:
        turn = _described(tok, template)
    turn = turn or _turn(tok, prompt, template, format)
    begun = begun_answer(tok, turn, prompt)
    types = parameters_of(schemas, only_declared=isinstance(turn, DescribedTurn))
    return ParseStream(tok, turn, types, begun.text, begun.space, begun.last_of_prompt)


def _described(tok: BaseTokenizer, template: str) -> DescribedTurn | None:
    """The turn as the tokenizer's folder describes it, if the template is the folder's own."""
    own = tok.chat_template
    if own is None or "response_template" not in tok.config:
        return None
    return described(tok) if template in ([own] if isinstance(own, str) else own.values()) else None


def _turn(tok: BaseTokenizer, prompt: object, template: str, format: str | None) -> Turn:
    if not isinstance(format, (str, type(None))):
        raise ArgumentTypeError(f"format must be a str, not {type(format).__name__}")
    if format is not None and format not in FORMATS:
        raise UnknownNameError(
            f"there is no format {format!r:.60} (there are {', '.join(FORMATS)})"
        )
    chat = prompt if isinstance(prompt, Chat) else None
    roles = {f"{role}_token": token for role, token in tok.roles.items()}
    isolates = None if chat is None else chat.isolates
    renderer = Renderer(current().isolate if isolates is None else isolates)
    tokens = {it.content: it.id for it in added_tokens_of(tok) if it.id is not None}
    if format is not None:
        known = _by_format(tok)
        if format not in known:
            ends = [it for role in ("eos", "eot") if (it := tok.roles.get(role))]
            known[format] = Turn(
                compiled(FORMATS[format], tokens, ends), compiled(FORMATS[format], {}, ends)
            )
        return known[format]
    with questions():
        variables = {**roles, **(chat.plain_variables if chat else {})}
        return turn_of(tok, tokens, renderer, template, tuple(variables.items()))


@once_per_tokenizer
def _by_format(tok: BaseTokenizer) -> dict[str, Turn]:
    """The turns that were asked for by the name of a format."""
    del tok
    return {}
