"""`tok.fit_messages`: what is dropped so that a history fits."""

from __future__ import annotations

import random
from typing import Any

import pytest

from chat_cases import byte_level, call
from jeton.errors import ArgumentError, ArgumentTypeError

TEMPLATE = (
    "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}{% for c in m.tool_calls %}<|call|>"
    "{{ c.function.name }}{{ c.function.arguments|tojson }}{% endfor %}<|end|>{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
TOK = byte_level(TEMPLATE)
SYSTEM = {"role": "system", "content": "Be brief."}


def user(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def answer(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


RESULT = {"role": "tool", "content": "rain"}
HISTORY = [
    SYSTEM, user("one"), answer("1"), user("two"), call(), RESULT, answer("2"), user("three"),
    call(), RESULT, call(), RESULT,
]  # fmt: skip


def tokens(messages: list[Any]) -> int:
    return len(TOK.chat(messages, template=TEMPLATE, add_generation_prompt=True).ids)


@pytest.mark.parametrize(
    ("name", "dropped"),
    [
        ("all of it", []),
        ("without the oldest turn", [1, 2]),
        ("the next one without its calls", [1, 2, 4, 5]),
        ("without the next one", [1, 2, 3, 4, 5, 6]),
        ("without the older calls of the last turn", [1, 2, 3, 4, 5, 6, 8, 9]),
    ],
)
def test_which_turns_are_dropped(name: str, dropped: list[int]) -> None:
    left = [it for at, it in enumerate(HISTORY) if at not in dropped]
    fitted = TOK.fit_messages(HISTORY, tokens(left), template=TEMPLATE)
    assert (fitted.messages, fitted.dropped, fitted.tokens) == (left, dropped, tokens(left))
    assert all(any(it is old for old in HISTORY) for it in fitted.messages)
    assert fitted.chat.ids == TOK.chat(left, template=TEMPLATE, add_generation_prompt=True).ids


def calling(id: str | None = None) -> dict[str, Any]:
    function = {"name": "get_weather", "arguments": {"city": "Bergen"}}
    return {"role": "assistant", "content": "", "tool_calls": [{"id": id, "function": function}]}


def result(id: str | None = None) -> dict[str, Any]:
    return {**RESULT, "tool_call_id": id}


WAIT = answer("One moment.")


@pytest.mark.parametrize(
    ("name", "messages", "groups"),
    [
        ("text between", [user("1"), calling("a"), WAIT, result("a"), WAIT, user("2")], [{1, 3}]),
        ("text between, no ids", [user("1"), calling(), WAIT, result(), WAIT, user("2")], [{1, 3}]),
        (
            "two calls, no ids",
            [user("1"), calling(), calling(), result(), result(), WAIT],
            [{1, 2, 3, 4}],
        ),
        (
            "two calls, ids",
            [user("1"), calling("a"), calling("b"), result("b"), result("a"), WAIT],
            [{1, 4}, {2, 3}],
        ),
        (
            "the same id again",
            [user("1"), calling("a"), result("a"), calling("a"), result("a"), WAIT],
            [{1, 2}, {3, 4}],
        ),
        (
            "a result in a later turn",
            [user("1"), calling("a"), user("2"), WAIT, result("a"), user("3"), WAIT],
            [{1, 4}],
        ),
        (
            "an unknown id belongs to the calls before",
            [user("1"), calling("a"), result("z"), WAIT, user("2")],
            [{1, 2}],
        ),
    ],
)
def test_a_call_goes_with_its_results(
    name: str, messages: list[Any], groups: list[set[int]]
) -> None:
    seen = set()
    for limit in range(1, tokens(messages)):
        try:
            gone = set(TOK.fit_messages(messages, limit, template=TEMPLATE).dropped)
        except ArgumentError:
            continue
        assert all(group <= gone or group.isdisjoint(gone) for group in groups)
        seen |= gone
    assert set().union(*groups) <= seen


def test_no_history_is_torn_apart() -> None:
    rng = random.Random(7)
    for _ in range(60):
        messages = [SYSTEM] if rng.random() < 0.5 else []
        for _ in range(rng.randrange(1, 5)):
            messages.append(user("x" * rng.randrange(1, 30)))
            for _ in range(rng.randrange(3)):
                messages += [call(), RESULT] + [RESULT] * rng.randrange(2)
            messages += [answer("y" * rng.randrange(1, 30))] * rng.randrange(2)
        kept = rng.sample(range(len(messages)), rng.randrange(2))
        limit = rng.randrange(20, tokens(messages) + 10)
        try:
            fitted = TOK.fit_messages(messages, limit, template=TEMPLATE, keep=kept)
        except ArgumentError as error:
            assert "what must stay has" in str(error)
            continue
        gone = set(fitted.dropped)
        assert fitted.tokens == tokens(fitted.messages) <= limit
        assert not gone & {*kept, len(messages) - 1}
        for at, message in enumerate(messages):
            assert message["role"] != "system" or at not in gone
            if message["role"] == "tool":
                before = max(it for it in range(at) if messages[it].get("tool_calls"))
                assert (at in gone) == (before in gone)
        last = max(at for at, it in enumerate(messages) if it["role"] == "user")
        assert last not in gone


def test_kept_messages_stay() -> None:
    least = TOK.fit_messages(HISTORY, tokens(HISTORY) - 1, template=TEMPLATE, keep=[1])
    assert least.dropped == [4, 5]
    with pytest.raises(ArgumentError, match="what must stay has"):
        TOK.fit_messages(HISTORY, 20, template=TEMPLATE, keep=range(len(HISTORY)))
    assert TOK.fit_messages(HISTORY, 1000, template=TEMPLATE, keep=[-1]).dropped == []


def test_bad_arguments_are_refused() -> None:
    with pytest.raises(ArgumentError, match="there is no message 12"):
        TOK.fit_messages(HISTORY, 100, template=TEMPLATE, keep=[12])
    for keep in ("user", [None], 3):
        with pytest.raises(ArgumentTypeError, match=r"keep must (hold indices|be an int)"):
            TOK.fit_messages(HISTORY, 100, template=TEMPLATE, keep=keep)  # type: ignore[arg-type]
