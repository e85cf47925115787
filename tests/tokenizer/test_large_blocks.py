"""Large results: their memory is used again once they are dropped, and by nobody before."""

from __future__ import annotations

import multiprocessing
import random
import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import jeton

TOK = jeton.Tokenizer.from_ranks({bytes([byte]): 7 + byte for byte in range(256)}, pattern="gpt4")
SIZES = (100_000, 131_072, 400_000, 524_288, 1_000_000, 1_310_720, 3_000_000)
"""Tokens whose ids, spans or both are small, large, or on the bound between."""


def text_of(size: int, seed: int) -> str:
    letters = random.Random(seed).choices("abcdefghijklmnopqrst", k=997)
    return ("".join(letters) * (size // 997 + 1))[:size]


def check(size: int, seed: int, batch: jeton.TokenBatch) -> None:
    """Whether a batch with spans is that of this text."""
    spans = batch.spans
    expected = np.frombuffer(text_of(size, seed).encode(), np.uint8).astype(np.uint32) + 7
    assert np.array_equal(batch.ids, expected)
    assert np.array_equal(spans[:, 0], np.arange(size))
    assert np.array_equal(spans[:, 1], np.arange(size) + 1)


def hold_and_drop(seed: int) -> None:
    """Makes results of all sizes, drops some now and then, and checks those that are held."""
    draw = random.Random(seed)
    held = []
    for number in range(25):
        size = draw.choice(SIZES)
        held.append((size, number, TOK.encode_batch([text_of(size, number)], spans="characters")))
        draw.shuffle(held)
        while len(held) > 3 or (held and draw.random() < 0.3):
            check(*held.pop())
    for result in held:
        check(*result)


@pytest.mark.large
def test_results_are_what_they_were_while_others_come_and_go() -> None:
    hold_and_drop(0)


@pytest.mark.large
def test_threads_take_each_others_memory() -> None:
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(hold_and_drop, range(4)))


@pytest.mark.large
@pytest.mark.skipif(sys.platform == "win32", reason="needs fork")
def test_a_child_has_memory_of_its_own() -> None:
    size = 1_000_000
    TOK.encode_batch([text_of(size, 1)], spans="characters")
    held = TOK.encode_batch([text_of(size, 2)], spans="characters")
    child = multiprocessing.get_context("fork").Process(target=hold_and_drop, args=(3,))
    child.start()
    hold_and_drop(4)
    child.join()
    assert child.exitcode == 0
    check(size, 2, held)


@pytest.mark.parametrize("size", SIZES)
def test_results_that_grow_or_shrink(size: int) -> None:
    """Where room was made for too few tokens, or for too many."""
    for text in ("€" * (size // 3), text_of(size, 5), "a" * size):
        expected = np.frombuffer(text.encode(), np.uint8).astype(np.uint32) + 7
        assert np.array_equal(TOK.encode_array(text), expected)
        ids, spans = TOK.encode_array(text, spans="bytes")
        assert np.array_equal(ids, expected)
        assert spans[0, 0] == 0 and spans[-1, 1] == len(expected)


def numbers_of(script: str) -> list[int]:
    """What a script prints in a process of its own, where it has `tok` and `megabytes()`."""
    head = """
        from pathlib import Path

        import jeton

        def megabytes():
            status = Path("/proc/self/status").read_text()
            return int(status.split("VmRSS:")[1].split()[0]) >> 10

        ranks = {bytes([byte]): byte for byte in range(256)}
        tok = jeton.Tokenizer.from_ranks(ranks, pattern="gpt4")
    """
    script = textwrap.dedent(head) + textwrap.dedent(script)
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return [int(number) for number in run.stdout.split()]


@pytest.mark.large
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_bounded_part_of_dropped_results_is_kept() -> None:
    script = """
        text = "a b " * 250_000
        tok.encode_batch([text], spans="characters")
        before = megabytes()
        held = [tok.encode_batch([text], spans="characters") for _ in range(20)]
        full = megabytes() - before
        held.clear()
        print(full, megabytes() - before)
    """
    full, left = numbers_of(script)
    assert full > 300 and left < 100


@pytest.mark.large
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_bounded_part_of_memory_lies_behind_results() -> None:
    script = """
        text = "a b " * 135_000
        tok.encode_array(text)
        before = megabytes()
        held = [tok.encode_array(text) for _ in range(150)]
        print(megabytes() - before, sum(ids.nbytes for ids in held) >> 20)
    """
    taken, asked = numbers_of(script)
    assert asked > 300 and taken - asked < 100
