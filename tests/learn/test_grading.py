"""`jeton learn --grade`: right answers pass, wrong ones are caught by a call that is small."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from command_line import Run, here, run
from graded import MUTANTS, SOLUTION
from jeton.errors import FileError, FormatError
from jeton.learn import grading
from jeton.learn.grading import TASKS, grade, template
from jeton.learn.grading_process import LearnerProcess

__all__ = ["here", "run"]


def written(folder: Path, text: str) -> Path:
    path = folder / "my_bpe.py"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.large
def test_right_answers(tmp_path: Path) -> None:
    grades = grade(written(tmp_path, SOLUTION))
    assert [(it.task.name, it.outcome) for it in grades] == [(it.name, "right") for it in TASKS]
    assert all(it.calls >= 100 for it in grades)


@pytest.mark.large
@pytest.mark.parametrize("mutant", MUTANTS)
def test_a_mutant_is_caught(mutant: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name, old, new, said = MUTANTS[mutant]
    assert SOLUTION.count(old) >= 1
    begin = SOLUTION.index(f"def {name}(") if old in SOLUTION.partition(f"def {name}(")[2] else 0
    changed = SOLUTION[:begin] + SOLUTION[begin:].replace(old, new, 1)
    path = written(tmp_path, changed)
    [task] = [it for it in TASKS if it.name == name]
    monkeypatch.setattr(grading, "TASKS", (task,))
    if said == "no answer":
        monkeypatch.setattr("jeton.learn.grading_process.SECONDS", 0.5)
    [found] = grade(path)
    assert found.outcome != "right"
    assert said in f"{found.why} {found.got}"
    if found.outcome == "slow":
        return
    assert len(repr(found.arguments)) <= 75, found.arguments
    assert found.right == task.right(*found.arguments) != found.got


def test_the_template_is_all_to_be_written(tmp_path: Path) -> None:
    grades = grade(written(tmp_path, template()))
    assert {it.outcome for it in grades} == {"missing"}
    compile(template(), "my_bpe.py", "exec")


@pytest.mark.parametrize(
    ("text", "outcome", "said"),
    [
        ("def decode(tokens):\n    pass", "wrong", "nothing (None)"),
        ("def decode(tokens):\n    return [1]", "wrong", "a list and not a str"),
        ("def decode(tokens):\n    return tokens[0]", "raised", "line 2"),
        ("def decode(tokens):\n    raise SystemExit(0)", "raised", "SystemExit"),
        ("def decode(tokens):\n    import os\n    os._exit(3)", "ended", "ends the process"),
        ("def decode(tokens):\n    raise KeyboardInterrupt", "raised", "line 2"),
        ("def decode(tokens):\n    return lambda: 1", "wrong", "a function and not a str"),
        ("def decode(tokens):\n    yield ''", "wrong", "a generator and not a str"),
        ("class T(list): pass\ndef encode(piece, merges):\n    return T()", "wrong", "a T and not"),
        ("def encode(piece, merges):\n    return [bytearray(piece)]", "wrong", "bytearray(b'')"),
        (
            "class R:\n    def __reduce__(self):\n        return int, ('x',)\n"
            "def decode(tokens):\n    return R()",
            "wrong",
            "a R and not a str",
        ),
        ("def decode(tokens):\n    return input()", "raised", "EOFError"),
        (
            "def encode(piece, merges):\n    if piece: raise NotImplementedError\n    return []",
            "raised",
            "line 2",
        ),
        ("def decode(tokens):\n    print('x')\n    return ''", "wrong", "UTF-8"),
        ("def encode(piece, merges):\n    return [[1]]", "wrong", "list[bytes]"),
        ("def viterbi(text, scores):\n    return [[]]", "wrong", "list[str]"),
        ("def train(words, merges):\n    return [[[]]]", "wrong", "list[tuple[bytes, bytes]]"),
        ("def merges_of(ranks):\n    return [1]", "wrong", "list[tuple"),
    ],
)
def test_odd_answers(tmp_path: Path, text: str, outcome: str, said: str) -> None:
    [found] = [it for it in grade(written(tmp_path, text)) if it.outcome != "missing"]
    assert found.outcome == outcome
    assert said in f"{found.got} {found.why}"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("def (", "SyntaxError"),
        ("1 / 0", "line 1"),
        ("import nothing_of_that_name", "ModuleNotFoundError"),
        ("name = input()", "EOFError"),
        ("import os; os._exit(0)", "ends the process"),
        ("def decode(tokens): return '\0'", "null bytes"),
    ],
)
def test_files_that_cannot_be_run(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(FormatError, match="cannot be run") as caught:
        grade(written(tmp_path, text))
    assert said in str(caught.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="--new"):
        grade(tmp_path / "none.py")


def test_the_process_ends_with_the_grading(tmp_path: Path) -> None:
    with LearnerProcess(written(tmp_path, SOLUTION)) as answers:
        process = answers._process
        assert process is not None and answers.ask("decode", ([b"a"],)).value == "a"
    assert process.poll() is not None


@pytest.mark.large
def test_a_loop_outside_functions_is_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jeton.learn.grading_process.SECONDS_TO_START", 0.5)
    with pytest.raises(FormatError, match=r"more than 0\.5 seconds: does a loop not end\?"):
        grade(written(tmp_path, "while True: pass"))


@pytest.mark.large
def test_the_process_of_a_file_closes_its_pipes(
    run: Run, here: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PYTHONWARNINGS", "error")
    (here / "mine.py").write_text("def decode(tokens)\n")
    run("learn", "--grade", "mine.py", code=1)
    assert "Warning" not in capfd.readouterr().err


@pytest.mark.large
def test_a_syntax_error_keeps_its_line_and_caret(run: Run, here: Path) -> None:
    (here / "mine.py").write_text("def decode(tokens)\n    return 1\n")
    said = run("learn", "--grade", "mine.py", code=1).stderr.split("\n")
    assert said[0].startswith("Error: mine.py: cannot be run: line 1: SyntaxError: expected ':'")
    assert said[1].strip() == "def decode(tokens)"
    assert said[2].index("^") == said[1].index(")") + 1


@pytest.mark.large
@pytest.mark.parametrize(
    "name",
    "token tokenize string random types copy inspect pickle jeton subprocess numpy".split(),
)
def test_a_file_may_have_the_name_of_a_module(
    name: str, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the graded file, and as a file beside it, from the folder and from elsewhere."""
    monkeypatch.setattr(sys, "path", ["", *sys.path])  # as in an interactive Python
    text = (
        "import random, string, my_helper\ndef decode(tokens):\n    return my_helper.joined(tokens)"
    )
    (here / "my_helper.py").write_text("def joined(tokens):\n    return b''.join(tokens).decode()")
    (here / f"{name}.py").write_text(text)
    (here / "other.py").write_text(text)
    for path in (Path(f"{name}.py"), here / f"{name}.py", here / "other.py"):
        with LearnerProcess(path) as answers:
            assert answers.ask("decode", ([b"a"],)).value == "a"


