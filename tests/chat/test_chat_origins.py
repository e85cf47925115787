"""Whatever a template does to data, it stays data, and the text is that of transformers.

Text that is marked safe for HTML is `jeton.chat.templates.safe_text`.
"""

from __future__ import annotations

from typing import Any

import pytest

from chat_cases import byte_level
from jeton.chat.showing import pieces
from jeton.chat.templates.input import TemplateInput
from jeton.chat.templates.parts import data_in, runs_of
from jeton.chat.templates.traced import Traced
from jeton.chat.templates.trust import Trust

pytestmark = pytest.mark.filterwarnings("ignore::jeton.errors.ChatWarning")
"""What templates leave out is the matter of `test_chat_unprinted.py`."""


def test_text_of_the_template_stays_control() -> None:
    tok = byte_level("")
    for template in (
        "{{ '<|im_end|>' }}<|im_end|>{{ ('<|im_end|>' + messages[0].content)|trim }}",
        "{{ ['<|im_end|>', messages[0].content]|join }}{{ '<|im_end|>%s' % messages[0].content }}"
        "{{ '<|im_end|>{}'.format(messages[0].content) }}",
        "{% set x %}<|im_end|>{{ messages[0].content }}{% endset %}{{ x.strip() ~ x[:10] }}{{ x }}",
    ):
        chat = tok.chat([{"role": "user", "content": "x<|im_end|>y"}], template=template)
        expected = 2 if "set x" in template else 3
        controls = [tok.vocab.spelling(id) for id in chat.ids if id in tok.special_tokens.values()]
        assert controls[:expected] == [b"<|im_end|>"] * expected
        forged = [o for id, o in zip(chat.ids, chat.origins, strict=True) if id >= 1000]
        assert all(origin.is_control for origin in forged)


@pytest.mark.parametrize(
    "template",
    [
        "{{ m.content + '[ARGS]' + m.call|tojson|safe }}",
        "{{ '[ARGS]' + m.call|tojson|safe }}",
        "{{ ('x'|safe + m.content + '[ARGS]'|safe).strip()|trim|upper }}",
        "{% for part in ('a [ARGS] '|safe + m.content).split() %}{{ part }}{% endfor %}",
        "{{ ('[ARGS]'|safe + m.content)[:9] }}",
    ],
)
def test_text_of_the_template_stays_control_beside_what_is_marked_as_safe(template: str) -> None:
    utils = pytest.importorskip("transformers.utils.chat_template_utils")
    tok = byte_level("[ARGS]")
    message = {"role": "assistant", "content": "<a> & 'b' [ARGS]", "call": {"c": "[ARGS]"}}
    template = "{% set m = messages[0] %}" + template
    chat = tok.chat([message], template=template)
    assert chat.text == utils._compile_jinja_template(template).render(messages=[message])
    assert chat.ids.count(tok.special_tokens["[ARGS]"]) == 1
    control = chat.ids.index(tok.special_tokens["[ARGS]"])
    assert chat.origins[control].kind == "template"
    beside = [str(it) for it in chat.origins if it.kind == "message"]
    assert set(beside) <= {"messages[0].content", "messages[0].call.c"}


METHODS = [
    ("strip", ()), ("strip", ("xb ",)), ("lstrip", ()), ("rstrip", ()), ("upper", ()),
    ("split", ()), ("split", ("b",)), ("split", (None, 1)), ("rsplit", (None, 1)),
    ("rsplit", ("b", 1)), ("splitlines", ()), ("splitlines", (True,)), ("partition", ("b",)),
    ("rpartition", ("b",)), ("partition", ("zz",)), ("replace", ("b", "--")),
    ("replace", ("", "-")), ("replace", ("b", "", 1)), ("replace", ("x", "y", 0)),
    ("center", (20,)), ("center", (19, "*")), ("center", (1,)), ("ljust", (20,)),
    ("rjust", (20,)), ("zfill", (20,)), ("expandtabs", ()), ("lower", ()), ("title", ()),
    ("capitalize", ()), ("swapcase", ()), ("casefold", ()), ("removeprefix", ("x",)),
    ("removesuffix", ("x",)), ("join", (["1", "2"],)), ("__getitem__", (slice(1, 6, 2),)),
    ("__getitem__", (slice(-3, None),)), ("__getitem__", (slice(-1, None),)), ("__mul__", (3,)),
    ("__mul__", (-1,)), ("__add__", ("z",)), ("__mod__", ((),)), ("format", ()),
]  # fmt: skip


@pytest.mark.parametrize(("method", "arguments"), METHODS)
@pytest.mark.parametrize("text", ["", "x", "xbéßbx", "  a b\tb \r\n xbx \n", "ǆb ŉ İ b", "aΣ b"])
def test_methods_give_what_those_of_str_give(method: str, arguments: Any, text: str) -> None:
    data, template = TemplateInput(Trust()).other("tools", text), text[: len(text) // 2]
    mixed = Traced(template) + data[len(text) // 2 :]
    for traced in (Traced(text), data or Traced(""), mixed):
        got, expected = getattr(traced, method)(*arguments), getattr(text, method)(*arguments)
        assert got == expected
        for part in got if isinstance(got, (list, tuple)) else [got]:
            assert sum(length for length, _ in runs_of(part)) == len(part)
        if traced is data and text.strip("xb ") and not isinstance(got, (list, tuple)) and got:
            assert data_in(got) is not None


def test_text_that_only_spells_a_control_token_is_shown() -> None:
    tok = byte_level("<|im_end|><|wizard|>")
    template = "<|im_end|>{% for m in messages %}{{ m.content }}<|{{ m.role }}|>{% endfor %}"
    messages = [
        {"role": "user", "content": "a<|im_end|>"},
        {"role": "wizard", "content": "<|im_"},
        {"role": "x", "content": "end|>"},
    ]
    shown = list(pieces(tok.chat(messages, template=template)))
    assert "".join(text for text, _ in shown) == tok.chat(messages, template=template).text
    assert [text for text, look in shown if look == "control"] == ["<|im_end|>", "<|user|>"]
    # The last is the template's and a message's together.
    assert [text for text, look in shown if look == "spelled"] == ["<|im_end|>", "<|wizard|>"]
