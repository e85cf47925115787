"""The command line in a process of its own: colour, and what a terminal shows.

Look here for an interrupt while modules are imported; `test_cli_streams.py` has broken pipes and
other signals.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import click
import pytest
from rich.cells import cell_len

import jeton
from jeton.components import decoders, models
from terminals import in_a_terminal

JETON = [sys.executable, "-m", "jeton"]


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("tokenizer") / "tokenizer.json"
    model = models.BPE({bytes([byte]): byte for byte in range(256)}, merges=[])
    jeton.Tokenizer(model, decoder=decoders.ByteLevel()).save(path)
    return str(path)


_INTERRUPTED_PROGRAM = """
import os, signal, sys
class Interrupts:
    def find_spec(self, name, path=None, target=None):
        if name == sys.argv[1]:
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Interrupts())
signal.signal(signal.SIGINT, signal.default_int_handler)
from jeton.cli import main
main(["samples", "--help"])
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize(
    "module",
    ["jeton.components", "jeton._core", "jeton.tokenizer", "click", "jeton.cli.streams"],
)
def test_an_interrupt_while_modules_are_imported_prints_no_traceback(
    module: str, tmp_path: Path
) -> None:
    for name, code in (("jeton", 130), ("another", -signal.SIGINT)):
        program = tmp_path / name
        program.write_text(_INTERRUPTED_PROGRAM)
        run = subprocess.run(
            [sys.executable, str(program), module],
            capture_output=True,
            text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        )
        assert run.returncode == code
        if name == "jeton":
            assert run.stderr == "jeton: interrupted\n"
        else:
            assert "KeyboardInterrupt" in run.stderr


@pytest.mark.large
def test_a_pipe_or_a_link_as_output_stays_one(tokenizer: str, tmp_path: Path) -> None:
    pipe, link, target = (tmp_path / name for name in ("pipe", "link.txt", "target"))
    os.mkfifo(pipe)
    link.symlink_to(target)
    with subprocess.Popen(["cat", str(pipe)], stdout=subprocess.PIPE) as reader:
        for output in (pipe, link):
            command = [*JETON, "encode", tokenizer, "-q", "-o", str(output)]
            subprocess.run(command, input=b"ab", check=True, timeout=60)
        assert reader.communicate(timeout=60)[0] == b"97 98\n"
    assert pipe.is_fifo() and link.is_symlink()
    assert target.read_bytes() == b"97 98\n"


@pytest.mark.large
def test_no_colour_in_a_pipe(tokenizer: str) -> None:
    for arguments in (["inspect", tokenizer, "--text", "some text"], ["inspect", tokenizer]):
        output = subprocess.run([*JETON, *arguments], capture_output=True, check=True)
        assert b"\x1b" not in output.stdout + output.stderr


@pytest.mark.large
@pytest.mark.parametrize(("variable", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False)])
def test_colour_on_a_terminal(tokenizer: str, variable: dict[str, str], coloured: bool) -> None:
    _, output = in_a_terminal("inspect", tokenizer, "--text", "some text", variables=variable)
    assert ("\x1b[48;5;" in output) == coloured


@pytest.mark.large
@pytest.mark.parametrize("columns", [44, 80, 120])
@pytest.mark.parametrize(
    "arguments",
    [["list"], ["samples"], ["inspect", "T"], ["inspect", "T", "--text", "some text, 図書館"]],
)
def test_every_line_fits_a_terminal(tokenizer: str, arguments: list[str], columns: int) -> None:
    command = [tokenizer if it == "T" else it for it in arguments]
    lines = click.unstyle(in_a_terminal(*command, columns=columns)[1]).splitlines()
    assert len(lines) > 5
    assert [line for line in lines if cell_len(line) > columns] == []
