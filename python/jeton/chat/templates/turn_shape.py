"""How a template opens, ends and continues a turn: `TurnShape`, learnt from small conversations.

Control tokens, parsing, loss masks, `extend` and the values of templates all ask here. Each
conversation is rendered once per template and variables, when its text is first needed.
"""

from __future__ import annotations

import copy
import itertools
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from jeton.chat.messages import sent_messages
from jeton.chat.templates.input import TemplateInput
from jeton.chat.templates.limits import LimitError
from jeton.chat.templates.origins import ANSWERING, SYSTEM
from jeton.chat.templates.parts import raw
from jeton.chat.templates.renderer import Renderer
from jeton.chat.templates.rendering import RenderRequest
from jeton.chat.templates.trust import REASONING, Trust
from jeton.encoding.base_tokenizer.once import once_per_tokenizer
from jeton.encoding.once import added_tokens_of
from jeton.errors import JetonError
from jeton.samples.turns import ANSWER, ARGUMENTS, QUESTION, TOOL

if TYPE_CHECKING:
    from jeton.encoding.base_tokenizer import BaseTokenizer

Message = dict[str, Any]
Variables = tuple[tuple[str, Any], ...]

REASON: Final = "They ask about a place."
_RESULT: Final = "Nobody knows."
_ASK: Final[Message] = {"role": "user", "content": QUESTION}
_SAY: Final[Message] = {"role": "assistant", "content": ANSWER}
_MORE: Final = {"days": 2}
"""The arguments of a second call."""
_TOKEN: Final = re.compile(r"</?[^<>\s/][^<>\s]*>|\[/?[A-Z_]+\]")
"""What is spelled like a control token."""
MIN_MARK: Final = 3
"""Shorter marks occur in any text."""
_CACHED: Final = 64
_PART: Final = re.compile(r"""(['"])type\1: ?(['"])text\2""")
"""A part of text, as Python and JSON print it."""


@dataclass(frozen=True)
class RenderedAnswer:
    """The text from a question on, in a chat that ends with an answer, and what the answer says."""

    text: str
    content: str = ""
    reasoning: str = ""
    calls: Sequence[tuple[str, Mapping[str, Any]]] = ()


def turn_shape(
    tok: BaseTokenizer, renderer: Renderer, template: str, variables: Variables
) -> TurnShape:
    """The shape of a template's turns, kept per tokenizer.

    Args:
        renderer: What runs the template.
        template: The text of the template.
        variables: What the template reads beside messages and tools.
    """
    known = _shapes(tok)
    key = renderer, template, variables
    if key not in known:
        if len(known) >= _CACHED:
            known.clear()
        tokens = [it.content for it in added_tokens_of(tok) if it.id is not None]
        known[key] = TurnShape(renderer, template, variables, tokens)
    return known[key]


@once_per_tokenizer
def _shapes(tok: BaseTokenizer) -> dict[tuple[Renderer, str, Variables], TurnShape]:
    del tok
    return {}


