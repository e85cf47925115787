"""Answers of models as text, by format, and messages to render by a template and parse again."""

from __future__ import annotations

import copy
import itertools
import json
import random
from dataclasses import dataclass, field
from typing import Any

import jeton
from chat_cases import HELLO, WEATHER, Message
from jeton.chat import FORMATS, Parsed
from jeton.errors import JetonError

__all__ = [
    "BROKEN",
    "TOOL",
    "WRITTEN",
    "RoundTrip",
    "end_of_prompt",
    "losses",
    "options",
    "random_message",
    "read_back",
    "rendered",
]

TOOL: dict[str, Any] = {
    "type": "function",
    "function": {
        "name": "look_up",
        "description": "Looks something up.",
        "parameters": {
            "type": "object",
            "properties": {
                "text": {"type": "string", "description": "Words."},
                "count": {"type": "integer", "description": "How many."},
                "ratio": {"type": "number", "description": "How much."},
                "flag": {"type": "boolean", "description": "Whether."},
                "more": {"type": "object", "description": "What else."},
                "items": {"type": "array", "description": "Which."},
            },
        },
    },
}


def options(template: str) -> dict[str, Any]:
    """A template with the variables that it needs; jeton's own take no tools."""
    own = template in jeton.chat.TEMPLATES.values()
    variables = {"functions": "f()", "datetime": "today"}
    arguments = variables if all(name in template for name in variables) else {}
    return {"template": template, "tools": None if own else [TOOL, WEATHER], **arguments}


_BERGEN = {"city": "Bergen", "days": 3}
_CALL = [("get_weather", _BERGEN)]

