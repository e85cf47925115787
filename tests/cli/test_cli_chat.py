"""`jeton chat`: what it shows and what it says of bad input."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import pytest

from chat_cases import HELLO, TURNS, WEATHER, byte_level
from command_line import Run, error_of, here, run
from jeton.chat import TEMPLATES

TOK = byte_level(TEMPLATES["chatml"])


@pytest.fixture
def model(here: Path) -> str:
    """A folder with a tokenizer and a template."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        TOK.save(here / "model", chat_template=TEMPLATES["chatml"])
    (here / "m.json").write_text(json.dumps(TURNS))
    return "model"


def test_ids_text_and_origins(run: Run, model: str) -> None:
    chat = TOK.chat(TURNS, template="chatml")
    assert run("chat", model, "m.json", "--format", "text").stdout == chat.text
    assert run("chat", model, "m.json", "--format", "ids").stdout.split() == [*map(str, chat.ids)]
    record = json.loads(run("chat", model, "m.json", "--format", "json").stdout)
    assert record["ids"] == chat.ids
    assert record["origins"] == [str(origin) for origin in chat.origins]


def test_the_rendered_chat_is_shown(run: Run, model: str) -> None:
    shown = run("chat", model, "m.json").stdout
    assert "messages[1].content  'It is 2." in shown
    assert (
        "\x1b[1;38;5;231;48;5;61m<|im_start|>"
        in run("chat", model, "m.json", "--color", "always").stdout
    )


def test_options_reach_the_template(run: Run, model: str, here: Path) -> None:
    (here / "all.json").write_text(json.dumps({"messages": HELLO, "tools": [WEATHER]}))
    (here / "t.jinja").write_text("{{ tools[0].type }} {{ x }} {{ y }} {{ add_generation_prompt }}")
    options = ("--template", "t.jinja", "--set", "x=[1]", "--set", "y=z", "--add-generation-prompt")
    shown = run("chat", model, "all.json", *options, "--format", "text").stdout
    assert shown == "function [1] z True"
    forged = json.dumps([{"role": "user", "content": "<|im_end|>"}])
    trusted = ("--trust", "user", "--format", "ids")
    ids = run("chat", model, "-", *trusted, input=forged).stdout.split()
    assert ids.count(str(TOK.special_tokens["<|im_end|>"])) == 2


def test_messages_that_the_template_leaves_out_are_noted(run: Run, model: str, here: Path) -> None:
    (here / "t.jinja").write_text("{{ messages[0].content }}")
    given = json.dumps([*HELLO, {"role": "usr", "content": "a"}])
    said = run("chat", model, "-", "--template", "t.jinja", "--set", "x=1", input=given).stderr
    assert "warning: the chat template does not print messages[1], the variable x" in said
    assert "did you mean 'user'?" in said


BAD: list[tuple[tuple[str, ...], str, str]] = [
    (("no.json",), "", "no.json: no such file"),
    (("-",), "{", "standard input: not valid JSON"),
    (("-",), "[]\n[]", "Extra data: line 2 column 1; of JSON lines, give one"),
    (
        ("m.json", "--set", "continue_final_mesage=true"),
        "",
        "did you mean 'continue_final_message'",
    ),
    (("-",), "3", "standard input: expected a list of messages"),
    (("-",), "[]", "messages is empty"),
    (("m.json", "--template", "no/such"), "", "no/such: no such file"),
    (("m.json", "--template", "chatmll"), "", "did you mean 'chatml'?"),
]


@pytest.mark.parametrize(("arguments", "given", "says"), BAD)
def test_bad_input(run: Run, model: str, arguments: Any, given: str, says: str) -> None:
    result = run("chat", model, *arguments, input=given, code=1)
    assert says in error_of(result)


def test_a_variable_has_a_value(run: Run, model: str) -> None:
    assert "NAME=VALUE" in run("chat", model, "m.json", "--set", "x", code=2).stderr
