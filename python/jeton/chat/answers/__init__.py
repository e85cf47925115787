"""Parses what a model wrote: from ids to a message, at once or as a stream.

`tok.parse` and `tok.parse_stream` call this. Look here for which template and which tools are
taken. Where to look for the rest:

- the formats, as data: `formats.py`
- the format of a folder's `response_template`: `response_templates.py`; the values of its fields:
  `field_values.py`; its message: `fields.py`
- what begins and ends the turns of a template: `jeton.chat.templates.turn_shape`; which format it
  has: `turns.py`; a format that none of the known ones is: `inference.py`
- where in a prompt the answer begins: `prompts.py`
- how a mark is found, and what happens to one that is out of place: `marks.py`
- when an event is certain, and where a turn ends: `machine.py`
- where the arguments of a call are read: `call_readers.py` (JSON, Python, braces), `calls.py` (one
  by one), `argument_types.py` (their types)
- ids, stops and the parts of an answer: `stream.py`; the results: `parsed.py`
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from jeton.arguments import check_kind, checked_id, checked_iterable
from jeton.chat.answers.argument_types import parameters_of
from jeton.chat.answers.call_readers import without_halves
from jeton.chat.answers.formats import FORMATS
from jeton.chat.answers.marks import compiled
from jeton.chat.answers.parsed import Event, Parsed, ParsedCall, Part, Problem
from jeton.chat.answers.prompts import begun_answer
from jeton.chat.answers.response_templates import compiled_description, description_of
from jeton.chat.answers.stream import ParseStream, Stops
from jeton.chat.answers.turns import Turn, generation_ends, turn_of
from jeton.chat.chat import Chat
from jeton.chat.schemas import tools_of
from jeton.chat.templates.finding import template_of
from jeton.chat.templates.limits import current
from jeton.chat.templates.renderer import Renderer, questions
from jeton.encoding.base_tokenizer.once import once_per_tokenizer
from jeton.encoding.once import added_tokens_of
from jeton.encoding.streams import checked_stops
from jeton.errors import (
    ArgumentError,
    ArgumentTypeError,
    UnknownNameError,
    UnknownTokenError,
    UnsupportedError,
)

if TYPE_CHECKING:
    from jeton.encoding.base_tokenizer import BaseTokenizer

__all__ = ["Event", "ParseStream", "Parsed", "ParsedCall", "Part", "Problem", "parse_stream"]


def parse_stream(
    tok: BaseTokenizer,
    prompt: Chat | Iterable[int] | str | None,
    template: str | None,
    tools: Iterable[Mapping[str, Any] | Callable[..., Any]] | None,
    format: str | None,
    call_ids: Iterable[str] | None,
    stop: str | Iterable[str] = (),
    stop_ids: Iterable[int] = (),
) -> ParseStream:
    """A stream that reads an answer to a prompt; the arguments are those of `Tokenizer.parse`."""
    if isinstance(prompt, (bytes, dict)) or not isinstance(
        prompt, (Chat, str, Iterable, type(None))
    ):
        raise ArgumentTypeError(
            f"prompt must be a chat, ids, a str or None, not {type(prompt).__name__}"
        )
    # In the text of an answer, surrogates are control tokens, so no text may hold one.
    prompt = without_halves(prompt) if isinstance(prompt, str) else prompt
    if tools is not None:
        schemas: list[Any] | None = tools_of(tools)
    else:
        schemas = prompt.tools if isinstance(prompt, Chat) else None
    if template is None and isinstance(prompt, Chat):
        template = prompt.template
    else:
        template = template_of(tok, template, with_tools=bool(schemas)) if format is None else ""
    turn = _described(tok, template) if format is None else None
    turn = turn or _turn(tok, prompt, template, format)
    if turn.unread and schemas:
        raise UnsupportedError(turn.unread)
    types = parameters_of(schemas, only_declared=turn.compiled.description is not None)
    with_symbols = turn.compiled.with_symbols
    texts = [*map(without_halves, checked_stops(stop, "replace"))]
    if "" in texts:
        raise ArgumentError("stop holds an empty text, which would end every answer at once")
    stops = [it for text in texts for it in {text, with_symbols(text)}]
    return ParseStream(
        tok,
        turn,
        types,
        begun_answer(tok, turn, prompt),
        _call_ids(turn, prompt, call_ids),
        Stops(stops, _known_ids(tok, stop_ids)),
    )


def _call_ids(
    turn: Turn, prompt: object, call_ids: Iterable[str] | None
) -> Callable[[], Iterator[str]]:
    """The ids of calls that have none: those that are given; or `call_` and the number of the call
    in the conversation, as nine characters for templates of Mistral, which take no others."""
    if call_ids is not None:
        call_ids = checked_iterable("call_ids", call_ids, "an iterable of str")
        given = iter(call_ids)
        return lambda: _checked_texts(given)
    if turn.compiled.description is not None:
        return lambda: iter(())
    first = prompt.call_count if isinstance(prompt, Chat) else 0
    spelled = "call{:05}" if turn.compiled.format.name == "mistral" else "call_{}"
    return lambda: map(spelled.format, itertools.count(first))


def _known_ids(tok: BaseTokenizer, ids: object) -> list[int]:
    ids = checked_iterable("stop_ids", ids, "an iterable of ints")
    found = [checked_id("stop_ids", it) for it in ids]
    for id in found:
        try:
            tok.vocab.token_bytes(id)
        except UnknownTokenError as error:
            raise error.reworded(f"stop_ids: {error.message}") from None
    return found


def _checked_texts(ids: Iterator[Any]) -> Iterator[str]:
    for id in ids:
        if not isinstance(id, str):
            raise ArgumentTypeError(f"call_ids must hold str, not {type(id).__name__}")
        yield id


def _described(tok: BaseTokenizer, template: str) -> Turn | None:
    """The turn as the tokenizer's folder describes it, if the template is the folder's own."""
    own = tok.settings.chat_template
    if own is None or "response_template" not in tok.settings.config:
        return None
    is_own = template in ([own] if isinstance(own, str) else own.values())
    return _by_description(tok) if is_own else None


@once_per_tokenizer
def _by_description(tok: BaseTokenizer) -> Turn:
    """The turn that `tok.settings.config` describes."""
    description = description_of(tok.settings.config["response_template"])
    tokens = {it.content: it.id for it in added_tokens_of(tok) if it.id is not None}
    return Turn(compiled_description(description, tokens), compiled_description(description, {}))


def _turn(tok: BaseTokenizer, prompt: object, template: str, format: str | None) -> Turn:
    check_kind("format", format, (str, type(None)), "a str")
    if format is not None and format not in FORMATS:
        raise UnknownNameError(
            f"there is no format {format!r:.60} (there are {', '.join(FORMATS)})"
        )
    chat = prompt if isinstance(prompt, Chat) else None
    roles = {f"{role}_token": token for role, token in tok.roles.items()}
    isolates = None if chat is None else chat.isolates
    renderer = Renderer(current().isolate if isolates is None else isolates)
    if format is not None:
        known = _by_format(tok)
        if format not in known:
            tokens = {it.content: it.id for it in added_tokens_of(tok) if it.id is not None}
            ends = [it for role in ("eos", "eot") if (it := tok.roles.get(role))]
            ends += [it for it in generation_ends(tok) if it not in ends]
            known[format] = Turn(
                compiled(FORMATS[format], tokens, ends), compiled(FORMATS[format], {}, ends)
            )
        return known[format]
    with questions():
        variables = {**roles, **(chat.plain_variables if chat else {})}
        return turn_of(tok, renderer, template, tuple(variables.items()))


@once_per_tokenizer
def _by_format(tok: BaseTokenizer) -> dict[str, Turn]:
    """The turns that were asked for by the name of a format."""
    del tok
    return {}
