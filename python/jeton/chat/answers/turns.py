"""Finds out in which format a template writes answers, for parsing.

The format is taken by which all is read back that the template prints of small conversations
(`jeton.chat.templates.turn_shape`). Look here for why a template is refused.
"""

from __future__ import annotations

import dataclasses
import json
import re
import weakref
from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from jeton.chat.answers.argument_types import parameters_of
from jeton.chat.answers.call_readers import ADJOINING
from jeton.chat.answers.calls import Tools
from jeton.chat.answers.formats import END, FORMATS, PLAIN, Format
from jeton.chat.answers.inference import inferred
from jeton.chat.answers.machine import Machine
from jeton.chat.answers.marks import Compiled, compiled
from jeton.chat.templates.renderer import Renderer
from jeton.chat.templates.trust import REASONING
from jeton.chat.templates.turn_shape import (
    MIN_MARK,
    REASON,
    RenderedAnswer,
    TurnShape,
    Variables,
    as_parts,
    behind_question,
    turn_shape,
)
from jeton.encoding.base_tokenizer.once import once_per_tokenizer
from jeton.encoding.once import added_tokens_of
from jeton.errors import UnsupportedError
from jeton.samples.turns import ANSWER, ARGUMENTS, TOOL

if TYPE_CHECKING:
    from jeton.encoding.base_tokenizer import BaseTokenizer

_PARAMETERS: Final = parameters_of([TOOL])
_SHOWN: Final = 120
"""How many characters an error shows of what a template writes."""


class _AdjoiningCalls(Machine):
    """A machine to which calls without anything between them are no problem."""

    def problem(self, what: str, place: int) -> None:
        if what != ADJOINING:
            super().problem(what, place)


@dataclass(frozen=True)
class Turn:
    """How a model writes its turn, by a template.

    Attributes:
        compiled: The format, for the tokens of the tokenizer.
        compiled_for_text: The same for text whose tokens are not known.
        anchor: What the template writes to begin an answer.
        lead: White space that it writes in front of the words.
        reasoning_field: The field of a message that has the reasoning.
        arguments_as_text: Whether the template takes arguments as JSON in a `str`.
        content_as_parts: Whether the template prints words only if they are in a list of parts.
        calls_adjoin: Whether the template writes calls without anything between them.
        has_ends: Whether it ends turns.
        unread: Why its calls cannot be read, if they cannot.
    """

    compiled: Compiled
    compiled_for_text: Compiled
    anchor: str = ""
    lead: str = ""
    reasoning_field: str = REASONING[0]
    arguments_as_text: bool = False
    content_as_parts: bool = False
    calls_adjoin: bool = False
    has_ends: bool = True
    unread: str = ""

    def machine(self, compiled: Compiled, tools: Tools | None, ids: Iterator[str]) -> Machine:
        """A machine that reads an answer."""
        return (_AdjoiningCalls if self.calls_adjoin else Machine)(compiled, tools, ids)

    def message_of(self, machine: Any) -> dict[str, Any]:
        """The message as the template takes it, or as a description has it."""
        if self.compiled.description is not None:
            described: dict[str, Any] = machine.message
            return described
        content, reasoning = "".join(machine.content), "".join(machine.reasoning)
        found: dict[str, Any] = {"role": "assistant", "content": content}
        if self.content_as_parts:
            found = as_parts(found)
        if reasoning:
            found[self.reasoning_field] = reasoning
        listed = []
        for call in machine.calls:
            arguments = call.arguments
            if self.arguments_as_text and not isinstance(arguments, str):
                arguments = json.dumps(arguments, ensure_ascii=False)
            function = {"name": call.name, "arguments": arguments}
            id = {} if call.id is None else {"id": call.id}
            listed.append({**id, "type": "function", "function": function})
        if listed:
            found["tool_calls"] = listed
        return found


def _gives_back(
    compiled: Compiled, answer: RenderedAnswer, anchor: str, lead: str, shape: TurnShape
) -> bool:
    """Whether an answer is read as what it was rendered from.

    Some templates write the mark that opens reasoning in the prompt, but not in earlier turns.
    """
    text = answer.text
    _, found, body = text.partition(anchor) if anchor else ("", "", text)
    if anchor and anchor in body:
        return True  # the message became several turns, which cannot be put together
    if anchor and not found:
        # The template begins calls in another way than its prompt.
        body = text[len(shape.shared(text, behind_question(shape.prompted))) :].lstrip()
    body = body.removeprefix(lead)
    if _is_read_as(compiled, answer, body):
        return True
    _, found, opened = shape.prompted.rpartition(anchor) if anchor else ("", "", "")
    return bool(found and answer.reasoning) and _is_read_as(compiled, answer, opened + body)


