"""`Chat.loss_mask`: which tokens a model learns to write.

What is tested is `jeton.chat.training.masks`, through the chat.
"""

from __future__ import annotations

from typing import Any

import pytest

from answer_cases import end_of_prompt, options, read_back
from chat_cases import (
    HELLO,
    PUBLISHED,
    REASONING,
    TOOLS,
    TURNS,
    Message,
    byte_level,
    call,
    templates,
)
from jeton.chat import TEMPLATES, Chat
from jeton.errors import ArgumentError, ArgumentTypeError

CHATML = TEMPLATES["chatml"]
TOK = byte_level(CHATML)


_CALL = call(content="")
WRITTEN: dict[str, dict[str, Any]] = {
    "words": {"role": "assistant", "content": "So it is."},
    "reasoning": {**REASONING[1], "reasoning": REASONING[1]["reasoning_content"]},
    "a call": _CALL,
    "words and a call": {**_CALL, "content": "I look."},
    "reasoning and a call": {**_CALL, "reasoning_content": "Hm.", "reasoning": "Hm."},
}


@pytest.mark.large
@pytest.mark.filterwarnings("ignore::jeton.errors.ChatWarning")
@pytest.mark.parametrize(
    ("name", "template"), [pytest.param(name, text, id=name) for name, text in templates()]
)
def test_everything_after_the_prompt_is_learnt(name: str, template: str) -> None:
    tok = byte_level(template)
    for case, message in WRITTEN.items():
        for thinking in (False, True):
            variables = {"enable_thinking": True, "thinking": True} if thinking else {}
            given = {**options(template), **variables}
            trip = read_back(tok, template, message, **variables)
            if trip is None or not any(trip.found):
                continue  # the template does not take such a message, or prints nothing of it
            try:
                asked = [{"role": "user", "content": "Well?"}]
                prompt = tok.chat(asked, add_generation_prompt=True, **given)
                whole = tok.chat([*asked, message], **given)
            except ArgumentError:
                continue  # it takes arguments as text alone
            shared = end_of_prompt(prompt.text, whole.text)
            shared = len(whole.text[:shared].rstrip("<["))  # two marks may begin alike
            first = next((at for at, it in enumerate(whole.spans) if it[1] > shared), 0)
            if whole.spans[first][0] < shared or any(it.generated for it in whole.origins):
                continue  # a token of both, or a mask by the template's own marks
            rest = [part.text for part in trip.parsed.parts if part.kind == "rest"]
            if rest and "get_weather" in rest[0]:
                continue  # the message became two turns
            end = len(whole.text) - len(rest[0] if rest else "")
            learnt = [at for at, on in enumerate(whole.loss_mask()) if on]
            assert learnt == [
                at for at, it in enumerate(whole.spans) if at >= first and it[1] <= end
            ], case


def text_of(chat: Chat, mask: list[int]) -> str:
    """What the tokens of a mask spell."""
    return "".join(chat.text[slice(*span)] for span, on in zip(chat.spans, mask, strict=True) if on)


@pytest.mark.parametrize("end", ["</s>", "<|end|>"])
def test_masks_by_origin_include_the_end_of_calls(end: str) -> None:
    template = (
        "{% for m in messages %}<|user|>{{ m.content }}{% for it in m.tool_calls %}<|call|>"
        "{{ it.function.name }}<|end_call|>{% endfor %}{% if m.tool_calls %}<|end_calls|>{% endif %}"
        + end
        + "<|end_of_all|>{% endfor %}"
    )
    tok = byte_level(template)
    messages = [TOOLS[0], call(content="I look."), *TOOLS[2:]]
    calls = "I look.<|call|>get_weather<|end_call|>"
    chat = tok.chat(messages, template=template)
    assert text_of(chat, chat.loss_mask()) == f"{calls}<|end_calls|>{end}It will.{end}"
    asked = text_of(chat, chat.loss_mask(["user"]))
    assert asked == f"Will it rain in Bergen?{end}"
    # What ends a turn is known from turns of the user, too, and by the role of the token.
    chat = tok.chat(messages[:-1], template=template)
    assert text_of(chat, chat.loss_mask()) == f"{calls}<|end_calls|>{end}"


