"""What a template does not print is said: `chat.unprinted`, warnings, refusals, and counts."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

import jeton
import jeton.chat
from chat_cases import (
    HELLO,
    IMAGE,
    PARTS,
    REASONING,
    RESULT,
    TURNS,
    WEATHER,
    byte_level,
    call,
    templates,
)
from jeton.chat import TEMPLATES
from jeton.errors import ArgumentError, ChatWarning, JetonError, UnsupportedError
from shared_data import SHARED, needs

TOK = byte_level("")
NAMED = dict(templates())
NEEDED: dict[str, dict[str, Any]] = {
    "fireworks-ai-llama-3-firefunction-v2": {"functions": "f()", "datetime": "today"},
    "NousResearch-Hermes-3-Llama-3.1-8B-tool_use": {"tools": [WEATHER]},
}
"""Without these a template refuses all messages."""
CONTENTS = "{% for m in messages if m.role != 'hidden' %}{{ m.role }}:{{ m.content }};{% endfor %}"
USER_ONLY = "{% for m in messages if m.role == 'user' %}{{ m.content }}{% endfor %}"
MORE = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]
SYSTEM = {"role": "system", "content": "Be brief."}
FILE = {"type": "file", "file": {"file_id": "f-1"}}


def with_media(message: str) -> str:
    """A template that prints the texts of parts, and something for images."""
    return (
        "{% for m in messages %}{% for part in m.content %}{% if part.type == 'image' %}"
        f"{message}{{% elif part.type == 'text' %}}{{{{ part.text }}}}{{% endif %}}{{% endfor %}}"
        "{% endfor %}"
    )


@contextmanager
def warning(says: str | None) -> Iterator[None]:
    """Expects a warning that says something, or none."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    told = [str(it.message) for it in caught if issubclass(it.category, ChatWarning)]
    assert len(told) == len(caught) == (says is not None), told
    assert says is None or says in told[0], told


NO_TEXT = [{"role": "user", "content": ["a", {"type": "text", "text": None}]}]


@pytest.mark.parametrize("name", TEMPLATES)
def test_a_part_whose_text_is_none_is_no_text(name: str) -> None:
    with pytest.raises(ArgumentError, match=r"^messages\[0\].content\[1\].text: None is not text"):
        TOK.chat(NO_TEXT, template=name)


def test_another_template_prints_none_and_that_is_said() -> None:
    with warning(r"messages[0].content[1].text: None is not text; the chat template prints"):
        chat = TOK.chat(NO_TEXT, template="{{ messages[0].content[1].text }}a")
    assert chat.text == "Nonea"


