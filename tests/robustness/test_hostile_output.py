"""What commands print of names, tokens, messages and errors that command a terminal: signs for it.

Each command runs over such things, in colour and without, and the bytes that it prints are looked
at. The strings also spell colours, markup of rich and names of emoji, which must stay text.
"""

from __future__ import annotations

import ast
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

import jeton
import jeton.data
from jeton.cli import COMMANDS, main
from jeton.cli.printing import styled, terminal_text
from jeton.display.human_readable import CONTROLS, printable
from terminals import in_a_terminal

COMMANDING = (
    "\x1b]0;t\x07\x1b[2J\x1b[5;35m\x9b31m\x7f\x0e\x08\r\u061c\u202e\u2066\u2028\u2029\u200f"
)
HOSTILE = f"h{COMMANDING}[red]:smile:"
IN_BYTES = "\udc9b"
"""A byte of a file's name that is not UTF-8: in Latin-1, the beginning of a command."""
IN_JSON = "\ud800"

_SIGN = re.compile(r"␛|\\x1b|\\u001b|\\u\{1b\}|%1B")
"""What a person sees of an escape; a `repr` and JSON have their own."""
_OURS = re.compile(r"\x1b\[[0-9;]*m")

TOKENIZER, CORPUS, CHAT, MODEL, SET, TEMPLATE, COMPARISON = (
    f"{HOSTILE}{IN_BYTES}.{end}"
    for end in ("json", "txt", "chat.json", "model", "set", "jinja", "comparison.json")
)
OTHER = f"{HOSTILE}.json"
NAMED, NAMED_CORPUS = f"{HOSTILE}={TOKENIZER}", f"{HOSTILE}={CORPUS}"
ABSENT = f"{HOSTILE}{IN_BYTES}\n.absent"

LINES = {
    "train of nothing": ["train", ABSENT, "-o", "x.json"],
    "encode": ["encode", TOKENIZER, CORPUS],
    "encode to a file": ["encode", TOKENIZER, CORPUS, "-o", f"{HOSTILE}.npy"],
    "encode what is not there": ["encode", TOKENIZER, ABSENT],
    "encode with a bad id": ["encode", TOKENIZER, CORPUS, "--special-token", f"{HOSTILE}=x"],
    "decode nothing": ["decode", TOKENIZER, ABSENT],
    "count": ["count", TOKENIZER, CORPUS],
    "count special": ["count", TOKENIZER, CORPUS, "--special", "raise"],
    "count as JSON": ["count", TOKENIZER, CORPUS, "--format", "jsonl"],
    "cost": ["cost", TOKENIZER, CORPUS, "--input-price", "2"],
    "cost as JSON": ["cost", TOKENIZER, CORPUS, "--input-price", "2", "--format", "json"],
    "cost of nothing": ["cost", ABSENT, CORPUS, "--input-price", "2"],
    "inspect": ["inspect", TOKENIZER],
    "inspect a text": ["inspect", TOKENIZER, "--text", HOSTILE, "--special", "allow"],
    "inspect a file": ["inspect", TOKENIZER, CORPUS],
    "inspect a corpus": ["inspect", TOKENIZER, "--corpus", CORPUS],
    "inspect gotchas": ["inspect", TOKENIZER, "--gotchas", "--text", HOSTILE],
    "inspect nothing": ["inspect", ABSENT],
    "check": ["check", TOKENIZER, "--all"],
    "check plain": ["check", TOKENIZER, "--all", "--format", "plain"],
    "check as JSON": ["check", TOKENIZER, "--format", "json"],
    "check as SARIF": ["check", OTHER, "--format", "sarif"],
    "compare": ["compare", NAMED, f"b={OTHER}", "--corpus", NAMED_CORPUS],
    "compare as JSON": ["compare", NAMED, "--corpus", NAMED_CORPUS, "--format", "json"],
    "compare nothing": ["compare", NAMED, "--corpus", f"{HOSTILE}={ABSENT}"],
    "diff": ["diff", TOKENIZER, OTHER, CORPUS],
    "diff of nothing": ["diff", TOKENIZER, ABSENT, CORPUS],
    "report": ["report", NAMED, "--corpus", NAMED_CORPUS, "-o", f"{HOSTILE}.html"],
    "report of nothing": ["report", "--from", ABSENT, "-o", "x.html"],
    "sweep": ["sweep", CORPUS, "--sizes", "300,310"],
    "sweep of nothing": ["sweep", ABSENT, "--sizes", "300"],
    "play": ["play", HOSTILE],
    "learn bpe": ["learn", "bpe", HOSTILE, "--all"],
    "learn bytes": ["learn", "bytes", HOSTILE, "--all"],
    "learn encode": ["learn", "encode", TOKENIZER, HOSTILE, "--all", "--special", "allow"],
    "learn with a page": ["learn", "bytes", "a", "--html", f"{HOSTILE}.html"],
    "chat": ["chat", TOKENIZER, CHAT, "--template", "chatml"],
    "chat as JSON": ["chat", TOKENIZER, CHAT, "--template", "chatml", "--format", "json"],
    "chat whose template fails": ["chat", TOKENIZER, CHAT, "--template", TEMPLATE],
    "chat of an unknown role": ["chat", TOKENIZER, CHAT, "--template", "llama2"],
    "chat of nothing": ["chat", TOKENIZER, ABSENT],
    "convert to what it is not": ["convert", TOKENIZER, f"{HOSTILE}.vocab.txt"],
    "prepare": ["prepare", TOKENIZER, CORPUS, "-o", "set", "--no-end-of-text"],
    "prepare nothing": ["prepare", TOKENIZER, ABSENT, "-o", "set"],
    "data show": ["data", "show", SET],
    "data show tokens": ["data", "show", SET, "--at", "0", "--tokens", "60"],
    "data verify": ["data", "verify", SET],
    "data of nothing": ["data", "show", ABSENT],
    "edit what is there": ["edit", "add", TOKENIZER, HOSTILE, "-o", "x.json"],
    "edit with a model": ["edit", "truncate", TOKENIZER, "280", "-o", "y", "--model", MODEL],
    "samples into what is there": ["samples", "essays", "-o", CORPUS],
    "list": ["list"],
    "demo into what is there": ["demo", "--out", SET],
    "fetch what is not there": ["fetch", HOSTILE],
    "an unknown command": [HOSTILE],
    "an unknown option": ["list", f"--{HOSTILE}"],
    "an unknown kind": ["list", HOSTILE],
}

