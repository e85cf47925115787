"""Threads, forked processes, Ctrl-C: a tokenizer is used from everywhere, without a word."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import subprocess
import sys
import sysconfig
import textwrap
import threading
import time
from collections.abc import Callable
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


def test_the_module_asks_for_no_gil() -> None:
    """A free-threaded Python would switch its GIL on for a module that needs it."""
    if not hasattr(sys, "_is_gil_enabled"):
        pytest.skip("this Python has always a GIL")
    free = sysconfig.get_config_var("Py_GIL_DISABLED")
    assert sys._is_gil_enabled() is not bool(free)


def test_eight_threads_do_all_kinds_of_work() -> None:
    chatting = jeton.load("jeton-4k")
    messages = [{"role": "user", "content": "the weather"}]
    words = [f"low{number % 7} lower{number % 5} newest" for number in range(400)]

    def train() -> object:
        return jeton.BPETrainer(300).train(words).digest

    def chat() -> object:
        made = chatting.chat(messages, add_generation_prompt=True)
        answer = [*chatting.encode("Rain."), chatting.vocab["<|im_end|>"]]
        return made.ids, chatting.parse(answer, prompt=made.ids).content

    def stream() -> object:
        pieces = TOK.decode_stream()
        return "".join(pieces.push(id) for id in TOK.encode(TEXTS[0])) + pieces.finish()

    works: list[Callable[[], object]] = [
        train,
        chat,
        stream,
        lambda: TOK.encode_batch(TEXTS[:10]).tolist(),
        lambda: TOK.encode_batch(TEXTS[:10], spans="characters").spans.tolist(),
        lambda: chatting(TEXTS[:5], truncation=True, max_length=20)["input_ids"],
        lambda: jeton.Tokenizer.from_json(TOK.to_json()) == TOK,
        lambda: TOK.with_added_tokens(["<new>"]).encode("a <new>", special="allow"),
    ]
    expected = [work() for work in works]
    ready = threading.Barrier(8)

    def run(first: int) -> list[bool]:
        ready.wait()
        turns = [(first + turn) % 8 for turn in range(24)]
        return [works[turn]() == expected[turn] for turn in turns]

    with ThreadPoolExecutor(8) as threads:
        assert all(all(same) for same in threads.map(run, range(8)))


def test_ids_that_another_thread_changes_are_read_or_refused() -> None:
    ids = TOK.encode(TEXTS[0])
    shared, done = list(ids), threading.Event()

    def change() -> None:
        while not done.is_set():
            shared.append(10**12)
            shared.pop()
            del shared[3:]
            shared[:] = ids

    changing = threading.Thread(target=change)
    changing.start()
    try:
        for _ in range(300):
            # The thread that reads may see the number that is no id.
            with contextlib.suppress(jeton.errors.JetonError):
                assert isinstance(TOK.decode(shared), str)
    finally:
        done.set()
        changing.join()


def test_an_id_that_uses_the_stream_it_is_pushed_to_waits_for_nothing() -> None:
    a, b = (TOK.encode(letter)[0] for letter in "ab")
    stream = TOK.decode_stream()

    class Nested:
        def __index__(self) -> int:
            assert stream.push(a) == "a"
            return b

    assert stream.push(Nested()) == "b"


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


@pytest.mark.large
@pytest.mark.skipif(sys.platform == "win32", reason="signals are another thing there")
@pytest.mark.parametrize(
    "work",
    [
        # Slow, with little memory: a batch that the machine has no room for would end by itself.
        "tok.encode_batch(['the weather ' * 1000] * 40_000, dropout=0.5)",
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
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        start = time.monotonic()
        _, told = process.communicate(timeout=60)
        waited = time.monotonic() - start
    assert process.returncode == -signal.SIGINT or "KeyboardInterrupt" in told
    assert "JetonError" not in told
    assert waited < 20
