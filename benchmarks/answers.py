"""Times reading answers id by id: `parse_stream` beside `decode_stream` and openai-harmony.

    python benchmarks/answers.py
    python benchmarks/answers.py --out docs/benchmarks     # write answers.md

Needs the vocabularies of `../shared`; without openai-harmony its column is empty. An answer is read
seven times, and the best time of the processor counts: what a stream learns of an id is kept for
the streams after it.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import time
from collections.abc import Callable, Iterable
from datetime import date
from pathlib import Path
from typing import Any

import jeton

ROOT = Path(__file__).parents[1]
VOCAB = ROOT.parent / "shared" / "data" / "vocab"
ROUNDS = 7
SPECIAL = {
    "<|return|>": 200002, "<|constrain|>": 200003, "<|channel|>": 200005, "<|start|>": 200006,
    "<|end|>": 200007, "<|message|>": 200008, "<|call|>": 200012, "<tool_call>": 200013,
    "</tool_call>": 200014, "<arg_key>": 200015, "</arg_key>": 200016, "<arg_value>": 200017,
    "</arg_value>": 200018,
}  # fmt: skip
PROSE = "Hello there, the weather in Bergen is fine and the rain is falling. "
MARKED = 'It is 3°C, or 37.4 F.\n\nSo "they" say: x < 3 & y > 4. '
TOOL = {"name": "f", "parameters": {"properties": {"a": {"type": "string"}}}}


def answers() -> dict[str, tuple[str, str]]:
    """By what they are of: a format, and an answer."""
    values = {f"k{at}": [at, None, "x" * 8] for at in range(300)}
    arguments = json.dumps({"a": MARKED * 60, "o": values})
    code = Path(jeton.__file__).with_name("arguments.py")
    source = code.read_text("utf-8") if code.exists() else Path(__file__).read_text("utf-8")
    return {
        "prose": (
            "gpt-oss",
            f"<|channel|>analysis<|message|>{PROSE * 500}<|end|><|start|>assistant<|channel|>final"
            f"<|message|>{PROSE * 500}<|return|>",
        ),
        "prose with signs and lines": ("hermes", MARKED * 500),
        "code": ("hermes", source * 2),
        "calls with JSON": (
            "hermes",
            f'<tool_call>\n{{"name": "f", "arguments": {arguments}}}\n</tool_call>\n' * 3,
        ),
        "calls with text between marks": (
            "glm",
            "<tool_call>f\n<arg_key>a</arg_key>\n<arg_value>"
            f"{MARKED * 60}</arg_value>\n</tool_call>\n" * 8,
        ),
    }


def main() -> None:
    """Prints nanoseconds per token, or writes them down."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, help="the folder that answers.md is written to")
    folder = parser.parse_args().out
    if not VOCAB.is_dir():
        print("answers.py: skipped, since the vocabularies of ../shared are not here")
        return
    base = jeton.load(VOCAB / "o200k_base.tiktoken")
    ranks = {base.token_bytes(id): id for id in range(199_998)}
    tok = jeton.Tokenizer.from_ranks(ranks, pattern="o200k", special_tokens=SPECIAL)
    lines = []
    for name, (format, text) in answers().items():
        ids = tok.encode(text, special="allow")
        decoded = _nanoseconds(lambda: tok.decode_stream().push, ids)
        parsed = _nanoseconds(_stream(tok, format), ids)
        harmony = _harmony() if format == "gpt-oss" else None
        judged = f"{_nanoseconds(harmony, ids):.0f}" if harmony else ""
        times = f"{decoded:.0f} | {parsed:.0f} | {parsed / decoded:.1f} | {judged}"
        lines.append(f"| {name} | `{format}` | {len(ids):,} | {times} |\n")
    page = (
        "# Speed: answers\n\n"
        f"{date.today()}, {platform.machine()}, {os.cpu_count()} cores, Python "
        f"{platform.python_version()}; the load of the machine was {os.getloadavg()[0]:.1f}.\n"
        "Made by `python benchmarks/answers.py --out docs/benchmarks`.\n\n"
        f"Nanoseconds per token, each id pushed by itself; the best of {ROUNDS} readings, by the\n"
        "time of the processor. What a stream learns of an id is kept for the streams after it.\n"
        "Tokens that may begin or end a mark are looked at each time, and so are quotes and\n"
        "brackets of JSON: these make the difference.\n\n"
        "| answer | format | tokens | `decode_stream` | `parse_stream` | ratio "
        "| openai-harmony |\n"
        "| --- | --- | --: | --: | --: | --: | --: |\n" + "".join(lines)
    )
    if folder:
        (folder / "answers.md").write_text(page, "utf-8")
    print(page)


def _stream(tok: jeton.Tokenizer, format: str) -> Callable[[], Callable[[int], Any]]:
    return lambda: tok.parse_stream(format=format, tools=[TOOL]).push


def _nanoseconds(make: Callable[[], Callable[[int], Any]], ids: list[int]) -> float:
    return min(_seconds(make, ids) for _ in range(ROUNDS)) / len(ids) * 1e9


def _seconds(make: Callable[[], Callable[[int], Any]], ids: Iterable[int]) -> float:
    push = make()
    start = time.process_time()
    for id in ids:
        push(id)
    return time.process_time() - start


def _harmony() -> Callable[[], Callable[[int], Any]] | None:
    os.environ["TIKTOKEN_ENCODINGS_BASE"] = str(VOCAB)
    try:
        import openai_harmony
    except ImportError:
        return None
    encoding = openai_harmony.load_harmony_encoding("HarmonyGptOss")
    role = openai_harmony.Role.ASSISTANT
    return lambda: openai_harmony.StreamableParser(encoding, role).process


if __name__ == "__main__":
    main()
