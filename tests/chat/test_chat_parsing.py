"""`tok.parse` and `tok.parse_stream`: what a model wrote, read back as a message."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

import jeton
from answer_cases import (
    BROKEN,
    MARKS,
    WRITTEN,
    losses,
    options,
    random_message,
    random_text,
    read_back,
)
from chat_cases import HELLO, KINDS, PUBLISHED, WEATHER, byte_level, templates
from chat_flags import FLAGS, as_published
from guide import hold_table
from jeton.chat import FORMATS, TEMPLATES, Event, Parsed, ParsedCall, ParseStream
from jeton.errors import (
    ArgumentError,
    ArgumentTypeError,
    FormatWarning,
    UnknownNameError,
    UnsupportedError,
)

PAGE = Path(__file__).parents[2] / "docs" / "howto" / "answers.md"
TOK = byte_level("")
CASES = [
    pytest.param(name, *it, id=f"{name}-{at}")
    for name, answers in WRITTEN.items()
    for at, it in enumerate(answers)
]
TEMPLATES_AT_HAND = [pytest.param(name, text, id=name) for name, text in templates()]


def calls_of(parsed: Parsed) -> list[tuple[str, Any]]:
    return [(call.name, call.arguments) for call in parsed.calls]


def joined(events: Iterable[Event]) -> tuple[str, str, list[tuple[str, str]]]:
    """Events put together: words, reasoning, and calls with their arguments as text."""
    words = reasoning = ""
    calls: list[tuple[str, str]] = []
    for event in events:
        if event.kind == "content":
            words += event.text
        elif event.kind == "reasoning":
            reasoning += event.text
        elif event.kind == "call":
            assert event.call == len(calls)
            calls.append((event.text, ""))
        elif event.kind == "arguments":
            calls[event.call] = (calls[event.call][0], calls[event.call][1] + event.text)
        else:
            assert event.done is not None
    return words, reasoning, calls


# Formats


def test_every_format_has_an_answer() -> None:
    assert set(WRITTEN) == set(FORMATS)


@pytest.mark.parametrize(("format", "text", "words", "reasoning", "calls"), CASES)
def test_answers_are_read(
    format: str, text: str, words: str, reasoning: str, calls: list[tuple[str, Any]]
) -> None:
    parsed = TOK.parse(text, format=format, tools=[WEATHER])
    assert parsed.content == words
    assert parsed.message.get("reasoning_content", "") == reasoning
    assert calls_of(parsed) == calls
    assert not parsed.problems
    assert "".join(part.text for part in parsed.parts) == text


@pytest.mark.parametrize(("format", "text", "words", "reasoning", "calls"), CASES)
def test_events_add_up_to_the_same_message(
    format: str, text: str, words: str, reasoning: str, calls: list[tuple[str, Any]]
) -> None:
    whole = TOK.parse(text, format=format, tools=[WEATHER])
    for size in (1, 2, 3, 7, len(text)):
        stream = TOK.parse_stream(format=format, tools=[WEATHER])
        pushed = [stream.push(text[at : at + size]) for at in range(0, len(text), size)]
        events = [*(it for part in pushed for it in part), *stream.finish()]
        said, thought, called = joined(events)
        assert (said, thought) == (words, reasoning)
        for (name, arguments), (expected, values) in zip(called, calls, strict=True):
            value = json.loads(arguments or "{}")
            assert name == expected
            assert (json.loads(value) if isinstance(value, str) else value) == values
        assert stream.parsed == whole


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ('{"text": "a\nb\tc\0 \\n d"}', r'{"text": "a\nb\tc\u0000 \n d"}'),
        (
            '{\n "a": "\r\n",\n "b": ["\n", "\n\n"]\n}',
            '{\n "a": "\\r\\n",\n "b": ["\\n", "\\n\\n"]\n}',
        ),
        # Arguments in a string come as what is in it.
        (r'"{\"a\": \"b' + "\n" + r'\"}"', r'{"a": "b\n"}'),
        (r'"{\"a\": \"b\nc\"}"', r'{"a": "b\nc"}'),
    ],
)
@pytest.mark.parametrize(
    "call", ['{"name": "f", "arguments": ARGUMENTS}', '{"arguments": ARGUMENTS, "name": "f"}']
)
def test_streamed_arguments_escape_line_breaks(call: str, written: str, said: str) -> None:
    text = f"<tool_call>{call.replace('ARGUMENTS', written)}</tool_call>"
    ids = TOK.encode(text, special="allow")
    for pieces in ([text], [*text], [ids], ids):
        stream = TOK.parse_stream(format="hermes")
        events = [*(it for piece in pieces for it in stream.push(piece)), *stream.finish()]
        arguments = "".join(it.text for it in events if it.kind == "arguments")
        assert arguments == said
        assert stream.parsed.calls[0].arguments == json.loads(arguments)
        assert {it.what for it in stream.parsed.problems} == {_NOT_ESCAPED}


@pytest.mark.parametrize("text", ["[get_weather(days=1)]", '{"name": "get_weather"}'])
def test_the_name_of_a_tool_may_begin_another(text: str) -> None:
    names = ("get", "get_weather", "g")
    tools: list[dict[str, Any]] = [{"name": it, "parameters": {}} for it in names]
    for pieces in ([text], [*text]):
        stream = TOK.parse_stream(format="llama4", tools=tools)
        for piece in pieces:
            stream.push(piece)
        stream.finish()
        assert [it.name for it in stream.parsed.calls] == ["get_weather"], pieces


_NOT_ESCAPED = "a control character in a JSON string is not escaped"
_GLM = "<tool_call>f<arg_key>a</arg_key><arg_value>VALUE</arg_value></tool_call>"
REPORTED: dict[str, tuple[str, str, str, str, dict[str, Any]]] = {
    # a format, an answer, what is wrong, and the name and arguments of its call all the same
    "a line break in arguments that are a string": (
        "hermes",
        '<tool_call>{"name": "f", "arguments": "{\\"a\\": \\"b\\nc\\"}"}</tool_call>',
        _NOT_ESCAPED, "f", {"a": "b\nc"},
    ),
    "a tab in the name of a tool": (
        "hermes", '<tool_call>{"name": "f\tg", "arguments": {}}</tool_call>', _NOT_ESCAPED, "f\tg", {}
    ),
    "a line break in a value between marks": (
        "glm", _GLM.replace("VALUE", '{"b": "c\nd"}'), f"the argument 'a': {_NOT_ESCAPED}",
        "f", {"a": {"b": "c\nd"}},
    ),
    "a key that comes twice in a value between marks": (
        "glm", _GLM.replace("VALUE", '{"b": 1, "b": 2}'),
        "the argument 'a': the key 'b' comes twice", "f", {"a": {"b": 2}},
    ),
    "an empty name in JSON": (
        "hermes", '<tool_call>{"name": "", "arguments": {"a": 1}}</tool_call>',
        "a call has no name", "", {"a": 1},
    ),
    "an empty name between marks": (
        "qwen-coder",
        "<tool_call><function=><parameter=a>\n1\n</parameter></function></tool_call>",
        "a call has no name", "", {"a": "1"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REPORTED)
def test_small_faults_are_read_and_reported(name: str) -> None:
    """`json.loads` refuses control characters, and so do the parsers of serving engines."""
    format, text, what, called, arguments = REPORTED[name]
    tool = {"name": "f", "parameters": {"properties": {"a": {"type": "object"}}}}
    for pieces in ([text], [*text]):
        stream = TOK.parse_stream(format=format, tools=[tool] if format == "glm" else None)
        for piece in pieces:
            stream.push(piece)
        stream.finish()
        assert [it.what for it in stream.parsed.problems] == [what]
        assert calls_of(stream.parsed) == [(called, arguments)]


@pytest.mark.parametrize("written", ["null", '"null"', '""', '" "', '"{}"', "{}"])
@pytest.mark.parametrize(
    ("format", "call"),
    [
        ("hermes", '<tool_call>{"name": "f", "arguments": WRITTEN}</tool_call>'),
        ("hermes", '<tool_call>{"arguments": WRITTEN, "name": "f"}</tool_call>'),
        ("mistral", "[TOOL_CALLS]f[ARGS]WRITTEN</s>"),
        ("apertus", '<|tools_prefix|>[{"f": WRITTEN}]<|tools_suffix|>'),
    ],
)
def test_events_of_a_call_without_arguments_are_an_object(
    format: str, call: str, written: str
) -> None:
    for pieces in ([it := call.replace("WRITTEN", written)], [*it]):
        stream = TOK.parse_stream(format=format)
        events = [it for piece in pieces for it in stream.push(piece)] + stream.finish()
        assert calls_of(stream.parsed) == [("f", {})]
        assert stream.parsed.problems == ()
        said = "".join(it.text for it in events if it.kind == "arguments")
        assert json.loads(said) == {}


def test_arguments_that_come_twice_are_a_problem_before_the_name_too() -> None:
    arguments = '"arguments": {"a": 1}, "parameters": {"a": 2}'
    for text in (f'{{"name": "f", {arguments}}}', f'{{{arguments}, "name": "f"}}'):
        parsed = TOK.parse(f"<tool_call>{text}</tool_call>", format="hermes")
        assert [it.arguments for it in parsed.calls] == ['{"a": 1}{"a": 2}']
        assert parsed.finish == "malformed"


def test_an_empty_header_is_a_problem() -> None:
    text = f"{_DEEPSEEK} <｜tool▁sep｜>{{}}<｜tool▁call▁end｜><｜tool▁calls▁end｜>"
    parsed = TOK.parse(text, format="deepseek")
    assert parsed.problems[0].what == "' ' is no header of this format"


def test_a_line_break_after_a_backslash_is_a_problem() -> None:
    text = '<tool_call>{"name": "f", "arguments": {"a": "b\\\nc"}}</tool_call>'
    for size in (1, len(text)):
        stream = TOK.parse_stream(format="hermes")
        for at in range(0, len(text), size):
            stream.push(text[at : at + size])
        stream.finish()
        problems = [it.what for it in stream.parsed.problems]
        assert problems == ["the arguments are not a JSON object"]


def test_an_array_without_dimensions_is_one_id() -> None:
    numpy = pytest.importorskip("numpy")
    (id,) = TOK.encode("a")
    for one in (numpy.array(id), numpy.int64(id)):
        assert [it.text for it in TOK.parse_stream(format="hermes").push(one)] == ["a"]
        assert TOK.parse(one, format="hermes").content == "a"
    with pytest.raises(ArgumentTypeError, match="ids must hold ints, not ndarray"):
        TOK.parse(numpy.array(1.5), format="hermes")


def test_events_come_as_early_as_they_are_certain() -> None:
    stream = TOK.parse_stream(format="hermes", tools=[WEATHER])
    pushes = [
        ("I ", [("content", "I ")]),
        ("look\n", [("content", "look")]),
        ("<", []),
        ("b", [("content", "\n<b")]),
        (">\n<tool_call>", [("content", ">")]),
        ('{"name": "get_', []),
        ('weather"', [("call", "get_weather")]),
        (', "arguments": {"city": "B', [("arguments", '{"city": "B')]),
        ("erg", [("arguments", "erg")]),
        ('en"}', [("arguments", 'en"}')]),
        ("}", [("call_end", "")]),
    ]
    for text, events in pushes:
        assert [event[:2] for event in stream.push(text)] == events
    stream = TOK.parse_stream(format="glm", tools=[WEATHER])
    pushes = [
        ("<tool_call>get_weather\n<arg_key>", [("call", "get_weather")]),
        ("city</arg_key><arg_value>Ber", [("arguments", '{"city": "Ber')]),
        ('gen "N"', [("arguments", 'gen \\"N\\"')]),
        ("</arg_value><arg_key>days</arg_key><arg_value>3", [("arguments", '"')]),
        ("</arg_value>", []),  # text may go on
        ("</tool_call>", [("arguments", ', "days": 3'), ("arguments", "}"), ("call_end", "")]),
    ]
    for text, events in pushes:
        assert [event[:2] for event in stream.push(text)] == events


@pytest.mark.parametrize("name", BROKEN)
def test_broken_answers_are_reported_and_lose_nothing(name: str) -> None:
    format, text, finish, kept = BROKEN[name]
    for size in (1, len(text)):
        stream = TOK.parse_stream(format=format, tools=[WEATHER])
        for at in range(0, len(text), size):
            stream.push(text[at : at + size])
        stream.finish()
        parsed = stream.parsed
        assert parsed.finish == finish
        assert (finish == "malformed") == bool(parsed.problems)
        assert all(0 <= problem.at <= len(text) for problem in parsed.problems)
        assert "".join(part.text for part in parsed.parts) == text
        assert kept in json.dumps(parsed.message).replace('\\"', '"') + repr(parsed.unfinished)


@pytest.mark.parametrize(
    "written",
    [
        '[TOOL_CALLS]get_weather[CALL_ID][ARGS]{"days": 3}',
        '[TOOL_CALLS][{"name": "get_weather", "arguments": {"days": 3}, "id": ""}]',
    ],
)
def test_an_id_without_text_is_none(written: str) -> None:
    stream = TOK.parse_stream(format="mistral", tools=[WEATHER])
    events = stream.push(TOK.encode(written, special="allow")) + stream.finish()
    assert stream.parsed.calls == (ParsedCall("get_weather", {"days": 3}, "call00000"),)
    assert [it.id for it in events if it.id is not None] == ["call00000"]


@pytest.mark.parametrize(
    ("head", "name", "id"),
    [
        ("functions.get_weather:0", "get_weather", "functions.get_weather:0"),
        (" get_weather ", "get_weather", "get_weather"),
        (" functions. get_weather :12\n", "get_weather", "functions. get_weather :12"),
        ("functions.a b:c:3", "a b:c", "functions.a b:c:3"),
        ("functions.:0", ":0", "functions.:0"),
    ],
)
def test_names_of_kimi_are_in_their_ids(head: str, name: str, id: str) -> None:
    parsed = TOK.parse(
        f"<|tool_calls_section_begin|><|tool_call_begin|>{head}<|tool_call_argument_begin|>{{}}"
        "<|tool_call_end|><|tool_calls_section_end|>",
        format="kimi",
    )
    assert [(it.name, it.id) for it in parsed.calls] == [(name, id)]


_DEEPSEEK = "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>"
_KIMI = "<|tool_calls_section_begin|><|tool_call_begin|>functions."


@pytest.mark.large
def test_a_million_characters_take_linear_time() -> None:
    for format, text in (
        ("hermes", "\n" * 1_000_000),
        ("hermes", '<tool_call>{"a": ' * 60_000),
        ("hermes", '<tool_call>{"name": "f", "arguments": ' + '{"a":' * 200_000),
        ("llama3", " " * 1_000_000),
        ("qwen-coder", "<tool_call><function=f><parameter=a>" + "</parameter>\n" * 70_000),
        ("lfm2", "<|tool_call_start|>[f(a=" + "[" * 1_000_000),
        ("gpt-oss", "<|channel|>commentary to=f" + " \n" * 500_000 + "<|message|>{}"),
        ("functionary", "a " * 500_000 + "\n{}"),
        ("deepseek", f"{_DEEPSEEK}a{' ' * 1_000_000}b<｜tool▁sep｜>{{}}"),
        ("deepseek", f"{_DEEPSEEK}{'a ' * 500_000}<｜tool▁sep｜>{{}}"),
        ("kimi", f"{_KIMI}a{' ' * 1_000_000}b:0<|tool_call_argument_begin|>{{}}"),
        ("kimi", f"{_KIMI}{':1 ' * 350_000}<|tool_call_argument_begin|>{{}}"),
    ):
        stream = TOK.parse_stream(format=format, tools=[WEATHER])
        for at in range(0, len(text), 1000):
            stream.push(text[at : at + 1000])
        stream.finish()
        assert sum(len(part.text) for part in stream.parsed.parts) == len(text)


# Ids


def test_control_tokens_count_by_their_ids() -> None:
    tok = as_published("Qwen 3")
    prompt = tok.chat(HELLO, template="qwen", add_generation_prompt=True)
    known = {token.content: token.id or 0 for token in tok.stages.added_tokens}
    call = tok.encode('\n{"name": "f", "arguments": {}}\n')
    spelled = tok.encode("<tool") + tok.encode("_call>")
    parsed = tok.parse([*spelled, *call, known["<|im_end|>"]], prompt=prompt)
    assert parsed.content == '<tool_call>\n{"name": "f", "arguments": {}}\n'
    assert (parsed.calls, parsed.finish, parsed.text_marks) == ((), "stop", ())
    ids = [known["<tool_call>"], *call, known["</tool_call>"], known["<|im_end|>"]]
    parsed = tok.parse(ids, prompt=prompt)
    assert (calls_of(parsed), parsed.finish) == ([("f", {})], "tool_calls")
    assert [(part.kind, part.span) for part in parsed.parts] == [
        ("mark", (0, 2)),
        ("call", (2, len(ids) - 3)),
        ("mark", (len(ids) - 3, len(ids))),
    ]
    # In text the two look alike, which `text_marks` says.
    parsed = tok.parse(tok.decode(ids), prompt=prompt)
    assert parsed.text_marks == ("<tool_call>", "</tool_call>", "<|im_end|>")
    assert calls_of(parsed) == [("f", {})]
    # An end of a message that is only spelled ends nothing.
    parsed = tok.parse(tok.encode("a<|im") + tok.encode("_end|>b"), prompt=prompt)
    assert (parsed.content, parsed.finish) == ("a<|im_end|>b", "length")


def test_a_mark_cuts_off_what_is_open() -> None:
    tok = byte_level("".join(MARKS))
    ids = tok.encode(
        "<|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:0"
        '<|tool_call_argument_begin|>{"city": "Ber<|tool_call_end|><|tool_calls_section_end|>So.',
        special="allow",
    )
    parsed = tok.parse(ids, format="kimi", tools=[WEATHER])
    assert (calls_of(parsed), parsed.content) == ([("get_weather", '{"city": "Ber')], "So.")
    assert [problem.what for problem in parsed.problems] == ["the call is cut off"]
    assert tok.decode(ids[: parsed.problems[0].at]).endswith('"Ber')


def test_text_after_the_end_is_kept_apart() -> None:
    tok = as_published("Qwen 3")
    end = tok.special_tokens["<|im_end|>"]
    parsed = tok.parse([*tok.encode("So."), end, *tok.encode(" more")], template="qwen")
    assert [(part.kind, part.text) for part in parsed.parts] == [
        ("content", "So."),
        ("mark", "<|im_end|>"),
        ("rest", " more"),
    ]
    assert parsed.message == {"role": "assistant", "content": "So."}


def test_the_prompt_may_have_begun_the_answer() -> None:
    template = TEMPLATES["qwen"] + "{% if add_generation_prompt %}<think>\n{% endif %}"
    tok = as_published("Qwen 3")
    known = {token.content: token.id or 0 for token in tok.stages.added_tokens}
    ids = [*tok.encode("Hm."), known["</think>"], *tok.encode("\n\nSo."), known["<|im_end|>"]]
    chat = tok.chat(HELLO, template=template, add_generation_prompt=True)
    for prompt in (chat, chat.ids, chat.text):
        parsed = tok.parse(ids, prompt=prompt, template=template)
        assert parsed.message == {
            "role": "assistant",
            "content": "So.",
            "reasoning_content": "Hm.",
        }
    said = {"role": "assistant", "content": "Well, <|im_start|>assistant\n"}
    chat = tok.chat([*HELLO, said], template="qwen", continue_final_message=True)
    parsed = tok.parse(tok.encode(" so."), prompt=chat)
    assert parsed.content == "Well, <|im_start|>assistant\n so."
    assert [(part.text, part.span) for part in parsed.parts] == [
        (" so.", (0, len(tok.encode(" so."))))
    ]


def test_half_of_a_surrogate_pair_in_the_text_of_a_prompt_is_no_control_token() -> None:
    tok = byte_level(TEMPLATES["qwen"] + "<think></think>")
    begun = "".join(map(chr, range(0xD800, 0xD820)))
    for text, read in ((begun, "\ufffd" * len(begun)), ("\ud83d\ude42", "🙂")):
        stream = tok.parse_stream(
            prompt=f"<|im_start|>assistant\n<think>\na{text}b",
            template="qwen",
            stop="".join(map(chr, range(0xD800, 0xD802))),
        )
        stream.push(tok.encode("c</think>", special="allow"))
        stream.finish()
        assert stream.parsed.message["reasoning_content"] == f"a{read}bc"
        assert stream.stopped is None


def test_an_ended_answer_in_the_prompt_is_not_part_of_this_one() -> None:
    template = PUBLISHED / "Mistral-Small-3.2-24B-Instruct-2506.jinja"
    if not template.exists():
        pytest.skip("needs the published templates")
    text = template.read_text("utf-8")
    tok = byte_level(text)
    call = {"id": "abcdefghi", "type": "function", "function": {"name": "f", "arguments": {}}}
    messages = [
        *HELLO,
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "abcdefghi", "content": "1"},
    ]
    prompt = tok.chat(messages, template=text)
    for form in (prompt, prompt.ids):
        parsed = tok.parse(tok.encode("So."), prompt=form, template=text)
        assert parsed.message == {"role": "assistant", "content": "So."}


def test_pieces_of_characters_are_put_together() -> None:
    tok = byte_level("")
    ids = tok.encode("né🙂")
    stream = tok.parse_stream(template="chatml")
    texts = [event.text for id in ids for event in stream.push(id)]
    assert texts == ["n", "é", "🙂"]
    stream.finish()
    assert stream.parsed.parts[0].span == (0, len(ids))
    end = tok.special_tokens["<|im_end|>"]
    parts = tok.parse([*tok.encode("🙂"), end, *tok.encode("🙂a")], template="chatml").parts
    assert [(it.text, it.span) for it in parts] == [
        ("🙂", (0, 4)), ("<|im_end|>", (4, 5)), ("🙂a", (5, 10)),
    ]  # fmt: skip
    assert tok.parse([*ids[:-1], end], template="chatml").content == "né\ufffd"


DECODERS: dict[str, Any] = {
    "metaspace": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always"},
    "prepended": {
        "type": "Sequence",
        "decoders": [
            {"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
            {"type": "ByteFallback"},
            {"type": "Fuse"},
            {"type": "Strip", "content": " ", "start": 1, "stop": 0},
        ],
    },
    "suffixes": {"type": "BPEDecoder", "suffix": "</w>"},
}


@pytest.mark.parametrize("decoder", DECODERS)
@pytest.mark.parametrize("end", ["<e>", "▁<e>", " <e>", "<e▁>", "<e> ", "▁"])
def test_a_control_token_is_not_text_however_it_is_decoded(decoder: str, end: str) -> None:
    model = {"type": "WordLevel", "vocab": {"a": 0, "b": 1}, "unk_token": "a"}
    stages = {"model": model, "added_tokens": [], "decoder": DECODERS[decoder]}
    tok = jeton.Tokenizer.from_json(json.dumps(stages))
    tok = tok.with_added_tokens([jeton.AddedToken(end, special=True)])
    template = "{% for m in messages %}{{ m.role }}:{{ m.content }}" + end + "{% endfor %}"
    for ids, words, rest in (([0, 0, 2], "aa", ""), ([2], "", ""), ([1, 2, 0, 2], "b", "a" + end)):
        stream = tok.parse_stream(template=template)
        events = [event for id in ids for event in stream.push(id)] + stream.finish()
        assert "".join(event.text for event in events) == stream.parsed.content == words
        assert [part.text for part in stream.parsed.parts] == [
            it for it in (words, end, rest) if it
        ]
        assert stream.parsed.finish in ("stop", "tool_calls")
        assert tok.parse(ids, template=template) == stream.parsed


@pytest.mark.parametrize("kind", [*KINDS, "suffixes"])
def test_ids_without_a_token_are_shown_and_reported(kind: str) -> None:
    tok = KINDS.get(kind, byte_level)("")
    if kind == "suffixes":
        tok = tok.replace(decoder=jeton.components.decoders.BPEDecoder(suffix="</w>"))
    end = tok.special_tokens["<|im_end|>"]
    a, unknown = tok.encode("a")[-1], tok.vocab.max_id + 7
    for ids, places in (
        ([a, unknown, a], [1]),
        ([unknown, end], [0]),
        ([end, a, unknown], [2]),
        ([unknown, 2**32 - 1], [0, 1]),
    ):
        parsed = tok.parse(ids, template="chatml")
        assert "".join(it.text for it in parsed.parts) == tok.decode(ids, unknown_ids="show")
        problems = [it for it in parsed.problems if "has no token" in it.what]
        assert parsed.finish == "malformed" and len(problems) == len(places)
        if kind != "suffixes":  # what holds text back says it later
            assert [it.at for it in problems] == places
        prompt = tok.chat(HELLO, template="chatml", add_generation_prompt=True)
        longer = prompt.extend(ids, messages=HELLO)
        assert longer.ids[len(prompt.ids) :][: len(ids)] == ids
    text = f"[unknown id {unknown}]"
    assert not tok.parse(text, template="chatml").problems
    assert not tok.parse(tok.encode(text), template="chatml").problems


@pytest.mark.parametrize(
    ("id", "error"),
    [
        (-1, ArgumentError),
        (2**32, ArgumentError),
        (True, ArgumentTypeError),
        (1.0, ArgumentTypeError),
    ],
)
def test_values_that_are_not_ids_are_refused(id: Any, error: type[Exception]) -> None:
    prompt = TOK.chat(HELLO, template="chatml", add_generation_prompt=True)
    for call in (
        lambda: TOK.parse([id], template="chatml"),
        lambda: TOK.parse([], prompt=[id], template="chatml"),
        lambda: TOK.parse_stream(template="chatml").push(id),
        lambda: prompt.extend([id]),
    ):
        with pytest.raises(error, match=r"ids|int"):
            call()


def test_arguments_have_the_types_of_the_tool() -> None:
    schema = {
        "n": {"type": "integer"}, "x": {"type": "number"}, "b": {"type": "boolean"},
        "s": {"type": "string"}, "o": {"anyOf": [{"type": "object"}, {"type": "null"}]},
        "e": {"enum": ["1", "2"]}, "u": {"type": ["string", "integer"]}, "z": {},
    }  # fmt: skip
    tool = {"type": "function", "function": {"name": "f", "parameters": {"properties": schema}}}
    texts = {
        "n": "3", "x": "1e3", "b": "True", "s": "3", "o": "None", "e": "1", "u": "x", "z": "[1]",
        "unknown": "3",
    }  # fmt: skip
    pairs = "".join(f"<arg_key>{k}</arg_key><arg_value>{v}</arg_value>" for k, v in texts.items())
    text = f"<tool_call>f{pairs}</tool_call>"
    parsed = TOK.parse(text, format="glm", tools=[tool])
    assert parsed.calls[0].arguments == {
        "n": 3, "x": 1000.0, "b": True, "s": "3", "o": None, "e": "1", "u": "x", "z": [1],
        "unknown": "3",
    }  # fmt: skip
    assert TOK.parse(text, format="glm").calls[0].arguments == texts


CITY = {"$ref": "#/$defs/City"}


@pytest.mark.parametrize(
    ("schema", "text", "value"),
    [
        (CITY, '{"name": "Bergen"}', {"name": "Bergen"}),
        ({"allOf": [CITY], "description": "d"}, '{"name": "Bergen"}', {"name": "Bergen"}),
        ({"anyOf": [CITY, {"type": "null"}], "default": None}, '{"name": "B"}', {"name": "B"}),
        ({"anyOf": [CITY, {"type": "null"}]}, "null", None),
        ({"oneOf": [CITY, {"type": "string"}]}, "Bergen", "Bergen"),
        ({"$ref": "#/$defs/Days"}, "5", 5),
        ({"$ref": "#/$defs/Level"}, "2", 2),
        ({"$ref": "#/$defs/a~1b"}, "5", 5),
        ({"$ref": "#/$defs/Tree"}, "[[]]", [[]]),
        ({"$ref": "#/$defs/Loop"}, "5", "5"),
        ({"$ref": "#/$defs/none"}, "5", 5),
        ({"$ref": "https://example.com/schema"}, "5", 5),
        ({"allOf": [{"type": ["string", "number"]}, {"type": ["integer", "null"]}]}, "5", 5),
        ({"enum": [1, 2]}, "1", 1),
        ({"enum": ["1", "2"]}, "1", "1"),
        ({"enum": ["auto", 1]}, "auto", "auto"),
        ({"enum": ["auto", 1]}, "1", 1),
        ({"const": 5}, "5", 5),
        ({"const": True}, "true", True),
        ({"type": "integer", "nullable": True}, "null", None),
        ({"anyOf": [{"type": "integer"}, {}]}, "x", "x"),
        ({}, "Bergen", "Bergen"),
        ({"title": "Any"}, "5", 5),
    ],
)
def test_arguments_have_types_by_each_keyword_of_a_schema(
    schema: dict[str, Any], text: str, value: Any
) -> None:
    definitions = {
        "City": {"type": "object", "properties": {"name": {"type": "string"}}},
        "Days": {"type": "integer"},
        "Level": {"enum": [1, 2, 3]},
        "a/b": {"type": "integer"},
        "Tree": {"anyOf": [{"type": "array", "items": {"$ref": "#/$defs/Tree"}}, CITY]},
        "Loop": {"$ref": "#/$defs/Loop"},
        "Arguments": {"properties": {"a": schema}},
    }
    written = f"<tool_call>f<arg_key>a</arg_key><arg_value>{text}</arg_value></tool_call>"
    for parameters in ({"properties": {"a": schema}}, {"$ref": "#/$defs/Arguments"}):
        tool = {"name": "f", "parameters": {**parameters, "$defs": definitions}}
        parsed = TOK.parse(written, format="glm", tools=[tool])
        assert (parsed.calls[0].arguments, parsed.problems) == ({"a": value}, ())


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        ({"type": 5}, "'type' in the schema of f.a must be a str or a list of them, not 5"),
        ({"anyOf": 5}, "'anyOf' in the schema of f.a must be a list, not 5"),
        ({"oneOf": [{"allOf": {}, "type": {}}]}, "'type' in the schema of f.a must be a str"),
        ({"$ref": 5}, "'[$]ref' in the schema of f.a must be a str, not 5"),
    ],
)
def test_invalid_schemas_are_refused(schema: dict[str, Any], message: str) -> None:
    tool = {"name": "f", "parameters": {"properties": {"a": schema}}}
    with pytest.raises(ArgumentTypeError, match=message):
        TOK.parse_stream(format="glm", tools=[tool])


_TURNS = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{% if m.reasoning_content %}<|muse|>"
    "{{ m.reasoning_content }}<|/muse|>{% endif %}{{ m.content }}{% if m.tool_calls %}CALLS"
    "{% endif %}<|im_end|>{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n"
    "{% endif %}"
)
FOUND = {
    "objects": "{% for c in m.tool_calls %}<|do|>{{ c.function|tojson }}<|/do|>{% endfor %}",
    "a list": "<|do|>[{% for c in m.tool_calls %}{{ ', ' if not loop.first }}"
    "{{ c.function|tojson }}{% endfor %}]<|/do|>",
    "a name and JSON": "{% for c in m.tool_calls %}<|do|>{{ c.function.name }}<|with|>"
    "{{ c.function.arguments|tojson }}<|/do|>{% endfor %}",
    "in a section": "<|all|>\n{% for c in m.tool_calls %}<|do|>{{ c.function.name }} <|with|> "
    "{{ c.function.arguments|tojson }}<|/do|>\n{% endfor %}<|/all|>",
    "a word, a name and JSON": "{% for c in m.tool_calls %}<|do|>function\\n{{ c.function.name }}\\n"
    "{{ c.function.arguments|tojson }}<|/do|>{% endfor %}",
    "tags": "{% for c in m.tool_calls %}<|do|>\\n<fn={{ c.function.name }}>\\n{% for k, v in "
    "c.function.arguments.items() %}<arg={{ k }}>\\n{{ v if v is string else v|tojson }}\\n</arg>\\n"
    "{% endfor %}</fn>\\n<|/do|>{% endfor %}",
    "Python": "{% for c in m.tool_calls %}<|do|>{{ c.function.name }}({% for k, v in "
    "c.function.arguments.items() %}{{ k }}={{ v|tojson }}{{ ', ' if not loop.last }}{% endfor %})\n"
    "<|/do|>{% endfor %}",
    "a list of Python": "<|do|>\n[{% for c in m.tool_calls %}{{ ', ' if not loop.first }}"
    "{{ c.function.name }}({% for k, v in c.function.arguments.items() %}{{ ', ' if not loop.first }}"
    "{{ k }}={{ v|tojson }}{% endfor %}){% endfor %}]\n<|/do|>",
    "marks": "{% for c in m.tool_calls %}<|do|>{{ c.function.name }}\n{% for k, v in "
    "c.function.arguments.items() %}<|key|>{{ k }}<|is|>{{ v if v is string else v|tojson }}"
    "<|/key|>\n{% endfor %}<|/do|>{% endfor %}",
}


def test_reasoning_that_the_prompt_opens_is_found() -> None:
    template = (
        "{% for m in messages %}{% if m.role == 'assistant' %}<|bot|><|muse|>{{ m.reasoning_content }}"
        "<|/muse|>{% else %}<|user|>{% endif %}{{ m.content }}<|im_end|>{% endfor %}"
        "{% if add_generation_prompt %}<|bot|><|muse|>{% endif %}"
    )
    tok = byte_level(template)
    prompt = tok.chat(HELLO, template=template, add_generation_prompt=True)
    ids = tok.encode("Hm.<|/muse|>So.<|im_end|>", special="allow")
    message = tok.parse(ids, prompt=prompt).message
    assert message == {"role": "assistant", "content": "So.", "reasoning_content": "Hm."}


def test_white_space_in_front_of_reasoning_is_not_content() -> None:
    template = (
        "{% for m in messages %}<|bot|>{{ m.role }}{% if m.reasoning_content %}{{ space }}<think>\n"
        "{{ m.reasoning_content }}\n</think>\n\n{% endif %}{{ m.content }}<|im_end|>{% endfor %}"
        "{% if add_generation_prompt %}<|bot|>assistant{% if opens %}\n<think>\n{% endif %}{% endif %}"
    )
    tok = byte_level(template)
    for space, opens in (("\n", False), ("\n", True), ("", True)):
        prompt = tok.chat(
            HELLO, template=template, add_generation_prompt=True, space=space, opens=opens
        )
        written = "" if opens else f"{space}<think>\n"
        ids = tok.encode(f"{written}Hm.\n</think>\n\nSo.<|im_end|>", special="allow")
        for answer, before in ((ids, prompt), (tok.decode(ids), prompt)):
            message = tok.parse(answer, prompt=before).message
            assert message == {"role": "assistant", "content": "So.", "reasoning_content": "Hm."}


@pytest.mark.parametrize("tokens", [["[e~["], ["[e~[", "<think>", "</think>"], []])
def test_a_token_that_ends_with_a_bracket_is_no_part_of_what_follows(tokens: list[str]) -> None:
    """MiniMax-M2 ends turns so. Its prompt opens reasoning, which is found behind its last token."""
    template = (
        "{% for m in messages %}]~b]{{ m.role }}\n{% if m.reasoning_content %}<think>\n"
        "{{ m.reasoning_content }}\n</think>\n\n{% endif %}{{ m.content }}[e~[\n{% endfor %}"
        "{% if add_generation_prompt %}]~b]assistant\n<think>\n{% endif %}"
    )
    tok = jeton.Tokenizer.from_ranks(
        {bytes([byte]): byte for byte in range(256)},
        pattern="gpt2",
        special_tokens={token: 256 + at for at, token in enumerate(tokens)},
    )
    prompt = tok.chat(HELLO, template=template, add_generation_prompt=True)
    for end in ("[e~[", "[e~[\n"):
        ids = tok.encode(f"Hm.\n</think>\n\nSo.{end}", special="allow")
        for answer in (ids, tok.decode(ids)):
            message = tok.parse(answer, prompt=prompt).message
            assert message == {"role": "assistant", "content": "So.", "reasoning_content": "Hm."}


def test_words_in_parts_come_back_in_parts() -> None:
    template = (
        "{% for m in messages %}<|im_start|>{{ m.role }}\n{% for it in m.content %}{{ it.text }}"
        "{% endfor %}<|im_end|>{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n"
        "{% endif %}"
    )
    tok = byte_level(template)
    asked = [{"role": "user", "content": [{"type": "text", "text": "Well?"}]}]
    prompt = tok.chat(asked, template=template, add_generation_prompt=True)
    parsed = tok.parse(tok.encode("So.<|im_end|>", special="allow"), prompt=prompt)
    assert parsed.message["content"] == [{"type": "text", "text": "So."}]
    assert (parsed.content, parsed.finish) == ("So.", "stop")
    whole = tok.chat([*asked, parsed.message], template=template)
    assert whole.text == prompt.text + "So.<|im_end|>"


_ENDLESS = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def test_the_ends_of_a_generation_config_end_answers(tmp_path: Path) -> None:
    tok = byte_level("<|im_start|><|im_end|><|eom_id|><|eot_id|>")
    tok.save(tmp_path, chat_template=_ENDLESS)
    end, other = (tok.special_tokens[it] for it in ("<|eom_id|>", "<|eot_id|>"))
    for ids in ([end, other, 10**6, "x"], end):
        (tmp_path / "generation_config.json").write_text(json.dumps({"eos_token_id": ids}))
        loaded = jeton.load(tmp_path)
        assert (
            end in loaded.parse_stream().ends and end in loaded.parse_stream(format="hermes").ends
        )
        assert (other in loaded.parse_stream().ends) == isinstance(ids, list)
        parsed = loaded.parse([*tok.encode("So."), end])
        assert (parsed.content, parsed.finish) == ("So.", "stop")
    (tmp_path / "generation_config.json").write_text("[")
    with pytest.warns(FormatWarning, match="which tokens end an answer"):
        loaded = jeton.load(tmp_path)
    assert end not in loaded.parse_stream().ends


def test_a_plain_template_is_plain_for_tokens_of_all_formats() -> None:
    """Unless the tokens leave no doubt: those of Qwen are of one format."""
    assert byte_level("".join(MARKS)).parse([], template=_ENDLESS).format == "plain"
    tokens = "<think></think><tool_call></tool_call>"
    assert byte_level(tokens).parse([], template=_ENDLESS).format == "hermes"


@pytest.mark.parametrize("kind", KINDS)
def test_text_that_spells_an_unknown_id_is_text(kind: str) -> None:
    tok = KINDS[kind]("[unknown id 9]")
    for text in ("[unknown id 9999]", "[unknown id 99999999999999999999999]"):
        parsed = tok.parse(tok.encode(text), format="hermes")
        assert parsed.content == tok.decode(tok.encode(text)) and not parsed.problems
    parsed = tok.parse([*tok.encode("a"), 10**6], format="hermes")
    assert [it.what for it in parsed.problems] and parsed.problems[0].at == len(tok.encode("a"))


@pytest.mark.parametrize("between", ["", "<|end|>"], ids=["open", "no start"])
def test_a_header_of_gpt_oss_begins_where_the_one_before_it_is_open(between: str) -> None:
    marks = ["<|end|>", "<|start|>", "<|message|>", "<|channel|>", "<|constrain|>", "<|call|>"]
    tok = jeton.load("jeton-4k").with_added_tokens(
        [jeton.AddedToken(it, special=True) for it in marks]
    )
    text = (
        f"<|channel|>analysis<|message|>I look.{between}<|channel|>commentary to=functions.look "
        '<|constrain|>json<|message|>{"place": "Vik"}<|call|>'
    )
    ids = tok.encode(text, special="allow")
    parsed = tok.parse(ids, format="gpt-oss")
    [call] = parsed.message["tool_calls"]
    assert call["function"] == {"name": "look", "arguments": {"place": "Vik"}}
    assert parsed.message["reasoning_content"] == "I look." and not parsed.message["content"]
    [problem] = parsed.problems
    assert "in front of '<|channel|>'" in problem.what
    stream = tok.parse_stream(format="gpt-oss")
    for id in ids:
        stream.push(id)
    stream.finish()
    assert stream.parsed.message == parsed.message


def test_an_engine_may_stop_at_the_ends() -> None:
    """`<|end|>` of gpt-oss ends reasoning too: a model that stops at it has said nothing yet."""
    marks = ["<|end|>", "<|return|>", "<|call|>", "<|start|>", "<|channel|>", "<|message|>"]
    tok = byte_level("".join(marks))
    stream = tok.parse_stream(format="gpt-oss")
    special = tok.special_tokens
    assert {special["<|return|>"], special["<|call|>"]} <= stream.ends
    assert special["<|end|>"] in stream.closing - stream.ends


@pytest.mark.filterwarnings("ignore::jeton.errors.ChatWarning")
@pytest.mark.parametrize("name", FOUND)
def test_a_format_is_found_in_what_the_template_writes(name: str) -> None:
    template = _TURNS.replace("CALLS", FOUND[name].replace("\\n", "\n"))
    tok = byte_level(template)
    assert losses(tok, template) in ([], ["ids of calls"])
    stream = tok.parse_stream(template=template)
    stream.finish()
    assert stream.parsed.format == "found" and not stream.marks
    rng = random.Random(name)
    for _ in range(20):
        message = random_message(rng, MARKS, [])
        trip = read_back(tok, template, message)
        assert trip is not None
        assert trip.found == (trip.content, trip.reasoning, trip.calls), message


_WITH_HEADERS = (
    "{% for m in messages %}{% if m.role == 'user' %}<|im_start|>user\n{{ m.content }}<|im_end|>\n"
    "{% else %}{% if m.reasoning_content %}<|im_start|>assistant/think\n{{ m.reasoning_content }}"
    "<|im_end|>\n{% endif %}{% if m.content %}<|im_start|>assistant\n{{ m.content }}<|im_end|>"
    "{{ '\n' if m.tool_calls else '<|endofturn|>\n' }}{% endif %}{% if m.tool_calls %}"
    "<|im_start|>assistant -> tool/function_call\n[{% for c in m.tool_calls %}{{ ', ' if not "
    "loop.first }}{{ c.function|tojson }}{% endfor %}]<|im_end|><|stop|>\n{% endif %}{% endif %}"
    "{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant"
    "{% if think == 1 %}/think\n{% elif think == 0 %}/think\n<|im_end|>\n<|im_start|>assistant\n"
    "{% endif %}{% endif %}"
)
SHAPES = {
    "headers say what follows": (_WITH_HEADERS, "hyperclova", ["ids of calls"]),
    "calls have no header": (
        "{% for m in messages %}{% if m.content %}<|im_start|>{{ m.role }}\n{{ m.content }}"
        "{% endif %}{% if m.tool_calls %}\n<tool_call>\n{{ m.tool_calls|tojson(indent=2) }}\n"
        "</tool_call>{% endif %}<|im_end|>\n{% endfor %}{% if add_generation_prompt %}"
        "<|im_start|>assistant\n{% endif %}",
        "hermes",
        ["reasoning", "reasoning before a call"],
    ),
    "calls have nothing between them": (
        "{% for m in messages %}<|im_start|>{{ m.role }}\n{% if m.tool_calls %}<|python_start|>"
        "{{ m.content }}<|python_end|>{% for c in m.tool_calls %}{{ c.function|tojson }}{% endfor %}"
        "{% else %}{{ m.content }}{% endif %}<|im_end|>{% endfor %}{% if add_generation_prompt %}"
        "<|im_start|>assistant\n{% endif %}",
        "llama4",
        ["reasoning", "reasoning before a call", "ids of calls"],
    ),
    "words and calls run together": (
        _TURNS.replace("CALLS", "{{ m.tool_calls|map(attribute='function')|list|tojson }}").replace(
            "<|muse|>{{ m.reasoning_content }}<|/muse|>", ""
        ),
        "llama3",
        ["reasoning", "words beside a call", "reasoning before a call", "ids of calls"],
    ),
}
"""Templates that write answers in the way of published ones, their formats, and what they lose."""


@pytest.mark.filterwarnings("ignore::jeton.errors.ChatWarning")
@pytest.mark.parametrize("name", SHAPES)
def test_shapes_of_published_templates(name: str) -> None:
    template, format, lost = SHAPES[name]
    tok = byte_level(template)
    stream = tok.parse_stream(template=template)
    stream.finish()
    assert stream.parsed.format == format
    assert losses(tok, template) == lost


def test_a_prompt_may_begin_an_answer_with_a_header() -> None:
    tok = byte_level(_WITH_HEADERS)
    said = "So it is.<|im_end|><|endofturn|>"
    for think, written in ((1, f"Hm.<|im_end|>\n<|im_start|>assistant\n{said}"), (0, said)):
        prompt = tok.chat(HELLO, template=_WITH_HEADERS, add_generation_prompt=True, think=think)
        parsed = tok.parse(tok.encode(written, special="allow"), prompt=prompt)
        assert parsed.message["content"] == "So it is." and parsed.finish in ("stop", "tool_calls")
        assert parsed.message.get("reasoning_content") == ("Hm." if think else None)


def test_arguments_between_tags_with_their_names_are_refused() -> None:
    """MiniMax-M3 writes nested values so: nothing but the name of a tag says what it closes."""
    template = _TURNS.replace(
        "CALLS",
        "{% macro tags(it) %}{% if it is mapping %}{% for k, v in it.items() %}<{{ k }}>{{ tags(v) }}"
        "</{{ k }}>{% endfor %}{% else %}{{ it }}{% endif %}{% endmacro %}<|do|>"
        '{% for c in m.tool_calls %}<invoke name="{{ c.function.name }}">'
        "{{ tags(c.function.arguments) }}</invoke>{% endfor %}<|done|>",
    )
    with pytest.raises(UnsupportedError, match="between tags with its name, as <place>"):
        TOK.parse([], template=template, tools=[WEATHER])
    # Words and reasoning are read all the same.
    tok = byte_level(template)
    text = "<|muse|>Hm.<|/muse|>So.<|im_end|>"
    parsed = tok.parse(tok.encode(text, special="allow"), template=template)
    assert (parsed.content, parsed.message["reasoning_content"]) == ("So.", "Hm.")
    assert (parsed.finish, parsed.problems) == ("stop", ())
    call = 'So.<|do|><invoke name="f"><place>Vik</place></invoke><|done|><|im_end|>'
    for given in (call, tok.encode(call, special="allow")):
        parsed = tok.parse(given, template=template)
        assert parsed.content == call.removesuffix("<|im_end|>") and not parsed.calls
        assert "begins a call in a format that jeton does not know" in parsed.problems[0].what


def test_a_format_is_found_or_refused() -> None:
    with pytest.raises(UnsupportedError, match="cannot tell in which format"):
        template = _TURNS.replace("CALLS", "{{ m.tool_calls|string|upper }}look_up Vik")
        TOK.parse([], template=template, tools=[WEATHER])
    with pytest.raises(UnsupportedError, match="does not print what an assistant says"):
        TOK.parse([], template="{% for m in messages %}{{ m.role }}{% endfor %}")
    with pytest.raises(UnsupportedError, match=r"cannot be parsed: the template fails .* by zero"):
        TOK.parse([], template="{{ 1 // 0 }}")
    with pytest.raises(UnknownNameError, match="there is no format 'herms'"):
        TOK.parse([], format="herms")
    with pytest.raises(ArgumentError, match="no chat template"):
        TOK.parse([])
    with pytest.raises(ArgumentTypeError, match="prompt must be"):
        TOK.parse([], prompt=1, format="hermes")  # type: ignore[arg-type]
    with pytest.raises(ArgumentTypeError, match="ids must be"):
        TOK.parse(None, format="hermes")  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["llama2", "mistral", "olmo", "vicuna", "zephyr"])
def test_a_template_without_its_token_is_refused_for_that_reason(name: str) -> None:
    tok = jeton.Tokenizer.from_ranks(
        {bytes([byte]): byte for byte in range(256)},
        pattern="gpt2",
        special_tokens={"<s>": 256, "</s>": 257},
    ).replace(roles={"bos": "<s>"})
    says = r"'eos_token' is undefined .*; the tokenizer has no token of that role \(give eos_token="
    with pytest.raises(UnsupportedError, match=f"cannot be parsed: .*{says}"):
        tok.parse([], template=name)
    with pytest.raises(ArgumentError, match=says):
        tok.chat([*HELLO, {"role": "assistant", "content": "So."}], template=name)
    prompt = tok.chat(HELLO, template=name, eos_token="</s>", add_generation_prompt=True)
    parsed = tok.parse(tok.encode("So.</s>", special="allow"), prompt=prompt)
    assert parsed.content == "So." and parsed.finish in ("stop", "tool_calls")


def test_a_stream_says_what_it_cannot_take() -> None:
    stream = TOK.parse_stream(format="hermes")
    with pytest.raises(ArgumentError, match=r"finish\(\) the stream"):
        _ = stream.parsed
    stream.push(65)
    with pytest.raises(ArgumentError, match="takes no text"):
        stream.push("a")
    stream.finish()
    for push in (65, [65], "a"):
        with pytest.raises(ArgumentError, match="finished"):
            stream.push(push)
    with pytest.raises(ArgumentError, match="finished already"):
        stream.finish()
    stream = TOK.parse_stream(format="hermes")
    stream.push("a")
    for ids in (65, [65]):
        with pytest.raises(ArgumentError, match="takes no ids"):
            stream.push(ids)


# Templates


def _table() -> str:
    rows = []
    for name, text in templates():
        if name.startswith("jeton "):
            continue
        tok = byte_level(text)
        stream: ParseStream = tok.parse_stream(prompt=_prompt(tok, text))
        stream.finish()
        lost = losses(tok, text)
        format = stream.parsed.format
        rows.append(f"| {name} | `{format}` | {', '.join(lost) or 'nothing'} |\n")
    return "".join(rows)


def _prompt(tok: jeton.Tokenizer, template: str) -> jeton.chat.Chat:
    return tok.chat(HELLO, add_generation_prompt=True, **options(template))


@pytest.mark.large
@pytest.mark.filterwarnings("ignore::jeton.errors.ChatWarning")
def test_the_page_says_what_each_template_drops() -> None:
    if not PUBLISHED.exists():
        pytest.skip("needs the published templates")
    hold_table(PAGE, "| template | format | what does not come back |", _table())


@pytest.mark.large
@pytest.mark.filterwarnings("ignore::jeton.errors.ChatWarning")
@pytest.mark.parametrize(("name", "template"), TEMPLATES_AT_HAND)
def test_random_messages_come_back(name: str, template: str) -> None:
    tok = byte_level(template)
    without = losses(tok, template)
    if "words" in without:
        pytest.skip("it writes words as something else")
    text_marks = _text_marks(tok, template)
    # Templates remove reasoning from words that spell the marks around it.
    spelled = [it for it in MARKS if "think" not in it and "channel" not in it.casefold()]
    marks = [it for it in spelled if not any(mark in it or it in mark for mark in text_marks)]
    marks = [it for it in marks if not any(set(it) & set(mark) for mark in text_marks)]
    rng = random.Random(name)
    for _ in range(12):
        message = random_message(rng, marks, without, avoided="".join(text_marks))
        trip = read_back(tok, template, message, enable_thinking=True, thinking=True)
        assert trip is not None
        assert trip.found == (trip.content, trip.reasoning, trip.calls), message
        assert trip.parsed.finish != "malformed", trip.parsed.problems


def _text_marks(tok: jeton.Tokenizer, template: str) -> set[str]:
    """The marks of a template's format that are plain text."""
    stream = tok.parse_stream(prompt=_prompt(tok, template))
    states = stream.marks
    return {text.strip() for text in states if text.strip()}


