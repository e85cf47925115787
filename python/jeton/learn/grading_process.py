"""Runs a learner's file in a process of its own, and calls its functions one by one.

Look here for what happens when a function does not end, prints, or crashes the process. The other
side is this file itself, run by `python -m`. Questions and answers are pickled; only answers go to
standard output, and what the learner's file prints goes to standard error.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import runpy
import subprocess
import sys
import threading
import traceback
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Literal

from jeton.errors import FileError, FormatError

__all__ = ["Answer", "Answers"]

_SECONDS = 10.0
"""How long a call may take: every right answer takes a thousandth of it."""


@dataclass(frozen=True)
class Answer:
    """The result of a call: a value, the text of an exception, or nothing in time."""

    kind: Literal["value", "raised", "too long"]
    value: Any = None
    place: str = ""


class Answers:
    """The process of a file, from `with` to its end."""

    def __init__(self, path: Path, seconds: float = _SECONDS) -> None:
        if not path.is_file():
            raise FileError(f"{path}: there is no such file (jeton learn --new {path} begins one)")
        self.path, self.seconds = path, seconds
        self.functions: frozenset[str] = frozenset()
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Answers:
        self._start()
        return self

    def __exit__(
        self, _: type[BaseException] | None, __: BaseException | None, ___: TracebackType | None
    ) -> None:
        self._stop()

    def ask(self, name: str, arguments: tuple[Any, ...]) -> Answer:
        """Calls a function of the file."""
        if self._process is None:
            self._start()
        answer = self._exchange((name, arguments))
        if answer is None:
            self._stop()
            return Answer("too long")
        return answer

    def _start(self) -> None:
        command = [sys.executable, "-m", "jeton.learn.grading_process", os.fspath(self.path)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        first = self._exchange(None)
        if first is None or first.kind != "value":
            self._stop()
            what = "running it takes too long" if first is None else f"{first.value} {first.place}"
            raise FormatError(f"{self.path}: cannot be run: {what.strip()}")
        self.functions = frozenset(first.value)

    def _exchange(self, question: object) -> Answer | None:
        """Sends a question unless it is `None`, and waits for an answer; `None` if none comes."""
        process = self._process
        assert process is not None and process.stdin is not None and process.stdout is not None
        guard = threading.Timer(self.seconds, process.kill)
        guard.start()
        try:
            if question is not None:
                pickle.dump(question, process.stdin)
                process.stdin.flush()
            answer = pickle.load(process.stdout)
            assert isinstance(answer, Answer)
            return answer
        except (EOFError, BrokenPipeError, pickle.UnpicklingError):
            return None
        finally:
            guard.cancel()

    def _stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None


def _serve(path: str, questions: BinaryIO, answers: BinaryIO) -> None:
    """Runs a file and answers calls until the questions end."""

    def send(answer: Answer) -> None:
        try:
            data = pickle.dumps(answer)
        except Exception as error:
            data = pickle.dumps(Answer("raised", f"an answer that cannot be pickled: {error}"))
        answers.write(data)
        answers.flush()

    try:
        names = runpy.run_path(path, run_name="jeton_learn")
    except (Exception, SystemExit) as error:
        send(_raised(error, path))
        return
    functions = {name: value for name, value in names.items() if callable(value)}
    send(Answer("value", sorted(functions)))
    with contextlib.suppress(EOFError):
        while True:
            name, arguments = pickle.load(questions)
            try:
                answer = Answer("value", functions[name](*arguments))
            except (Exception, SystemExit) as error:
                answer = _raised(error, path)
            send(answer)


def _raised(error: BaseException, path: str) -> Answer:
    message = " ".join("".join(traceback.format_exception_only(error)).split())
    lines = [it.lineno for it in traceback.extract_tb(error.__traceback__) if it.filename == path]
    if isinstance(error, SyntaxError):
        lines = [error.lineno]
    return Answer("raised", message, f"line {lines[-1]}" if lines else "")


if __name__ == "__main__":
    # Answers go to what was standard output; what the file prints goes to standard error.
    channel = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    # By its own name, so that pickled classes are those of the module on the other side.
    from jeton.learn import grading_process

    grading_process._serve(sys.argv[1], sys.stdin.buffer, channel)
