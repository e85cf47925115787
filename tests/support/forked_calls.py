"""Forks while another thread makes the first calls of a tokenizer: a program for `test_fork.py`.

    python forked_calls.py ROUNDS FILE...

Each round starts from a process that has imported jeton and called nothing. It loads and calls the
tokenizer of a file in a thread, forks at a random moment, and the child does the same. Prints a
line for each child that did not finish.
"""

from __future__ import annotations

import faulthandler
import importlib
import json
import os
import random
import sys
import threading
import time

import jeton

TEXT = "The weather, père 東京 ﬁne ①2 e\u0301 かな Ωμέγα'll 🙂  \n\n x = 1\t <|end|>" * 3

PATIENCE = 20
"""Seconds until a child that is not done counts as one that waits forever."""


def first_calls(path: str) -> None:
    tok = jeton.load(path)
    ids = tok.encode(TEXT)
    assert tok.encode_batch([TEXT] * 64)[0].tolist() == ids
    assert tok.count(TEXT) == len(tok.encode_with_spans(TEXT).ids) == len(ids)
    tok.decode(ids * 30)


def measured(path: str) -> float:
    """Seconds that the first calls of a process take. Imports what they import, but for jeton's own
    modules: the locks of others are not what this is about."""
    reading, writing = os.pipe()
    if os.fork() == 0:
        start = time.perf_counter()
        first_calls(path)
        seconds = time.perf_counter() - start
        with os.fdopen(writing, "w") as told:
            json.dump([seconds, sorted(sys.modules)], told)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as told:
        seconds, modules = json.load(told)
    os.wait()
    for module in modules:
        if module.partition(".")[0] != "jeton":
            importlib.import_module(module)
    return float(seconds)


def forked(path: str, delay: float) -> None:
    """One round, in a process of its own: ends it, with 0 if the child came to its end."""
    thread = threading.Thread(target=first_calls, args=[path], daemon=True)
    thread.start()
    end = time.perf_counter() + delay
    while time.perf_counter() < end:
        time.sleep(0)
    child = os.fork()
    if child == 0:
        faulthandler.dump_traceback_later(PATIENCE, exit=True)
        try:
            first_calls(path)
            os._exit(0)
        finally:
            os._exit(1)
    _, status = os.waitpid(child, 0)
    os._exit(0 if status == 0 else 1)


def main(rounds: int, paths: list[str]) -> None:
    delays = random.Random(7)
    for path in paths:
        measured(path)
        seconds = measured(path)
        for _ in range(rounds):
            delay = delays.uniform(0, seconds)
            process = os.fork()
            if process == 0:
                forked(path, delay)
            if os.waitpid(process, 0)[1] != 0:
                print(f"{os.path.basename(path)}: a child forked after {delay:.4f} s hangs")


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
