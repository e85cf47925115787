"""A picture of some tokens of a table: a map on which similar tokens are close together.

Look here for `embedding_map`.
"""

from __future__ import annotations

import io
import os
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from jeton import files
from jeton.arguments import check_text, checked_int, checked_path, one_of
from jeton.display.palette import SERIES
from jeton.errors import ArgumentError, ArgumentTypeError, UnsupportedError
from jeton.nn.checks import checked_number
from jeton.nn.fonts import drawable_texts
from jeton.nn.labels import offsets
from jeton.nn.tables import Table, rows_of, token_id
from jeton.tokenizer import Tokenizer

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["EmbeddingMap", "embedding_map"]

_MAX_TOKENS = 5_000
"""More labels would be unreadable, and t-SNE would take minutes."""


_COLOURS = {
    "begins with a space": SERIES[0][0],
    "letters": SERIES[1][0],
    "other": SERIES[8][0],
}


@dataclass(frozen=True)
class EmbeddingMap:
    """Tokens as points in the plane.

    Attributes:
        ids: The tokens.
        labels: The text beside each point.
        points: float64 of shape (tokens, 2).
        method: `"pca"` or `"tsne"`.
        explained: For PCA, the share of the variance along each axis; else `None`.
    """

    ids: list[int]
    labels: list[str]
    points: npt.NDArray[np.float64]
    method: Literal["pca", "tsne"]
    explained: tuple[float, float] | None

    def figure(self, *, title: str | None = None) -> Figure:
        """The map as a figure of matplotlib: 8 inches square, a point and a label per token.

        Colours distinguish tokens that begin with a space, letters inside a word, and all others.
        Labels use installed fonts that have their characters; a character without a font is
        escaped, as `\\u4e2d`, with a warning.
        """
        return self._draw(title, fonts_of_viewer=False)

    def _draw(self, title: str | None, *, fonts_of_viewer: bool) -> Figure:
        import matplotlib
        from matplotlib.figure import Figure

        if title is not None:
            check_text("title", title)
        texts = [*self.labels, title or ""]
        families = list(matplotlib.rcParams["font.family"])
        if not fonts_of_viewer:
            texts, families = drawable_texts(texts)
        *labels, title = texts
        figure = Figure(figsize=(8, 8), layout="constrained")
        axes = figure.add_subplot()
        kinds = [
            "begins with a space"
            if label.startswith(("␣", "▁"))
            else "letters"
            if label.isalpha()
            else "other"
            for label in self.labels
        ]
        for kind, colour in _COLOURS.items():
            group = self.points[[at for at, it in enumerate(kinds) if it == kind]]
            if len(group):
                axes.scatter(group[:, 0], group[:, 1], s=16, color=colour, linewidths=0, label=kind)
        axes.margins(0.06)
        axes.spines[["top", "right"]].set_visible(False)
        axes.spines[["left", "bottom"]].set_color("#bbbbbb")
        axes.tick_params(colors="#777777", labelsize=8)
        if self.explained is not None:
            for axis, number, share in zip("xy", ("first", "second"), self.explained, strict=True):
                text = f"{number} principal component ({share:.0%} of the variance)"
                getattr(axes, f"set_{axis}label")(text, fontsize=9, color="#555555")
        else:
            axes.set_xticks([])
            axes.set_yticks([])
            axes.spines[["left", "bottom"]].set_visible(False)
            axes.set_xlabel("t-SNE: only closeness has a meaning", fontsize=9, color="#555555")
        if title:
            axes.set_title(
                title,
                fontsize=12,
                fontfamily=families,
                loc="left",
                color="#222222",
                pad=26,
                parse_math=False,
            )
        axes.legend(
            loc="lower left",
            bbox_to_anchor=(-0.01, 1.0),
            ncols=len(_COLOURS),
            frameon=False,
            fontsize=9,
            handletextpad=0.1,
            columnspacing=1.2,
            labelcolor="#555555",
        )
        figure.draw_without_rendering()  # fixes the axes, which the positions of labels depend on
        size = 9.0 if len(self.ids) <= 60 else 8.0 if len(self.ids) <= 200 else 5.5
        on_paper = axes.transData.transform(self.points) * 72 / figure.dpi
        for at, (dx, dy) in enumerate(offsets(on_paper, labels, size)):
            axes.annotate(
                labels[at],
                self.points[at],
                xytext=(dx, dy),
                textcoords="offset points",
                va="bottom",
                fontsize=size,
                fontfamily=families,
                color=_COLOURS[kinds[at]],
                parse_math=False,
            )
        return figure

    def save(self, path: str | os.PathLike[str], *, title: str | None = None) -> None:
        """Writes the picture: `.svg` (text stays text) or `.png` (200 dots per inch).

        In an `.svg` the viewer chooses fonts for characters that the default font lacks; for a
        `.png` see `figure`.

        Raises:
            ArgumentError: The path has another ending.
            FileError: The file cannot be written.
        """
        import matplotlib

        target = checked_path("path", path)
        kind = os.path.splitext(target)[1].lower().lstrip(".")
        if kind not in ("svg", "png"):
            raise ArgumentError(f"path must end in .svg or .png, not {target!r}")
        buffer = io.BytesIO()
        settings = {"svg.fonttype": "none", "svg.hashsalt": "jeton"}
        stamp: dict[str, Any] = {"Date": None} if kind == "svg" else {"Software": None}
        with matplotlib.rc_context(settings), warnings.catch_warnings():
            if kind == "svg":  # measures with this machine's fonts, the viewer draws with its own
                warnings.filterwarnings("ignore", "Glyph .* missing from font", UserWarning)
            picture = self._draw(title, fonts_of_viewer=kind == "svg")
            picture.savefig(buffer, format=kind, dpi=200, metadata=stamp)
        files.write(target, buffer.getvalue())