@pytest.mark.skipif(sys.platform == "win32", reason="processes have no groups on Windows")
@pytest.mark.large
def test_a_process_that_a_function_started_does_not_keep_the_grader(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jeton.learn.grading_process.SECONDS", 2)
    text = """
import os, time
def escape():
    if os.fork() == 0:
        os.setsid()
        time.sleep(10)  # with all descriptors of its parent
        os._exit(0)
def decode(tokens):
    escape()
    os._exit(1)
def encode(piece, merges):
    escape()
    while True: pass
"""
    start = time.monotonic()
    with LearnerProcess(written(tmp_path, text)) as answers:
        assert answers.ask("decode", ([b"a"],)).kind == "ended"
        assert answers.ask("encode", (b"a", [])).kind == "too long"
    assert time.monotonic() - start < 9


def test_what_a_function_writes_into_the_answers_ends_its_process(tmp_path: Path) -> None:
    text = """
import os
def decode(tokens):
    for descriptor in range(3, 20):
        try:
            os.write(descriptor, (5).to_bytes(8, "little") + b"abcde")
        except OSError:
            pass
"""
    with LearnerProcess(written(tmp_path, text)) as answers:
        assert answers.ask("decode", ([b"a"],)).kind == "ended"


def test_ctrl_c_while_a_file_loads_ends_its_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    learner = LearnerProcess(written(tmp_path, "while True: pass"))
    started: list[subprocess.Popen[bytes]] = []

    def interrupted(_: float) -> None:
        assert learner._process is not None
        started.append(learner._process)
        raise KeyboardInterrupt

    monkeypatch.setattr(learner, "_answer", interrupted)
    with pytest.raises(KeyboardInterrupt), learner:
        pass
    assert started[0].poll() is not None


@pytest.mark.skipif(sys.platform == "win32", reason="processes have no groups on Windows")
@pytest.mark.large
@pytest.mark.parametrize("signal_number", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_a_looping_function_ends_with_the_grader(
    signal_number: signal.Signals, tmp_path: Path
) -> None:
    path = written(
        tmp_path,
        "import os, subprocess\n"
        "def decode(tokens):\n"
        "    other = subprocess.Popen(['sleep', '5'])\n"
        "    open('pids', 'w').write(f'{os.getpid()} {other.pid} ')\n"
        "    while True: pass\n",
    )
    command = [sys.executable, "-m", "jeton", "learn", "--grade", path.name]
    grader = subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    pids = tmp_path / "pids"
    waits_for(lambda: pids.exists() and pids.read_text().endswith(" "))
    grader.send_signal(signal_number)
    grader.wait(20)
    waits_for(lambda: not any(map(is_running, map(int, pids.read_text().split()))))


def waits_for(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


def is_running(pid: int) -> bool:
    """Whether a process runs: one that has ended may wait for its parent to ask how."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    status = Path(f"/proc/{pid}/stat")
    return not status.exists() or status.read_text().rpartition(") ")[2][0] not in "ZX"


@pytest.mark.large
def test_the_command(run: Run, here: Path) -> None:
    run("learn", "--new", "my_bpe.py")
    assert (here / "my_bpe.py").read_text() == template()
    assert "--force" in run("learn", "--new", "my_bpe.py", code=1).stderr
    output = run("learn", "--grade", "my_bpe.py").stdout
    assert "0 of 8 functions right" in output and "Next: train." in output
    (here / "my_bpe.py").write_text(SOLUTION)
    output = run("learn", "--grade", "my_bpe.py").stdout
    assert "8 of 8 functions right" in output and "All right" in output
    _, old, new, said = MUTANTS["tokens decoded one by one"]
    (here / "my_bpe.py").write_text(SOLUTION.replace(old, new))
    output = run("learn", "--grade", "my_bpe.py", code=1).stdout
    assert "✗ decode" in output and said in output and "Fix decode first" in output
    assert "exclude each other" in run("learn", "--grade", "a.py", "--new", "b.py", code=2).stderr
