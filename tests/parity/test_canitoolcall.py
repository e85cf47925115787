"""Answers of nine families of models, with what canitoolcall says that they mean.

Its cases are renderings of published templates, tests of engines and reports of their bugs. White
space around words is not compared: engines differ in it, and canitoolcall allows that.
"""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

import pytest

import jeton
from answer_cases import MARKS
from chat_cases import byte_level

canitoolcall = pytest.importorskip("canitoolcall")

CASES = Path(canitoolcall.__file__).parent / "_data" / "fixtures"
FORMATS = {
    "gemma4": "gemma4", "glm": "glm", "gpt-oss": "gpt-oss", "kimi": "kimi", "kimi/k3": "kimi-k3",
    "llama": "llama3", "llama/l4": "llama4", "mistral": "mistral", "qwen3-hermes": "hermes",
    "qwen3-xml": "qwen-coder",
}  # fmt: skip
DEEPSEEK = {
    "<｜DSML｜function_calls": "deepseek-v3.2", "<｜DSML｜tool_calls": "deepseek-v4",
    "<｜DSML｜ ": "deepseek-v4.1",
}  # fmt: skip
OPENED = {"glm/glm47": "<think>", "glm/glm53": "<think>", "kimi/k26": "<think>",
          "kimi/k3": "<|open|>think<|sep|>"}  # fmt: skip
"""What the prompt of a case ends with where the case does not say it."""
OTHERWISE = {
    "gemma4/sglang-text-around-call": "white space behind a call is dropped",
    "kimi/k2i-vllm-content-after-tool-section": "white space behind a call is dropped",
    "kimi/k2i-vllm-noise-between-markers": "text between calls is kept, as words",
    "kimi/k3-bug-response-only-completion": "its prompt is not known",
    "mistral/vllm-v11-think-text": "`<think>` in plain text is no mark of the format",
}
"""The cases in which jeton reads something else, and why."""


@functools.cache
def cases() -> list[dict[str, Any]]:
    return [
        json.loads(line)
        for path in sorted(CASES.glob("*/*.jsonl"))
        for line in path.read_text("utf-8").splitlines()
        if line.strip()
    ]


def format_of(case: dict[str, Any]) -> str:
    raw: str = case["raw_output"]
    if case["family"] == "deepseek":
        return next((name for mark, name in DEEPSEEK.items() if mark in raw), "deepseek")
    if case["family"] == "llama":
        is_python = raw.lstrip().startswith("[") or "<|python_start|>" in raw
        return FORMATS["llama/l4" if is_python or "lama-4" in str(case["models"]) else "llama"]
    known = [name for prefix, name in FORMATS.items() if case["id"].startswith(prefix)]
    return known[-1]


@functools.cache
def tokenizer() -> jeton.Tokenizer:
    return byte_level("".join(MARKS))


@pytest.mark.parametrize("family", sorted({path.parent.name for path in CASES.glob("*/*.jsonl")}))
def test_answers_mean_what_canitoolcall_says(family: str) -> None:
    tok = tokenizer()
    for case in (it for it in cases() if it["family"] == family):
        prompt = case.get("generation_prompt")
        if prompt is None:
            prompt = next((it for key, it in OPENED.items() if case["id"].startswith(key)), "")
        given: dict[str, Any] = {
            "format": format_of(case),
            "prompt": prompt,
            "tools": case.get("tools") or None,
        }
        parsed = tok.parse(case["raw_output"], **given)
        expected = case.get("expected")
        if expected is None:
            passes = "content_passthrough" in case["expected_error"].get("accept", ())
            assert parsed.finish != "stop" or passes, case["id"]
            continue
        reasoning = parsed.message.get("reasoning_content", "")
        calls = [(it.name, it.arguments) for it in parsed.calls]
        found = (parsed.content.strip(), reasoning.strip(), calls)
        assert (found == meant(expected)) == (case["id"] not in OTHERWISE), (case["id"], found)
        stream = tok.parse_stream(**given)
        for character in case["raw_output"]:
            stream.push(character)
        stream.finish()
        assert stream.parsed == parsed, case["id"]


def meant(expected: dict[str, Any]) -> tuple[str, str, list[tuple[str, Any]]]:
    calls = [(it["name"], it["arguments"]) for it in expected.get("tool_calls") or ()]
    return (
        (expected.get("content") or "").strip(),
        (expected.get("reasoning_content") or "").strip(),
        [(name, json.loads(it) if isinstance(it, str) else it) for name, it in calls],
    )
