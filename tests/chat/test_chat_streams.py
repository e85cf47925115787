"""Streams of answers: ids in any portions give the events and the answer that all at once give."""

from __future__ import annotations

import functools
import json
import random
import re
from collections.abc import Iterable
from typing import Any

import pytest

import jeton
from answer_cases import BROKEN, MARKS, TOOL, WRITTEN, random_text
from chat_cases import KINDS, WEATHER, byte_level
from jeton.chat import FORMATS, Event, Parsed, ParsedCall, ParseStream
from jeton.errors import ArgumentError, ArgumentTypeError, UnknownTokenError

TOOLS: list[Any] = [None, [WEATHER], [WEATHER, TOOL], [{"name": "f", "parameters": {}}]]
PIECES = [
    *"\n \"'\\{}[]<,:3é",
    "héé 🙂 你好",
    "text of words, and a\n\nline",
    "get_weather",
    "functions.look_up:0",
    "city",
    '{"name": "get_weather", "arguments": {"city": "a\\n\\"b", "o": {"x": [1, {"y": null}]}}}',
    "[get_weather(city='é\\n', days=[1, 2]), f(a=\"'\", b={'k': None})]",
    'call:f{a:<|"|>x "y"<|"|>,b:[1,{c:2}]}',
    '{"arguments": {"city": "a"}, "id": "7", "name": "f"}, {"name": "f", "parameters": "{}"}',
]


@functools.cache
def of_long_tokens() -> jeton.Tokenizer:
    """Tokens that end anywhere: within marks, quotes, characters and names."""
    rng = random.Random(1)
    ranks = {bytes([byte]): byte for byte in range(256)}
    texts = [*PIECES, *MARKS, *(it[0] for answers in WRITTEN.values() for it in answers)]
    for text in map(str.encode, texts):
        for _ in range(len(text)):
            at = rng.randrange(len(text))
            ranks.setdefault(text[at : at + rng.randrange(2, 9)], len(ranks))
    first = len(ranks)
    tokens = {mark: first + number for number, mark in enumerate(MARKS)}
    return jeton.Tokenizer.from_ranks(ranks, pattern="gpt2", special_tokens=tokens)


def answer(rng: random.Random, format: str) -> str:
    """An answer in a format, with other text in it."""
    written = rng.choice(WRITTEN[format])[0]
    others = [*MARKS, *PIECES, *(it[1] for it in BROKEN.values()), random_text(rng, MARKS)]
    pieces = [written] * rng.choice((0, 1, 1, 2)) + rng.choices(others, k=rng.randrange(5))
    rng.shuffle(pieces)
    return "".join(pieces)


def ids_of(rng: random.Random, tok: jeton.Tokenizer, text: str) -> list[int]:
    """The ids of a text; a few may be lost, or be out of the vocabulary."""
    ids = tok.encode(text, special="allow")
    for _ in range(rng.choice((0, 0, 0, 3))):
        at = rng.randrange(len(ids) + 1)
        wrong = [10**6, rng.randrange(200), *tok.special_tokens.values()]
        ids[at : at + rng.randrange(2)] = [rng.choice(wrong)]
    return ids


def read(stream: ParseStream, pieces: Iterable[Any]) -> tuple[list[Event], Parsed]:
    """The events of each piece and of the end, and the answer."""
    events = [it for piece in pieces for it in stream.push(piece)]
    return [*events, *stream.finish()], stream.parsed


def summed(events: Iterable[Event]) -> list[Event]:
    """Events of one kind that follow each other, as one."""
    found: list[Event] = []
    for it in events:
        if found and it.kind in ("content", "reasoning", "arguments") and found[-1][::2] == it[::2]:
            found[-1] = found[-1]._replace(text=found[-1].text + it.text)
        else:
            found.append(it)
    return found


@pytest.mark.large
@pytest.mark.parametrize("kind", ["long tokens", *KINDS])
def test_ids_come_in_any_portions(kind: str) -> None:
    tok = of_long_tokens() if kind == "long tokens" else KINDS[kind]("".join(MARKS))
    rng, words = random.Random(kind), tok.encode("Well")
    for _ in range(120):
        format, tools = rng.choice([*FORMATS]), rng.choice(TOOLS)
        prompt = rng.choice([None, words, [*tok.special_tokens.values()][:1]])
        ids = ids_of(rng, tok, answer(rng, format))
        stream = functools.partial(tok.parse_stream, format=format, tools=tools, prompt=prompt)
        events, parsed = read(stream(), ids)
        assert tok.parse(ids, format=format, tools=tools, prompt=prompt) == parsed
        assert all(0 <= start < end <= len(ids) for start, end in (it.span for it in parsed.parts))
        portions, at = list[list[int]](), 0
        while at < len(ids):
            portions.append(ids[at : at + rng.randrange(1, 4)])
            at += len(portions[-1])
        assert read(stream(), portions) == (events, parsed), (format, ids)


