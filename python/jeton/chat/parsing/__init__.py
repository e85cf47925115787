"""Parses what a model wrote: from ids to a message, at once or as a stream.

`tok.parse` and `tok.parse_stream` call this. Look here for what is taken from the prompt: the
beginning of the answer, the template and the tools.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping
from itertools import chain
from typing import TYPE_CHECKING, Any

from jeton.chat.chat import Chat
from jeton.chat.limits import current
from jeton.chat.once import once_per_tokenizer
from jeton.chat.parsing.arguments import parameters_of
from jeton.chat.parsing.described import DescribedTurn, described
from jeton.chat.parsing.formats import FORMATS
from jeton.chat.parsing.parsed import Event, Parsed, ParsedCall, Part, Problem
from jeton.chat.parsing.stream import ParseStream
from jeton.chat.parsing.symbols import compiled
from jeton.chat.parsing.turns import Turn, turn_of
from jeton.chat.renderer import Renderer, questions
from jeton.chat.schemas import tools_of
from jeton.chat.templates import template_of
from jeton.errors import ArgumentError, ArgumentTypeError, UnknownNameError

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
    before: int | None = None
    text, anchor = "", turn.anchor
    if isinstance(prompt, str):
        text, anchor = map(turn.compiled.with_symbols, (prompt, anchor))
    elif prompt is not None:
        ids = prompt.ids if isinstance(prompt, Chat) else _ids(prompt)
        before = ids[-1] if ids else None
        anchor = turn.compiled.with_symbols(anchor)
        text = _end_of(turn, prompt) if isinstance(prompt, Chat) else _in_symbols(tok, turn, ids)
    # The text of a chat is only its end; in it, a message that goes on may spell the anchor.
    at = text.find(anchor) if isinstance(prompt, Chat) else text.rfind(anchor)
    prefix = text[at + len(anchor) :] if anchor and at >= 0 else ""
    if isinstance(turn, DescribedTurn):
        behind = prompt.text if isinstance(prompt, Chat) else text
        prefix = "" if prompt is None else turn.behind_anchor(behind)
        return ParseStream(tok, turn, parameters_of(schemas), prefix, "", before)
    if not anchor:
        opened = (text.rpartition(it.core) for it in turn.compiled.states["start"].marks)
        prefix = next(
            (it + head[2] for head in opened if (it := head[1]) and not head[2].strip()), ""
        )
    space = turn.lead
    if at < 0:
        shared = next((it for it in range(len(anchor), 0, -1) if text.endswith(anchor[:it])), 0)
        space = f"{anchor[shared:]}{space}" if not anchor[shared:].strip() else space
    if not prefix.strip():
        prefix = ""
    prefix = prefix.removeprefix(space)
    return ParseStream(tok, turn, parameters_of(schemas), prefix, space, before)


def _described(tok: BaseTokenizer, template: str) -> DescribedTurn | None:
    """The turn as the tokenizer's folder describes it, if the template is the folder's own."""
    own = tok.chat_template
    if own is None or "response_template" not in tok.config:
        return None
    return described(tok) if template in ([own] if isinstance(own, str) else own.values()) else None


def _ids(prompt: Iterable[Any]) -> list[int]:
    try:
        ids = [operator.index(id) for id in prompt]
    except TypeError as error:
        raise ArgumentTypeError(f"prompt must hold ids: {error}") from None
    if ids and not 0 <= min(ids) <= max(ids) < 2**32:
        raise ArgumentError("prompt must hold ids, which run from 0 to 2**32 - 1")
    return ids


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
    tokens = {it.content: it.id for it in tok.added_tokens if it.id is not None}
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


def _in_symbols(tok: BaseTokenizer, turn: Turn | DescribedTurn, ids: list[int]) -> str:
    """The text of ids, with symbols for control tokens."""
    symbols = turn.compiled.symbols
    texts = []
    start = 0
    for at, id in enumerate(chain(ids, [-1])):
        if at == len(ids) or id in symbols:
            texts.append(tok.decode(ids[start:at], unknown_ids="show"))
            texts.append("" if at == len(ids) else symbols[id])
            start = at + 1
    return "".join(texts)


def _end_of(turn: Turn | DescribedTurn, chat: Chat) -> str:
    """The text of a chat behind its last message that is not an answer, in symbols."""
    last = len(chat.roles) - 1 if chat.roles[-1] in ("assistant", "model") else len(chat.roles)
    symbols = turn.compiled.symbols
    origins = chat.origins
    first = next(
        (
            at + 1
            for at in reversed(range(len(origins)))
            if origins[at].kind == "message" and (origins[at].message or 0) < last
        ),
        0,
    )
    texts, end = [], chat.spans[first][0] if first < len(chat.ids) else len(chat.text)
    for id, span in zip(chat.ids[first:], chat.spans[first:], strict=True):
        if id in symbols:
            texts.append(chat.text[end : span[0]] + symbols[id])
            end = span[1]
    return "".join(texts) + chat.text[end:]
