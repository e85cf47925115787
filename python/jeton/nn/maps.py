"""A picture of some tokens of a table: a map on which similar tokens are close together.

Look here for `embedding_map`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
import numpy.typing as npt

from jeton import files
from jeton.arguments import (
    check_text,
    checked_int,
    checked_iterable,
    checked_number,
    checked_path,
    one_of,
)
from jeton.display.labels import offsets
from jeton.display.notebooks import escaped
from jeton.display.palette import SERIES
from jeton.errors import ArgumentError, UnsupportedError
from jeton.nn.tables import Table, rows_of, token_id
from jeton.tokenizer import Tokenizer

_MAX_TOKENS = 5_000
"""More labels would be unreadable, and t-SNE would take minutes."""


_SIZE: Final = 800
_MARGIN: Final = 80
"""The width and height of the picture, and the space around its points."""

_COLOURS: Final = {
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

    def svg(self, *, title: str | None = None) -> str:
        """The map as a picture in SVG, a point and a label per token.

        Colours distinguish tokens that begin with a space, letters inside a word, and all others.
        Text stays text, which the viewer draws in fonts of its own.
        """
        if title is not None:
            check_text("title", title)
        # Both axes have one scale, so distances are as they are.
        low, high = self.points.min(axis=0), self.points.max(axis=0)
        scale = (_SIZE - 2 * _MARGIN) / max(float((high - low).max()), 1e-12)
        places = (self.points - (low + high) / 2) * scale * (1, -1) + _SIZE / 2
        size = 12.0 if len(self.ids) <= 60 else 10.0 if len(self.ids) <= 200 else 7.0
        # `offsets` counts upwards.
        corners = places + np.array(offsets(places * (1, -1), self.labels, size)) * (1, -1)
        if self.explained is None:
            x_name, y_name = "t-SNE: only closeness has a meaning", ""
        else:
            x_name, y_name = (
                f"{number} principal component ({share:.0%} of the variance)"
                for number, share in zip(("first", "second"), self.explained, strict=True)
            )
        parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_SIZE} {_SIZE}" '
            f'font-family="sans-serif" font-size="{size}">',
            f'<rect width="{_SIZE}" height="{_SIZE}" fill="#ffffff"/>',
            f'<text x="20" y="30" font-size="16" fill="#222222">{escaped(title or "")}</text>',
            f'<text x="{_SIZE / 2}" y="{_SIZE - 12}" text-anchor="middle" font-size="12" '
            f'fill="#555555">{x_name}</text>',
            f'<text transform="translate(16 {_SIZE / 2}) rotate(-90)" text-anchor="middle" '
            f'font-size="12" fill="#555555">{y_name}</text>',
        ]
        for at, (kind, colour) in enumerate(_COLOURS.items()):
            parts.append(f'<circle cx="{26 + 180 * at}" cy="50" r="4" fill="{colour}"/>')
            parts.append(f'<text x="{36 + 180 * at}" y="54" font-size="12">{kind}</text>')
        for label, (x, y), (left, bottom) in zip(
            self.labels, places.tolist(), corners.tolist(), strict=True
        ):
            parts.append(
                f'<g fill="{_COLOURS[_kind(label)]}"><circle cx="{x:.1f}" cy="{y:.1f}" r="2.5"/>'
                f'<text x="{left:.1f}" y="{bottom - size / 4:.1f}">{escaped(label)}</text></g>'
            )
        return "\n".join([*parts, "</svg>\n"])

    def save(self, path: str | os.PathLike[str], *, title: str | None = None) -> None:
        """Writes the picture in SVG.

        Raises:
            ArgumentError: The path does not end in `.svg`.
            FileError: The file cannot be written.
        """
        target = checked_path("path", path)
        if not target.lower().endswith(".svg"):
            raise ArgumentError(f"path must end in .svg, not {target!r}")
        files.write(target, self.svg(title=title).encode())


def _kind(label: str) -> str:
    if label.startswith(("␣", "▁")):
        return "begins with a space"
    return "letters" if label.isalpha() else "other"


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
        UnsupportedError: scikit-learn is not installed (`jeton[plots]`).

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
    tokens = checked_iterable("tokens", tokens, "an iterable of texts, bytes or ids", but=(bytes,))
    rows = rows_of("table", table, tok)
    ids = list(dict.fromkeys(token_id(tok, token) for token in tokens))
    if not 3 <= len(ids) <= _MAX_TOKENS:
        raise ArgumentError(f"a map takes 3 to {_MAX_TOKENS} tokens, not {len(ids)}")
    try:
        from sklearn.decomposition import PCA
        from sklearn.manifold import TSNE
    except ModuleNotFoundError:
        raise UnsupportedError(
            "embedding_map needs scikit-learn (pip install 'jeton[plots]')"
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
        [_label(tok.vocab.spelling(id)) for id in ids],
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
