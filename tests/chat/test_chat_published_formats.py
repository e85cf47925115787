"""Answers with two calls in formats of published models: rendered, parsed, extended and masked.

Each template is the shortest that writes turns as the model's own does. Where the model has its own
template in `../shared`, that one is tested too (`tests/chat/test_chat_parsing.py`).
"""

from __future__ import annotations

from typing import Any

import pytest

import jeton
from answer_cases import TOOL, sampled
from chat_cases import HELLO, ROLES, WEATHER, Message, control_tokens

_ARGUMENTS: list[tuple[str, dict[str, Any]]] = [
    ("get_weather", {"city": "Bergen", "days": 3}),
    (
        "look_up",
        {
            "text": 'it\'s "b" <c>\n é',
            "count": 2,
            "ratio": -1.5,
            "flag": True,
            "items": [1, "x", None],
            "more": {"k": None, "l": [False]},
        },
    ),
]
_CALLS: list[dict[str, Any]] = [
    {
        "id": f"functions.{name}:{at}",
        "type": "function",
        "function": {"name": name, "arguments": arguments},
    }
    for at, (name, arguments) in enumerate(_ARGUMENTS)
]
_RESULTS: list[Message] = [
    {"role": "tool", "name": it["function"]["name"], "tool_call_id": it["id"], "content": "7"}
    for it in _CALLS
]


def _template(
    *,
    user: str,
    tool: str,
    begin: str,
    prompt: str = "",
    think: tuple[str, str, str] | None = None,
    words: str = "{{ m.content }}",
    calls: tuple[str, str, str] = ("", "", ""),
    call: str,
    end: str,
    between: str = "",
) -> str:
    """A template.

    Args:
        user: A turn of the user.
        tool: The result of a call.
        begin: What begins an answer.
        prompt: What else the generation prompt has.
        think: What is in front of reasoning, behind it, and in its place if there is none.
        words: The words of an answer.
        calls: What is in front of calls, between two, and behind them.
        call: A call.
        end: What ends an answer.
        between: What ends a turn that is no answer.
    """
    reasoning = ""
    if think:
        before, behind, none = think
        reasoning = (
            "{% if m.reasoning_content %}" + before + "{{ m.reasoning_content }}" + behind
        ) + ("{% else %}" + none + "{% endif %}")
    opening, separator, closing = calls
    return (
        "{% for m in messages %}{% if m.role == 'user' %}" + user + between
        + "{% elif m.role == 'tool' %}" + tool + between
        + "{% else %}" + begin + reasoning + "{% if m.content %}" + words + "{% endif %}"
        + "{% if m.tool_calls %}" + opening + "{% for c in m.tool_calls %}"
        + "{% set f = c.function %}" + call + "{% if not loop.last %}" + separator
        + "{% endif %}{% endfor %}" + closing + "{% endif %}" + end
        + "{% endif %}{% endfor %}{% if add_generation_prompt %}" + begin + prompt + "{% endif %}"
    )  # fmt: skip


def _each(argument: str, separator: str = "") -> str:
    """All arguments; in each, VALUE is text as it is and other values as JSON."""
    value = "{{ v if v is string else v|tojson }}"
    between = "{% if not loop.last %}" + separator + "{% endif %}" if separator else ""
    return (
        "{% for k, v in f.arguments.items() %}" + argument.replace("VALUE", value) + between
    ) + "{% endfor %}"


_CHATML: dict[str, Any] = {
    "user": "<|im_start|>user\n{{ m.content }}",
    "begin": "<|im_start|>assistant\n",
    "end": "<|im_end|>\n",
    "between": "<|im_end|>\n",
    "tool": "<|im_start|>tool\n{{ m.content }}",
}
_JSON = '{"name": "{{ f.name }}", "arguments": {{ f.arguments|tojson }}}'