WRITTEN: dict[str, list[tuple[str, str, str, list[tuple[str, Any]]]]] = {
    "hermes": [
        ("Hello.", "Hello.", "", []),
        ("<think>\nHm.\n\n</think>\n\nYes.\n", "Yes.\n", "Hm.\n", []),
        (
            'I look.\n<tool_call>\n{"name": "get_weather", "arguments": {"city": "Bergen", '
            '"days": 3}}\n</tool_call>',
            "I look.", "", _CALL,
        ),
        (
            '<tool_call>{"arguments": {"city": "a </tool_call> b"}, "name": "get_weather"}'
            '</tool_call>\n<tool_call>\n{"name":"get_weather","arguments":"{\\"days\\": 3}"}\n'
            "</tool_call>",
            "", "", [("get_weather", {"city": "a </tool_call> b"}), ("get_weather", {"days": 3})],
        ),
    ],
    "ernie": [
        (
            "<think>\nHm.\n</think>\n\n<response>\nSo.\n</response>\n\n<tool_call>\n"
            '{"name": "get_weather", "arguments": {"city": "Bergen", "days": 3}}\n</tool_call>\n',
            "So.", "Hm.", _CALL,
        )
    ],
    "qwen-coder": [
        (
            "<tool_call>\n<function=get_weather>\n<parameter=city>\nBergen\n</parameter>\n"
            "<parameter=days>\n3\n</parameter>\n</function>\n</tool_call>",
            "", "", _CALL,
        ),
        (
            "<tool_call>\n<function=get_weather>\n<parameter=city>\na </parameter> b\n"
            "</parameter>\n</function>\n</tool_call>",
            "", "", [("get_weather", {"city": "a </parameter> b"})],
        ),
    ],
    "seed": [
        (
            "<seed:think>Hm.</seed:think>\n<seed:tool_call>\n<function=get_weather>\n"
            "<parameter=city>Bergen</parameter>\n<parameter=days>3</parameter>\n</function>\n"
            "</seed:tool_call>",
            "", "Hm.", _CALL,
        )
    ],
    "glm": [
        (
            "\n<think>Hm.</think>\nSo.\n<tool_call>get_weather\n<arg_key>city</arg_key>\n"
            "<arg_value>Bergen</arg_value>\n<arg_key>days</arg_key>\n<arg_value>3</arg_value>\n"
            "</tool_call>",
            "So.", "Hm.", _CALL,
        )
    ],
    "hunyuan": [
        (
            "<tool_calls:opensource>\n<tool_call:opensource>get_weather<tool_sep:opensource>\n"
            "<arg_key:opensource>city</arg_key:opensource>\n<arg_value:opensource>Bergen"
            "</arg_value:opensource>\n<arg_key:opensource>days</arg_key:opensource>\n"
            "<arg_value:opensource>3</arg_value:opensource>\n</tool_call:opensource>\n"
            "</tool_calls:opensource>",
            "", "", _CALL,
        )
    ],
    "minimax": [
        (
            '<tool_calls>\n{"name": "get_weather", "arguments": {"city": "Bergen", "days": 3}}\n'
            '{"name": "get_weather", "arguments": {}}\n</tool_calls>',
            "", "", [*_CALL, ("get_weather", {})],
        )
    ],
    "apriel": [
        (
            "Here are my reasoning steps:\nHm.\n[BEGIN FINAL RESPONSE]\nSo.\n<tool_calls>"
            '[{"name": "get_weather", "arguments": {"city": "Bergen", "days": 3}}]</tool_calls>',
            "So.", "Hm.", _CALL,
        )
    ],
    "minimax-m2": [
        (
            '<minimax:tool_call>\n<invoke name="get_weather">\n<parameter name="city">Bergen'
            '</parameter>\n<parameter name="days">3</parameter>\n</invoke>\n</minimax:tool_call>',
            "", "", _CALL,
        )
    ],
    "minimax-m3": [
        (
            "<mm:think>Hm.</mm:think>So.\n]<]minimax[>[<tool_call>\n"
            ']<]minimax[>[<invoke name="get_weather">]<]minimax[>[<city>Bergen]<]minimax[>[</city>'
            "]<]minimax[>[<days>3]<]minimax[>[</days>]<]minimax[>[</invoke>\n"
            "]<]minimax[>[</tool_call>",
            "So.", "Hm.", _CALL,
        ),
        (
            ']<]minimax[>[<tool_call>\n]<]minimax[>[<invoke name="get_weather">\n'
            "]<]minimax[>[<more>\n"
            "]<]minimax[>[<items>]<]minimax[>[<item>1]<]minimax[>[</item>]<]minimax[>[<item>a < b"
            "]<]minimax[>[</item>]<]minimax[>[</items>\n]<]minimax[>[<k>true]<]minimax[>[</k>\n"
            "]<]minimax[>[</more>\n]<]minimax[>[</invoke>\n]<]minimax[>[</tool_call>",
            "", "", [("get_weather", {"more": {"items": [1, "a < b"], "k": True}})],
        ),
    ],
    "kimi": [
        (
            "So.<|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:0"
            '<|tool_call_argument_begin|>{"city": "Bergen", "days": 3}<|tool_call_end|>'
            "<|tool_calls_section_end|>",
            "So.", "", _CALL,
        )
    ],
    "kimi-k3": [
        (
            "<|open|>think<|sep|>Hm.<|close|>think<|sep|><|open|>response<|sep|>So."
            '<|close|>response<|sep|><|open|>tools<|sep|><|open|>call tool="get_weather" index="1"'
            '<|sep|><|open|>argument key="city" type="string"<|sep|>Bergen<|close|>argument<|sep|>'
            '<|open|>argument key="days" type="number"<|sep|>3<|close|>argument<|sep|>'
            "<|close|>call<|sep|><|close|>tools<|sep|><|close|>message<|sep|>",
            "So.", "Hm.", _CALL,
        )
    ],
    "deepseek": [
        (
            "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>get_weather<｜tool▁sep｜>"
            '{"city": "Bergen", "days": 3}<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
            "", "", _CALL,
        ),
        (
            "So.<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>get_weather\n"
            '```json\n{"city": "Bergen", "days": 3}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
            "So.", "", _CALL,
        ),
    ],
    "deepseek-v3.2": [
        (
            '\n\n<｜DSML｜function_calls>\n<｜DSML｜invoke name="get_weather">\n<｜DSML｜parameter '
            'name="city" string="true">Bergen</｜DSML｜parameter>\n<｜DSML｜parameter name="days" '
            'string="false">3</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜function_calls>',
            "", "", _CALL,
        )
    ],
    "deepseek-v4": [
        (
            "<think>Hm.</think>So.\n\n<｜DSML｜tool_calls>\n"
            '<｜DSML｜invoke name="get_weather">\n<｜DSML｜parameter name="days" string="true">3'
            "</｜DSML｜parameter>\n</｜DSML｜invoke>\n</｜DSML｜tool_calls>",
            "So.", "Hm.", [("get_weather", {"days": "3"})],
        )
    ],
    "deepseek-v4.1": [
        (
            '<｜DSML｜ calls>\n<｜DSML｜ invoke name="get_weather">\n<｜DSML｜ parameter '
            'name="city" string="true">Bergen</｜DSML｜ parameter>\n</｜DSML｜ invoke>\n'
            "</｜DSML｜ calls>",
            "", "", [("get_weather", {"city": "Bergen"})],
        )
    ],
    "mistral": [
        (
            'So.[TOOL_CALLS]get_weather[CALL_ID]abc[ARGS]{"city": "Bergen", "days": 3}[TOOL_CALLS]'
            "get_weather[ARGS]{}",
            "So.", "", [*_CALL, ("get_weather", {})],
        ),
        (
            '[TOOL_CALLS][{"name": "get_weather", "arguments": {"city": "Bergen", "days": 3}, '
            '"id": "abc"}]',
            "", "", _CALL,
        ),
        ("[THINK]Hm.[/THINK]So.", "So.", "Hm.", []),
    ],
    "llama3": [
        ('{"name": "get_weather", "parameters": {"city": "Bergen", "days": 3}}', "", "", _CALL),
        ('<|python_tag|>get_weather(city="Bergen", days=3)', "", "", _CALL),
        ('{"name": "Bergen"}', '{"name": "Bergen"}', "", []),
        ("{}", "{}", "", []),
    ],
    "llama4": [
        (
            "[get_weather(city='Bergen', days=3), get_weather()]",
            "", "", [*_CALL, ("get_weather", {})],
        ),
        ("[get_wheat(a=1)]", "[get_wheat(a=1)]", "", []),
        (
            '<|python_start|>So.<|python_end|>{"name": "get_weather", "parameters": '
            '{"city": "Bergen", "days": 3}}',
            "So.", "", _CALL,
        ),
        (
            "<|python_start|>[get_weather(city='Bergen', days=3)]<|python_end|>So.",
            "So.", "", _CALL,
        ),
        ("<|python_start|>Is f (a) so?<|python_end|> No.", "Is f (a) so? No.", "", []),
        ('{"name": "get_weather", "parameters": {"city": "Bergen", "days": 3}}', "", "", _CALL),
    ],
    "lfm2": [
        (
            '<|tool_call_start|>[get_weather(city="B\\"\\u00e9", days=[1, {"a": None}])]'
            "<|tool_call_end|>So.",
            "So.", "", [("get_weather", {"city": 'B"é', "days": [1, {"a": None}]})],
        ),
        (
            "<|tool_call_start|>[get_weather(city='a 'b' c', days=3)]<|tool_call_end|>",
            "", "", [("get_weather", {"city": "a 'b' c", "days": 3})],
        ),
    ],
    "olmo3": [
        (
            '<function_calls>\nget_weather(city="Bergen", days=3)\nget_weather(days=-1.5e3)\n'
            "</function_calls>",
            "", "", [*_CALL, ("get_weather", {"days": -1500.0})],
        )
    ],
    "minicpm3": [
        (
            "<|thought_start|>\nHm.\n<|thought_end|>\n<|tool_call_start|>\n```python\n"
            'get_weather(city="Bergen", days=3)\nget_weather()\n```\n<|tool_call_end|>\nSo.',
            "So.", "Hm.", [*_CALL, ("get_weather", {})],
        )
    ],
    "minicpm5": [
        (
            'So.\n<function name="get_weather"><param name="city"><![CDATA[a </param> ]] b]]>'
            '</param><param name="days">3</param></function>\n<function name="get_weather">'
            '<param name="city">[a]</param></function>',
            "So.", "",
            [("get_weather", {"city": "a </param> ]] b", "days": 3}),
             ("get_weather", {"city": "[a]"})],
        )
    ],
    "granite": [
        (
            '<|tool_call|>[{"name": "get_weather", "arguments": {"city": "Bergen", "days": 3}}]',
            "", "", _CALL,
        ),
        ("<think>Hm.</think><response>So.</response>", "So.", "Hm.", []),
    ],
    "nemotron": [
        (
            '<TOOLCALL>[{"name": "get_weather", "arguments": {"city": "Bergen", "days": 3}}]'
            "</TOOLCALL>",
            "", "", _CALL,
        )
    ],
    "firefunction": [
        (
            'So. functools[{"name": "get_weather", "arguments": {"city": "Bergen", "days": 3}}]',
            "So.", "", _CALL,
        )
    ],
    "internlm": [
        (
            'So.<|action_start|><|plugin|>\n{"name": "get_weather", "parameters": '
            '{"city": "Bergen", "days": 3}}\n<|action_end|>\n',
            "So.", "", _CALL,
        )
    ],
    "command-r": [
        (
            'Action: ```json\n[{"tool_name": "get_weather", "parameters": {"city": "Bergen", '
            '"days": 3}}]\n```',
            "", "", _CALL,
        )
    ],
    "apertus": [
        (
            '<|inner_prefix|>Hm.<|inner_suffix|>So.<|tools_prefix|>[{"get_weather": {"city": '
            '"Bergen", "days": 3}}, {"get_weather": {}}]<|tools_suffix|>',
            "So.", "Hm.", [*_CALL, ("get_weather", {})],
        )
    ],
    "gemma4": [
        (
            "<|channel>thought\nHm.\n<channel|>So.<|tool_call>call:get_weather{city:"
            '<|"|>Bergen<|"|>,days:3}<tool_call|>',
            "So.", "Hm.", _CALL,
        )
    ],
    "functiongemma": [
        (
            "So.<start_function_call>call:get_weather{city:<escape>Bergen<escape>,days:3}"
            "<end_function_call>",
            "So.", "", _CALL,
        )
    ],
    "gigachat": [
        ('So.<|message_sep|>', "So.", "", []),
        (
            "So.<|message_sep|>\n\nfunction call<|role_sep|>\n"
            '{"name": "get_weather", "arguments": {"city": "Bergen", "days": 3}}<|message_sep|>',
            "So.", "", _CALL,
        ),
        (
            'function call<|role_sep|>\n{"name": "get_weather", "arguments": {"city": "Bergen", '
            '"days": 3}}<|message_sep|>',
            "", "", _CALL,
        ),
    ],
    "muse-glimmer": [
        (
            " to=self<|message|>Hm.<|eom|><|start|>assistant to=get_weather<|message|>"
            '<atem:function_calls>\n<atem:invoke name="get_weather">\n<atem:parameter name="city">'
            'Bergen</atem:parameter>\n<atem:parameter name="days">3</atem:parameter>\n'
            "</atem:invoke>\n</atem:function_calls><|eom|><|start|>assistant to=user<|message|>So.",
            "So.", "Hm.", _CALL,
        )
    ],
    "command-a": [
        (
            "<|START_THINKING|>Hm.<|END_THINKING|><|START_ACTION|>[\n    {\"tool_call_id\": \"0\", "
            '"tool_name": "get_weather", "parameters": {"city": "Bergen", "days": 3}}\n]'
            "<|END_ACTION|>",
            "", "Hm.", _CALL,
        ),
        ("<|START_RESPONSE|>So.<|END_RESPONSE|>", "So.", "", []),
    ],
    "functionary": [
        ('all\nSo.>>>get_weather\n{"city": "Bergen", "days": 3}', "So.", "", _CALL),
    ],
    "gpt-oss": [
        (
            "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final"
            "<|message|>So.<|return|>",
            "So.", "Hm.", [],
        ),
        (
            "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>commentary "
            'to=functions.get_weather <|constrain|>json<|message|>{"city": "Bergen", "days": 3}'
            "<|call|>",
            "", "Hm.", _CALL,
        ),
    ],
    "hyperclova": [
        (
            "/think\nHm.<|im_end|>\n<|im_start|>assistant\nSo.<|im_end|>\n<|im_start|>assistant "
            '-> tool/function_call\n[{"name": "get_weather", "arguments": {"city": "Bergen", '
            '"days": 3}}]<|im_end|><|stop|>\n',
            "So.", "Hm.", _CALL,
        ),
        ("\nSo.<|im_end|><|endofturn|>\n", "So.", "", []),
    ],
    "solar": [
        (
            "<|think|>Hm.<|end|><|begin|>assistant<|tool_calls|><|tool_call:begin|>abc"
            '<|tool_call:name|>get_weather<|tool_call:args|>{"city": "Bergen", "days": 3}'
            "<|tool_call:end|><|calls|>",
            "", "Hm.", _CALL,
        )
    ],
}  # fmt: skip
"""By format: answers, each with its words, its reasoning and its calls."""

