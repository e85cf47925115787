"""`tok.parse` by the `response_template` of a folder, against `parse_response` of transformers.

These tests hold `jeton.chat.answers.response_templates`, which checks a description and turns it
into a format, `jeton.chat.answers.fields`, which puts the message together, and
`jeton.chat.answers.field_values`, which gives its values their types.
"""

from __future__ import annotations

import copy
import json
import random
from pathlib import Path
from typing import Any

import pytest

import jeton
from chat_cases import WEATHER, byte_level
from jeton.chat.answers.field_values import Unreadable, parsed_content
from jeton.errors import FormatError, UnsupportedError

_CHATML = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
_CALL = {"type": "function", "function": "{content}"}
DESCRIPTIONS: dict[str, dict[str, Any]] = {
    "hermes": {
        "defaults": {"role": "assistant"},
        "start_anchor": "<|im_start|>assistant\n",
        "fields": {
            "content": {"close": "<|im_end|>"},
            "thinking": {"open": "<think>", "close": "</think>"},
            "tool_calls": {
                "open": "<tool_call>", "close": "</tool_call>", "content": "json", "repeats": True,
                "transform": _CALL,
            },
        },
    },
    "xml": {
        "defaults": {"role": "assistant", "content": ""},
        "start_anchor": "<|im_start|>assistant\n",
        "fields": {
            "content": {"close": ["<|im_end|>", "<|im_end|>\n"]},
            "tool_calls": {
                "open_pattern": r"<tool_call>\s*<function=(?P<name>\w+)>",
                "close_pattern": r"</function>\s*</tool_call>", "repeats": True,
                "content": "xml-inline",
                "content_args": {
                    "tag_pattern": r"<parameter=(?P<key>\w+)>\n?(?P<value>.*?)\n?</parameter>"
                },
                "transform": {
                    "type": "function", "function": {"name": "{name}", "arguments": "{content}"},
                },
            },
        },
    },
    "python": {
        "start_anchor_pattern": r"<\|im_start\|>assistant\n",
        "fields": {
            "content": {"repeats": True, "join": "|", "content_args": {"strip": False}},
            "tool_calls": {
                "open": "<tool_call>", "close": "</tool_call>", "content": "python-call-list",
                "transform": {
                    "type": "function",
                    "function": {"name": "{name}", "arguments": "{arguments}"},
                },
                "transform_each": True,
            },
        },
    },
    "lax": {
        "start_anchor": "<|im_start|>assistant\n",
        "fields": {
            "content": {"close": "<|im_end|>"},
            "score": {"open": "<score>", "close": "</score>", "content": "float"},
            "pairs": {"open": "<pairs>", "close": "</pairs>", "content": "kv-lines"},
            "tool_calls": {
                "open_pattern": r"<\|tool_call>call:(?P<name>\w+)", "close": "<tool_call|>",
                "repeats": True, "content": "json",
                "content_args": {
                    "unquoted_keys": True, "string_delims": [["<|\"|>", "<|\"|>"]],
                },
                "transform": {
                    "type": "function", "function": {"name": "{name}", "arguments": "{content}"},
                },
            },
        },
    },
}  # fmt: skip
PIECES = [
    "So. ", " \n", "it", "<|im_end|>", "<|im_end|>\n", "<think>", "</think>", "Hm.", "<tool_call>",
    "</tool_call>", '{"name": "get_weather", "arguments": {"city": "B"}}',
    "<tool_call>\n<function=get_weather>\n", "<parameter=city>\nBergen\n</parameter>\n",
    "<parameter=days>3</parameter>", "</function>\n</tool_call>",
    "[get_weather(city='B', days=3), f(a=[1, {'b': None}])]", "<score>", "1.5", "</score>",
    "<pairs>", "a: 1\nb : 2", "</pairs>", "<|tool_call>call:get_weather",
    '{city:<|"|>B"e<|"|>,days:3}', "<tool_call|>",
]  # fmt: skip


def described(description: dict[str, Any], folder: Path) -> jeton.Tokenizer:
    """A tokenizer loaded from a folder with this description."""
    tok = byte_level(f"{_CHATML}<think></think><tool_call></tool_call><|tool_call><tool_call|>")
    tok.save(folder, chat_template=_CHATML)
    config = folder / "tokenizer_config.json"
    values = {**json.loads(config.read_text()), "response_template": description}
    config.write_text(json.dumps(values))
    return jeton.load(folder)