def test_masks_by_origin_include_the_beginning_of_calls() -> None:
    template = (
        "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}"
        "{% for it in m.tool_calls %}<tool_call>\n{{ it.function|tojson }}\n</tool_call>{% endfor %}"
        "<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
    )
    tok = byte_level(template)
    turn = (
        '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Bergen", "days": 3}}\n'
        "</tool_call><|im_end|>"
    )
    for prompt in (False, True):
        chat = tok.chat(TOOLS, template=template, add_generation_prompt=prompt)
        assert text_of(chat, chat.loss_mask()) == f"{turn}It will.<|im_end|>"
    # Another answer begins in the same way, if a template shows no prompt.
    chat = tok.chat(TOOLS, template=template.partition("{% if add")[0])
    assert text_of(chat, chat.loss_mask()) == f"{turn}It will.<|im_end|>"


def test_masks_include_the_beginning_of_calls_without_any_header() -> None:
    template = (
        "<s>{% for m in messages %}{% if m.role == 'user' %}[INST] {{ m.content }}[/INST]"
        "{% elif m.tool_calls %}[TOOL_CALLS]{% for it in m.tool_calls %}{{ it.function|tojson }}"
        "{% endfor %}</s>{% else %} {{ m.content }}</s>{% endif %}{% endfor %}"
    )
    chat = byte_level(template).chat(TOOLS, template=template)
    learnt = text_of(chat, chat.loss_mask())
    assert learnt.startswith('[TOOL_CALLS]{"name": "get_weather"')
    # A template that takes no question by itself shows where another answer begins.
    alone = "{% if messages|length == 1 %}{{ raise_exception('alone') }}{% endif %}" + template
    chat = byte_level(template).chat(TOOLS, template=alone)
    assert text_of(chat, chat.loss_mask()) == learnt


def test_masks_end_where_the_chat_would_end() -> None:
    """What ends a call and nothing else is known from the chat that ends with that call."""
    template = (
        "{% for m in messages %}{% if m.role == 'tool' %}<|result|>{{ m.content }}<|end_result|>"
        "{% elif m.tool_calls %}{% for it in m.tool_calls %}<|call|>{{ it.function.name }}"
        "<|end_call|>{% endfor %}<|calls|>{% else %}{{ m.role }}: {{ m.content }}<|end|>"
        "{% endif %}{% endfor %}"
    )
    chat = byte_level(template).chat(TOOLS, template=template)
    assert (
        text_of(chat, chat.loss_mask()) == "<|call|>get_weather<|end_call|><|calls|>It will.<|end|>"
    )
    # The answer that the model wrote ends with the last token of the two that the user's has.
    twice = template.replace("{{ m.content }}<|end|>", "{{ m.content }}<|stop|><|end|>").replace(
        "<|stop|>", "{% if m.role != 'user' %}<|stop|>{% endif %}"
    )
    chat = byte_level(twice).chat(TURNS[:2], template=twice)
    assert text_of(chat, chat.loss_mask()).endswith("<|stop|><|end|>")


def test_masks_hold_all_marks_that_end_a_turn_together() -> None:
    """Those of an answer and of a call differ, and a turn of the user has neither."""
    template = (
        "{% for m in messages %}{% if m.tool_calls %}<|im_start|>assistant -> tool\n"
        "{{ m.tool_calls[0].function.name }}<|im_end|><|stop|>\n{% else %}<|im_start|>{{ m.role }}\n"
        "{{ m.content }}<|im_end|>{{ '<|end_of_turn|>' if m.role == 'assistant' }}\n{% endif %}"
        "{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant{% endif %}"
    )
    tok = byte_level(template)
    call_of_tool = " -> tool\nget_weather<|im_end|><|stop|>"
    for messages, said in (
        (TOOLS, f"{call_of_tool}\nIt will.<|im_end|><|end_of_turn|>"),
        (TOOLS[:2], call_of_tool),
        ([*TOOLS, *TURNS[:1]], f"{call_of_tool}\nIt will.<|im_end|><|end_of_turn|>"),
    ):
        chat = tok.chat(messages, template=template)
        assert text_of(chat, chat.loss_mask()) == said
    # What opens the next turn is no part of it.
    joined = template.replace("\n{% endif %}", "{% endif %}").replace("<|stop|>\n", "<|stop|>")
    chat = byte_level(joined).chat([*TOOLS, *TOOLS], template=joined)
    said = f"{call_of_tool}\nIt will.<|im_end|><|end_of_turn|>"
    assert text_of(chat, chat.loss_mask()) == said + said


