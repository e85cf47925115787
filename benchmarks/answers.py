"""Times reading answers id by id: `parse_stream` beside `decode_stream` and openai-harmony.

    python benchmarks/answers.py
    python benchmarks/answers.py --out docs/benchmarks     # write answers.md

Needs the vocabularies and texts of `../shared`; without openai-harmony its column is empty. Look
here for what the answers are: real text and code, each answer of another stretch of it.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import time
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import jeton

ROOT = Path(__file__).parents[1]
DATA = ROOT.parent / "shared" / "data"
ROUNDS = 7
STRETCH = 4_500
MARKS = (
    "<tool_call> </tool_call> <think> </think> <arg_key> </arg_key> <arg_value> </arg_value> "
    "<|tool_call_start|> <|tool_call_end|>"
)
SPECIAL = {
    "<|return|>": 200002, "<|constrain|>": 200003, "<|channel|>": 200005, "<|start|>": 200006,
    "<|end|>": 200007, "<|message|>": 200008, "<|call|>": 200012,
    **{mark: 200013 + number for number, mark in enumerate(MARKS.split())},
}  # fmt: skip
TOOLS = [
    {"name": "write_file", "parameters": {"properties": {
        "path": {"type": "string"}, "text": {"type": "string"}, "mode": {"type": "integer"}}}},
    {"name": "search", "parameters": {"properties": {
        "query": {"type": "string"}, "limit": {"type": "integer"}, "tags": {"type": "array"}}}},
]  # fmt: skip


def prose(number: int, languages: str = "en", length: int = STRETCH) -> str:
    """A stretch of text, in the languages in turn."""
    parts = []
    for language in languages.split():
        text = (DATA / "text" / "parallel" / f"{language}.txt").read_text("utf-8")
        size = length // len(languages.split())
        parts.append(text[number * size : (number + 1) * size])
    return "\n\n".join(parts)


def code(number: int) -> str:
    """A file of Python's library."""
    files = sorted(Path(json.__file__).parents[1].glob("[a-z]*.py"))
    return [it for it in files if 3_000 < it.stat().st_size < 30_000][number].read_text("utf-8")


def words(number: int, count: int) -> list[str]:
    """Short texts, such as queries."""
    split = prose(number).split()
    return [" ".join(split[at * 5 : at * 5 + 5]) for at in range(count)]


def called(name: str, **arguments: Any) -> str:
    value = {"name": name, "arguments": arguments}
    return f"<tool_call>\n{json.dumps(value, ensure_ascii=False)}\n</tool_call>\n"


def tagged(name: str, **arguments: str) -> str:
    pairs = (
        f"<arg_key>{key}</arg_key>\n<arg_value>{value}</arg_value>\n"
        for key, value in arguments.items()
    )
    return f"<tool_call>{name}\n{''.join(pairs)}</tool_call>\n"


def nested(number: int) -> dict[str, Any]:
    """Objects and lists within each other, with text that JSON escapes."""
    lines = prose(number, "en de ja ru").split("\n")
    return {
        f"k{at}": {"text": line, "at": [at, None, at / 8], "more": {"quoted": f'"{line[:20]}"\n'}}
        for at, line in enumerate(lines)
    }


def channels(number: int) -> str:
    """Reasoning, then a call, and so on: turns of an agent."""
    turns = [
        f"<|channel|>analysis<|message|>{prose(number * 6 + turn, length=500)}<|end|><|start|>"
        "assistant<|channel|>commentary to=functions.search <|constrain|>json<|message|>"
        f"{json.dumps({'query': query, 'limit': 7, 'tags': ['a', 'b']})}<|call|><|start|>assistant"
        for turn, query in enumerate(words(number, 6))
    ]
    return "".join(turns) + f"<|channel|>final<|message|>{prose(number, length=500)}<|return|>"


def thoughts(number: int) -> str:
    """Reasoning, words, and three calls."""
    calls = [called("search", query=it, limit=7, tags=["a", "b"]) for it in words(number, 3)]
    thought, said = prose(number, length=1500), prose(number + 30, length=500)
    return f"<think>\n{thought}\n</think>\n\n{said}\n{''.join(calls)}"


def python(number: int) -> str:
    calls = [f"write_file(path='a/{number}.py', text={code(number)!r}, mode=420)"]
    calls += [f"search(query={it!r}, limit={at})" for at, it in enumerate(words(number, 6))]
    return f"<|tool_call_start|>[{', '.join(calls)}]<|tool_call_end|>"


def marked_file(number: int) -> str:
    return (
        "<tool_call>\n<function=write_file>\n<parameter=path>\na.py\n</parameter>\n"
        f"<parameter=text>\n{code(number)}\n</parameter>\n</function>\n</tool_call>"
    )