BROKEN: dict[str, tuple[str, str, str, str]] = {
    # a format, an answer, how it ends, and what of it the message has somewhere
    "cut off in the words": ("hermes", "Hel", "length", "Hel"),
    "cut off in the reasoning": ("hermes", "<think>\nHm", "length", "Hm"),
    "cut off in a name": ("hermes", '<tool_call>\n{"name": "get_w', "length", ""),
    "cut off in arguments": (
        "hermes", '<tool_call>\n{"name": "get_weather", "arguments": {"city": "B', "length", '"B'
    ),
    "a brace is missing": (
        "hermes",
        '<tool_call>\n{"name": "get_weather", "arguments": {"city": "B"}\n</tool_call>',
        "malformed", '"city": "B"',
    ),
    "quotes of Python": (
        "hermes",
        "<tool_call>\n{'name': 'get_weather', 'arguments': {'city': 'B'}}\n</tool_call>",
        "malformed", "'city': 'B'",
    ),
    "no separator": (
        "hermes",
        '<tool_call>{"name": "get_weather", "arguments": {}}{"name": "get_weather", "arguments": '
        '{"days": 1}}</tool_call>',
        "malformed", "days",
    ),
    "no such tool": (
        "hermes", '<tool_call>{"name": "get_whether", "arguments": {}}</tool_call>',
        "malformed", "get_whether",
    ),
    "no name": ("hermes", '<tool_call>{"arguments": {"a": 1}}</tool_call>', "malformed", '"a": 1'),
    "words between calls": (
        "deepseek",
        "<｜tool▁calls▁begin｜>oops<｜tool▁call▁begin｜>get_weather<｜tool▁sep｜>{}"
        "<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
        "malformed", "oops",
    ),
    "arguments that are a list": (
        "mistral", "[TOOL_CALLS]get_weather[ARGS][1, 2]", "malformed", "[1, 2]"
    ),
    "a key without a value, and a value without a key": (
        "hunyuan",
        "<tool_calls:opensource><tool_call:opensource>get_weather<tool_sep:opensource>"
        "<arg_key:opensource>days</arg_key:opensource></tool_call:opensource>"
        "<tool_call:opensource>get_weather<tool_sep:opensource><arg_value:opensource>3"
        "</arg_value:opensource></tool_call:opensource></tool_calls:opensource>",
        "malformed", "get_weather",
    ),
    "a type that does not fit": (
        "glm",
        "<tool_call>get_weather\n<arg_key>days</arg_key>\n<arg_value>many</arg_value>\n</tool_call>",
        "malformed", "many",
    ),
    "a key that comes twice": (
        "hermes",
        '<tool_call>{"name": "get_weather", "arguments": {"city": "A", "city": "B"}}</tool_call>',
        "malformed", '"city": "B"',
    ),
    "an argument that comes twice": (
        "qwen-coder",
        "<tool_call>\n<function=get_weather>\n<parameter=city>\nA\n</parameter>\n"
        "<parameter=city>\nB\n</parameter>\n</function>\n</tool_call>",
        "malformed", '"city": "B"',
    ),
    "no number of JSON": (
        "hermes", '<tool_call>{"name": "get_weather", "arguments": {"days": NaN}}</tool_call>',
        "malformed", "NaN",
    ),
    "a number that is too large": (
        "hermes", '<tool_call>{"name": "get_weather", "arguments": {"days": 1e999}}</tool_call>',
        "malformed", "1e999",
    ),
    "a number of Python that is too large": (
        "lfm2", "<|tool_call_start|>[get_weather(days=1e999)]<|tool_call_end|>", "malformed",
        "1e999",
    ),
    "half of a surrogate pair": (
        "hermes",
        '<tool_call>{"name": "get_weather", "arguments": {"city": "B\\ud800"}}</tool_call>',
        "malformed", '"city": "B\\ufffd',
    ),
    "half of a surrogate pair of Python": (
        "lfm2", '<|tool_call_start|>[get_weather(city="B\\udfff\\ud83d\\ud800")]<|tool_call_end|>',
        "malformed", '"city": "B\\ufffd\\ufffd\\ufffd',
    ),
    "half of a surrogate pair in the name of an argument": (
        "mistral", '[TOOL_CALLS]get_weather[ARGS]{"ci\\ud800": "A"}', "malformed",
        '"ci\\ufffd": "A"',
    ),
    "a line break in a text of JSON": (
        "hermes",
        '<tool_call>{"name": "get_weather", "arguments": {"city": "A\nB"}}</tool_call>',
        "malformed", '"city": "A\\nB"',
    ),
    "a tab in a text of arguments that are a string": (
        "kimi",
        "<|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:0"
        '<|tool_call_argument_begin|>"{\\"city\\": \\"A\\tB\\"}"<|tool_call_end|>'
        "<|tool_calls_section_end|>",
        "malformed", '"city": "A\\tB"',
    ),
    "a line break in the name of an argument": (
        "mistral", '[TOOL_CALLS]get_weather[ARGS]{"ci\nty": "A"}', "malformed", '"ci\\nty": "A"'
    ),
    "three quotes": (
        "lfm2", "<|tool_call_start|>[get_weather(city='''a''')]<|tool_call_end|>",
        "malformed", "'''a'''",
    ),
    "an argument that is cut off": (
        "glm",
        "<tool_call>get_weather\n<arg_key>city</arg_key>\n<arg_value>Bergen</tool_call><tool_call>"
        "get_weather\n</tool_call>",
        "malformed", '"city": "Bergen',
    ),
    "Python that is none": (
        "lfm2", "<|tool_call_start|>[get_weather(city=)]<|tool_call_end|>", "malformed", "city=)"
    ),
    "a quote is missing": (
        "hermes",
        '<tool_call>{"name": "get_weather", "arguments": {"city": "Bergen}}</tool_call>',
        "malformed", "Bergen",
    ),
    "a quote of Python is missing": (
        "olmo3", '<function_calls>get_weather(city="Bergen)</function_calls>', "malformed", "Bergen"
    ),
    "a quote is missing in front of another call": (
        "mistral",
        '[TOOL_CALLS]get_weather[ARGS]{"city": "Bergen}[TOOL_CALLS]get_weather[ARGS]'
        '{"city": "Voss"}',
        "malformed", "Voss",
    ),
    "a quote of Gemma is missing": (
        "gemma4", '<|tool_call>call:get_weather{city:<|"|>Bergen}<tool_call|>', "malformed", "Berg"
    ),
    "a comma is missing": (
        "hermes", '<tool_call>{"name": "get_weather" "arguments": {"city": "Bergen"}}</tool_call>',
        "malformed", '"city": "Bergen"',
    ),
    "arguments without their key": (
        "hermes", '<tool_call>{"name": "get_weather", "city": "Bergen"}</tool_call>',
        "malformed", "get_weather",
    ),
    "a key that holds a mark": (
        "qwen-coder",
        "<tool_call>\n<function=get_weather>\n<parameter=city\nBergen\n</parameter>\n"
        "<parameter=days>\n3\n</parameter>\n</function>\n</tool_call>",
        "malformed", '"days": 3',
    ),
    "a name that holds marks": (
        "minimax-m2",
        '<minimax:tool_call>\n<invoke name="get_weather\n<parameter name="city">Bergen'
        "</parameter>\n</invoke>\n</minimax:tool_call>",
        "malformed", '"city": "Bergen"',
    ),
    "a key without its end": (
        "glm",
        "<tool_call>get_weather\n<arg_key>city<arg_value>Bergen</arg_value>\n</tool_call>",
        "malformed", '"city": "Bergen"',
    ),
    "an id without its end": (
        "solar", "<|tool_calls|><|tool_call:begin|>a<|tool_call:args|>{}<|tool_call:end|>",
        "malformed", "",
    ),
    "words in a header": (
        "gpt-oss", "<|start|>So <|channel|>final<|message|>It will.<|return|>",
        "malformed", "It will.",
    ),
    "a channel that is none": (
        "gpt-oss", "<|channel|>fnal<|message|>It will.<|return|>", "malformed", "It will."
    ),
}  # fmt: skip


