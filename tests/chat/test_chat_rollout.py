"""`chat.extend`: the ids that a model read and wrote stay; the template writes what follows."""

from __future__ import annotations

import copy
import dataclasses
import json
import re
import warnings
from pathlib import Path
from typing import Any

import pytest

import jeton
from answer_cases import options, rendered, sampled
from chat_cases import (
    HELLO,
    PUBLISHED,
    RESULT,
    byte_level,
    bytes_alone,
    call,
    templates,
)
from chat_flags import as_published
from guide import hold_table
from jeton.chat import Rewritten, Rollout
from jeton.chat.templates import renderer
from jeton.errors import ArgumentError, ArgumentTypeError, ChatWarning, JetonError, UnsupportedError

AGAIN = {"role": "user", "content": "And then?"}
TEMPLATES_AT_HAND = [pytest.param(name, text, id=name) for name, text in templates()]


@pytest.mark.filterwarnings("ignore::jeton.errors.ChatWarning")
@pytest.mark.parametrize(("name", "template"), TEMPLATES_AT_HAND)
def test_ids_of_a_rollout_stay(name: str, template: str) -> None:
    tok, given = byte_level(template), options(template)
    chat = tok.chat(HELLO, add_generation_prompt=True, **given)
    reasoned = {"reasoning_content": "Hm, so.", "reasoning": "Hm, so."}
    count = 0
    for message, follows in (
        ({"role": "assistant", "content": "So it is."}, [AGAIN]),
        ({"role": "assistant", "content": "So it is.", **reasoned}, [AGAIN]),
        (call(), [RESULT]),
        (call(**reasoned), [RESULT, AGAIN]),
    ):
        ids = sampled(tok, chat, message, **given)
        if ids is None or not ids:
            continue
        try:
            rollout = chat.extend(ids, messages=follows)
        except (ArgumentError, UnsupportedError):
            continue  # the template refuses such a conversation, or does not print the result
        before = [*chat.ids, *ids]
        assert rollout.ids[: len(before)] == before
        assert rollout.sampled == [(len(chat.ids), len(before))]
        assert rollout.loss_mask() == [
            *([0] * len(chat.ids)), *([1] * len(ids)), *([0] * (len(rollout.ids) - len(before)))
        ]  # fmt: skip
        # If nothing would be rewritten, it is what the template writes.
        text = _with_rewritten(rollout, len(before))
        assert text == rollout.prompt.text, (name, rollout.rewritten)
        longer = rollout.extend(ids, messages=[AGAIN])
        assert longer.ids[: len(rollout.ids) + len(ids)] == [*rollout.ids, *ids]
        assert len(longer.answers) == 2
        count += 1
    assert count


def _with_rewritten(rollout: Rollout, length: int) -> str:
    """The text of a rollout as the template would render it."""
    tok, text, at = rollout.tokenizer, "", 0
    for part in rollout.rewritten:
        assert at <= part.start <= part.end <= length
        text += tok.decode(rollout.ids[at : part.start]) + part.text
        at = part.end
    return text + tok.decode(rollout.ids[at:])


@pytest.mark.filterwarnings("ignore::jeton.errors.ChatWarning")
def test_templates_that_rewrite_turns_are_reported() -> None:
    """Another rendering would change what the model read, as `keeps_prefix` says too."""
    if not PUBLISHED.exists():
        pytest.skip("needs the published templates")
    drifted = set()
    for name, template in templates():
        if name.startswith("jeton "):
            continue
        tok, given = byte_level(template), options(template)
        chat = tok.chat(HELLO, add_generation_prompt=True, **given)
        reasoned = {"reasoning_content": "Hm, so.", "reasoning": "Hm, so."}
        message = {"role": "assistant", "content": "So it is.", **reasoned}
        ids = sampled(tok, chat, message, **given)
        assert ids is not None
        rollout = chat.extend(ids, messages=[AGAIN])
        if rollout.rewritten:
            drifted.add(name)
            assert not rollout.prompt.keeps_prefix or tok.decode(chat.ids + ids) != chat.text
    assert drifted >= {"Qwen-Qwen3-0.6B", "GLM-4.6", "openai-gpt-oss-120b"}
    assert not drifted & {"NousResearch-Hermes-3-Llama-3.1-8B-tool_use", "Kimi-K2-Instruct"}