ANSWERS: dict[str, tuple[str, Callable[[int], str]]] = {
    # by what they are: a format, and what writes an answer of a stretch of text
    "prose in two channels": (
        "gpt-oss",
        lambda it: (
            f"<|channel|>analysis<|message|>{prose(it)}<|end|><|start|>assistant<|channel|>final"
            f"<|message|>{prose(it + 6)}<|return|>"
        ),
    ),
    "prose in eight languages": ("hermes", lambda it: prose(it, "ar de en fr ja pt ru zh")),
    "code": ("hermes", code),
    "nested JSON with escapes": ("hermes", lambda it: called("search", **nested(it))),
    "code in a call, as JSON": (
        "hermes",
        lambda it: called("write_file", path="a.py", text=code(it)),
    ),
    "code in a call, between tokens": (
        "glm",
        lambda it: tagged("write_file", path="a.py", text=code(it), mode="420"),
    ),
    "code in a call, between marks of text": ("qwen-coder", marked_file),
    "code and queries in calls, as Python": ("lfm2", python),
    "reasoning and six calls, in channels": ("gpt-oss", channels),
    "reasoning, words and three calls as JSON": ("hermes", thoughts),
    "sixteen short calls as JSON": (
        "hermes",
        lambda it: "".join(called("search", query=query) for query in words(it, 16)),
    ),
    "sixteen short calls between tokens": (
        "glm",
        lambda it: "".join(tagged("search", query=query, limit="3") for query in words(it, 16)),
    ),
}


PAGE = """# Speed: answers

{day}, {machine}, {cores} cores, Python {python}; the load of the machine was {load:.1f}.
Made by `python benchmarks/answers.py --out docs/benchmarks`.

Nanoseconds per token by the time of the processor, each id pushed by itself, the end included; the
best of {rounds}. *Ratio*: `parse_stream` by `decode_stream`. *Message*: nanoseconds per token of
`parsed`, the message with its parts; callers that use only the events do not pay for it. The bar is
5,000 for `parse_stream`: a model takes some thousand times as long for a token. Streams share no
state, so the first answer costs what each further one does.

| answer | format | tokens | parse_stream | decode_stream | ratio | message | openai-harmony |
| --- | --- | --: | --: | --: | --: | --: | --: |
{lines}"""


def main() -> None:
    """Prints nanoseconds per token, or writes them down."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, help="the folder that answers.md is written to")
    folder = parser.parse_args().out
    if not DATA.is_dir():
        print("answers.py: skipped, since the vocabularies and texts of ../shared are not here")
        return
    base = jeton.load(DATA / "vocab" / "o200k_base.tiktoken")
    ranks = {base.vocab.token_bytes(id): id for id in range(199_998)}
    tok = jeton.Tokenizer.from_ranks(ranks, pattern="o200k", special_tokens=SPECIAL)
    lines = []
    for name, (format, write) in ANSWERS.items():
        ids = tok.encode(write(0), special="allow")
        streams = [tok.parse_stream(format=format, tools=TOOLS) for _ in range(ROUNDS)]
        times = [_nanoseconds_of_answer(it, ids) for it in streams]
        parsed, message = (min(it) for it in zip(*times, strict=True))
        decoded = min(_nanoseconds(tok.decode_stream(), ids) for _ in range(ROUNDS))
        harmony = _harmony(ids) if format == "gpt-oss" else ""
        shown = (
            f"{parsed:,.0f} | {decoded:,.0f} | {parsed / decoded:.1f} | {message:,.0f} | {harmony}"
        )
        lines.append(f"| {name} | `{format}` | {len(ids):,} | {shown} |\n")
        print(lines[-1], end="", flush=True)
    page = PAGE.format(
        day=date.today(),
        machine=platform.machine(),
        cores=os.cpu_count(),
        python=platform.python_version(),
        load=os.getloadavg()[0],
        rounds=ROUNDS,
        lines="".join(lines),
    )
    if folder:
        (folder / "answers.md").write_text(page, "utf-8")


def _nanoseconds(stream: Any, ids: list[int]) -> float:
    start, push = time.process_time(), stream.push
    for id in ids:
        push(id)
    stream.finish()
    return (time.process_time() - start) / len(ids) * 1e9


def _nanoseconds_of_answer(stream: Any, ids: list[int]) -> tuple[float, float]:
    """The times of a stream, and of its message."""
    pushed, start = _nanoseconds(stream, ids), time.process_time()
    assert stream.parsed
    return pushed, (time.process_time() - start) / len(ids) * 1e9


def _harmony(ids: list[int]) -> str:
    os.environ["TIKTOKEN_ENCODINGS_BASE"] = str(DATA / "vocab")
    try:
        import openai_harmony
    except ImportError:
        return ""
    encoding = openai_harmony.load_harmony_encoding("HarmonyGptOss")

    class Parser(openai_harmony.StreamableParser):  # type: ignore[misc]
        push, finish = openai_harmony.StreamableParser.process, lambda _: None

    parsers = (Parser(encoding, openai_harmony.Role.ASSISTANT) for _ in range(ROUNDS))
    return f"{min(_nanoseconds(it, ids) for it in parsers):.0f}"


if __name__ == "__main__":
    main()
