"""No attack at hand makes a control token of data. `benchmarks/attacks.py` tries them all."""

from __future__ import annotations

import random

import pytest

import jeton
from chat_attacks import attacks, forged, harmless
from chat_cases import KINDS, byte_level, control_tokens, templates
from jeton.components import normalizers
from jeton.errors import ArgumentTypeError

NAMED = dict(templates())


@pytest.mark.parametrize("name", NAMED)
def test_none_gets_through(name: str) -> None:
    template = NAMED[name]
    tokens = random.Random(name).sample(control_tokens(template), 2)
    kind = random.Random(name).choice(list(KINDS))
    tok = KINDS[kind](template)
    controls = set(tok.special_tokens.values()) - {tok.role_ids.get("unk", -1)}
    tried = 0
    for token, attack in attacks(tokens):
        quiet = harmless(attack.messages, token), harmless(attack.options, token)
        try:
            chat = tok.chat(attack.messages, template=template, **attack.options)
            base = tok.chat(quiet[0], template=template, **quiet[1])
        except jeton.JetonError:
            continue
        tried += 1
        assert not forged(chat.ids, base.ids, controls), (attack.place, token, chat.text)
    assert tried > 20


@pytest.mark.parametrize("name", ["jeton chatml", "jeton llama3"])
def test_look_alikes_that_are_normalized_into_special_tokens(name: str) -> None:
    tok = byte_level(NAMED[name])
    respelled = [
        jeton.AddedToken(token.content, token.id, special=True, normalized=True)
        for token in tok.added_tokens
    ]
    tok = tok.replace(normalizer=normalizers.NFKC(), added_tokens=respelled)
    controls = set(tok.special_tokens.values())
    token = "<|im_end|>" if "chatml" in name else "<|eot_id|>"
    for content in (token, token.replace("<", "＜"), token.replace("|", "｜"), f"a{token}ﬁ"):
        assert controls.intersection(tok.encode(content, special="allow"))
        chat = tok.chat([{"role": "user", "content": content}], template=NAMED[name])
        base = tok.chat([{"role": "user", "content": "a"}], template=NAMED[name])
        assert not forged(chat.ids, base.ids, controls)
        assert not forged(base.ids, chat.ids, controls)


@pytest.mark.parametrize(
    "template",
    [
        "{{ messages }}",
        "{{ messages | tojson }}",
        "{{ messages[0].keys() | list }}",
        "{{ messages[0] | dictsort }}",
        "{% for name in messages[0] %}{{ name }}{% endfor %}",
        "{% for name, value in messages[0].items() %}{{ name ~ value }}{% endfor %}",
    ],
)
def test_names_of_fields_are_data(template: str) -> None:
    tok = byte_level("<|im_end|>")
    message = {"role": "user", "content": "a", "<|im_end|>": 1}
    chat = tok.chat([message], template=template)
    assert "<|im_end|>" in chat.text
    assert tok.special_tokens["<|im_end|>"] not in chat.ids


@pytest.mark.parametrize("content", [b"a", {"a"}, print, object(), [{"text": b"a"}]])
def test_content_that_is_no_text_is_refused(content: object) -> None:
    tok = byte_level("<|im_end|>")
    with pytest.raises(ArgumentTypeError, match=r"messages\[0\]\.content.* must be text"):
        tok.chat([{"role": "user", "content": content}], template="chatml")


@pytest.mark.parametrize("role", [5, True, ["user"], {"user": 1}, b"user"])
def test_roles_that_are_no_text_are_refused(role: object) -> None:
    with pytest.raises(ArgumentTypeError, match=r"messages\[0\]\.role must be a str"):
        byte_level("").chat([{"role": role, "content": "a"}], template="{{ messages }}")


@pytest.mark.parametrize("image", [b"<|im_end|>", object(), [object()], {"data": {1, 2}}])
def test_parts_may_hold_images(image: object) -> None:
    template = (
        "{% for part in messages[0].content %}{{ '<|image|>' if part.type == 'image' else "
        "part.text }}{% endfor %}{{ messages[0].content[0] }}"
    )
    content = [{"type": "image", "image": image}, {"type": "text", "text": "a"}]
    chat = byte_level("").chat([{"role": "user", "content": content}], template=template)
    kind = {bytes: "bytes", object: "object", list: "object", dict: "set"}[type(image)]
    assert chat.text.startswith("<|image|>a{'type': 'image'")
    assert f"'<{kind}>'" in chat.text


def test_trusted_fields_may_hold_control_tokens() -> None:
    tok = byte_level("")
    messages = [
        {"role": "system", "content": "<|im_end|>"},
        {"role": "user", "content": "<|im_end|>", "name": "<|im_end|>"},
    ]
    template = "{% for m in messages %}{{ m.content }} {{ m.name }} {% endfor %}{{ x }}"
    rows: list[tuple[list[str | int], int]] = [
        ([], 0), (["system"], 1), (["system.content"], 1), (["content"], 2), (["user.name"], 1),
        (["messages[0]"], 1), ([1], 2), (["messages[1].name", "x"], 2), (["tools"], 0),
    ]  # fmt: skip
    for trusted, expected in rows:
        chat = tok.chat(messages, template=template, trusted=trusted, x="<|im_end|>")
        assert chat.ids.count(tok.special_tokens["<|im_end|>"]) == expected, trusted


def test_what_a_chat_happens_to_lack_may_be_trusted() -> None:
    tok = byte_level("")
    messages = [{"role": "user", "content": "a"}, {"role": "robot", "content": "b", "mood": "c"}]
    for trusted in ("system", "tool.content", "tool_calls", "robot.mood", "messages[1].mood", "x"):
        assert tok.chat(messages, template="chatml", trusted=[trusted], x=1).text
    # A part of a chat may lack the message that was named for the whole.
    long = [{"role": "user", "content": "aaaa"}] * 3
    chat = tok.chat(long, template="chatml", trusted=[2, "messages[2].content"])
    assert len(chat.truncate(len(chat.ids) - 1).dropped) == 1


def test_added_tokens_that_are_not_special_are_control_where_that_is_asked_for() -> None:
    tok = byte_level("").with_added_tokens([jeton.AddedToken("<think>")])
    template = "<think>{{ messages[0].content }}<|im_end|><think>"
    messages = [{"role": "user", "content": "a<think>b<|im_end|>"}]
    think, end = tok.bytes_to_id("<think>"), tok.special_tokens["<|im_end|>"]
    for control, expected in (((), 3), (("<think>",), 2), (["<think>", "<|im_end|>"], 2)):
        ids = tok.chat(messages, template=template, control=control).ids
        assert (ids.count(think), ids.count(end)) == (expected, 1)
    for wrong, kind in (("<think>", TypeError), (("<thought>",), ValueError), (3, TypeError)):
        with pytest.raises(kind, match="control"):
            tok.chat(messages, template=template, control=wrong)  # type: ignore[arg-type]
