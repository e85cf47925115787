"""Neighbours, norms, under-trained tokens and maps, on planted tables."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import jeton

pytest.importorskip("torch")

import torch

from jeton import nn
from jeton.errors import (
    ArgumentError,
    ArgumentTypeError,
    FileError,
    UnknownTokenError,
)

pytestmark = pytest.mark.large

LETTERS = "abcdefghijklmnopqrstuvwxyz"


@pytest.fixture(scope="module")
def tok() -> jeton.Tokenizer:
    return jeton.CharTrainer().train(LETTERS)


def test_planted_neighbours(tok: jeton.Tokenizer) -> None:
    torch.manual_seed(0)
    table = torch.randn(64, 32)
    table[7] = 3 * table[2] + 0.01 * table[3]
    table[40:] = table[2]  # padding behind the vocabulary is nobody's neighbour
    found = nn.neighbours(table, tok, "c", k=5)
    assert found[0].token == b"h" and found[0].cosine > 0.999
    assert len(found) == 5 and all(it.id != 2 and it.id < 26 for it in found)
    assert nn.neighbours(table, tok, b"c", k=5) == found == nn.neighbours(table, tok, 2, k=5)
    assert len(nn.neighbours(table, tok, "c", k=1_000)) == 25
    cosines = torch.nn.functional.cosine_similarity(table[2:3], table[:26])
    assert [it.cosine for it in found] == pytest.approx(
        sorted(cosines.tolist(), reverse=True)[1:6], abs=1e-6
    )


@pytest.mark.parametrize("kind", ["torch", "numpy", "half", "module"])
def test_tables_of_every_kind(tok: jeton.Tokenizer, kind: str) -> None:
    matrix = torch.randn(26, 4).half().float()
    table: Any = {
        "torch": matrix,
        "numpy": matrix.numpy(),
        "half": matrix.half(),
        "module": torch.nn.Embedding(26, 4, _weight=matrix),
    }[kind]
    assert [it.id for it in nn.neighbours(table, tok, "a", 3)] == [
        it.id for it in nn.neighbours(matrix, tok, "a", 3)
    ]
    np.testing.assert_allclose(nn.norms(table), np.linalg.norm(matrix.numpy(), axis=1), rtol=1e-5)


def test_norms_by_frequency_count_each_token_once() -> None:
    table = np.random.default_rng(0).normal(size=(500, 8))
    counts = np.random.default_rng(1).zipf(1.5, 500) - 1
    groups = nn.norms_by_frequency(table, counts, bins=7)
    assert sum(group.tokens for group in groups) == 500
    assert (groups[0].least, groups[0].most) == (0, 0)
    assert groups[0].tokens == int((counts == 0).sum())
    assert all(a.most < b.least for a, b in itertools.pairwise(groups))
    mean = sum(group.mean * group.tokens for group in groups) / 500
    assert mean == pytest.approx(float(np.linalg.norm(table, axis=1).mean()))


def test_planted_under_trained_tokens_untied(tok: jeton.Tokenizer) -> None:
    torch.manual_seed(0)
    table, head = torch.randn(26, 16), torch.randn(26, 16)
    table[[4, 17]] *= 0.01
    found = nn.under_trained(table, tok, head=head, share=2 / 26)
    assert (found.indicator, sorted(found.ids)) == ("norm", [4, 17])
    assert found.threshold == pytest.approx(float(found.values[found.ids[-1]]))


def test_planted_under_trained_tokens_tied(tok: jeton.Tokenizer) -> None:
    torch.manual_seed(0)
    common, unseen = torch.randn(16), torch.randn(16)
    table = torch.randn(64, 16) + 10 * common
    for row in [4, 17, *range(26, 64)]:
        table[row] = 10 * common + 3 * unseen + 0.05 * torch.randn(16)
    found = nn.under_trained(table, tok, share=2 / 26)  # padding is known to be unused
    assert (found.indicator, sorted(found.ids)) == ("cosine", [4, 17])
    given = nn.under_trained(table[:26], tok, unused=[4], share=2 / 26)
    assert sorted(given.ids) == [4, 17]


def test_tied_indicator_is_exact_and_draws_nothing(tok: jeton.Tokenizer) -> None:
    torch.manual_seed(0)
    table = torch.randn(32_000, 64) * 0.02  # no direction is much stronger than the next
    state = torch.get_rng_state()
    found = nn.under_trained(table, tok, unused=[3, 5])
    assert torch.equal(torch.get_rng_state(), state)
    np.testing.assert_array_equal(nn.under_trained(table, tok, unused=[3, 5]).values, found.values)
    exact = table.double()
    first = torch.linalg.svd(exact - exact.mean(dim=0), full_matrices=False).Vh[0]
    rest = exact - torch.outer(exact @ first, first)
    mean = rest[[3, 5, *range(26, 32_000)]].mean(dim=0)
    expected = 1 - torch.nn.functional.cosine_similarity(rest, mean[None], dim=1)
    # Rows and their mean are rounded to float32; the mean of this many nearly cancels.
    np.testing.assert_allclose(found.values, expected.numpy(), atol=1e-5)


@pytest.mark.parametrize("method", ["pca", "tsne"])
def test_maps(tok: jeton.Tokenizer, tmp_path: Path, method: Any) -> None:
    pytest.importorskip("sklearn")
    torch.manual_seed(0)
    table = torch.randn(26, 8)
    table[:13] += 20.0
    found = nn.embedding_map(table, tok, LETTERS, method=method, perplexity=5.0)
    assert found.labels == list(LETTERS)
    near, far = found.points[:13], found.points[13:]
    between = np.linalg.norm(near.mean(0) - far.mean(0))
    assert between > max(near.std(0).max(), far.std(0).max())
    again = nn.embedding_map(table, tok, LETTERS, method=method, perplexity=5.0)
    np.testing.assert_array_equal(again.points, found.points)
    path = tmp_path / "map.svg"
    found.save(path, title="$letters$ <script>")
    data = path.read_bytes()
    assert ElementTree.fromstring(data).tag == "{http://www.w3.org/2000/svg}svg"
    assert b"&lt;script&gt;" in data and b"nan" not in data
    found.save(path, title="$letters$ <script>")
    assert path.read_bytes() == data
    assert [it.name for it in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("tokens", [3, 5, 26])
def test_a_map_of_few_tokens_counts_fewer_neighbours(tok: jeton.Tokenizer, tokens: int) -> None:
    pytest.importorskip("sklearn")
    table, few = torch.randn(26, 8), LETTERS[:tokens]
    found = nn.embedding_map(table, tok, few, method="tsne")
    asked = nn.embedding_map(table, tok, few, method="tsne", perplexity=(tokens - 1) / 3)
    np.testing.assert_array_equal(found.points, asked.points)
    assert np.isfinite(found.points).all()
    with pytest.raises(ArgumentError, match=f"below the number of tokens, {tokens}, not 30"):
        nn.embedding_map(table, tok, few, method="tsne", perplexity=30.0)


def test_equal_vectors_make_a_map_of_one_point(tok: jeton.Tokenizer) -> None:
    pytest.importorskip("sklearn")
    found = nn.EmbeddingMap([0, 1, 2], list("abc"), np.ones((3, 2)), "tsne", None)
    assert "nan" not in found.svg() and found.svg().count('cx="400.0"') == 3


def test_labels_stand_apart_where_there_is_room() -> None:
    from jeton.display.labels import offsets

    points = np.random.default_rng(0).uniform(0, 500, (60, 2))
    labels = [f"␣token{number}" for number in range(60)]
    placed = points + np.array(offsets(points, labels, 8.0))

    def hidden(corners: Any) -> int:
        apart = np.abs(corners[:, None] - corners[None])
        return int(((apart[..., 0] < 30) & (apart[..., 1] < 8)).sum() - len(corners)) // 2

    assert hidden(placed) < hidden(points) / 2
    assert offsets(points[:0], [], 8.0) == []


def test_labels_show_spaces_and_bytes() -> None:
    pytest.importorskip("sklearn")
    bpe = jeton.BPETrainer(259, pattern="gpt4").train([" the the the"])
    found = nn.embedding_map(torch.randn(259, 4), bpe, [b" the", b"\n", b"\xff", b"A"])
    assert found.labels == ["␣the", r"\n", r"\xff", "A"]


BAD: dict[str, tuple[Any, type[Exception], str]] = {
    "short table": (lambda t: nn.neighbours(torch.zeros(4, 2), t, "a"), ArgumentError, "4 rows"),
    "no matrix": (
        lambda t: nn.neighbours([[1.0]], t, "a"),  # type: ignore[arg-type]
        ArgumentTypeError,
        "list",
    ),
    "ints": (lambda t: nn.norms(np.zeros((2, 2), int)), ArgumentTypeError, "int64"),
    "a cube": (lambda t: nn.norms(torch.zeros(2, 2, 2)), ArgumentError, r"\(2, 2, 2\)"),
    "nan": (lambda t: nn.norms(torch.full((3, 2), torch.nan)), ArgumentError, "row 0"),
    "no token": (
        lambda t: nn.neighbours(torch.zeros(26, 2), t, b"zz"),
        UnknownTokenError,
        "zz",
    ),
    "two tokens": (lambda t: nn.neighbours(torch.zeros(26, 2), t, "ab"), ArgumentError, "2 tok"),
    "no id": (lambda t: nn.neighbours(torch.zeros(26, 2), t, 99), UnknownTokenError, "99"),
    "k": (lambda t: nn.neighbours(torch.zeros(26, 2), t, "a", 0), ArgumentError, "k must"),
    "counts": (
        lambda t: nn.norms_by_frequency(torch.zeros(2, 2), [1, 2, 3]),
        ArgumentError,
        "at most 2",
    ),
    "share": (
        lambda t: nn.under_trained(torch.zeros(26, 2), t, share=2.0),
        ArgumentError,
        "share",
    ),
    "nothing unused": (
        lambda t: nn.under_trained(torch.ones(26, 2), t),
        ArgumentError,
        "unused=",
    ),
    "few": (lambda t: nn.embedding_map(torch.zeros(26, 2), t, "ab"), ArgumentError, "3 to"),
    "method": (
        lambda t: nn.embedding_map(torch.zeros(26, 2), t, "abc", method="x"),  # type: ignore[arg-type]
        ArgumentError,
        "method",
    ),
}


@pytest.mark.parametrize("call, error, message", BAD.values(), ids=BAD.keys())
def test_bad_input(tok: jeton.Tokenizer, call: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call(tok)


def test_a_map_is_not_written_where_it_cannot_be(tok: jeton.Tokenizer, tmp_path: Path) -> None:
    pytest.importorskip("sklearn")
    found = nn.embedding_map(torch.randn(26, 4), tok, "abc")
    with pytest.raises(ArgumentError, match=r"end in \.svg"):
        found.save(tmp_path / "map.gif")
    with pytest.raises(FileError, match="nowhere"):
        found.save(tmp_path / "nowhere" / "map.svg")


def test_without_torch() -> None:
    import subprocess
    import sys

    code = (
        "import sys; sys.modules['torch'] = None\n"
        "from jeton import nn; from jeton.nn import reference\n"
        "assert len(reference.sinusoids([1], 4)) == 1\n"
        "try: nn.TokenEmbedding\n"
        "except nn.UnsupportedError as error: print(error)\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "jeton[torch]" in run.stdout
