"""Ctrl-C is heard in the midst of any long call, as `KeyboardInterrupt` and nothing else."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import jeton
from interrupted_calls import CALLS
from kinds import byte_level

pytestmark = pytest.mark.skipif(os.name == "nt", reason="Ctrl-C is no signal there")

PROGRAM = Path(__file__).parents[1] / "support" / "interrupted_calls.py"

MAX_SECONDS = 5.0
"""A machine with other work to do is slow to hear; waiting for the end of a call is slower."""

NAMES = list(CALLS)
GROUPS = [NAMES[start::3] for start in range(3)]


@pytest.mark.large
@pytest.mark.parametrize("names", GROUPS, ids=["first", "second", "third"])
def test_ctrl_c_ends_a_long_call(names: list[str]) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", str(PROGRAM), *names],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    assert [row[0] for row in rows] == names
    late = [row for row in rows if row[1] != "KeyboardInterrupt" or float(row[2]) > MAX_SECONDS]
    assert not late


FIRST_ARRAY = """
import os, signal, sys, threading, time

import jeton

tok = jeton.load(sys.argv[1])
assert "numpy" not in sys.modules
signal.signal(signal.SIGINT, signal.default_int_handler)
pressed = threading.Timer(float(sys.argv[2]), lambda: os.kill(os.getpid(), signal.SIGINT))
try:
    pressed.start()
    try:
        tok.encode_array("the weather")
    except Exception as error:
        print("swallowed", repr(error))
    pressed.join()
    time.sleep(1)
except KeyboardInterrupt:
    print("heard")
    sys.exit()
"""


@pytest.mark.parametrize("delay", [0.0, 0.02, 0.05, 0.1, 0.2])
def test_ctrl_c_while_numpy_is_imported(delay: float, tmp_path: Path) -> None:
    """No `except Exception` of the caller swallows it."""
    byte_level().save(tmp_path / "tokenizer.json")
    program = textwrap.dedent(FIRST_ARRAY)
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path / "tokenizer.json"), str(delay)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stdout == "heard\n", done.stdout + done.stderr


TO_A_PIPE = """
import os, signal, sys, threading

import jeton

tok = jeton.load(sys.argv[1])
signal.signal(signal.SIGINT, signal.default_int_handler)
threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
try:
    tok.save(sys.argv[2])
except KeyboardInterrupt:
    print("heard", flush=True)
os._exit(0)
"""


@pytest.mark.large
@pytest.mark.parametrize(
    ("saved", "pipe"),
    [
        ("tokenizer.json", "tokenizer.json"),
        ("vocab.json", "merges.txt"),
        ("folder", "folder/tokenizer.json"),
        ("folder", "folder/tokenizer_config.json"),
    ],
)
def test_ctrl_c_while_nobody_reads_what_is_saved(saved: str, pipe: str, tmp_path: Path) -> None:
    """Of the files beside the pipe, none is written then, nor begun."""
    tok = jeton.BPETrainer(260, pattern="gpt2").train(["the weather", "the weather"])
    tok.save(tmp_path / "source.json")
    target = tmp_path / "target"
    (target / pipe).parent.mkdir(parents=True)
    os.mkfifo(target / pipe)
    done = subprocess.run(
        [sys.executable, "-c", TO_A_PIPE, str(tmp_path / "source.json"), str(target / saved)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stdout == "heard\n", done.stdout + done.stderr
    assert [path for path in target.rglob("*") if not path.is_dir()] == [target / pipe]


AFTERWARDS = """
import os, signal, sys, threading

import jeton

tok = jeton.load(sys.argv[1])
words = "the theory of the weather there, then "
expected = tok.encode(words * 10)
heard = 0
for _ in range(8):
    pressed = threading.Timer(0.06, lambda: os.kill(os.getpid(), signal.SIGINT))
    try:
        pressed.start()
        while True:
            tok.encode(words * 200_000)
    except KeyboardInterrupt:
        heard += 1
    assert tok.encode(words * 10) == expected
    assert tok.encode_batch([words * 10] * 50)[49].tolist() == expected
print(heard)
"""


def test_a_tokenizer_works_on_after_an_interrupt(tmp_path: Path) -> None:
    byte_level().save(tmp_path / "tokenizer.json")
    done = subprocess.run(
        [sys.executable, "-c", AFTERWARDS, str(tmp_path / "tokenizer.json")],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.stdout == "8\n", done.stdout + done.stderr


MAX_TEXT = 500_000_000
"""How long a text may become until it takes several hundredths of a second."""


def test_another_handler_is_run_and_work_goes_on() -> None:
    """A handler that raises nothing does not end a call.

    Signals that nobody hears become one: where a handler ran several times, some were heard inside.
    """
    tok = byte_level()
    text = "the theory of the weather there, then " * 100_000
    seen: list[int] = []
    before = signal.signal(signal.SIGALRM, lambda number, frame: seen.append(number))
    try:
        while len(seen) < 4 and len(text) < MAX_TEXT:
            text += text
            seen.clear()
            signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)
            count = tok.count(text)
            signal.setitimer(signal.ITIMER_REAL, 0)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert len(seen) >= 4
    assert count == len(tok.encode(text))
