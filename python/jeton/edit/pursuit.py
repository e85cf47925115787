"""Vectors as sparse sums of other vectors, by orthogonal matching pursuit.

A vector is approximated by a few of many: again and again the one that has the largest cosine with
what is left is chosen, and all coefficients of those chosen are fitted anew by least squares. Look
here for how the embedding of a token that only one model has is told in tokens that both have.

Source: Pati et al., "Orthogonal Matching Pursuit: Recursive Function Approximation with
Applications to Wavelet Decomposition", 1993.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["sparse_sums"]

_TARGETS = 256
"""Targets whose cosines with all of the basis are computed at a time."""
_CANDIDATES = 4
"""The nearest vectors per chosen one, among which it is chosen."""

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
    terms = min(terms, len(basis))
    lengths = np.linalg.norm(basis, axis=1)
    unit = basis / np.maximum(lengths, np.finfo(np.float32).tiny)[:, None]
    width = min(len(basis), _CANDIDATES * terms)
    chosen = np.zeros((len(targets), terms), np.int64)
    coefficients = np.zeros((len(targets), terms), np.float32)
    for first in range(0, len(targets), _TARGETS):
        some = targets[first : first + _TARGETS]
        cosines = np.abs(some @ unit.T)
        near = np.argpartition(-cosines, width - 1, axis=1)[:, :width]
        for row, target in enumerate(some):
            at, values = _pursue(target.astype(np.float64), unit[near[row]], terms)
            numbers = near[row][at]
            chosen[first + row, : len(at)] = numbers
            coefficients[first + row, : len(at)] = values / lengths[numbers]
    return chosen, coefficients


def _pursue(
    target: npt.NDArray[np.float64], candidates: Floats, terms: int
) -> tuple[list[int], npt.NDArray[np.float64]]:
    """The chosen rows of unit length, and their coefficients."""
    rows = candidates.astype(np.float64)
    dots, gram = rows @ target, rows @ rows.T
    chosen: list[int] = []
    values: npt.NDArray[Any] = np.zeros(0)
    for _ in range(terms):
        left = np.abs(dots - gram[:, chosen] @ values)
        left[chosen] = -1
        best = int(left.argmax())
        if left[best] <= 1e-6 * np.linalg.norm(target):
            break
        chosen.append(best)
        values = np.linalg.lstsq(gram[np.ix_(chosen, chosen)], dots[chosen], rcond=None)[0]
    return chosen, values
