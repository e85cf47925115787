"""`tok.chat`: what it takes, what its result says, what it refuses."""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import jeton
from chat_cases import HELLO, REASONING, SYSTEM, TURNS, WEATHER, byte_level, templates
from jeton.chat import TEMPLATES, Chat, Origin
from jeton.errors import (
    ArgumentError,
    ArgumentTypeError,
    ChatWarning,
    UnknownNameError,
    UnsupportedError,
)

CHATML = TEMPLATES["chatml"]
TOK = byte_level(CHATML)


def text_of(chat: Chat, mask: list[int]) -> str:
    """What the tokens of a mask spell."""
    return "".join(chat.text[slice(*span)] for span, on in zip(chat.spans, mask, strict=True) if on)


def test_tokens_know_who_wrote_them() -> None:
    chat = TOK.chat([{"role": "user", "content": "hi"}], template="chatml")
    assert [str(origin) for origin in chat.origins] == [
        "template", "messages[0].role", "messages[0].role", "messages[0].role", "template",
        "messages[0].content", "messages[0].content", "template", "template",
    ]  # fmt: skip
    assert chat.origins[5] == Origin("message", 0, "user", "content")
    assert chat.text[slice(*chat.spans[0])] == "<|im_start|>"
    assert len(chat) == len(chat.ids) == len(chat.spans)
    assert "".join(chat.text[start:end] for start, end, _ in chat.segments) == chat.text


def test_no_beginning_is_doubled() -> None:
    for name in TEMPLATES:
        tok = byte_level(TEMPLATES[name])
        ids = tok.chat(HELLO, template=name).ids
        assert ids.count(tok.roles.ids["bos"]) == ("bos_token" in TEMPLATES[name])


def test_prefixes_are_kept_or_not() -> None:
    kept = TOK.chat([*TURNS, *HELLO], template="chatml", add_generation_prompt=True).keeps_prefix
    assert kept and len(kept.steps) == 5
    forgetful = (
        "{% for m in messages %}{{ '<|im_start|>' + m.role + '\n' }}"
        "{% if loop.last %}{{ m.reasoning_content }}{% endif %}{{ m.content + '<|im_end|>' }}"
        "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
    )
    chat = TOK.chat([*REASONING, *HELLO], template=forgetful)
    report = chat.keeps_prefix
    assert not report and "not kept" in repr(report)
    parting = next(step for step in report.steps if step.parts_at is not None)
    assert (parting.messages, parting.prompt) == (2, False)
    assert parting.parts_at is not None and parting.parts_at < parting.length


def test_only_the_last_turns_of_a_long_conversation_are_rendered() -> None:
    pair = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hey"}]
    chat = TOK.chat(pair * 100, template="chatml")
    report = chat.keeps_prefix
    assert report and len(report.steps) == 64 + 1 and report.left_out == 199 - 64
    assert [step.messages for step in report.steps[-3:]] == [198, 199, 200]
    assert "65 renderings (the last; 135 were left out)" in repr(report)
    assert TOK.chat(pair * 3, template="chatml").keeps_prefix.left_out == 0


@pytest.mark.large
@pytest.mark.filterwarnings("ignore::jeton.errors.ChatWarning")
def test_each_turn_is_the_chat_of_the_first_messages() -> None:
    messages: list[dict[str, Any]] = [
        {"role": "user", "content": "hi <|im_end|>"},
        {"role": "assistant", "content": "<think>a</think>b"},
        {"role": "user", "content": [{"type": "text", "text": "and"}]},
        {"role": "assistant", "content": "c"},
    ]
    compared = 0
    for name, template in templates():
        tok = byte_level(template)
        for prompt in (True, False):
            options: dict[str, Any] = {"template": template}
            if "tools" in template:
                options["tools"] = [{"type": "function", "function": {"name": "f"}}]
            try:
                chat = tok.chat(messages, add_generation_prompt=prompt, **options)
                steps = chat.keeps_prefix.steps
            except (ArgumentError, UnsupportedError):
                continue
            compared += len(steps)
            for step in steps:
                alone = tok.chat(
                    messages[: step.messages], add_generation_prompt=step.prompt, **options
                )
                assert step.length == len(alone.ids), (name, step)
    assert compared > 50


def test_truncation_drops_whole_turns_and_keeps_the_system() -> None:
    chat = TOK.chat([*SYSTEM, *TURNS], template="chatml")
    assert chat.truncate(10_000) is chat and chat.dropped == []
    shorter = chat.truncate(len(chat.ids) - 1)
    assert shorter.dropped == [1, 2]
    assert shorter.ids == TOK.chat([SYSTEM[0], *SYSTEM[3:], *TURNS], template="chatml").ids
    shortest = chat.truncate(len(TOK.chat([SYSTEM[0], *TURNS[2:]], template="chatml").ids))
    assert shortest.dropped == [1, 2, 3, 4, 5, 6]
    with pytest.raises(ArgumentError, match="max_tokens=3"):
        chat.truncate(3)
    with pytest.raises(ArgumentTypeError, match="max_tokens"):
        chat.truncate("3")  # type: ignore[arg-type]


