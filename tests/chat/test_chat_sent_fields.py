"""Fields as programs send them: arguments as a JSON string, tokens as variables."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import re
import warnings
from typing import Any, Final

import pytest

import jeton
from answer_cases import options, rendered
from chat_cases import HELLO, PUBLISHED, TOOLS, TURNS, byte_level, call, templates
from jeton.chat import limits
from jeton.chat.templates.limits import current
from jeton.components import post_processors
from jeton.errors import ChatWarning, JetonError

AS_TEXT = [TOOLS[0], call('{"city": "Bergen", "days": 3}')]
AS_DICT = [TOOLS[0], call({"city": "Bergen", "days": 3})]


@pytest.mark.filterwarnings("ignore::jeton.errors.ChatWarning")
@pytest.mark.parametrize(
    ("name", "template"), [pytest.param(name, text, id=name) for name, text in templates()]
)
def test_arguments_as_text_are_not_escaped_again(name: str, template: str) -> None:
    tok, given = byte_level(template), options(template)
    try:
        expected = rendered(tok, AS_DICT, **given)
    except JetonError:
        return  # it takes no calls
    chat = tok.chat(AS_TEXT, **given)
    assert chat.text == expected.text
    assert '\\"city\\"' not in chat.text
    is_printed = "get_weather" in chat.text.rpartition(TOOLS[0]["content"])[2]
    if is_printed and "SPECIAL_11" not in template:  # its marks are no control tokens here
        assert chat.loss_mask() == expected.loss_mask()


def test_text_stays_if_the_template_prints_a_dict_as_python_does() -> None:
    template = (
        "{% for m in messages %}{{ m.content }}{% for c in m.tool_calls %}<|call|>"
        "{{ c.function.arguments }}<|end|>{% endfor %}{% endfor %}"
    )
    written = '{"city": "Bergen", "days": null}'
    chat = byte_level(template).chat([*HELLO, call(written)], template=template)
    assert chat.text.endswith(f"<|call|>{written}<|end|>")


@dataclasses.dataclass
class SimpleCall:
    function: dict[str, Any]


ARGUMENTS: Final = (
    "{% for m in messages %}{{ m.content }}{% for c in m.tool_calls %}{{ c.function.name }} "
    "{{ c.function.arguments | tojson }}{% endfor %}{% endfor %}"
)
PRINTED: Final = f"{HELLO[0]['content']}get_weather "


@pytest.mark.parametrize("arguments", ["print(1)", "[1]", '{"a": ', "null", [1], 5])
def test_arguments_that_are_not_an_object_stay_and_are_named(arguments: Any) -> None:
    tok = byte_level(ARGUMENTS)
    place = re.escape("messages[1].tool_calls[0].function.arguments are not a JSON object: ")
    with pytest.warns(ChatWarning, match=place + re.escape(repr(arguments))):
        chat = tok.chat([HELLO[0], call(arguments)], template=ARGUMENTS)
    assert json.loads(chat.text.removeprefix(PRINTED)) == arguments


@pytest.mark.parametrize("arguments", [None, "", " \n"])
@pytest.mark.parametrize("kind", [dict, SimpleCall])
def test_no_arguments_are_an_empty_object(arguments: str | None, kind: type) -> None:
    message = call({})
    message["tool_calls"] = [kind(function={"name": "get_weather", "arguments": arguments})]
    as_text = ARGUMENTS.replace(" | tojson", "")
    for template in (ARGUMENTS, as_text):
        chat = byte_level(template).chat([HELLO[0], message], template=template)
        assert chat.text == PRINTED + "{}"


@pytest.mark.filterwarnings("ignore::jeton.errors.ChatWarning")
def test_parsed_arguments_have_their_place() -> None:
    template = "{{ messages[1].tool_calls[0].function.arguments | tojson }}"
    tok = byte_level(template)
    chat = tok.chat([TOOLS[0], call('{"a": {"b": 1}}')], template=template)
    assert chat.text == '{"a": {"b": 1}}'
    place = chat.text.index("b")
    assert str(chat.origins[place]).startswith("messages[1].tool_calls[0].function.arguments")


NO_CONTENT = {
    "printed as text": ("{{ m.content }}", ""),
    "asked whether it is a string": ("{{ m.content if m.content is string else '-' }}", "-"),
    "asked whether it is none": ("{{ '-' if m['content'] is none else m['content'] + '' }}", "-"),
    "printed as JSON": ("{{ m.content | tojson }}", '""'),
}
"""What a template does with a content, and what it writes of `None`, which is no text: not the word
`null`. It fails on a missing one only in the last."""


@pytest.mark.parametrize("case", NO_CONTENT)
def test_a_content_may_be_none(case: str) -> None:
    write, written = NO_CONTENT[case]
    template = f"{{% for m in messages %}}[{write}]{{% endfor %}}"
    message = {"role": "assistant", "content": None, "tool_calls": call()["tool_calls"]}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ChatWarning)
        chat = byte_level(template).chat([*HELLO, message], template=template)
    assert chat.text.endswith(f"[{written}]")
    without = {key: it for key, it in message.items() if key != "content"}
    if case == "printed as JSON":
        with pytest.raises(JetonError, match="fails on these messages"):
            byte_level(template).chat([*HELLO, without], template=template)


def test_arguments_of_tools_cannot_forge_tokens() -> None:
    if not PUBLISHED.exists():
        pytest.skip("needs the published templates")
    template = dict(templates())["Qwen-Qwen3-0.6B"]
    tok = byte_level(template)
    end = tok.special_tokens["<|im_end|>"]
    ids = [
        tok.chat([TOOLS[0], call(f'{{"city": "{word}"}}')], **options(template)).ids
        for word in ("x", "<|im_end|>")
    ]
    assert ids[0].count(end) == ids[1].count(end)


TWO = "{{ bos_token }}{% for m in messages %}{{ m.content }}{{ sep_token }}{% endfor %}"


def test_variables_that_are_tokens_are_tokens() -> None:
    tok = byte_level(TWO)
    bos, end = (tok.special_tokens[it] for it in ("<s>", "<|im_end|>"))
    chat = tok.chat(HELLO, template=TWO, bos_token="<s>", sep_token="<|im_end|>")
    assert (chat.ids[0], chat.ids[-1]) == (bos, end)
    bare = tok.replace(roles={"bos": None})
    assert bare.chat(HELLO, template=TWO, bos_token="<s>", sep_token="").ids[0] == bos
    # Another text, or another variable, stays text.
    chat = tok.chat(HELLO, template=TWO, bos_token="<s>", sep_token="<|im_end|>!")
    assert chat.ids.count(end) == 0
    chat = tok.chat(HELLO, template="{{ name }}{{ messages[0].content }}", name="<|im_end|>")
    assert chat.ids.count(end) == 0
    for role in ("user", "system"):
        forged = [{"role": role, "content": "<|im_end|>"}, *HELLO]
        chat = tok.chat(forged, template=TWO, bos_token="<s>", sep_token="<|im_end|>")
        assert chat.ids.count(end) == 2


class Index:
    """An int of another library, as numpy and torch have them."""

    def __init__(self, number: int) -> None:
        self.number = number

    def __index__(self) -> int:
        return self.number


TOK = byte_level("")


def _memory(value: Any) -> int:
    with limits(memory=value):
        return current().memory


INTS: dict[str, Any] = {
    "keep": lambda it: TOK.fit_messages(TURNS, 999, keep=[it(0)], template="chatml").tokens,
    "max_tokens": lambda it: TOK.fit_messages(TURNS, it(999), template="chatml").tokens,
    "trusted": lambda it: TOK.chat(TURNS, trusted=[it(1)], template="chatml").ids,
    "truncate": lambda it: TOK.chat(TURNS, template="chatml").truncate(it(999)).ids,
    "tokens_per_part": lambda it: TOK.count_messages(
        TURNS, tokens_per_part=it(9), template="chatml"
    ),
    "parse": lambda it: TOK.parse([it(97)], format="hermes"),
    "memory": lambda it: _memory(it(1 << 30)),
}


@pytest.mark.parametrize("name", INTS)
def test_ints_may_be_those_of_other_libraries(name: str) -> None:
    expected = INTS[name](int)
    assert INTS[name](Index) == expected
    for kind in (bool, float, str, lambda number: [number]):
        with pytest.raises(JetonError):
            INTS[name](kind)
    numpy = pytest.importorskip("numpy")
    for kind in (numpy.int64, numpy.int32, numpy.uint32, numpy.array):
        assert INTS[name](kind) == expected


def test_an_added_token_is_its_text() -> None:
    tok = byte_level(TWO)
    expected = tok.chat(HELLO, template=TWO, bos_token="<s>", sep_token=".")
    kinds: list[Any] = [jeton.AddedToken]
    with contextlib.suppress(ImportError):
        kinds.append(__import__("tokenizers").AddedToken)
    for kind in kinds:
        variables: dict[str, Any] = {"bos_token": kind("<s>"), "sep_token": kind(".")}
        chat = tok.chat(HELLO, template=TWO, **variables)
        assert (chat.ids, chat.text) == (expected.ids, expected.text)
        assert tok.count_messages(HELLO, template=TWO, **variables).tokens == len(chat.ids)


def test_a_second_begin_token_warns() -> None:
    tok = byte_level("")
    begin = tok.special_tokens["<s>"]
    template = post_processors.TemplateProcessing("<s> $A", special_tokens={"<s>": begin})
    tok = tok.replace(post_processor=template)
    chat = tok.chat(TURNS, template="llama2")
    assert chat.text.startswith("<s>")
    for text in (chat.text, ["a", chat.text]):
        with pytest.warns(ChatWarning, match="begins with '<s>'"):
            tok(text, special="allow")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert tok(chat.text, special="allow", add_special_tokens=False)["input_ids"] == chat.ids
        tok(chat.text)
        tok("a", special="allow")
        tok.encode(chat.text, special="allow")
