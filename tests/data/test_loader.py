"""Loaders: every example once an epoch, whoever shares it, and wherever it is resumed."""

from __future__ import annotations

import json
from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jeton.data import Loader, TokenDataset, pack
from jeton.data.dataset import Windows
from jeton.data.order import shuffled
from jeton.errors import ArgumentError, ArgumentTypeError, UnsupportedError
from prepared import without_waiting
from test_token_dataset import ascending

pytestmark = pytest.mark.usefixtures(without_waiting.__name__)

BLOCK = 4


@pytest.fixture(scope="module")
def tokens(tmp_path_factory: pytest.TempPathFactory) -> TokenDataset:
    """1,000 tokens, of which each is its own place."""
    return ascending(tmp_path_factory.mktemp("set"), 1_000)


class Few(Windows):
    """The first windows of a set."""

    def __init__(self, tokens: TokenDataset, count: int) -> None:
        super().__init__(tokens, BLOCK)
        self.count = count

    def __len__(self) -> int:
        return self.count


def loader(tokens: TokenDataset, count: int, batch_size: int, **options: Any) -> Loader[Any]:
    return Few(tokens, count).loader(batch_size, **options)


def numbers(batches: Iterable[Any]) -> list[list[int]]:
    """Which windows are in each batch."""
    found = []
    for x, y in batches:
        assert (np.asarray(y) == np.asarray(x) + 1).all()
        assert (np.asarray(x) == np.asarray(x)[:, :1] + np.arange(BLOCK)).all()
        found.append((np.asarray(x)[:, 0] // BLOCK).tolist())
    return found


SHARED = {
    "count": st.integers(1, 60),
    "batch_size": st.integers(1, 9),
    "world_size": st.integers(1, 5),
    "seed": st.integers(0, 2**63 - 1),
}


@given(**SHARED, shuffle=st.booleans())
def test_every_window_once_an_epoch(
    tokens: TokenDataset, count: int, batch_size: int, world_size: int, seed: int, shuffle: bool
) -> None:
    options = {"seed": seed, "shuffle": shuffle, "world_size": world_size}
    ranks = [loader(tokens, count, batch_size, rank=rank, **options) for rank in range(world_size)]
    for epoch in range(2):
        shares = [numbers(rank) for rank in ranks]
        flat = [number for share in shares for batch in share for number in batch]
        assert sorted(flat) == list(range(count))
        assert {rank.epoch for rank in ranks} == {epoch + 1}
        for rank, share in zip(ranks, shares, strict=True):
            assert len(share) == len(rank)
            assert all(len(batch) == batch_size for batch in share[:-1])
        assert max(map(len, shares)) - min(map(len, shares)) <= 1


@given(**SHARED)
def test_ranks_take_equally_many_whole_batches(
    tokens: TokenDataset, count: int, batch_size: int, world_size: int, seed: int
) -> None:
    options = {"seed": seed, "world_size": world_size, "drop_last": True}
    if count < batch_size * world_size:
        with pytest.raises(ArgumentError, match="with drop_last there is no batch"):
            loader(tokens, count, batch_size, **options)
        return
    shares = [
        numbers(loader(tokens, count, batch_size, rank=rank, **options))
        for rank in range(world_size)
    ]
    flat = [number for share in shares for batch in share for number in batch]
    assert (
        len(flat) == len(set(flat)) == count // (batch_size * world_size) * batch_size * world_size
    )
    assert len({len(share) for share in shares}) == 1


@pytest.mark.large
@given(**SHARED, stop=st.integers(0, 130), workers=st.integers(1, 4))
def test_resumed_is_unbroken(
    tokens: TokenDataset,
    count: int,
    batch_size: int,
    world_size: int,
    seed: int,
    stop: int,
    workers: int,
) -> None:
    options = {"seed": seed, "rank": world_size - 1, "world_size": world_size}

    def endless(source: Loader[Any]) -> Iterable[Any]:
        while True:
            yield from source

    if not len(loader(tokens, count, batch_size, **options)):
        return
    unbroken = numbers(islice(endless(loader(tokens, count, batch_size, **options)), stop + 7))
    stopped = loader(tokens, count, batch_size, **options)
    assert numbers(islice(endless(stopped), stop)) == unbroken[:stop]
    state = json.loads(json.dumps(stopped.state_dict()))
    resumed = loader(tokens, count, batch_size, **options)
    resumed.load_state_dict(state)
    assert numbers(islice(endless(resumed), 7)) == unbroken[stop:]
    # What is left of the epoch, by workers that torch asks in turns.
    resumed.load_state_dict(state)
    whole = numbers(resumed)
    shares = []
    for worker in range(workers):
        resumed.load_state_dict(state)
        shares.append(numbers(resumed._share(worker, workers)))
    turns = [share[turn] for turn in range(len(whole)) for share in shares if turn < len(share)]
    assert turns == whole


@given(**SHARED, steps=st.integers(0, 60), others=st.integers(1, 5), size=st.integers(1, 9))
def test_resumed_by_other_ranks(
    tokens: TokenDataset,
    count: int,
    batch_size: int,
    world_size: int,
    seed: int,
    steps: int,
    others: int,
    size: int,
) -> None:
    steps = min(steps, count // (batch_size * world_size))
    taken: list[int] = []
    state: Any = None
    for rank in range(world_size):
        source = loader(tokens, count, batch_size, seed=seed, rank=rank, world_size=world_size)
        for batch in numbers(islice(source, steps)):
            taken += batch
        assert state is None or source.state_dict() == state
        state = source.state_dict()
    if state["epoch"]:
        return
    for rank in range(others):
        source = loader(tokens, count, size, seed=seed, rank=rank, world_size=others)
        source.load_state_dict(state)
        taken += [number for batch in numbers(source) for number in batch]
    assert sorted(taken) == list(range(count))


def test_epochs_differ(tokens: TokenDataset) -> None:
    source = loader(tokens, 60, 10)
    epochs = [numbers(source) for _ in range(3)]
    assert epochs[0] != epochs[1] != epochs[2] != epochs[0]
    source.set_epoch(1)
    assert numbers(source) == epochs[1]
    assert numbers(loader(tokens, 60, 10, seed=1)) not in epochs
    assert numbers(loader(tokens, 60, 60, shuffle=False)) == [list(range(60))]


def test_all_windows_of_a_set(tokens: TokenDataset) -> None:
    source = tokens.loader(batch_size=10, block_size=BLOCK)
    # 1,000 tokens have 249 windows: what follows the 250th is missing.
    assert sorted(number for batch in numbers(source) for number in batch) == list(range(249))
    with pytest.raises(ArgumentError, match="1 too few for block_size=1,000"):
        tokens.loader(batch_size=1, block_size=1_000)


@pytest.mark.parametrize("count", [1, 2, 3, 5, 16, 17, 100, 1_000])
def test_orders(count: int) -> None:
    """Every number once, each equally often at each place."""
    first = np.zeros(count, np.int64)
    seeds = 400 if count <= 17 else 20
    for seed in range(seeds):
        order = shuffled(np.arange(count), count, seed, 0)
        assert sorted(order.tolist()) == list(range(count))
        assert order[count // 2] == shuffled(np.array([count // 2]), count, seed, 0)[0]
        first[order[0]] += 1
    if count <= 17:
        expected = seeds / count
        # Far beyond what 1 in 10,000 tables would have.
        assert ((first - expected) ** 2 / expected).sum() < count + 8 * np.sqrt(count) + 15


def test_orders_of_billions() -> None:
    order = shuffled(np.arange(1_000), 10**12, 5, 2)
    assert len(set(order.tolist())) == 1_000 and 0 <= order.min() <= order.max() < 10**12
    # 1,000 numbers fall into ten tenths; neighbours are no longer neighbours.
    assert np.bincount(order // 10**11, minlength=10).min() > 50
    assert np.abs(np.diff(order)).min() > 1_000


def test_tensors_by_workers(tokens: TokenDataset) -> None:
    torch = pytest.importorskip("torch")
    plain = numbers(loader(tokens, 50, 4))
    source = loader(tokens, 50, 4, device="cpu", workers=2)
    assert isinstance(source, torch.utils.data.IterableDataset)
    batches = iter(source)
    first = [next(batches) for _ in range(5)]
    assert first[0].x.dtype == torch.int64
    assert numbers(first) == plain[:5]
    state = source.state_dict()
    assert state == {**state, "epoch": 0, "taken": 20}
    del batches
    for workers in (0, 1):
        resumed = loader(tokens, 50, 4, device="cpu", workers=workers)
        resumed.load_state_dict(state)
        assert numbers(resumed) == plain[5:]
        assert resumed.epoch == 1


def test_a_data_loader_of_ones_own(tokens: TokenDataset) -> None:
    data = pytest.importorskip("torch.utils.data")
    source = loader(tokens, 50, 4, device="cpu")
    for workers in (0, 2):
        source.set_epoch(0)
        found = numbers(data.DataLoader(source, batch_size=None, num_workers=workers))
        assert found == numbers(loader(tokens, 50, 4))


def test_a_state_that_only_workers_know_is_an_error(tokens: TokenDataset) -> None:
    data = pytest.importorskip("torch.utils.data")
    source = loader(tokens, 50, 4, device="cpu")
    assert source.state_dict()["taken"] == 0
    batches = iter(data.DataLoader(source, batch_size=None, num_workers=2))
    next(batches)
    with pytest.raises(UnsupportedError, match="StatefulDataLoader"):
        source.state_dict()
    del batches
    own = iter(source)
    next(own)
    assert source.state_dict()["taken"] == 4


# torchdata 0.11 calls what torch 2.15 deprecates.
@pytest.mark.filterwarnings("ignore:'set_vital' is deprecated:UserWarning")
@pytest.mark.large
def test_a_stateful_data_loader_resumes(tokens: TokenDataset) -> None:
    stateful = pytest.importorskip("torchdata.stateful_dataloader")
    plain = numbers(loader(tokens, 50, 4))
    for workers in (0, 2):
        options = {"batch_size": None, "num_workers": workers}
        batches = stateful.StatefulDataLoader(loader(tokens, 50, 4, device="cpu"), **options)
        running = iter(batches)
        first = [next(running) for _ in range(5)]
        state = batches.state_dict()
        del running
        resumed = stateful.StatefulDataLoader(loader(tokens, 50, 4, device="cpu"), **options)
        resumed.load_state_dict(state)
        assert numbers(first) + numbers(resumed) == plain


def test_packed_rows(tmp_path: Path) -> None:
    packing = pack([[1, 2, 3], [4, 5], [6], [7, 8, 9, 10]], 4, "bins")
    rows = [row for batch in packing.loader(2) for row in batch.ids.tolist()]
    assert sorted(rows) == sorted(packing[:].ids.tolist())
    torch = pytest.importorskip("torch")
    [batch] = packing.loader(3, device="cpu", shuffle=False)
    assert torch.equal(batch.labels, torch.as_tensor(packing[:].labels))
    assert batch.mask().shape == (3, 4, 4) and batch.max_seqlen == 4


STATES: list[tuple[str, Any, type[Exception], str]] = [
    ("no dict", 3, ArgumentTypeError, "state must be a dict"),
    ("empty", {}, ArgumentError, "has no 'tokens'"),
    ("another seed", {"seed": 1}, ArgumentError, "saved with seed=1, but here it is 0"),
    ("another set", {"tokens": 999}, ArgumentError, "saved with tokens=999"),
    ("another window", {"block_size": 5}, ArgumentError, "saved with block_size=5"),
    ("too far", {"taken": 51}, ArgumentError, "taken 51 examples of 50; it is damaged"),
    ("backwards", {"taken": -1}, ArgumentError, "at least 0"),
    ("no epoch", {"epoch": None}, ArgumentTypeError, "epoch of the state must be an int"),
]


@pytest.mark.parametrize("what, change, error, told", STATES, ids=[state[0] for state in STATES])
def test_states(
    tokens: TokenDataset, what: str, change: Any, error: type[Exception], told: str
) -> None:
    source = loader(tokens, 50, 4)
    state = change if what in ("no dict", "empty") else {**source.state_dict(), **change}
    with pytest.raises(error, match=told):
        source.load_state_dict(state)
    assert len(numbers(source)) == 13


CALLS: list[tuple[str, dict[str, Any], str]] = [
    ("rank", {"rank": 2, "world_size": 2}, "ranks run from 0 to world_size - 1, 1"),
    ("negative rank", {"rank": -1}, "rank must be at least 0"),
    ("no ranks", {"world_size": 0}, "world_size must be at least 1"),
    ("no batch", {"batch_size": 0}, "batch_size must be at least 1"),
    ("seed", {"seed": -1}, "seed must be at least 0"),
    ("workers", {"workers": 2}, "workers return tensors"),
]


@pytest.mark.parametrize("what, options, told", CALLS, ids=[call[0] for call in CALLS])
def test_arguments(tokens: TokenDataset, what: str, options: dict[str, Any], told: str) -> None:
    with pytest.raises(ArgumentError, match=told):
        tokens.loader(**{"batch_size": 2, "block_size": 4, **options})
