"""Finds out how a template writes answers: in which format, what begins one, and what ends it.

Small conversations are rendered, and the format is taken by which all that they print is read back.
Look here for why a template is refused.
"""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from jeton.chat.answers.arguments import parameters_of
from jeton.chat.answers.calls import Tools
from jeton.chat.answers.formats import END, FORMATS, PLAIN, Format
from jeton.chat.answers.inference import RenderedAnswer, inferred
from jeton.chat.answers.machine import Machine
from jeton.chat.answers.marks import Compiled, compiled
from jeton.chat.answers.readers import ADJOINING
from jeton.chat.templates.probes import Variables, required_text, text_of
from jeton.chat.templates.renderer import Renderer
from jeton.chat.templates.trust import REASONING
from jeton.encoding.once import added_tokens_of, once_per_tokenizer
from jeton.errors import JetonError, UnsupportedError
from jeton.samples.turns import ANSWER, ARGUMENTS, QUESTION, TOOL

if TYPE_CHECKING:
    from jeton.encoding.base_tokenizer import BaseTokenizer

__all__ = ["Turn", "generation_ends", "turn_of"]

_REASON: Final = "They ask about a place."
_RESULT: Final = "Nobody knows."
_ASK: Final[dict[str, Any]] = {"role": "user", "content": QUESTION}
_PARAMETERS: Final = parameters_of([TOOL])
_TOKEN: Final = re.compile(r"</?[^<>\s/][^<>\s]*>|\[/?[A-Z_]+\]")
"""What is spelled like a control token."""
_SHORTEST: Final = 3
"""Shorter marks occur in any text."""
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
            found = _in_parts(found)
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


@dataclass(frozen=True)
class _Probe:
    """A rendered conversation, and what the answer in it should be read as."""

    text: str
    content: str = ""
    reasoning: str = ""
    calls: tuple[tuple[str, dict[str, Any]], ...] = ()


@dataclass
class _Probes:
    """What a template writes in small conversations."""

    tokens: re.Pattern[str]
    """The control tokens of the tokenizer, and what is spelled like one."""
    question: str = ""
    prompt: str = ""
    answers: list[_Probe] = field(default_factory=list)
    behind: list[str] = field(default_factory=list)
    """What follows an answer."""
    reasoning_field: str = REASONING[0]
    arguments_as_text: bool = False
    content_as_parts: bool = False


def _in_parts(message: Mapping[str, Any]) -> dict[str, Any]:
    """A message with its words in a list of parts."""
    return {**message, "content": [{"type": "text", "text": message["content"]}]}


def _message(**more: object) -> dict[str, Any]:
    return {"role": "assistant", "content": "", **more}


def _calls(*names: str, as_text: bool) -> list[dict[str, Any]]:
    return [
        {
            "id": f"callprob{number}",
            "type": "function",
            "function": {"name": name, "arguments": json.dumps(it) if as_text else it},
        }
        for number, (name, it) in enumerate(zip(names, (ARGUMENTS, {"days": 2}), strict=False))
    ]