PAGE = Path(__file__).parents[2] / "docs" / "howto" / "answers.md"
REASONED = {"reasoning_content": "Hm, so.", "reasoning": "Hm, so."}
SAID = {"role": "assistant", "content": "So it is."}
CONVERSATIONS: dict[str, list[dict[str, Any]]] = {
    "words": [*HELLO, SAID, AGAIN, SAID, AGAIN],
    "reasoning": [*HELLO, {**SAID, **REASONED}, AGAIN, {**SAID, **REASONED}, AGAIN],
    "a call": [*HELLO, call(), RESULT, SAID, AGAIN],
}


def _kept(template: str, conversation: str) -> str:
    """Which ids of a conversation a template would change, as `keeps_prefix` says."""
    tok, messages, given = bytes_alone(template), CONVERSATIONS[conversation], options(template)
    wanted = {"words": "So it is.", "reasoning": "Hm, so.", "a call": "get_weather"}[conversation]
    try:
        answer = rendered(tok, messages[:2], **given).text.rpartition(HELLO[-1]["content"])[2]
        chat = rendered(tok, messages, add_generation_prompt=True, **given)
    except JetonError:
        return "—"
    if wanted not in answer:
        return "—"
    parts = {
        "prompt" if it.prompt else "turn"
        for it in chat.keeps_prefix.steps
        if it.parts_at is not None
    }
    return ", ".join(sorted(parts)) or "kept"


@pytest.mark.large
@pytest.mark.filterwarnings("ignore::jeton.errors.ChatWarning")
def test_the_page_says_which_templates_change_what_they_wrote() -> None:
    if not PUBLISHED.exists():
        pytest.skip("needs the published templates")
    rows = [
        f"| {name} | {' | '.join(_kept(template, it) for it in CONVERSATIONS)} |\n"
        for name, template in templates()
    ]
    hold_table(PAGE, "| template | words | reasoning | a call |", "".join(rows))


RESULT_OF = {
    "the name of the tool is in front of its result": (
        "openai-gpt-oss-120b", "", {},
        "<|start|>functions.get_weather to=assistant<|channel|>commentary<|message|>",
    ),
    "reasoning is in front of the call": (
        "openai-gpt-oss-120b", "", {"reasoning_content": "Hm."},
        "<|start|>functions.get_weather to=assistant<|channel|>commentary<|message|>",
    ),
    "the template writes the words behind the result": (
        "google-gemma-4-31B-it", "I look.", {}, "response:get_weather{value:"
    ),
}  # fmt: skip
"""A template, what the model writes in front of the call, fields of the call, what must follow."""


@pytest.mark.parametrize("case", RESULT_OF)
def test_the_result_of_a_tool_follows_whole(case: str) -> None:
    if not PUBLISHED.exists():
        pytest.skip("needs the published templates")
    name, words, fields, behind = RESULT_OF[case]
    template = dict(templates())[name]
    tok, given = byte_level(template), options(template)
    chat = tok.chat(HELLO, add_generation_prompt=True, **given)
    ids = sampled(tok, chat, call(**fields), **given)
    assert ids
    ids = tok.encode(words) + ids
    rollout = chat.extend(ids, messages=[RESULT])
    before = [*chat.ids, *ids]
    assert rollout.ids[: len(before)] == before
    follows = tok.decode(rollout.ids[len(before) :])
    assert follows.startswith(behind) and "rain" in follows and "I look." not in follows
    assert rollout.messages[1]["content"] == words
    longer = rollout.extend(tok.encode("It will."), messages=[AGAIN])
    assert longer.ids[: len(rollout.ids)] == rollout.ids


_IN_PARTS = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{% if m.content is string %}{{ m.content }}"
    "{% else %}{% for it in m.content %}{% if it.type == 'image' %}<|image_pad|>{% else %}"
    "{{ it.text }}{% endif %}{% endfor %}{% endif %}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
IMAGE = {"type": "image", "image": "cat.png"}
AUDIO = {"type": "audio", "audio": "cat.wav"}
SEEN = {"type": "text", "text": "And this?"}
IN_PARTS: dict[str, tuple[str, Any, str, str]] = {
    # template, content of the new message, its text in the chat, the part that a warning names
    "text": (_IN_PARTS, [SEEN], "And this?", ""),
    "an image": (_IN_PARTS, [SEEN, IMAGE], "And this?<|image_pad|>", ""),
    "two images": (_IN_PARTS, [IMAGE, SEEN, IMAGE], "<|image_pad|>And this?<|image_pad|>", ""),
    "a part that is not printed": (_IN_PARTS, [AUDIO, SEEN], "And this?", "content[0]"),
    "an image that is not printed": (
        _IN_PARTS.replace("<|image_pad|>", ""), [SEEN, IMAGE], "And this?", "content[1]"
    ),
}  # fmt: skip