@pytest.mark.large
@pytest.mark.filterwarnings("ignore::jeton.errors.ChatWarning")
def test_texts_that_spell_marks_are_not_calls() -> None:
    """A control token counts by its id alone, however a text spells it."""
    rng = random.Random(44)
    attacks = 0
    for name, template in templates():
        tok = byte_level(template)
        marks = _spelled_tokens(tok)
        stream = tok.parse_stream(prompt=_prompt(tok, template))
        stream.finish()
        if stream.marks or stream.parsed.format == "plain":
            continue  # its marks are plain text, and so is a text that spells them; or it has none
        prompt = _prompt(tok, template)
        for _ in range(700):
            text = _forged(rng, marks)
            ids = [id for part in text for id in tok.encode(part)]
            parsed = tok.parse(ids, prompt=prompt)
            assert not parsed.calls and parsed.unfinished is None, (name, text)
            assert "".join(part.text for part in parsed.parts) == "".join(text)
            attacks += 1
    assert attacks > 10_000 or not PUBLISHED.exists()


def _spelled_tokens(tok: jeton.Tokenizer) -> list[str]:
    return sorted({*tok.special_tokens, *MARKS})


def _forged(rng: random.Random, marks: list[str]) -> list[str]:
    """A call spelled as text: encoded in pieces, so that it has no control token."""
    name = rng.choice(list(WRITTEN))
    text = rng.choice(WRITTEN[name])[0] if rng.random() < 0.6 else ""
    text += random_text(rng, marks) + rng.choice(["", '{"name": "get_weather", "arguments": {}}'])
    return [text]


@pytest.mark.large
@pytest.mark.filterwarnings("ignore::jeton.errors.ChatWarning")
def test_flags_of_published_tokenizers_do_not_matter() -> None:
    if not PUBLISHED.exists():
        pytest.skip("needs the published templates")
    for family, flags in FLAGS.items():
        template = dict(templates())[flags.template]
        tok = as_published(family)
        parsed = tok.parse_stream(prompt=_prompt(tok, template))
        parsed.finish()
        plain = byte_level(template).parse_stream(prompt=_prompt(byte_level(template), template))
        plain.finish()
        assert parsed.parsed.format == plain.parsed.format, family