def _is_read_as(compiled: Compiled, answer: RenderedAnswer, body: str) -> bool:
    machine = _AdjoiningCalls(compiled, _PARAMETERS)
    machine.feed(body)
    machine.finish()
    calls = tuple((call.name, call.arguments) for call in machine.calls)
    # Some templates write the words beside a call where others write reasoning.
    said = sorted("".join(it).strip() for it in (machine.content, machine.reasoning))
    expected = sorted((answer.content, answer.reasoning))
    called = _without_null(answer.calls) if compiled.format.nests else answer.calls
    return said == expected and calls == called and not machine.problems


def _without_null(value: Any) -> Any:
    """Calls as a template writes them that writes nothing for `None`."""
    if isinstance(value, dict):
        return {key: _without_null(it) for key, it in value.items() if it is not None}
    if isinstance(value, (list, tuple)):
        return type(value)("" if it is None else _without_null(it) for it in value)
    return value


def _anchored(shape: TurnShape, format: Format) -> tuple[str, str]:
    """What begins an answer, and the white space in front of its words."""
    start = format.states["start"]
    anchor, rest = shape.anchor(start.marks)
    return anchor, "" if rest.strip() or start.takes == "head" else rest


@once_per_tokenizer
def _turns(tok: BaseTokenizer) -> MutableMapping[TurnShape, Turn]:
    """The turns that are known, by the shape of the template's."""
    del tok
    return weakref.WeakKeyDictionary()


def turn_of(tok: BaseTokenizer, renderer: Renderer, template: str, variables: Variables) -> Turn:
    """How a model writes its turn, by a template; kept per tokenizer.

    Args:
        renderer: What runs the template.
        template: The text of the template.
        variables: What the template reads beside messages and tools.
    """
    shape, known = turn_shape(tok, renderer, template, variables), _turns(tok)
    if shape in known:
        return known[shape]
    if reason := shape.refusal:
        raise UnsupportedError(
            f"the answers of this chat template cannot be parsed: {reason} (give prompt= the chat "
            "with the variables that the template needs, or format=)"
        )
    tokens = {it.content: it.id for it in added_tokens_of(tok) if it.id is not None}
    written = "\n".join((template, shape.prompted, *(it.text for it in shape.answers)))
    found, unread = _format_of(shape, written, tokens)
    key, shape = shape, shape.without_calls() if unread else shape
    anchor, lead = _anchored(shape, found)
    format = _as_spaced(found, shape, anchor)
    ends = _all_ends(tok, shape, format)
    turn = known[key] = Turn(
        compiled(format, tokens, ends, written),
        compiled(format, {}, ends, written + "\n".join(tokens)),
        anchor,
        lead,
        shape.reasoning_field,
        shape.arguments_as_text,
        shape.content_as_parts,
        any(re.search(r'\}\{\s*"', it.text) for it in shape.answers),
        shape.has_ends,
        unread,
    )
    return turn


def _as_spaced(format: Format, shape: TurnShape, anchor: str) -> Format:
    """The format, with as much white space around its marks as the template writes there, also
    in front of those that begin an answer."""
    seen = "\n".join((behind_question(shape.prompted), *(it.text for it in shape.answers)))
    words = {"content": ANSWER, "reasoning": REASON}

    def longest(pattern: str, otherwise: str) -> str:
        return max(re.findall(pattern, seen), key=len, default=otherwise)

    states = {}
    for name, state in format.states.items():
        marks = {}
        for mark, target in state.marks.items():
            if core := mark.strip():
                before, _, after = mark.partition(core)
                if said := words.get(state.takes):
                    heads = [said, *([anchor] if name == "start" and anchor else [])]
                    head = "|".join(map(re.escape, heads))
                    before = longest(f"(?:{head})(\\s*){re.escape(core)}", before)
                if said := words.get(
                    format.states[target].takes if target in format.states else ""
                ):
                    after = longest(f"{re.escape(core)}(\\s*){re.escape(said)}", after)
                mark = f"{before}{core}{after}"
            marks[mark] = target
        states[name] = dataclasses.replace(state, marks=marks)
    return dataclasses.replace(format, states=states)


def _marks(format: Format) -> set[str]:
    """All that a format writes between the parts of an answer, but for what ends it."""
    found = {it for state in format.states.values() for it, to in state.marks.items() if to != END}
    return {it.strip() for it in found} | {format.quote}


def _all_ends(tok: BaseTokenizer, shape: TurnShape, format: Format) -> list[str]:
    marks = _marks(format)
    found = shape.ends(marks)
    eos = tok.roles.get("eos")
    if eos is not None and eos not in marks:
        found.setdefault(eos)
    for end in generation_ends(tok):
        if end not in marks:
            found.setdefault(end)
    return list(found)


def generation_ends(tok: BaseTokenizer) -> list[str]:
    """The tokens that end an answer by the `generation_config.json` of the tokenizer's folder."""
    settings = tok._settings
    ids = () if settings.stages_changed else settings.generation_ends
    tokens = {it.id: it.content for it in added_tokens_of(tok)}
    return [tokens[id] for id in ids if id in tokens]


