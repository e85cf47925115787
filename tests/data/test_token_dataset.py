"""Token sets that are read: slices, documents, and random windows."""

from __future__ import annotations

import pickle
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import jeton
from jeton.data import TokenDataset, prepare
from jeton.errors import (
    ArgumentError,
    ArgumentTypeError,
    DecodeError,
    FormatError,
    JetonError,
    MissingFileError,
)
from prepared import without_waiting
from test_layouts import NAMES, documents, write

pytestmark = pytest.mark.usefixtures(without_waiting.__name__)


def opened(
    folder: Path, given: list[list[int]], name: str = "jeton", **options: Any
) -> TokenDataset:
    size = None if name == "nanogpt" else 50
    write(folder, name, given, dtype="uint16", shard_tokens=size)
    return TokenDataset(folder, dtype="uint16" if name == "nanogpt" else None, **options)


def ascending(folder: Path, tokens: int) -> TokenDataset:
    return opened(folder, [list(range(at, min(tokens, at + 7))) for at in range(0, tokens, 7)])


@pytest.mark.parametrize("name", NAMES)
def test_slices(tmp_path: Path, name: str) -> None:
    flat = [token for document in documents(60, "uint16") for token in document]
    tokens = opened(tmp_path, documents(60, "uint16"), name)

    @settings(max_examples=50)
    @given(
        start=st.none() | st.integers(-len(flat) - 5, len(flat) + 5),
        stop=st.none() | st.integers(-len(flat) - 5, len(flat) + 5),
        step=st.none() | st.sampled_from([1, 2, 7, -1, -3]),
    )
    def check(start: int | None, stop: int | None, step: int | None) -> None:
        assert tokens[start:stop:step].tolist() == flat[start:stop:step]

    check()
    assert len(tokens) == len(flat)
    assert [tokens[0], tokens[-1], tokens[80]] == [flat[0], flat[-1], flat[80]]
    assert tokens.dtype == np.uint16 and tokens[:10].dtype == np.uint16
    with pytest.raises(IndexError, match="no token"):
        tokens[len(flat)]


def test_slices_are_views(tmp_path: Path) -> None:
    tokens = ascending(tmp_path, 100)
    assert np.shares_memory(tokens[3:9], tokens[5:20])
    with pytest.raises(ValueError, match="read-only"):
        tokens[3:9][0] = 1


@pytest.mark.parametrize("name", NAMES)
def test_documents(tmp_path: Path, name: str) -> None:
    given = [[*(token % 100 for token in document), 500] for document in documents(60, "uint16")]
    tokens = opened(tmp_path, given, name, end_of_text=500)
    assert len(tokens.documents) == len(given)
    assert [document.tolist() for document in tokens.documents] == given
    assert tokens.documents[-1].tolist() == given[-1]
    assert [found.tolist() for found in tokens.documents[2:5]] == given[2:5]
    assert tokens.documents.lengths.tolist() == [len(document) for document in given]
    at = len(given[0]) + len(given[1])
    assert [tokens.documents.at(at - 1), tokens.documents.at(at)] == [1, 2]
    with pytest.raises(IndexError, match="no document 60 among 60"):
        tokens.documents[60]


def test_documents_by_a_token(tmp_path: Path) -> None:
    write(tmp_path, "llm.c", [[9, 1, 2], [9], [9, 3]], dtype="uint16")
    with pytest.raises(ArgumentError, match="open it with end_of_text="):
        _ = TokenDataset(tmp_path).documents
    before = TokenDataset(tmp_path, end_of_text=9, end_of_text_place="before")
    assert before.documents.offsets.tolist() == [0, 3, 4, 6]
    after = TokenDataset(tmp_path, end_of_text=2)
    assert after.documents.offsets.tolist() == [0, 3, 6]
    with pytest.raises(ArgumentError, match="does not begin with token 2"):
        _ = TokenDataset(tmp_path, end_of_text=2, end_of_text_place="before").documents


def test_decode(tmp_path: Path) -> None:
    tokenizer = jeton.BPETrainer(256).train(["déjà"])
    write(tmp_path, "jeton", [tokenizer.encode("déjà vu")], dtype="uint16")
    tokens = TokenDataset(tmp_path, tokenizer=tokenizer)
    assert tokens.decode(slice(0, 6)) == "déjà"
    assert tokens.decode(tokens[6:]) == " vu"
    with pytest.raises(DecodeError):
        tokens.decode(slice(0, 2), errors="strict")
    with pytest.raises(ArgumentError, match="needs a tokenizer"):
        TokenDataset(tmp_path).decode(slice(0, 2))


