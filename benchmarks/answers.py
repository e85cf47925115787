"""Times reading an answer id by id: `parse_stream` beside `decode_stream` and openai-harmony.

    python benchmarks/answers.py

The answer is one of gpt-oss, some 30,000 tokens of reasoning and of words. Needs the vocabularies
of `../shared`; without openai-harmony its line is missing. The best of seven runs counts.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import jeton

VOCAB = Path(__file__).parents[2] / "shared" / "data" / "vocab"
SPECIAL = {
    "<|return|>": 200002, "<|constrain|>": 200003, "<|channel|>": 200005, "<|start|>": 200006,
    "<|end|>": 200007, "<|message|>": 200008, "<|call|>": 200012,
}  # fmt: skip
TEXT = "Hello there, the weather in Bergen is fine and the rain is falling. " * 1000


def main() -> None:
    """Prints nanoseconds per token."""
    if not VOCAB.is_dir():
        print("answers.py: skipped, since the vocabularies of ../shared are not here")
        return
    base = jeton.load(VOCAB / "o200k_base.tiktoken")
    ranks = {base.token_bytes(id): id for id in range(199_998)}
    tok = jeton.Tokenizer.from_ranks(ranks, pattern="o200k", special_tokens=SPECIAL)
    ids = tok.encode(
        f"<|channel|>analysis<|message|>{TEXT}<|end|><|start|>assistant<|channel|>final"
        f"<|message|>{TEXT}<|return|>",
        special="allow",
    )
    streams: dict[str, Callable[[], Callable[[int], Any]]] = {
        "decode_stream": lambda: tok.decode_stream().push,
        "parse_stream": lambda: tok.parse_stream(format="gpt-oss").push,
        **_harmony(),
    }
    for name, make in streams.items():
        print(f"{name:15} {min(_seconds(make, ids) for _ in range(7)) / len(ids) * 1e9:7.0f}")


def _seconds(make: Callable[[], Callable[[int], Any]], ids: Iterable[int]) -> float:
    push = make()
    start = time.perf_counter()
    for id in ids:
        push(id)
    return time.perf_counter() - start


def _harmony() -> dict[str, Callable[[], Callable[[int], Any]]]:
    os.environ["TIKTOKEN_ENCODINGS_BASE"] = str(VOCAB)
    try:
        import openai_harmony
    except ImportError:
        return {}
    encoding = openai_harmony.load_harmony_encoding("HarmonyGptOss")
    role = openai_harmony.Role.ASSISTANT
    return {"openai-harmony": lambda: openai_harmony.StreamableParser(encoding, role).process}


if __name__ == "__main__":
    main()