@dataclass
class RoundTrip:
    """A message that a template rendered, and what it was parsed to."""

    parsed: Parsed
    content: str
    reasoning: str
    calls: list[tuple[str, Any]] = field(default_factory=list)

    @property
    def found(self) -> tuple[str, str, list[tuple[str, Any]]]:
        """The words, reasoning and calls that were read back."""
        message = self.parsed.message
        reasoning = message.get("reasoning_content", message.get("reasoning", ""))
        return (
            self.parsed.content, reasoning, [(it.name, it.arguments) for it in self.parsed.calls]
        )  # fmt: skip


def rendered(tok: jeton.Tokenizer, messages: list[Message], **options: Any) -> jeton.chat.Chat:
    """The chat, with arguments as text if the template takes them only so."""
    try:
        return tok.chat(messages, **options)
    except JetonError:
        messages = copy.deepcopy(messages)
        for message in messages:
            for call in message.get("tool_calls", ()):
                call["function"]["arguments"] = json.dumps(call["function"]["arguments"])
        return tok.chat(messages, **options)


def end_of_prompt(prompt: str, whole: str) -> int:
    """Where an answer begins in a conversation: behind what it shares with the prompt.

    Some templates write other white space in front of a turn than in the prompt that asks for it.
    """
    pairs = zip(prompt, whole, strict=False)
    shared = sum(1 for _ in itertools.takewhile(lambda it: it[0] == it[1], pairs))
    rest = prompt[shared:].strip()
    spaces = len(whole[shared:]) - len(whole[shared:].lstrip())
    return (
        shared + spaces + len(rest) if whole.startswith(rest, shared + spaces) and rest else shared
    )


