"""Which added tokens are control tokens of a chat, and which of them an answer may hold itself.

Special tokens are. So are those that are not marked special but that the template writes, as
`<tool_call>` and `<think>` of Qwen 3, that have a role, as the end of a text, or that the
configuration names.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from jeton.arguments import checked_iterable
from jeton.chat.encoding import ControlTokens, guarding, known_tokens
from jeton.chat.templates.origins import UNKNOWN
from jeton.chat.templates.parts import raw, runs_of
from jeton.chat.templates.renderer import Renderer
from jeton.chat.templates.source import GAP, TemplateText
from jeton.chat.templates.turn_shape import turn_shape
from jeton.encoding.once import added_tokens_of
from jeton.errors import ArgumentError, ArgumentTypeError, FormatError
from jeton.loading.settings import CONFIG

if TYPE_CHECKING:
    from jeton.encoding.base_tokenizer import BaseTokenizer

_CACHED: Final = 64
_WORD: Final = re.compile(r"[\w\s]*")
"""An added token of letters and white space is a word: a template that writes it means the word."""
_PLACEHOLDER: Final = re.compile(r"\{\w*\}|%(\(\w+\))?[sdr]")
_SPACE: Final = re.compile(r"\s")
_LONGEST: Final = 64
"""Characters of a literal beside a value that may belong to a token around it."""


def control_tokens_of(
    tok: BaseTokenizer, template: str, control: Iterable[str], renderer: Renderer, text: str
) -> ControlTokens:
    """The control tokens of a chat through a template.

    Args:
        template: The text of a template that compiles.
        control: Added tokens that the caller wants to be control tokens wherever they are.
        renderer: What reads and runs the template.
        text: The text that it wrote. It may hold tokens that are not literally in the template.

    Raises:
        ArgumentTypeError: `control` is not an iterable of tokens.
        ArgumentError: One of `control` is not an added token.
        FormatError: The configuration names control tokens, but not as a list.
    """
    names = _checked(tok, control)
    found = _cached_control_tokens(tok, template, names, frozenset(), renderer)
    more = _tokens_in(text, found.others)
    return _cached_control_tokens(tok, template, names, more, renderer) if more else found


def _cached_control_tokens(
    tok: BaseTokenizer,
    template: str,
    of_call: frozenset[str],
    of_template: frozenset[str],
    renderer: Renderer,
) -> ControlTokens:
    cache = known_tokens(tok)
    key = template, of_call, of_template
    if key not in cache.control:
        if len(cache.control) >= _CACHED:
            cache.control.clear()
            cache.guarded.clear()
        cache.control[key] = _control_tokens(tok, template, of_call, of_template, renderer)
    return cache.control[key]


def _tokens_in(text: str, tokens: re.Pattern[str] | None) -> frozenset[str]:
    """The tokens that a template wrote in a text, perhaps with a role inside."""
    if tokens is None:
        return frozenset()
    string, at, begin = raw(text), 0, 0
    stretches: set[str] = set()  # turns are framed alike, so there are few
    for length, origin in (*runs_of(text), (0, UNKNOWN)):
        if origin.kind != "template" and not (origin.trusted and origin.field == "role"):
            stretches.add(string[begin:at])
            begin = at + length
        at += length
    return frozenset(match[0] for it in stretches for match in tokens.finditer(it))


def _checked(tok: BaseTokenizer, control: Iterable[str]) -> frozenset[str]:
    control = checked_iterable("control", control, 'an iterable of tokens, as ("<think>",)')
    names = list(control)
    for name in names:
        if not isinstance(name, str):
            raise ArgumentTypeError(f"control must hold tokens as str, not {type(name).__name__}")
    added = {token.content for token in added_tokens_of(tok)} if names else set()
    for name in names:
        if name not in added:
            raise ArgumentError(f"control: {name!r} is not an added token of this tokenizer")
    return frozenset(names)


def _control_tokens(
    tok: BaseTokenizer,
    template: str,
    of_call: frozenset[str],
    of_template: frozenset[str],
    renderer: Renderer,
) -> ControlTokens:
    plain = {token.content: token.id for token in added_tokens_of(tok) if not token.special}
    marks = {token for token in plain if not _WORD.fullmatch(token)}
    if marks:
        of_template |= _literal_tokens(renderer.source(template), marks)
    of_roles = marks & {*tok.roles.values()}
    tags = {*of_template, *of_roles, *(_tokens_of_config(tok) & {*plain})} - of_call
    variables = tuple((f"{role}_token", token) for role, token in tok.roles.items())
    of_turns = set(of_roles)
    if tags:
        of_turns |= _of_turns(*turn_shape(tok, renderer, template, variables).frames, tags)
    others = "|".join(map(re.escape, sorted(marks - tags - of_call, key=len, reverse=True)))
    return ControlTokens(
        guarding(tok, of_call | tags),
        guarding(tok, of_call),
        frozenset(id for it in tags - of_turns if (id := plain[it]) is not None),
        re.compile(others) if others else None,
    )


def _tokens_of_config(tok: BaseTokenizer) -> set[str]:
    configured = tok.settings.config.get("chat_control_tokens") or []
    if not isinstance(configured, list) or not all(isinstance(it, str) for it in configured):
        raise FormatError(
            f"{CONFIG}: chat_control_tokens must be a list of tokens, not {configured!r:.60}"
        )
    return {*configured}


def _literal_tokens(source: TemplateText, tokens: Iterable[str]) -> set[str]:
    """The tokens that a template writes literally, or around a value, as `<|user|>`."""
    literals = source.literals
    text = "\1".join(literals)
    around = {
        (_SPACE.split(before[-_LONGEST:])[-1], _SPACE.split(after[:_LONGEST])[0])
        for literal in literals
        for before, after in itertools.pairwise(_PLACEHOLDER.sub(GAP, literal).split(GAP))
    }
    return {
        token
        for token in tokens
        if token in text
        or any(
            _begins_and_ends(token, before, after)
            for before, after in around
            if token[0] in before and token[-1] in after
        )
    }


def _begins_and_ends(token: str, before: str, after: str) -> bool:
    """Whether a token may be the end of one text, something, and the beginning of another text."""
    lengths = range(1, len(token))
    begins = next((at for at in reversed(lengths) if before.endswith(token[:at])), 0)
    ends = next((at for at in lengths if after.startswith(token[at:])), len(token))
    return 0 < begins <= ends < len(token)


def _of_turns(turns: str, call: str, result: str, tokens: set[str]) -> set[str]:
    """The tokens with which a template begins and ends turns, which no answer holds.

    Tokens in pairs, as `<think>` and `</think>`, are not among them, unless they are around the
    result of a tool alone: a template may write them for the model, or tell it to write them.

    Args:
        turns: What the template writes around a question and in front of an answer.
        call: What it writes of a call.
        result: The same with the result of the call.
        tokens: The tokens to choose from.
    """
    others = {
        it: it.replace("</", "<", 1) if "</" in it else it.replace("<", "</", 1) for it in tokens
    }
    pairs = {it for it in tokens if others[it] != it and others[it] in tokens}
    return {
        token
        for token in tokens
        if (token not in pairs and token in turns)
        or (token in result and token not in turns and token not in call)
    }
