"""Runs a learner's file in a separate process, and calls its functions one by one.

Look here for what happens when a function does not end, prints, reads, starts processes, or
crashes. The other side is `serve`. Questions and answers are pickled, and hold only built-in
types. Only answers go to standard output; prints of the learner's file go to standard error, and
what it reads is empty.
"""

from __future__ import annotations

import ast
import contextlib
import ctypes
import importlib
import os
import pickle
import queue
import runpy
import select
import signal
import subprocess
import sys
import threading
import time
import traceback
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO, Final, Literal

from jeton.errors import FileError, FormatError

SECONDS = 10.0
"""How long a call may take, and the file itself: every right answer takes a thousandth of it."""

_SECONDS_TO_IMPORT: Final = 60.0
"""How long the imports of the file may take: one may be as large as PyTorch."""

_SECONDS_TO_END: Final = 3.0
"""How long the processes that the file started may take to end, which is a few milliseconds."""

_PR_SET_CHILD_SUBREAPER: Final = 36
"""From `linux/prctl.h`."""

_START: Final = """
import sys
path, alive, *sys.path[:] = sys.argv[1:]
from jeton.learn.grading_process import serve
serve(path, int(alive))
"""
"""What the process runs. Python would search the working folder first, where a file may have the
name of a module that Python itself imports, so nothing but `sys` is imported before that folder
is off the path."""

_FOLDER: Final = os.fspath(Path(__file__).parents[2])


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
    """The process of a file, and all that it starts, from `with` to its end."""

    def __init__(self, path: Path) -> None:
        if not path.is_file():
            raise FileError(f"{path}: there is no such file (jeton learn --new {path} begins one)")
        self.path = path
        self.functions: frozenset[str] = frozenset()
        self._process: subprocess.Popen[bytes] | None = None
        self._answers: queue.SimpleQueue[object] = queue.SimpleQueue()
        self._alive = -1
        """The end of a pipe that closes with this process; the other end waits for that."""

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
        assert self._process is not None and self._process.stdin is not None
        with contextlib.suppress(OSError):  # the process has ended
            pickle.dump((name, arguments), self._process.stdin)
            self._process.stdin.flush()
        answer = self._answer(SECONDS)
        if answer.kind in ("too long", "ended"):
            self._stop()
        return answer

    def _start(self) -> None:
        here = ("", os.getcwd())
        path = [*(it for it in sys.path if it not in here), _FOLDER]
        options: dict[str, Any] = {}
        waiting = -1
        if sys.platform != "win32":
            waiting, self._alive = os.pipe()
            options = {"start_new_session": True, "pass_fds": [waiting]}
        command = [sys.executable, "-c", _START, os.fspath(self.path), str(waiting), *path]
        try:
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, **options
            )
        finally:
            if waiting >= 0:
                os.close(waiting)
        self._answers = queue.SimpleQueue()
        reader = threading.Thread(
            target=_read_answers, args=(self._process.stdout, self._answers), daemon=True
        )
        try:
            reader.start()
        except RuntimeError:  # the system allows no more threads
            self._stop()
            raise
        found = self._answer(_SECONDS_TO_IMPORT)
        if found.kind == "value":
            found = self._answer(SECONDS)
        if found.kind != "value":
            self._stop()
            raised = ": ".join(filter(None, (found.place, str(found.value))))
            what = {
                "too long": f"it takes more than {SECONDS:g} seconds: does a loop not end?",
                "ended": "it ends the process",
            }
            raise FormatError(f"{self.path}: cannot be run: {what.get(found.kind, raised)}")
        self.functions = frozenset(found.value)

    def _answer(self, seconds: float) -> CallResult:
        """The next answer. A process started by the file may keep the pipe open behind its end."""
        assert self._process is not None
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            with contextlib.suppress(queue.Empty):
                answer = self._answers.get(timeout=min(left, 0.2))
                return answer if isinstance(answer, CallResult) else CallResult("ended")
            if self._process.poll() is not None and self._answers.empty():
                return CallResult("ended")
        return CallResult("too long")

    def _stop(self) -> None:
        """Ends the process and all that it started."""
        process, self._process = self._process, None
        if process is None:
            return
        if sys.platform == "win32":
            process.kill()
        else:
            os.close(self._alive)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(2 * _SECONDS_TO_END)
            # Also if the file has stopped or killed the process that ends the others.
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        assert process.stdin is not None
        with contextlib.suppress(OSError):
            process.stdin.close()