CASES: dict[str, tuple[str, list[Any], dict[str, Any], list[str], str | None]] = {
    "all of it": (CONTENTS, HELLO, {}, [], None),
    "a role": (USER_ONLY, MORE, {}, ["messages[1]"], "does not print messages[1]"),
    "a misspelled role": (
        USER_ONLY, [*HELLO, {"role": "usr", "content": "a"}], {}, ["messages[1]"],
        "print messages[1]; for the role 'usr' of messages[1], did you mean 'user'?",
    ),
    "a misspelled role that is printed": (
        CONTENTS, [{"role": "usr", "content": "a"}], {}, [], "for the role 'usr' of messages[0]",
    ),
    "a role of one's own": (CONTENTS, [{"role": "critic", "content": "a"}], {}, [], None),
    "nothing said": (USER_ONLY, [*HELLO, {"role": "tool", "content": " \n"}], {}, [], None),
    "a content beside a call": (
        "{% for m in messages %}{{ m.tool_calls[0].function.name if m.tool_calls else m.content }}"
        "{{ m.tool_calls }}{% endfor %}",
        [*HELLO, {**call(), "content": "Let me see."}], {}, ["messages[1].content"],
        "does not print messages[1].content",
    ),
    "a call": (
        CONTENTS, [*HELLO, call()], {}, ["messages[1].tool_calls"], "messages[1].tool_calls",
    ),
    "the second call": (
        "{% for m in messages %}{{ m.content }}{% if m.tool_calls %}{{ m.tool_calls[0] }}"
        "{% endif %}{% endfor %}",
        [*HELLO, {**call(), "tool_calls": call()["tool_calls"] * 2}], {},
        ["messages[1].tool_calls[1]"], "does not print messages[1].tool_calls[1]",
    ),
    "fields that only tell what is what": (
        CONTENTS, [*HELLO, {**RESULT, "content": "a", "id": "b"}], {}, [], None,
    ),
    "a name": (CONTENTS, [{**HELLO[0], "name": "Ann"}], {}, ["messages[0].name"], None),
    "a field of one's own": (CONTENTS, [{**HELLO[0], "mood": 3}], {}, ["messages[0].mood"], None),
    "reasoning that the template never reads": (
        CONTENTS, REASONING, {}, ["messages[1].reasoning_content"], "reasoning_content",
    ),
    "reasoning by what follows no origins": (
        "{% for m in messages %}{{ m.content }}{{ (m.reasoning_content or '') | wordwrap(9) }}"
        "{% endfor %}", [*HELLO, {"role": "assistant", "content": "a", "reasoning": "b c"}], {},
        [], None,
    ),
    "reasoning of an earlier turn": (
        "{% for m in messages %}{{ m.content }}{{ m.reasoning_content if loop.last }}{% endfor %}",
        [*REASONING, *HELLO], {}, ["messages[1].reasoning_content"], None,
    ),
    "tools": (CONTENTS, HELLO, {"tools": [WEATHER]}, ["tools"], "does not print tools"),
    "tools that are printed": (CONTENTS + "{{ tools }}", HELLO, {"tools": [WEATHER]}, [], None),
    "tools by what follows no origins": (
        CONTENTS + "{{ tools | tojson | wordwrap(9) }}", HELLO, {"tools": [WEATHER]}, [], None,
    ),
    "tools that are counted": (
        CONTENTS + "{{ tools | length if tools }}", HELLO, {"tools": [WEATHER]}, [], None,
    ),
    "documents": (
        CONTENTS, HELLO, {"documents": [{"title": "A", "text": "B"}]}, ["documents"], "documents",
    ),
    "one document": (
        CONTENTS + "{{ documents[0] }}", HELLO,
        {"documents": [{"text": "A"}, {"text": "B"}]}, ["documents[1]"], "documents[1]",
    ),
    "a variable": (CONTENTS, HELLO, {"x": 1}, ["x"], "does not print the variable x"),
    "a variable that is read": (
        CONTENTS + "{% if enable_thinking is false %}.{% endif %}", HELLO,
        {"enable_thinking": True}, [], None,
    ),
    "a misspelled variable": (
        CONTENTS + "{{ '' if enable_thinking else '.' }}", HELLO, {"enable_thinkin": False},
        ["enable_thinkin"], "for the variable 'enable_thinkin', did you mean 'enable_thinking'?",
    ),
    "a variable that is None": (CONTENTS, HELLO, {"x": None}, [], None),
    "an image": (
        with_media(""), IMAGE, {}, ["messages[0].content[0]"], "messages[0].content[0]",
    ),
    "an image with a placeholder": (with_media("<image>"), IMAGE, {}, [], None),
    "a file beside an image": (
        with_media("<image>"), [{"role": "user", "content": [*IMAGE[0]["content"], FILE]}], {},
        ["messages[0].content[2]"], "messages[0].content[2]",
    ),
    "an image where there are only texts": (
        CONTENTS, IMAGE, {}, ["messages[0].content[0]"], "messages[0].content[0]",
    ),
    "a result inside a part": (
        CONTENTS,
        [{"role": "user", "content": [
            {"type": "tool_result", "content": "a"}, {"type": "text", "text": "b"}]}],
        {}, ["messages[0].content[0]"], "messages[0].content[0]",
    ),
    "an empty text": (
        with_media(""), [{"role": "user", "content": [
            {"type": "text", "text": ""}, {"type": "text", "text": "a"}]}], {}, [], None,
    ),
}  # fmt: skip
"""A template, messages and options; what is not printed, and what the warning says."""


@pytest.mark.parametrize("name", CASES)
def test_unprinted_parts_are_reported(name: str) -> None:
    template, messages, options, unprinted, says = CASES[name]
    with warning(says):
        chat = TOK.chat(messages, template=template, **options)
    assert [str(it) for it in chat.unprinted] == unprinted


def test_each_part_is_checked_if_some_leave_a_trace() -> None:
    template = CONTENTS + "{{ messages[0].tool_calls | tojson | wordwrap(9) }}"
    messages = [{**call(), "content": "a"}, *HELLO, {**call(), "content": "b"}]
    with warning("does not print messages[2].tool_calls"):
        chat = TOK.chat(messages, template=template)
    assert [str(it) for it in chat.unprinted] == ["messages[2].tool_calls"]


@pytest.mark.large
def test_questions_to_a_template_end() -> None:
    endless = "{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}"
    template = "{% if messages | length < 4 %}" + endless + "{% endif %}" + CONTENTS
    with jeton.chat.limits(seconds=0.6):
        assert TOK.chat(TURNS, template=template).text
        # What is not printed is then told by who wrote the text alone.
        with warning("does not print tools"):
            TOK.chat(
                TURNS, template=template.replace("{% if ", "{% if not tools or "), tools=[WEATHER]
            )
        with pytest.raises(UnsupportedError, match="takes more than"):
            TOK.chat([*PARTS, *TURNS], template=template)