@pytest.mark.parametrize("role", ["user", "tool"])
@pytest.mark.parametrize("case", IN_PARTS)
def test_contents_in_parts_follow(case: str, role: str, recwarn: pytest.WarningsRecorder) -> None:
    template, content, written, lost = IN_PARTS[case]
    tok = byte_level(_IN_PARTS)
    asked = [{"role": "user", "content": [SEEN]}]
    chat = tok.chat(asked, template=template, add_generation_prompt=True)
    ids = tok.encode("A cat.<|im_end|>", special="allow")
    if lost and role == "tool":
        with pytest.raises(
            UnsupportedError, match=r"does not print messages\[2\].*a result of its call"
        ):
            chat.extend(ids, messages=[{"role": role, "content": content}])
        return
    rollout = chat.extend(ids, messages=[{"role": role, "content": content}])
    before = [*chat.ids, *ids]
    assert rollout.ids[: len(before)] == before
    assert tok.decode(rollout.ids[len(before) :]) == (
        f"\n<|im_start|>{role}\n{written}<|im_end|>\n<|im_start|>assistant\n"
    )
    pad = tok.special_tokens["<|image_pad|>"]
    assert rollout.ids.count(pad) == written.count("<|image_pad|>")
    said = [str(it.message) for it in recwarn]
    assert said == [f"the chat template does not print messages[2].{lost}"] * bool(lost)


RULE = {"role": "system", "content": "Speak Norwegian."}


@pytest.mark.parametrize("new", [[RULE, AGAIN], [AGAIN, RULE]], ids=["first", "last"])
def test_a_message_that_the_template_puts_first_is_reported(new: list[dict[str, Any]]) -> None:
    tok = byte_level("")
    chat = tok.chat(HELLO, template="deepseek", add_generation_prompt=True)
    place = len(HELLO) + 1 + new.index(RULE)
    with pytest.warns(
        ChatWarning, match=rf"writes messages\[{place}\].content in front of the ans"
    ):
        rollout = chat.extend(tok.encode("So it is."), messages=new)
    assert RULE["content"] not in tok.decode(rollout.ids)


@pytest.mark.parametrize(("name", "template"), TEMPLATES_AT_HAND)
def test_new_messages_follow_or_are_reported(name: str, template: str) -> None:
    tok, given = byte_level(template), options(template)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ChatWarning)
        chat = tok.chat(HELLO, add_generation_prompt=True, **given)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ChatWarning)
        try:
            rollout = chat.extend(tok.encode("So it is."), messages=[RULE, AGAIN])
        except JetonError:
            pytest.skip("the template refuses such a conversation")
    follows = RULE["content"] in tok.decode(rollout.ids)
    assert follows != any(
        re.search(rf"messages\[{len(HELLO) + 1}\]", str(it.message)) for it in caught
    )


@pytest.mark.filterwarnings("ignore::jeton.errors.ChatWarning")
@pytest.mark.parametrize(
    ("name", "template"),
    [it for it in TEMPLATES_AT_HAND if "gemma-4" in str(it) or "Qwen3-" in str(it)],
)
@pytest.mark.parametrize("fields", [{}, {"tool_call_id": "call_1"}, {"name": "get_weather"}])
def test_results_find_their_call(name: str, template: str, fields: dict[str, str]) -> None:
    """By the id of the call, or in their order; as messages of OpenAI's API have them."""
    tok, given = byte_level(template), options(template)
    chat = tok.chat(HELLO, add_generation_prompt=True, **given)
    two = call()
    two["tool_calls"] = two["tool_calls"] * 2
    ids = sampled(tok, chat, two, **given)
    assert ids
    results = [{"role": "tool", "content": "Rain.", **fields}]
    if "tool_call_id" not in fields:
        results.append({"role": "tool", "content": "Sun."})
    rollout = chat.extend(ids, messages=results)
    assert [it.id for it in rollout.answers[0].calls] == ["call_0", "call_1"]
    new = tok.decode(rollout.ids[len(chat.ids) + len(ids) :])
    assert "Rain." in new and ("Sun." in new) == ("tool_call_id" not in fields)
    told = [(it.get("tool_call_id"), it.get("name")) for it in rollout.messages[2:]]
    first = ("call_1" if "tool_call_id" in fields else "call_0", "get_weather")
    assert told == [first, ("call_1", "get_weather")][: len(told)]