TEMPLATES: dict[str, tuple[str, str]] = {
    "Apertus": (
        "apertus",
        _template(
            user="<|user_start|>{{ m.content }}<|user_end|>",
            tool="[{{ m.content }}]",
            begin="<|assistant_start|>",
            calls=("<|tools_prefix|>[", ", ", "]<|tools_suffix|>"),
            call='{"{{ f.name }}": {{ f.arguments|tojson }}}',
            end="{% if not m.tool_calls %}<|assistant_end|>{% endif %}",
        ),
    ),
    "Devstral 2": (
        "mistral",
        _template(
            user="[INST]{{ m.content }}[/INST]",
            tool="[TOOL_RESULTS]{{ m.content }}[/TOOL_RESULTS]",
            begin="",
            call="[TOOL_CALLS]{{ f.name }}[ARGS]{{ f.arguments|tojson }}",
            end="</s>",
        ),
    ),
    "GLM-4.5": (
        "glm",
        _template(
            user="<|user|>\n{{ m.content }}",
            tool="<|observation|>\n<tool_response>\n{{ m.content }}\n</tool_response>",
            begin="<|assistant|>",
            think=("\n<think>", "</think>", "\n<think></think>"),
            words="\n{{ m.content }}",
            call="\n<tool_call>{{ f.name }}\n"
            + _each("<arg_key>{{ k }}</arg_key>\n<arg_value>VALUE</arg_value>\n")
            + "</tool_call>",
            end="",
        ),
    ),
    "GLM-5": (
        "glm",
        _template(
            user="<|user|>{{ m.content }}",
            tool="<|observation|><tool_response>{{ m.content }}</tool_response>",
            begin="<|assistant|>",
            prompt="<think>",
            think=("<think>", "</think>", "</think>"),
            call="<tool_call>{{ f.name }}"
            + _each("<arg_key>{{ k }}</arg_key><arg_value>VALUE</arg_value>")
            + "</tool_call>",
            end="",
        ),
    ),
    "Granite 4": (
        "hermes",
        _template(
            user="<|start_of_role|>user<|end_of_role|>{{ m.content }}",
            tool="<|start_of_role|>user<|end_of_role|>\n<tool_response>\n{{ m.content }}\n"
            "</tool_response>",
            begin="<|start_of_role|>assistant<|end_of_role|>",
            words="{{ m.content }}\n",
            calls=("", "\n", ""),
            call=f"<tool_call>\n{_JSON}\n</tool_call>",
            end="<|end_of_text|>\n",
            between="<|end_of_text|>\n",
        ),
    ),
    "Hunyuan A13B": (
        "minimax",
        _template(
            user="{{ m.content }}<|extra_0|>",
            tool="<tool_response>{{ m.content }}</tool_response><|extra_0|>",
            begin="",
            calls=("<tool_calls>[", ", ", "]</tool_calls>"),
            call=_JSON,
            end="<|eos|>",
        ),
    ),
    "Hunyuan 1.8B": (
        "found",
        _template(
            user="<|hy_User|>{{ m.content }}",
            tool="<|hy_User|><tool_response>{{ m.content }}</tool_response>",
            begin="<|hy_Assistant|>",
            calls=("<tool_calls>", "\n", "</tool_calls>"),
            call="<tool_call>{{ f.name }}\n```json\n{{ f.arguments|tojson }}\n```</tool_call>",
            end="<|hy_end|>",
        ),
    ),
    "Kimi K2 Thinking": (
        "kimi",
        _template(
            user="<|im_user|>user<|im_middle|>{{ m.content }}",
            tool="<|im_system|>tool<|im_middle|>## Return of {{ m.tool_call_id }}\n{{ m.content }}",
            begin="<|im_assistant|>assistant<|im_middle|>",
            think=("<think>", "</think>", "<think></think>"),
            calls=("<|tool_calls_section_begin|>", "", "<|tool_calls_section_end|>"),
            call="<|tool_call_begin|>{{ c.id }}<|tool_call_argument_begin|>"
            "{{ f.arguments|tojson }}<|tool_call_end|>",
            end="<|im_end|>",
            between="<|im_end|>",
        ),
    ),
    "LFM2.5": (
        "lfm2",
        _template(
            **_CHATML,
            think=("<think>", "</think>", ""),
            calls=("<|tool_call_start|>[", ", ", "]<|tool_call_end|>"),
            call="{{ f.name }}("
            + _each(
                "{{ k }}={% if v is string %}'{{ v }}'{% elif v is mapping %}{{ v|tojson }}"
                "{% else %}{{ v }}{% endif %}",
                ", ",
            )
            + ")",
        ),
    ),
    "Llama 4": (
        "llama4",
        _template(
            user="<|header_start|>user<|header_end|>\n\n{{ m.content }}",
            tool="<|header_start|>ipython<|header_end|>\n\n{{ m.content|tojson }}",
            begin="<|header_start|>assistant<|header_end|>\n\n",
            words="{% if not m.tool_calls %}{{ m.content }}{% endif %}",
            calls=("<|python_start|>{{ m.content }}<|python_end|>", "", ""),
            call='{"name": "{{ f.name }}", "parameters": {{ f.arguments|tojson }}}',
            end="<|eot|>",
            between="<|eot|>",
        ),
    ),
    "MiniMax-M2": (
        "minimax-m2",
        _template(
            user="]~b]user\n{{ m.content }}",
            tool="]~b]tool\n<response>{{ m.content }}</response>",
            begin="]~b]ai\n",
            prompt="<think>\n",
            think=("<think>\n", "\n</think>\n\n", ""),
            calls=("\n<minimax:tool_call>\n", "", "</minimax:tool_call>"),
            call='<invoke name="{{ f.name }}">\n'
            + _each('<parameter name="{{ k }}">VALUE</parameter>\n')
            + "</invoke>\n",
            end="[e~[\n",
            between="[e~[\n",
        ),
    ),
    "Qwen3-Coder": (
        "qwen-coder",
        _template(
            **_CHATML,
            words="{{ m.content }}\n",
            calls=("\n", "\n", ""),
            call="<tool_call>\n<function={{ f.name }}>\n"
            + _each("<parameter={{ k }}>\nVALUE\n</parameter>\n")
            + "</function>\n</tool_call>",
        ),
    ),
    "Seed-OSS": (
        "seed",
        _template(
            user="<seed:bos>user\n{{ m.content }}",
            tool="<seed:bos>tool\n{{ m.content }}",
            begin="<seed:bos>assistant\n",
            think=("<seed:think>", "</seed:think>\n", ""),
            words="{{ m.content }}\n",
            calls=("\n", "\n", ""),
            call="<seed:tool_call>\n<function={{ f.name }}>\n"
            + _each("<parameter={{ k }}>{{ v }}</parameter>\n")  # True, [1, 'x', None]
            + "</function>\n</seed:tool_call>",
            end="<seed:eos>",
            between="<seed:eos>",
        ),
    ),
}
"""By model: its format, and a template."""
_MARKS = (
    *("[e~[", "]~b]", "<seed:bos>", "<seed:eos>", "<seed:think>", "</seed:think>"),
    *("<seed:tool_call>", "</seed:tool_call>", "<minimax:tool_call>", "</minimax:tool_call>"),
)
"""Tokens that `control_tokens` does not know."""


