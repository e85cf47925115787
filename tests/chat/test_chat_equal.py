"""Ids, text and masks of chats are those of transformers, through every template at hand."""

from __future__ import annotations

import json
import re
import tempfile
import warnings
from typing import Any

import pytest

import jeton
from chat_cases import KINDS, PLAIN, TURNS, Message, byte_level, copied, templates
from jeton.chat import TEMPLATES
from shared_data import SHARED, needs

transformers = pytest.importorskip("transformers")

pytestmark = pytest.mark.filterwarnings("ignore::jeton.errors.ChatWarning")
"""What templates leave out is the matter of `test_chat_unprinted.py`."""

NAMED = dict(templates())
TOK = byte_level("")


def theirs_of(tok: jeton.Tokenizer) -> Any:
    """The tokenizer of transformers that reads the same file."""
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tok.save(f"{folder}/tokenizer.json")
        return transformers.PreTrainedTokenizerFast(
            tokenizer_file=f"{folder}/tokenizer.json", bos_token="<s>", eos_token="</s>"
        )


@needs(SHARED / "templates")
def test_templates_of_published_models_are_at_hand() -> None:
    assert len(NAMED) > len(TEMPLATES) + 20


PUBLISHED = {
    "granite": "ibm-granite-granite-3.3-2B-Instruct",
    "mistral-small": "Mistral-Small-3.2-24B-Instruct-2506",
    "qwen2.5": "Qwen-Qwen2.5-7B-Instruct",
    "qwen3": "Qwen-Qwen3-0.6B",
    "llama2": "llama-2-chat",
    "llama3.1": "meta-llama-Llama-3.1-8B-Instruct",
    "llama-3.3": "meta-llama-Llama-3.1-8B-Instruct",
    "phi": "microsoft-Phi-3.5-mini-instruct",
    "gemma": "google-gemma-2-2b-it",
    "gpt-oss": "openai-gpt-oss-120b",
    "deepseek": "deepseek-ai-DeepSeek-R1-Distill-Llama-8B",
}
"""Templates of jeton, and those of models with the same format."""

SAID_TO_DIFFER = {
    ("mistral-small", "alone"),
    ("mistral-small", "alone, answered"),
    ("qwen3", "answered"),
    ("qwen3", "alone, answered"),
}
"""Chats in which these models' own templates write more, which a count says."""


@needs(SHARED / "templates")
@pytest.mark.parametrize("name", PUBLISHED)
def test_templates_by_name_write_what_those_of_models_do(name: str) -> None:
    theirs = NAMED[PUBLISHED[name]]
    if name == "llama2":  # this one is to be read without the white space between its lines
        theirs = "".join(line.strip() for line in theirs.splitlines())
    tok = byte_level(theirs)
    turns = [{**turn, "content": turn["content"].strip()} for turn in TURNS]
    system = [{"role": "system", "content": "Answer in one word."}]
    chats = {
        "prompt": ([*system, *turns[:-1]], True),
        "alone": (turns[:-1], True),
        "answered": ([*system, *turns], False),
        "alone, answered": (turns, False),
        "nothing in it": ([{"role": "system", "content": ""}, *turns[:-1]], True),
    }
    for case, (messages, prompt) in chats.items():
        if name == "gemma" and messages[0]["role"] == "system":
            continue  # Gemma 2 has no such role, Gemma 3 has
        if name == "deepseek" and prompt:
            continue  # R1 opens a thought behind the prompt, V3 does not
        ours, published = (
            tok.chat(messages, template=it, add_generation_prompt=prompt) for it in (name, theirs)
        )
        count = tok.count_messages(messages, template=name, add_generation_prompt=prompt)
        same = (name, case) not in SAID_TO_DIFFER
        assert (ours.ids == published.ids, count.exact) == (same, same), case
        assert count.tokens == len(ours.ids)


