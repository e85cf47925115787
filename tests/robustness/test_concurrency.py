"""Threads, forked processes, Ctrl-C: a tokenizer is used from everywhere, without a word."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

import jeton
from kinds import byte_level

TOK = byte_level()
TEXTS = [f"the weather {number} père 東京 " * 50 for number in range(100)]


def test_sixteen_threads() -> None:
    expected = TOK.encode_batch(TEXTS).tolist()
    with ThreadPoolExecutor(16) as threads:
        for ids in threads.map(lambda _: TOK.encode_batch(TEXTS).tolist(), range(32)):
            assert ids == expected
        assert list(threads.map(TOK.encode, TEXTS * 4)) == expected * 4
        assert list(threads.map(TOK.decode, expected)) == TEXTS


def test_the_gil_is_released() -> None:
    trainer = jeton.BPETrainer(600)
    ticks = 0
    done = threading.Event()

    def count() -> None:
        nonlocal ticks
        while not done.is_set():
            ticks += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    start = time.monotonic()
    while time.monotonic() - start < 0.3:
        TOK.encode_batch(TEXTS * 20)
        trainer.train(TEXTS)
    done.set()
    thread.join()
    assert ticks > 20


def _encode(texts: list[str]) -> list[list[int]]:
    return TOK.encode_batch(texts).tolist()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_forked_processes() -> None:
    expected = _encode(TEXTS)
    context = multiprocessing.get_context("fork")
    with context.Pool(4) as processes:
        results = processes.map_async(_encode, [TEXTS] * 8).get(timeout=60)
    assert results == [expected] * 8
    assert _encode(TEXTS) == expected


@pytest.mark.large
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_fork_while_a_batch_runs() -> None:
    stop = threading.Event()

    def work() -> None:
        while not stop.is_set():
            TOK.encode_batch(TEXTS)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(20):
            child = _forked_child()
            _, status = os.waitpid(child, 0)
            assert status == 0
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def _forked_child() -> int:
    import warnings

    with warnings.catch_warnings():
        # Python warns of the threads of this test itself, from 3.12 on.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        signal.alarm(30)
        try:
            os._exit(0 if len(TOK.encode_batch(TEXTS)) == len(TEXTS) else 1)
        finally:
            os._exit(2)
    return child


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_nothing_is_printed_after_fork() -> None:
    script = """
        import os, jeton
        tok = jeton.CharTrainer().train("abc")
        texts = ["abc" * 1000] * 100
        expected = tok.encode_batch(texts)
        for _ in range(3):
            child = os.fork()
            if child == 0:
                os._exit(0 if tok.encode_batch(texts) == expected else 1)
            assert os.waitpid(child, 0)[1] == 0
            assert tok.encode_batch(texts) == expected
    """
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", textwrap.dedent(script)],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.medium
@pytest.mark.skipif(sys.platform == "win32", reason="signals are another thing there")
@pytest.mark.parametrize(
    "work",
    [
        "tok.encode_batch(['the weather ' * 1000] * 1_000_000)",
        "tok.decode_batch([[1] * 1000] * 1_000_000)",
        "jeton.BPETrainer().train(str(number * number) for number in itertools.count())",
    ],
)
def test_control_c_ends_long_work(work: str) -> None:
    # A process that was started in the background ignores SIGINT unless it says otherwise.
    script = f"""
        import itertools, signal
        signal.signal(signal.SIGINT, signal.default_int_handler)
        import jeton
        tok = jeton.BPETrainer(300).train(["the weather"])
        print("ready", flush=True)
        {work}
    """
    with subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(script)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(1.5)
        process.send_signal(signal.SIGINT)
        start = time.monotonic()
        _, told = process.communicate(timeout=60)
        waited = time.monotonic() - start
    assert process.returncode == -signal.SIGINT or "KeyboardInterrupt" in told
    assert "JetonError" not in told
    assert waited < 20
