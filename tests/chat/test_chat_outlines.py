"""Chats that differ in their words alone: outlines give what rendering each of them gives."""

from __future__ import annotations

import datetime
import random
from typing import Any

import pytest

import jeton
from chat_cases import KINDS, Message, templates
from jeton.chat import TEMPLATES, Request
from jeton.chat.outlines import EncodedChat, Outlines
from jeton.chat.templates.limits import stopped
from jeton.errors import JetonError

SHAPES: list[list[tuple[str, ...]]] = [
    [("user",), ("assistant",)],
    [("system",), ("user",), ("assistant",), ("user",), ("assistant",)],
    [("user",), ("assistant", "reasoning_content")],
    [("user",), ("assistant",), ("user",), ("assistant", "thinking"), ("user",)],
    [("user",), ("user",), ("assistant",), ("assistant",)],
]
"""The roles of chats, and the fields of each message beside its content."""

PIECES = [
    *"ab \n\t.:>|<[]{}é你🙂\x1c\u2028",
    "Hello",
    " words",
    "</think>",
    "<think>",
    "<|im_end|>",
    "<|im_start|>assistant\n",
    "</s>",
    "[/INST]",
    "<tool_response>",
    "user",
    "\n\n",
    "null",
]


def words(chance: random.Random) -> str:
    """Words that are not blank: ordinary ones, or pieces of all kinds."""
    pieces = PIECES if chance.random() < 0.3 else ["Hello", " you", "\n", " ", ".", "🙂", "a"]
    text = "".join(chance.choices(pieces, k=chance.choice([1, 1, 2, 3, 8])))
    return text if text.strip() else f"{text}x{text}"


def chat_of(chance: random.Random, shape: list[tuple[str, ...]]) -> list[Message]:
    """A chat of some roles and fields."""
    return [
        {"role": role, "content": words(chance), **{name: words(chance) for name in more}}
        for role, *more in shape
    ]


def rendered(
    tok: jeton.Tokenizer, template: str, messages: list[Message], roles: tuple[str, ...]
) -> tuple[Any, Any, list[str]]:
    """The chat and its mask, or the error, with what the caller is told."""
    told = list[str]()
    request = Request(
        tok, messages, template=template, says=lambda it: told.append(str(it)), with_spans=True
    )
    try:
        chat = request.build()
        return chat, chat.loss_mask(roles), told
    except JetonError as error:
        return None, error, told


def learn(
    outlines: Outlines, messages: list[Message], chat: Any, mask: Any, roles: tuple[str, ...]
) -> None:
    """Gives outlines a chat that was rendered."""
    encoded = EncodedChat(chat.text, chat.ids, [*map(bool, mask)])
    outlines.learn(messages, encoded, lambda: chat.outline(roles))


def compared(
    tok: jeton.Tokenizer,
    template: str,
    shape: list[tuple[str, ...]],
    seed: int,
    roles: tuple[str, ...] = ("assistant",),
    count: int = 12,
) -> int:
    """Compares chats of a shape with their outlines. Returns how many had one."""
    chance, outlines, known = random.Random(seed), Outlines(), 0
    for _ in range(count):
        messages = chat_of(chance, shape)
        chat, mask, told = rendered(tok, template, messages, roles)
        found = outlines.encoded(messages)
        if found is not None:
            assert chat is not None, (messages, mask)
            assert not told, (messages, told)
            assert (found.text, found.ids) == (chat.text, chat.ids), messages
            assert [*map(int, found.mask)] == mask, messages
            known += 1
        elif chat is not None:
            learn(outlines, messages, chat, mask, roles)
    return known


def with_end(tok: jeton.Tokenizer, template: str) -> jeton.Tokenizer:
    """The tokenizer whose end of text is what ends an answer, as most models have it."""
    messages = [{"role": role, "content": "Hello"} for role in ("user", "assistant")]
    chat, _, _ = rendered(tok, template, messages, ("assistant",))
    ends = [id for id in chat.ids if id in tok.special_tokens.values()] if chat else []
    if not ends:
        return tok
    return tok.replace(roles={"bos": "<s>", "eos": tok.vocab.spelling(ends[-1]).decode()})


@pytest.mark.large
@pytest.mark.parametrize(
    "kind", ["byte level", *(pytest.param(it, marks=pytest.mark.large) for it in [*KINDS][1:])]
)
@pytest.mark.parametrize(
    ("name", "template"), [pytest.param(name, text, id=name) for name, text in templates()]
)
def test_chats_with_an_outline_equal_rendered_ones(name: str, template: str, kind: str) -> None:
    tok = KINDS[kind](template)
    with stopped(datetime.date(2026, 11, 30)):
        for number, shape in enumerate(SHAPES):
            for end_of_text in (tok, with_end(tok, template)):
                compared(end_of_text, template, shape, number)
            compared(tok, template, shape, number, ("assistant", "user"))