def _probed(
    renderer: Renderer, template: str, variables: Variables, tokens: Iterable[str]
) -> _Probes:
    """Renders the small conversations. `tokens`: the control tokens of the tokenizer."""
    with_tools = (*variables, ("tools", [TOOL]))
    in_parts = False

    def ask(*messages: Any, prompt: bool = False) -> str:
        listed = [_ASK, *messages]
        if in_parts:
            listed = [_in_parts(message) for message in listed]
        for tried in (with_tools, variables):
            more = (*tried, ("add_generation_prompt", prompt))
            if (text := text_of(renderer, template, listed, more)) is not None:
                return text
        return ""

    said = _message(content=ANSWER)
    if ANSWER not in ask(said):
        in_parts = True
        in_parts = ANSWER in ask(said)
    spelled = map(re.escape, sorted(tokens, key=len, reverse=True))
    pattern = re.compile("|".join((*spelled, _TOKEN.pattern)))
    found = _Probes(pattern, ask(), ask(prompt=True), content_as_parts=in_parts)
    found.answers.append(_Probe(ask(said), ANSWER))
    found.behind.append(_between(ask(said, _ASK), ANSWER, QUESTION))
    for name in (REASONING[0], "reasoning", "thought"):
        text = ask({**said, name: _REASON})
        if _REASON in text:
            found.reasoning_field = name
            found.answers.append(_Probe(text, ANSWER, _REASON))
            break
    printed = {}
    for as_text in (False, True):
        text = ask(_message(tool_calls=_calls("look_up", as_text=as_text)))
        if "look_up" in _answer(text) and "Vik" in _answer(text):
            printed[as_text] = text
    if not printed:
        return found
    # A template that takes text may print a dict as Python does, which no format reads.
    as_text = False not in printed or (True in printed and repr(ARGUMENTS) in printed[False])
    found.arguments_as_text = as_text
    text, calls = printed[as_text], _calls("look_up", as_text=as_text)
    one = (("look_up", ARGUMENTS),)
    both = (*one, ("look_up", {"days": 2}))
    found.answers.append(_Probe(text, calls=one))
    result = {"role": "tool", "name": "look_up", "tool_call_id": "callprob0", "content": _RESULT}
    found.behind.append(_between(ask(_message(tool_calls=calls), result), "fjord", _RESULT))
    two = _calls("look_up", "look_up", as_text=as_text)
    for message, reasoning in (
        (_message(tool_calls=two), ""),
        (_message(tool_calls=two, content=ANSWER), ""),
        (_message(tool_calls=calls, **{found.reasoning_field: _REASON}), _REASON),
    ):
        text = ask(message)
        answer = _answer(text)
        if "look_up" not in answer:
            continue
        is_both = answer.count("look_up") > 1 and message["tool_calls"] is two
        said_too = message["content"] if message["content"] in answer else ""
        found.answers.append(
            _Probe(
                text, said_too, reasoning if reasoning in answer else "", both if is_both else one
            )
        )
    return found


def _between(text: str, before: str, behind: str) -> str:
    """The text between the last `behind` and the last `before` in front of it."""
    head, _, _ = text.rpartition(behind)
    return head.rpartition(before)[2] if before in head else ""


def _answer(text: str) -> str:
    return text.rpartition(QUESTION)[2]


def _shared(text: str, other: str, tokens: re.Pattern[str]) -> str:
    """The beginning that two texts share, without a token in which they part."""
    at = next(
        (at for at, (a, b) in enumerate(zip(text, other, strict=False)) if a != b),
        min(len(text), len(other)),
    )
    # The brackets of whole tokens need not be in pairs, as in `[e~[`.
    rest = tokens.sub(lambda it: " " * len(it[0]), text[:at])
    for opening, closing in ("<>", "[]"):
        start = rest.rfind(opening, 0, at)
        if start > rest.rfind(closing, 0, at) and "\n" not in rest[start:at]:
            at = start
    return text[:at]


def _before_marks(text: str, format: Format) -> str:
    """The text in front of the first mark that an answer may begin with."""
    for mark in format.states["start"].marks:
        text = text.partition(mark.strip())[0] if mark.strip() else text
    return text


def _anchored(probes: _Probes, format: Format) -> tuple[str, str]:
    """What begins an answer, and the white space in front of its words."""
    head = _answer(probes.answers[0].text).partition(ANSWER)[0]
    prompt, question = _answer(probes.prompt), _answer(probes.question)
    common = _shared(head, prompt, probes.tokens)
    anchor = common[len(_shared(common, question, probes.tokens)) :]
    if prompt == question:
        # The template writes no generation prompt, or always writes one.
        anchor = _before_marks(head[len(common) :], format)
    anchor = anchor if anchor.strip() else common
    if not anchor.strip() and prompt.strip():
        word = prompt.split()[-1]
        anchor = word if word in head else ""
    anchor = _before_marks(anchor, format)
    anchor = anchor.lstrip() or anchor
    rest = head[head.rfind(anchor) + len(anchor) :] if anchor else ""
    is_lead = not rest.strip() and format.states["start"].takes != "head"
    return anchor, rest if is_lead else ""


def _ends(probes: _Probes, marks: Iterable[str]) -> dict[str, None]:
    """What ends an answer: the first token behind it that is in no mark of the format."""
    known = list(marks)
    of_marks = "\n".join(known)
    cores = [it for it in known if len(it) >= _SHORTEST]
    texts = []
    for probe in probes.answers:
        answer = _answer(probe.text)
        texts.append(answer[answer.rfind("look_up" if probe.calls else probe.content) :])
    found: dict[str, None] = {}
    for text in [*texts, *probes.behind]:
        at = max((text.rfind(it) + len(it) for it in cores if it in text), default=0)
        for match in probes.tokens.finditer(text, at):
            if match[0] not in of_marks:
                head = text[: match.start()]
                found[head[len(head.rstrip()) :] + match[0]] = None
                break
        else:
            words = text[max(at, len(ANSWER)) :].split() if text is texts[0] else []
            if len(words) == 1 and words[0] not in of_marks:
                # It does not look like a token, but ends the words all the same.
                return {words[0]: None}
    return found