def read_back(
    tok: jeton.Tokenizer, template: str, message: Message, **variables: Any
) -> RoundTrip | None:
    """A message, rendered and parsed; `None` if the template does not take it."""
    asked = [{"role": "user", "content": "Well?"}]
    arguments = {**options(template), **variables}
    try:
        prompt = tok.chat(asked, add_generation_prompt=True, **arguments)
        whole = rendered(tok, [*asked, message], **arguments)
    except JetonError:
        return None
    shared = end_of_prompt(prompt.text, whole.text)
    first = next((at for at, (_, end) in enumerate(whole.spans) if end > shared), len(whole.ids))
    is_prompt = shared == len(prompt.text) and whole.spans[first - 1][1] == shared
    parsed = tok.parse(
        whole.ids[first:],
        prompt=prompt if is_prompt else whole.text[: whole.spans[first][0]],
        template=template,
        tools=[TOOL, WEATHER],
    )
    calls = [it["function"] for it in message.get("tool_calls", ())]
    return RoundTrip(
        parsed,
        message["content"],
        message.get("reasoning_content", ""),
        [(it["name"], it["arguments"]) for it in calls],
    )


def _call(number: int, arguments: Any) -> Any:
    function = {"name": "look_up", "arguments": arguments}
    return {"id": f"callabc{number:02}", "type": "function", "function": function}