@pytest.mark.large
def test_text_comes_in_any_portions() -> None:
    tok, rng = of_long_tokens(), random.Random(5)
    for _ in range(300):
        format, tools = rng.choice([*FORMATS]), rng.choice(TOOLS)
        text = answer(rng, format)
        whole, parsed = read(tok.parse_stream(format=format, tools=tools), [text])
        assert "".join(part.text for part in parsed.parts) == text, format
        assert "".join(it.text for it in whole if it.kind == "content") == parsed.content
        portions = re.findall(r"(?s).{1,4}|\s+", text)
        events, again = read(tok.parse_stream(format=format, tools=tools), portions)
        assert again == parsed, (format, text)
        assert summed(events) == summed(whole), (format, text)


def test_no_id_of_a_list_is_read_if_one_is_none() -> None:
    tok = of_long_tokens()
    for wrong in (-1, 1 << 32, "x", None):
        stream = tok.parse_stream(format="hermes")
        with pytest.raises((ArgumentError, ArgumentTypeError)):
            stream.push([65, wrong])  # type: ignore[list-item]
        assert [it.text for it in stream.push([66])] == ["B"]
        stream.finish()
        assert stream.parsed.content == "B"


def test_a_call_that_the_prompt_began_is_whole_when_it_ends() -> None:
    tok = byte_level("<|im_start|><|im_end|><think></think><tool_call></tool_call>")
    begun = '<|im_start|>assistant\n<tool_call>\n{"name": "get_weather", "arguments": {"city": "V'
    ids = tok.encode('ik"}}\n</tool_call>', special="allow")
    prompt = tok.encode(begun, special="allow")
    events, parsed = read(tok.parse_stream(template="qwen", prompt=prompt), ids)
    (done,) = [it.done for it in events if it.kind == "call_end"]
    assert (done,) == parsed.calls == (ParsedCall("get_weather", {"city": "Vik"}, "call_0"),)


@pytest.mark.parametrize(
    ("format", "text"),
    [
        (
            "lfm2",
            "<|tool_call_start|>[f(a='It\\'s \\u00e9 \\ud83d\\ude42.', b=1)]<|tool_call_end|>",
        ),
        ("minicpm3", '<|tool_call_start|>\n```python\nf(a="It\'s \\u00e9 \\U \\ud83d\\ude42.")'),
        ("gemma4", '<|tool_call>call:f{a:<|"|>It\'s é <| 🙂.<|"|>,b:1}<tool_call|>'),
        ("functiongemma", "<start_function_call>call:f{a:<escape>It's <esc é 🙂.<escape>}"),
    ],
)
def test_a_text_argument_comes_as_it_is_written(format: str, text: str) -> None:
    tok = byte_level("".join(MARKS))
    for pieces in ([*text], tok.encode(text, special="allow")):
        stream = tok.parse_stream(format=format)
        events = [stream.push(it) for it in pieces]
        said = [it.text for part in events for it in part if it.kind == "arguments"]
        assert len(said) > 10
        assert said[0] == '{"a": "I'
        written = "".join([*said, *(it.text for it in stream.finish() if it.kind == "arguments")])
        (call,) = stream.parsed.calls or (stream.parsed.unfinished,)
        assert call is not None
        value = json.loads(written + "}" * isinstance(call.arguments, str))
        assert isinstance(call.arguments, str) or call.arguments == value
        assert value["a"].startswith("It's ") and value["a"].endswith("🙂.")


@pytest.mark.parametrize(
    ("written", "value"),
    [
        (r"a\nb\tc\\d", "a\nb\tc\\d"),
        (r"\u00e9\x41\0", "éA\0"),
        (r"\ud83d\ude42", "🙂"),
        (r"\ud83d\ud83d\ude42", "\ufffd🙂"),
        (r"\ud83dx", "\ufffdx"),
        (r"\ud83d\n", "\ufffd\n"),
        (r"\ude42", "\ufffd"),
        (r"\u12", r"\u12"),
        (r"\x4g", r"\x4g"),
        (r"\q", r"\q"),
        (r"a 'b' c", "a 'b' c"),
    ],
)
def test_escapes_in_text_of_python(written: str, value: str) -> None:
    text = f"<|tool_call_start|>[f(a='{written}')]<|tool_call_end|>"
    for pieces in ([text], [*text]):
        _, parsed = read(byte_level("").parse_stream(format="lfm2"), pieces)
        assert parsed.calls == (ParsedCall("f", {"a": value}, "call_0"),)
        told = {problem.what for problem in parsed.problems}
        halves = {"half of a surrogate pair is in the text"} if "\ufffd" in value else set()
        assert told == halves


# Stops


STOPS: dict[str, tuple[str, Any, str, str | None, int]] = {
    # an answer, its stop, the text that is kept, what stopped it, and how many bytes come before
    "a text": ("So it is. END of it", "END", "So it is. ", "END", 10),
    "the first of two": ("So it is, so.", ["so", "it"], "So ", "it", 3),
    "one that begins another": ("a STOPPED", ["STOPPED", "STOP"], "a ", "STOP", 2),
    "one that is not there": ("So it i", ["it is"], "So it i", None, 7),
    "one in reasoning": ("<think>\nHm. END</think>No.", "END", "", "END", 12),
    "one of several bytes": ("So \u65e5 it.", "\u65e5", "So ", "\u65e5", 3),
    "none": ("So it is.", [], "So it is.", None, 9),
}