SILENT = {"encode", "sweep", "prepare", "list"}
"""Those that print nothing of a stranger."""


@pytest.fixture(scope="module")
def hostile_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hostile")
    text = f"{HOSTILE} told a tale {COMMANDING * 3}\n" * 5
    trainer = jeton.BPETrainer(300, special_tokens=[HOSTILE, "<|im_start|>", "<|im_end|>"])
    trainer.train([text]).save(folder / TOKENIZER)
    jeton.BPETrainer(270).train([text]).save(folder / OTHER)
    (folder / CORPUS).write_text(text, encoding="utf-8", newline="")
    chat = [{"role": HOSTILE, "content": HOSTILE}, {"role": "user", "content": HOSTILE + IN_JSON}]
    (folder / CHAT).write_text(json.dumps(chat[:1]))
    (folder / TEMPLATE).write_text("{{ raise_exception(messages[0].content) }}")
    (folder / MODEL).mkdir()
    (folder / MODEL / "config.json").write_text(json.dumps({"vocab_size": HOSTILE}))
    tok = jeton.load(folder / TOKENIZER)
    jeton.data.prepare([folder / CORPUS], tok, folder / SET, end_of_text=None)
    return folder


def test_every_command_is_run() -> None:
    lines = [*LINES.values(), *DATA.values()]
    assert {line[0] for line in lines} >= set(COMMANDS)


@pytest.mark.parametrize("colour", ["always", "never"])
@pytest.mark.parametrize("name", LINES)
def test_nothing_commands_the_terminal(
    hostile_folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    colour: str,
) -> None:
    monkeypatch.chdir(hostile_folder)
    line = LINES[name]
    before = set(os.listdir())
    options = [] if line[0] not in COMMANDS else ["--color", colour]
    done = CliRunner().invoke(main, [*line, *options], catch_exceptions=False)
    printed = (done.stdout_bytes + done.stderr_bytes).decode()
    _check(printed)
    assert (name in SILENT) == (_SIGN.search(printed) is None), printed
    for new in map(Path, set(os.listdir()) - before):
        shutil.rmtree(new) if new.is_dir() else new.unlink()


_ISOLATED = re.compile("\u2068(?=[^\u2068\u2069\\n]*\u2069)|(?<=[^\u2068\u2069\\n])\u2069")
"""What keeps text that runs from right to left apart from the rest of its line."""