def _format_of(shape: TurnShape, written: str, known: Mapping[str, int]) -> tuple[Format, str]:
    """Of the formats that read back all that was printed, the one with the most marks in use.

    Without calls, if no format reads these: then with the reason.
    """

    def reads(answers: list[RenderedAnswer]) -> Format | None:
        best: Format | None = None
        most = -1
        for format in (PLAIN, *FORMATS.values()):
            start = format.states["start"]
            is_bare = not any(it.strip() for it in start.marks) and any(
                re.fullmatch(route, "") for route, _ in start.routes
            )
            if is_bare and not any(it.reasoning or it.calls for it in answers):
                continue  # words in it look like words in any other
            marks = _marks(format)
            score = sum(len(it) >= MIN_MARK and (it in written or it in known) for it in marks)
            if score <= most:
                continue
            anchor, lead = _anchored(shape, format)
            tried = compiled(format, {}, shape.ends(marks), written, recovers=False)
            if all(_gives_back(tried, it, anchor, lead, shape) for it in answers):
                best, most = format, score
        if best is None or any(it.reasoning or it.calls for it in answers):
            return best
        return PLAIN if is_unclear(best) else best

    def is_unclear(best: Format) -> bool:
        """Whether the template writes no mark of it, and the tokens are those of others as well."""
        mine = {it for it in _marks(best) if len(it) >= MIN_MARK}
        tokens = {it for it in known if it not in written}
        others = (_marks(it) & tokens for it in FORMATS.values())
        return not any(it in written for it in mine) and any(it - mine for it in others)

    # Some templates write words and a call without any mark between them.
    apart = [it for it in shape.answers if not (it.content and it.calls)]
    if found := reads(shape.answers) or _inferred(shape) or reads(apart):
        return found, ""
    reason = _reason(shape)
    silent = [it for it in shape.answers if not it.calls]
    found = (
        reads(silent) or _inferred(shape.without_calls())
        if len(silent) < len(shape.answers)
        else None
    )
    if found is None:
        raise UnsupportedError(reason)
    said = "\n".join(it.text for it in silent)
    marks = [
        mark for it in shape.answers for mark in shape.tokens.findall(it.text) if mark not in said
    ]
    return _without_calls(found, marks), reason


def _without_calls(format: Format, unread: Iterable[str]) -> Format:
    """The words and the reasoning of a format. `unread`: what calls are written with."""
    states = format.states
    if states["start"].takes == "content":
        kept = {name for name, it in states.items() if it.takes in ("content", "reasoning")}
        states = {
            name: dataclasses.replace(
                it, marks={mark: to for mark, to in it.marks.items() if to in kept}
            )
            for name, it in states.items()
            if name in kept
        }
    return dataclasses.replace(format, states=states, unread=tuple(dict.fromkeys(unread)))


def _reason(shape: TurnShape) -> str:
    """Why no format reads the answers."""
    called = next((it for it in shape.answers if it.calls), None)
    text = (called or shape.answers[0]).text.strip()
    what = "calls of tools" if called else "answers"
    why = f"it writes {text[:_SHOWN]!r}{'…' * (len(text) > _SHOWN)}"
    if tag := next((it for it in ARGUMENTS if called and f"</{it}>" in text), None):
        why = f"each argument is between tags with its name, as <{tag}>, and may hold more of them"
    return (
        f"jeton cannot tell in which format this chat template writes {what}: {why} "
        f"(give format= one of {', '.join(FORMATS)})"
    )


def _inferred(shape: TurnShape) -> Format | None:
    """The format inferred from what the template writes, if it reads all of that back."""
    anchor, _ = _anchored(shape, PLAIN)
    reasoned = next((it.text for it in shape.answers if it.reasoning), "")
    head = reasoned.partition(REASON)[0] if REASON in reasoned else "?"
    if anchor and head.rstrip().endswith(anchor.rstrip()):
        # What opens reasoning is in each answer, so it seems to belong to what begins them.
        anchor = (
            anchor[: max((it.start() for it in shape.tokens.finditer(anchor)), default=0)] or anchor
        )
    ends = [end.strip() for end in shape.ends(())]
    plain = shape.answers[0].text.rpartition(ANSWER)[2]
    answers = []
    for probe in shape.answers:
        body = probe.text
        body = body.partition(anchor)[2] if anchor else body
        for end in (it for it in ends if it in plain or probe.calls):
            at = body.rfind(end)
            behind = body.rfind("look_up") if probe.calls else body.rfind(ANSWER)
            if at > behind and not body[at + len(end) :].strip():
                body = body[:at]
        answers.append(RenderedAnswer(body, probe.content, probe.reasoning, probe.calls))
    format = inferred(answers)
    if format is None:
        return None
    marks = _marks(format)
    anchor, lead = _anchored(shape, format)
    tried = compiled(format, {}, shape.ends(marks), recovers=False)
    is_right = all(_gives_back(tried, it, anchor, lead, shape) for it in shape.answers)
    return format if is_right else None
