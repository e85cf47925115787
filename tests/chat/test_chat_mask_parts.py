"""Loss masks of parts of answers: `loss_mask(parts=…)` of chats and rollouts."""

from __future__ import annotations

from typing import Any

import pytest

import jeton
from chat_cases import HELLO, WEATHER, Message, byte_level
from jeton.errors import ArgumentError, ArgumentTypeError

TEMPLATE = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n"
    "{% if m.reasoning_content %}<think>{{ m.reasoning_content }}</think>{% endif %}"
    "{{ m.content }}{% for c in m.tool_calls or [] %}<tool_call>{{ c.function|tojson }}</tool_call>"
    "{% endfor %}<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n"
    "{% endif %}{% if false %}{{ tools }}{% endif %}"
)
TOK = byte_level(TEMPLATE).replace(roles={"eos": "<|im_end|>"})
CALL = {"type": "function", "function": {"name": "get_weather", "arguments": {"city": "B"}}}
ANSWER: Message = {
    "role": "assistant",
    "content": "So.",
    "reasoning_content": "Hm.",
    "tool_calls": [CALL, CALL],
}
WRITTEN = '{"name": "get_weather", "arguments": {"city": "B"}}</tool_call>'
PARTS: list[tuple[list[str] | None, str]] = [
    # parts, and what is learnt, with `…` for what is not
    (None, f"<think>Hm.</think>So.<tool_call>{WRITTEN}<tool_call>{WRITTEN}<|im_end|>"),
    (["reasoning"], "<think>Hm.…<|im_end|>"),
    (["content"], "…</think>So.…<|im_end|>"),
    (["calls"], f"…<tool_call>{WRITTEN}<tool_call>{WRITTEN}<|im_end|>"),
    (["content", "calls"], f"…</think>So.<tool_call>{WRITTEN}<tool_call>{WRITTEN}<|im_end|>"),
    (["reasoning", "content"], "<think>Hm.</think>So.…<|im_end|>"),
]


def learnt(tok: jeton.Tokenizer, ids: list[int], mask: list[int]) -> str:
    text, was_on = "", True
    for id, on in zip(ids, mask, strict=True):
        text += tok.decode([id]) if on else "…" * was_on
        was_on = bool(on)
    return text.removesuffix("…")


@pytest.mark.filterwarnings("ignore::jeton.errors.ChatWarning")
@pytest.mark.parametrize(("parts", "expected"), PARTS)
def test_a_mask_covers_the_parts_that_are_named(parts: list[str] | None, expected: str) -> None:
    chat = TOK.chat([*HELLO, ANSWER], template=TEMPLATE, tools=[WEATHER])
    start = len(TOK.chat(HELLO, template=TEMPLATE, add_generation_prompt=True).ids)
    mask = chat.loss_mask(parts=parts)
    assert not any(mask[:start])
    assert learnt(TOK, chat.ids[start:], mask[start:]) == expected
    prompt = TOK.chat(HELLO, template=TEMPLATE, tools=[WEATHER], add_generation_prompt=True)
    said = PARTS[0][1]
    rollout = prompt.extend(TOK.encode(said, special="allow"))
    assert rollout.answers[0].problems == ()
    mask = rollout.loss_mask(parts=parts)
    assert learnt(TOK, rollout.ids[start:], mask[start:]) == expected


def test_an_answer_that_marks_what_the_model_writes_has_parts_too() -> None:
    marked = TEMPLATE.replace("{% if m.reasoning", "{% generation %}{% if m.reasoning").replace(
        "<|im_end|>\n{% endfor", "<|im_end|>{% endgeneration %}\n{% endfor"
    )
    chat = TOK.chat([{**ANSWER, "tool_calls": []}], template=marked)
    text = learnt(TOK, chat.ids, chat.loss_mask(parts=["content"]))
    assert text == "…</think>So.<|im_end|>"


def test_without_a_known_end_the_text_behind_a_part_belongs_to_it() -> None:
    tok = byte_level(TEMPLATE)
    chat = tok.chat([*HELLO, {**ANSWER, "tool_calls": []}], template=TEMPLATE)
    assert learnt(tok, chat.ids, chat.loss_mask(parts=["content"])) == "…</think>So.<|im_end|>"
    assert learnt(tok, chat.ids, chat.loss_mask(parts=["reasoning"])) == "…<think>Hm."


@pytest.mark.parametrize(
    ("parts", "kind", "message"),
    [
        ([], ArgumentError, "parts is empty"),
        (["call"], ArgumentError, "parts: 'call' is none of reasoning, content, calls"),
        ("calls", ArgumentTypeError, "parts must be an iterable of parts"),
        (5, ArgumentTypeError, "parts must be an iterable of parts"),
        ([5], ArgumentError, "parts: 5 is none of"),
    ],
)
def test_wrong_parts_are_refused(parts: Any, kind: type[Exception], message: str) -> None:
    chat = TOK.chat([*HELLO, {"role": "assistant", "content": "So."}], template=TEMPLATE)
    prompt = TOK.chat(HELLO, template=TEMPLATE, add_generation_prompt=True)
    for mask in (chat.loss_mask, prompt.extend([]).loss_mask):
        with pytest.raises(kind, match=message):
            mask(parts=parts)


def test_a_mask_of_parts_that_nobody_wrote_is_refused() -> None:
    tok = byte_level(TEMPLATE)
    chat = tok.chat([*HELLO, {"role": "assistant", "content": "So."}], template=TEMPLATE)
    with pytest.raises(ArgumentError, match="the loss mask would be all zero"):
        chat.loss_mask(parts=["reasoning"])
