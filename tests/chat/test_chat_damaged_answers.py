"""Answers that are damaged as models damage them: each format gives the message in a table, with a
problem wherever a mark is left over, from ids and from text, whole and as a stream.

`damaged_answers.json` next to this file is the table. After a change that is meant, write it anew by
`python tests/chat/test_chat_damaged_answers.py`, and read the difference.
"""

from __future__ import annotations

import json
import random
import re
import sys
from pathlib import Path
from typing import Any

import pytest

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1] / "support"))

from answer_cases import MARKS, WRITTEN
from chat_cases import WEATHER, byte_level
from damaged_answers import DAMAGES, damaged, shuffled, sound, strewn
from jeton.chat import FORMATS, Parsed

TABLE = Path(__file__).with_name("damaged_answers.json")
ROWS: dict[str, dict[str, dict[str, Any]]] = json.loads(TABLE.read_text("utf-8"))
TOK = byte_level("".join(MARKS))
TOKENS = re.compile("|".join(map(re.escape, sorted(TOK.special_tokens, key=len, reverse=True))))
CASES = [
    (format, damage)
    for format in FORMATS
    for damage in DAMAGES
    if damaged(format, damage) is not None
]


def _shown(parsed: Parsed) -> dict[str, Any]:
    found = {
        "content": parsed.content,
        "reasoning": parsed.message.get("reasoning_content", ""),
        "calls": [[it.name, it.arguments] for it in parsed.calls],
        "unfinished": None if parsed.unfinished is None else parsed.unfinished.name,
        "problems": [it.what for it in parsed.problems],
    }
    return {"finish": parsed.finish, **{key: it for key, it in found.items() if it}}


def _row(format: str, damage: str) -> dict[str, Any]:
    text = damaged(format, damage)
    assert text is not None
    by_ids = _shown(TOK.parse(TOK.encode(text, special="allow"), format=format, tools=[WEATHER]))
    by_text = _shown(TOK.parse(text, format=format, tools=[WEATHER]))
    return {"answer": text, **by_ids, **({} if by_text == by_ids else {"as text": by_text})}


@pytest.mark.parametrize(("format", "damage"), CASES)
def test_damaged_answers_are_read_as_the_table_says(format: str, damage: str) -> None:
    assert _row(format, damage) == ROWS[format][damage]


def test_each_format_has_its_rows() -> None:
    assert {(format, damage) for format, rows in ROWS.items() for damage in rows} == {*CASES}
    assert {*ROWS} == {*FORMATS}


@pytest.mark.parametrize(("format", "damage"), CASES)
def test_damaged_answers_lose_nothing_in_silence(format: str, damage: str) -> None:
    text = damaged(format, damage)
    assert text is not None
    _is_sound(format, text, [WEATHER], random.Random(text))
    for given in (text, TOK.encode(text, special="allow")):
        parsed = TOK.parse(given, format=format, tools=[WEATHER])
        said = parsed.content + parsed.message.get("reasoning_content", "")
        assert parsed.problems or not any(it in said for it in MARKS if it[0] in "<[")


REASONING = {
    # what opens and what ends it, in formats that have it between two marks
    name: (opening.strip(), next(iter(format.states["reasoning"].marks)).strip())
    for name, format in FORMATS.items()
    for opening, target in format.states["start"].marks.items()
    if target == "reasoning"
}


@pytest.mark.parametrize("format", REASONING)
def test_a_call_in_reasoning_without_its_end_is_read_in_every_format(format: str) -> None:
    opening, closing = REASONING[format]
    call = sound(format)
    if opening in call:
        call = call[call.index(opening) + len(opening) :].replace(closing, "", 1)
    text = f"{opening}I look.{call}"
    for given in (text, TOK.encode(text, special="allow")):
        parsed = TOK.parse(given, format=format, tools=[WEATHER])
        stream = TOK.parse_stream(format=format, tools=[WEATHER])
        for piece in given:
            stream.push(piece)
        stream.finish()
        assert stream.parsed == parsed
        assert parsed.calls and parsed.message["reasoning_content"].startswith("I look.")
        assert any("the reasoning has no end" in it.what for it in parsed.problems)