def _check(printed: str) -> None:
    """No control character but line ends, tabs and colours, and no colour of the hostile string."""
    assert "\x1b[5;35m" not in printed
    plain = _ISOLATED.sub("", _OURS.sub("", printed))
    controls = sorted({hex(ord(it)) for it in plain if ord(it) in CONTROLS} - {"0x9", "0xa"})
    assert not controls, repr(printed)


DATA = {
    "chat --format text": ["chat", TOKENIZER, CHAT, "--template", "chatml", "--format", "text"],
    "decode": ["decode", TOKENIZER, "ids.txt"],
    "data show --text": ["data", "show", SET, "--at", "0", "--tokens", "60", "--text"],
    "cost --format plain": [
        "cost", TOKENIZER, CORPUS, "--input-price", "2", "--format", "plain",
    ],
    "cost --format csv": ["cost", TOKENIZER, CORPUS, "--input-price", "2", "--format", "csv"],
    "edit": ["edit", "truncate", TOKENIZER, "280", "--force", "-o", f"new {HOSTILE}.json"],
    "convert": ["convert", TOKENIZER, "--force", f"{HOSTILE}.tiktoken"],
    "train": ["train", CORPUS, "--force", "-o", f"new {HOSTILE}.json", "--vocab-size", "300"],
    "samples": ["samples", "essays", "--force", "-o", f"new {HOSTILE}.txt"],
}  # fmt: skip


@pytest.mark.large
@pytest.mark.parametrize("line", DATA.values(), ids=DATA.keys())
def test_data_is_exact_in_a_pipe_and_safe_on_a_terminal(
    hostile_folder: Path, monkeypatch: pytest.MonkeyPatch, line: list[str]
) -> None:
    monkeypatch.chdir(hostile_folder)
    ids = jeton.load(TOKENIZER).encode(HOSTILE)
    Path("ids.txt").write_text(" ".join(map(str, ids)))
    command = [sys.executable, "-m", "jeton", *line]
    piped = subprocess.run(command, capture_output=True, check=True).stdout
    assert HOSTILE.encode() in piped
    code, printed = in_a_terminal(*line)
    assert code == 0
    shown_there = printed.replace("\r\n", "\n")
    _check(shown_there)
    assert _SIGN.search(shown_there)


def test_json_holds_exactly_what_it_says(
    hostile_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(hostile_folder)
    arguments = ["chat", TOKENIZER, CHAT, "--template", "chatml", "--format", "json"]
    record = json.loads(CliRunner().invoke(main, arguments).stdout)
    made = jeton.load(TOKENIZER).chat(json.loads(Path(CHAT).read_text()), template="chatml")
    assert (record["text"], record["ids"]) == (made.text, made.ids)
    assert HOSTILE in record["text"]


def test_only_own_colours_pass() -> None:
    coloured = styled(f"a{COMMANDING}", bold=True) + COMMANDING
    assert terminal_text(coloured, colour=True) == (
        f"\x1b[1ma{printable(COMMANDING)}\x1b[0m{printable(COMMANDING)}"
    )
    assert (
        terminal_text(coloured, colour=False) == f"a{printable(COMMANDING)}{printable(COMMANDING)}"
    )


@pytest.mark.parametrize(
    "character",
    [*map(chr, [*range(9), *range(11, 32), *range(127, 160)]), *"\u061c\u200e\u200f\u2028\u2029",
     *map(chr, [*range(0x202A, 0x202F), *range(0x2066, 0x206A)]), "\ud800", "\udc9b", "\udfff"],
    ids=lambda it: f"U+{ord(it):04X}",
)  # fmt: skip
def test_each_such_character_has_a_sign(character: str) -> None:
    sign = printable(f"a{character}b").removeprefix("a").removesuffix("b")
    assert sign and character not in sign and sign.encode()


def test_commands_print_by_one_module() -> None:
    """Only `jeton.cli.printing` writes text to a standard stream."""
    around = []
    for path in Path(jeton.__file__).parent.joinpath("cli").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call) or path.name == "printing.py":
                continue
            called = ast.unparse(node.func)
            if called in ("print", "click.echo", "click.secho", "click.style", "sys.stdout.write",
                          "sys.stderr.write"):  # fmt: skip
                around.append(f"{path.name}: {called}")
    assert not around