def test_the_tokenizer_is_that_of_the_manifest(tmp_path: Path) -> None:
    made = jeton.BPETrainer(300, special_tokens=["<|endoftext|>"]).train(["to be or not to be"])
    other = jeton.BPETrainer(300, special_tokens=["<|endoftext|>"]).train(["that is the question"])
    for layout in ("jeton", "datatrove"):
        folder = tmp_path / layout
        manifest = prepare(["to be", "or not"], made, folder, layout=layout)
        [shard] = manifest.splits["train"].shards
        for path in (folder, folder / shard.files[0]):
            with pytest.raises(
                ArgumentError, match=r"its digest is \w{16}.*tokenizer.json is there"
            ):
                TokenDataset(path, tokenizer=other)
            assert TokenDataset(path, tokenizer=made).decode(slice(0, 2)).startswith("to")
            assert TokenDataset(path).decode(slice(0, 2)).startswith("to")
        with pytest.raises(ArgumentTypeError, match="must be a Tokenizer, not str"):
            TokenDataset(folder, tokenizer="gpt2")  # type: ignore[arg-type]
    # A file that the manifest does not name is none of the set.
    write(tmp_path / "jeton", "nanogpt", [[1, 2]], dtype="uint16")
    assert len(TokenDataset(tmp_path / "jeton" / "train.bin", dtype="uint16", tokenizer=other)) == 2


def test_a_pickle_opens_the_files_again(tmp_path: Path) -> None:
    tokens = ascending(tmp_path, 5_000)
    packed = pickle.dumps(tokens)
    assert len(packed) < 1_000
    assert pickle.loads(packed)[4_000:4_003].tolist() == [4_000, 4_001, 4_002]


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(length=st.integers(2, 30), block=st.integers(1, 29), seed=st.integers(0, 2**32))
def test_every_window_can_come(
    tmp_path_factory: pytest.TempPathFactory, length: int, block: int, seed: int
) -> None:
    tokens = ascending(tmp_path_factory.mktemp("set"), length)
    if block >= length:
        with pytest.raises(ArgumentError, match=f"{block + 1 - length} too few for block_size"):
            tokens.get_batch(1, block)
        return
    x, y = tokens.get_batch(2_000, block, generator=np.random.default_rng(seed))
    assert x.shape == y.shape == (2_000, block) and x.dtype == y.dtype == np.int64
    assert (x == x[:, :1] + np.arange(block)).all() and (y == x + 1).all()
    starts = Counter(x[:, 0].tolist())
    assert set(starts) == set(range(length - block))


def test_all_windows_are_equally_likely(tmp_path: Path) -> None:
    tokens = ascending(tmp_path, 25)
    x, _ = tokens.get_batch(40_000, 5, generator=np.random.default_rng(1))
    found = np.bincount(x[:, 0], minlength=20)
    # 19 degrees of freedom: 1 in 10,000 would be above 50.
    assert ((found - 2_000) ** 2 / 2_000).sum() < 50


