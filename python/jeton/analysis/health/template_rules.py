"""Rules for chat templates, tried on small conversations.

Look here for these conversations. Each template of the tokenizer is tried on its own.
"""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from datetime import date
from typing import Any, Final

from jeton.analysis.health.findings import Case, Finding, found
from jeton.analysis.health.rules import rule
from jeton.analysis.health.searches import looks_for
from jeton.analysis.health.subject import Subject
from jeton.errors import ChatWarning, JetonError
from jeton.samples.turns import ANSWER, ARGUMENTS, QUESTION, TOOL
from jeton.tokenizer import Tokenizer

_USER_TURN: Final = {"role": "user", "content": QUESTION}
_ANSWER_TURN: Final = {"role": "assistant", "content": ANSWER}
_REASONED_TURN: Final = {**_ANSWER_TURN, "reasoning_content": "They ask.", "reasoning": "They ask."}
_CALL: Final[dict[str, Any]] = {
    "role": "assistant",
    "content": "",
    "tool_calls": [
        {
            "id": "callabc01",
            "type": "function",
            "function": {"name": "look_up", "arguments": ARGUMENTS},
        }
    ],
}
_SECOND_TOOL: Final = {**TOOL, "function": {**TOOL["function"], "name": "add_up"}}
_PYTHON: Final = re.compile(r"\{'\w+':|\[\{'|, None\b|: None\b|, True\b|: True\b|: False\b")
"""Notation of Python for a dict or a list that differs from JSON."""
_TAG: Final = re.compile(r"(<|\[)(/?)([A-Za-z][\w:]*)(>|\])")
_DAYS: Final = (date(2024, 1, 2), date(2025, 11, 12))
_SHOWN: Final = 80


@looks_for(
    rule("""
    template-fails (error): a chat template fails
    The template fails on the simplest question, or is not Jinja that runs in the sandbox: no chat
    can use it.
    Remedy: Fix the template where the message points, or use the model's published one.
    """),
    rule("""
    template-python (warning): a chat template prints values as Python
    Lists, dicts and None are written as Python prints them, not as JSON: the model sees a notation
    that its training did not have, and escapes that no reader undoes.
    Remedy: Write values with | tojson.
    """),
    rule("""
    template-rewrites (warning): a chat template changes what it has written
    The next prompt does not begin with what the model has read and written: each turn loses the
    cache, and training on whole conversations shows the model text that it never wrote.
    Remedy: Keep earlier turns as they were written, or use chat.extend, which keeps all ids.
    """),
    rule("""
    template-unclosed (warning): a chat template leaves a mark open
    A mark such as <think> is opened in a turn and never closed: all later text is inside it.
    Remedy: Close the mark in the template, or write it only if it has content.
    """),
    rule("""
    template-sorts (note): a chat template sorts keys or tools
    Arguments, parameters or tools are not in the order in which they were passed: a call that is
    parsed and written again has other ids, and a further tool changes the prompt in front of the
    others.
    Remedy: Write keys and tools in their order (without | dictsort and | sort).
    """),
    rule("""
    template-clock (note): a chat template writes the day
    The same messages have other ids tomorrow: prompt caches miss, and tests that compare ids fail.
    Remedy: Pass the day as a variable, such as date_string.
    """),
)
def templates(subject: Subject) -> Iterator[Finding]:
    """Faults of the tokenizer's chat templates."""
    own = subject.tok.settings.chat_template
    if own is None:
        return
    from jeton.chat.templates.limits import can_isolate, limits

    by_name = {"default": own} if isinstance(own, str) else dict(own)
    cases: dict[str, list[Case]] = {}
    for name, template in by_name.items():
        with limits(isolate=can_isolate()):  # the folder may be a stranger's
            violations = [*_violations(subject.tok, template)]
        for broken, remark, text in violations:
            case = Case(name=name, told=remark, tried=text, evidence="observed")
            cases.setdefault(broken, []).append(case)
    for broken in cases:
        yield from found(broken, cases[broken])


def _violations(tok: Tokenizer, template: str) -> Iterator[tuple[str, str, str]]:
    """The rules that a template breaks, each with what it does and the text that it writes."""
    from jeton.chat.templates.limits import stopped

    def text(
        *messages: Mapping[str, Any], prompt: bool = False, tools: list[Any] | None = None
    ) -> str:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ChatWarning)
            try:
                return tok.chat(
                    messages, template=template, add_generation_prompt=prompt, tools=tools
                ).text
            except JetonError:
                return ""

    prompt = text(_USER_TURN, prompt=True)
    if not prompt and not text(_USER_TURN, prompt=True, tools=[TOOL]):
        try:
            tok.chat([_USER_TURN], template=template, add_generation_prompt=True)
        except JetonError as error:
            yield "template-fails", str(error)[:200], str(QUESTION)
        return
    calls = text(_USER_TURN, _CALL, tools=[TOOL]) or text(_USER_TURN, _CALL)
    if match := _PYTHON.search(calls):
        at = match.start()
        excerpt = calls[max(0, at - _SHOWN // 4) : at + _SHOWN]
        yield "template-python", f"writes {excerpt!r}", calls
    yield from _rewritten(prompt, text)
    for answer in (text(_USER_TURN, _REASONED_TURN), calls):
        if mark := _open_mark(answer.rpartition(QUESTION)[2], template):
            yield "template-unclosed", f"{mark} stays open in a turn", answer
            break
    # Each with a text that has both, the first of them first.
    tools = text(_USER_TURN, tools=[TOOL, _SECOND_TOOL])
    for written, first, second in (
        (calls.rpartition(QUESTION)[2], "place", "days"),
        (tools, "place", "days"),
        (tools, "look_up", "add_up"),
    ):
        if 0 <= written.find(second) < written.find(first):
            told = f"writes {second} before {first}, although {first} is first"
            yield "template-sorts", told, written
            break
    days = []
    for day in _DAYS:
        with stopped(day):
            days.append(text(_USER_TURN, prompt=True))
    if days[0] != days[1]:
        yield "template-clock", "writes different text on another day", days[0]


def _open_mark(answer: str, template: str) -> str | None:
    """The first mark that an answer opens and does not close, of those that have an end: in the
    template, or in a format of answers."""
    from jeton.chat.answers.formats import FORMATS

    ends = {
        it.strip()
        for format in FORMATS.values()
        for state in format.states.values()
        for it in state.marks
    }
    counts = Counter[tuple[str, str]]()
    for left, slash, name, right in _TAG.findall(answer):
        counts[f"{left}{name}{right}", f"{left}/{name}{right}"] += -1 if slash else 1
    return next(
        (
            mark
            for (mark, end), count in counts.items()
            if count > 0 and (end in template or end in ends)
        ),
        None,
    )


def _rewritten(prompt: str, text: Callable[..., str]) -> Iterator[tuple[str, str, str]]:
    """Where the template later writes something other than what the model has read."""
    steps = {
        "the answer does not continue the generation prompt": (
            prompt, text(_USER_TURN, _ANSWER_TURN)
        ),
        "another question changes the text before it": (
            text(_USER_TURN, _ANSWER_TURN), text(_USER_TURN, _ANSWER_TURN, _USER_TURN)
        ),
        "reasoning is left out when a question follows": (
            text(_USER_TURN, _REASONED_TURN), text(_USER_TURN, _REASONED_TURN, _USER_TURN)
        ),
    }  # fmt: skip
    for reason, (before, after) in steps.items():
        if before and after and not after.startswith(before.rstrip()):
            yield "template-rewrites", reason, after
            return