def _message(content: str = "", **more: Any) -> Message:
    return {"role": "assistant", "content": content, **more}


_ONE: dict[str, Any] = {"tool_calls": [_call(1, {"text": "a", "more": {"b": [1, None, True]}})]}
_TWO: dict[str, Any] = {"tool_calls": [_call(1, {"text": "a"}), _call(2, {"count": 2})]}
_REASON: dict[str, Any] = {"reasoning_content": "Because of it.", "reasoning": "Because of it."}


def losses(tok: jeton.Tokenizer, template: str) -> list[str]:
    """What a template does not print of an answer, or prints as something else."""
    found: list[str] = []

    def comes_back(message: Message, **variables: Any) -> RoundTrip | None:
        trip = read_back(tok, template, message, **variables)
        return trip if trip and trip.found == (trip.content, trip.reasoning, trip.calls) else None

    thinking = {"enable_thinking": True, "thinking": True}
    if not comes_back(_message("So.")):
        found.append("words")
    reasons = comes_back(_message("So.", **_REASON), **thinking)
    if not reasons:
        found.append("reasoning")
    spacy = _message("\n So.\n")
    if not comes_back(spacy) or (reasons and not comes_back({**spacy, **_REASON}, **thinking)):
        found.append("space around words")
    if not comes_back(_message(**_ONE)):
        return [*found, "calls"]
    if not comes_back(_message(**_TWO)):
        found.append("a second call")
    if not comes_back(_message("So.", **_ONE)):
        found.append("words beside a call")
    elif "space around words" not in found and not comes_back({**spacy, **_ONE}):
        found.append("space around words")
    if not comes_back(_message(**_ONE, **_REASON), **thinking):
        found.append("reasoning before a call")
    trip = read_back(tok, template, _message(**_ONE))
    if trip and trip.parsed.calls[0].id != "callabc01":
        found.append("ids of calls")
    return found


