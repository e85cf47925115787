"""Tools that are kept from call to call give what tools that are new give."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from chat_cases import HELLO, byte_level, templates
from jeton.chat.templates import input as kept
from jeton.errors import JetonError

pytestmark = pytest.mark.filterwarnings("ignore::jeton.errors.ChatWarning")
"""What templates leave out is the matter of `test_chat_unprinted.py`."""


def tools(word: str = "weather", count: int = 3) -> list[Any]:
    return [
        {
            "type": "function",
            "function": {
                "name": f"{word}_{number}",
                "description": f"Says <|im_end|> é \ud800 & {word}.",
                "parameters": {
                    "type": "object",
                    "properties": {
                        f"p{it}": {"type": "string", "enum": ["a", 1, 2.5, None, True], "b": {}}
                        for it in range(6)
                    },
                },
            },
        }
        for number in range(count)
    ]


JSON = "{% for t in tools %}{{ t | tojson(OPTIONS) }}{% endfor %}{{ tools | tojson }}{{ tools }}"


def seen(chat: Any) -> tuple[Any, ...]:
    return chat.text, chat.ids, chat.spans, chat.origins


@pytest.mark.parametrize(
    "options",
    ["", "indent=2", "ensure_ascii=true", "sort_keys=true", "separators=(',', ':')", "1, 4"],
)
def test_json_that_was_written_before_is_the_same(
    options: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    tok = byte_level("<|im_end|>")
    template = JSON.replace("OPTIONS", options)
    chats = [tok.chat(HELLO, template=template, tools=tools()) for _ in range(3)]
    monkeypatch.setattr(kept, "_MAX_KEPT_BYTES", 0)
    new = tok.chat(HELLO, template=template, tools=tools())
    assert [seen(chat) for chat in chats] == [seen(new)] * 3
    assert tok.special_tokens["<|im_end|>"] not in new.ids


@pytest.mark.large
def test_every_template_gives_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    def all_of() -> list[Any]:
        found: list[Any] = []
        for _, template in templates():
            for _ in range(2):
                try:
                    chat = byte_level(template).chat(HELLO, template=template, tools=tools())
                    found.append((chat.text, chat.segments))
                except JetonError as error:
                    found.append(str(error))
        return found

    old = all_of()
    monkeypatch.setattr(kept, "_MAX_KEPT_BYTES", 0)
    assert all_of() == old


TEMPLATE = JSON.replace("OPTIONS", "")


def test_tools_that_change_are_others() -> None:
    tok = byte_level("")
    given = tools()
    template = TEMPLATE
    first = tok.chat(HELLO, template=template, tools=given).text
    before = copy.deepcopy(given)
    given[0]["function"]["name"] = "other"
    assert "other" in tok.chat(HELLO, template=template, tools=given).text
    assert tok.chat(HELLO, template=template, tools=before).text == first
    given[0] = {"type": ("a", 1)}  # a tuple is shown as one
    assert "('a', 1)" in tok.chat(HELLO, template=template, tools=given).text
    given[0] = {"type": ["a", True]}
    assert "['a', True]" in tok.chat(HELLO, template=template, tools=given).text


def test_trust_in_tools_is_not_kept() -> None:
    tok = byte_level("<|im_end|>")
    end = tok.special_tokens["<|im_end|>"]
    for trusted in (False, True, False):
        chat = tok.chat(HELLO, template=TEMPLATE, tools=tools(), trusted=["tools"] * trusted)
        assert (end in chat.ids) == trusted


def test_data_between_the_values_of_a_tool_stays_data() -> None:
    """The JSON that is kept is by the texts of its separators, whoever wrote them."""
    tok = byte_level("<|im_end|>")
    end = tok.special_tokens["<|im_end|>"]
    template = "{{ tools[0] | tojson(separators=(SEP, ': ')) }}"
    for separator in ("'<|im_end|>'", "messages[0].content", "'<|im_end|>'"):
        messages = [{"role": "user", "content": "<|im_end|>"}]
        plain = [{"type": "function", "function": {"name": "f", "description": "g"}}]
        chat = tok.chat(messages, template=template.replace("SEP", separator), tools=plain)
        assert chat.ids.count(end) == (separator[0] == "'") * 2


def test_tools_of_other_types_are_written() -> None:
    odd = [{"type": type("Text", (str,), {})("x" * 1000)}]
    assert "xxx" in byte_level("").chat(HELLO, template=TEMPLATE, tools=odd).text


@pytest.mark.large
def test_many_tools_and_many_ways_to_write_them_are_right() -> None:
    tok = byte_level("")
    template = "{% for i in range(20) %}{{ tools | tojson(indent=i) }}{% endfor %}"
    text = tok.chat(HELLO, template=template, tools=tools("a")).text
    for word in [f"t{number}" for number in range(20)] * 2:
        expected = text.replace("a_", f"{word}_").replace("& a.", f"& {word}.")
        assert tok.chat(HELLO, template=template, tools=tools(word)).text == expected