@pytest.mark.filterwarnings("ignore::jeton.errors.ChatWarning")
@pytest.mark.parametrize("words", ["", "I look."], ids=["calls", "words and calls"])
@pytest.mark.parametrize("model", TEMPLATES)
def test_two_calls_come_back(model: str, words: str) -> None:
    format, template = TEMPLATES[model]
    marks = [*control_tokens(template), *(it for it in _MARKS if it in template)]
    tok = jeton.Tokenizer.from_ranks(
        {bytes([byte]): byte for byte in range(256)},
        pattern="gpt2",
        special_tokens={mark: 256 + at for at, mark in enumerate(marks)},
    ).replace(roles=ROLES)
    tools = [WEATHER, TOOL]
    message = {"role": "assistant", "content": words, "tool_calls": _CALLS}
    is_reasoned = "reasoning_content" in template
    if is_reasoned:
        message["reasoning_content"] = "Hm, so."
    chat = tok.chat(HELLO, template=template, tools=tools, add_generation_prompt=True)
    ids = sampled(tok, chat, message, template=template, tools=tools)
    assert ids is not None
    stream = tok.parse_stream(prompt=chat)
    for id in ids:
        stream.push(id)
    stream.finish()
    text = tok.decode(ids)
    from_text = tok.parse(text, prompt=chat.text, template=template, tools=tools)
    for parsed in (tok.parse(ids, prompt=chat), stream.parsed, from_text):
        assert parsed.format == format and not parsed.problems
        assert parsed.content == words
        assert parsed.message.get("reasoning_content") == ("Hm, so." if is_reasoned else None)
        assert [(it.name, it.arguments) for it in parsed.calls] == _ARGUMENTS
    rollout = chat.extend(ids, messages=_RESULTS)
    again = [*HELLO, message, *_RESULTS]
    whole = tok.chat(again, template=template, tools=tools, add_generation_prompt=True)
    assert (rollout.ids, rollout.rewritten) == (whole.ids, [])
    assert sum(rollout.loss_mask()) == len(ids)
    mask = whole.loss_mask()
    first = len(chat.ids)
    assert not any(mask[:first]) and all(mask[first : first + len(ids)])