@pytest.mark.large
@pytest.mark.parametrize("name", DESCRIPTIONS)
def test_messages_are_those_of_transformers(name: str, tmp_path: Path) -> None:
    parsing = pytest.importorskip("transformers.utils.chat_parsing")
    tok = described(DESCRIPTIONS[name], tmp_path)
    prompt = "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n"
    rng = random.Random(name)
    equal = 0
    for _ in range(400):
        text = "".join(rng.choices(PIECES, k=rng.randrange(1, 9)))
        begun = prompt + rng.choice(["", "", "<think>", "So"])
        for tools in (None, [WEATHER]):
            parsed = tok.parse(tok.encode(text, special="allow"), prompt=begun, tools=tools)
            stream = tok.parse_stream(prompt=begun, tools=tools)
            events = [it for id in tok.encode(text, special="allow") for it in stream.push(id)]
            events += stream.finish()
            assert stream.parsed.message == parsed.message, text
            if not any("comes twice" in it.what for it in parsed.problems) and begun == prompt:
                said = [it.text for it in events if it.kind == "content"]
                assert "".join(said) == parsed.content, text
            assert "".join(part.text for part in parsed.parts) == text
            try:
                expected = parsing.parse_response(
                    text, DESCRIPTIONS[name], prefix=begun, tools=tools
                )
            except (ValueError, KeyError, TypeError):
                assert parsed.finish == "malformed", text
            else:
                # transformers keeps JSON that is no call among the calls.
                if not any("tool_calls cannot be read" in it.what for it in parsed.problems):
                    assert parsed.message == expected, text
                    equal += 1
    assert equal > 200


_THOUGHT = {"open": "<think>", "close": "</think>"}
NEIGHBOURS: dict[str, tuple[dict[str, Any], list[str]]] = {
    "the text in front": (
        {
            "thinking": _THOUGHT,
            "content": {"open_pattern": r"(?<=</think>)\n*", "close": "<|im_end|>"},
        },
        ["<think>Hm.</think>\n\nSo.<|im_end|>", "So.", "</think>So. <think> </think>Well."],
    ),
    "the beginning": (
        {
            "thinking": {"open_pattern": "^(?!<final>)", "close": "<final>"},
            "content": {"content_args": {"strip": False}},
        },
        ["Hm.<final>So.\n", "a<final>b<final>c"],
    ),
    "a mark of several tokens, or the end": (
        {
            "content": {},
            "tool_calls": {
                "open_pattern": r"\[CALL\](?P<name>\w+)", "close_pattern": r"(?=\[CALL\]|\Z)",
                "repeats": True, "content": "json",
                "transform": {"function": {"name": "{name}", "arguments": "{content}"}},
            },
        },
        ['So.[CALL]f{"a": 1}[CALL]g{}', '[CALL]f{"b": [1, [2]]}\n[CALL]g{}\n', "So [CAL"],
    ),
    "the last line end": ({"content": {"close_pattern": "$"}}, ["So.\n", "So.\n\n", "a\nb", "\n"]),
}  # fmt: skip


@pytest.mark.parametrize("name", NEIGHBOURS)
def test_expressions_see_what_is_around_a_place(name: str, tmp_path: Path) -> None:
    parsing = pytest.importorskip("transformers.utils.chat_parsing")
    fields, texts = NEIGHBOURS[name]
    description = {"start_anchor": "<|im_start|>assistant\n", "fields": fields}
    tok = described(description, tmp_path)
    prompt = "<|im_start|>assistant\n"
    for text in texts:
        ids = tok.encode(text, special="allow")
        stream = tok.parse_stream(prompt=prompt)
        for id in ids:
            stream.push(id)
        stream.finish()
        assert stream.parsed == tok.parse(ids, prompt=prompt)
        expected = parsing.parse_response(text, description, prefix=prompt)
        assert stream.parsed.message == expected, text