def test_a_truncated_chat_does_not_warn_again() -> None:
    with warning("messages[0].tool_calls"):
        chat = TOK.chat([call(), *TURNS, *TURNS], template=CONTENTS, add_generation_prompt=False)
    with warning(None):
        shorter = chat.truncate(len(chat.ids) - 1)
        assert shorter.loss_mask() and chat.keeps_prefix is not None
    assert shorter.unprinted == []


@needs(SHARED / "templates")
@pytest.mark.parametrize("name", NAMED)
def test_usual_chats_of_every_template_are_printed(name: str) -> None:
    template = NAMED[name]
    more = NEEDED.get(name, {})
    tok = byte_level(template)
    with warning(None):
        chat = tok.chat(TURNS, template=template, **more)
    assert chat.unprinted == []


TEXTS = [{"type": "text", "text": "Hello "}, {"type": "text", "text": "x"}]
JOINED: dict[str, tuple[str, list[Any], str]] = {
    "texts only": (CONTENTS, TEXTS, "user:Hello x;"),
    "strings": (CONTENTS, ["Hello ", "x"], "user:Hello x;"),
    "strings and parts": (CONTENTS, ["Hello ", TEXTS[1]], "user:Hello x;"),
    "another kind of text": (CONTENTS, [{"type": "input_text", "text": "a"}], "user:a;"),
    "no kind": (CONTENTS, [{"text": "a"}], "user:a;"),
    "a refusal": (CONTENTS, [{"type": "refusal", "refusal": "No."}], "user:No.;"),
    "parts": (with_media("?"), TEXTS, "Hello x"),
    "strings for parts": (
        "{% for m in messages %}{% if m.content is string %}{{ m.content }}{% else %}"
        "{% for part in m.content %}{{ part.text }}|{% endfor %}{% endif %}{% endfor %}",
        ["a", "b"], "a|b|",
    ),
    "whatever it is": ("{{ messages[0].content | tojson }}", TEXTS, '"Hello x"'),
    "no text at all": ("{{ messages[0].content }}", [3, 4], "[3, 4]"),
}  # fmt: skip


@pytest.mark.parametrize("name", JOINED)
def test_parts_of_text_are_joined_for_templates_that_take_texts(name: str) -> None:
    template, content, text = JOINED[name]
    chat = TOK.chat([{"role": "user", "content": content}], template=template)
    assert chat.text == text
    fields = {it.field for it in chat.origins if it.kind == "message" and it.field != "role"}
    assert fields and all(it.startswith("content[") for it in fields)


@needs(SHARED / "templates")
@pytest.mark.parametrize("name", NAMED)
def test_parts_of_text_are_text_in_every_template(name: str) -> None:
    template = NAMED[name]
    more = NEEDED.get(name, {})
    tok = byte_level(template)
    whole = tok.chat(HELLO, template=template, **more)
    hello = HELLO[0]["content"]
    for parts in ([{"type": "text", "text": hello}], [hello]):
        chat = tok.chat([{"role": "user", "content": parts}], template=template, **more)
        assert (chat.text, chat.ids) == (whole.text, whole.ids)
    two = [{"type": "text", "text": it} for it in (hello[:3], hello[3:])]
    chat = tok.chat([{"role": "user", "content": two}], template=template, **more)
    assert chat.text.replace("\n", "") == whole.text.replace("\n", "")


@needs(SHARED / "templates")
@pytest.mark.filterwarnings("ignore::jeton.errors.ChatWarning")
@pytest.mark.parametrize("name", NAMED)
@pytest.mark.parametrize("arguments", [None, '{"city": "Bergen"}'])
def test_parts_are_text_in_every_message(name: str, arguments: str | None) -> None:
    template = NAMED[name]
    options = {"tools": [WEATHER], **NEEDED.get(name, {})} if "jeton" not in name else {}
    tok = byte_level(template)
    asked, answer = HELLO[0], {"role": "assistant", "content": "It will."}
    for chat in (
        [asked, call(arguments), RESULT, answer],
        [SYSTEM, asked, call(arguments), RESULT],
        [SYSTEM, asked, answer, asked],
    ):
        parts = [
            {**it, "content": [{"type": "text", "text": it["content"]}]} if it["content"] else it
            for it in chat
        ]
        try:
            whole = tok.chat(chat, template=template, **options)
        except JetonError:
            continue  # the template takes no such chat
        assert tok.chat(parts, template=template, **options).text == whole.text