def test_masks_hold_calls_without_a_header() -> None:
    """Also if the white space in front of them is one token with that of the question."""
    template = (
        "{% for m in messages %}{% if m.tool_calls %}\n<tool_call>\n{{ m.tool_calls|tojson }}\n"
        "</tool_call></s>\n{% else %}<|{{ m.role }}|>\n{{ m.content }}{{ '</s>' if m.role == "
        "'assistant' }}\n{% endif %}{% endfor %}{% if add_generation_prompt %}<|assistant|>\n"
        "{% endif %}"
    )
    tok = byte_level(template)
    chat = tok.chat(TOOLS[:2], template=template)
    learnt = text_of(chat, chat.loss_mask())
    assert learnt.startswith("<tool_call>") and learnt.endswith("</tool_call></s>")


def test_masks_reach_the_end_of_text_if_that_ends_each_message() -> None:
    template = (
        "{% for m in messages %}<|open|>{{ m.role }}<|sep|>{{ m.content }}{% for it in m.tool_calls "
        "%}<|call|>{{ it.function.name }}<|close|>call{% endfor %}<|close|>message<|sep|></s>"
        "{% endfor %}"
    )
    chat = byte_level(template).chat(TOOLS, template=template)
    end = "<|close|>message<|sep|></s>"
    assert text_of(chat, chat.loss_mask()) == f"<|call|>get_weather<|close|>call{end}It will.{end}"