SCHEMAS: dict[str, Any] = {
    "any": {}, "enum": {"enum": [1, 2]}, "const": {"const": 5}, "reference": {"$ref": "#/$defs/n"},
    "all": {"allOf": [{"type": "integer"}]}, "either": {"anyOf": [{"type": "integer"}, {}]},
    "typed enum": {"type": "integer", "enum": [1]}, "several": {"type": ["null", "number"]},
    "nullable": {"type": "integer", "nullable": True}, "unknown": {"type": "date"},
    "one of": {"oneOf": [{"type": "boolean"}, {"type": "string"}]}, "true": True,
}  # fmt: skip


@pytest.mark.parametrize("schema", SCHEMAS)
def test_arguments_have_the_types_of_transformers(schema: str, tmp_path: Path) -> None:
    parsing = pytest.importorskip("transformers.utils.chat_parsing")
    tok = described(DESCRIPTIONS["hermes"], tmp_path)
    parameters = {"properties": {"a": SCHEMAS[schema]}, "$defs": {"n": {"type": "integer"}}}
    tools = [{"name": "f", "parameters": parameters}]
    for value in ("5", "1.0", "true", "null", "x", "[5]", ""):
        call = {"name": "f", "arguments": {"a": value}}
        text = f"<tool_call>{json.dumps(call)}</tool_call>"
        parsed = tok.parse(tok.encode(text, special="allow"), tools=tools)
        expected = parsing.parse_response(text, DESCRIPTIONS["hermes"], prefix="", tools=tools)
        assert parsed.message == expected, value


def test_words_that_the_message_loses_are_a_problem(tmp_path: Path) -> None:
    """transformers keeps the last of two stretches of a field."""
    tok = described(DESCRIPTIONS["hermes"], tmp_path)
    for text, words, is_lost in (
        ("So.<think>Hm.</think>Well.", "Well.", True),
        ("So.<think>Hm.</think>So.", "So.", True),
        ("<think>Hm.</think>So.", "So.", False),
        ("<think>a</think><think>b</think>So.", "So.", True),
    ):
        parsed = tok.parse(tok.encode(text, special="allow"))
        assert (parsed.content, parsed.finish == "malformed") == (words, is_lost)
        assert any("comes twice" in it.what for it in parsed.problems) == is_lost
        assert "".join(part.text for part in parsed.parts) == text


def test_marks_that_are_spelled_open_nothing(tmp_path: Path) -> None:
    tok = described(DESCRIPTIONS["hermes"], tmp_path)
    call = '<tool_call>{"name": "f", "arguments": {}}</tool_call>'
    prompt = tok.chat([{"role": "user", "content": "Hi"}], add_generation_prompt=True)
    parsed = tok.parse(tok.encode(call, special="allow"), prompt=prompt)
    assert [it.name for it in parsed.calls] == ["f"] and not parsed.text_marks
    parsed = tok.parse(tok.encode(call), prompt=prompt)
    assert parsed.message == {"role": "assistant", "content": call}
    assert parsed.format == "response_template"
    # A template that is not the folder's own has another format.
    assert tok.parse([], template="chatml").format != "response_template"


