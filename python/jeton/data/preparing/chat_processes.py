"""Processes that turn conversations into tokens: templates are Python, so threads do not help.

Results come in the order of the records, whichever process is first.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import pickle
import subprocess
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from queue import SimpleQueue
from typing import Any, TypeVar

from jeton.chat.templates.limits import Limits, can_isolate, current, under
from jeton.errors import UnsupportedError
from jeton.processes import pipes_of_server, read_message, start_python, write_message

T = TypeVar("T")

_RECORDS = 32
"""How many records a process gets at a time."""
_AHEAD = 3
"""How many times as many wait for each process, or for their turn."""


def process_count() -> int:
    """How many processes are worth starting: one for each core, or none for a single core.

    `RAYON_NUM_THREADS`, which limits the threads of the core, limits them too.
    """
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    limit = os.environ.get("RAYON_NUM_THREADS", "")
    count = min(cores or 1, int(limit)) if limit.isdigit() and int(limit) else cores or 1
    return count if count > 1 and can_isolate() else 0


class ChatProcesses:
    """Processes that call a function for each record.

    Args:
        count: How many; each takes some 100 MB of memory.
        work: The function, of a record; it is pickled.

    Raises:
        pickle.PicklingError, TypeError, AttributeError: The function cannot be pickled.
    """

    def __init__(self, count: int, work: Callable[[Any], object]) -> None:
        self._work = work
        self._count = count
        start = pickle.dumps(work)
        self._processes = list[subprocess.Popen[bytes]]()
        self._idle = SimpleQueue[subprocess.Popen[bytes]]()
        self._threads = ThreadPoolExecutor(count, "jeton-chats")
        try:
            for _ in range(count):
                process = start_python(__name__, serve.__name__, "")
                self._processes.append(process)
                self._idle.put(process)
                with contextlib.suppress(BrokenPipeError):  # it died: reading says so
                    write_message(process.stdin, start)
        except BaseException:
            self.close()
            raise

    def results(self, items: Iterable[T], record_of: Callable[[T], Any]) -> Iterator[tuple[T, Any]]:
        """Each item with the result of its record, in order.

        Raises:
            Exception: What the function raised, or reading the items, when it is its turn.
        """
        waiting = deque[tuple[list[T], Future[list[Any]]]]()
        failure: Exception | None = None
        rest = iter(items)
        try:
            while True:
                while failure is None and len(waiting) < self._count * _AHEAD:
                    some = list[T]()
                    try:
                        some.extend(itertools.islice(rest, _RECORDS))
                    except Exception as error:
                        # Items before it are worked on first.
                        failure = error
                    if not some:
                        break
                    records = [record_of(item) for item in some]
                    waiting.append((some, self._threads.submit(self._asked, current(), records)))
                if not waiting:
                    break
                some, future = waiting.popleft()
                for item, (is_error, result) in zip(some, future.result(), strict=True):
                    if is_error:
                        raise result
                    yield item, result
        finally:
            for _, future in waiting:
                future.cancel()
        if failure is not None:
            raise failure

    def close(self) -> None:
        """Ends the processes."""
        for process in self._processes:
            process.kill()
        self._threads.shutdown(cancel_futures=True)
        for process in self._processes:
            process.wait()
            for pipe in (process.stdin, process.stdout):
                assert pipe is not None
                with contextlib.suppress(OSError):
                    pipe.close()

    def _asked(self, limits: Limits, records: list[Any]) -> list[tuple[bool, Any]]:
        """The results of some records, by the next idle process."""
        try:
            request = pickle.dumps((limits, records))
        except Exception:  # of an object of the caller's, of any kind
            return _results(self._work, limits, records)
        process = self._idle.get()
        try:
            with contextlib.suppress(BrokenPipeError):  # it died: reading says so
                write_message(process.stdin, request)
            answer = read_message(process.stdout)
        finally:
            self._idle.put(process)
        if answer is None:
            code = process.wait()
            how = f"signal {-code}" if code < 0 else f"exit code {code}"
            raise UnsupportedError(
                f"a process that encodes conversations died ({how}); if memory is short, set "
                "RAYON_NUM_THREADS=1 to work in this process"
            )
        results: list[tuple[bool, Any]] = pickle.loads(answer)  # of a process of ours
        return results


def _results(
    work: Callable[[Any], object], limits: Limits, records: list[Any]
) -> list[tuple[bool, Any]]:
    """The result of each record, up to the first error."""
    results = list[tuple[bool, Any]]()
    with under(limits):
        for record in records:
            try:
                results.append((False, work(record)))
            except Exception as error:
                results.append((True, error))
                break
    return results


# In the process


def serve(_: str) -> None:
    """Answers requests until there are no more. Runs in a separate process."""
    requests, answers = pipes_of_server()
    # Threads of the core would only compete with the other processes.
    os.environ["RAYON_NUM_THREADS"] = "1"
    start = read_message(requests)
    work = None if start is None else pickle.loads(start)  # of the process that started this one
    while work is not None and (request := read_message(requests)) is not None:
        results = _results(work, *pickle.loads(request))
        try:
            answer = pickle.dumps(results)
        except Exception:
            error = UnsupportedError(repr(results[-1][1]))
            answer = pickle.dumps([*results[:-1], (True, error)])
        write_message(answers, answer)