@pytest.mark.parametrize("name", STOPS)
def test_a_stop_ends_an_answer_however_it_is_split(name: str) -> None:
    text, stop, content, stopped, kept = STOPS[name]
    tok = byte_level("")
    ids = tok.encode(text)
    for pieces in ([ids], ids, [text], [*text]):
        stream = tok.parse_stream(format="hermes", stop=stop)
        events, parsed = read(stream, pieces)
        assert (parsed.content, stream.stopped) == (content, stopped)
        assert "".join(it.text for it in events if it.kind == "content") == content
        assert parsed.finish == ("stop" if stopped else "length")
        if pieces in ([ids], ids):
            assert tok.decode(ids[: stream.kept_tokens]) == text[:kept]
            assert parsed.parts[-1].span[1] == stream.kept_tokens


def test_an_id_ends_an_answer() -> None:
    tok = byte_level("".join(MARKS))
    stop = tok.special_tokens["<|im_end|>"]
    ids = [*tok.encode("So."), stop, *tok.encode("No.")]
    for pieces in ([ids], ids):
        stream = tok.parse_stream(format="hermes", stop_ids=[stop])
        _, parsed = read(stream, pieces)
        assert (parsed.content, parsed.finish, parsed.problems) == ("So.", "stop", ())
        assert (stream.stopped, stream.stopped_id, stream.kept_tokens) == ("<|im_end|>", stop, 3)


def test_a_stop_may_be_a_control_token() -> None:
    tok = byte_level("".join(MARKS))
    stream = tok.parse_stream(format="hermes", stop="</think>")
    _, parsed = read(stream, tok.encode("<think>\nHm.</think>So.", special="allow"))
    assert parsed.message.get("reasoning_content") == "Hm." and parsed.finish == "stop"
    assert stream.stopped == "</think>"


@pytest.mark.parametrize(
    ("given", "error"),
    [
        ({"stop": ""}, ArgumentError),
        ({"stop": [1]}, ArgumentTypeError),
        ({"stop": b"a"}, ArgumentTypeError),
        ({"stop_ids": "a"}, ArgumentTypeError),
        ({"stop_ids": [True]}, ArgumentTypeError),
        ({"stop_ids": [10**6]}, UnknownTokenError),
        ({"call_ids": "abc"}, ArgumentTypeError),
    ],
)
def test_wrong_stops_are_refused(given: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        byte_level("").parse_stream(format="hermes", **given)


# Ids of calls, and the events of OpenAI's API


def test_calls_get_ids_where_the_format_has_none() -> None:
    tok, text = byte_level(""), "<tool_call>" + '{"name": "f", "arguments": {}}' * 2
    assert [it.id for it in tok.parse(text, format="hermes").calls] == ["call_0", "call_1"]
    assert [it["id"] for it in tok.parse(text, format="hermes").message["tool_calls"]] == [
        "call_0", "call_1",
    ]  # fmt: skip
    parsed = tok.parse(text, format="hermes", call_ids=iter("xyz"))
    assert [it.id for it in parsed.calls] == ["x", "y"]
    written = text.replace('"name"', '"id": "7", "name"', 1)
    assert [it.id for it in tok.parse(written, format="hermes").calls] == ["7", "call_0"]
    with pytest.raises(ArgumentTypeError, match="call_ids must hold str"):
        tok.parse(text, format="hermes", call_ids=[5])  # type: ignore[list-item]


@pytest.mark.parametrize("format", ["hermes", "mistral", "kimi", "glm", "command-a"])
def test_events_become_the_deltas_of_openai(format: str) -> None:
    """Joined as a client joins them, they are the message."""
    tok = byte_level("")
    for text, *_ in WRITTEN[format]:
        for pieces in ([text], [*text]):
            events, parsed = read(tok.parse_stream(format=format, tools=[WEATHER]), pieces)
            said, thought, calls = "", "", list[dict[str, Any]]()
            for delta in (it.as_openai() for it in events):
                said += delta.get("content", "")
                thought += delta.get("reasoning_content", "")
                for it in delta.get("tool_calls", ()):
                    if it["index"] == len(calls):
                        calls.append({"id": "", "name": "", "arguments": ""})
                    call, function = calls[it["index"]], it.get("function", {})
                    call["id"] += it.get("id", "")
                    call["name"] += function.get("name", "")
                    call["arguments"] += function.get("arguments", "")
            assert said == parsed.content
            assert thought == parsed.message.get("reasoning_content", "")
            assert [(it["id"], it["name"]) for it in calls] == [
                (it.id, it.name) for it in parsed.calls
            ]
            for call, done in zip(calls, parsed.calls, strict=True):
                value = json.loads(call["arguments"] or "{}")
                assert (json.loads(value) if isinstance(value, str) else value) == done.arguments
