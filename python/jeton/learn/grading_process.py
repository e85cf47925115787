"""Runs a learner's file in a separate process, and calls its functions one by one.

Look here for what happens when a function does not end, prints, reads, or crashes. The other side
is `serve`. Questions and answers are pickled, and hold only built-in types. Prints of the learner's
file go to standard error, and what it reads is empty.
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
import time
import traceback
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Literal

from jeton.errors import FileError, FormatError
from jeton.processes import pipes_of_server, read_message, start_python, write_message

SECONDS = 10.0
"""The time limit of a call; a right answer needs a thousandth of it."""

SECONDS_TO_START = 60.0
"""How long the file itself may take, with what it imports: that may be as large as PyTorch."""

_GRACE_SECONDS: Final = 2.0
"""How much longer than its limit the process lives if the one that asks cannot end it."""


@dataclass(frozen=True)
class CallResult:
    """The result of a call.

    Attributes:
        kind: It returned a value, or one with parts of other than built-in types; it raised an
            exception; it gave no answer in time; or the process ended.
        value: The value; of other types how it is printed; or the text of the exception.
        type_name: The name of the value's type.
        place: Where in the file the exception was raised, as "line 3".
        seconds: How long a call that returned kept a core busy.
    """

    kind: Literal["value", "other value", "raised", "too long", "ended"]
    value: Any = None
    type_name: str = ""
    place: str = ""
    seconds: float = 0.0


class LearnerProcess:
    """The process of a file, and the group that it begins, from `with` to its end."""

    def __init__(self, path: Path) -> None:
        if path.is_dir():
            raise FileError(f"{path}: is a folder (name a file in it)")
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
        assert self._process is not None
        with contextlib.suppress(OSError):  # the process has ended
            write_message(self._process.stdin, pickle.dumps((name, arguments)))
        answer = self._answer(SECONDS)
        if answer.kind in ("too long", "ended"):
            self._stop()
        return answer

    def _start(self) -> None:
        self._process = start_python(
            __name__, serve.__name__, os.fspath(self.path), start_new_session=True
        )
        try:
            found = self._answer(SECONDS_TO_START)
        except BaseException:  # Ctrl-C, or no thread
            self._stop()
            raise
        if found.kind != "value":
            self._stop()
            raised = ": ".join(filter(None, (found.place, str(found.value))))
            what = {
                "too long": f"it takes more than {SECONDS_TO_START:g} seconds: "
                "does a loop not end?",
                "ended": "it ends the process",
            }
            raise FormatError(f"{self.path}: cannot be run: {what.get(found.kind, raised)}")
        self.functions = frozenset(found.value)

    def _answer(self, seconds: float) -> CallResult:
        """The next answer. A process that the file started may keep the pipe open after its end."""
        assert self._process is not None
        process, answers = self._process, list[object]()

        def read() -> None:
            with contextlib.suppress(Exception):  # an end, or what the file wrote into the answers
                answers.append(pickle.loads(read_message(process.stdout) or b""))

        reader = threading.Thread(target=read, daemon=True)
        reader.start()
        end = time.monotonic() + seconds
        while reader.is_alive() and process.poll() is None and time.monotonic() < end:
            reader.join(0.2)
        if process.poll() is not None:
            reader.join(0.2)  # what it answered before its end
        elif reader.is_alive():
            return CallResult("too long")
        answer = answers[0] if answers else None
        return answer if isinstance(answer, CallResult) else CallResult("ended")

    def _stop(self) -> None:
        """Ends the process and the group that it began."""
        if self._process is None:
            return
        if sys.platform == "win32":
            self._process.kill()
        else:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            pipe.close()
        self._process = None


# In the process


def serve(path: str) -> None:
    """Runs a file and answers calls until the questions end. Runs in a separate process."""
    questions, answers = pipes_of_server()
    os.dup2(2, 1)

    def send(answer: CallResult) -> None:
        write_message(answers, pickle.dumps(answer))

    # Last, so that a file beside it that is named like a module of Python's is not taken for it.
    sys.path.append(os.path.dirname(os.path.abspath(path)))
    _end_after(SECONDS_TO_START + _GRACE_SECONDS)
    try:
        names = runpy.run_path(path, run_name="jeton_learn")
    except BaseException as error:
        send(_raised(error, path))
        return
    functions = {name: value for name, value in names.items() if callable(value)}
    send(CallResult("value", sorted(functions)))
    _end_after(0)
    while (question := read_message(questions)) is not None:
        name, arguments = pickle.loads(question)
        _end_after(SECONDS + _GRACE_SECONDS)
        try:
            start = time.process_time()
            value = functions[name](*arguments)
            seconds = time.process_time() - start
            answer = replace(_returned(value), seconds=seconds)
        except BaseException as error:
            answer = _raised(error, path)
        _end_after(0)
        send(answer)
    if sys.platform != "win32":
        os.killpg(0, signal.SIGKILL)  # the one that asks is gone; what the file started ends too


def _end_after(seconds: float) -> None:
    """Ends this process after so long, if the one that asks is gone by then; 0: it goes on."""
    if sys.platform != "win32":
        signal.setitimer(signal.ITIMER_REAL, seconds)


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
    lines = [it.lineno for it in traceback.extract_tb(error.__traceback__) if it.filename == path]
    if isinstance(error, SyntaxError) and error.filename == path:
        return CallResult("raised", _syntax_error(error), place=f"line {error.lineno or 1}")
    message = " ".join("".join(traceback.format_exception_only(error)).split())
    return CallResult("raised", message, place=f"line {lines[-1]}" if lines else "")


def _syntax_error(error: SyntaxError) -> str:
    """The message, and below it the line with a caret, as Python prints them."""
    first, *lines, last = "".join(traceback.format_exception_only(error)).rstrip().split("\n")
    del first  # file and line, which the place says
    return "\n".join([last, *lines])