@pytest.mark.filterwarnings("ignore::jeton.errors.ChatWarning")
def test_the_numbers_of_calls_go_on() -> None:
    tok, template = byte_level(""), _IN_PARTS
    chat = tok.chat(HELLO, template=template, add_generation_prompt=True)
    said = tok.parse('<tool_call>{"name": "f", "arguments": {}}', format="hermes", prompt=chat)
    assert said.calls[0].id == "call_0"
    later = tok.chat([*HELLO, said.message], template=template, add_generation_prompt=True)
    again = tok.parse('<tool_call>{"name": "f", "arguments": {}}', format="hermes", prompt=later)
    assert again.calls[0].id == "call_1"


def test_templates_of_jeton_refuse_what_they_do_not_print() -> None:
    tok = byte_level("")
    chat = tok.chat(HELLO, template="chatml", add_generation_prompt=True)
    with pytest.raises(UnsupportedError, match=r"'chatml' does not print messages\[2\]"):
        chat.extend([65], messages=[{"role": "user", "content": [IMAGE, SEEN]}])


def test_white_space_of_a_call_stays() -> None:
    tok = as_published("Qwen 3")
    template = (
        "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}{% for c in m.tool_calls %}"
        "<tool_call>\n{{ c.function|tojson }}\n</tool_call>{% endfor %}<|im_end|>\n{% endfor %}"
        "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
    )
    known = {token.content: token.id or 0 for token in tok.stages.added_tokens}
    chat = tok.chat(HELLO, template=template, add_generation_prompt=True)
    written = '{"name":"f","arguments":{}}'
    ids = [known["<tool_call>"], *tok.encode(written), known["</tool_call>"], known["<|im_end|>"]]
    rollout = chat.extend(ids, messages=[{"role": "tool", "content": "1"}])
    assert tok.decode(rollout.ids[len(chat.ids) :]) == (
        f"<tool_call>{written}</tool_call><|im_end|>\n<|im_start|>tool\n1<|im_end|>\n"
        "<|im_start|>assistant\n"
    )
    assert rollout.answers[0].calls[0].name == "f"
    assert "".join(part.text for part in rollout.rewritten).count("\n") == 2
    assert rollout.messages[1]["tool_calls"][0]["function"] == {"name": "f", "arguments": {}}


@pytest.mark.parametrize(
    ("last", "follows"),
    [
        ("<|user|>", "So?<|assistant|>"),
        ("", "<|user|>So?<|assistant|>"),
        ("</s>", "<|user|>So?<|assistant|>"),
        ("<|tool|>", "<|user|>So?<|assistant|>"),
    ],
)
def test_the_next_turns_beginning_stays_after_an_unusual_end(last: str, follows: str) -> None:
    """GLM's models stop at what begins the next turn, or at the end of text."""
    template = (
        "{% for m in messages %}{% if m.role == 'user' %}<|user|>{% elif m.role == 'tool' %}<|tool|>"
        "{% else %}<|assistant|>{% endif %}{{ m.content }}{% for c in m.tool_calls %}<tool_call>"
        "{{ c.function|tojson }}</tool_call>{% endfor %}{% endfor %}"
        "{% if add_generation_prompt %}<|assistant|>{% endif %}"
    )
    tok = byte_level(template)
    chat = tok.chat(HELLO, template=template, add_generation_prompt=True)
    ids = tok.encode(f"It is.{last}", special="allow")
    rollout = chat.extend(ids, messages=[{"role": "user", "content": "So?"}])
    assert tok.decode(rollout.ids[len(chat.ids) + len(ids) :]) == follows


def test_calls_that_the_template_refuses_are_reported() -> None:
    """Kimi K2's first template fails on each call, and counts results by the calls that it wrote."""
    template = (
        "{# <tool_call></tool_call> #}{% for m in messages %}{% if m.tool_calls %}"
        "{{ raise_exception('No calls') }}{% endif %}<|im_start|>{{ m.role }}\n{{ m.content }}"
        "<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
    )
    tok = byte_level(template)
    chat = tok.chat(HELLO, template=template, add_generation_prompt=True)
    said = '<tool_call>{"name": "f", "arguments": {}}</tool_call><|im_end|>'
    with pytest.warns(ChatWarning, match="gets the answer without its calls, .* No calls"):
        rollout = chat.extend(tok.encode(said, special="allow"), messages=[RESULT])
    assert [it.name for it in rollout.answers[0].calls] == ["f"]
    assert rollout.messages[1].keys() == {"role", "content"}