@pytest.mark.parametrize("space", ["", "\n", " \n\n"])
def test_masks_include_the_end_of_a_turn_after_marks_around_words(space: str) -> None:
    template = (
        "{% for m in messages %}<|im_start|>{{ m.role }}\n{% if m.role == 'assistant' %}<response>\n"
        "{{ m.content }}\n</response>SPACE{% else %}{{ m.content }}{% endif %}<|im_end|>\n"
        "{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
    ).replace("SPACE", space)
    for messages in (TURNS[:2], [*TURNS[:2], *TURNS[:2]]):
        chat = byte_level(template).chat(messages, template=template)
        said = f"<response>\n{TURNS[1]['content']}\n</response>{space}<|im_end|>"
        assert text_of(chat, chat.loss_mask()) == said * (len(messages) // 2)


def test_masks_end_with_the_end_of_the_turn() -> None:
    """A turn's end is learnt if it mixes text and control tokens, if it is all text, or if the
    template writes more behind the last turn."""
    ends = {
        "<|close|>message<|sep|><|end_of_msg|>": "<|close|>message<|sep|><|end_of_msg|>",
        "[e~[\n": "[e~[",
        "<|end|>\n{% if loop.last and not add_generation_prompt %}</s>{% endif %}": "<|end|>",
    }
    for written, end in ends.items():
        template = (
            "{% for m in messages %}<|open|>{{ m.role }}<|sep|>{{ m.content }}{% for it in "
            "m.tool_calls %}<|call|>{{ it.function.name }}<|close|>call{% endfor %}"
            + written
            + "{% endfor %}{% if add_generation_prompt %}<|open|>assistant<|sep|>{% endif %}"
        )
        tok = byte_level(template)
        for messages in (TOOLS, TOOLS[:2], [TOOLS[0], TOOLS[3], *TOOLS]):
            said = {"call": f"<|call|>get_weather<|close|>call{end}", "words": f"It will.{end}"}
            chat = tok.chat(messages, template=template)
            expected = [
                said["call" if it.get("tool_calls") else "words"]
                for it in messages
                if it["role"] == "assistant"
            ]
            assert text_of(chat, chat.loss_mask()) == "".join(expected), (written, len(messages))


@pytest.mark.parametrize("ends", ["", "<|end|>"])
@pytest.mark.parametrize(
    ("messages", "next"),
    [(TOOLS, "<|tool|>"), ([*TOOLS[:2], *HELLO], "<|user|>")],
    ids=["result", "question"],
)
def test_a_call_without_an_end_reaches_to_the_next_turn(
    messages: list[Message], next: str, ends: str
) -> None:
    """GLM's models stop at the token that begins the next turn, after calls as after words."""
    template = (
        "{% for m in messages %}{% if m.role == 'user' %}<|user|>{{ m.content }}"
        "{% elif m.role == 'tool' %}<|tool|>{{ m.content }}{% else %}<|assistant|>{{ m.content }}"
        "{% for c in m.tool_calls %}<tool_call>{{ c.function|tojson }}</tool_call>{% endfor %}"
        f"{ends}{{% endif %}}{{% endfor %}}{{% if add_generation_prompt %}}<|assistant|>"
        "{% endif %}"
    )
    tok = byte_level(template)
    chat = tok.chat(messages, template=template)
    mask = chat.loss_mask()
    at = chat.ids.index(tok.special_tokens["</tool_call>"])
    assert tok.decode(chat.ids[at + 1 : mask.index(0, at)]) == (ends or next)


def test_masks_leave_out_calls_that_results_repeat() -> None:
    """A template may name the tool again around its result, in the same turn."""
    template = (
        "{% for m in messages %}{% if m.role == 'tool' %}<|result|>{{ messages[loop.index0 - 1]"
        ".tool_calls[0].function.name }}={{ m.content }}<|end_result|>{% else %}<|turn|>{{ m.role }}"
        "\n{{ m.content }}{% for it in m.tool_calls %}<|call|>{{ it.function.name }}<|end_call|>"
        "{% endfor %}{% if not m.tool_calls %}<|end|>{% endif %}{% endif %}{% endfor %}"
        "{% if add_generation_prompt %}<|turn|>assistant\n{% endif %}"
    )
    tok = byte_level(template)
    chat = tok.chat(TOOLS, template=template)
    assert "<|result|>get_weather=" in chat.text
    assert text_of(chat, chat.loss_mask()) == "<|call|>get_weather<|end_call|>It will.<|end|>"
    # Between two things that one message says, what another one says is no part of the answer.
    between = template.replace(
        "{% if not m.tool_calls %}",
        "{% if m.tool_calls %}{% if not loop.last %}<|result|>{{ messages[loop.index].content }}"
        "<|end_result|>{% endif %}Done {{ m.content }}<|end|>{% else %}",
    )
    messages = [TOOLS[0], call(content="Seen."), *TOOLS[2:]]
    chat = byte_level(between).chat(messages, template=between)
    assert text_of(chat, chat.loss_mask()) == (
        "Seen.<|call|>get_weather<|end_call|>Seen.<|end|>It will.<|end|>"
    )


def test_masks_of_templates_that_always_ask_for_an_answer() -> None:
    """What opens a call begins behind the prompt, which stands behind every question."""
    template = (
        "{% for m in messages %}{% if m.role == 'user' %}<|user|>{{ m.content }}<|end|>{% elif "
        "m.role == 'tool' %}<|tool|>{{ m.content }}<|end|>{% else %}<|model|>{% if m.tool_calls %}"
        "<|think|><|call|>{{ m.tool_calls[0].function.name }}<|end_call|>{% else %}<|say|>"
        "{{ m.content }}<|said|>{% endif %}<|end|>{% endif %}{% endfor %}<|model|><|think|>"
    )
    tok = byte_level(template)
    for messages, said in ((TOOLS, "<|say|>It will.<|said|><|end|>"), (TOOLS[:2], "")):
        chat = tok.chat(messages, template=template)
        learnt = text_of(chat, chat.loss_mask())
        assert learnt == f"<|call|>get_weather<|end_call|><|end|>{said}"


@pytest.mark.parametrize("name", TEMPLATES)
def test_masks(name: str) -> None:
    chat = byte_level(TEMPLATES[name]).chat(TURNS, template=name)
    learnt = text_of(chat, chat.loss_mask())
    assert "It is 2." in learnt and "Because." in learnt
    assert "1 + 1" not in learnt and "Ça va" not in learnt
    asked = text_of(chat, chat.loss_mask(("user",)))
    assert "1 + 1" in asked and "Because" not in asked
    both = text_of(chat, chat.loss_mask(["user", "assistant"]))
    assert "1 + 1" in both and "Because" in both


def test_masks_by_origin_hold_the_end_of_the_turn() -> None:
    template = (
        "{% for m in messages %}<|im_start|>{{ m.role }} {{ m.content }}<|im_end|>\n{% endfor %}"
    )
    chat = TOK.chat(TURNS[:2], template=template)
    assert text_of(chat, chat.loss_mask()) == "It is 2.\n\nIs that all? <|im_end|>"
    template = (
        "{% for m in messages %}{{ m.reasoning_content }}</think>{{ m.content }};{% endfor %}"
    )
    chat = TOK.chat(REASONING, template=template)
    assert text_of(chat, chat.loss_mask()) == "4 + 4 + 4 is 12.</think>12;"


@pytest.mark.parametrize(
    ("messages", "roles"), [(HELLO, ("assistant",)), (TURNS, ("wizard",)), (TURNS, ())]
)
def test_a_mask_of_zeros_is_an_error(messages: Any, roles: Any) -> None:
    chat = TOK.chat(messages, template="chatml")
    with pytest.raises(ArgumentError, match="all zero"):
        chat.loss_mask(roles)
    with pytest.raises(ArgumentTypeError, match="roles"):
        chat.loss_mask("assistant")


def test_masks_hold_the_end_of_answers_without_text() -> None:
    template = (
        "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
        "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
    )
    tok = byte_level(template)
    turns = [*HELLO, {"role": "assistant", "content": ""}]
    for messages, learnt in (
        (turns, "<|im_end|>"),
        ([*turns, *TURNS], "<|im_end|>It is 2.\n\nIs that all? <|im_end|>Because.<|im_end|>"),
        ([*turns, *HELLO], "<|im_end|>"),
    ):
        chat = tok.chat(messages, template=template)
        assert text_of(chat, chat.loss_mask()) == learnt
    # Where no answer follows there may stand an end of text, and in front of its end more.
    for other, learnt in (
        (template.replace("{% endif %}", "{% else %}</s>{% endif %}"), "<|im_end|>"),
        (
            template.replace("{{ m.content }}", "{{ m.content or '<think></think>' }}"),
            "<think></think><|im_end|>",
        ),
    ):
        chat = tok.chat(turns, template=other)
        assert text_of(chat, chat.loss_mask()) == learnt
    # What a user quotes of a generation prompt begins no answer.
    quoting = [{"role": "user", "content": "<|im_start|>assistant\n"}, turns[-1], *HELLO]
    chat = tok.chat(quoting, template=template)
    assert text_of(chat, chat.loss_mask()) == "<|im_end|>"
    with pytest.raises(ArgumentError, match="all zero"):
        tok.chat([{"role": "user", "content": ""}, turns[-1]], template=template).loss_mask(
            ["user"]
        )
    # A template that does not show where an answer begins does not show its end.
    for other in (template.partition("{% if add")[0], template.replace("<|im_end|>", ";")):
        with pytest.raises(ArgumentError, match="all zero"):
            tok.chat(turns, template=other).loss_mask()


@pytest.mark.filterwarnings("ignore::jeton.errors.ChatWarning")
@pytest.mark.parametrize(
    ("name", "follows", "expected"),
    [
        ("openai-gpt-oss-120b", False, "<|channel|>final<|message|><|return|>"),
        ("openai-gpt-oss-120b", True, "<|channel|>final<|message|><|end|>"),
        ("upstage-Solar-Open-100B", True, "<|content|><|end|>"),
        ("Qwen-Qwen3-0.6B", False, "<think>\n\n</think>\n\n<|im_end|>"),
        ("Qwen-Qwen2.5-7B-Instruct", False, "<|im_end|>"),
    ],
)
def test_an_answer_without_text_has_its_header_and_its_end(
    name: str, follows: bool, expected: str
) -> None:
    if not PUBLISHED.exists():
        pytest.skip("needs the published templates")
    template = dict(templates())[name]
    tok = byte_level(template)
    asked = {"role": "user", "content": "Well?"}
    messages = [asked, {"role": "assistant", "content": ""}, *[asked] * follows]
    chat = tok.chat(messages, **options(template))
    learnt = [id for id, on in zip(chat.ids, chat.loss_mask(), strict=True) if on]
    assert tok.decode(learnt) == expected