def _read_answers(pipe: BinaryIO, answers: queue.SimpleQueue[object]) -> None:
    """Puts what the process answers into a queue, and `None` at its end."""
    with pipe:
        try:
            while True:
                answers.put(pickle.load(pipe))
        except Exception:  # an end, or what the file wrote into the answers
            answers.put(None)


# In the process


def serve(path: str, alive: int) -> None:
    """Runs a file and answers calls until the questions end. Runs in a separate process.

    Args:
        path: The file.
        alive: A descriptor that ends when the process that asks does; -1 where there is none.
    """
    # The file does not know the descriptors of questions and answers by number.
    with os.fdopen(os.dup(1), "wb") as answers, os.fdopen(os.dup(0), "rb") as questions:
        _serve(path, alive, answers, questions)


def _serve(path: str, alive: int, answers: BinaryIO, questions: BinaryIO) -> None:
    def send(answer: CallResult) -> None:
        pickle.dump(answer, answers)
        answers.flush()

    if alive >= 0:
        try:
            _fork_watched(alive, (questions, answers))
        except OSError as error:
            return send(_raised(error, path))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the process that asks ends this one
    os.dup2(2, 1)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)

    # Last, so that a file beside it that is named like a module of Python's is not taken for it.
    sys.path.append(os.path.dirname(os.path.abspath(path)))
    try:
        _import_first(path)
        send(CallResult("value"))
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
                start = time.process_time()
                value = functions[name](*arguments)
                seconds = time.process_time() - start
                answer = replace(_returned(value), seconds=seconds)
            except BaseException as error:
                answer = _raised(error, path)
            send(answer)


def _fork_watched(alive: int, unused: tuple[BinaryIO, BinaryIO]) -> None:
    """Returns in a forked process; this one waits, then ends that and all that it started.

    It waits until the forked process, or the process that asks, is gone. On Linux the processes
    whose parent ends become its children, so it finds those too that left the group; elsewhere it
    ends the group.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    child = os.fork()
    if child == 0:
        os.close(alive)
        return
    try:
        for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)  # the file may send them to its group
        for descriptor in (0, 1, 2, *(it.fileno() for it in unused)):
            os.close(descriptor)
        # Nothing is written to `alive`: it can be read once its other end is closed.
        while not select.select([alive], [], [], 0.1)[0] and not os.waitpid(child, os.WNOHANG)[0]:
            pass
        end = time.monotonic() + _SECONDS_TO_END
        while (pids := _descendants()) and time.monotonic() < end:
            for pid in pids:
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
    finally:
        os.killpg(0, signal.SIGKILL)


def _descendants() -> set[int]:
    """The processes that run and that this one, or one of these, started; on Linux alone."""
    parents: dict[int, int] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            state, parent = path.read_bytes().rpartition(b")")[2].split()[:2]
            if state not in (b"Z", b"X"):
                parents[int(path.parent.name)] = int(parent)
    found = {os.getpid()}
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    return found - {os.getpid()}


def _import_first(path: str) -> None:
    """Imports what the file imports, so that the time of these is not the file's."""
    tree = ast.parse(Path(path).read_bytes(), path)
    for node in tree.body:
        modules = [it.name for it in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            modules = [node.module]
        for module in modules:
            with contextlib.suppress(BaseException):  # the file's own import raises it again
                importlib.import_module(module)


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