class TurnShape:
    """How a template writes turns.

    Args:
        renderer: What runs the template.
        template: The text of the template.
        variables: What the template reads beside messages and tools.
        tokens: The added tokens of the tokenizer.

    Attributes:
        tokens: Finds these tokens, and what is spelled like one.
    """

    def __init__(
        self, renderer: Renderer, template: str, variables: Variables, tokens: Iterable[str]
    ) -> None:
        self._renderer, self._template, self._variables = renderer, template, variables
        spelled = map(re.escape, sorted(tokens, key=len, reverse=True))
        self.tokens = re.compile("|".join((*spelled, _TOKEN.pattern)))
        self._parts_of_roles: dict[str | None, bool | None] = {}
        self._ends_of_questions: dict[frozenset[str], tuple[str, frozenset[str]]] = {}

    def without_calls(self) -> TurnShape:
        """The same, as if the template took no calls."""
        shape = copy.copy(self)
        shape.answers = [it for it in self.answers if not it.calls]
        shape.following = self.following[:1]
        return shape

    # Small conversations, as text. A conversation that the template does not take has no text.

    def _text(self, messages: Iterable[Mapping[str, Any]], **more: Any) -> str | None:
        try:
            return self._required(messages, **more)
        except LimitError:
            raise
        except JetonError:
            return None

    def _required(self, messages: Iterable[Mapping[str, Any]], **more: Any) -> str:
        values = TemplateInput(Trust())
        plain = values.messages(sent_messages(messages))
        variables = {**dict(self._variables), **more}
        request = RenderRequest(self._template, plain, None, variables, values.characters)
        return raw(self._renderer.answer(request))

    def _chat(self, *messages: Message, prompt: bool = False, in_parts: bool | None = None) -> str:
        """The text of a question and what follows it, with tools if the template takes them."""
        if self.content_as_parts if in_parts is None else in_parts:
            messages = tuple(map(as_parts, messages))
            question = as_parts(_ASK)
        else:
            question = _ASK
        for tools in ({"tools": [TOOL]}, {}):
            text = self._text([question, *messages], **tools, add_generation_prompt=prompt)
            if text is not None:
                return text
        return ""

    @cached_property
    def content_as_parts(self) -> bool:
        """Whether the template prints words only if they are in a list of parts."""
        alone, in_parts = (self._chat(_SAY, in_parts=it) for it in (False, True))
        return ANSWER not in alone and ANSWER in in_parts

    @property
    def refusal(self) -> str | None:
        """Why the template prints no answers, if it prints none."""
        if ANSWER in self.answers[0].text:
            return None
        try:
            self._required([_ASK, _SAY])
        except JetonError as error:
            return str(error)
        return "it does not print what an assistant says"

    @cached_property
    def asked(self) -> str:
        """A chat that is a question."""
        return self._chat()

    @cached_property
    def prompted(self) -> str:
        """A question and the generation prompt."""
        return self._chat(prompt=True)

    @cached_property
    def _answered_twice(self) -> str:
        return self._chat(_SAY, _ASK)

    @cached_property
    def _reasoned(self) -> tuple[str, str]:
        """The field of a message that has the reasoning, and the chat with it."""
        for name in (REASONING[0], "reasoning", "thought"):
            if REASON in (text := self._chat({**_SAY, name: REASON})):
                return name, text
        return REASONING[0], ""

    @property
    def reasoning_field(self) -> str:
        """The field of a message that has the reasoning."""
        return self._reasoned[0]

    @cached_property
    def _calls(self) -> dict[bool, str]:
        """Chats that end with a call, behind the question: whether its arguments are text, and
        what the template writes."""
        return {it: behind_question(self._chat(_call(as_text=it))) for it in (False, True)}

    @property
    def _called(self) -> dict[bool, str]:
        """Those of them that have the call."""
        return {it: text for it, text in self._calls.items() if "look_up" in text and "Vik" in text}

    @property
    def arguments_as_text(self) -> bool:
        """Whether the template takes arguments as JSON in a `str` alone."""
        # A template that takes text may print a dict as Python does, which no format reads.
        called = self._called
        return True in called and (False not in called or repr(ARGUMENTS) in called[False])

    @property
    def keeps_text_arguments(self) -> bool:
        """Whether the template prints arguments that are a JSON string unchanged, and does not
        write a dict as JSON: it prints the same, or as Python does, or fails."""
        as_dict, as_text = self._calls.values()
        if json.dumps(ARGUMENTS) not in as_text:
            return False
        return as_dict in ("", as_text) or repr(ARGUMENTS) in as_dict

    @cached_property
    def _result(self) -> str:
        """A chat with a call and its result."""
        result = {"role": "tool", "name": "look_up", "tool_call_id": "callprob0"}
        call = _call(as_text=self.arguments_as_text)
        return self._chat(call, {**result, "content": _RESULT})

    @cached_property
    def answers(self) -> list[RenderedAnswer]:
        """Chats that end with an answer: words, reasoning, and calls, as far as it takes them."""
        found = [RenderedAnswer(behind_question(self._chat(_SAY)), ANSWER)]
        field, reasoned = self._reasoned
        if reasoned:
            found.append(RenderedAnswer(behind_question(reasoned), ANSWER, REASON))
        if not self._called:
            return found
        as_text = self.arguments_as_text
        one = (("look_up", ARGUMENTS),)
        both = (*one, ("look_up", _MORE))
        found.append(RenderedAnswer(self._called[as_text], calls=one))
        for calls, more, reasoning in (
            (both, {}, ""),
            (both, {"content": ANSWER}, ""),
            (one, {field: REASON}, REASON),
        ):
            text = behind_question(self._chat({**_call(len(calls), as_text=as_text), **more}))
            if "look_up" in text:
                said, thought = (
                    it if it in text else "" for it in (more.get("content", ""), reasoning)
                )
                is_whole = text.count("look_up") >= len(calls)
                found.append(RenderedAnswer(text, said, thought, calls if is_whole else one))
        return found

    @cached_property
    def following(self) -> list[str]:
        """What is between an answer and a question; and between a call and its result."""
        found = [_between(self._answered_twice, ANSWER, QUESTION)]
        return [*found, _between(self._result, "fjord", _RESULT)] if self._called else found

    # What these conversations show.

    @cached_property
    def frames(self) -> tuple[str, str, str]:
        """What the template writes around the words of a question and of an answer; around a call;
        and around the result of a call."""
        question = self._text([_ASK]) or ""
        call, result = self._calls[self.arguments_as_text], behind_question(self._result)
        result = result[len(self.shared(result, call)) :]
        return f"{question}\0{self.opening}", call, result

    @property
    def opening(self) -> str:
        """What is between a question and the words of an answer."""
        return self.answers[0].text.partition(ANSWER)[0]

    @property
    def behind_question(self) -> str:
        """What is behind the words of a question in a chat that ends with it."""
        return behind_question(self.asked)

    @cached_property
    def prompt(self) -> str:
        """What the template writes behind a question to ask for an answer."""
        asked, prompted = self.behind_question, behind_question(self.prompted)
        shared = self.shared(prompted, asked)
        if self.tokens.sub("", asked[len(shared) :]).strip():
            return ""  # neither begins the other, nor does a chat only end without a prompt
        if prompted == asked:
            # The template always asks for an answer, but not between two questions.
            twice = self._chat(_ASK)
            shared = self.shared(asked, _between(twice, QUESTION, QUESTION)) if twice else asked
        return prompted[len(shared) :]

    @cached_property
    def prompt_starts(self) -> list[str]:
        """The prompt, and its starts that end with a token or a word: an answer may have these."""
        words = re.compile(rf"{self.tokens.pattern}|\w+|\s+|.")
        ends = [it.end() for it in words.finditer(self.prompt)]
        return [it for end in reversed(ends) if (it := self.prompt[:end]).strip()]

    def end_of_question(self, control: frozenset[str]) -> tuple[str, frozenset[str]]:
        """The control token that ends a question, or an empty text; and those behind it, with a
        generation prompt or without: what begins another turn, or ends a chat."""
        if control not in self._ends_of_questions:
            self._ends_of_questions[control] = self._end_of_question(control)
        return self._ends_of_questions[control]

    def _end_of_question(self, control: frozenset[str]) -> tuple[str, frozenset[str]]:
        asked, prompted = self.behind_question, behind_question(self.prompted)
        of_both = self.shared(asked, prompted) if asked != prompted else ""
        shared, after, with_prompt = (
            [it for it in self.tokens.findall(text) if it in control]
            for text in (of_both, asked, prompted)
        )
        end = next(iter(shared[-1:] or after), "")
        behind = (it[it.index(end) + 1 :] if end in it else it for it in (after, with_prompt))
        return end, frozenset(itertools.chain(*behind))

    @property
    def has_ends(self) -> bool:
        """Whether the template ends turns: it writes a token behind a question, or more between an
        answer and a question than in front of the first question."""
        opening, between = self.asked.rpartition(QUESTION)[0], self.following[0]
        ends_questions = self.tokens.search(self.behind_question) is not None
        return ends_questions or not between or not opening.endswith(between)

    def anchor(self, marks: Iterable[str]) -> tuple[str, str]:
        """What begins an answer, and what the template writes between it and words. `marks`: with
        what an answer may begin itself."""
        head = self.opening
        prompt, question = behind_question(self.prompted), behind_question(self.asked)
        common = self.shared(head, prompt)
        anchor = common[len(self.shared(common, question)) :]
        if prompt == question:
            # The template writes no generation prompt, or always writes one.
            anchor = _before(head[len(common) :], marks)
        anchor = anchor if anchor.strip() else common
        if not anchor.strip() and prompt.strip():
            word = prompt.split()[-1]
            anchor = word if word in head else ""
        anchor = _before(anchor, marks)
        anchor = anchor.lstrip() or anchor
        return anchor, head[head.rfind(anchor) + len(anchor) :] if anchor else ""

    def ends(self, marks: Iterable[str]) -> dict[str, None]:
        """What ends an answer: the first token behind it that is none of the marks in answers."""
        known = list(marks)
        of_marks = "\n".join(known)
        cores = [it for it in known if len(it) >= MIN_MARK]
        texts = []
        for it in self.answers:
            texts.append(it.text[it.text.rfind("look_up" if it.calls else it.content) :])
        found: dict[str, None] = {}
        for text in [*texts, *self.following]:
            at = max((text.rfind(it) + len(it) for it in cores if it in text), default=0)
            for match in self.tokens.finditer(text, at):
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

    def shared(self, text: str, other: str) -> str:
        """What two texts begin with, without a token in which they differ."""
        at = shared_length(text, other)
        # The brackets of whole tokens need not be in pairs, as in `[e~[`.
        rest = self.tokens.sub(lambda it: " " * len(it[0]), text[:at])
        for opening, closing in ("<>", "[]"):
            start = rest.rfind(opening, 0, at)
            if start > rest.rfind(closing, 0, at) and "\n" not in rest[start:at]:
                at = start
        return text[:at]

    def takes_parts(self, role: str | None) -> bool | None:
        """Whether the template takes a content of parts, from this role; `None` if it does not
        show that. It does if it writes the text of a part, but not the whole part as Python or
        JSON.
        """
        if role not in self._parts_of_roles:
            self._parts_of_roles[role] = self._takes_parts(role)
        return self._parts_of_roles[role]

    def _takes_parts(self, role: str | None) -> bool | None:
        after = [_ASK] if role in SYSTEM else []
        before: list[list[Message]] = [[]]
        if role in ANSWERING:
            before = [[_ASK]]
        elif role != "user" and not after:
            before = [*([_ASK, _call(as_text=it)] for it in (False, True)), [_ASK], []]
        for first in before:
            of_call = {"name": "look_up", "tool_call_id": "callprob0"} if len(first) == 2 else {}
            message = {**of_call, "role": role, "content": ANSWER}
            alone, parted = (
                self._text([*first, it, *after]) for it in (message, as_parts(message))
            )
            if alone is not None and ANSWER in alone:
                printed = len(_PART.findall(parted or "")) > len(_PART.findall(alone))
                return ANSWER in (parted or "") and not printed
        return None