def test_ids_that_the_template_refuses_become_others() -> None:
    """As the templates of Mistral do, which take only ids of nine letters and digits."""
    template = (
        "{# <tool_call></tool_call> #}{% for m in messages %}{% for id in [m.tool_call_id] if id %}"
        "{{ raise_exception('nine') if id | length != 9 else id }}{% endfor %}<|im_start|>"
        "{{ m.role }}\n{{ m.content }}{% for c in m.tool_calls %}<tool_call>{{ c | tojson }}"
        "</tool_call>{% endfor %}<|im_end|>\n{% endfor %}"
        "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
    )
    tok = byte_level(template)
    chat = tok.chat(HELLO, template=template, add_generation_prompt=True)
    said = '<tool_call>{"id": "abc", "name": "f", "arguments": {}}</tool_call><|im_end|>'
    ids = tok.encode(said, special="allow")
    result = {"role": "tool", "tool_call_id": "abc", "content": "It is."}
    with pytest.warns(ChatWarning, match="other ids than those of their calls .* nine"):
        rollout = chat.extend(ids, messages=[result])
    assert rollout.answers[0].calls[0].id == "abc"
    assert tok.decode(rollout.ids[len(chat.ids) + len(ids) :]).startswith("\ncall00000<|im_start|>")
    with pytest.warns(ChatWarning, match="other ids"):
        rollout = rollout.extend(ids, messages=[result])
    assert [it["tool_call_id"] for it in rollout.messages if it["role"] == "tool"] == [
        "call00000", "call00001"
    ]  # fmt: skip


def test_an_id_that_comes_again_does_not_lose_its_result() -> None:
    """As the template of Command R7B does, which prints one result for each id."""
    template = (
        "{# <tool_call></tool_call> #}{% set seen = namespace(ids=[]) %}{% for m in messages %}"
        "{% if m.tool_call_id not in seen.ids %}"
        "<|im_start|>{{ m.role }}\n{{ m.content }}{% for c in m.tool_calls %}<tool_call>"
        "{{ c | tojson }}</tool_call>{% endfor %}<|im_end|>\n{% endif %}{% if m.tool_call_id %}"
        "{% set seen.ids = seen.ids + [m.tool_call_id] %}{% endif %}{% endfor %}"
        "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
    )
    tok = byte_level(template)
    rollout: Any = tok.chat(HELLO, template=template, add_generation_prompt=True)
    said = '<tool_call>{"id": "0", "name": "f", "arguments": {}}</tool_call><|im_end|>'
    ids = tok.encode(said, special="allow")
    for count in range(3):
        result = {"role": "tool", "tool_call_id": "0", "content": f"It is {count}."}
        rollout = rollout.extend(ids, messages=[result])
        assert f"It is {count}." in tok.decode(rollout.ids)
    named = [it["tool_call_id"] for it in rollout.messages if it["role"] == "tool"]
    assert named == ["0", "call00001", "call00002"]


def test_reasoning_that_the_template_refuses_leaves_the_call() -> None:
    """As that of gpt-oss does where the reasoning spells its marks."""
    template = (
        "{# <tool_call></tool_call> #}{% for m in messages %}{% if '<|' in m.reasoning_content %}"
        "{{ raise_exception('tags') }}{% endif %}"
        "{% if m.role == 'tool' and not messages[loop.index0 - 1].tool_calls %}"
        "{{ raise_exception('no call') }}{% endif %}<|im_start|>{{ m.role }}\n"
        "{% if m.reasoning_content %}<think>{{ m.reasoning_content }}</think>{% endif %}"
        "{{ m.content }}{% for c in m.tool_calls %}<tool_call>{{ c.function | tojson }}"
        "</tool_call>{% endfor %}<|im_end|>\n{% endfor %}"
        "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
    )
    tok = byte_level(template)
    chat = tok.chat(HELLO, template=template, add_generation_prompt=True)
    marks = tok.special_tokens
    ids = [
        *(marks["<think>"], *tok.encode("What is <|end|>?"), marks["</think>"]),
        *tok.encode(
            '<tool_call>{"name": "f", "arguments": {}}</tool_call><|im_end|>', special="allow"
        ),
    ]
    rollout = chat.extend(ids, messages=[RESULT])
    assert rollout.ids[: len(chat.ids) + len(ids)] == [*chat.ids, *ids]
    assert rollout.answers[0].message["reasoning_content"] == "What is <|end|>?"
    assert RESULT["content"] in tok.decode(rollout.ids[len(chat.ids) + len(ids) :])