def _field(**more: Any) -> dict[str, Any]:
    return {"fields": {"content": {}, "tool_calls": {"open": "<a>", "close": "</a>", **more}}}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"fields": {}}, "must have fields"),
        ({"start_anchor": None}, "start_anchor must be"),
        ({"start_anchor": ""}, "start_anchor must be"),
        (_field(content="yaml"), "'yaml' is none of"),
        (_field(content=[]), r"field 'tool_calls': content \[\] is none of"),
        ({"fields": {"content": {"open_pattern": "("}}}, "open_pattern cannot be read"),
        ({"fields": {"content": {"open_pattern": 5}}}, "open_pattern must be a text"),
        ({"fields": {"content": {}, "thinking": {}}}, "more than one field"),
        ({"fields": {"content": 5}}, "field 'content' must be a dict"),
        (_field(content_args=5), "content_args: must be a dict"),
        (_field(content="xml-inline"), "must have a tag_pattern"),
        (_field(content="xml-inline", content_args={"tag_pattern": "("}), "tag_pattern cannot be"),
        (_field(content="xml-inline", content_args={"tag_pattern": "a"}), "the group 'key'"),
        (_field(content="kv-lines", content_args={"value_parser": "json"}), "value_parser must be"),
        (_field(content="kv-lines", content_args={"value_parser": {"name": "x"}}), "is none of"),
        (_field(content="kv-lines", content_args={"kv_sep": ""}), "kv_sep must be a text"),
        (_field(content="json", content_args={"string_delims": ["<", ">"]}), "list of pairs"),
        (_field(transform={"function": ["{contents.name}"]}), "nothing is called 'contents.name'"),
        (_field(repeats="yes"), "repeats must be true or false"),
        ({"defaults": {"tool_calls": None}}, "'tool_calls' repeats, so its default must be a list"),
        ({"defaults": []}, "defaults as a dict"),
    ],
)
def test_invalid_descriptions_are_refused(
    change: dict[str, Any], message: str, tmp_path: Path
) -> None:
    """When the folder is loaded: an answer may come hours later."""
    with pytest.raises(FormatError, match=message) as error:
        described({**DESCRIPTIONS["hermes"], **change}, tmp_path)
    assert str(error.value).startswith("tokenizer_config.json: response_template ")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"version": 2}, "is of version 2"),
        ({"colour": 1}, "does not know: colour"),
        ({"fields": {"content": {"shut": "("}}}, "'content' has keys .* does not know: shut"),
    ],
)
def test_newer_descriptions_are_refused_by_parse_alone(
    change: dict[str, Any], message: str, tmp_path: Path
) -> None:
    tok = described({**DESCRIPTIONS["hermes"], **change}, tmp_path)
    assert tok.decode(tok.encode("So.")) == "So."
    with pytest.raises(UnsupportedError, match=message):
        tok.parse([])


@pytest.mark.parametrize(
    "written",
    ["[1]", "5", "null", '"x"', '{"function": 5}', '{"name": 5}', '{"name": "f", "arguments": 5}', "{}",
     "[[1]]", '{"name": null}', "\x017\x02", '{"name": "\x010\x02"}', "1e999", "[" * 5000],
)  # fmt: skip
@pytest.mark.parametrize("name", ["hermes", "lax", "xml", "python"])
def test_a_call_that_is_none_is_content_and_a_problem(
    name: str, written: str, tmp_path: Path
) -> None:
    tok = described(DESCRIPTIONS[name], tmp_path)
    begin, end = {
        "hermes": ("<tool_call>", "</tool_call>"),
        "lax": ("<|tool_call>call:f ", "<tool_call|>"),
        "xml": ("<tool_call><function=f>", "</function></tool_call>"),
        "python": ("<tool_call>", "</tool_call>"),
    }[name]
    ids = tok.encode(f"So.{begin}{written}{end}", special="allow")
    parsed = tok.parse(ids)
    stream = tok.parse_stream()
    events = [it for id in ids for it in stream.push(id)] + stream.finish()
    assert stream.parsed == parsed
    is_object = written.startswith("{") and "\x01" not in written
    if name == "xml" or (name == "lax" and (is_object or written == '"x"')):
        assert [it.name for it in parsed.calls] == ["f"]
        assert bool(parsed.problems) == (written == '"x"' and name == "lax")
    else:
        assert not parsed.calls and parsed.finish == "malformed"
        assert written in "".join(it.text for it in events if it.kind == "content")


def test_text_of_a_model_is_not_taken_for_marks_of_the_reader(tmp_path: Path) -> None:
    tok = described(DESCRIPTIONS["lax"], tmp_path)
    call = '<|tool_call>call:f{a:<|"|>x<|"|>,b:<|"|>\\u00010\x010\x02<|"|>}<tool_call|>'
    (found,) = tok.parse(tok.encode(call, special="allow")).calls
    assert found.arguments == {"a": "x", "b": "\\u00010\x010\x02"}


