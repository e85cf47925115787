"""`jeton learn --grade`: right answers pass, wrong ones are caught by a call that is small."""

from __future__ import annotations

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


@pytest.mark.medium
def test_the_command(run: Run, here: Path) -> None:
    run("learn", "--new", "my_bpe.py")
    assert (here / "my_bpe.py").read_text() == template()
    assert "--force" in run("learn", "--new", "my_bpe.py", code=1).stderr
    output = run("learn", "--grade", "my_bpe.py").stdout
    assert "0 of 7 functions right" in output and "Next: train." in output
    (here / "my_bpe.py").write_text(SOLUTION)
    output = run("learn", "--grade", "my_bpe.py").stdout
    assert "7 of 7 functions right" in output and "All right" in output
    _, old, new, said = MUTANTS["tokens decoded one by one"]
    (here / "my_bpe.py").write_text(SOLUTION.replace(old, new))
    output = run("learn", "--grade", "my_bpe.py", code=1).stdout
    assert "✗ decode" in output and said in output and "Fix decode first" in output
    assert "exclude each other" in run("learn", "--grade", "a.py", "--new", "b.py", code=2).stderr