def test_words_that_the_template_refuses_stay_in_the_ids() -> None:
    template = (
        "{% for m in messages %}{% if '<|end|>' in m.content %}{{ raise_exception('tags') }}"
        "{% endif %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
        "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
    )
    tok = byte_level(template)
    chat = tok.chat(HELLO, template=template, add_generation_prompt=True)
    ids = [*tok.encode("It is <|end|>."), tok.special_tokens["<|im_end|>"]]
    with pytest.warns(ChatWarning, match="without its words, .* tags"):
        rollout = chat.extend(ids, messages=[AGAIN])
    said = tok.decode(rollout.ids[len(chat.ids) :])
    assert said.startswith("It is <|end|>.<|im_end|>\n<|im_start|>user\n" + AGAIN["content"])
    assert rollout.answers[0].content == "It is <|end|>."
    assert len(rollout.extend(tok.encode("So."), messages=[AGAIN]).answers) == 2


@pytest.mark.parametrize("mark", ["token", "text"])
def test_results_follow_calls_that_end_an_answer(mark: str) -> None:
    """Apertus writes results right behind the mark that closes calls, where its model stops."""
    template = (
        "{% for m in messages %}{% if m.role == 'tool' %}[{{ m.content }}]{% else %}"
        "<|{{ m.role }}_start|>{{ m.content }}{% if m.tool_calls %}<|tools_prefix|>["
        "{% for c in m.tool_calls %}{{ ', ' if not loop.first }}"
        '{"{{ c.function.name }}": {{ c.function.arguments|tojson }}}{% endfor %}]<|tools_suffix|>'
        "{% else %}<|{{ m.role }}_end|>{% endif %}{% endif %}{% endfor %}"
        "{% if add_generation_prompt %}<|assistant_start|>{% endif %}"
    )
    tok = byte_level(template if mark == "token" else "")
    chat = tok.chat(HELLO, template=template, add_generation_prompt=True)
    message = call()
    message["tool_calls"] *= 2
    whole = tok.chat([*HELLO, message, RESULT], template=template, add_generation_prompt=True)
    end = whole.text.rindex("<|tools_suffix|>") + len("<|tools_suffix|>")
    answer = tok.encode(whole.text[len(chat.text) : end], special="allow")
    rollout = chat.extend(answer, messages=[RESULT])
    assert rollout.answers[0].finish in ("stop", "tool_calls")
    assert (rollout.ids, rollout.rewritten) == (whole.ids, [])
    assert sum(rollout.loss_mask()) == len(answer)


def test_an_answer_without_its_end_gets_the_templates() -> None:
    tok = byte_level("")
    chat = tok.chat(HELLO, template="chatml", add_generation_prompt=True)
    rollout = chat.extend(tok.encode("So"), messages=[AGAIN])
    assert tok.decode(rollout.ids[len(chat.ids) :]).startswith("So<|im_end|>\n<|im_start|>user")
    assert sum(rollout.loss_mask()) == len(tok.encode("So"))
    last = chat.extend(tok.encode("So"))
    assert tok.decode(last.ids[len(chat.ids) :]) == "So<|im_end|>\n"
    end = tok.special_tokens["<|im_end|>"]
    assert chat.extend([*tok.encode("So"), end]).ids == [*chat.ids, *tok.encode("So"), end]
    silent = chat.extend([end], messages=[AGAIN])
    assert silent.ids[len(chat.ids)] == end
    assert tok.decode(silent.ids) == silent.prompt.text
    assert silent.rewritten == []


ENDS_AS_TEXT = {
    "chatml": "<|im_end|>",
    "qwen": "<|im_end|>",
    "llama3": "<|eot_id|>",
    "gemma": "<end_of_turn>",
    "phi": "<|end|>",
    "phi4": "<|im_end|>",
    "deepseek": "<｜end▁of▁sentence｜>",
    "command-r": "<|END_OF_TURN_TOKEN|>",
    "granite": "<|end_of_text|>",
}
"""What ends a turn of templates, which a tokenizer without that token spells."""


@pytest.mark.filterwarnings("ignore:the tokenizer has none of the control tokens")
@pytest.mark.parametrize("name", ENDS_AS_TEXT)
def test_an_end_of_plain_text_is_written_once(name: str) -> None:
    end = ENDS_AS_TEXT[name]
    # The words and the end share a token, and so do the end and what follows it.
    tok = jeton.BPETrainer(300).train([f"is.{end}\n<"] * 9)
    given: dict[str, Any] = {"template": name, "add_generation_prompt": True}
    prompt = tok.chat(HELLO, **given)
    whole = tok.chat([*HELLO, SAID, AGAIN], **given).text
    said = f"So it is.{end}"
    for written in ("So it is.", said):
        assert tok.decode(prompt.extend(tok.encode(written), messages=[AGAIN]).ids) == whole
    following = whole.removeprefix(prompt.text).removeprefix(said).removeprefix("\n")
    rollout = prompt.extend(tok.encode(f"{said}\n"), messages=[AGAIN])
    assert tok.decode(rollout.ids) == f"{prompt.text}{said}\n{following}"