@pytest.mark.large
def test_nothing_that_a_model_writes_raises(tmp_path: Path) -> None:
    """A message or a problem, for any pieces in any order, whole and as a stream."""
    rng = random.Random(8)
    pieces = [*PIECES, "{", "}", "[", "]", "\x01", "0", "\x02", "null", "(", "=", ",", "\\", "'", '"',
              "\ud83d\ude42", "é", "{1: 2}", "[f(a={1: 2})]", "function", ":"]  # fmt: skip
    for name, description in DESCRIPTIONS.items():
        tok = described(description, tmp_path / name)
        for _ in range(150):
            ids = tok.encode("".join(rng.choices(pieces, k=rng.randrange(1, 12))), special="allow")
            stream = tok.parse_stream(tools=rng.choice([None, [WEATHER]]))
            events = [it for id in ids for it in stream.push(id)] + stream.finish()
            assert "".join(it.text for it in stream.parsed.parts) == tok.decode(ids)
            begun = [it.call for it in events if it.kind == "call"]
            assert begun == [*range(len(stream.parsed.calls))]


ODD: list[Any] = [
    None, True, 0, -1, 1.5, 2**70, "", [], {}, [{}], [["a"]], "(", "{", "{content.name.x}", "json",
    "text", "kv-lines", "xml-inline", "int", "float", "bool", "python-call-list", "(?P<key>a)",
    "(?P<key>a)(?P<value>b)", "(?P<n>(a|aa)+)$", "(?=a)", "<tool_call>", ["<tool_call>", ""], "\x01",
    {"tool_calls": "{content}"},
]  # fmt: skip
"""What a damaged description may hold anywhere."""
KEYS = [
    "open", "close", "open_pattern", "close_pattern", "content", "content_args", "repeats", "join",
    "transform", "transform_each", "optional", "defaults", "start_anchor", "start_anchor_pattern",
    "fields", "strip", "tag_pattern", "value_parser", "string_delims", "kv_sep", "line_sep",
]  # fmt: skip


def damaged(description: dict[str, Any], rng: random.Random) -> dict[str, Any]:
    """A copy with one to three values replaced, left out or added."""
    damaged = copy.deepcopy(description)
    for _ in range(rng.randrange(1, 4)):
        within: Any = damaged
        while True:
            keys: list[Any] = [*within] if isinstance(within, dict) else [*range(len(within))]
            key = rng.choice(keys or ["open"])
            inner = within[key] if key in keys else None
            if not (isinstance(inner, dict | list) and inner and rng.random() < 0.7):
                break
            within = inner
        if key in keys and rng.random() < 0.2:
            del within[key]
        elif isinstance(within, dict) and rng.random() < 0.4:
            within[rng.choice(KEYS)] = copy.deepcopy(rng.choice(ODD))
        elif key in keys:
            within[key] = copy.deepcopy(rng.choice(ODD))
    return damaged


@pytest.mark.large
@pytest.mark.parametrize("name", DESCRIPTIONS)
def test_a_damaged_description_is_refused_or_reads_every_answer(name: str, tmp_path: Path) -> None:
    described(DESCRIPTIONS[name], tmp_path)
    config = tmp_path / "tokenizer_config.json"
    values = json.loads(config.read_text())
    rng = random.Random(name)
    loaded = 0
    for _ in range(60):
        description = damaged(DESCRIPTIONS[name], rng)
        config.write_text(json.dumps({**values, "response_template": description}))
        try:
            tok = jeton.load(tmp_path)
        except FormatError as error:
            assert "response_template" in str(error), description
            continue
        loaded += 1
        for _ in range(3):
            text = "".join(rng.choices([*PIECES, *'{}[]01=,"\\', "null"], k=rng.randrange(1, 12)))
            ids = tok.encode(text, special="allow")
            try:
                parsed = tok.parse(ids)
            except UnsupportedError:
                break
            stream = tok.parse_stream()
            for id in ids:
                stream.push(id)
            stream.finish()
            assert stream.parsed.message == parsed.message, (description, text)
    assert loaded > 10


@pytest.mark.parametrize("value", ["{1: 2}", "01", r"'\x41'", "[1,]", "1.", "+1", "f()", "'a' 'b'", "{'a': 1, 'a': 2}",
                                   "9007199254740992", "1e999", "1 2", "1.5\n5", r"'\ud83d'", "'a\nb'", "(1)", "nan"])  # fmt: skip