def as_parts(message: Message) -> Message:
    """A message with its words in a list of parts."""
    return {**message, "content": [{"type": "text", "text": message["content"]}]}


def behind_question(text: str) -> str:
    """The text behind the question of a small conversation."""
    return text.rpartition(QUESTION)[2]


def shared_length(one: Sequence[object], other: Sequence[object]) -> int:
    """How many items, or characters, two sequences of one type have in common at their start."""
    same, differs = 0, min(len(one), len(other)) + 1
    step = differs - 1
    while same + 1 < differs:
        # The type compares a whole slice faster than Python compares its items.
        if one[same : same + step] == other[same : same + step]:
            same += step
        else:
            differs = same + step
        step = (differs - same) // 2
    return same


def _call(count: int = 1, *, as_text: bool) -> Message:
    """A message with calls."""
    calls = [
        {
            "id": f"callprob{number}",
            "type": "function",
            "function": {"name": "look_up", "arguments": json.dumps(it) if as_text else it},
        }
        for number, it in enumerate((ARGUMENTS, _MORE)[:count])
    ]
    return {"role": "assistant", "content": "", "tool_calls": calls}


def _between(text: str, before: str, behind: str) -> str:
    """The text between the last `behind` and the last `before` in front of it."""
    head, _, _ = text.rpartition(behind)
    return head.rpartition(before)[2] if before in head else ""


def _before(text: str, marks: Iterable[str]) -> str:
    """The text in front of the first of some marks."""
    for mark in marks:
        text = text.partition(mark.strip())[0] if mark.strip() else text
    return text