def test_an_answer_without_words_adds_no_turn() -> None:
    """The prompt begins the reasoning, which is all that the model wrote."""
    if not PUBLISHED.exists():
        pytest.skip("needs the published templates")
    template = dict(templates())["NVIDIA-Nemotron-Nano-v2"]
    tok = jeton.BPETrainer(300).train([template])
    prompt = tok.chat(HELLO, add_generation_prompt=True, **options(template))
    rollout = prompt.extend(tok.encode("So.<SPECIAL_12>"), messages=[AGAIN])
    text = tok.decode(rollout.ids[len(prompt.ids) :])
    assert text.startswith("So.<SPECIAL_12>\n<SPECIAL_11>User\nAnd then?")


def test_white_space_after_the_end_is_not_a_second_end() -> None:
    tok = byte_level("")
    chat = tok.chat(HELLO, template="chatml", add_generation_prompt=True)
    ids = [*tok.encode("So"), tok.special_tokens["<|im_end|>"], *tok.encode("\n")]
    rollout = chat.extend(ids, messages=[AGAIN])
    assert tok.decode(rollout.ids) == rollout.prompt.text
    assert rollout.rewritten == []


def test_messages_are_plain() -> None:
    @dataclasses.dataclass
    class Part:
        text: str
        type: str = "text"

    tok = byte_level("")
    asked = {"role": "user", "content": [Part("Hello")]}
    chat = tok.chat([*HELLO, asked], template="qwen", add_generation_prompt=True)
    rollout = chat.extend(tok.encode("So it is."), messages=[AGAIN])
    parts = {"role": "user", "content": [{"text": "Hello", "type": "text"}]}
    expected = [*HELLO, parts, SAID, AGAIN]
    assert rollout.messages == expected
    assert json.loads(json.dumps(rollout.messages)) == expected
    again = tok.chat(rollout.messages, template="qwen", add_generation_prompt=True)
    assert again.ids == rollout.prompt.ids


def _lists(of: object) -> dict[str, Any]:
    """The lists that an object hands out."""
    named = {it: getattr(of, it) for it in dir(of) if not it.startswith("_")}
    return {it: value for it, value in named.items() if isinstance(value, list)}


def test_changing_a_list_changes_neither_chat_nor_rollout() -> None:
    tok = byte_level("")
    chat = tok.chat(HELLO, template="chatml", add_generation_prompt=True)
    sampled = [*tok.encode("So"), tok.special_tokens["<|im_end|>"]]
    rollout = chat.extend(sampled, messages=[AGAIN])
    for it in (chat, rollout):
        before = copy.deepcopy(_lists(it))
        assert {"ids"} < before.keys()
        for name, value in _lists(it).items():
            if name != "dropped":
                value += value or [1]
        assert _lists(it) == before
    rollout.messages[0]["content"] = ""
    rollout.answers[0].message["content"] = ""
    rollout.prompt.ids.append(1)
    assert chat.extend(sampled, messages=[AGAIN]).ids == rollout.ids
    assert tok.parse(sampled, prompt=chat).message["content"] == "So"
    longer = rollout.extend(sampled, messages=[AGAIN])
    assert longer.prompt.ids == longer.ids


def test_a_broken_call_stays_too() -> None:
    tok = as_published("Hermes 3")
    if not PUBLISHED.exists():
        pytest.skip("needs the published templates")
    template = dict(templates())["NousResearch-Hermes-3-Llama-3.1-8B-tool_use"]
    known = {token.content: token.id or 0 for token in tok.stages.added_tokens}
    chat = tok.chat(HELLO, add_generation_prompt=True, **options(template))
    ids = [known["<tool_call>"], *tok.encode('{"name": "look_up", "arguments": {"a'),
           known["</tool_call>"], known["<|im_end|>"]]  # fmt: skip
    rollout = chat.extend(ids, messages=[RESULT])
    assert rollout.ids[: len(chat.ids) + len(ids)] == [*chat.ids, *ids]
    assert rollout.answers[0].finish == "malformed" and rollout.rewritten