def test_lists_of_calls_in_python_are_as_strict_as_those_of_transformers(
    value: str, tmp_path: Path
) -> None:
    parsing = pytest.importorskip("transformers.utils.chat_parsing.content_parsers")
    tok = described(DESCRIPTIONS["python"], tmp_path)
    text = f"[f(a={value})]"
    with pytest.raises(ValueError):
        parsing.parse_content(text, "python-call-list", {})
    parsed = tok.parse(tok.encode(f"<tool_call>{text}</tool_call>", special="allow"))
    assert not parsed.calls and parsed.content == text and parsed.problems


@pytest.mark.parametrize(
    "text",
    [
        "[]", "[f()]", " [ f ( a = 1 , b = -2.5e3 ) , g.h-i(x=None) ] ", "[f(a=[1, [2, {}]], b={})]",
        r"""[f(a='it\'s "x" \u00e9\n', b="it's \ud83d\ude42 \/")]""", "[f(a={'k': [True, false, null]})]",
        "[f(True=1, None=2)]", "[f(True = 1, null\n=None)]", "[True (a=1)]", "[f(a=true )]",
        "[f(a=1),]", "[f(a=1) g()]", "[[f()]]", "['f']", "[f(a=1)", "[f(a=1)] x", "[f(a=1, a=2)]",
        "[f(g())]", "[f(a={'b'=1})]", "[f('a': 1)]", "[f(a=0)]", "[-f()]", "[f(a=-0)]",
    ],
)  # fmt: skip
def test_lists_of_calls_in_python_are_those_of_transformers(text: str) -> None:
    parsing = pytest.importorskip("transformers.utils.chat_parsing.content_parsers")
    try:
        expected = parsing.parse_content(text, "python-call-list", {})
    except ValueError:
        expected = None
    try:
        found = parsed_content("python-call-list", text, {})
    except Unreadable:
        found = None
    assert found == expected


def test_an_expression_that_takes_too_long_is_a_problem(tmp_path: Path) -> None:
    fields = {"content": {}, "thinking": {"open_pattern": r"(?:a|aa)+$", "close": "</think>"}}
    tok = described({**DESCRIPTIONS["hermes"], "fields": fields}, tmp_path)
    text = "So. " + "a" * 60 + "b. Well."
    parsed = tok.parse(tok.encode(text))
    assert parsed.content == text
    assert any("takes too long" in it.what for it in parsed.problems)


def test_a_long_mark_takes_no_longer_than_its_text(tmp_path: Path) -> None:
    description = copy.deepcopy(DESCRIPTIONS["hermes"])
    description["fields"]["thinking"] = {"open": "a" * 20_000 + "b", "close": "</think>"}
    tok = described(description, tmp_path)
    for text, thinks in (("a" * 20_000 + "bHm.</think>it", True), ("a" * 30_000, False)):
        stream = tok.parse_stream()
        for id in tok.encode(text, special="allow"):
            stream.push(id)
        stream.finish()
        assert stream.parsed.message == tok.parse(text).message
        assert ("thinking" in stream.parsed.message) == thinks


@pytest.mark.parametrize("pattern", ["", "x*", "(?=a)", "$"])
def test_expressions_that_match_nothing_end(pattern: str, tmp_path: Path) -> None:
    fields = {"content": {}, "thinking": {"open_pattern": pattern, "close_pattern": pattern}}
    tok = described({**DESCRIPTIONS["hermes"], "fields": fields}, tmp_path)
    text = "So, a b."
    parsed = tok.parse(tok.encode(text))
    assert "".join(it.text for it in parsed.parts) == text


def test_a_prompt_by_ids_that_spells_the_anchor(tmp_path: Path) -> None:
    """An answer begins behind the anchor that the template wrote, however a text spells it."""
    tok = described(DESCRIPTIONS["hermes"], tmp_path)
    spelled = "<|im_start|>assistant\n<think>"
    real = tok.encode("<|im_start|>assistant\n<think>", special="allow")
    said = tok.encode("Hm.</think>So.", special="allow")
    for begin, text in ((real, ""), (real, "It is"), ([], "")):
        expected = tok.parse(said, prompt=[*begin, *tok.encode(f"{text}w")]).message
        found = tok.parse(said, prompt=[*begin, *tok.encode(f"{text}w{spelled}")]).message
        assert {key: str(it).replace(spelled, "") for key, it in found.items()} == expected