def test_generators(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    tokens = ascending(tmp_path, 500)
    first, again = (tokens.get_batch(4, 8, generator=np.random.default_rng(3)) for _ in range(2))
    assert np.array_equal(first.x, again.x)
    first, again = (
        tokens.get_batch(4, 8, generator=torch.Generator().manual_seed(3)) for _ in range(2)
    )
    assert np.array_equal(first.x, again.x)
    torch.manual_seed(5)
    seeded = tokens.get_batch(4, 8, device="cpu")
    torch.manual_seed(5)
    assert torch.equal(seeded.x, tokens.get_batch(4, 8, device="cpu").x)
    assert not np.array_equal(tokens.get_batch(64, 8).x, tokens.get_batch(64, 8).x)
    with pytest.raises(ArgumentTypeError, match=r"must be a numpy\.random\.Generator"):
        tokens.get_batch(4, 8, generator=3)


def test_tensors(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    tokens = ascending(tmp_path, 500)
    x, y = tokens.get_batch(4, 8, device="cpu", generator=np.random.default_rng(0))
    assert x.dtype == y.dtype == torch.int64 and x.shape == (4, 8)
    assert torch.equal(y, x + 1)
    assert tokens.get_batch(4, 8, device="meta").x.device.type == "meta"
    with pytest.raises(ArgumentError, match="device cannot be 'gpu'"):
        tokens.get_batch(4, 8, device="gpu")


def test_windows_to_a_gpu_are_pinned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch")
    calls: list[Any] = []

    def to(tensor: Any, device: Any, **options: Any) -> Any:
        calls.append((device, options))
        return tensor

    def pin_memory(tensor: Any) -> Any:
        calls.append("pinned")
        return tensor

    monkeypatch.setattr(torch.Tensor, "pin_memory", pin_memory)
    monkeypatch.setattr(torch.Tensor, "to", to)
    ascending(tmp_path, 500).get_batch(4, 8, device="cuda:1")
    assert calls == ["pinned", (torch.device("cuda:1"), {"non_blocking": True})] * 2


CALLS: list[tuple[str, dict[str, Any], type[JetonError], str]] = [
    ("path", {"path": 3}, ArgumentTypeError, "path must be a path"),
    ("nothing there", {"path": "nowhere"}, MissingFileError, "no such file or folder"),
    ("split", {"split": "val"}, MissingFileError, "no split 'val'; it has train"),
    ("layout", {"layout": "jetons"}, ArgumentError, "did you mean 'jeton'"),
    ("dtype", {"dtype": "int32"}, ArgumentError, "dtype must be"),
    ("end of text", {"end_of_text": "<|end|>"}, ArgumentTypeError, "end_of_text must be an int"),
    ("place", {"end_of_text_place": "behind"}, ArgumentError, '"after" or "before"'),
]


@pytest.mark.parametrize("what, options, error, told", CALLS, ids=[call[0] for call in CALLS])
def test_arguments(
    tmp_path: Path, what: str, options: dict[str, Any], error: type[JetonError], told: str
) -> None:
    ascending(tmp_path, 10)
    with pytest.raises(error, match=told):
        TokenDataset(**{"path": tmp_path, **options})


@pytest.mark.parametrize("batch_size, block_size", [(0, 2), (2, 0), (2.5, 2), (2, "2"), (True, 1)])
def test_sizes(tmp_path: Path, batch_size: Any, block_size: Any) -> None:
    with pytest.raises((ArgumentError, ArgumentTypeError), match="_size must be"):
        ascending(tmp_path, 10).get_batch(batch_size, block_size)


@pytest.mark.parametrize("name", [name for name in NAMES if name != "nanogpt"])
@pytest.mark.parametrize("at", [0, 1, -1])
def test_a_shard_that_is_missing_is_an_error(name: Any, at: int, tmp_path: Path) -> None:
    texts = [f"the weather {number}" for number in range(200)]
    options: dict[str, Any] = {"shard_tokens": 400, "validation": 0.2}
    manifest = prepare(texts, jeton.load("jeton-4k"), tmp_path, layout=name, **options)
    shards = manifest.splits["train"].shards
    assert len(shards) > 1
    val = len(TokenDataset(tmp_path, split="val"))
    for file in shards[at].files:
        (tmp_path / file).unlink()
    with pytest.raises((MissingFileError, FormatError), match=r"is missing, and \S+ lists it"):
        TokenDataset(tmp_path, split="train")
    assert len(TokenDataset(tmp_path, split="val")) == val


def test_a_shard_of_another_set_is_an_error(tmp_path: Path) -> None:
    texts = [f"the weather {number}" for number in range(200)]
    manifest = prepare(texts, jeton.load("jeton-4k"), tmp_path, shard_tokens=400, validation=0.2)
    new = f"train-{len(manifest.splits['train'].shards):05}"
    for suffix in (".bin", ".ends"):
        shutil.copy(tmp_path / f"train-00000{suffix}", tmp_path / f"{new}{suffix}")
    with pytest.raises(FormatError, match=rf"{new}.bin: manifest.json does not list it"):
        TokenDataset(tmp_path)
    assert len(TokenDataset(tmp_path, split="val")) == manifest.splits["val"].tokens
    assert len(TokenDataset(tmp_path / f"{new}.bin")) == manifest.splits["train"].shards[0].tokens
