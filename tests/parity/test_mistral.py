"""Answers of Mistral's models as mistral-common writes them, read back from their ids."""

from __future__ import annotations

import functools
import json
import random
from pathlib import Path
from typing import Any

import pytest

import jeton
from conftest import Scale

mistral_common = pytest.importorskip("mistral_common")

DATA = Path(mistral_common.__file__).parent / "data"
WORDS = ["So", " it is\n", "é🙂", "[TOOL_CALLS]", "[ARGS]", '{"a": 1}', "</s>", " [", "\n\n"]
NAMED = {32: "[ARGS]", 33: "[CALL_ID]", 34: "[THINK]", 35: "[/THINK]"}
VERSIONS = ["v3", "v7", "v11", "v13"]
TOOL = {
    "name": "look_up",
    "parameters": {"properties": {"text": {"type": "string"}, "more": {"type": "array"}}},
}


@functools.cache
def vocabulary() -> dict[str, Any]:
    values: dict[str, Any] = json.loads((DATA / "tekken_240911.json").read_text("utf-8"))
    return values


def written(version: str, folder: Path) -> Path:
    """A vocabulary of that version, with the control tokens that it has."""
    from mistral_common.tokens.tokenizers.tekken import Tekkenizer

    values = vocabulary()
    known = Tekkenizer.from_file(DATA / "tekken_240911.json")
    count = values["config"]["default_num_special_tokens"]
    names = [NAMED.get(rank, known.id_to_piece(rank)) for rank in range(count)]
    special = [
        {"rank": rank, "token_str": name, "is_control": True} for rank, name in enumerate(names)
    ]
    path = folder / "tekken.json"
    config = {**values["config"], "version": version}
    path.write_text(json.dumps({**values, "config": config, "special_tokens": special}), "utf-8")
    return path


@pytest.mark.large
@pytest.mark.parametrize("version", VERSIONS)
def test_answers_are_those_that_mistral_common_writes(
    version: str, tmp_path: Path, scale: Scale
) -> None:
    from mistral_common.protocol.instruct import messages, tool_calls
    from mistral_common.tokens.tokenizers import instruct
    from mistral_common.tokens.tokenizers.tekken import Tekkenizer

    path = written(version, tmp_path)
    judge = getattr(instruct, f"InstructTokenizer{version.upper()}")(Tekkenizer.from_file(path))
    tok = jeton.load(path)
    rng = random.Random(version)

    def words() -> str:
        return "".join(rng.choices(WORDS, k=rng.randrange(1, 6)))

    for _ in range(scale.pipeline_strings):
        calls = [
            {"text": words(), "more": [rng.randrange(9), None, {"k": words()}]}
            for _ in range(rng.randrange(3))
        ]
        # The third version has either words or calls.
        content = words() if not calls or (version != "v3" and rng.random() < 0.5) else None
        message = messages.AssistantMessage(
            content=content,
            tool_calls=[
                tool_calls.ToolCall(
                    id=f"abcdefgh{number}",
                    function=tool_calls.FunctionCall(name="look_up", arguments=json.dumps(it)),
                )
                for number, it in enumerate(calls)
            ]
            or None,
        )
        ids = judge.encode_assistant_message(message, is_before_last_user_message=False)
        parsed = tok.parse(ids, format="mistral", tools=[TOOL])
        assert [(it.name, it.arguments) for it in parsed.calls] == [
            ("look_up", it) for it in calls
        ], tok.decode(ids)
        assert parsed.content.strip() == (content or "").strip()
        assert parsed.finish in ("stop", "tool_calls")