def embedding_map(
    table: Table,
    tok: Tokenizer,
    tokens: Iterable[int | str | bytes],
    *,
    method: Literal["pca", "tsne"] = "pca",
    perplexity: float | None = None,
    seed: int = 0,
) -> EmbeddingMap:
    """A map of some tokens, from their vectors.

    Args:
        table: The embeddings, of shape (tokens, dim).
        tok: The tokenizer of the model.
        tokens: Which tokens: texts that are one token each, bytes, or ids; 3 to 5,000.
        method: `"pca"`: the plane of greatest variance, which preserves distances as well as a
            plane can. `"tsne"`: neighbours stay neighbours, but distances mean nothing.
        perplexity: For t-SNE, about how many neighbours count; less than the number of tokens. By
            default 30, or a third of the other tokens if these are fewer than 90.
        seed: For t-SNE; the same seed gives the same map on the same machine.

    Raises:
        ArgumentError: There are too few or too many tokens, or a text is not exactly one token.
        UnsupportedError: scikit-learn and matplotlib are not installed (`jeton[plots]`).

    Source: Pearson, 1901 (PCA); van der Maaten and Hinton, "Visualizing Data using t-SNE", 2008.

    Example:
        >>> import torch, jeton
        >>> from jeton.nn import embedding_map
        >>> tok = jeton.CharTrainer().train("abcd")
        >>> table = torch.tensor([[0.0, 0.0], [4.0, 0.0], [0.0, 1.0], [4.0, 1.0]])
        >>> letters = embedding_map(table, tok, "abcd")
        >>> letters.labels, [round(share, 2) for share in letters.explained]
        (['a', 'b', 'c', 'd'], [0.94, 0.06])
    """
    one_of("method", method, ("pca", "tsne"))
    if perplexity is not None:
        perplexity = checked_number("perplexity", perplexity)
    seed = checked_int("seed", seed, 0)
    if isinstance(tokens, bytes) or not isinstance(tokens, Iterable):
        raise ArgumentTypeError(
            f"tokens must be an iterable of texts, bytes or ids, not {type(tokens).__name__}"
        )
    rows = rows_of("table", table, tok)
    ids = list(dict.fromkeys(token_id(tok, token) for token in tokens))
    if not 3 <= len(ids) <= _MAX_TOKENS:
        raise ArgumentError(f"a map takes 3 to {_MAX_TOKENS} tokens, not {len(ids)}")
    try:
        from sklearn.decomposition import PCA
        from sklearn.manifold import TSNE
    except ModuleNotFoundError:
        raise UnsupportedError(
            "embedding_map needs scikit-learn and matplotlib (pip install 'jeton[plots]')"
        ) from None
    vectors = rows[ids].numpy().astype(np.float64)
    explained = None
    if method == "pca":
        if vectors.shape[1] < 2:
            raise ArgumentError("a map needs vectors of at least two numbers")
        pca = PCA(2, svd_solver="full").fit(vectors)
        points = pca.transform(vectors)
        first, second = pca.explained_variance_ratio_
        explained = (float(first), float(second))
    else:
        if perplexity is None:
            perplexity = min(30.0, (len(ids) - 1) / 3)
        if not 0 < perplexity < len(ids):
            raise ArgumentError(
                f"perplexity must be above 0 and below the number of tokens, {len(ids)}, not "
                f"{perplexity}"
            )
        points = TSNE(
            perplexity=perplexity, init="pca", learning_rate="auto", random_state=seed
        ).fit_transform(vectors)
    return EmbeddingMap(
        ids,
        [_label(tok.token_spelling(id)) for id in ids],
        np.asarray(points, np.float64),
        method,
        explained,
    )


def _label(token: bytes) -> str:
    """A readable spelling of a token: spaces as `␣`, and escapes for what is not text."""
    try:
        text = token.decode()
    except UnicodeDecodeError:
        return str(token)[2:-1]
    text = text.replace(" ", "␣")
    return text if text.isprintable() else repr(text)[1:-1]