def sampled(
    tok: jeton.Tokenizer, chat: jeton.chat.Chat, message: dict[str, Any], **arguments: Any
) -> list[int] | None:
    """The ids of an answer as a model would have written it, up to its end."""
    try:
        whole = rendered(tok, [*HELLO, message], **arguments)
    except JetonError:
        return None
    pairs = zip(chat.text, whole.text, strict=False)
    shared = sum(1 for _ in itertools.takewhile(lambda it: it[0] == it[1], pairs))
    first = next((at for at, it in enumerate(whole.spans) if it[1] > shared), len(whole.ids))
    ids = whole.ids[first:]
    ends = tok.parse_stream(prompt=chat).ends
    return ids[: next((at + 1 for at, id in enumerate(ids) if id in ends), len(ids))]


_LETTERS = "ab \n\té你🙂\"'\\{}[]<>|/:,=.&\u2028"


def random_text(rng: random.Random, marks: list[str]) -> str:
    """Letters of all kinds, and marks of formats."""
    some = rng.choices(marks, k=8) if marks else []
    return "".join(rng.choices([*_LETTERS, *some], k=rng.randrange(14)))


def _value(rng: random.Random, kind: str, marks: list[str], depth: int = 0) -> Any:
    if kind == "string":
        return random_text(rng, marks)
    if kind == "integer":
        return rng.choice([0, -7, 12345678901])
    if kind == "number":
        return rng.choice([0.5, -2.25, 1e-07, 3])
    if kind == "boolean":
        return rng.random() < 0.5
    kinds = ["string", "integer", "boolean", *(["object", "array"] if depth < 2 else [])]
    values = [_value(rng, rng.choice(kinds), marks, depth + 1) for _ in range(rng.randrange(4))]
    return values if kind == "array" else {f"k{at}": it for at, it in enumerate(values)}