def _gives_back(compiled: Compiled, probe: _Probe, anchor: str, lead: str, probes: _Probes) -> bool:
    """Whether an answer is read as what it was rendered from.

    Some templates write the mark that opens reasoning in the prompt, but not in earlier turns.
    """
    answer = _answer(probe.text)
    _, found, body = answer.partition(anchor) if anchor else ("", "", answer)
    if anchor and anchor in body:
        return True  # the message became several turns, which cannot be put together
    if anchor and not found:
        # The template begins calls in another way than its prompt.
        shared = _shared(answer, _answer(probes.prompt), probes.tokens)
        body = answer[len(shared) :].lstrip()
    body = body.removeprefix(lead)
    if _is_read_as(compiled, probe, body):
        return True
    _, found, opened = probes.prompt.rpartition(anchor) if anchor else ("", "", "")
    return bool(found and probe.reasoning) and _is_read_as(compiled, probe, opened + body)


def _is_read_as(compiled: Compiled, probe: _Probe, body: str) -> bool:
    machine = _AdjoiningCalls(compiled, _PARAMETERS)
    machine.feed(body)
    machine.finish()
    calls = tuple((call.name, call.arguments) for call in machine.calls)
    # Some templates write the words beside a call where others write reasoning.
    said = sorted("".join(it).strip() for it in (machine.content, machine.reasoning))
    expected = sorted((probe.content, probe.reasoning))
    called = _without_null(probe.calls) if compiled.format.nests else probe.calls
    return said == expected and calls == called and not machine.problems


def _without_null(value: Any) -> Any:
    """Calls as a template writes them that writes nothing for `None`."""
    if isinstance(value, dict):
        return {key: _without_null(it) for key, it in value.items() if it is not None}
    if isinstance(value, (list, tuple)):
        return type(value)("" if it is None else _without_null(it) for it in value)
    return value


_CACHED: Final = 64


@once_per_tokenizer
def _turns(tok: BaseTokenizer) -> dict[tuple[str, Variables], Turn]:
    """The turns that are known, by template and variables."""
    del tok
    return {}


def turn_of(
    tok: BaseTokenizer,
    tokens: Mapping[str, int],
    renderer: Renderer,
    template: str,
    variables: Variables,
) -> Turn:
    """How a model writes its turn, by a template; kept per tokenizer.

    Args:
        tok: The tokenizer.
        tokens: Its control tokens.
        renderer: What runs the template.
        template: The text of the template.
        variables: What the template reads beside messages and tools.

    Raises:
        UnsupportedError: No format reads the answers of the template back.
    """
    known = _turns(tok)
    if (template, variables) in known:
        return known[template, variables]
    probes = _probed(renderer, template, variables, tokens)
    if ANSWER not in probes.answers[0].text:
        reason = "it does not print what an assistant says"
        try:
            required_text(renderer, template, [_ASK, _message(content=ANSWER)], variables)
        except JetonError as error:
            reason = str(error)
        raise UnsupportedError(
            f"the answers of this chat template cannot be parsed: {reason} (give prompt= the chat "
            "with the variables that the template needs, or format=)"
        )
    written = "\n".join((template, probes.prompt, *(it.text for it in probes.answers)))
    found, unread = _format_of(probes, written, tokens)
    if unread:
        silent = [it for it in probes.answers if not it.calls]
        probes = dataclasses.replace(probes, answers=silent, behind=probes.behind[:1])
    anchor, lead = _anchored(probes, found)
    format = _as_spaced(found, probes, anchor)
    ends = _all_ends(tok, probes, format)
    if len(known) >= _CACHED:
        known.clear()
    turn = known[template, variables] = Turn(
        compiled(format, tokens, ends, written),
        compiled(format, {}, ends, written + "\n".join(tokens)),
        anchor,
        lead,
        probes.reasoning_field,
        probes.arguments_as_text,
        probes.content_as_parts,
        any(re.search(r'\}\{\s*"', _answer(it.text)) for it in probes.answers),
        _has_ends(probes),
        unread,
    )
    return turn


