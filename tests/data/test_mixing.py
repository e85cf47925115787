"""Mixtures of token sets: shares, order, states, and what they are saved as."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import jeton
from jeton import data
from jeton.data import MixSource, Mixture, TokenDataset, layouts, mix, pack
from jeton.data.interleaving import Interleaving
from jeton.data.mixed_examples import taken_of
from jeton.errors import (
    ArgumentError,
    ArgumentTypeError,
    FormatError,
    JetonError,
    MissingFileError,
)

BLOCK = 8
SIZES = {"web": 1_001, "code": 241, "math": 97}
"""Tokens of the sets: 125, 30 and 12 windows."""


@pytest.fixture(scope="module")
def sets(tmp_path_factory: pytest.TempPathFactory) -> dict[str, TokenDataset]:
    """Sets in which each token says which set it is of, and where it is."""
    root = tmp_path_factory.mktemp("sets")
    for number, (name, size) in enumerate(SIZES.items()):
        ids = np.arange(size) + 10_000 * number
        lengths = [7] * (size // 7) + [size % 7] * bool(size % 7)
        with layouts.create("jeton", root / name, dtype="uint16") as writer:
            writer.append(ids, np.array(lengths))
            writer.finish()
    return {name: TokenDataset(root / name) for name in SIZES}


def mixed(sets: dict[str, TokenDataset], seed: int = 1, **amounts: Any) -> Mixture:
    tokens = amounts.pop("tokens", None)
    sources = {
        name: MixSource(sets[name], **(it if isinstance(it, dict) else {"weight": it}))
        for name, it in amounts.items()
    }
    return mix(sources, tokens=tokens, seed=seed)


def windows_of(batches: Any) -> list[tuple[str, int]]:
    """The set of each window, and its number in the set."""
    names = list(SIZES)
    firsts = [int(first) for batch in batches for first in batch.x[:, 0].tolist()]
    return [(names[first // 10_000], first % 10_000 // BLOCK) for first in firsts]


# The order


@given(
    st.lists(st.integers(1, 3_000), min_size=1, max_size=5),
    st.none() | st.integers(0, 2**64),
)
def test_an_interleaving_is_the_sorted_times_of_all_examples(
    counts: list[int], seed: int | None
) -> None:
    order = Interleaving(counts, seed)
    sources = np.repeat(np.arange(len(counts)), counts)
    numbers = np.concatenate([np.arange(count) for count in counts])
    expected = np.argsort(order._times(sources, numbers), kind="stable")
    draws = order.draws(np.arange(len(order)))
    assert draws.sources.tolist() == sources[expected].tolist()
    assert draws.numbers.tolist() == numbers[expected].tolist()
    # Any place by itself, and in any order.
    places = np.random.default_rng(0).permutation(len(order))[:50]
    some = Interleaving(counts, seed).draws(places)
    assert some.sources.tolist() == draws.sources[places].tolist()
    assert some.numbers.tolist() == draws.numbers[places].tolist()
    for place in [*places[:5].tolist(), len(order)]:
        taken = np.bincount(draws.sources[:place], minlength=len(counts))
        assert order.counts_before(place).tolist() == taken.tolist()
        shares = np.array(counts) / len(order)
        assert (abs(taken - shares * place) <= 1 + shares * len(counts)).all()


def test_equal_sources_do_not_alternate_by_rank() -> None:
    sources = Interleaving([5_000, 5_000], 0).draws(np.arange(10_000)).sources
    assert 0.45 < sources[::2].mean() < 0.55


# Shares


AMOUNTS: list[tuple[dict[str, Any], dict[str, int]]] = [
    # By default until the first source is used up.
    ({"web": 0.5, "code": 0.5}, {"web": 30, "code": 30}),
    ({"web": 0.9, "code": 0.1}, {"web": 125, "code": 13}),
    ({"web": 2, "code": 1, "tokens": 720}, {"web": 60, "code": 30}),
    ({"web": 0.7, "code": 0.3, "tokens": 1_600}, {"web": 140, "code": 60}),
    ({"web": {"epochs": 1}, "code": {"epochs": 2}}, {"web": 125, "code": 60}),
    ({"web": {"epochs": 0.5}, "code": {"tokens": 80}}, {"web": 62, "code": 10}),
    ({"web": 1, "code": {"epochs": 2}, "tokens": 960}, {"web": 60, "code": 60}),
    ({"web": 1, "code": {"tokens": 80}}, {"web": 125, "code": 10}),
    ({"web": Fraction(1, 3), "code": Fraction(1, 3), "math": Fraction(1, 3), "tokens": 80},
     {"web": 4, "code": 3, "math": 3}),
]  # fmt: skip


@pytest.mark.parametrize("amounts, counts", AMOUNTS, ids=[str(it[0])[:50] for it in AMOUNTS])
def test_shares(
    sets: dict[str, TokenDataset], amounts: dict[str, Any], counts: dict[str, int]
) -> None:
    mixture = mixed(sets, **amounts)
    examples = mixture.windows(BLOCK)
    assert examples.counts == counts and len(examples) == sum(counts.values())
    seen = windows_of(mixture.loader(4, BLOCK))
    assert Counter(name for name, _ in seen) == counts
    for name, count in counts.items():
        size = (SIZES[name] - 1) // BLOCK
        own = [number for of, number in seen if of == name]
        # Each epoch of a source is complete before the next.
        for start in range(0, count, size):
            epoch = own[start : start + size]
            assert len(set(epoch)) == len(epoch)
        assert own[:size] != own[size : 2 * size] or count <= size
    planned = {source.name: source.tokens for source in mixture.sources}
    assert mixture.tokens == sum(planned.values())
    assert all(abs(planned[name] - count * BLOCK) <= 2 * BLOCK for name, count in counts.items())


def test_the_next_epoch_goes_on_in_every_source(sets: dict[str, TokenDataset]) -> None:
    loader = mixed(sets, web=1, code=1, tokens=320).loader(4, BLOCK)
    first, second = windows_of(loader), windows_of(loader)
    assert loader.epoch == 2 and len(first) == len(second) == 40
    assert len({it for it in first + second if it[0] == "web"}) == 40


def test_without_shuffling_windows_come_in_turn(sets: dict[str, TokenDataset]) -> None:
    seen = windows_of(mixed(sets, web=2, code=1, tokens=360).loader(3, BLOCK, shuffle=False))
    assert [it for of, it in seen if of == "web"] == list(range(30))
    assert [of for of, _ in seen[:6]] == ["web", "code", "web"] * 2


def test_a_source_keeps_its_order_beside_others(sets: dict[str, TokenDataset]) -> None:
    two = windows_of(mixed(sets, web=1, code=1).loader(4, BLOCK))
    three = windows_of(mixed(sets, math=1, web=4, code=1).loader(4, BLOCK))
    first = [it for of, it in two if of == "web"]
    assert first == [it for of, it in three if of == "web"][: len(first)]


def test_examples_by_index(sets: dict[str, TokenDataset]) -> None:
    mixture = mixed(sets, web=2, code=1)
    examples = mixture.windows(BLOCK)
    batches = [*mixture.loader(7, BLOCK)]
    rows = np.concatenate([batch.x for batch in batches])
    assert [examples[at].x.tolist() for at in range(len(examples))] == rows.tolist()
    assert examples[-1].y.tolist() == batches[-1].y[-1].tolist()
    assert examples[2:5].x.tolist() == rows[2:5].tolist()
    records = examples.as_transformers()
    assert records[3]["input_ids"].tolist() == rows[3].tolist()
    assert records[3]["labels"].tolist() == [-100, *rows[3].tolist()[1:]]
    owners = examples.source_of(examples.numbers_of(np.arange(len(examples))))
    assert owners == [name for name, _ in windows_of(batches)]


# States


@pytest.mark.parametrize("stop", [1, 5, 19, 20, 23])
def test_saved_with_three_ranks_and_resumed_with_two(
    sets: dict[str, TokenDataset], stop: int
) -> None:
    mixture = mixed(sets, web=0.7, code=0.3, tokens=1_600)
    whole = windows_of(mixture.loader(1, BLOCK))
    three = [mixture.loader(3, BLOCK, rank=rank, world_size=3) for rank in range(3)]
    seen = [it for loader in three for it in windows_of(islice(loader, stop))]
    states = [loader.state_dict() for loader in three]
    if stop < 23:
        assert states[0] == states[1] == states[2]
    state = json.loads(json.dumps(states[0]))
    counts = Counter(name for name, _ in seen)
    if stop < 23:
        assert mixture.windows(BLOCK).taken(state) == {"web": 0, "code": 0, **counts}
    two = [mixture.loader(5, BLOCK, rank=rank, world_size=2) for rank in range(2)]
    for loader in two:
        loader.load_state_dict(state)
        if state["epoch"] == 0:
            seen += windows_of(loader)
    assert Counter(seen) == Counter(whole)


def test_workers_do_not_change_the_order(sets: dict[str, TokenDataset]) -> None:
    pytest.importorskip("torch")
    mixture = mixed(sets, web=0.7, code=0.3, tokens=800)
    plain = windows_of(mixture.loader(4, BLOCK))
    loader = mixture.loader(4, BLOCK, device="cpu", workers=2)
    batches = iter(loader)
    first = windows_of(islice(batches, 7))
    state = loader.state_dict()
    assert first == plain[:28]
    again = mixture.loader(4, BLOCK, device="cpu", workers=1)
    again.load_state_dict(state)
    assert windows_of(again) == plain[28:]


def test_other_shares_go_on_without_repeating(sets: dict[str, TokenDataset]) -> None:
    loader = mixed(sets, web=0.8, code=0.2, tokens=400).loader(2, BLOCK)
    before = windows_of(islice(loader, 15))
    state = loader.state_dict()
    assert sum(taken_of(state).values()) == 30
    later = mixed(sets, web=0.5, code=0.3, math=0.2, tokens=400)
    rest = later.loader(2, BLOCK, after=state)
    after = windows_of(rest)
    assert len(set(before + after)) == len(before) + len(after) == 80
    # And once more, after both.
    last = windows_of(mixed(sets, web=1, tokens=80).loader(2, BLOCK, after=rest.state_dict()))
    assert len(set(before + after + last)) == 90
    with pytest.raises(ArgumentError, match="another seed"):
        mixed(sets, seed=2, web=1).loader(2, BLOCK, after=state)
    with pytest.raises(ArgumentError, match="another seed, set or block size"):
        mixed(sets, web=1).loader(2, 2 * BLOCK, after=state)
    with pytest.raises(ArgumentError, match="shuffle must be"):
        next(iter(later.loader(2, BLOCK, after=state, shuffle=False)))
    for damaged in ({}, {**state, "taken": -1}, {**state, "mixture": 3}, {**state, "seed": "a"}):
        with pytest.raises(ArgumentError, match="after is not a state of a loader of a mixture"):
            later.loader(2, BLOCK, after=damaged)
    with pytest.raises(ArgumentTypeError, match="after must be a dict"):
        later.loader(2, BLOCK, after=3)  # type: ignore[arg-type]


def test_a_state_is_of_its_mixture(sets: dict[str, TokenDataset]) -> None:
    state = mixed(sets, web=1, code=1).loader(2, BLOCK).state_dict()
    for other in (mixed(sets, web=1, code=2), mixed(sets, web=1), mixed(sets, 2, web=1, code=1)):
        with pytest.raises(ArgumentError, match="state"):
            other.loader(2, BLOCK).load_state_dict(state)
    with pytest.raises(ArgumentError, match="not of a loader of this mixture"):
        mixed(sets, web=1).windows(BLOCK).taken(state)


# Packing


def test_packed_sequences_of_a_mixture(sets: dict[str, TokenDataset]) -> None:
    mixture = mixed(sets, web=2, code=1)
    rows = mixture.pack(20, "bins", pad_id=3)
    expected = {name: pack(sets[name], 20, "bins", pad_id=3) for name in ("web", "code")}
    documents = {"web": 0, "code": len(sets["web"].documents)}
    batch = next(iter(rows.loader(len(rows))))
    seen: Counter[str] = Counter()
    for at in range(len(rows)):
        name = "code" if batch.ids[at, 0] >= 10_000 else "web"
        seen[name] += 1
        own = expected[name][:]
        same = np.flatnonzero((own.ids == batch.ids[at]).all(1))
        assert len(same) == 1
        for field in ("labels", "position_ids"):
            assert (getattr(own, field)[same[0]] == getattr(batch, field)[at]).all()
        ids = own.document_ids[same[0]]
        moved = np.where(ids < 0, ids, ids + documents[name])
        assert (batch.document_ids[at] == moved).all()
    assert seen == rows.counts
    bounds = batch.cu_seqlens.tolist()
    assert bounds[0] == 0 and bounds[-1] == batch.ids.size
    flat = np.concatenate([np.arange(stop - start) for start, stop in pairwise(bounds)])
    assert (flat == batch.position_ids.ravel()).all()


# Megatron's blends


def test_blends_of_megatron(
    sets: dict[str, TokenDataset], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("web", "code"):
        with layouts.create("megatron", ".", split=f"{name}_document", dtype="uint16") as writer:
            writer.append(sets[name][:], sets[name].documents.lengths)
            writer.finish()
    expected = mixed(sets, web=30, code=70, tokens=400)
    parts = ["30", "web_document", "70", "code_document"]
    for blend in (parts, " ".join(parts), "3e1 './web_document' 70.0 code_document"):
        mixture = mix(blend, tokens=400, seed=1)
        assert [it.tokens for it in mixture.sources] == [it.tokens for it in expected.sources]
    whole = mix(["web_document", "code_document"])
    assert [it.epochs for it in whole.sources] == [1, 1]


BLENDS = [
    ({Path("web"): 0.7, "web": 0.3}, "web is twice among the sources"),
    ("0.7 web 0.3", "weights and paths in turn"),
    ("0.7 web code 0.3", "weights and paths in turn"),
    ("0.7 web 0.3 web", "web is twice among the sources"),
    ("0.7 'web", "cannot be split"),
    ("-1 web 0.3 code", "must be greater than 0"),
    ("", "no sources"),
    ([], "no sources"),
]


@pytest.mark.parametrize("blend, told", BLENDS, ids=[str(it[0]) for it in BLENDS])
def test_blends_that_are_none(blend: Any, told: str) -> None:
    with pytest.raises(ArgumentError, match=told):
        mix(blend)


# Files


def test_saved_and_read(sets: dict[str, TokenDataset], tmp_path: Path) -> None:
    mixture = mixed(sets, web=0.7, code={"epochs": 1.5}, tokens=900)
    mixture.save(tmp_path / "mixture.json")
    again = Mixture.read(tmp_path / "mixture.json")
    assert again.sources == mixture.sources and again.seed == mixture.seed
    assert windows_of(again.loader(4, BLOCK)) == windows_of(mixture.loader(4, BLOCK))
    again.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "mixture.json").read_bytes()
    record = json.loads((tmp_path / "mixture.json").read_text())
    assert [it["planned"]["tokens"] for it in record["sources"]] == [
        it.tokens for it in mixture.sources
    ]


def test_a_set_that_has_changed_is_refused(tmp_path: Path) -> None:
    tok = jeton.CharTrainer().train("to be or not to be")
    data.prepare(["to be", "or not"] * 20, tok, tmp_path / "a", end_of_text=None)
    mix({tmp_path / "a": 1}).save(tmp_path / "mixture.json")
    assert len(Mixture.read(tmp_path / "mixture.json").sets) == 1
    manifest = tmp_path / "a" / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"documents": 40', '"documents": 41'))
    with pytest.raises(FormatError, match="not the set that was mixed"):
        Mixture.read(tmp_path / "mixture.json")


def _changed(change: Callable[[Any], object]) -> Callable[[str], str]:
    def changed(text: str) -> str:
        record = json.loads(text)
        change(record)
        return json.dumps(record)

    return changed


DAMAGED: dict[str, tuple[Callable[[str], str], type[JetonError]]] = {
    "truncated": (lambda text: text[: len(text) // 2], FormatError),
    "a list": (lambda _: "[]", FormatError),
    "another kind": (_changed(lambda it: it.update(kind="manifest")), FormatError),
    "a later format": (_changed(lambda it: it.update(format=9)), FormatError),
    "no sources": (_changed(lambda it: it.pop("sources")), FormatError),
    "a weight of words": (_changed(lambda it: it["sources"][0].update(weight="x")), FormatError),
    "a weight below 0": (_changed(lambda it: it["sources"][0].update(weight="-1")), FormatError),
    "no amount": (_changed(lambda it: it["sources"][0].update(weight=None)), FormatError),
    "an unknown option": (
        _changed(lambda it: it["sources"][0]["open"].update(colour="red")),
        FormatError,
    ),
    "another size": (_changed(lambda it: it["sources"][0].update(size=3)), FormatError),
    "a missing set": (_changed(lambda it: it["sources"][0].update(path="gone")), MissingFileError),
}


@pytest.mark.parametrize("what", DAMAGED)
def test_damaged_files(sets: dict[str, TokenDataset], tmp_path: Path, what: str) -> None:
    damage, error = DAMAGED[what]
    path = tmp_path / "mixture.json"
    mixed(sets, web=0.7, code=0.3).save(path)
    path.write_text(damage(path.read_text()))
    with pytest.raises(error):
        Mixture.read(path)


# Bad input


def _calls() -> Iterator[tuple[str, Callable[[dict[str, TokenDataset]], object], str]]:
    yield "a number", lambda _: mix(3), "must map paths to weights"  # type: ignore[arg-type]
    yield "bytes", lambda _: mix(b"web"), "must map paths"  # type: ignore[arg-type]
    yield "no weight", lambda it: mixed(it, web=0), "weight must be greater than 0"
    yield "a weight of nan", lambda it: mixed(it, web=float("nan")), "must be a finite number"
    yield "a weight of text", lambda it: mixed(it, web="a"), "weight must be a number"
    yield "a weight of bool", lambda it: mixed(it, web=True), "weight must be a number"
    yield "two amounts", lambda it: mixed(it, web={"weight": 1, "epochs": 1}), "either a weight"
    yield "no amount", lambda it: mixed(it, web={}), "either a weight"
    yield "tokens", lambda it: mixed(it, web=1, tokens=0), "tokens must be at least 1"
    yield "a seed", lambda it: mixed(it, seed=-1, web=1), "seed must be at least 0"
    yield "too often", lambda it: mixed(it, web=1, math=1, tokens=2_000), "would come 10.3 times"
    yield (
        "nothing left",
        lambda it: mixed(it, web=1, math={"epochs": 4}, tokens=300),
        "leaves nothing for the sources with weights: the others have 388",
    )
    yield (
        "tokens that nobody shares",
        lambda it: mixed(it, web={"epochs": 1}, tokens=300),
        "no source has a weight",
    )
    yield (
        "less than a window",
        lambda it: mixed(it, web=1, math=0.001, tokens=800).windows(BLOCK),
        "math: its share is less than one example of 8 tokens",
    )
    yield "a long window", lambda it: mixed(it, web=1, math=1).windows(97), "1 too few"
    yield "a method", lambda it: mixed(it, web=1).pack(8, "bin"), "did you mean"  # type: ignore[arg-type]
    yield "an index", lambda it: mixed(it, web=1).windows(8)["a"], "an index must be"  # type: ignore[call-overload]


@pytest.mark.parametrize("what, call, told", [*_calls()], ids=[it[0] for it in _calls()])
def test_bad_input(
    sets: dict[str, TokenDataset],
    what: str,
    call: Callable[[dict[str, TokenDataset]], object],
    told: str,
) -> None:
    with pytest.raises((ArgumentError, ArgumentTypeError), match=told):
        call(sets)


def test_a_missing_set(tmp_path: Path) -> None:
    with pytest.raises(MissingFileError):
        mix({tmp_path / "gone": 1})


def test_sets_of_different_tokenizers_are_refused(tmp_path: Path) -> None:
    for name, text in (("a", "to be or not"), ("b", "to be or not to be!")):
        tok = jeton.CharTrainer().train(text)
        data.prepare(["to be"], tok, tmp_path / name, end_of_text=None)
    with pytest.raises(ArgumentError, match="different tokenizers"):
        mix({tmp_path / "a": 1, tmp_path / "b": 1})