def random_message(
    rng: random.Random, marks: list[str], without: list[str], *, avoided: str = ""
) -> Message:
    """A random message of what a template prints.

    Args:
        rng: Where chance comes from.
        marks: Texts that it may spell.
        without: What the template does not print, as `losses` says.
        avoided: Characters that its words and its reasoning do not have.
    """

    def words() -> str:
        return random_text(rng, marks).translate(dict.fromkeys(map(ord, avoided)))

    text = words()
    message = _message("x" + text + "x" if "space around words" in without else text)
    if "reasoning" not in without and rng.random() < 0.5:
        message["reasoning_content"] = message["reasoning"] = f"r{words()}r"
    if "calls" not in without and rng.random() < 0.6:
        properties = TOOL["function"]["parameters"]["properties"]
        message["tool_calls"] = [
            _call(
                number,
                {
                    key: _value(rng, schema["type"], marks)
                    for key, schema in properties.items()
                    if rng.random() < 0.4
                },
            )
            for number in range(1 if "a second call" in without else rng.randint(1, 3))
        ]
        if "words beside a call" in without:
            message["content"] = ""
        if "reasoning before a call" in without:
            message.pop("reasoning_content", None)
            message.pop("reasoning", None)
    return message


MARKS = sorted(
    {
        mark.strip()
        for it in FORMATS.values()
        for state in it.states.values()
        for mark in state.marks
        if len(mark.strip()) > 2
    }
)
"""Every mark of every format."""
