"""`tok.count_messages`: the tokens of a conversation, and what makes a count an estimate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

import jeton
from chat_cases import HELLO, TURNS, WEATHER, byte_level
from jeton.chat.message_counts import MessageCount
from jeton.errors import ArgumentError, ArgumentTypeError, JetonError, UnknownNameError
from kinds import ranks

TOK = ranks()
PLAIN = [{"role": "system", "content": "the weather"}, {"role": "user", "content": "there?"}]
IMAGE = {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}


@pytest.mark.parametrize(
    "given",
    [
        {"continue_final_message": True, "add_generation_prompt": False},
        {"trusted": ["content"]},
        {"control": []},
        {"of_the_template": 1},
    ],
)
@pytest.mark.filterwarnings("ignore::jeton.errors.ChatWarning")
def test_counts_accept_what_chat_accepts(given: dict[str, Any]) -> None:
    chat = TOK.chat(PLAIN, template="chatml", **{"add_generation_prompt": True} | given)
    assert TOK.count_messages(PLAIN, template="chatml", **given).tokens == len(chat.ids)


def test_documents_are_accepted() -> None:
    given: dict[str, Any] = {"documents": [{"title": "the", "text": "er"}]}
    template = "{{ messages[0].content }}{{ documents[0].text }}"
    chat = TOK.chat(PLAIN[:1], template=template, **given)
    assert TOK.count_messages(PLAIN[:1], template=template, **given).tokens == len(chat.ids)


@pytest.mark.parametrize("given", [{"documents": 5}, {"trusted": ["nope"]}, {"control": ["nope"]}])
def test_counts_refuse_what_chat_refuses(given: dict[str, Any]) -> None:
    with pytest.raises(jeton.JetonError):
        TOK.count_messages(PLAIN, template="chatml", **given)


ESTIMATES: list[tuple[list[dict[str, Any]], dict[str, Any], str]] = [
    ([{"role": "user", "content": [IMAGE]}], {"tokens_per_part": 85},
     "85 tokens for each part that is not text (image_url)"),
    ([{**HELLO[0], "odd": "a"}], {}, "it does not print "),
    (HELLO, {"odd": "a"}, "it does not print "),
]  # fmt: skip


@pytest.mark.parametrize(("messages", "options", "says"), ESTIMATES)
def test_estimates_say_so(
    messages: list[dict[str, Any]], options: dict[str, Any], says: str
) -> None:
    count = TOK.count_messages(messages, template="chatml", **options)
    assert not count.exact and count.basis.startswith("estimated: ") and says in count.basis


NESTED: dict[str, tuple[Any, int]] = {
    "an image": ([IMAGE, IMAGE], 2),
    "an image in a result": ([{"type": "tool_result", "content": ["the", IMAGE]}], 1),
    "sound": ([{"type": "input_audio", "input_audio": {"data": "A" * 9_000}}], 1),
    "text": (["the", {"type": "text", "text": "the"}], 0),
}


@pytest.mark.parametrize("name", NESTED)
def test_each_part_that_is_not_text_counts(name: str) -> None:
    content, number = NESTED[name]
    template = "{% for part in messages[0].content %}a{% endfor %}"
    messages = [{"role": "user", "content": content}]
    options: dict[str, Any] = {"template": template, "tokens_per_part": 85}
    want = TOK.count("a" * len(content)) + 85 * number
    assert TOK.count_messages(messages, **options).tokens == want
    del options["tokens_per_part"]
    if number:
        with pytest.raises(ArgumentError, match=r"messages\[0\]\.content\[0\].* is not text"):
            TOK.count_messages(messages, **options)
    else:
        assert TOK.count_messages(messages, **options).tokens == want


def test_parts_that_hold_themselves_are_refused() -> None:
    part: dict[str, Any] = {"type": "tool_result"}
    part["content"] = [part]
    with pytest.raises(ArgumentError, match="nested too deep"):
        TOK.count_messages([{"role": "user", "content": [part]}], template="chatml")


@pytest.mark.parametrize("template", ["chatml", "llama3", "gemma", None])
def test_a_template_is_exact(template: str | None) -> None:
    own = jeton.chat.TEMPLATES["zephyr"]
    tok = byte_level(own).replace(chat_template=own)
    for prompt in (True, False):
        count = tok.count_messages(TURNS, template=template, add_generation_prompt=prompt)
        chat = tok.chat(TURNS, template=template, add_generation_prompt=prompt)
        assert (count.tokens, count.exact) == (len(chat.ids), True)
    assert ("own" in count.basis) == (template is None)


def test_variables_and_tools_reach_the_template() -> None:
    tok = TOK.replace(chat_template="{{ x }}{{ tools[0].type }}")
    assert tok.count_messages(HELLO, x="aa", tools=[WEATHER]).tokens == tok.count("aafunction")


def test_messages_of_any_kind() -> None:
    @dataclass
    class Message:
        role: str
        content: str
        name: str | None = None

    messages = [Message(**message) for message in PLAIN]
    want = TOK.count_messages(PLAIN, template="chatml")
    assert TOK.count_messages(messages, template="chatml") == want  # type: ignore[arg-type]
    assert TOK.count_messages(iter(PLAIN), template="chatml") == want
    assert int(want) == want.tokens and range(100)[want] == want.tokens
    assert isinstance(want, MessageCount) and hash(want) == hash(want)


BAD: list[tuple[Any, dict[str, Any], type[JetonError], str]] = [
    (PLAIN, {"template": None}, ArgumentError, "no chat template"),
    (PLAIN, {"template": "chatmll"}, UnknownNameError, "did you mean 'chatml'"),
    ([], {}, ArgumentError, "messages is empty"),
    ("hello", {}, ArgumentTypeError, "messages must be a list"),
    ({"role": "user"}, {}, ArgumentTypeError, "messages must be a list"),
    ([3], {}, ArgumentTypeError, "messages[0] must be a dict"),
    ([{"role": 5, "content": "x"}], {}, ArgumentTypeError,
     "messages[0].role must be a str, not int"),
    ([{"role": "user", "content": b"x"}], {}, ArgumentTypeError,
     "messages[0].content must be text, a number, a list or a dict, not bytes"),
    ([{"role": "user", 3: 4}], {}, ArgumentTypeError, "name of a field"),
    ([{"role": "user", "content": [IMAGE]}], {}, ArgumentError,
     "messages[0].content[0] is not text (image_url)"),
    (PLAIN, {"tools": {"a": 1}}, ArgumentTypeError, "tools must be a list"),
    (PLAIN, {"tokens_per_part": -1}, ArgumentError, "tokens_per_part must be"),
]  # fmt: skip


@pytest.mark.parametrize(("messages", "options", "error", "says"), BAD)
def test_bad_input(
    messages: Any, options: dict[str, Any], error: type[JetonError], says: str
) -> None:
    with pytest.raises(error) as raised:
        TOK.count_messages(messages, **{"template": "chatml"} | options)
    assert says in str(raised.value)
