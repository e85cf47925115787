"""What the tests of the command line share: a folder to be in, and ways to run a command."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from jeton.cli import main

Run = Callable[..., Result]
"""Runs a command and checks its exit code."""


JETON = f"{sys.executable} -m jeton"

needs_full = pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that the test is in."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def run(here: Path) -> Run:
    """Runs a command in this process."""

    def run(*arguments: str, input: str | bytes = b"", code: int = 0) -> Result:
        with standard_input(input):
            result = CliRunner().invoke(main, arguments, input=input, catch_exceptions=False)
        assert result.exit_code == code, result.output
        assert "Traceback" not in result.output
        # What fails says why, and what goes well says nothing of an error.
        assert result.output if code else "rror: " not in result.stderr
        assert "Error: " in result.stderr if code == 2 else True
        return result

    return run


@contextlib.contextmanager
def standard_input(content: str | bytes) -> Iterator[None]:
    """The standard input of the process, from which the core reads; `CliRunner` has Python's."""
    before = os.dup(0)
    with tempfile.TemporaryFile() as file:
        file.write(content.encode() if isinstance(content, str) else content)
        file.seek(0)
        os.dup2(file.fileno(), 0)
        try:
            yield
        finally:
            os.dup2(before, 0)
            os.close(before)


def error_of(result: Result) -> str:
    """The one line that an error is, with its hint, which is a line of its own, in brackets."""
    assert result.stdout == ""
    error, *hints = result.stderr.splitlines()
    assert error.startswith("Error: ") and len(hints) <= 1
    assert all(hint.startswith("hint: ") for hint in hints)
    return error.removeprefix("Error: ") + "".join(
        f" ({it.removeprefix('hint: ')})" for it in hints
    )


def shell(command: str, **environment: str) -> tuple[int, str, str]:
    """The exit code and both outputs of a line of a shell in which `jeton` is a word."""
    done = subprocess.run(
        ["bash", "-c", command.replace("jeton", JETON, 1)],
        capture_output=True,
        env={**os.environ, **environment},
    )
    return done.returncode, done.stdout.decode("latin-1"), done.stderr.decode("latin-1")