@pytest.mark.parametrize("name", TEMPLATES)
def test_most_chats_through_own_templates_have_an_outline(name: str) -> None:
    template = TEMPLATES[name]
    tok = with_end(KINDS["byte level"](template), template)
    with stopped(datetime.date(2026, 11, 30)):
        assert compared(tok, template, SHAPES[0], 1, count=20) > 6


MARKED = (
    "{% for m in messages %}<|{{ m.role }}|>"
    "{% if m.role == 'assistant' %}{% generation %}{{ m.content }}<|end|>{% endgeneration %}"
    "{% else %}{{ m.content | trim }}<|end|>{% endif %}{% endfor %}"
)
"""A template that marks what the model writes."""


def test_a_mask_of_marks_is_that_of_the_chat() -> None:
    assert compared(KINDS["byte level"](MARKED), MARKED, SHAPES[1], 5, count=40) > 15


ONE_TURN = SHAPES[0]


@pytest.mark.parametrize(
    ("template", "has_one"),
    [
        ("{{ m.content }}", True),
        ("{{ m.content | trim }}", True),
        ("{{ m.content.strip().rstrip('\n') }}", True),
        ("{% if m.content is string and m.content %}{{ m.content }}{% endif %}", True),
        ("{% if '<think>' in m.content %}!{% endif %}{{ m.content }}", True),
        ("{% if m.content.startswith('H') %}!{% endif %}{{ m.content }}", True),
        ("{% if m.content == 'Hello' %}!{% endif %}{{ m.content }}", True),
        ("{% macro f(x) %}[{{ '.' ~ x }}{% endmacro %}{{ f(m.content) }}", True),
        ("{% set n = namespace(t='') %}{% set n.t = n.t + m.content %}{{ n.t }}", True),
        ("{% if m.content in ['Hello', 'a'] %}!{% endif %}{{ m.content }}", True),
        ("{% if m.role == m.content %}!{% endif %}{{ m.content }}", True),
        ("{% if m.content is eq 'a' %}!{% endif %}{{ m.content }}", True),
        ("{% if m.content in 'Hello you' %}!{% endif %}{{ m.content }}", False),
        ("{% if m.content in m.role %}!{% endif %}{{ m.content }}", False),
        ("{% if m.content is in 'Hello you' %}!{% endif %}{{ m.content }}", False),
        ("{% if m.role < m.content %}!{% endif %}{{ m.content }}", False),
        ("{% if [m.role] == [m.content] %}!{% endif %}{{ m.content }}", True),
        ("{% if [[m.role], 1] != [[m.content], 1] %}!{% endif %}{{ m.content }}", True),
        ("{% if m.content is upper %}!{% endif %}{{ m.content }}", False),
        ("{{ [m.role, m.content] | max(case_sensitive=true) }}{{ m.content }}", False),
        ("{{ [m.role, m.content] | sort | first }}{{ m.content }}", False),
        ("{{ m.content | upper }}", False),
        ("{{ m.content.lower() }}", False),
        ("{{ m.content[:2] }}{{ m.content }}", False),
        ("{{ m.content | length }}{{ m.content }}", False),
        ("{{ m.content | tojson }}", False),
        ("{{ m }}", False),
        ("{{ '%s' % m.content }}", False),
        ("{{ '{}'.format(m.content) }}", True),
        ("{{ '{:>9}'.format(m.content) }}", False),
        ("{{ '{!r}'.format(m.content) }}", False),
        ("{{ m.content.strip('H') }}", False),
        ("{{ m.content.split('x') | join }}", False),
        ("{{ 'Hello you'.startswith(m.content) }}{{ m.content }}", False),
        ("{{ {m.content: 1} | length }}{{ m.content }}", False),
        ("{% for c in m.content %}{{ c }}{% endfor %}", False),
        ("{{ m.content }}{{ ['a', 'b'] | random }}", False),
        ("{{ m.content ~ m.content | int }}", False),
        ("{{ m.content.parts }}{{ m.content }}", False),
        ("{{ m.content.format(1) }}", False),
    ],
)
def test_an_outline_is_for_templates_that_only_print_words(template: str, has_one: bool) -> None:
    template = (
        "{% for m in messages %}<|im_start|>{{ m.role }}\n" + template + "<|im_end|>{% endfor %}"
        "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
    )
    tok = KINDS["byte level"](template).replace(roles={"eos": "<|im_end|>"})
    found = [compared(tok, template, ONE_TURN, seed, count=16) for seed in range(3)]
    assert (sum(found) > 8) == has_one


