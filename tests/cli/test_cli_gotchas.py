"""`jeton inspect --gotchas`: for people and for programs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from command_line import Run, here, run
from kinds import ranks

TOK = ranks()
ZWSP = "\u200b"
ODD = f"The p\u0430ypal{ZWSP} <|endoftext|> \u202eabc "


@pytest.fixture
def saved(here: Path) -> str:
    TOK.save("tok.json")
    return "tok.json"


def test_in_a_terminal(run: Run, saved: str) -> None:
    shown = run("inspect", saved, "--gotchas", "--text", ODD).stdout
    for said in ("look-alike", "invisible", "‹U+200B›", "CYRILLIC SMALL LETTER A", "bidi", "do "):
        assert said in shown
    assert "\u202e" not in shown and ZWSP not in shown and "\x1b" not in shown
    coloured = run("inspect", saved, "--gotchas", "--text", ODD, "--color", "always").stdout
    assert "\x1b[1;38;5;231;48;5;61m<|endoftext|>" in coloured
    assert "no gotchas" in run("inspect", saved, "--gotchas", "--text", "", "-q").stdout
    assert "look-alike" in run("inspect", saved, "--gotchas", "-", input=ODD.encode()).stdout


def test_for_programs(run: Run, saved: str) -> None:
    shown = run("inspect", saved, "--gotchas", "--text", ODD, "--format", "json").stdout
    record = json.loads(shown)
    assert [it["name"] for it in record["gotchas"]] == [it.name for it in TOK.gotchas(ODD)]
    alike = next(it for it in record["gotchas"] if it["name"] == "look-alike")
    assert alike["instead_ids"] == TOK.encode(alike["instead"])
    assert record["characters"] == len(ODD) and record["left_out"] == {}


def test_wrong_options(run: Run, saved: str) -> None:
    assert "needs a FILE" in run("inspect", saved, "--gotchas", code=2).stderr
    assert (
        "goes with --gotchas"
        in run("inspect", saved, "--text", "a", "--format", "json", code=2).stderr
    )
    run("inspect", saved, "--text", "a", "b", "--gotchas", code=2)
    assert "--rows goes with a text" in run("inspect", saved, "--rows", "3", code=2).stderr
