"""Arguments whose parts have marks of their own, as MiniMax-M3 writes them."""

from __future__ import annotations

import json
from typing import Any

import pytest

import jeton
from answer_cases import sampled
from chat_cases import HELLO, Message
from jeton.chat import Parsed

NS = "]<]minimax[>["
TEMPLATE = (
    f"{{%- set ns = '{NS}' -%}}"
    """
{%- macro written(value) -%}
{%- if value is mapping -%}
{%- for k, v in value.items() if v is not none -%}{{ ns }}<{{ k }}>{{ written(v) }}{{ ns }}</{{ k }}>{%- endfor -%}
{%- elif value is iterable and value is not string -%}
{%- for v in value -%}{{ ns }}<item>{{ written(v) }}{{ ns }}</item>{%- endfor -%}
{%- elif value is none -%}{%- elif value is boolean -%}{{ value|tojson }}{%- else -%}{{ value }}{%- endif -%}
{%- endmacro -%}
{%- if tools %}]~b]system
{{ tools|tojson }}[e~[
{% endif -%}
{%- for m in messages -%}
{%- if m.role == 'assistant' -%}
]~b]ai
{% if m.reasoning_content %}<mm:think>{{ m.reasoning_content }}</mm:think>{% endif %}{{ m.content or '' }}
{%- if m.tool_calls %}
{{ ns }}<tool_call>
{% for c in m.tool_calls -%}
{{ ns }}<invoke name="{{ c.function.name }}">{{ written(c.function.arguments) }}{{ ns }}</invoke>
{% endfor -%}
{{ ns }}</tool_call>{% endif %}[e~[
{% elif m.role == 'tool' -%}
]~b]tool
<response>{{ m.content }}</response>[e~[
{% else -%}
]~b]user
{{ m.content }}[e~[
{% endif -%}
{%- endfor -%}
{%- if add_generation_prompt %}]~b]ai
{% if thinking_mode == 'enabled' %}<mm:think>{% endif %}{% endif %}"""
)
"""Writes turns as the template of MiniMax-M3 does."""
TOKENS = (NS, "<tool_call>", "</tool_call>", "<mm:think>", "</mm:think>", "]~b]", "[e~[")
TOK = jeton.Tokenizer.from_ranks(
    {bytes([byte]): byte for byte in range(256)},
    pattern="gpt2",
    special_tokens={it: 256 + at for at, it in enumerate(TOKENS)},
).replace(roles={"eos": "[e~["})
ORDER: dict[str, Any] = {
    "type": "function",
    "function": {
        "name": "order",
        "parameters": {
            "type": "object",
            "$defs": {
                "line": {"properties": {"sku": {"type": "string"}, "n": {"type": "integer"}}}
            },
            "properties": {
                "note": {"type": "string"},
                "lines": {"type": "array", "items": {"$ref": "#/$defs/line"}},
                "tags": {
                    "anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "null"}]
                },
                "prices": {"type": "object", "additionalProperties": {"type": "number"}},
                "free": {},
                "when": {"type": "object", "properties": {"day": {"type": "string"}}},
            },
        },
    },
}
ARGUMENTS: dict[str, Any] = {
    "note": 'Two "lines",\n a < b & <item>',
    "lines": [{"sku": "007", "n": 2}, {"sku": "x", "n": -1}],
    "tags": ["1", "true", ""],
    "prices": {"a": 1.5, "b": 2},
    "free": {"k": [1, "x", True], "l": 5},
    "when": {"day": "12"},
}


def _tags(*parts: str) -> str:
    return "".join(f"{NS}<{it}>" if it[:1] != "=" else it[1:] for it in parts)


def _call(inner: str, *, end: str = f"{NS}</invoke>\n{NS}</tool_call>") -> str:
    return f'{NS}<tool_call>\n{NS}<invoke name="order">{inner}{end}'


def _parsed(text: str, tools: list[Any] | None = None) -> Parsed:
    """Parsed from ids and from text, whole and one by one, which agree."""
    tools = [ORDER] if tools is None else tools
    found = []
    for given in (TOK.encode(text, special="allow"), text):
        whole = TOK.parse(given, format="minimax-m3", tools=tools)
        stream = TOK.parse_stream(format="minimax-m3", tools=tools)
        events = [it for piece in given for it in stream.push(piece)] + stream.finish()
        assert stream.parsed == whole
        for at, call in enumerate(whole.calls):
            pieces = [it.text for it in events if it.kind == "arguments" and it.call == at]
            assert json.loads("".join(pieces)) == call.arguments
        found.append(whole)
    assert found[0].message == found[1].message
    assert [it.what for it in found[0].problems] == [it.what for it in found[1].problems]
    return found[0]