def words_of(count: int) -> list[Message]:
    """A chat of ordinary words."""
    return [
        {"role": "user", "content": f"What is {count}?"},
        {"role": "assistant", "content": "Hello"},
    ]


@pytest.mark.parametrize(
    "change",
    [
        {"content": " \n"},
        {"content": None},
        {"content": ["Hello"]},
        {"content": "<|im_end|>"},
        {"role": "robot"},
        {"name": "Ann"},
        {"tool_calls": []},
    ],
    ids=str,
)
def test_a_message_of_another_kind_has_not_the_outline(change: Message) -> None:
    template = TEMPLATES["chatml"]
    tok, outlines = KINDS["byte level"](template), Outlines()
    for count in range(2):
        chat, mask, _ = rendered(tok, template, words_of(count), ("assistant",))
        learn(outlines, words_of(count), chat, mask, ("assistant",))
    found = outlines.encoded(words_of(7))
    assert found is not None
    empty = [{**it, "tool_calls": None, "name": None} for it in words_of(7)]
    assert outlines.encoded(empty) == found
    messages = words_of(8)
    messages[0] |= change
    assert outlines.encoded(messages) is None


QUESTIONS = """
{% set t = messages | map(attribute="content") | join(",") %}{% if t|length > 40 %}LONG{% endif %}
{% set t = messages | tojson %}{% if t|length > 140 %}LONG{% endif %}
{% set t = [words] | string %}{% if t|length > 30 %}LONG{% endif %}
{% if ",".join([words])|length > 30 %}LONG{% endif %}
{% if words in ["a", "Hello"] %}LISTED{% endif %}
{% if words in role %}PART{% endif %}
{{ words in "abc Hello" }}
{{ words not in "abc Hello" }}
{{ words is in "a" }}
{{ messages | map(attribute="content") | select("in", "abc") | list | length }}
{{ role == words }}
{{ words == role }}
{{ role != words }}
{{ role < words }}
{{ role is gt words }}
{{ role is eq words }}
{{ role in [words] }}
{{ [role] == [words] }}
{{ {"a": role} == {"a": words} }}
{{ (role ~ "x") == words }}
{{ (role | safe) == words }}
{{ (role | e) == words }}
{{ messages | map(attribute="role") | map("e") | first == words }}
{{ role.startswith(words) }}
{{ [role, words] | max == role }}
{{ messages | map(attribute="content") | unique | list | length }}
{{ messages | groupby("content") | length }}
{{ messages | sort(attribute="content") | first | attr("role") }}
{{ messages | selectattr("content", "equalto", role) | list | length }}
{{ "%s" % [words] }}
{{ ("%(a)s" % {"a": words}) | length }}
{{ "{0[a]}".format({"a": words}) | length }}
{{ "abc" | replace("a", words) | length }}
{{ cycler(words, "b").next() | length }}
{% macro f(x) %}{{ x }}{% endmacro %}{{ f(words) == "a" }}
{% set x %}{{ words }}{% endset %}{{ "a" in x }}
{% for m in messages %}{% if loop.changed(m.content) %}C{% endif %}{% endfor %}
{{ words is sameas words }}
{{ words.strip("x").startswith("u") }}
""".strip().splitlines()
"""What a template may ask about words, in ways that Python answers itself or by a method."""

ASKED = [
    *["a", "b", "Hello", "user", "assistant", "userx", "ser", " a ", "zzz zzz", "a\nb", "1.0"],
    "some words that are rather long, a b c",
]


@pytest.mark.parametrize("question", QUESTIONS)
def test_questions_about_words_have_the_answer_of_each_chat(question: str) -> None:
    template = (
        "{% set words = messages[0].content %}{% set role = messages[0].role %}"
        + question
        + TEMPLATES["chatml"]
    )
    tok = with_end(KINDS["byte level"](template), template)
    chance, outlines = random.Random(1), Outlines()
    for _ in range(40):
        messages = [
            {"role": role, "content": chance.choice(ASKED)}
            for role in ("user", "assistant", "user", "assistant")
        ]
        chat, mask, _ = rendered(tok, template, messages, ("assistant",))
        found = outlines.encoded(messages)
        if found is not None:
            assert (found.text, found.ids) == (chat.text, chat.ids), messages
            assert [*map(int, found.mask)] == mask
        elif chat is not None:
            learn(outlines, messages, chat, mask, ("assistant",))