_TWO_ARGUMENTS = {
    **{format: WRITTEN[format][0][0] for format in ("qwen-coder", "seed", "minimax-m2", "glm")},
    "deepseek-v4": "<｜DSML｜tool_calls>\n"
    '<｜DSML｜invoke name="get_weather">\n<｜DSML｜parameter name="city" string="true">Bergen'
    '</｜DSML｜parameter>\n<｜DSML｜parameter name="days" string="false">3</｜DSML｜parameter>\n'
    "</｜DSML｜invoke>\n</｜DSML｜tool_calls>",
}


@pytest.mark.parametrize("format", ["qwen-coder", "seed", "minimax-m2", "deepseek-v4", "glm"])
@pytest.mark.parametrize("space", ["", "\n"])
def test_an_argument_without_its_end_is_read_up_to_the_next(format: str, space: str) -> None:
    ends = r"\s*</(?:parameter|arg_value|｜DSML｜parameter)>\s*"
    text = re.sub(ends, space, _TWO_ARGUMENTS[format], count=1)
    for given in (text, TOK.encode(text, special="allow")):
        parsed = TOK.parse(given, format=format, tools=[WEATHER])
        assert [it.arguments for it in parsed.calls] == [{"city": "Bergen", "days": 3}]
        assert parsed.finish == "malformed"


def _is_sound(format: str, text: str, tools: list[Any] | None, rng: random.Random) -> None:
    """Whether an answer is read alike in all pieces, loses nothing, and names what is left over."""
    for given in (text, TOK.encode(text, special="allow")):
        whole = TOK.parse(given, format=format, tools=tools)
        content, reasoning = whole.content, whole.message.get("reasoning_content", "")
        for most in (1, 12):
            stream, at = TOK.parse_stream(format=format, tools=tools), 0
            events = []
            while at < len(given):
                step = rng.randint(1, most)
                events += stream.push(given[at : at + step])
                at += step
            events += stream.finish()
            assert stream.parsed == whole, text
            assert "".join(it.text for it in events if it.kind == "content") == content, text
            assert "".join(it.text for it in events if it.kind == "reasoning") == reasoning, text
            for at, call in enumerate(whole.calls if not whole.problems else ()):
                said = (it.text for it in events if it.kind == "arguments" and it.call == at)
                assert json.loads("".join(said)) == call.arguments, text
        assert "".join(it.text for it in whole.parts) == text
        named = "\n".join(it.what for it in whole.problems)
        if not isinstance(given, str):
            left = [it for it in TOKENS.findall(content + reasoning) if it[:1] in ("<", "[")]
            assert all(repr(it)[1:-1] in named for it in left), (text, left, named)


@pytest.mark.parametrize("count", [20, pytest.param(120, marks=pytest.mark.large)])
@pytest.mark.parametrize("format", FORMATS)
def test_answers_in_disorder_raise_nothing_and_name_what_is_left(format: str, count: int) -> None:
    rng = random.Random(f"{format} {count}")
    for _ in range(count):
        _is_sound(format, shuffled(rng, format), rng.choice([[WEATHER], None]), rng)


def _has(parsed: Parsed, word: str) -> bool:
    calls = [(it.id, it.name, it.arguments) for it in parsed.calls]
    apart = ("rest", "call") if parsed.finish == "length" else ("rest",)
    kept = [it.text for it in parsed.parts if it.kind in apart]
    return word in repr((parsed.message, calls, parsed.unfinished, kept))


@pytest.mark.parametrize("format", FORMATS)
def test_a_word_in_a_damaged_answer_is_kept_or_a_problem(format: str) -> None:
    rng = random.Random(f"words {format}")
    for _ in range(60):
        text = strewn(rng, format, "zqz")
        for given in (text, TOK.encode(text, special="allow")):
            parsed = TOK.parse(given, format=format, tools=rng.choice([[WEATHER], None]))
            assert parsed.problems or "zqz" not in text or _has(parsed, "zqz"), text


if __name__ == "__main__":
    table: dict[str, dict[str, Any]] = {}
    for format, damage in CASES:
        table.setdefault(format, {})[damage] = _row(format, damage)
    rows = {
        format: ",\n".join(
            f"  {json.dumps(damage)}: {json.dumps(row, ensure_ascii=False)}"
            for damage, row in by_damage.items()
        )
        for format, by_damage in table.items()
    }
    written = ",\n".join(f" {json.dumps(format)}: {{\n{it}\n }}" for format, it in rows.items())
    TABLE.write_text(f"{{\n{written}\n}}\n", "utf-8")