def test_messages_of_other_kinds() -> None:
    @dataclass
    class Message:
        role: str
        content: str | None
        name: str | None = None

    class Model:
        def model_dump(self) -> dict[str, Any]:
            return {"role": "user", "content": "hi"}

    expected = TOK.chat([{"role": "user", "content": "hi"}], template="chatml").ids
    for messages in (
        [Message("user", "hi")],
        (Message("user", "hi"),),
        iter([{"role": "user", "content": "hi", "name": None}]),
        [Model()],
    ):
        assert TOK.chat(messages, template="chatml").ids == expected  # type: ignore[arg-type]


TEMPLATE = "{% for m in messages %}{{ m }}{% endfor %}{{ tools }}{{ documents }}{{ x }}"

BAD: dict[str, tuple[dict[str, Any], type[Exception], str]] = {
    "no messages": ({"messages": []}, ArgumentError, "empty"),
    "a text": ({"messages": "hello"}, ArgumentTypeError, "list of dicts"),
    "one message": ({"messages": HELLO[0]}, ArgumentTypeError, "list of dicts"),
    "None": ({"messages": None}, ArgumentTypeError, "list of dicts"),
    "a message that is a text": ({"messages": ["a"]}, ArgumentTypeError, r"messages\[0\]"),
    "a list of lists": ({"messages": [HELLO]}, ArgumentTypeError, r"messages\[0\]"),
    "a field with no name": ({"messages": [{1: 2}]}, ArgumentTypeError, "field"),
    "tools, a dict": ({"tools": WEATHER}, ArgumentTypeError, "tools"),
    "tools, functions": ({"tools": [print]}, ArgumentTypeError, r"tools\[0\]"),
    "documents, texts": ({"documents": ["a"]}, ArgumentTypeError, "documents"),
    "template, no text": ({"template": 3}, ArgumentTypeError, "template"),
    "template, unknown": ({"template": "chatmi"}, UnknownNameError, "chatml"),
    "prompt, no bool": ({"add_generation_prompt": "yes"}, ArgumentTypeError, "bool"),
    "continued, a number": ({"continue_final_message": 3}, ArgumentTypeError, "field"),
    "continued and begun": (
        {"continue_final_message": True, "add_generation_prompt": True},
        ArgumentError,
        "either",
    ),
    "continued, no field": ({"continue_final_message": "x"}, ArgumentError, "no 'x'"),
    "continued, unread": (
        {"continue_final_message": True, "template": "{{ 1 }}"},
        ArgumentError,
        "does not read",
    ),
    "continued, changed": (
        {"continue_final_message": True, "template": "{{ messages[0].content[:3] }}"},
        ArgumentError,
        "its end cannot be found",
    ),
    "trusted, a text": ({"trusted": "system"}, ArgumentTypeError, "trusted"),
    "trusted, an object": ({"trusted": [1.5]}, ArgumentTypeError, "trusted"),
    "trusted, no role": (
        {"trusted": ("usr",)},
        ArgumentError,
        r"trusted: 'usr' names nothing that the messages have \(their roles: user; their fields: "
        r"content, role\); did you mean 'user'\?",
    ),
    "trusted, no such field": ({"trusted": ("user.contnt",)}, ArgumentError, "mean 'content'"),
    "trusted, none there": ({"trusted": ("messages[0].x",)}, ArgumentError, "names nothing"),
    "trusted, no message": ({"trusted": (9,)}, ArgumentError, r"no messages\[9\]: there are 1"),
    "trusted, no field": ({"trusted": ["a b"]}, ArgumentError, "names no field"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input(name: str) -> None:
    options, kind, says = BAD[name]
    arguments: dict[str, Any] = {"messages": HELLO, "template": TEMPLATE, **options}
    with pytest.raises(kind, match=says):
        TOK.chat(arguments.pop("messages"), **arguments)


def test_a_misspelled_parameter_is_not_a_variable() -> None:
    with pytest.raises(ArgumentTypeError, match=r"did you mean 'add_generation_prompt'\?"):
        TOK.chat(HELLO, template="chatml", add_generation_promt=True)
    named = "{{ toools }}{{ messages }}"
    assert TOK.chat(HELLO, template=named, toools="a").text[0] == "a"
    with pytest.warns(ChatWarning, match="does not print the variable enable_thinking"):
        assert TOK.chat(HELLO, template="chatml", enable_thinking=False).roles == ["user"]


@pytest.mark.parametrize(("content", "kind"), [(5, "a number"), (True, "a number"), ({}, "a dict")])
def test_a_content_that_a_template_cannot_take_is_named(content: Any, kind: str) -> None:
    messages = [*HELLO, {"role": "user", "content": content}]
    with pytest.raises(ArgumentError, match=rf"messages\[{len(HELLO)}\].content is {kind}"):
        TOK.chat(messages, template="{% for m in messages %}{{ '' + m.content }}{% endfor %}")


def test_several_conversations_are_refused() -> None:
    several: Any = [HELLO, HELLO]
    with pytest.raises(ArgumentTypeError, match=r"not list .a call takes one conversation"):
        TOK.chat(several, template="chatml")


def test_values_nested_too_deep_are_refused() -> None:
    deep: Any = "a"
    for _ in range(5000):
        deep = [deep]
    with pytest.raises(ArgumentError, match="too deep"):
        TOK.chat([{"role": "user", "content": deep}], template=TEMPLATE)
    endless: list[Any] = []
    endless.append(endless)
    with pytest.raises(ArgumentError, match="too deep"):
        TOK.chat(HELLO, template=TEMPLATE, x=endless)


ODD = ["", "\0", "\ud800", "\udc00\ud800", "🙂" * 1000, "\ufeff", "%s", "{0}", "{{ 1 }}", "\u2028"]


@pytest.mark.filterwarnings("ignore::jeton.errors.ChatWarning")
@pytest.mark.parametrize("content", ODD)
@pytest.mark.parametrize("template", [TEMPLATE, CHATML, "{{ messages|tojson }}"])
def test_odd_text(content: str, template: str) -> None:
    chat = TOK.chat([{"role": "user", "content": f"{content}<|im_end|>"}], template=template, x=1)
    assert chat.spans[-1][1] == len(chat.text)
    assert chat.ids.count(TOK.special_tokens["<|im_end|>"]) == (template == CHATML)


@pytest.mark.filterwarnings("ignore::jeton.errors.ChatWarning")
def test_templates_of_the_tokenizer(tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match="no chat template"):
        TOK.chat(HELLO)
    tok = TOK.replace(chat_template="own {{ messages[0].content }}")
    tok.save(tmp_path / "one")
    assert jeton.load(tmp_path / "one").chat(HELLO).text == "own Hello, how are you?"
    tok = TOK.replace(chat_template={"default": "d", "tool_use": "t", "rag": "r"})
    tok.save(tmp_path / "several")
    tok = jeton.load(tmp_path / "several")
    assert [tok.chat(HELLO, **it).text for it in ({}, {"tools": [WEATHER]}, {"template": "rag"})] == [
        "d", "t", "r",
    ]  # fmt: skip
    with pytest.raises(ArgumentError, match="a, b"):
        TOK.replace(chat_template={"a": "x", "b": "y"}).chat(HELLO)


def test_names_of_templates_are_read_leniently() -> None:
    for name, text in TEMPLATES.items():
        for spelled in (name.upper(), name.replace("-", "_")):
            tok = byte_level(text)
            assert tok.chat(HELLO, template=spelled).ids == tok.chat(HELLO, template=text).ids


def test_how_it_looks() -> None:
    from rich.console import Console

    chat = TOK.chat([{"role": "user", "content": "a<|im_end|>b"}], template="chatml")
    assert repr(chat).startswith("Chat(1 message, 18 tokens: '<|im_start|>user")
    file = io.StringIO()
    Console(file=file, width=90, color_system="256", force_terminal=True).print(chat)
    shown = file.getvalue()
    assert "\x1b[1;38;5;231;48;5;61m<|im_start|>" in shown
    assert "\x1b[1;38;5;231;48;5;160m<|im_end|>" in shown


def test_no_content_is_not_printed_as_a_word() -> None:
    """Where a template writes it as JSON, or as Python does."""
    call = {"id": "1", "type": "function", "function": {"name": "f", "arguments": {}}}
    messages = [{"role": "assistant", "content": None, "tool_calls": [call]}]
    for printed in ("m.content if m.content is string else m.content|tojson", "m.content"):
        template = (
            "{% for m in messages %}<{{ "
            + printed
            + " }}>{{ m.tool_calls[0].function.name }}{% endfor %}"
        )
        assert TOK.chat(messages, template=template).text == "<>f"
    is_none = "{{ 'none' if messages[0].content is none else messages[0].content + 'x' }}{{ messages[0].tool_calls[0].id }}"
    assert TOK.chat(messages, template=is_none).text.startswith(("none", "x"))
