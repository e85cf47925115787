"""Lists of ids: ordinary lists of ordinary ints, which all lists of a process share."""

from __future__ import annotations

import copy
import gc
import json
import multiprocessing
import os
import pickle
import subprocess
import sys
import textwrap
import tracemalloc
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import jeton

WORDS = [f"<{number}>" for number in range(1000)]
IDS = [
    *(0, 1, 255, 256, 257, 258, 4095, 4096, 65_535, 65_536, 300_000),
    *(2**19 - 1, 2**19, 2**20 - 1, 2**20, 2**23, 2**24 - 1),
]
"""Either side of each bound that the making of lists knows of."""


def tokenizer(ids: list[int]) -> jeton.Tokenizer:
    """One whose special tokens, those of `WORDS`, have these ids."""
    return jeton.Tokenizer.from_ranks(
        {bytes([byte]): 5000 + byte for byte in range(256)},
        pattern="gpt4",
        special_tokens=dict(zip(WORDS, ids, strict=False)),
    )


def encode(tok: jeton.Tokenizer, words: list[str]) -> list[int]:
    return tok.encode("".join(words), special="allow")


@pytest.mark.parametrize("id", IDS)
def test_each_id_alone(id: int) -> None:
    assert encode(tokenizer([id]), WORDS[:1] * 3) == [id] * 3


@pytest.mark.parametrize("ids", [IDS, IDS[::-1], list(range(1000)), list(range(4000, 4999))])
def test_many_ids(ids: list[int]) -> None:
    tok = tokenizer(ids)
    words = WORDS[: len(ids)]
    assert encode(tok, words) == ids == tok.encode_array("".join(words), special="allow").tolist()
    for length in range(len(words)):
        assert encode(tok, words[:length]) == ids[:length]


def test_small_ints_are_the_ones_of_python() -> None:
    ids = list(range(300))
    encoded = encode(tokenizer(ids), WORDS[:300])
    assert [id for id in range(300) if encoded[id] is ids[id]] == list(range(257))


def test_the_lists_of_all_tokenizers_share_ints() -> None:
    ids = list(range(200, 900))
    first, second = tokenizer(ids), tokenizer(ids)
    kept = encode(first, WORDS[:700])
    again = encode(first, WORDS[:700])
    del first
    gc.collect()
    others = encode(second, WORDS[:700])
    assert kept == again == others == ids
    assert all(a is b is c for a, b, c in zip(kept, again, others, strict=True))


def test_results_are_ordinary_lists() -> None:
    ids = list(range(100, 400))
    tok = tokenizer(ids)
    encoded = encode(tok, WORDS[:300])
    assert type(encoded) is list and all(type(id) is int for id in encoded)
    assert gc.is_tracked(encoded) and sys.getsizeof(encoded[299]) == sys.getsizeof(399)
    assert pickle.loads(pickle.dumps(encoded)) == copy.deepcopy(encoded) == ids
    assert json.loads(json.dumps(encoded)) == np.array(encoded).tolist() == ids
    assert {id: id for id in encoded} == {id: id for id in ids}
    assert [id + 1 for id in encoded] == [id + 1 for id in ids]
    changes: list[Callable[[list[int]], object]] = [
        lambda ids: ids.append(1),
        lambda ids: ids.extend(range(1000)),
        lambda ids: ids.insert(0, 1),
        lambda ids: ids.pop(),
        lambda ids: ids.reverse(),
        lambda ids: ids.sort(),
        lambda ids: ids.clear(),
        lambda ids: ids.__setitem__(slice(3, 200), [0]),
        lambda ids: ids.__delitem__(slice(0, None, 2)),
    ]
    for change in changes:
        changed, expected = encode(tok, WORDS[:300]), list(ids)
        change(changed)
        change(expected)
        assert changed == expected
    empty = tok.encode("")
    empty.extend(ids)
    assert empty == ids


