"""Vectors as sparse sums of other vectors, by orthogonal matching pursuit.

A vector is approximated by a few of many: again and again the one that has the largest cosine with
what is left is chosen, and all coefficients of those chosen are fitted anew by least squares. Look
here for how the embedding of a token that only one model has becomes a sum of shared tokens.

Source: Pati et al., "Orthogonal Matching Pursuit: Recursive Function Approximation with
Applications to Wavelet Decomposition", 1993.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

_BYTES = 256 << 20
"""Memory for the targets that are approximated at a time."""
_NOTHING = 1e-6
"""A target is reached when no unit vector along what is left gains more than this share of it."""

Floats = npt.NDArray[np.float32]


def sparse_sums(targets: Floats, basis: Floats, terms: int) -> tuple[npt.NDArray[np.int64], Floats]:
    """The sums of `terms` vectors of a basis that approximate each target.

    Args:
        targets: Vectors of shape (n, width).
        basis: Vectors of shape (m, width).
        terms: The maximum number of vectors in a sum.

    Returns:
        The numbers of the chosen vectors, shape (n, terms), and their coefficients, float32 of the
        same shape; terms that are not needed have the coefficient 0.

    Example:
        >>> import numpy as np
        >>> basis = np.eye(3, dtype=np.float32)
        >>> chosen, coefficients = sparse_sums(np.float32([[0, 4, 3]]), basis, 2)
        >>> chosen.tolist(), coefficients.tolist()
        ([[1, 2]], [[4.0, 3.0]])
    """
    terms = min(terms, *basis.shape)
    lengths = np.maximum(np.linalg.norm(basis, axis=1), np.finfo(np.float32).tiny)
    unit = basis / lengths[:, None]
    chosen = np.zeros((len(targets), terms), np.int64)
    coefficients = np.zeros((len(targets), terms), np.float32)
    at_a_time = max(1, _BYTES // (8 * terms * basis.shape[1] + 4 * len(basis)))
    for first in range(0, len(targets), at_a_time):
        some = slice(first, first + at_a_time)
        chosen[some], values = _pursue(targets[some], unit, terms)
        coefficients[some] = values / lengths[chosen[some]]
    return chosen, coefficients


def _pursue(
    targets: Floats, unit: Floats, terms: int
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """The chosen rows of unit length for each target, and their coefficients."""
    n, width = targets.shape
    rows = np.arange(n)
    enough = _NOTHING * np.linalg.norm(targets, axis=1)
    left = targets.astype(np.float64)
    chosen = np.zeros((n, terms), np.int64)
    # The rows of each target are kept as Q R: orthonormal directions, and the rows in these.
    directions = np.zeros((n, terms, width))
    triangles = np.tile(np.eye(terms), (n, 1, 1))
    along = np.zeros((n, terms, 1))
    for term in range(terms):
        cosines = np.abs(left.astype(np.float32) @ unit.T)
        cosines[rows[:, None], chosen[:, :term]] = -1
        best = cosines.argmax(1)
        chosen[:, term] = best
        going = np.flatnonzero(cosines[rows, best] > enough)
        if not len(going):
            break
        before = directions[going, :term]
        direction = unit[best[going]].astype(np.float64)
        for _ in range(2):  # once is not exact enough if rows are nearly parallel
            shares = np.einsum("ntw,nw->nt", before, direction)
            direction -= np.einsum("nt,ntw->nw", shares, before)
            triangles[going, :term, term] += shares
        length = np.linalg.norm(direction, axis=1)
        direction /= length[:, None]
        directions[going, term] = direction
        triangles[going, term, term] = length
        along[going, term, 0] = np.einsum("nw,nw->n", direction, left[going])
        left[going] -= along[going, term] * direction
    return chosen, np.asarray(np.linalg.solve(triangles, along)[..., 0], np.float64)