@pytest.mark.parametrize("words", ["", "I order."], ids=["calls", "words and calls"])
@pytest.mark.parametrize("thinking", ["enabled", "disabled"])
def test_calls_with_parts_come_back_by_a_template(words: str, thinking: str) -> None:
    calls = [
        {"type": "function", "function": {"name": "order", "arguments": it}}
        for it in (ARGUMENTS, {"note": "So."})
    ]
    message: Message = {"role": "assistant", "content": words, "tool_calls": calls}
    message["reasoning_content"] = "Hm."
    asked: dict[str, Any] = {"template": TEMPLATE, "tools": [ORDER], "thinking_mode": thinking}
    chat = TOK.chat(HELLO, add_generation_prompt=True, **asked)
    ids = sampled(TOK, chat, message, **asked)
    assert ids is not None
    for given in (ids, TOK.decode(ids)):
        parsed = TOK.parse(given, prompt=chat)
        assert (parsed.format, parsed.finish, parsed.problems) == ("minimax-m3", "tool_calls", ())
        assert (parsed.content, parsed.message["reasoning_content"]) == (words, "Hm.")
        assert [it.arguments for it in parsed.calls] == [ARGUMENTS, {"note": "So."}]


def test_without_a_schema_items_are_a_list_and_other_parts_an_object() -> None:
    inner = (
        f"{NS}<a>{NS}<item>1{NS}</item>{NS}<item>x{NS}</item>{NS}</a>"
        f"{NS}<b>{NS}<c>{NS}<item>{NS}<d>2{NS}</d>{NS}</item>{NS}</c>{NS}</b>{NS}<e>5{NS}</e>"
    )
    arguments = {"a": ["1", "x"], "b": {"c": [{"d": "2"}]}, "e": "5"}
    text = _call(inner)
    assert TOK.parse(text, format="minimax-m3").calls[0].arguments == arguments
    free = {"name": "order", "parameters": {"properties": {it: {} for it in "abe"}}}
    typed = {"a": [1, "x"], "b": {"c": [{"d": 2}]}, "e": 5}
    assert _parsed(text, [free]).calls[0].arguments == typed


@pytest.mark.parametrize(
    ("inner", "arguments"),
    [
        (f"{NS}<lines>{NS}</lines>", {"lines": []}),
        (f"{NS}<prices>\n{NS}</prices>", {"prices": {}}),
        (f"{NS}<note>{NS}</note>", {"note": ""}),
        (f"\n{NS}<lines>\n{NS}<item>\n{NS}<n>1{NS}</n>\n{NS}</item>\n{NS}</lines>\n", {"lines": [{"n": 1}]}),
        (f"{NS}<tags>{NS}<tag>a{NS}</tag>{NS}</tags>", {"tags": ["a"]}),
        (f"{NS}<when>{NS}<item>a{NS}</item>{NS}</when>", {"when": {"item": "a"}}),
        (f"{NS}<note> a\n{NS}</note>", {"note": " a\n"}),
        ("", {}),
    ],
)  # fmt: skip
def test_parts_are_read_as_the_schema_says(inner: str, arguments: dict[str, Any]) -> None:
    parsed = _parsed(_call(inner))
    assert (parsed.calls[0].arguments, parsed.problems) == (arguments, ())


@pytest.mark.parametrize(
    ("inner", "arguments", "problem"),
    [
        (
            f"{NS}<lines>{NS}<item>{NS}<n>1{NS}</item>{NS}</lines>",
            {"lines": [{"n": 1}]},
            "the argument 'n' has no end",
        ),
        (f"{NS}<note>a{NS}</lines>", {"note": "a"}, "the end of 'lines' is where 'note' ends"),
        (f"{NS}<note>a{NS}</note>{NS}</note>", {"note": "a"}, "the end of 'note' has no beginning"),
        (f"{NS}<note>a{NS}<item>b{NS}</item>", {"note": "a", "item": "b"}, "is text, but has parts"),
        (f"{NS}<lines>a{NS}<item>{NS}<n>1{NS}</n>{NS}</item>{NS}</lines>", {"lines": [{"n": 1}]}, "has text beside its parts"),
        (f"{NS}<lines>{NS}<item>{NS}<n>1{NS}</n>{NS}</item>", {"lines": [{"n": 1}]}, "the argument 'lines' has no end"),
        (f"{NS}<when>{NS}<day>1{NS}</day>{NS}<day>2{NS}</day>{NS}</when>", {"when": {"day": "2"}}, "the argument 'day' comes twice"),
        (f"{NS}<note>{NS}<item>a{NS}</item>{NS}</note>", {"note": ["a"]}, "does not allow its type"),
        (f"{NS}<prices>{NS}<a>x{NS}</a>{NS}</prices>", {"prices": {"a": "x"}}, "'a': the tool does not allow its type"),
        (f"{NS}<note>a", {"note": "a"}, "cut off"),
    ],
)  # fmt: skip
def test_damaged_parts_are_problems(inner: str, arguments: dict[str, Any], problem: str) -> None:
    parsed = _parsed(_call(inner))
    assert parsed.calls[0].arguments == arguments
    assert any(problem in it.what for it in parsed.problems), parsed.problems


def test_a_call_that_is_cut_keeps_what_came() -> None:
    parsed = TOK.parse(
        _call(f"{NS}<lines>{NS}<item>{NS}<sku>ab", end=""), format="minimax-m3", tools=[ORDER]
    )
    assert (parsed.finish, parsed.problems) == ("length", ())
    assert parsed.unfinished is not None
    assert parsed.unfinished.arguments == '{"lines": [{"sku": "ab'
