"""Neighbours, norms, under-trained tokens and maps, on planted tables."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

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
    first = torch.linalg.svd(exact, full_matrices=False).Vh[0]
    rest = exact - torch.outer(exact @ first, first)
    mean = rest[[3, 5, *range(26, 32_000)]].mean(dim=0)
    expected = 1 - torch.nn.functional.cosine_similarity(rest, mean[None], dim=1)
    # Rows and their mean are rounded to float32; the mean of this many nearly cancels.
    np.testing.assert_allclose(found.values, expected.numpy(), atol=1e-5)


@pytest.mark.parametrize("method", ["pca", "tsne"])
@pytest.mark.parametrize("kind", ["svg", "png"])
def test_maps(tok: jeton.Tokenizer, tmp_path: Path, method: Any, kind: str) -> None:
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
    path = tmp_path / f"map.{kind}"
    found.save(path, title="$letters$ <script>")
    data = path.read_bytes()
    assert data.startswith(b"\x89PNG") if kind == "png" else b"&lt;script&gt;" in data
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


@pytest.fixture
def few_fonts(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The fonts that come with matplotlib, whatever else is installed."""
    manager = pytest.importorskip("matplotlib.font_manager").fontManager
    kept = [entry for entry in manager.ttflist if "mpl-data" in str(entry.fname)]
    monkeypatch.setattr(manager, "ttflist", kept)
    return manager


def drawn_with(figure: Any, label: str) -> list[str]:
    """The families that a figure draws a label with."""
    (axes,) = figure.axes
    (found,) = (text for text in axes.texts if text.get_text() == label)
    families: list[str] = found.get_fontfamily()
    return families


def test_a_map_says_which_labels_it_cannot_draw(few_fonts: Any, tmp_path: Path) -> None:
    pytest.importorskip("sklearn")
    tok = jeton.CharTrainer().train("aπ中한🤖")
    found = nn.embedding_map(torch.randn(5, 4), tok, "aπ中한🤖")
    with pytest.warns(UserWarning) as caught:
        found.save(tmp_path / "map.png", title="中")
    assert [str(it.message) for it in caught if "Glyph" in str(it.message)] == []
    assert r"escaped: \u4e2d, \ud55c, \U0001f916, \u4e2d (" in str(caught[0].message)
    with pytest.warns(UserWarning, match="no installed font has"):
        figure = found.figure()
    for label in ("a", "π", r"\u4e2d", r"\ud55c", r"\U0001f916"):
        assert drawn_with(figure, label)
    found.save(tmp_path / "map.svg", title="中")  # no warning: the viewer has fonts of its own
    text = (tmp_path / "map.svg").read_text(encoding="utf-8")
    assert all(label in text for label in "aπ中한🤖")


def test_a_map_takes_an_installed_font_that_has_the_glyphs(few_fonts: Any, tmp_path: Path) -> None:
    pytest.importorskip("sklearn")
    builder = pytest.importorskip("fontTools.fontBuilder")
    pens = pytest.importorskip("fontTools.pens.ttGlyphPen")
    pen = pens.TTGlyphPen(None)
    pen.moveTo((0, 0))
    pen.lineTo((500, 0))
    pen.lineTo((500, 700))
    pen.closePath()
    square, empty = pen.glyph(), pens.TTGlyphPen(None).glyph()
    font = builder.FontBuilder(1000, isTTF=True)
    font.setupGlyphOrder([".notdef", "middle", "robot"])
    font.setupCharacterMap({ord("中"): "middle", ord("🤖"): "robot"})
    font.setupGlyf({".notdef": square, "middle": square, "robot": empty})
    font.setupHorizontalMetrics(dict.fromkeys((".notdef", "middle", "robot"), (600, 0)))
    font.setupHorizontalHeader(ascent=800, descent=-200)
    font.setupNameTable({"familyName": "Planted", "styleName": "Regular"})
    font.setupOS2()
    font.setupPost()
    font.save(tmp_path / "planted.ttf")
    few_fonts.addfont(tmp_path / "planted.ttf")
    tok = jeton.CharTrainer().train("ab中🤖")
    planted = nn.embedding_map(torch.randn(4, 4), tok, "ab中")
    planted.save(tmp_path / "map.png")  # no warning
    assert "Planted" in drawn_with(planted.figure(), "中")
    with pytest.warns(UserWarning, match=r"escaped: \\U0001f916 "):
        nn.embedding_map(torch.randn(4, 4), tok, "ab中🤖").figure()  # its glyph is empty


def test_labels_stand_apart_where_there_is_room() -> None:
    from jeton.nn.labels import offsets

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
    with pytest.raises(ArgumentError, match=r"svg or \.png"):
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
