"""Every public function, method and constructor with wrong values; every command, too.

Each gives a result or one of jeton's own errors, which names the argument.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

import jeton
import jeton.data
from jeton.cli import main
from wrong_values import TOK, Call, calls, taken_amiss

CALLS = calls()


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A folder of its own, no network, and a cache as it was."""
    limit = jeton.cache_limit()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("JETON_OFFLINE", "1")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("JETON_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("JETON_DATA_DIR", raising=False)
    TOK.save("tokenizer.json")
    yield
    jeton.set_cache_limit(limit)


@pytest.mark.large
@pytest.mark.parametrize("call", CALLS, ids=[call.name for call in CALLS])
def test_wrong_values(call: Call) -> None:
    if call.name == "Tokenizer.as_xgrammar":
        pytest.importorskip("xgrammar")
    wrong = list(taken_amiss(call))
    assert not wrong, "\n".join(wrong)


BASE = {
    "demo": ["--vocab-size", "258", "--force"],
    "train": ["in.txt", "-o", "out.json", "--vocab-size", "258", "--force"],
    "encode": ["tokenizer.json", "in.txt"],
    "decode": ["tokenizer.json", "ids.txt"],
    "count": ["tokenizer.json", "in.txt"],
    "cost": ["tokenizer.json", "in.txt", "--input-price", "2"],
    "inspect": ["tokenizer.json", "--text", "some text"],
    "check": ["tokenizer.json", "--only", "id-gap"],
    "diff": ["tokenizer.json", "tokenizer.json", "in.txt"],
    "report": ["tokenizer.json", "--corpus", "in.txt", "-o", "out.html", "--force"],
    "sweep": ["in.txt", "--sizes", "258", "--family", "bpe", "--held-out", "in.txt"],
    "convert": ["tokenizer.json", "out.json", "--force"],
    "edit prune": ["tokenizer.json", "in.txt", "-o", "out.json", "--force"],
    "edit extend": ["tokenizer.json", "in.txt", "-o", "out.json", "-n", "3", "--force"],
    "edit truncate": ["tokenizer.json", "260", "-o", "out.json", "--force"],
    "edit merge": ["tokenizer.json", "tokenizer.json", "-o", "out.json", "--force"],
    "edit add": ["tokenizer.json", "<|new|>", "-o", "out.json", "--force"],
    "prepare": ["tokenizer.json", "in.txt", "-o", "out", "--no-end-of-text"],
    "data verify": ["made"],
    "data show": ["made"],
    "data merge": ["part", "-o", "out"],
    "data mix": ["made=1", "-o", "out.json", "--force"],
    "list": [],
    "samples": [],
}
"""A line for each command that works."""

WORDS = [
    "",
    "-1",
    "nan",
    "1e999",
    "9" * 40,
    "x" * 300,
    "no/such/place",
    "~nobody/x",
    "🙂",
    "[",
    "-",
]
"""Values for options."""


@pytest.mark.large
@pytest.mark.parametrize("name", BASE)
def test_wrong_options(name: str) -> None:
    Path("in.txt").write_text("hello hello help\n", encoding="utf-8")
    Path("ids.txt").write_text("104 105\n", encoding="utf-8")
    if name.startswith("data"):
        tok = jeton.load("tokenizer.json")
        jeton.data.prepare("in.txt", tok, "made", end_of_text=None)
        jeton.data.prepare("in.txt", tok, "part", end_of_text=None, part=(1, 1))
    context = click.Context(main)
    command: click.Command | None = main
    for part in name.split():
        assert isinstance(command, click.Group)
        command = command.get_command(context, part)
    assert command is not None
    wrong: list[str] = []
    for parameter in command.params:
        if isinstance(parameter, click.Option) and not parameter.is_flag:
            option = parameter.opts[-1]
            for word in WORDS:
                told = ended([*name.split(), *BASE[name], option, word], option, word)
                if told is not None:
                    wrong.append(f"{name} {option} {word[:40]!r}: {told}")
    for position in range(len(BASE[name])):
        for word in WORDS:
            line = [*BASE[name]]
            line[position] = word
            told = ended([*name.split(), *line], None, word)
            if told is not None:
                wrong.append(f"{name} {' '.join(line)[:60]!r}: {told}")
    assert not wrong, "\n".join(wrong)


def ended(line: list[str], option: str | None, word: str) -> str | None:
    """What is wrong with how a command ends, if something is."""
    # A set is never written over.
    shutil.rmtree("out", ignore_errors=True)
    result = CliRunner().invoke(main, line, input="")
    if not isinstance(result.exception, SystemExit | None):
        return f"{type(result.exception).__name__}: {result.exception}"
    if result.exit_code not in (0, 1, 2) or "mistake in jeton" in result.stderr:
        return f"{result.exit_code}: {result.stderr[:200]}"
    if result.exit_code and option is not None:
        short = option.strip("-").replace("-", "_").removeprefix("max_").removeprefix("min_")
        told = result.stderr.replace("-", "_")
        place = word.rpartition("/")[0] or word[:30] or '""'
        named = any(name in result.stderr for name in (place, os.path.expanduser(place)))
        if short not in told and not named:
            return f"does not name it: {result.stderr[:300]}"
    return None