def test_rows_of_batches_share_them() -> None:
    ids = list(range(100, 1000))
    tok = tokenizer(ids)
    texts = ["".join(WORDS[:900]), "", "".join(WORDS[:3]), "x"]
    batch = tok.encode_batch(texts, special="allow")
    rows = batch.tolist()
    assert rows == [ids, [], ids[:3], [5000 + ord("x")]]
    assert all(a is b for a, b in zip(rows[0], encode(tok, WORDS[:900]), strict=True))
    backwards = jeton.TokenBatch(batch.ids[::-1], [0, 1, len(batch.ids)])
    assert backwards.tolist() == [[5000 + ord("x")], [102, 101, 100, *ids[::-1]]]
    for changed in ([0, 5, 2, 0, 0], [-1, 0, 0, 0, 0], [0, 0, 0, 0, 10_000]):
        broken = tok.encode_batch(texts, special="allow")
        broken.offsets[:] = changed
        with pytest.raises(jeton.errors.ArgumentError, match="no longer fit"):
            broken.tolist()


@pytest.mark.large
def test_references_do_not_run_out() -> None:
    ids = list(range(5, 5 + len(WORDS)))
    tok = tokenizer(ids)
    before = sys.getrefcount(5)
    for _ in range(3000):
        assert len(encode(tok, WORDS)) == 1000
    kept = [encode(tok, WORDS) for _ in range(1000)]
    del kept[::2]
    gc.collect()
    assert sys.getrefcount(5) > before - 10_000
    assert all(ids == row for row in kept)
    assert encode(tok, WORDS) == ids


def test_memory_of_lists_is_freed_or_shared() -> None:
    """The memory that Python knows of, which is that of lists and, where each is made, of ints."""
    ids = list(range(10_000, 10_000 + len(WORDS)))
    assert encode(tokenizer(ids), WORDS) == ids
    tracemalloc.start()
    try:
        for _ in range(20):
            tok = tokenizer(ids)
            for _ in range(50):
                encode(tok, WORDS)
        kept = encode(tok, WORDS)
        held = _traced_here()
        del kept, tok
        gc.collect()
        left = _traced_here()
    finally:
        tracemalloc.stop()
    assert 8 * len(ids) <= held < 60_000
    assert left < 16_000


def _traced_here() -> int:
    """Bytes that calls of this file took and hold, whatever other threads of the tests do."""
    here = tracemalloc.Filter(inclusive=True, filename_pattern=__file__)
    snapshot = tracemalloc.take_snapshot().filter_traces([here])
    return sum(trace.size for trace in snapshot.traces)


def test_threads_make_and_free_them() -> None:
    tok = tokenizer(IDS)
    words = WORDS[: len(IDS)]

    def work(_: int) -> bool:
        rows = [encode(tok, words) for _ in range(200)]
        return all(row == IDS for row in rows)

    with ThreadPoolExecutor(8) as threads:
        assert all(threads.map(work, range(32)))
        rows = list(threads.map(lambda _: encode(tok, words), range(100)))
    assert rows == [IDS] * 100


def _encode_in_child(_: int) -> list[int]:
    for _ in range(100):
        encode(tokenizer(IDS), WORDS[: len(IDS)])
    return encode(tokenizer(IDS), WORDS[: len(IDS)])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_forked_processes_have_their_own() -> None:
    kept = encode(tokenizer(IDS), WORDS[: len(IDS)])
    with multiprocessing.get_context("fork").Pool(2) as processes:
        assert processes.map(_encode_in_child, range(4)) == [IDS] * 4
    assert kept == IDS == _encode_in_child(0)


def test_lists_outlive_all_else_at_the_end() -> None:
    script = """
        import atexit
        import jeton
        tok = jeton.CharTrainer().train([chr(0x4E00 + i) for i in range(600)])
        text = "".join(chr(0x4E00 + i) for i in range(600))

        class Last:
            ids = tok.encode(text)
            def __del__(self):
                assert self.ids == sorted(self.ids), self.ids
                print(len(self.ids), "ids")

        last = Last()
        atexit.register(lambda: tok.encode(text))
    """
    command = [sys.executable, "-c", textwrap.dedent(script)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "600 ids\n", "")
