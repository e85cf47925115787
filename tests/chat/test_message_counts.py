"""`tok.count_messages`: the tokens of a conversation, and what makes a count an estimate."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from typing import Any

import pytest

import jeton
from chat_cases import HELLO, TURNS, WEATHER, byte_level, call
from jeton.chat.message_counts import MessageCount
from jeton.errors import ArgumentError, ArgumentTypeError, JetonError, UnknownNameError
from kinds import ranks
from shared_data import VOCABULARIES, needed

TOK = ranks()
PLAIN = [{"role": "system", "content": "the weather"}, {"role": "user", "content": "there?"}]
IMAGE = {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}


def encoding(name: str) -> jeton.Tokenizer:
    path = needed(VOCABULARIES / f"{name}.tiktoken")
    return jeton.load(path)


def plainly(tok: jeton.Tokenizer, messages: list[dict[str, Any]]) -> int:
    """The arithmetic that is published: of gpt-3.5-turbo-0613 and all later models."""
    total = 0
    for message in messages:
        total += 3
        for key, value in message.items():
            total += len(tok.encode(value))
            if key == "name":
                total += 1
    return total + 3


@pytest.mark.parametrize("model", ["gpt-4", "gpt-3.5-turbo-0125", "gpt-4o", "ft:gpt-4o:me::1"])
def test_the_published_arithmetic(model: str) -> None:
    draw = random.Random(0)
    words = "the weather there <|endoftext|> 図書館 🙂 \n name".split(" ")
    for _ in range(200):
        messages = [
            {
                "role": draw.choice(["system", "user", "assistant"]),
                "content": " ".join(draw.choices(words, k=draw.randrange(9))),
                **({"name": "a the"} if draw.random() < 0.3 else {}),
            }
            for _ in range(draw.randrange(1, 6))
        ]
        assert TOK.count_messages(messages, model=model).tokens == plainly(TOK, messages)


def test_the_first_model_counts_names_otherwise() -> None:
    named = [{"role": "user", "name": "the", "content": "there"}]
    first = TOK.count_messages(named, model="gpt-3.5-turbo-0301").tokens
    assert first == TOK.count_messages(named, model="gpt-3.5-turbo-0613").tokens + 1 - 2


@pytest.mark.parametrize(
    ("model", "name"),
    [("gpt-4", "cl100k_base"), ("gpt-35-turbo", "cl100k_base"), ("gpt-4o", "o200k_base"),
     ("GPT-4o-mini", "o200k_base")],
)  # fmt: skip
def test_exact(model: str, name: str) -> None:
    count = encoding(name).count_messages(PLAIN, model=model)
    assert count.exact and count.basis.startswith("exact: by the arithmetic")
    other = encoding({"cl100k_base": "o200k_base"}.get(name, "cl100k_base"))
    assert not other.count_messages(PLAIN, model=model).exact


# The texts are of the cookbook's kind: what the service counted of its own is 105 and 101.
@pytest.mark.parametrize(("model", "init"), [("gpt-4", 10), ("gpt-3.5-turbo", 10), ("gpt-4o", 7)])
def test_tools_by_the_published_arithmetic(model: str, init: int) -> None:
    place = {"type": "string", "description": "A city."}
    unit = {"type": "string", "description": "Of what", "enum": ["the", "er"]}
    function = {
        "name": "weather",
        "description": "The weather.",
        "parameters": {"type": "object", "properties": {"place": place, "unit": unit}},
    }
    told = ["weather:The weather", "place:string:A city", "unit:string:Of what", "the", "er"]
    want = init + 3 + 3 + 3 + (-3 + 2 * 3) + 12 + sum(map(TOK.count, told))
    for tool in (function, {"type": "function", "function": function}):
        count = TOK.count_messages(PLAIN, model=model, tools=[tool])
        assert count.tokens == want + plainly(TOK, PLAIN)
        assert not count.exact and "tools by the arithmetic" in count.basis
    assert TOK.count_messages(PLAIN, model=model, tools=[]).tokens == plainly(TOK, PLAIN)


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
    (PLAIN, {"model": "gpt-5"}, "nothing is published for gpt-5"),
    (PLAIN, {"model": "gpt-4.1-mini"}, "nothing is published"),
    (PLAIN, {"model": "gpt-4-turbo"}, "nothing is published"),
    (PLAIN, {"model": "o3"}, "nothing is published"),
    (PLAIN, {"model": "ft:gpt-4o:me::1"}, "nothing is published for ft:gpt-4o:me::1, which is ta"),
    (PLAIN, {"model": "claude-sonnet-5"}, "neither the tokenizer of claude-sonnet-5 nor"),
    (PLAIN, {"model": "gemini-2.5-pro"}, "neither the tokenizer"),
    (PLAIN, {"model": "gpt-4o"}, "this tokenizer is not o200k_base"),
    (PLAIN, {"model": "gpt-oss-20b"}, "gpt-oss-20b has a template of its own"),
    (PLAIN, {"model": "gpt-4o", "add_generation_prompt": False}, "begins the answer"),
    (PLAIN, {"model": "gpt-4o", "tools": [WEATHER]}, "tools by the arithmetic"),
    (PLAIN, {"model": "gpt-4o", "tools": [{"type": "web_search"}]}, "counted as its JSON"),
    ([*HELLO, call()], {"model": "gpt-4o"}, "how calls of tools are written"),
    ([*HELLO, {"role": "tool", "content": "3"}], {"model": "gpt-4o"}, "the format of tool"),
    ([{**HELLO[0], "odd": {"a": [1]}}], {"model": "gpt-4o"}, "the field 'odd'"),
    ([{"role": "user", "content": [{"type": "text", "text": "a"}]}], {"model": "gpt-4o"}, "joined"),
    ([{"role": "user", "content": [IMAGE]}], {"model": "gpt-4o", "tokens_per_part": 85},
     "85 tokens for each part that is not text (image_url)"),
    ([{"role": "user", "content": [IMAGE]}], {"template": "chatml", "tokens_per_part": 85},
     "85 tokens for each part"),
]  # fmt: skip


@pytest.mark.parametrize(("messages", "options", "says"), ESTIMATES)
def test_estimates_say_so(
    messages: list[dict[str, Any]], options: dict[str, Any], says: str
) -> None:
    count = TOK.count_messages(messages, **options)
    assert not count.exact and count.basis.startswith("estimated: ") and says in count.basis


WORDS = "the weather there " * 200
SOURCE = {"type": "base64", "media_type": "image/png", "data": "A" * 9_000}
PHOTO = {"type": "image", "source": SOURCE}
NESTED: dict[str, tuple[Any, list[str], int]] = {
    "a result": ({"type": "tool_result", "tool_use_id": "t_1", "content": WORDS}, [WORDS], 0),
    "a result of parts": (
        {"type": "tool_result", "content": [{"type": "text", "text": WORDS}, PHOTO, "er"]},
        [WORDS, "er"], 1,
    ),
    "a result in a result": (
        {"type": "tool_result", "content": [{"type": "tool_result", "content": [WORDS]}]},
        [WORDS], 0,
    ),
    "a call": (
        {"type": "tool_use", "id": "t_1", "name": "the", "input": {"city": WORDS}},
        ["the", json.dumps({"city": WORDS})], 0,
    ),
    "reasoning": ({"type": "thinking", "thinking": WORDS, "signature": "A" * 999}, [WORDS], 0),
    "a document of text": (
        {"type": "document", "title": "the", "source": {"type": "text", "data": WORDS}},
        ["the", WORDS], 0,
    ),
    "a document of parts": (
        {"type": "document", "source": {"type": "content", "content": [{"text": WORDS}, PHOTO]}},
        [WORDS], 1,
    ),
    "a file": ({"type": "document", "title": "the", "source": SOURCE}, ["the"], 1),
    "a search result": (
        {"type": "search_result", "title": "the", "content": [{"type": "text", "text": WORDS}]},
        ["the", WORDS], 0,
    ),
    "Gemini's text": ({"text": WORDS}, [WORDS], 0),
    "Gemini's image": ({"inlineData": {"mimeType": "image/png", "data": "A" * 9_000}}, [], 1),
    "Gemini's result": (
        {"functionResponse": {"name": "the", "response": {"a": WORDS}}},
        [json.dumps({"name": "the", "response": {"a": WORDS}})], 0,
    ),
    "OpenAI's result": (
        {"type": "function_call_output", "call_id": "c", "output": WORDS}, [WORDS], 0,
    ),
    "an image with a caption": ({"type": "image", "url": "a.png", "caption": WORDS}, [WORDS], 1),
    "an image": (IMAGE, [], 1),
    "sound": ({"type": "input_audio", "input_audio": {"data": "A" * 9_000}}, [], 1),
    "what nobody knows, with text": ({"type": "hologram", "content": WORDS}, [WORDS], 0),
    "what nobody knows": ({"type": "hologram"}, [], 1),
}  # fmt: skip
"""A part; its texts, as they count; and how many parts in it are no text."""


@pytest.mark.parametrize("name", NESTED)
@pytest.mark.parametrize("field", ["content", "parts"])
def test_text_is_counted_as_text_wherever_it_is(name: str, field: str) -> None:
    part, texts, media = NESTED[name]
    given: dict[str, Any] = {"model": "claude-sonnet-5", "tokens_per_part": 85}
    bare = TOK.count_messages([{"role": "user", field: []}], **given).tokens
    messages = [{"role": "user", field: [part]}]
    want = bare + sum(map(TOK.count, texts)) + 85 * media
    assert TOK.count_messages(messages, **given).tokens == want
    if "type" in part or media:
        assert TOK.count_messages([{"role": "user", field: part}], **given).tokens == want
    del given["tokens_per_part"]
    if media:
        with pytest.raises(ArgumentError, match=rf"messages\[0\]\.{field}\[0\].* is not text"):
            TOK.count_messages(messages, **given)
    else:
        assert TOK.count_messages(messages, **given).tokens == want


def test_parts_that_hold_themselves_are_refused() -> None:
    part: dict[str, Any] = {"type": "tool_result"}
    part["content"] = [part]
    with pytest.raises(ArgumentError, match="nested too deep"):
        TOK.count_messages([{"role": "user", "content": [part]}], model="claude-sonnet-5")


def test_every_part_counts_something() -> None:
    def tokens(messages: list[dict[str, Any]], **options: Any) -> int:
        return TOK.count_messages(messages, model="gpt-4o", **options).tokens

    def said(content: Any) -> list[dict[str, Any]]:
        return [{"role": "user", "content": content}]

    assert tokens(said([IMAGE, IMAGE]), tokens_per_part=85) == tokens(said("")) + 170
    assert tokens(said(["the", {"text": "the"}])) == tokens(said("")) + 2
    assert tokens(said([{"type": "refusal", "refusal": "the"}])) == tokens(said("")) + 1
    assert tokens([{**call(), "content": None}]) > tokens([{"role": "assistant", "content": ""}])
    nested = {"type": "object", "properties": {"a": {"type": "string", "description": "the"}}}
    deep = {"name": "f", "parameters": {"type": "object", "properties": {"x": nested}}}
    flat = {"name": "f", "parameters": {"type": "object", "properties": {}}}
    assert tokens(PLAIN, tools=[deep]) > tokens(PLAIN, tools=[flat]) > tokens(PLAIN)


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


def test_tools_that_are_functions() -> None:
    def weather(place: str) -> None:
        """The weather.

        Args:
            place: A city.
        """

    place = {"type": "string", "description": "A city."}
    parameters = {"type": "object", "properties": {"place": place}, "required": ["place"]}
    tool = {"name": "weather", "description": "The weather.", "parameters": parameters}
    want = TOK.count_messages(PLAIN, model="gpt-4o", tools=[tool])
    assert TOK.count_messages(PLAIN, model="gpt-4o", tools=[weather]) == want


def test_messages_of_any_kind() -> None:
    @dataclass
    class Message:
        role: str
        content: str
        name: str | None = None

    messages = [Message(**message) for message in PLAIN]
    want = TOK.count_messages(PLAIN, model="gpt-4o")
    assert TOK.count_messages(messages, model="gpt-4o") == want  # type: ignore[arg-type]
    assert TOK.count_messages(iter(PLAIN), model="gpt-4o") == want
    assert int(want) == want.tokens and range(100)[want] == want.tokens
    assert isinstance(want, MessageCount) and hash(want) == hash(want)


CIRCLE: dict[str, Any] = {"role": "user", "content": "a"}
CIRCLE["circle"] = CIRCLE

BAD: list[tuple[Any, dict[str, Any], type[JetonError], str]] = [
    (PLAIN, {}, ArgumentError, "no chat template: name the model"),
    (PLAIN, {"model": "gpt-4o", "template": "chatml"}, ArgumentError, "template is for chat"),
    (PLAIN, {"model": "gpt-4o", "odd": 1}, ArgumentError, "odd is for chat templates"),
    (PLAIN, {"model": "gpt-4oo"}, UnknownNameError, "did you mean 'gpt-4o'"),
    (PLAIN, {"model": "x" * 9_000}, UnknownNameError, "no chat format is known"),
    (PLAIN, {"model": "text-embedding-3-small"}, ArgumentError, "takes text, not messages"),
    (PLAIN, {"model": "gpt-3.5-turbo-instruct"}, ArgumentError, "takes text, not messages"),
    (PLAIN, {"model": "davinci"}, ArgumentError, "takes text, not messages"),
    (PLAIN, {"template": "chatmll"}, UnknownNameError, "did you mean 'chatml'"),
    ([], {"model": "gpt-4o"}, ArgumentError, "messages is empty"),
    ("hello", {"model": "gpt-4o"}, ArgumentTypeError, "messages must be a list"),
    ({"role": "user"}, {"model": "gpt-4o"}, ArgumentTypeError, "messages must be a list"),
    ([3], {"model": "gpt-4o"}, ArgumentTypeError, "messages[0] must be a dict"),
    ([{"content": "a"}], {"model": "gpt-4o"}, ArgumentError, "messages[0] has no role"),
    ([{"role": None}], {"model": "gpt-4o"}, ArgumentError, "messages[0] has no role"),
    ([{"role": 5, "content": "x"}], {"model": "gpt-4o"}, ArgumentTypeError,
     "messages[0].role must be a str, not int"),
    ([{"role": 5, "content": "x"}], {"template": "chatml"}, ArgumentTypeError,
     "messages[0].role must be a str, not int"),
    ([{"role": "user", "content": b"x"}], {"model": "gpt-4o"}, ArgumentTypeError,
     "messages[0].content must be text, a number, a list or a dict, not bytes"),
    ([{"role": "user", "odd": [{1}]}], {"model": "gpt-4o"}, ArgumentTypeError,
     "each value in messages[0].odd must be text, a number, a list or a dict, not set"),
    ([{"role": "user", "tool_calls": [{"function": {"arguments": b"{}"}}]}], {"model": "gpt-4o"},
     ArgumentTypeError, "messages[0].tool_calls must be text, a number, a list or a dict"),
    ([{"role": "user", "content": [{"type": "text", "text": 5}]}], {"model": "gpt-4o"},
     ArgumentTypeError, "messages[0].content[0].text must be a str, not int"),
    ([{"role": "user", "content": [{"type": "text"}]}], {"model": "gpt-4o", "tokens_per_part": 9},
     ArgumentError, "messages[0].content[0] has no text"),
    ([{"role": "user", 3: 4}], {"model": "gpt-4o"}, ArgumentTypeError, "name of a field"),
    ([CIRCLE], {"model": "gpt-4o"}, ArgumentError, "messages[0].circle cannot be written as JSON"),
    ([{"role": "user", "content": [IMAGE]}], {"model": "gpt-4o"}, ArgumentError,
     "messages[0].content[0] is not text (image_url)"),
    ([{"role": "user", "content": [IMAGE]}], {"template": "chatml"}, ArgumentError,
     "messages[0].content[0] is not text (image_url)"),
    ([{"role": "user", "content": [None]}], {"model": "gpt-4o"}, ArgumentError, "not text (None"),
    (PLAIN, {"model": "gpt-4o", "tools": {"a": 1}}, ArgumentTypeError, "tools must be a list"),
    (PLAIN, {"model": "gpt-4o", "tools": [1]}, ArgumentTypeError, "tools[0] must be a function"),
    (PLAIN, {"model": "gpt-4o", "tokens_per_part": -1}, ArgumentError, "tokens_per_part must be"),
]  # fmt: skip


@pytest.mark.parametrize(("messages", "options", "error", "says"), BAD)
def test_bad_input(
    messages: Any, options: dict[str, Any], error: type[JetonError], says: str
) -> None:
    with pytest.raises(error) as raised:
        TOK.count_messages(messages, **options)
    assert says in str(raised.value)


def test_text_that_spells_a_special_token_is_text() -> None:
    spelled = [{"role": "user", "content": "<|endoftext|>"}]
    assert TOK.count_messages(spelled, model="gpt-4o").tokens == plainly(TOK, spelled)
    assert TOK.count("<|endoftext|>") > 1