def test_a_result_of_half_a_call_is_refused() -> None:
    template = (
        "{% for m in messages %}{% if m.role == 'tool' and not messages[loop.index0 - 1].tool_calls"
        " %}{{ raise_exception('no call') }}{% endif %}<|im_start|>{{ m.role }}\n{{ m.content }}"
        "{% for c in m.tool_calls %}<tool_call>\n{{ c.function|tojson }}\n</tool_call>{% endfor %}"
        "<|im_end|>\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
    )
    tok = byte_level(template)
    chat = tok.chat(HELLO, template=template, add_generation_prompt=True)
    ids = sampled(tok, chat, call(), template=template)
    assert ids is not None and chat.extend(ids, messages=[RESULT])
    for cut in (3, len(ids) // 2):
        with pytest.raises(ArgumentError, match=r"no call.*cut off.*sample the rest"):
            chat.extend(ids[:cut], messages=[RESULT])
        assert chat.extend(ids[:cut], messages=[AGAIN]).ids[len(chat.ids) :][:cut] == ids[:cut]


def test_extend_refuses_bad_arguments() -> None:
    tok = byte_level("")
    chat = tok.chat(HELLO, template="chatml")
    with pytest.raises(ArgumentError, match="asks for no answer"):
        chat.extend([])
    chat = tok.chat(HELLO, template="chatml", add_generation_prompt=True)
    with pytest.raises(ArgumentError, match="what follows the answer"):
        chat.extend([], messages=[{"role": "assistant", "content": ""}])
    for last in (chat.extend([65]), chat.extend([65], messages=HELLO, add_generation_prompt=False)):
        with pytest.raises(ArgumentError, match="the rollout asks for no answer"):
            last.extend([65])
    with pytest.raises(ArgumentTypeError, match="ids must be"):
        chat.extend("So")  # type: ignore[arg-type]
    with pytest.raises(ArgumentTypeError, match="messages must be"):
        chat.extend([], messages="So")  # type: ignore[arg-type]
    assert repr(chat.extend([65])).startswith("Rollout(1 answer, ")


def test_rewritten_is_a_value() -> None:
    assert Rewritten(1, 2, "a") == Rewritten(1, 2, "a")


_KIMI_K3 = (
    "{% for m in messages %}<|open|>message role=\"{{ m.role }}\"<|sep|>{% if m.role == 'assistant' %}"
    "{% if m.reasoning_content %}<|open|>think<|sep|>{{ m.reasoning_content }}<|close|>think<|sep|>"
    "{% endif %}{% if m.content %}<|open|>response<|sep|>{{ m.content }}<|close|>response<|sep|>"
    "{% endif %}{% else %}{{ m.content }}{% endif %}<|close|>message<|sep|>{% endfor %}"
    '{% if add_generation_prompt %}<|open|>message role="assistant"<|sep|>{% endif %}'
)


@pytest.mark.parametrize(
    ("written", "closing"),
    [
        (
            "<|open|>response<|sep|>So it i",
            "<|close|>response<|sep|><|close|>message<|sep|>",
        ),
        ("<|open|>think<|sep|>Hm", "<|close|>think<|sep|><|close|>message<|sep|>"),
        ("<|open|>response<|sep|>So.<|close|>response<|sep|>", "<|close|>message<|sep|>"),
        ("<|open|>response<|sep|>So.<|close|>response<|sep|><|close|>message<|sep|>", ""),
    ],
)
def test_extend_closes_what_is_open_of_an_answer_cut_short(written: str, closing: str) -> None:
    tok = byte_level("<|open|><|close|><|sep|>")
    chat = tok.chat(HELLO, template=_KIMI_K3, add_generation_prompt=True)
    ids = tok.encode(written, special="allow")
    rollout = chat.extend(ids, messages=[AGAIN])
    new = tok.decode(rollout.ids[len(chat.ids) + len(ids) :])
    assert new.startswith(f'{closing}<|open|>message role="user"<|sep|>')
    assert rollout.rewritten == []
    alone = tok.decode(chat.extend(ids).ids[len(chat.ids) + len(ids) :])
    # The format takes an answer that ends with its words for a whole one.
    assert alone == ("" if written.endswith("So.<|close|>response<|sep|>") else closing)


def test_a_turn_renders_the_conversation_once(monkeypatch: pytest.MonkeyPatch) -> None:
    tok = byte_level("<|im_start|><|im_end|>")
    rollout: Any = tok.chat(HELLO, template="chatml", add_generation_prompt=True)
    sampled = [*tok.encode("Good."), tok.special_tokens["<|im_end|>"]]
    sizes: list[int] = []
    render: Any = vars(renderer)["rendered"]

    def counting(request: Any) -> str:
        sizes.append(len(request.messages))
        return str(render(request))

    monkeypatch.setattr(renderer, "rendered", counting)
    for turn in range(1, 6):
        rollout = rollout.extend(sampled, messages=HELLO)
        if turn > 1:
            assert sizes == [2 * turn + 1]
        sizes.clear()
