"""Infers a format from what a template writes, for templates that have none of the known ones.

Reasoning is assumed to be between two marks. So are all calls and each of them, as JSON, in Python,
as a name and JSON, or as a name with marks around each key and value. The text between the known
parts of rendered answers gives the marks. The caller tries whether they are right.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from jeton.chat.answers.formats import Format, State, Takes
from jeton.chat.answers.machine import Machine
from jeton.chat.answers.marks import compiled
from jeton.chat.templates.turn_shape import RenderedAnswer

_SPACE: Final = " \t\r\n"
_SEPARATORS: Final = ("", ",", ";")


@dataclass(frozen=True)
class _Written:
    """A call in a text: where it begins and ends, and the states that read it."""

    start: int
    end: int
    takes: Takes
    states: Mapping[str, State]


def inferred(answers: Sequence[RenderedAnswer]) -> Format | None:
    """The format of some answers, each without its beginning and end; `None` if they do not show
    it."""
    words = dict[str, str]()
    states = dict[str, State]()
    thought = next((it for it in answers if it.reasoning and it.content and not it.calls), None)
    if thought is not None:
        opening, _, rest = thought.text.partition(thought.reasoning)
        closing, found, _ = rest.partition(thought.content)
        if not found or not opening.strip() or not closing.strip():
            return None
        words[opening] = "reasoning"
        states["reasoning"] = State("reasoning", {closing: "start"})
    one = next((it for it in answers if len(it.calls) == 1 and not it.reasoning), None)
    if one is None:
        return _format(words, states) if states else None
    two = next((it for it in answers if len(it.calls) == 2 and not it.content), None)
    written = _call(one.text, *one.calls[0])
    if written is None:
        return None
    said = next((it for it in answers if it.content and not it.calls and not it.reasoning), one)
    # Text in front of all words, such as empty reasoning, is no part of what opens calls.
    head = said.text.partition(said.content)[0].rstrip() if said.content else ""
    opening, rest = one.text[: written.start], one.text[written.end :]
    opening = opening.removeprefix(head)
    begin, end, close = "", rest, ""
    second = _call(two.text[written.end :], *two.calls[1]) if two else None
    if two is not None and second is not None:
        between = two.text[written.end : written.end + second.start]
        if between.strip() not in _SEPARATORS:
            call = _shared_end(opening, between)
            begin, opening = call, opening[: len(opening) - len(call)]
            close = between[: len(between) - len(call)]
            end = rest[len(close.rstrip(_SPACE)) :] if rest.startswith(close.rstrip()) else rest
    return _around_calls(words, states, written, opening, begin, close, end)


def _around_calls(
    words: dict[str, str],
    states: dict[str, State],
    written: _Written,
    opening: str,
    begin: str,
    close: str,
    end: str,
) -> Format | None:
    """The format with calls, by the marks that open them all, open each, close each, close all."""
    if opening.strip() and begin.strip():
        words[opening] = "calls"
        ending = {end: "after"} if end.strip() else {}
        states["calls"] = State("space", {begin: "call", **ending})
        behind = {close: "calls"} if close.strip() else ending
    else:
        mark = opening if opening.strip() else begin
        if not mark.strip():
            return None
        words[mark] = "call"
        closing = close if close.strip() else end
        behind = {closing: "after"} if closing.strip() else {}
    first = written.states
    if not first:
        states["call"] = State(written.takes, behind)
        return _format(words, states)
    for name, state in first.items():
        ends = state.takes in ("name", "json", "inside")
        states[name] = State(state.takes, {**state.marks, **(behind if ends else {})})
    return _format(words, states)


def _format(words: dict[str, str], states: dict[str, State]) -> Format:
    start = dict(words)
    reasoning = states.get("reasoning")
    if reasoning is not None:
        closing = next(iter(reasoning.marks))
        start[closing.lstrip(_SPACE)] = "start"
    after = State("content", words, trimmed=True)
    return Format("found", {"start": State("content", start), "after": after, **states})


def _call(text: str, name: str, arguments: Mapping[str, Any]) -> _Written | None:
    """The first call in a text."""
    decoder = json.JSONDecoder()
    for at in (match.start() for match in re.finditer(r"[\[{]", text)):
        try:
            value, end = decoder.raw_decode(text, at)
        except ValueError:
            continue
        if value == arguments and name in text[:at]:
            start = text.rindex(name, 0, at)
            between = text[start + len(name) : at]
            if not between.strip():
                between += text[at]
            states = {"call": State("name", {between: "arguments"}), "arguments": State("json")}
            return _Written(start, end, "name", states)
        if name in text[at:end] and isinstance(value, (dict, list)):
            is_keyed = name in (value[0] if isinstance(value, list) else value)
            return _Written(at, end, "keyed" if is_keyed else "calls", {})
    return _in_python(text, name, arguments) or _with_marks(text, name, arguments)


def _in_python(text: str, name: str, arguments: Mapping[str, Any]) -> _Written | None:
    """A call as Python writes it, `f(a=1)`, with the bracket of a list around it."""
    start = text.find(f"{name}(")
    if start < 0:
        return None
    start -= text[start - 1 : start] == "["
    machine = Machine(compiled(Format("python", {"start": State("python")}), {}, ()), None)
    machine.feed(text[start:])
    if not machine.calls or machine.calls[0].arguments != arguments:
        return None
    end = start + machine.stretches[0][1]
    return _Written(start, end + (text[start] == "[" and text[end : end + 1] == "]"), "python", {})


def _with_marks(text: str, name: str, arguments: Mapping[str, Any]) -> _Written | None:
    """A call with marks around its keys and values."""
    start = text.find(name)
    if start < 0:
        return None
    at, gaps = start + len(name), list[str]()
    for key, value in arguments.items():
        shown = value if isinstance(value, str) else json.dumps(value)
        for part in (key, shown if text.find(shown, at) >= 0 else str(value)):
            behind = text.find(part, at)
            if behind < 0:
                return None
            gaps.append(text[at:behind])
            at = behind + len(part)
    if len(gaps) < 4:
        # A single argument does not show what ends a value.
        return _Written(start, at, "name", {})
    begin_key = _shared_end(gaps[0], gaps[2])
    end_name, end_value = gaps[0][: -len(begin_key)], gaps[2][: len(gaps[2]) - len(begin_key)]
    if not begin_key.strip() or not gaps[1].strip() or not end_value.strip():
        return None
    if not text.startswith(end_value.rstrip(_SPACE), at):
        return None
    name_marks = {end_name: "inside"} if end_name.strip() else {gaps[0]: "key"}
    between = gaps[1].strip(_SPACE)
    split = re.fullmatch(r"(\S*>)(\s*)(<\S+)", between)
    key_marks = {gaps[1]: "value"}
    inside = {begin_key: "key"}
    if split:
        key_marks, inside[split[3]] = {split[1] + split[2]: "inside"}, "value"
    states = {
        "call": State("name", name_marks),
        "inside": State("inside", inside),
        "key": State("key", key_marks),
        "value": State("value", {end_value: "inside"}),
    }
    return _Written(start, at + len(end_value.rstrip(_SPACE)), "name", states)


def _shared_end(text: str, other: str) -> str:
    """The end that two texts share, from the beginning of a mark on."""
    length = 0
    while length < min(len(text), len(other)) and text[-length - 1] == other[-length - 1]:
        length += 1
    shared = text[len(text) - length :]
    begin = re.search(r"(?<!\s)\s*[<\[`]", shared)
    if begin:
        return shared[begin.start() :]
    return shared if length in (len(text), len(other)) else ""