FORMATS: dict[str, tuple[str, list[Message], str]] = {
    # What the templates that the models' authors published write, as read in July 2024 and later.
    "Llama 2 leaves the system's message as it is": (
        "llama2",
        [{"role": "system", "content": " Be brief. \n"}, {"role": "user", "content": " Why? "}],
        "<s>[INST] <<SYS>>\n Be brief. \n\n<</SYS>>\n\n Why? [/INST]",
    ),
    "Mistral 7B has it in front of the last question": (
        "mistral",
        [{"role": "system", "content": "Be brief."}, *TURNS[:2], TURNS[2]],
        "<s>[INST]   What is 1 + 1?\n[/INST] It is 2.\n\nIs that all?</s>"
        "[INST] Be brief.\n\nWhy? Ça va, 你好 🙂[/INST]",
    ),
    "DeepSeek V3 has all of them in front": (
        "deepseek",
        [
            {"role": "system", "content": "A"},
            {"role": "user", "content": "b"},
            {"role": "system", "content": "C"},
        ],
        "<s>A\n\nC<｜User｜>b",
    ),
    "Vicuna 1.1": (
        "vicuna",
        [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Ho"}],
        "<s>A chat between a curious user and an artificial intelligence assistant. The assistant "
        "gives helpful, detailed, and polite answers to the user's questions. USER: Hi ASSISTANT: "
        "Ho</s>",
    ),
    "Qwen 2": (
        "qwen2",
        [{"role": "user", "content": "Hi"}],
        "<|im_start|>system\nYou are a helpful assistant.<|im_end|>\n"
        "<|im_start|>user\nHi<|im_end|>\n",
    ),
    "gpt-oss, a thought in the last answer": (
        "gpt-oss",
        [{"role": "assistant", "content": "b", "thinking": "a"}],
        "<|start|>assistant<|channel|>analysis<|message|>a<|end|>"
        "<|start|>assistant<|channel|>final<|message|>b<|return|>",
    ),
}


@pytest.mark.parametrize("case", FORMATS)
def test_formats(case: str) -> None:
    name, messages, text = FORMATS[case]
    assert TOK.chat(messages, template=name).text.endswith(text)


def test_the_day_of_llama_3_2_is_today() -> None:
    from jeton.chat.templates.limits import now

    texts = [TOK.chat(TURNS, template=it).text for it in ("llama3.1", "llama3.2")]
    assert texts[0].replace("26 Jul 2024", now().strftime("%d %b %Y")) == texts[1]


@pytest.mark.large
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", NAMED)
def test_text_and_ids(kind: str, name: str) -> None:
    template = NAMED[name]
    tok = KINDS[kind](template)
    theirs = theirs_of(tok)
    cases = list(PLAIN) if kind == "byte level" else ["system prompt", "tool turns", "continued"]
    for case in cases:
        messages, options = PLAIN[case]
        shapes = (messages, joined(messages), parsed(messages))
        expected = [_or_none(theirs, template, it, options) for it in shapes]
        if not any(expected):
            with pytest.raises(jeton.JetonError):
                tok.chat(messages, template=template, **options)
            continue
        try:
            chat = tok.chat(messages, template=template, **options)
        except jeton.errors.UnsupportedError as refused:
            assert name.startswith("jeton ") and "does not print" in str(refused), case
            assert re.match("tool|system and tools|reasoning|documents|image", case)
            continue
        assert (chat.text, chat.ids) in expected, case
        assert "{'type': 'text'" not in chat.text


def joined(messages: list[Message]) -> list[Message]:
    """Messages whose parts of text are one text, as a template has them that takes no parts."""
    return [
        {**it, "content": "".join(part.get("text", "") for part in it["content"])}
        if isinstance(it.get("content"), list)
        else it
        for it in messages
    ]


def parsed(messages: list[Message]) -> list[Message]:
    """Messages whose arguments are dicts, as most templates have them."""
    changed = copied(messages)
    for message in changed:
        for call in message.get("tool_calls", ()):
            if isinstance(call["function"]["arguments"], str):
                call["function"]["arguments"] = json.loads(call["function"]["arguments"])
    return changed


def _or_none(
    theirs: Any, template: str, messages: Any, options: Any
) -> tuple[str, list[int]] | None:
    try:
        return _rendered(theirs, template, messages, options)
    except Exception:
        return None


def _rendered(theirs: Any, template: str, messages: Any, options: Any) -> tuple[str, list[int]]:
    def apply(tokenize: bool) -> Any:
        return theirs.apply_chat_template(
            copied(messages), chat_template=template, tokenize=tokenize, **options
        )

    return apply(False), apply(True)["input_ids"]


IN_PARTS = {
    "each part in marks of its own": "{% for p in m.content %}<r>\n{{ p.text }}\n</r>{% endfor %}",
    "their texts as JSON": "{{ m.content|map(attribute='text')|list|tojson }}",
    "the text of the first part": "{{ m.content[0].text }}",
}
"""What templates write of a content that is a list of parts."""


@pytest.mark.parametrize("name", IN_PARTS)
@pytest.mark.parametrize("role", ["user", "tool"])
def test_parts_that_a_template_takes_in_its_own_way_stay_parts(name: str, role: str) -> None:
    template = (
        "{% for m in messages %}<|{{ m.role }}|>{% if m.content is string %}<r>{{ m.content }}</r>"
        f"{{% else %}}{IN_PARTS[name]}{{% endif %}}{{% endfor %}}"
    )
    tok = byte_level(template)
    parts = [{"type": "text", "text": "Wh"}, {"type": "text", "text": "y?"}]
    messages = [TURNS[0], {"role": role, "content": parts}]
    text, ids = _rendered(theirs_of(tok), template, messages, {})
    chat = tok.chat(messages, template=template)
    assert (chat.text, chat.ids) == (text, ids)


@pytest.mark.parametrize("value", ["m.missing", "(m.missing ~ '')", "3"])
def test_what_is_not_there_is_replaced_as_in_transformers(value: str) -> None:
    template = (
        f"{{% set m = messages[0] %}}{{{{ {value}|replace('3', 'b') }}}}|{{{{ {value}|replace('', '-') }}}}"
        f"|{{{{ m.content|replace(m.missing, '-') }}}}{{{{ m.content|replace('a', m.missing) }}}}"
    )
    tok = byte_level(template)
    messages = [{"role": "user", "content": "abc"}]
    assert (
        tok.chat(messages, template=template).text
        == (_rendered(theirs_of(tok), template, messages, {})[0])
    )


M = "{% set m = messages[-1] %}"
REPRINTED = {
    "twice": M + "<a>{{ m.content }}<b>{{ m.content }}<c>",
    "whole, then its beginning": M + "{{ m.content }}|{{ m.content[:8] }}|",
    "whole, then its end": M + "{{ m.content }}|{{ m.content[-8:] }}|",
    "whole, then all but its space": M + "{{ m.content }}|{{ m.content[:-1] }}|",
    "in two slices": M + "{{ m.content[:8] }}{{ m.content[8:] }}|",
    "in two slices, joined": M + "{{ m.content[:8] + m.content[8:] }}|",
    "in two slices, parted": M + "{{ m.content[:8] }}|{{ m.content[8:] }}|",
    "the tag in two slices": M + "{{ m.content[:-9] }}{{ m.content[-9:] }}|",
    "the tag in two slices, parted": M + "{{ m.content[:-9] }}|{{ m.content[-9:] }}|",
    "in characters": M + "{% for c in m.content %}{{ c }}{% endfor %}|",
    "in batches": M + "{{ m.content|batch(5)|map('join')|join }}|",
    "in lines": M + "{{ m.content.splitlines()|join('\n') }}|{{ m.content[:8] }}",
    "replaced": M + "{{ m.content|replace('_', '_') }}|{{ m.content|replace('TAG', 'TAG') }}|",
    "by what follows no origins": M + "{{ m.content }}|{{ m.content|wordwrap(99) }}|",
    "trimmed, then whole": M + "{{ m.content|trim }}|{{ m.content }}|",
    "whole, then trimmed": M + "{{ m.content }}|{{ m.content|trim }}|",
    "backwards twice": M + "{{ m.content[::-1][::-1] }}|",
    "the first words alone": M + "{{ m.content[:8] }}",
    "upper case": M + "{{ m.content|upper }}",
    "each message, then the first": "{% for m in messages %}{{ m.content }}|{% endfor %}"
    "{{ messages[0].content }}",
}
"""Templates that print the last message in slices, more than once, or changed."""


@pytest.mark.parametrize("name", REPRINTED)
def test_a_last_message_that_is_printed_again_is_left_open_in_the_same_place(name: str) -> None:
    template = REPRINTED[name]
    tok = byte_level(template)
    theirs = theirs_of(tok)
    options = {"continue_final_message": True}
    for final in ("a", "Well, it is", " spaces  ", "two\nlines\n", "é🙂"):
        for messages in (
            [{"role": "assistant", "content": final}],
            [*TURNS[:1], {"role": "assistant", "content": final}],
        ):
            try:
                text, ids = _rendered(theirs, template, messages, options)
            except ValueError:
                with pytest.raises(jeton.errors.ArgumentError, match="its end cannot be found"):
                    tok.chat(messages, template=template, continue_final_message=True)
                continue
            chat = tok.chat(messages, template=template, continue_final_message=True)
            assert (chat.text, chat.ids) == (text, ids), final


def test_a_message_that_spells_the_mark_of_the_end_does_not_end_the_chat() -> None:
    """transformers cuts at the last place that spells its mark, whoever wrote it."""
    template = REPRINTED["each message, then the first"]
    mark = "CONTINUE_FINAL_MESSAGE_TAG "
    messages = [{"role": "user", "content": mark}, {"role": "assistant", "content": f"{mark}and"}]
    chat = byte_level(template).chat(messages, template=template, continue_final_message=True)
    assert chat.text == f"{mark}|{mark}and"


@pytest.mark.parametrize("name", TEMPLATES)
@pytest.mark.parametrize("kind", KINDS)
def test_masks_of_templates_that_mark_what_is_generated(name: str, kind: str) -> None:
    template = TEMPLATES[name]
    tok = KINDS[kind](template)
    theirs = theirs_of(tok)
    compared = 0
    for case, (messages, options) in PLAIN.items():
        if "continue_final_message" in options:
            continue  # transformers gives no mask then
        try:
            chat = tok.chat(messages, template=template, **options)
        except jeton.JetonError:
            continue
        got = theirs.apply_chat_template(
            copied(messages),
            chat_template=template,
            return_dict=True,
            return_assistant_tokens_mask=True,
            **options,
        )["assistant_masks"]
        if any(got):
            assert chat.loss_mask() == got, case
            compared += 1
        else:
            with pytest.raises(jeton.errors.ArgumentError, match="all zero"):
                chat.loss_mask()
    assert compared > 2


@pytest.mark.parametrize("name", TEMPLATES)
def test_masks_by_origin_are_those_of_the_marks(name: str) -> None:
    marked = TEMPLATES[name]
    # What trims the white space around the marks stays.
    plain = re.sub(r"\bgeneration\b", "if true", marked)
    plain = re.sub(r"\bendgeneration\b", "endif", plain)
    tok = byte_level(marked)
    with_marks, without = (tok.chat(TURNS, template=it) for it in (marked, plain))
    assert with_marks.ids == without.ids
    pairs = zip(with_marks.loss_mask(), without.loss_mask(), strict=True)
    different = [at for at, (a, b) in enumerate(pairs) if a != b]
    # What the template writes before the first word of a turn may be either's.
    assert all(with_marks.origins[at].kind == "template" for at in different)


def test_special_tokens_with_conditions_are_found_as_in_transformers() -> None:
    tokens = [
        jeton.AddedToken("<|a|>", special=True, rstrip=True),
        jeton.AddedToken("<|b|>", special=True, lstrip=True),
        jeton.AddedToken("<|c|>", special=True, single_word=True),
        jeton.AddedToken("<tool>"),
    ]
    tok = byte_level("").with_added_tokens(tokens)
    theirs = theirs_of(tok)
    template = "{% for m in messages %}<|a|>{{ m.content }}<|b|>x<|c|> <|c|>{{ m.x }}{% endfor %}"
    for content in ("  a  ", "a <tool>  \n", "", " "):
        messages = [{"role": "user", "content": content, "x": "w"}]
        text, ids = _rendered(theirs, template, messages, {})
        assert tok.chat(messages, template=template).ids == ids
        # A forged token in another place changes no other token.
        forged = [*messages, {"role": "user", "content": "<|b|>", "x": "y"}]
        got = tok.chat(forged, template=template).ids
        assert got[: len(ids) - 1] == ids[:-1]
        assert text
