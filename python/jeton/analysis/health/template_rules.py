"""Rules for chat templates, tried on small conversations.

Look here for these conversations. Each template of the tokenizer is tried on its own.
"""

from __future__ import annotations

import importlib.util
import re
import warnings
from collections import Counter
from collections.abc import Iterator
from datetime import date
from typing import Any, Final

from jeton.analysis.health.findings import Case, Finding
from jeton.analysis.health.subject import Subject
from jeton.display.human_readable import counted
from jeton.errors import ChatWarning, JetonError
from jeton.samples.turns import ANSWER, ARGUMENTS, QUESTION, TOOL
from jeton.tokenizer import Tokenizer

__all__ = ["HAS_JINJA", "templates"]

HAS_JINJA: Final = importlib.util.find_spec("jinja2") is not None

_ASKED: Final = {"role": "user", "content": QUESTION}
_ANSWERED: Final = {"role": "assistant", "content": ANSWER}
_REASONED: Final = {**_ANSWERED, "reasoning_content": "They ask.", "reasoning": "They ask."}
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
_PYTHON: Final = re.compile(r"\{'\w+':|\[\{'|, None\b|: None\b|, True\b|: True\b|: False\b")
"""How Python prints a dict or a list, where JSON differs."""
_TAG: Final = re.compile(r"<(/?)([a-z][a-z_]*)>")
_DAYS: Final = (date(2024, 1, 2), date(2025, 11, 12))
_SHOWN: Final = 80

_MESSAGES: Final = {
    "template-fails": "fails",
    "template-python": "prints values as Python does",
    "template-rewrites": "writes earlier turns differently later",
    "template-unclosed": "opens a mark and does not close it",
    "template-sorts": "sorts keys",
    "template-clock": "writes the day",
}


def templates(subject: Subject) -> Iterator[Finding]:
    """What the tokenizer's chat templates do that they should not."""
    own = subject.tok.chat_template if HAS_JINJA else None
    named = {} if own is None else {"default": own} if isinstance(own, str) else dict(own)
    found: dict[str, list[Case]] = {}
    for name, template in named.items():
        for rule, told, tried in _tried(subject.tok, template):
            case = Case(name=name, told=told, tried=tried, evidence="observed")
            found.setdefault(rule, []).append(case)
    for rule, cases in found.items():
        message = f"{counted(len(cases), 'template')} that {_cases_text(rule, cases)}"
        yield Finding(rule, message, tuple(cases))


def _cases_text(rule: str, cases: list[Case]) -> str:
    said = _MESSAGES[rule]
    return said if len(cases) == 1 else re.sub(r"^(\w+?)s\b", r"\1", said)


def _tried(tok: Tokenizer, template: str) -> Iterator[tuple[str, str, str]]:
    """The rules that a template breaks, each with what it does and the text that it wrote."""
    from jeton.chat.template_date import stopped

    def text(*messages: Any, prompt: bool = False, **more: Any) -> str:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ChatWarning)
            try:
                return tok.chat(
                    messages, template=template, add_generation_prompt=prompt, **more
                ).text
            except JetonError:
                return ""

    prompt = text(_ASKED, prompt=True)
    if not prompt and not text(_ASKED, prompt=True, tools=[TOOL]):
        try:
            tok.chat([_ASKED], template=template, add_generation_prompt=True)
        except JetonError as error:
            yield "template-fails", str(error)[:200], str(QUESTION)
        return
    calls = text(_ASKED, _CALL, tools=[TOOL]) or text(_ASKED, _CALL)
    if match := _PYTHON.search(calls):
        yield "template-python", f"writes {_around(calls, match.start())}", calls
    yield from _rewritten(prompt, text)
    answer = text(_ASKED, _REASONED).rpartition(QUESTION)[2]
    tags = Counter[str]()
    for match in _TAG.finditer(answer):
        tags[match[2]] += -1 if match[1] else 1
    if open_ := [tag for tag, count in tags.items() if count > 0 and f"</{tag}>" in template]:
        yield "template-unclosed", f"<{open_[0]}> stays open in a turn", answer
    if 0 <= calls.rfind("days") < calls.rfind("place"):
        yield "template-sorts", "writes days before place, which was given first", calls
    days = []
    for day in _DAYS:
        with stopped(day):
            days.append(text(_ASKED, prompt=True))
    if days[0] != days[1]:
        yield "template-clock", "writes another text on another day", days[0]


def _rewritten(prompt: str, text: Any) -> Iterator[tuple[str, str, str]]:
    """Where what a model has read is not what the template writes later."""
    steps = {
        "the answer does not go on from the generation prompt": (prompt, text(_ASKED, _ANSWERED)),
        "another question changes what is before it": (
            text(_ASKED, _ANSWERED), text(_ASKED, _ANSWERED, _ASKED)
        ),
        "reasoning is left out once a question follows": (
            text(_ASKED, _REASONED), text(_ASKED, _REASONED, _ASKED)
        ),
    }  # fmt: skip
    for told, (before, after) in steps.items():
        if before and after and not after.startswith(before.rstrip()):
            yield "template-rewrites", told, after
            return


def _around(text: str, at: int) -> str:
    return repr(text[max(0, at - _SHOWN // 4) : at + _SHOWN])