def test_parts_of_other_roles_are_text() -> None:
    template = "{% for m in messages %}{{ m.role + ':' + m.content + ';' }}{% endfor %}"
    roles = ("system", "developer", "user", "assistant", "model", "tool", "critic")
    messages = [{"role": role, "content": TEXTS} for role in roles]
    text = TOK.chat(messages, template=template).text
    assert text == "".join(f"{role}:Hello x;" for role in roles)
    last = TOK.chat(PARTS * 2, template=template, continue_final_message=True)
    assert last.text == "user:Hello x;user:Hello x"


REFUSED: dict[str, tuple[list[Any], dict[str, Any], str]] = {
    "tools": (HELLO, {"tools": [WEATHER]}, "tools"),
    "documents": (HELLO, {"documents": [{"text": "a"}]}, "documents"),
    "calls": ([*HELLO, call()], {}, r"messages\[1\]"),
    "calls with words": ([*HELLO, {**call(), "content": "a"}], {}, r"messages\[1\]\.tool_calls"),
    "images": (IMAGE, {}, r"messages\[0\]\.content\[0\]"),
    "reasoning": (REASONING, {}, r"messages\[1\]\.reasoning_content"),
}


@pytest.mark.parametrize("name", TEMPLATES)
@pytest.mark.parametrize("what", REFUSED)
def test_templates_of_jeton_refuse_what_they_do_not_print(name: str, what: str) -> None:
    messages, options, place = REFUSED[what]
    tok = byte_level(TEMPLATES[name])
    if (name, what) == ("gpt-oss", "reasoning"):
        assert tok.chat(messages, template=name).unprinted == []
        return
    for own in (tok, tok.replace(chat_template=TEMPLATES[name])):
        template = None if own is not tok else name
        with pytest.raises(UnsupportedError, match=f"template '{name}' does not print {place}"):
            own.chat(messages, template=template, **options)
        if what != "images":
            with pytest.raises(UnsupportedError, match=f"template '{name}' does not print"):
                own.count_messages(messages, template=template, **options)


COUNTS: list[tuple[list[Any], dict[str, Any], str | None]] = [
    (HELLO, {}, None),
    (HELLO, {"tools": [WEATHER]}, "it does not print tools"),
    (HELLO, {"documents": [{"text": "a"}]}, "it does not print documents"),
    (HELLO, {"x": 1}, "it does not print x"),
    ([*HELLO, call()], {}, "it does not print messages[1].tool_calls"),
    ([{**HELLO[0], "name": "Ann"}], {}, "it does not print messages[0].name"),
    ([*HELLO, RESULT], {}, None),
    (
        [{"role": "user", "content": " "}, {"role": "hidden", "content": "a"}],
        {},
        "it does not print messages[1]",
    ),
    (PARTS, {}, None),
    (IMAGE, {"tokens_per_part": 9}, "9 tokens for each part that is not text (image)"),
]


@pytest.mark.filterwarnings("ignore::jeton.errors.ChatWarning")
@pytest.mark.parametrize(("messages", "options", "says"), COUNTS)
def test_a_count_is_exact_only_if_all_was_printed(
    messages: list[Any], options: dict[str, Any], says: str | None
) -> None:
    count = TOK.count_messages(messages, template=CONTENTS, **options)
    assert count.exact == (says is None)
    assert says is None or count.basis.endswith(f"; {says}")


@needs(SHARED / "templates")
@pytest.mark.filterwarnings("ignore::jeton.errors.ChatWarning")
def test_tools_count_as_the_template_prints_them() -> None:
    template = NAMED["meta-llama-Llama-3.1-8B-Instruct"]
    tok = byte_level(template)
    count = tok.count_messages(HELLO, template=template, tools=[WEATHER])
    assert count.exact and count.tokens > tok.count_messages(HELLO, template=template).tokens + 99
    with pytest.raises(UnsupportedError, match=r"'llama3\.1' does not print tools"):
        tok.count_messages(HELLO, template="llama3.1", tools=[WEATHER])
    plain = tok.count_messages(HELLO, template=template)
    assert tok.count_messages(HELLO, template="llama3.1").tokens == plain.tokens


def test_formats_whose_models_write_more() -> None:
    alone = TOK.count_messages(HELLO, template="mistral-small")
    assert not alone.exact and "write a system's message of their own" in alone.basis
    answered = TOK.count_messages(
        [*HELLO, {"role": "assistant", "content": "It is."}], template="qwen3"
    )
    assert not answered.exact and "Qwen 3 writes an empty <think>" in answered.basis


@pytest.mark.parametrize("name", ["qwen", "llama3", "llama3.1", "llama4", "phi", "gemma", "zephyr"])
def test_results_of_tools_are_not_messages_in_formats_that_write_them_otherwise(name: str) -> None:
    with pytest.raises(ArgumentError, match="has no role tool"):
        TOK.chat([*HELLO, RESULT], template=name)
