"""Analysis of a table of embeddings: neighbours, norms, and tokens that training hardly touched.

Look here for questions about the rows of a model's table; `maps.py` draws them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
import torch

from jeton.arguments import check_kind, checked_int, checked_iterable, checked_number
from jeton.errors import ArgumentError, ArgumentTypeError
from jeton.tokenizer import Tokenizer

Table: TypeAlias = "torch.Tensor | npt.NDArray[Any] | torch.nn.Module"
"""A matrix of shape (tokens, dim), or a module whose `weight` is one."""


class Neighbour(NamedTuple):
    """A token whose vector is close to that of another one."""

    id: int
    token: bytes
    cosine: float


def rows_of(name: str, table: Table, tok: Tokenizer | None = None) -> torch.Tensor:
    """The table as a float32 matrix on the CPU, one row per id."""
    matrix: object = getattr(table, "weight", None) if isinstance(table, torch.nn.Module) else table
    if isinstance(matrix, np.ndarray) and matrix.dtype.kind == "f":
        matrix = torch.from_numpy(np.ascontiguousarray(matrix, np.float32))
    if not isinstance(matrix, torch.Tensor):
        dtype = getattr(table, "dtype", None)
        kind = type(table).__name__ if dtype is None else f"an array of {dtype}"
        raise ArgumentTypeError(
            f"{name} must be a matrix of floats of torch or numpy, or a module with a weight, not "
            f"{kind}"
        )
    if matrix.ndim != 2 or not matrix.is_floating_point():
        raise ArgumentError(
            f"{name} must be a matrix of floats of shape (tokens, dim), not {matrix.dtype} of "
            f"shape {tuple(matrix.shape)}"
        )
    rows = matrix.detach().to("cpu", torch.float32)
    if tok is not None:
        check_kind("tok", tok, Tokenizer, "a Tokenizer")
    if tok is not None and len(rows) <= tok.vocab.max_id:
        raise ArgumentError(
            f"{name} has {len(rows)} rows but the tokenizer has ids up to {tok.vocab.max_id}: they "
            "do not belong together"
        )
    if not bool(torch.isfinite(rows).all()):
        bad = int((~torch.isfinite(rows)).any(dim=1).nonzero()[0])
        raise ArgumentError(f"row {bad} of {name} has a number that is not finite")
    return rows


def token_id(tok: Tokenizer, token: int | str | bytes) -> int:
    """The id of a token, which is given as an id, as bytes, or as a text that is one token."""
    check_kind("tok", tok, Tokenizer, "a Tokenizer")
    if isinstance(token, bytes):
        return tok.vocab[token]
    if isinstance(token, str):
        ids = tok.encode(token, special="allow")
        if len(ids) != 1:
            raise ArgumentError(
                f"{token!r} is {len(ids)} tokens; pass one token, as text, bytes or an id"
            )
        return ids[0]
    id = checked_int("token", token, 0)
    tok.vocab.spelling(id)  # raises if there is no such token
    return id


def neighbours(
    table: Table, tok: Tokenizer, token: int | str | bytes, k: int = 10
) -> list[Neighbour]:
    """The tokens whose vectors point in nearly the same direction.

    Args:
        table: The embeddings, of shape (tokens, dim); rows of padding are ignored.
        tok: The tokenizer of the model.
        token: A text that is one token, the bytes of one, or an id.
        k: How many.

    Returns:
        Nearest first, with the cosine of the angle; the token itself is left out.

    Raises:
        ArgumentError: The table is too small for the tokenizer, or a text is not one token.
        UnknownTokenError: There is no such token.

    Example:
        >>> import torch, jeton
        >>> from jeton.nn import neighbours
        >>> tok = jeton.CharTrainer().train("abc")
        >>> table = torch.tensor([[1.0, 0.0], [0.0, 1.0], [3.0, 0.3]])
        >>> [(it.token, round(it.cosine, 3)) for it in neighbours(table, tok, "a")]
        [(b'c', 0.995), (b'b', 0.0)]
    """
    k = checked_int("k", k, 1)
    check_kind("tok", tok, Tokenizer, "a Tokenizer")
    rows = torch.nn.functional.normalize(rows_of("table", table, tok), dim=1)
    own_id = token_id(tok, token)
    cosines = rows @ rows[own_id]
    ids = [id for id in _ids(tok) if id != own_id]
    best = cosines[ids].topk(min(k, len(ids)))
    return [
        Neighbour(ids[at], tok.vocab.spelling(ids[at]), float(cosine))
        for cosine, at in zip(best.values.tolist(), best.indices.tolist(), strict=True)
    ]


def _ids(tok: Tokenizer) -> list[int]:
    """All ids, in order."""
    return sorted({*tok.vocab.values(), *tok.special_tokens.values()})


def norms(table: Table) -> npt.NDArray[np.float32]:
    """The length of each row: float32 of shape (tokens,).

    Example:
        >>> import numpy as np
        >>> from jeton.nn import norms
        >>> norms(np.array([[3.0, 4.0], [0.0, 0.0]]))
        array([5., 0.], dtype=float32)
    """
    lengths: npt.NDArray[np.float32] = rows_of("table", table).norm(dim=1).numpy()
    return lengths


class FrequencyBin(NamedTuple):
    """Tokens of similar frequency, and the lengths of their vectors."""

    least: int
    """The smallest count in the bin."""
    most: int
    """The largest count in the bin."""
    tokens: int
    mean: float
    """Mean length of the vectors."""
    std: float
    """Standard deviation of the lengths."""


def norms_by_frequency(
    table: Table, counts: npt.ArrayLike, *, bins: int = 10
) -> list[FrequencyBin]:
    """The length of vectors by the frequency of their tokens.

    Args:
        table: The embeddings, of shape (tokens, dim).
        counts: How often each id occurs in a corpus; one entry per id.
        bins: The number of groups for tokens that occur, in equal steps of the logarithm of the
            count. Tokens that never occur are a separate group, the first.

    Returns:
        Groups by increasing count, without empty ones.

    Raises:
        ArgumentError: There are more counts than rows of the table, or negative ones.

    Example:
        >>> import numpy as np
        >>> from jeton.nn import norms_by_frequency
        >>> table = np.array([[0.1, 0.0], [1.0, 0.0], [2.0, 0.0], [3.0, 0.0]])
        >>> for group in norms_by_frequency(table, [0, 1, 1, 100], bins=2):
        ...     print(group.least, group.most, group.tokens, round(group.mean, 2))
        0 0 1 0.1
        1 1 2 1.5
        100 100 1 3.0
    """
    bins = checked_int("bins", bins, 1)
    lengths = norms(table)
    try:
        numbers = np.asarray(counts)
    except ValueError:
        raise ArgumentTypeError("counts must be integers, one per id") from None
    if numbers.ndim != 1 or numbers.dtype.kind not in "iu":
        raise ArgumentError("counts must be integers, one per id")
    if len(numbers) > len(lengths) or (numbers < 0).any():
        raise ArgumentError(
            f"counts must be at most {len(lengths)} numbers that are not negative, one per row of "
            f"the table; there are {len(numbers)}"
        )
    lengths = lengths[: len(numbers)]
    groups = np.zeros(len(numbers), np.int64)
    occurs = numbers > 0
    if occurs.any():
        logs = np.log(numbers[occurs])
        edges = np.linspace(logs.min(), logs.max(), bins + 1)[1:-1]
        groups[occurs] = 1 + np.searchsorted(edges, logs, side="right")
    results = []
    for group in range(bins + 1):
        in_group = groups == group
        if in_group.any():
            results.append(
                FrequencyBin(
                    int(numbers[in_group].min()),
                    int(numbers[in_group].max()),
                    int(in_group.sum()),
                    float(lengths[in_group].mean()),
                    float(lengths[in_group].std()),
                )
            )
    return results


@dataclass(frozen=True)
class UnderTrained:
    """Tokens that training hardly touched, by an indicator that is computed from the table.

    Attributes:
        indicator: `"norm"` (length of the input vector) or `"cosine"` (distance of the output
            vector to the mean of tokens known to be unused).
        values: The indicator of each id, float32 of shape (tokens,); small values are suspect.
        ids: Candidates, most suspect first.
        threshold: The largest value of a candidate.
    """

    indicator: str
    values: npt.NDArray[np.float32]
    ids: list[int]
    threshold: float


def under_trained(
    table: Table,
    tok: Tokenizer,
    *,
    head: Table | None = None,
    unused: Iterable[int] = (),
    share: float = 0.02,
) -> UnderTrained:
    """Candidates for tokens that a model has hardly seen, from its weights alone.

    With separate tables for input and output (`head` is given), weight decay pulls the input vector
    of an unseen token to zero: the indicator is its length. With one table for both, the vectors of
    unseen tokens are pushed in one common direction: the indicator is the cosine distance to the
    mean vector of tokens known to be unused, after removing the first principal component of all.

    Args:
        table: The input embeddings, or the tied table.
        tok: The tokenizer.
        head: The output embeddings if they are not tied.
        unused: Ids known to be unused, for tied tables; rows of padding and tokens named like
            `<unused7>` are added automatically.
        share: The fraction of tokens that become candidates: 0.02 for the paper's 2%.

    Raises:
        ArgumentError: The table is too small, the share is not in 0 to 1, or a tied table has no
            unused token to compare with.

    Source: Land and Bartolo, "Fishing for Magikarp: Automatically Detecting Under-trained Tokens in
        Large Language Models", 2024, section 3.

    Example:
        >>> import torch, jeton
        >>> from jeton.nn import under_trained
        >>> tok = jeton.CharTrainer().train("abcdefghij")
        >>> table = torch.ones(10, 4)
        >>> table[3] *= 0.01
        >>> suspects = under_trained(table, tok, head=torch.randn(10, 4), share=0.1)
        >>> [tok.vocab.spelling(id) for id in suspects.ids]
        [b'd']
    """
    check_kind("tok", tok, Tokenizer, "a Tokenizer")
    if checked_number("share", share) > 1:
        raise ArgumentError(f"share must be at most 1, not {share}")
    rows = rows_of("table", table, tok)
    ids = _ids(tok)
    if head is not None:
        rows_of("head", head, tok)
        indicator, values = "norm", rows.norm(dim=1)
    else:
        reference = _unused_ids(rows, tok, ids, unused)
        first = _first_component(rows)
        rest = torch.cat(
            [(part - torch.outer(part @ first, first)).float() for part in _doubles(rows)]
        )
        mean = rest[reference].mean(dim=0)
        indicator = "cosine"
        values = 1 - torch.nn.functional.cosine_similarity(rest, mean[None, :], dim=1)
    order = sorted(ids, key=lambda id: (float(values[id]), id))
    candidates = order[: max(1, round(share * len(order)))]
    return UnderTrained(indicator, values.numpy(), candidates, float(values[candidates[-1]]))


def _doubles(rows: torch.Tensor) -> Iterator[torch.Tensor]:
    """The rows in float64, in parts, because the whole table would need much memory."""
    return (part.double() for part in torch.split(rows, 16_384))


def _first_component(rows: torch.Tensor) -> torch.Tensor:
    """The direction along which rows vary most about their mean, as in the authors' program."""
    width = rows.shape[1]
    products, total = torch.zeros(width, width).double(), torch.zeros(width).double()
    for part in _doubles(rows):
        products.addmm_(part.T, part)
        total += part.sum(dim=0)
    products -= torch.outer(total, total) / len(rows)
    first: torch.Tensor = torch.linalg.eigh(products).eigenvectors[:, -1]
    return first


def _unused_ids(
    rows: torch.Tensor, tok: Tokenizer, ids: Sequence[int], unused: Iterable[int]
) -> list[int]:
    unused = checked_iterable("unused", unused, "ids")
    unused = [checked_int("each of unused", id, 0) for id in unused]
    for id in unused:
        if id >= len(rows):
            raise ArgumentError(f"unused id {id} is beyond the {len(rows)} rows of the table")
    by_name = [
        id for name, id in tok.special_tokens.items() if "unused" in name or "reserved" in name
    ]
    padding = range(max(ids) + 1, len(rows))
    # Rows of exact zeros have no direction.
    result = [id for id in sorted({*unused, *by_name, *padding}) if bool(rows[id].any())]
    if not result:
        raise ArgumentError(
            "a tied table needs tokens known to be unused for comparison, and there is none: pass "
            "unused= (ids that occur in no text), or head= if the output has its own table"
        )
    return result