def _has_ends(probes: _Probes) -> bool:
    """Whether a template ends turns: it writes something behind a question, or more between an
    answer and a question than in front of the first question."""
    opening, _, behind = probes.question.rpartition(QUESTION)
    between = probes.behind[0]
    return not between or bool(behind.strip()) or not opening.endswith(between)


def _as_spaced(format: Format, probes: _Probes, anchor: str) -> Format:
    """The format, with as much white space around its marks as the template writes there, also
    in front of those that begin an answer."""
    seen = "\n".join(map(_answer, (probes.prompt, *(it.text for it in probes.answers))))
    words = {"content": ANSWER, "reasoning": _REASON}

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


def _all_ends(tok: BaseTokenizer, probes: _Probes, format: Format) -> list[str]:
    marks = _marks(format)
    found = _ends(probes, marks)
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


def _format_of(probes: _Probes, written: str, known: Mapping[str, int]) -> tuple[Format, str]:
    """Of the formats that read back all that was printed, the one with the most marks in use.

    Without calls, if no format reads these: then with the reason.
    """

    def reads(answers: list[_Probe]) -> Format | None:
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
            score = sum(len(it) >= _SHORTEST and (it in written or it in known) for it in marks)
            if score <= most:
                continue
            anchor, lead = _anchored(probes, format)
            tried = compiled(format, {}, _ends(probes, marks), written, recovers=False)
            if all(_gives_back(tried, it, anchor, lead, probes) for it in answers):
                best, most = format, score
        if best is None or any(it.reasoning or it.calls for it in answers):
            return best
        return PLAIN if is_unclear(best) else best

    def is_unclear(best: Format) -> bool:
        """Whether the template writes no mark of it, and the tokens are those of others as well."""
        mine = {it for it in _marks(best) if len(it) >= _SHORTEST}
        tokens = {it for it in known if it not in written}
        others = (_marks(it) & tokens for it in FORMATS.values())
        return not any(it in written for it in mine) and any(it - mine for it in others)

    # Some templates write words and a call without any mark between them.
    apart = [it for it in probes.answers if not (it.content and it.calls)]
    if found := reads(probes.answers) or _inferred(probes) or reads(apart):
        return found, ""
    reason = _reason(probes)
    silent = [it for it in probes.answers if not it.calls]
    words = dataclasses.replace(probes, answers=silent)
    found = reads(silent) or _inferred(words) if len(silent) < len(probes.answers) else None
    if found is None:
        raise UnsupportedError(reason)
    said = "\n".join(it.text for it in silent)
    marks = [
        mark
        for it in probes.answers
        for mark in probes.tokens.findall(_answer(it.text))
        if mark not in said
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


def _reason(probes: _Probes) -> str:
    """Why no format reads the answers."""
    called = next((it for it in probes.answers if it.calls), None)
    text = _answer((called or probes.answers[0]).text).strip()
    what = "calls of tools" if called else "answers"
    why = f"it writes {text[:_SHOWN]!r}{'…' * (len(text) > _SHOWN)}"
    if tag := next((it for it in ARGUMENTS if called and f"</{it}>" in text), None):
        why = f"each argument is between tags with its name, as <{tag}>, and may hold more of them"
    return (
        f"jeton cannot tell in which format this chat template writes {what}: {why} "
        f"(give format= one of {', '.join(FORMATS)})"
    )


def _inferred(probes: _Probes) -> Format | None:
    """The format inferred from what the template writes, if it reads all of that back."""
    anchor, _ = _anchored(probes, PLAIN)
    reasoned = next((_answer(it.text) for it in probes.answers if it.reasoning), "")
    head = reasoned.partition(_REASON)[0] if _REASON in reasoned else "?"
    if anchor and head.rstrip().endswith(anchor.rstrip()):
        # What opens reasoning is in each answer, so it seems to belong to what begins them.
        anchor = (
            anchor[: max((it.start() for it in probes.tokens.finditer(anchor)), default=0)]
            or anchor
        )
    ends = [end.strip() for end in _ends(probes, ())]
    plain = _answer(probes.answers[0].text).rpartition(ANSWER)[2]
    answers = []
    for probe in probes.answers:
        body = _answer(probe.text)
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
    anchor, lead = _anchored(probes, format)
    tried = compiled(format, {}, _ends(probes, marks), recovers=False)
    is_right = all(_gives_back(tried, it, anchor, lead, probes) for it in probes.answers)
    return format if is_right else None
