"""The formats in which models write an answer, as data: marks, and what is between them.

Look here to add a format. `turns.py` finds the format of a template, `machine.py` reads answers by
it.

A format is a few states. A state says what its text is, and which mark leads to which state. White
space at the ends of a mark is optional: up to that much of it belongs to the mark. If a mark ends
with a bracket, and JSON or calls follow, the bracket belongs to these.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

Takes = Literal[
    "content",  # words of the answer
    "reasoning",
    "space",  # only white space
    "head",  # text that selects the next state, by `State.routes`
    "name",  # of a tool; a call begins
    "id",  # of that call
    "inside",  # only white space, within a call
    "key",  # of an argument
    "value",  # of an argument
    "close",  # the name of the argument, or of the part of one, that ends
    "json",  # all arguments of a call, as JSON
    "calls",  # calls as JSON: objects one after another, or a list
    "keyed",  # calls as JSON, each an object with its name as the key of its arguments
    "python",  # calls as Python: `[f(a=1), g()]`
    "field",  # of a description; `State.field` is the field
    "braces",  # a call as `f{a:1,b:<|"|>text<|"|>}`, with `Format.quote` around text
]

END: Final = "end"
"""The state after an answer."""


@dataclass(frozen=True)
class Shape:
    """A beginning of text that leads to another state without a mark.

    Attributes:
        steps: Regular expressions of its parts, in order. `{names}` is replaced by the names of
            the tools; without tools the shape never matches.
        state: The state that it leads to, which the text itself belongs to.
    """

    steps: tuple[str, ...]
    state: str


@dataclass(frozen=True)
class State:
    """One kind of text in an answer, and what ends it.

    Attributes:
        takes: What its text is.
        marks: The marks that end it, and the state that each leads to. `"?"` is the state that
            `routes` selects.
        done: Whether an answer that stops here is complete.
        pattern: A regular expression for the text of a name or a key, with the groups `name` and
            `id`, or `key` and `string`, which says whether the value is text.
        routes: For a head, regular expressions and states; the first that matches the whole head
            is taken. A group `name` begins a call.
        odd: Further routes; their heads are a problem.
        part: The mark that belongs to the text of a head, if it leads there.
        shapes: Beginnings of its text that lead to other states.
        trimmed: Whether white space at the beginning of its text is dropped.
        escaped: Whether a name or a key has `&quot;` for `"` and `&amp;` for `&`.
        field: The field that it is, in the format of a description; `None` if its text is dropped.
    """

    takes: Takes
    marks: Mapping[str, str] = field(default_factory=dict)
    done: bool = False
    pattern: str = ""
    routes: tuple[tuple[str, str], ...] = ()
    odd: tuple[tuple[str, str], ...] = ()
    part: str = ""
    shapes: tuple[Shape, ...] = ()
    trimmed: bool = False
    escaped: bool = False
    field: Any = None


@dataclass(frozen=True)
class Format:
    """The format of an answer.

    Attributes:
        states: Its states by name. An answer begins in `"start"`.
        quote: The mark around text in braces.
        has_ids: Whether calls have ids, which may follow the name.
        unread: Marks of calls that nobody can read: a problem among words.
    """

    name: str
    states: Mapping[str, State]
    quote: str = '<|"|>'
    has_ids: bool = False
    unread: tuple[str, ...] = ()

    @functools.cached_property
    def nests(self) -> bool:
        """Whether arguments have marks around the parts of their values too, so that only the name
        in a mark says what ends."""
        return any(it.takes == "close" for it in self.states.values())


def _tagged(
    name: str,
    begin: str,
    states: Mapping[str, State],
    *,
    think: tuple[str, str] | None = ("<think>\n", "\n</think>\n\n"),
    marks: Mapping[str, str] | None = None,
    shapes: tuple[Shape, ...] = (),
    quote: str = Format.quote,
    stops: bool = False,
    has_ids: bool = False,
) -> Format:
    """A format of words, with reasoning and calls between marks.

    Args:
        begin: The mark in front of calls; it leads to the state `calls`.
        states: The states of calls. They end in the state `after`.
        think: The marks around reasoning.
        marks: Further marks among the words.
        shapes: Beginnings of the words that lead to other states.
        quote: The mark around text in braces.
        stops: Whether the model stops behind its calls: nothing but their results follows.
        has_ids: Whether calls have ids.
    """
    common = {begin: "calls", **(marks or {})}
    reasoning = {}
    start = common
    if think:
        opening, closing = think
        common[opening] = "reasoning"
        # A prompt that asks for no reasoning has the closing mark alone.
        start = {**common, closing.lstrip(): "start"}
        reasoning = {"reasoning": State("reasoning", {closing: "start"})}
    return Format(
        name,
        {
            "start": State("content", start, shapes=shapes),
            **reasoning,
            "after": State("content", common, trimmed=True, done=stops),
            **states,
        },
        quote,
        has_ids,
    )


def _parameters(
    call: tuple[str, str, str], parameter: tuple[str, str, str], end: str
) -> dict[str, State]:
    """Calls with marks around arguments, as `<function=f><parameter=a>1</parameter></function>`.

    Args:
        call: What is in front of a name, behind it, and behind the call.
        parameter: What is in front of a key, between key and value, and behind the value.
    """
    before_name, behind_name, behind_call = call
    before_key, before_value, behind_value = parameter
    return {
        "calls": State("space", {before_name: "name", end: "after"}),
        "name": State("name", {behind_name: "call"}),
        "call": State("inside", {before_key: "key", behind_call: "calls", end: "after"}),
        "key": State("key", {before_value: "value"}),
        "value": State("value", {behind_value: "call"}),
    }


def _arguments(begin: str, sep: str, end: str, all_end: str, **more: State) -> dict[str, State]:
    """Calls as a name and JSON arguments, with marks between them."""
    return {
        "calls": State("space", {begin: "name", all_end: "after"}),
        "name": State("name", {sep: "arguments"}),
        "arguments": State("json", {end: "calls", all_end: "after"}),
        **more,
    }


def _dsml(word: str, space: str = "") -> dict[str, State]:
    begin, end = f"<｜DSML｜{space}", f"</｜DSML｜{space}"
    return _parameters(
        (f'{begin}invoke name="', '">\n', f"{end}invoke>\n"),
        (f'{begin}parameter name="', '">', f"{end}parameter>\n"),
        f"{end}{word}>",
    ) | {
        "name": State("name", {'">\n': "call", '"/>\n': "calls"}),
        "key": State(
            "key", {">": "value"}, pattern=r'(?P<key>.*?)"(?:\s+string="(?P<string>true|false)"?)?'
        ),
    }


_JSON_NAME: Final = ("\\s*", "\\{", "\\s*", '"name"', "\\s*", ":", "\\s*", '"', "{names}", '"')
_TYPED: Final = (
    *_JSON_NAME[:3],
    '"type"',
    "\\s*",
    ":",
    "\\s*",
    '"function"',
    "\\s*",
    ",",
    *_JSON_NAME[2:],
)

_LISTED: Final = ("\\s*", "\\[", *_JSON_NAME)
BARE_CALLS: Final[Mapping[str, tuple[tuple[str, ...], ...]]] = {
    "calls": (_JSON_NAME[1:], _TYPED[1:], _LISTED[1:]),
    "keyed": (("\\[", "\\s*", "\\{", "\\s*", '"', "{names}", '"', "\\s*", ":"),),
    "python": (("\\[", "\\s*", "{names}", "\\("),),
    "braces": (("call:", "{names}", "\\{"),),
}
"""How calls begin, as steps of a `Shape`, by what their state takes: they count among words too, if
what stands around them shows that only their mark is missing."""

_M3: Final = "]<]minimax[>["
"""What MiniMax-M3 writes in front of each of its tags."""

_CONTENT_TYPE: Final = r"(?:(?:\s+|\s*<\|constrain\|>\s*)\w+)?\s*"
"""What a header of gpt-oss may end with, as `<|constrain|>json`."""


def _in_channel(channel: str) -> str:
    """How a header of gpt-oss begins, by the name of its channel."""
    return rf"\s*(?:assistant\s*)?(?:<\|channel\|>\s*)?{channel}"


PLAIN: Final = Format("plain", {"start": State("content")})
"""Only words."""

FORMATS: Final[Mapping[str, Format]] = {
    it.name: it
    for it in (
        _tagged(
            "hermes",
            "\n<tool_call>\n",
            {"calls": State("calls", {"\n</tool_call>\n": "after"})},
        ),
        _tagged(
            "ernie",
            "\n<tool_call>\n",
            {
                "calls": State("calls", {"\n</tool_call>\n": "after"}),
                "response": State("content", {"\n</response>\n": "after"}),
            },
            marks={"<response>\n": "response"},
        ),
        _tagged(
            "qwen-coder",
            "\n\n<tool_call>\n",
            _parameters(
                ("<function=", ">\n", "</function>\n"),
                ("<parameter=", ">\n", "\n</parameter>\n"),
                "</tool_call>\n",
            )
            | {
                "value": State("value", {"\n</parameter>\n": "call", "\n</function>\n": "calls"}),
            },
        ),
        _tagged(
            "seed",
            "\n\n<seed:tool_call>\n",
            _parameters(
                ("<function=", ">\n", "</function>\n"),
                ("<parameter=", ">", "</parameter>\n"),
                "</seed:tool_call>\n",
            ),
            think=("<seed:think>\n", "\n</seed:think>\n"),
        ),
        _tagged(
            "glm",
            "\n<tool_call>",
            {
                "calls": State("name", {"\n<arg_key>": "key", "\n</tool_call>": "after"}),
                "call": State(
                    "inside", {"<arg_key>": "key", "<arg_value>": "value", "</tool_call>": "after"}
                ),
                "key": State("key", {"</arg_key>\n": "call"}),
                "value": State("value", {"</arg_value>\n": "call", "</tool_call>": "after"}),
            },
            think=("\n<think>", "</think>\n"),
        ),
        _tagged(
            "hunyuan",
            "<tool_calls:opensource>\n",
            {
                "calls": State(
                    "space",
                    {"<tool_call:opensource>": "name", "</tool_calls:opensource>": "after"},
                ),
                "name": State("name", {"<tool_sep:opensource>\n": "call"}),
                "call": State(
                    "inside",
                    {
                        "<arg_key:opensource>": "key",
                        "<arg_value:opensource>": "value",
                        "</tool_call:opensource>\n": "calls",
                    },
                ),
                "key": State("key", {"</arg_key:opensource>\n": "call"}),
                "value": State(
                    "value",
                    {"</arg_value:opensource>\n": "call", "</tool_call:opensource>\n": "calls"},
                ),
            },
            think=("<think:opensource>", "</think:opensource>"),
        ),
        _tagged(
            "minimax",
            "<tool_calls>\n",
            {"calls": State("calls", {"\n</tool_calls>": "after"})},
        ),
        _tagged(
            "apriel",
            "\n<tool_calls>",
            {"calls": State("calls", {"</tool_calls>": "after"})},
            think=("Here are my reasoning steps:\n", "\n[BEGIN FINAL RESPONSE]\n"),
            has_ids=True,
        ),
        _tagged(
            "minimax-m2",
            "\n<minimax:tool_call>\n",
            _parameters(
                ('<invoke name="', '">\n', "</invoke>\n"),
                ('<parameter name="', '">', "</parameter>\n"),
                "</minimax:tool_call>",
            ),
        ),
        _tagged(
            "minimax-m3",
            f"\n{_M3}<tool_call>\n",
            {
                "calls": State(
                    "space", {f'{_M3}<invoke name="': "name", f"{_M3}</tool_call>": "after"}
                ),
                "name": State("name", {'">': "call"}),
                "call": State(
                    "inside",
                    {
                        f"{_M3}<": "key",
                        f"{_M3}</": "close",
                        f"{_M3}</invoke>\n": "calls",
                        f"{_M3}</tool_call>": "after",
                    },
                ),
                "key": State("key", {">": "value"}),
                "value": State(
                    "value",
                    {
                        f"{_M3}<": "key",
                        f"{_M3}</": "close",
                        f"{_M3}</invoke>\n": "calls",
                        f"{_M3}</tool_call>": "after",
                    },
                ),
                "close": State("close", {">": "call"}),
            },
            think=("<mm:think>", "</mm:think>"),
        ),
        _tagged(
            "kimi",
            "<|tool_calls_section_begin|>",
            _arguments(
                "<|tool_call_begin|>",
                "<|tool_call_argument_begin|>",
                "<|tool_call_end|>",
                "<|tool_calls_section_end|>",
            )
            | {
                "name": State(
                    "head",
                    {"<|tool_call_argument_begin|>": "?"},
                    routes=(
                        # An id of an API, with the name among the arguments.
                        (r"\s*(?P<id>call_[^\s:.]+)\s*", "wrapped"),
                        # `.+?` would look for the end at each white space, in quadratic time.
                        (
                            r"\s*(?P<id>(?:functions\.\s*)?(?P<name>\S+?(?:\s+\S+?)*?)(?:\s*:\d+)?)\s*",
                            "arguments",
                        ),
                    ),
                ),
                "wrapped": State(
                    "calls", {"<|tool_call_end|>": "calls", "<|tool_calls_section_end|>": "after"}
                ),
            },
            think=("<think>", "</think>"),
        ),
        Format(
            "kimi-k3",
            {
                "start": State(
                    "space",
                    {
                        "<|open|>think<|sep|>": "reasoning",
                        "<|open|>response<|sep|>": "content",
                        "<|open|>tools<|sep|>": "calls",
                        "<|close|>message<|sep|>": END,
                    },
                    done=True,
                ),
                "reasoning": State("reasoning", {"<|close|>think<|sep|>": "start"}),
                "content": State("content", {"<|close|>response<|sep|>": "start"}),
                **_parameters(
                    ('<|open|>call tool="', "<|sep|>", "<|close|>call<|sep|>"),
                    ('<|open|>argument key="', "<|sep|>", "<|close|>argument<|sep|>"),
                    "<|close|>tools<|sep|>",
                ),
                "name": State(
                    "name",
                    {"<|sep|>": "call"},
                    pattern=r'(?P<name>[^"]*)"(?: index="(?P<id>[^"]*)")?',
                    escaped=True,
                ),
                "key": State(
                    "key",
                    {"<|sep|>": "value"},
                    pattern=r'(?P<key>[^"]*)"(?: type="(?P<string>[^"]*)")?',
                    escaped=True,
                ),
                "after": State("space", {"<|close|>message<|sep|>": END}, done=True),
            },
        ),
        _tagged(
            "deepseek",
            "<｜tool▁calls▁begin｜>",
            {
                "calls": State(
                    "space",
                    {"\n<｜tool▁call▁begin｜>": "head", "<｜tool▁calls▁end｜>": "after"},
                ),
                "head": State(
                    "head",
                    {"<｜tool▁sep｜>": "?"},
                    routes=(
                        (r"\s*function\s*", "name"),
                        (r"\s*(?P<name>\S(?:.*\S)?)\s*", "arguments"),
                    ),
                ),
                "name": State("name", {"\n```json\n": "fenced", "\n{": "arguments"}),
                "fenced": State("json", {"\n```": "closed", "<｜tool▁call▁end｜>": "calls"}),
                "closed": State("space", {"<｜tool▁call▁end｜>": "calls"}),
                "arguments": State(
                    "json", {"<｜tool▁call▁end｜>": "calls", "<｜tool▁calls▁end｜>": "after"}
                ),
            },
        ),
        _tagged(
            "deepseek-v3.2",
            "\n\n<｜DSML｜function_calls>\n",
            _dsml("function_calls"),
            think=("<think>", "</think>"),
        ),
        _tagged(
            "deepseek-v4",
            "\n\n<｜DSML｜tool_calls>\n",
            _dsml("tool_calls"),
            think=("<think>", "</think>"),
        ),
        _tagged(
            "deepseek-v4.1",
            "\n\n<｜DSML｜ calls>\n",
            _dsml("calls", " "),
            think=("<think>", "</think>"),
        ),
        _tagged(
            "mistral",
            "[TOOL_CALLS]",
            {
                "calls": State(
                    "name",
                    {"[CALL_ID]": "id", "[ARGS]": "arguments", "{": "arguments"},
                    shapes=(Shape(("\\s*", "\\["), "list"),),
                ),
                "id": State("id", {"[ARGS]": "arguments"}),
                "arguments": State("json", {"[TOOL_CALLS]": "calls"}, done=False),
                "list": State("calls", {"[TOOL_CALLS]": "calls"}),
            },
            think=("[THINK]", "[/THINK]"),
            has_ids=True,
        ),
        _tagged(
            "llama3",
            "<|python_tag|>",
            {
                "calls": State("calls", shapes=(Shape(("\\s*", "\\[?", r"[A-Za-z_]"), "python"),)),
                "python": State("python"),
            },
            shapes=(Shape(_JSON_NAME, "calls"), Shape(_TYPED, "calls"), Shape(_LISTED, "calls")),
        ),
        _tagged(
            "llama4",
            "<|python_start|>",
            {
                # Words in front of calls as JSON, or calls as Python.
                "calls": State(
                    "content",
                    {"<|python_end|>": "after"},
                    shapes=(Shape(("\\s*", "\\[?", "\\s*", r"[A-Za-z_][\w.]*", "\\("), "python"),),
                ),
                "python": State("python", {"<|python_end|>": "after"}),
                "after": State(
                    "content",
                    {"<|python_start|>": "calls"},
                    trimmed=True,
                    shapes=(Shape(_JSON_NAME[:4], "json"),),
                ),
                "json": State("calls", {"<|python_start|>": "calls"}),
            },
            shapes=(
                Shape(("\\s*", "\\[", "\\s*", "{names}", "\\("), "python"),
                Shape(_JSON_NAME, "json"),
            ),
        ),
        _tagged(
            "lfm2",
            "<|tool_call_start|>",
            {
                "calls": State(
                    "python",
                    {"<|tool_call_end|>": "after"},
                    shapes=(Shape(("\\s*", "\\[", "\\s*", "\\{"), "list"),),
                ),
                "list": State("calls", {"<|tool_call_end|>": "after"}),
            },
        ),
        _tagged(
            "minicpm3",
            "<|tool_call_start|>\n```python\n",
            {"calls": State("python", {"\n```\n<|tool_call_end|>\n": "after"})},
            think=("<|thought_start|>\n", "\n<|thought_end|>\n"),
        ),
        _tagged(
            "minicpm5",
            '\n<function name="',
            {
                "calls": State("name", {'">': "call"}),
                "call": State("inside", {'<param name="': "key", "</function>\n": "after"}),
                "key": State("key", {'">': "value", '"><![CDATA[': "quoted"}),
                "value": State("value", {"</param>": "call"}),
                "quoted": State("value", {"]]></param>": "call"}),
            },
        ),
        _tagged(
            "olmo3",
            "\n<function_calls>\n",
            {"calls": State("python", {"\n</function_calls>": "after"})},
        ),
        _tagged(
            "granite",
            "<|tool_call|>",
            {
                "calls": State("calls", {"<|/tool_call|>": "after"}),
                "response": State("content", {"</response>": "after"}),
            },
            marks={"<tool_call>": "calls", "<response>": "response"},
        ),
        _tagged("nemotron", "\n<TOOLCALL>", {"calls": State("calls", {"</TOOLCALL>": "after"})}),
        _tagged("firefunction", " functools[", {"calls": State("calls")}),
        _tagged(
            "internlm",
            "<|action_start|><|plugin|>\n",
            {"calls": State("calls", {"\n<|action_end|>\n": "after"})},
        ),
        _tagged(
            "command-r",
            "\nAction: ```json\n",
            {"calls": State("calls", {"\n```": "after"})},
            think=None,
        ),
        _tagged(
            "apertus",
            "<|tools_prefix|>",
            {"calls": State("keyed", {"<|tools_suffix|>": "after"})},
            think=("<|inner_prefix|>", "<|inner_suffix|>"),
            stops=True,
        ),
        _tagged(
            "gemma4",
            "<|tool_call>call:",
            {"calls": State("braces", {"<tool_call|>": "after"})},
            think=("<|channel>thought\n", "\n<channel|>"),
        ),
        _tagged(
            "functiongemma",
            "<start_function_call>call:",
            {"calls": State("braces", {"<end_function_call>": "after"})},
            think=None,
            quote="<escape>",
        ),
        Format(
            "command-a",
            {
                "start": State(
                    "content",
                    {
                        "<|START_THINKING|>": "reasoning",
                        "<|START_RESPONSE|>": "response",
                        "<|START_TEXT|>": "text",
                        "<|START_ACTION|>": "calls",
                    },
                    trimmed=True,
                ),
                "reasoning": State("reasoning", {"<|END_THINKING|>": "start"}),
                "response": State("content", {"<|END_RESPONSE|>": "after"}),
                "text": State("content", {"<|END_TEXT|>": "response"}),
                "calls": State("calls", {"<|END_ACTION|>": "after"}),
                "after": State(
                    "space",
                    {"<|START_RESPONSE|>": "response", "<|START_ACTION|>": "calls"},
                    done=True,
                ),
            },
            has_ids=True,
        ),
        Format(
            "gigachat",
            {
                "start": State(
                    "content",
                    {
                        "<|message_sep|>\n\nfunction call<|role_sep|>\n": "calls",
                        "function call<|role_sep|>\n": "calls",
                        "<|message_sep|>": END,
                    },
                ),
                "calls": State("calls", {"<|message_sep|>": END}),
            },
        ),
        Format(
            "muse-glimmer",
            {
                "start": State(
                    "head",
                    {"<|message|>": "?"},
                    routes=(
                        (r"\s*to=user\s*", "content"),
                        (r"\s*to=self\s*", "reasoning"),
                        (r"\s*to=.*", "calls"),
                    ),
                ),
                "reasoning": State("reasoning", {"<|eom|>": "between"}),
                "content": State("content", {"<|eom|>": "between"}),
                "between": State("space", {"<|start|>assistant": "start"}),
                **_parameters(
                    ('<atem:invoke name="', '">\n', "</atem:invoke>\n"),
                    ('<atem:parameter name="', '">', "</atem:parameter>\n"),
                    "</atem:function_calls>",
                ),
                "calls": State(
                    "space",
                    {
                        "<atem:function_calls>\n": "calls",
                        '<atem:invoke name="': "name",
                        "</atem:function_calls>": "after",
                    },
                ),
                "after": State("space", {"<|eom|>": "between"}),
            },
        ),
        Format(
            "functionary",
            {
                "start": State(
                    "head",
                    {"\n": "?"},
                    routes=(("all", "content"), (r"(?P<name>[^\n]+)", "arguments")),
                ),
                "content": State("content", {">>>": "start"}),
                "arguments": State("json", {">>>": "start"}),
            },
        ),
        Format(
            "gpt-oss",
            {
                "start": State(
                    "head",
                    {"<|message|>": "?", "<|end|>": "between", "<|channel|>": "start"},
                    routes=(
                        (
                            _in_channel("(?:analysis|commentary)?")
                            + r"\s*to=(?:functions\.)?(?P<name>[^\s<]+)\s*"
                            + rf"(?:<\|channel\|>\s*(?:analysis|commentary))?{_CONTENT_TYPE}",
                            "arguments",
                        ),
                        (_in_channel("analysis") + _CONTENT_TYPE, "reasoning"),
                        (_in_channel("commentary") + _CONTENT_TYPE, "preamble"),
                        (_in_channel("final") + _CONTENT_TYPE, "content"),
                        (r"\s*(?:assistant)?\s*", "content"),
                    ),
                    odd=(
                        (r".*\bto=(?:functions\.)?(?P<name>[^\s<]+).*", "arguments"),
                        (r".*analysis.*", "reasoning"),
                        (r".*commentary.*", "preamble"),
                        (r".*", "content"),
                    ),
                    part="<|channel|>",
                ),
                "reasoning": State("reasoning", {"<|end|>": "between", "<|return|>": END}),
                "preamble": State("content", {"<|end|>": "between", "<|return|>": END}),
                "content": State("content", {"<|return|>": END, "<|end|>": "answered"}),
                "arguments": State(
                    "json", {"<|call|>": "called", "<|end|>": "called", "<|return|>": END}
                ),
                "called": State("space", {"<|start|>": "start"}, done=True),
                "between": State("space", {"<|start|>": "start"}),
                "answered": State("space", {"<|start|>": "start"}, done=True),
            },
        ),
        Format(
            "hyperclova",
            {
                "start": State(
                    "head",
                    {"\n": "?"},
                    routes=(
                        (r"\s*/think\s*", "reasoning"),
                        (r"\s*-> tool/function_call\s*", "calls"),
                        (r"\s*", "content"),
                    ),
                ),
                "reasoning": State("reasoning", {"<|im_end|>\n": "between"}),
                "content": State("content", {"<|im_end|>\n": "said"}),
                "calls": State("calls", {"<|im_end|>": "called"}),
                "between": State("space", {"<|im_start|>assistant": "start"}),
                "said": State(
                    "space", {"<|im_start|>assistant": "start", "<|endofturn|>": END}, done=True
                ),
                "called": State("space", {"<|stop|>": END}, done=True),
            },
            has_ids=True,
        ),
        Format(
            "solar",
            {
                "start": State(
                    "space",
                    {
                        "<|think|>": "reasoning",
                        "<|content|>": "content",
                        "<|tool_calls|>": "calls",
                    },
                ),
                "reasoning": State("reasoning", {"<|end|>": "between"}),
                "between": State("space", {"<|begin|>assistant": "start"}),
                "content": State("content", {"<|end|>": "answered"}),
                "answered": State("space", {"<|begin|>assistant": "start"}, done=True),
                "calls": State("space", {"<|tool_call:begin|>": "id", "<|calls|>": END}),
                "id": State("id", {"<|tool_call:name|>": "name"}),
                "name": State("name", {"<|tool_call:args|>": "arguments"}),
                "arguments": State("json", {"<|tool_call:end|>": "calls", "<|calls|>": END}),
            },
        ),
    )
}
"""The formats by name."""
