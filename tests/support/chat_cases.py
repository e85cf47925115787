"""Conversations, templates and tokenizers for the tests of chats."""

from __future__ import annotations

import copy
import functools
import json
import re
from collections.abc import Iterator
from typing import Any

import jeton
from jeton.chat import TEMPLATES
from shared_data import SHARED

PUBLISHED = SHARED / "templates"

Message = dict[str, Any]

_CONTROL = re.compile(
    r"<\|[^<>|\s'\"]{1,40}\|>|<｜[^<>｜]{1,40}｜>|</?[a-z_]{1,30}>|\[/?[A-Z_]{2,20}\]"
    r"|<\|[a-z_]{1,20}>|<[a-z_]{1,20}\|>|<\|[a-z]+"
)

WEATHER: dict[str, Any] = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "The weather at a place.",
        "parameters": {
            "type": "object",
            "properties": {
                "city": {"type": "string", "description": "A city."},
                "days": {"type": "integer", "description": "How many days."},
            },
            "required": ["city"],
        },
    },
}


def call(arguments: Any = None, **more: Any) -> Message:
    """A message in which the assistant calls a tool."""
    given = {"city": "Bergen", "days": 3} if arguments is None else arguments
    function = {"name": "get_weather", "arguments": given}
    return {
        "role": "assistant",
        "content": "",
        "tool_calls": [{"id": "callabc12", "type": "function", "function": function}],
        **more,
    }


HELLO: list[Message] = [{"role": "user", "content": "Hello, how are you?"}]
TURNS: list[Message] = [
    {"role": "user", "content": "  What is 1 + 1?\n"},
    {"role": "assistant", "content": "It is 2.\n\nIs that all? "},
    {"role": "user", "content": "Why? Ça va, 你好 🙂"},
    {"role": "assistant", "content": "Because."},
]
SYSTEM: list[Message] = [{"role": "system", "content": "Answer in one word.\n"}, *TURNS]
RESULT: Message = {
    "role": "tool",
    "name": "get_weather",
    "tool_call_id": "callabc12",
    "content": '{"rain": true}',
}
TOOLS: list[Message] = [
    {"role": "user", "content": "Will it rain in Bergen?"},
    call(),
    RESULT,
    {"role": "assistant", "content": "It will."},
]
REASONING: list[Message] = [
    {"role": "user", "content": "What is 3 * 4?"},
    {"role": "assistant", "content": "12", "reasoning_content": "4 + 4 + 4 is 12."},
]
PARTS: list[Message] = [
    {"role": "user", "content": [{"type": "text", "text": "Hello "}, {"type": "text", "text": "x"}]}
]
IMAGE: list[Message] = [
    {
        "role": "user",
        "content": [{"type": "image", "image": "a.png"}, {"type": "text", "text": "What is it?"}],
    }
]

PLAIN: dict[str, tuple[list[Message], dict[str, Any]]] = {
    "hello": (HELLO, {}),
    "prompt": (HELLO, {"add_generation_prompt": True}),
    "turns": (TURNS, {}),
    "system": (SYSTEM, {}),
    "system prompt": (SYSTEM[:-1], {"add_generation_prompt": True}),
    "continued": (TURNS, {"continue_final_message": True}),
    "continued, trimmed": (
        [*TURNS[:1], {"role": "assistant", "content": "Well  "}],
        {"continue_final_message": True},
    ),
    "tools": (HELLO, {"tools": [WEATHER], "add_generation_prompt": True}),
    "tool turns": (TOOLS, {"tools": [WEATHER]}),
    "tool result": (TOOLS[:-1], {"tools": [WEATHER], "add_generation_prompt": True}),
    "tool turns, arguments as text": (
        [TOOLS[0], call('{"city": "Bergen"}'), *TOOLS[2:]],
        {"tools": [WEATHER]},
    ),
    "system and tools": ([SYSTEM[0], *TOOLS], {"tools": [WEATHER]}),
    "reasoning": (REASONING, {}),
    "reasoning, then more": ([*REASONING, *HELLO], {"add_generation_prompt": True}),
    "thinking off": (HELLO, {"add_generation_prompt": True, "enable_thinking": False}),
    "parts": (PARTS, {"add_generation_prompt": True}),
    "image": (IMAGE, {"add_generation_prompt": True}),
    "documents": (HELLO, {"documents": [{"title": "A", "text": "B, c."}]}),
    "variables": (
        SYSTEM,
        {"functions": "get()", "datetime": "today", "date_string": "1 May", "model_identity": "J."},
    ),
    "nothing said": ([{"role": "user"}], {}),
    "unknown role": ([{"role": "wizard", "content": "x"}], {}),
    "two of a kind": ([*HELLO, *HELLO], {}),
}


