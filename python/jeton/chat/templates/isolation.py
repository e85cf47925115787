"""Rendering in a process of its own, with limits of time and memory that the system holds.

Look here for what `isolate=True` does. A process is kept for the next template, unless one went
past a limit. What comes back is read as data, whatever the template has done in there.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final, TypeVar, get_args

from jeton.chat.templates.limits import LimitError, can_isolate, current, limits, stopped
from jeton.chat.templates.origins import Kind, Origin
from jeton.chat.templates.parts import raw, runs_of
from jeton.chat.templates.rendering import RenderRequest, rendered
from jeton.chat.templates.source import TemplateText, source_of
from jeton.chat.templates.traced import traced
from jeton.errors import ArgumentError, FormatError, UnsupportedError
from jeton.processes import pipes_of_server, read_message, start_python, write_message

T = TypeVar("T")

_START_SECONDS: Final = 60.0
_GRACE_SECONDS: Final = 2.0
"""How much longer than its limit a template may take until its process is ended."""

_MAX_ANSWER: Final = 20 << 20
"""The maximum bytes of any answer; a text adds bytes in proportion to its input."""

_PER_BYTE: Final = 640
_NONSENSE: Final = "the process that rendered the template answered nonsense"
_KINDS: Final = frozenset(get_args(Kind))
_ERRORS: Final = {
    kind.__name__: kind for kind in (ArgumentError, FormatError, LimitError, UnsupportedError)
}


def rendered_apart(request: RenderRequest) -> str:
    """The text of a chat, as `rendered` gives it, from a process of its own.

    Raises:
        As `rendered`.
        LimitError: The process took too long or died.
        UnsupportedError: None can be started.
    """
    plain = replace(request, template=raw(request.template), variables=dict(request.variables))
    return _ask(plain, _text)


def source_apart(template: str) -> TemplateText:
    """What a template says, as `source_of` gives it, from a process of its own."""
    return _ask(raw(template), _source)


def _ask(question: RenderRequest | str, read: Callable[[dict[str, Any]], T]) -> T:
    current_limits = current()
    request = pickle.dumps((current_limits.seconds, current_limits.day, question))
    process = _waiting_process(current_limits.memory)
    try:
        answer = process.answer(request, current_limits.seconds)
        if "error" in answer:
            kind, says = answer["error"], answer.get("says")
            if kind not in [*_ERRORS] or not isinstance(says, str):
                raise UnsupportedError(_NONSENSE)
            raise _ERRORS[kind](says)
        found = read(answer)
    except (ArgumentError, FormatError):
        process.keep()
        raise
    except BaseException:
        process.end()
        raise
    process.keep()
    return found


def _text(answer: dict[str, Any]) -> str:
    """The text of an answer, with its origins."""
    try:
        text, runs = answer["text"], answer["runs"]
        origins = [_origin(*fields) for fields in answer["origins"]]
        lengths = [length for length, _ in runs]
        if sum(lengths) == len(text) and all(type(it) is int and it > 0 for it in lengths):
            return traced(text, [(length, origins[number]) for length, number in runs])
    except (KeyError, IndexError, TypeError, ValueError):
        pass
    raise UnsupportedError(_NONSENSE)


def _source(answer: dict[str, Any]) -> TemplateText:
    """The facts about a template in an answer."""
    literals, names = answer.get("literals"), answer.get("names")
    for texts in (literals, names):
        if not isinstance(texts, list) or not all(isinstance(it, str) for it in texts):
            raise UnsupportedError(_NONSENSE)
    assert literals is not None and names is not None
    return TemplateText(tuple(literals), frozenset(names))


def _origin(kind: Any, *fields: Any) -> Origin:
    types = zip(fields, (int | None, str | None, str, bool, bool), strict=True)
    if kind not in _KINDS or not all(isinstance(it, of) for it, of in types):
        raise ValueError
    return Origin(kind, *fields)


class _Process:
    """A process that renders templates, one after another."""

    def __init__(self, memory: int) -> None:
        if not can_isolate():
            raise UnsupportedError("isolate needs a Python to start, and this program has none")
        self.memory = memory
        try:
            self.process = start_python(
                __name__, serve.__name__, str(memory), stderr=subprocess.PIPE
            )
        except OSError as error:
            raise UnsupportedError(f"no process for the template starts: {error}") from None
        with _LOCK:
            _ALL.add(self)
        try:
            self._read(_START_SECONDS)
        except BaseException:
            self.end()
            raise

    def answer(self, request: bytes, seconds: float) -> dict[str, Any]:
        """What the process answers."""
        assert self.process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # it died: reading says how
            write_message(self.process.stdin, request)
        longest = _MAX_ANSWER + _PER_BYTE * len(request)
        line = self._read(seconds + _GRACE_SECONDS, seconds, longest)
        try:
            answer = json.loads(line)
        except (ValueError, RecursionError):
            answer = None
        return answer if isinstance(answer, dict) else {}

    def _read(
        self, patience: float, seconds: float | None = None, longest: int = _MAX_ANSWER
    ) -> bytes:
        assert self.process.stdout is not None
        is_late = threading.Event()

        def end() -> None:
            is_late.set()
            self.process.kill()

        timer = threading.Timer(patience, end)
        timer.daemon = True
        timer.start()
        try:
            line = read_message(self.process.stdout, longest)
        finally:
            timer.cancel()
        if line is not None:
            return line
        if is_late.is_set() and seconds is not None:
            raise LimitError(
                f"the template takes more than {seconds:g} s "
                "(jeton.chat.limits(seconds=…) allows more)"
            )
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(1)
        self.process.kill()  # it may have closed its output alone
        raise LimitError(
            f"the process that renders the template died ({_how(self.process)}): the template "
            "takes too much memory (jeton.chat.limits(memory=…) allows more), or it cannot start"
        )

    def keep(self) -> None:
        """Lets the next template have the process."""
        with _LOCK:
            if len(_IDLE) < (os.cpu_count() or 1):
                _IDLE.append(self)
                return
        self.end()

    def end(self) -> None:
        """Ends the process."""
        with _LOCK:
            _ALL.discard(self)
        self.process.kill()
        self.process.wait()
        self.close()

    def close(self) -> None:
        """Closes the pipes to the process."""
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            assert pipe is not None
            with contextlib.suppress(OSError):
                pipe.close()


_LOCK = threading.Lock()
_IDLE: Final[list[_Process]] = []
_ALL: Final[set[_Process]] = set()


def _waiting_process(memory: int) -> _Process:
    """A process that waits, or else a new one."""
    while True:
        with _LOCK:
            process = _IDLE.pop() if _IDLE else None
        if process is None:
            return _Process(memory)
        if process.memory == memory and process.process.poll() is None:
            return process
        process.end()


def _end_all() -> None:
    _IDLE.clear()
    for process in list(_ALL):
        process.end()


def _forget() -> None:
    """Leaves the processes to the one that this was forked from."""
    global _LOCK
    _LOCK = threading.Lock()
    _IDLE.clear()
    for process in _ALL:
        process.process.returncode = 0  # it is not a child of this one
        process.close()
    _ALL.clear()


atexit.register(_end_all)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


def _how(process: subprocess.Popen[bytes]) -> str:
    """How a process ended, and its last line of output."""
    code = process.wait()
    assert process.stderr is not None
    last = (process.stderr.read() or b"").decode(errors="replace").strip().split("\n")[-1]
    how = f"signal {-code}" if code < 0 else f"exit code {code}"
    return f"{how}: {last[:200]}" if last else how


# In the process


def serve(memory: str) -> None:
    """Renders requests until there are no more. Runs in a separate process. `memory`: the bytes
    that it may take beyond those it has."""
    requests, answers = pipes_of_server()
    _limit_memory(int(memory))
    write_message(answers, b"{}")
    while (request := read_message(requests)) is not None:
        seconds, day, question = pickle.loads(request)  # of the process that started this one
        _limit_seconds(seconds + _GRACE_SECONDS)
        with limits(seconds=seconds), stopped(day):
            answer = json.dumps(_answer(question)).encode()
        write_message(answers, answer)


def _answer(question: RenderRequest | str) -> dict[str, Any]:
    try:
        if isinstance(question, str):
            source = source_of(question)
            return {"literals": source.literals, "names": sorted(source.names)}
        text = rendered(question)
    except (ArgumentError, FormatError, UnsupportedError) as error:
        return {"error": type(error).__name__, "says": str(error)}
    except MemoryError:
        return {"error": "LimitError", "says": "the template takes more memory than there is"}
    numbers: dict[Origin, int] = {}
    runs = [(length, numbers.setdefault(it, len(numbers))) for length, it in runs_of(text)]
    origins = [(it.kind, it.message, it.role, it.field, it.trusted, it.generated) for it in numbers]
    return {"text": raw(text), "runs": runs, "origins": origins}


def _limit_memory(memory: int) -> None:
    """Holds this process to its memory, and keeps it from writing files, where that can be done."""
    if sys.platform == "win32":
        return
    import resource

    with contextlib.suppress(OSError, ValueError), open("/proc/self/statm") as file:
        limit = int(file.read().split()[0]) * resource.getpagesize() + memory
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _limit_seconds(seconds: float) -> None:
    """Ends this process after so much time, where who started it can not."""
    if sys.platform == "win32":
        return
    import resource

    taken = resource.getrusage(resource.RUSAGE_SELF)
    most = int(taken.ru_utime + taken.ru_stime + seconds) + 1
    with contextlib.suppress(OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_CPU, (most, resource.getrlimit(resource.RLIMIT_CPU)[1]))
