"""Runs a learner's file in a separate process, and calls its functions one by one.

Look here for what happens when a function does not end, prints, reads, or crashes the process. The
other side is this file itself, run by `python -m`. Questions and answers are pickled, and hold
only built-in types. Only answers go to standard output; prints of the learner's file go
to standard error, and what it reads is empty.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import runpy
import signal
import subprocess
import sys
import threading
import traceback
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Literal

from jeton.errors import FileError, FormatError

__all__ = ["SECONDS", "CallResult", "LearnerProcess"]

SECONDS = 10.0
"""How long a call may take: every right answer takes a thousandth of it."""

_SECONDS_TO_START = 60.0
"""How long the file itself may run: it may import a library as large as PyTorch."""


@dataclass(frozen=True)
class CallResult:
    """The result of a call.

    Attributes:
        kind: It returned a value, or one with parts of other than built-in types; it raised an
            exception; it gave no answer in time; or the process ended.
        value: The value; of other types how it is printed; or the text of the exception.
        type_name: The name of the value's type.
        place: Where in the file the exception was raised, as "line 3".
    """

    kind: Literal["value", "other value", "raised", "too long", "ended"]
    value: Any = None
    type_name: str = ""
    place: str = ""


class LearnerProcess:
    """The process of a file, from `with` to its end."""

    def __init__(self, path: Path) -> None:
        if not path.is_file():
            raise FileError(f"{path}: there is no such file (jeton learn --new {path} begins one)")
        self.path = path
        self.functions: frozenset[str] = frozenset()
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> LearnerProcess:
        self._start()
        return self

    def __exit__(
        self, _: type[BaseException] | None, __: BaseException | None, ___: TracebackType | None
    ) -> None:
        self._stop()

    def ask(self, name: str, arguments: tuple[Any, ...]) -> CallResult:
        """Calls a function of the file."""
        if self._process is None:
            self._start()
        answer = self._exchange((name, arguments), SECONDS)
        if answer.kind in ("too long", "ended"):
            self._stop()
        return answer

    def _start(self) -> None:
        command = [sys.executable, "-m", "jeton.learn.grading_process", os.fspath(self.path)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        first = self._exchange(None, _SECONDS_TO_START)
        if first.kind != "value":
            self._stop()
            raised = ": ".join(filter(None, (first.place, str(first.value))))
            what = {"too long": "it takes too long", "ended": "it ends the process"}
            raise FormatError(f"{self.path}: cannot be run: {what.get(first.kind, raised)}")
        self.functions = frozenset(first.value)

    def _exchange(self, question: object, seconds: float) -> CallResult:
        """Sends a question unless it is `None`, and waits for the answer."""
        process = self._process
        assert process is not None and process.stdin is not None and process.stdout is not None
        is_late = threading.Event()

        def end() -> None:
            is_late.set()
            process.kill()

        guard = threading.Timer(seconds, end)
        guard.start()
        try:
            if question is not None:
                pickle.dump(question, process.stdin)
                process.stdin.flush()
            answer = pickle.load(process.stdout)
            assert isinstance(answer, CallResult)
            return answer
        except Exception:  # an end, or what the file wrote into the answers
            return CallResult("too long" if is_late.is_set() else "ended")
        finally:
            guard.cancel()

    def _stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None


def _serve(path: str, questions: BinaryIO, answers: BinaryIO) -> None:
    """Runs a file and answers calls until the questions end."""

    def send(answer: CallResult) -> None:
        pickle.dump(answer, answers)
        answers.flush()

    try:
        names = runpy.run_path(path, run_name="jeton_learn")
    except BaseException as error:
        send(_raised(error, path))
        return
    functions = {name: value for name, value in names.items() if callable(value)}
    send(CallResult("value", sorted(functions)))
    with contextlib.suppress(EOFError):
        while True:
            name, arguments = pickle.load(questions)
            try:
                answer = _returned(functions[name](*arguments))
            except BaseException as error:
                answer = _raised(error, path)
            send(answer)


def _returned(value: object) -> CallResult:
    """The answer of a call that returned `value`, which may be of any type."""
    name = type(value).__name__
    try:
        pickle.dumps(value)  # fails if it is nested too deeply
        is_plain = _is_plain(value)
    except Exception:
        is_plain = False
    return (
        CallResult("value", value, name)
        if is_plain
        else CallResult("other value", _printed(value), name)
    )


def _is_plain(value: Any) -> bool:
    """Whether all parts of a value are of built-in types, not of types derived from these."""
    if type(value) in (list, tuple):
        return all(map(_is_plain, value))
    return value is None or type(value) in (str, bytes, int, float, bool)


def _printed(value: object) -> str:
    try:
        return repr(value)
    except Exception:
        return f"a {type(value).__name__} that cannot be printed"


def _raised(error: BaseException, path: str) -> CallResult:
    message = " ".join("".join(traceback.format_exception_only(error)).split())
    lines = [it.lineno for it in traceback.extract_tb(error.__traceback__) if it.filename == path]
    if isinstance(error, SyntaxError):
        lines = [error.lineno] if error.lineno else []
    return CallResult("raised", message, place=f"line {lines[-1]}" if lines else "")


if __name__ == "__main__":
    # Questions and answers have descriptors that the file does not know by number; Ctrl-C is for
    # the other side, which ends this one.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    channel = os.fdopen(os.dup(1), "wb")
    questions = os.fdopen(os.dup(0), "rb")
    os.dup2(2, 1)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    # By its own name, so that pickled classes are those of the module on the other side.
    from jeton.learn import grading_process

    grading_process._serve(sys.argv[1], questions, channel)