def templates() -> Iterator[tuple[str, str]]:
    """Every template at hand by name: jeton's own, and those of published models."""
    yield from ((f"jeton {name}", text) for name, text in TEMPLATES.items())
    for path in sorted(PUBLISHED.glob("*.jinja")):
        yield path.stem, path.read_text("utf-8")


def control_tokens(template: str) -> list[str]:
    """The control tokens that a template spells."""
    spelled = set(_CONTROL.findall(template))
    roles = {f"<|{role}|>" for role in ("user", "assistant", "system", "tool")}
    return sorted(spelled | roles | {"<s>", "</s>", "<|im_start|>", "<|im_end|>"})


ROLES = {"bos": "<s>", "eos": "</s>"}


def _of_ranks(template: str, ranks: dict[bytes, int]) -> jeton.Tokenizer:
    tokens = {token: 1000 + n for n, token in enumerate(control_tokens(template))}
    tok = jeton.Tokenizer.from_ranks(ranks, pattern="gpt2", special_tokens=tokens)
    return tok.replace(roles=ROLES)


@functools.lru_cache(maxsize=128)
def byte_level(template: str) -> jeton.Tokenizer:
    """A byte-level tokenizer to which the control tokens of a template are special."""
    ranks = {bytes([byte]): byte for byte in range(256)}
    for number, pair in enumerate("he in th an er on ou  t  a \n\n ii <|".split(" ")):
        ranks.setdefault(pair.encode() or b"  ", 256 + number)
    return _of_ranks(template, ranks)


def bytes_alone(template: str) -> jeton.Tokenizer:
    """The same without merges: ids differ only where texts do."""
    return _of_ranks(template, {bytes([byte]): byte for byte in range(256)})


def _of_pieces(template: str, **stages: Any) -> jeton.Tokenizer:
    """A tokenizer with `▁` for spaces and byte fallback, as a `tokenizer.json` holds it."""
    pieces = ["<unk>", *(f"<0x{byte:02X}>" for byte in range(256)), "▁"]
    pieces += [*"abcdefghijklmnopqrstuvwxyz.,?<|>/_", "▁a", "th", "▁th", "he", "in", "er"]
    model = {
        "type": "BPE",
        "vocab": {piece: number for number, piece in enumerate(pieces)},
        "merges": ["▁ a", "t h", "▁ th", "h e", "i n", "e r"],
        "unk_token": "<unk>",
        "fuse_unk": True,
        "byte_fallback": True,
    }
    tok = jeton.Tokenizer.from_json(json.dumps({"model": model, "added_tokens": [], **stages}))
    tokens = [
        jeton.AddedToken(token, special=True, rstrip=token.startswith("<|u"))
        for token in control_tokens(template)
    ]
    unknown = jeton.AddedToken("<unk>", special=True)
    return tok.with_added_tokens([unknown, *tokens]).replace(roles=ROLES)


@functools.lru_cache(maxsize=128)
def metaspace(template: str) -> jeton.Tokenizer:
    """One that puts a `▁` in front of a text, but not after its special tokens."""
    stage = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "first", "split": False}
    return _of_pieces(template, pre_tokenizer=stage, decoder=stage)


@functools.lru_cache(maxsize=128)
def prepended(template: str) -> jeton.Tokenizer:
    """One that puts a `▁` in front of every stretch by its normalizer, as Llama 2's did."""
    stages = [
        {"type": "Prepend", "prepend": "▁"},
        {"type": "Replace", "pattern": {"String": " "}, "content": "▁"},
    ]
    return _of_pieces(template, normalizer={"type": "Sequence", "normalizers": stages})


KINDS = {"byte level": byte_level, "metaspace": metaspace, "prepended": prepended}


def copied(messages: list[Message]) -> list[Message]:
    """Messages that a call may change."""
    return copy.deepcopy(messages)
