"""Rows of an embedding that look untrained, by two published indicators.

Source: Sander Land and Max Bartolo, "Fishing for Magikarp: Automatically Detecting Under-trained
Tokens in Large Language Models", EMNLP 2024, arXiv:2405.05417, section 3. With `E` the table of
inputs and `U` that of outputs (the same table, if a model has one):

- length: `‖Eᵢ‖`, the Euclidean norm of a row; weight decay shrinks rows that get no gradient;
- direction: `c` is the first principal component of `U`, `U' = U − (U c) cᵀ`, and `u` the mean of
  the rows of `U'` that are known to be unused: `1 − cos(U'ᵢ, u)`.

The paper verifies the 2 % of tokens with the lowest values by prompting the model. Here a token of
these 2 % is a candidate if its value is also as low as that of nine in ten rows that are known to
be unused: rows without a token, and tokens that no text gives.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from jeton import files
from jeton.analysis.health.findings import Case, Finding, found
from jeton.analysis.health.rules import rule
from jeton.analysis.health.searches import looks_for
from jeton.analysis.health.subject import Embeddings, Matrix, Subject
from jeton.analysis.health.unreachable_tokens import unreached_tokens
from jeton.display.human_readable import counted
from jeton.edit.tensors import is_head, is_input_table, read_header
from jeton.errors import ArgumentError, FileError, FormatError, UnsupportedError

_SHARE: Final = 0.02
"""The share of the vocabulary that may be candidates."""

_TYPES: Final = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2"}

_OF_UNUSED: Final = 0.9
"""The share of known unused rows whose value a candidate must not exceed."""


def read_embeddings(path: Path, rows: int, tensor: str | None) -> Embeddings:
    """The tables of a model in a safetensors file.

    Args:
        rows: The minimum number of rows.
        tensor: The name of the table of inputs; by default one of the usual names.

    Raises:
        MissingFileError: The file does not exist.
        FormatError: It is not a safetensors file.
        ArgumentError: It has no such table, or one that is too small.
        UnsupportedError: The numbers are not float 64, 32, 16 or bfloat16.
    """
    try:
        with files.opened(path) as file:
            header, start = read_header(file, path)
    except FileError as error:
        raise error.reworded(f"embeddings: {error.message}") from None
    header.pop("__metadata__", None)
    tables = {name: entry for name, entry in header.items() if len(entry["shape"]) == 2}
    name = tensor if tensor is not None else _shortest(filter(is_input_table, tables))
    if name is None or name not in tables:
        names = ", ".join(sorted(tables)[:8]) or "none"
        lack = "no known table of inputs" if tensor is None else f"no table {tensor!r:.60}"
        raise ArgumentError(
            f"embeddings: {path} has {lack}; name one with tensor= (--tensor), of {names}"
        )
    inputs = _table(path, name, tables[name], start)
    if len(inputs) < rows:
        raise ArgumentError(
            f"embeddings: {name} has {len(inputs):,} rows, and the tokenizer ids up to "
            f"{rows - 1:,}: they do not belong together"
        )
    output = _shortest(filter(is_head, tables))
    if output is None or output == name or tables[output]["shape"][0] < rows:
        return Embeddings(inputs, inputs)
    return Embeddings(inputs, _table(path, output, tables[output], start))


def _shortest(names: Iterable[str]) -> str | None:
    return min(names, key=len, default=None)


def _table(path: Path, name: str, entry: dict[str, Any], start: int) -> Matrix:
    if entry["dtype"] not in _TYPES:
        types = ", ".join(_TYPES)
        raise UnsupportedError(
            f"embeddings: {name} is of type {entry['dtype']}; supported are {types}"
        )
    begin, shape = start + entry["data_offsets"][0], tuple(entry["shape"])
    if not all(shape):
        raise ArgumentError(f"embeddings: {name} is empty, of shape {list(shape)}")
    with files.opened(path) as file:
        raw = np.memmap(file, _TYPES[entry["dtype"]], "r", begin, shape)
    if entry["dtype"] == "BF16":
        table = (raw.astype(np.uint32) << np.uint32(16)).view(np.float32)
    else:
        table = np.asarray(raw).astype(np.float32)
    if not np.isfinite(table).all():
        raise FormatError(f"embeddings: {name} in {path} holds numbers that are not finite")
    return table


def by_length(table: Matrix) -> npt.NDArray[np.float64]:
    """The Euclidean norm of each row, shape (rows,).

    >>> by_length(np.array([[3, 4], [0, 0]], np.float32)).tolist()
    [5.0, 0.0]
    """
    lengths: npt.NDArray[np.float64] = np.sqrt(
        np.einsum("ij,ij->i", table, table, dtype=np.float64)
    )
    return lengths


def by_direction(table: Matrix, unused: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """The cosine distance of each row from the mean of unused rows, without the first component.

    Args:
        table: Shape (rows, width).
        unused: Rows that are known to be unused, at least one.

    Returns:
        Shape (rows,), from 0 to 2.
    """
    component = _first_component(table)
    residual = table - np.outer(table @ component, component)
    mean = np.mean(residual[unused], axis=0, dtype=np.float64)
    lengths = by_length(residual) * np.linalg.norm(mean)
    distances: npt.NDArray[np.float64] = 1.0 - (residual @ mean) / np.maximum(lengths, 1e-12)
    return distances


def _first_component(table: Matrix) -> npt.NDArray[np.float32]:
    """The unit vector along which rows vary most about their mean, by power iteration."""
    mean: npt.NDArray[np.float32] = np.asarray(np.mean(table, axis=0, dtype=np.float64), np.float32)
    vector: npt.NDArray[np.float32] = (
        np.random.default_rng(0).standard_normal((table.shape[1],)).astype(np.float32)
    )
    vector /= np.linalg.norm(vector)
    for _ in range(200):
        along = table @ vector - mean @ vector
        after = table.T @ along - mean * along.sum()
        length = np.linalg.norm(after)
        if length == 0:
            break
        after /= length
        moved = float(np.abs(after - vector).max())
        vector = after
        if moved < 1e-6:
            break
    return vector


def _unused_rows(subject: Subject) -> npt.NDArray[np.int64]:
    """Rows that are known to be unused: without a token, or of a token that no text gives."""
    tables = subject.tables
    assert tables is not None
    without = np.setdiff1d(np.arange(len(tables.inputs)), subject.ids)
    unreached = subject.once(unreached_tokens)
    proved = [it.id for rule, cases in unreached.items() if rule != "unreached" for it in cases]
    rows = np.union1d(without, np.asarray(proved, np.int64)).astype(np.int64)
    return rows[rows < min(len(tables.inputs), len(tables.outputs))]


def _why_not_checked(subject: Subject) -> str | None:
    if subject.tables is None:
        return "there are no embeddings"
    return None if subject.once(_unused_rows).size else "no row is known to be unused"


def _candidates(
    name: str, subject: Subject, values: npt.NDArray[np.float64], unit: str, verbs: tuple[str, str]
) -> Iterator[Finding]:
    """Tokens whose rows look like known unused rows, by one value of each row."""
    unused = subject.once(_unused_rows)
    tokens = np.setdiff1d(subject.ordinary, unused)
    if not tokens.size:
        return
    limit = min(
        float(np.quantile(values[tokens], _SHARE)), float(np.quantile(values[unused], _OF_UNUSED))
    )
    low = tokens[values[tokens] <= limit]
    low = low[np.argsort(values[low], kind="stable")]
    cases = [
        Case(id, subject.tokens[id], told=f"{unit} {values[id]:.4g}", evidence="observed")
        for id in low.tolist()
    ]
    rows = "row of 1 token" if len(cases) == 1 else f"rows of {len(cases):,} tokens"
    known = counted(len(unused), "row is", "rows are")
    message = f"{rows} {verbs[len(cases) != 1]} ({known} known to be unused)"
    yield from found(name, cases, message)


@looks_for(
    rule("""
    small-embedding (note): rows of the embedding that look untrained, by length
    Weight decay shrinks rows that get no gradient: these are as short as known unused rows, and
    among the shortest 2 % (Land & Bartolo 2024, arXiv:2405.05417).
    Remedy: Ask the model to repeat the token; if it cannot, keep it out of its inputs.
    Details: With `--embeddings`. The Euclidean norm of the row of inputs: Sander Land and Max
    Bartolo, *Fishing for Magikarp: Automatically Detecting Under-trained Tokens in Large Language
    Models*, EMNLP 2024, [arXiv:2405.05417](https://arxiv.org/abs/2405.05417). Candidates, as there,
    are among the lowest 2 %; here they are also as low as nine in ten of the rows that are known to
    be unused: those without a token, and those of tokens that no text gives.
    """),
    unless=_why_not_checked,
)
def small_rows(subject: Subject) -> Iterator[Finding]:
    """Rows of inputs that are short."""
    assert subject.tables is not None
    values = by_length(subject.tables.inputs)
    yield from _candidates("small-embedding", subject, values, "length", ("is short", "are short"))


@looks_for(
    rule("""
    unused-direction (note): rows of the embedding that look untrained, by direction
    Without the direction in which rows vary most, these rows point where known unused rows do, and
    are among the nearest 2 % (Land & Bartolo 2024, arXiv:2405.05417).
    Remedy: Ask the model to repeat the token; if it cannot, keep it out of its inputs.
    Details: With `--embeddings`. The cosine distance, from the same paper, of a row of outputs from
    the mean of the rows that are known to be unused, the first principal component taken out of
    all. Candidates are chosen as above.
    """),
    unless=_why_not_checked,
)
def unused_directions(subject: Subject) -> Iterator[Finding]:
    """Rows of outputs that point where unused rows do."""
    assert subject.tables is not None
    values = by_direction(subject.tables.outputs, subject.once(_unused_rows))
    verbs = "points where unused rows do", "point where unused rows do"
    yield from _candidates("unused-direction", subject, values, "distance", verbs)
