"""Long answers: the steps of `parse`, `extend` and of masks grow no faster than the answer."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType

import pytest

from answer_cases import WRITTEN
from chat_cases import HELLO, RESULT, WEATHER, Message, byte_level, call

TEMPLATE = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{% if m.reasoning_content %}<think>\n"
    "{{ m.reasoning_content }}\n</think>\n\n{% endif %}{{ m.content }}{% for c in m.tool_calls %}"
    "<tool_call>\n{{ c.function|tojson }}\n</tool_call>{% endfor %}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
TOK = byte_level(TEMPLATE)
PROMPT = TOK.chat(HELLO, template=TEMPLATE, add_generation_prompt=True)


def _said(text: str, **more: str) -> Message:
    return {"role": "assistant", "content": text, **more}


def _calls(count: int) -> Message:
    message = call()
    return {**message, "tool_calls": message["tool_calls"] * count}


ANSWERS: dict[str, Callable[[int], Message]] = {
    "words": lambda size: _said("So it is. " * (size // 10)),
    "white space": lambda size: _said("a" + " \n" * (size // 2) + "b"),
    "beginnings of marks": lambda size: _said("<tool_cal <|im_ </thin" * (size // 22)),
    "marks as text": lambda size: _said("<tool_call></tool_call><|im_end|>" * (size // 33)),
    "reasoning": lambda size: _said("So.", reasoning_content="Hm? " * (size // 4)),
    "one argument": lambda size: call({"city": 'Bergen "\n' * (size // 9)}),
    "many arguments": lambda size: call({f"city {at}": at for at in range(size // 20)}),
    "nested arguments": lambda size: call({"city": [[{"a": [1]}]] * (size // 20)}),
    "many calls": lambda size: _calls(size // 100),
}


def _ids(message: Message) -> list[int]:
    whole = TOK.chat([*HELLO, message], template=TEMPLATE)
    assert whole.ids[: len(PROMPT.ids)] == PROMPT.ids
    return whole.ids[len(PROMPT.ids) : -1]


def _steps(work: Callable[[], object]) -> int:
    """How many functions are called."""
    count = 0

    def called(frame: FrameType, kind: str, argument: object) -> None:
        nonlocal count
        count += kind in ("call", "c_call")

    sys.setprofile(called)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


def _push_all(ids: list[int]) -> None:
    stream = TOK.parse_stream(prompt=PROMPT)
    for id in ids:
        stream.push(id)
    stream.finish()


WORK: dict[str, Callable[[Message, list[int]], Callable[[], object]]] = {
    "parse": lambda _, ids: lambda: TOK.parse(ids, prompt=PROMPT),
    "parse_stream": lambda _, ids: lambda: _push_all(ids),
    "extend": lambda message, ids: (
        lambda: PROMPT.extend(ids, messages=[RESULT] if message.get("tool_calls") else HELLO)
    ),
    "loss_mask": lambda message, _: (
        TOK.chat([*HELLO, message, *HELLO], template=TEMPLATE).loss_mask
    ),
}


@pytest.mark.large
@pytest.mark.parametrize("work", WORK)
@pytest.mark.parametrize("answer", ANSWERS)
def test_steps_grow_with_the_answer(answer: str, work: str) -> None:
    steps = []
    for size in (4_000, 4_000, 16_000):  # the first fills the tables that are kept
        message = ANSWERS[answer](size)
        steps.append(_steps(WORK[work](message, _ids(message))))
    assert steps[2] < 6 * steps[1] + 1_000, steps


@pytest.mark.large
@pytest.mark.parametrize("format", WRITTEN)
def test_steps_grow_with_the_text(format: str) -> None:
    """Of all formats, in which each mark is text."""
    text = "".join(written for written, *_ in WRITTEN[format])

    def steps(size: int) -> int:
        whole = text * (size // len(text))
        return _steps(lambda: TOK.parse(whole, format=format, tools=[WEATHER]))

    steps(40_000)  # what is computed once
    assert steps(40_000) < 6 * steps(10_000) + 1_000


@pytest.mark.large
@pytest.mark.parametrize("answer", ["words", "white space", "marks as text", "one argument"])
def test_a_megabyte_is_read(answer: str) -> None:
    message = ANSWERS[answer](1_000_000)
    ids = _ids(message)
    parsed = TOK.parse(ids, prompt=PROMPT)
    assert parsed.finish in ("stop", "tool_calls") and not parsed.problems
    assert "".join(part.text for part in parsed.parts) == TOK.decode(ids)
    assert parsed.content == message["content"]
    rollout = PROMPT.extend(ids, messages=[RESULT] if parsed.calls else HELLO)
    assert rollout.ids[: len(PROMPT.ids) + len(ids)] == [*PROMPT.ids, *ids]
    assert sum(rollout.loss_mask()) == len(ids)
    whole = TOK.chat([*HELLO, message], template=TEMPLATE)
    assert sum(whole.loss_mask()) == len(ids)
