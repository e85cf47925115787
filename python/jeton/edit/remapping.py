"""Tables that follow their vocabulary: rows moved to the new ids, and rows for new tokens.

Look here for `jeton.nn.remap` and `jeton.nn.remap_optimizer`, which need PyTorch.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

import torch
from torch import Tensor

from jeton.arguments import checked_int, one_of
from jeton.edit.id_map import IdMap
from jeton.errors import ArgumentError, ArgumentTypeError

__all__ = ["remap", "remap_optimizer"]

_FEW_ROWS = 4_096
"""Rows of new tokens that are made at a time."""


def remap(
    table: Tensor,
    id_map: IdMap,
    *,
    init: Literal["mean", "zeros", "normal"] = "mean",
    rows: int | None = None,
    seed: int = 0,
) -> Tensor:
    """The table of the new vocabulary.

    Rows of kept tokens are moved as they are, to the last bit. The same map does for a tied table,
    for an output head of its own, and for a bias with one number a token.

    Args:
        table: Floats of shape (ids, …): a row an id, and any number of rows of padding behind.
        id_map: From the ids of the table to the new ones.
        init: What the row of a new token is. `"mean"`: the mean of the rows of the old tokens that
            spelled it (fast vocabulary transfer), or of all old tokens if none did. `"zeros"`.
            `"normal"`: drawn from the normal distribution with the mean and the covariance of the
            old rows.
        rows: How many rows there are in the end, those of padding included; the number of new ids
            if `None`. A row that no token has stays what it was at its place; one that the table
            did not have is zeros.
        seed: For `"normal"`.

    Returns:
        Shape (rows, …), in the dtype and on the device of the table.

    Raises:
        ArgumentError: A table with fewer rows than the map has old ids: it belongs to another
            tokenizer.
        ArgumentTypeError: No tensor of floats, or no `IdMap`.

    Source: Gee et al., "Fast Vocabulary Transfer for Language Model Compression", 2022; Hewitt,
        "Initializing New Word Embeddings for Pretrained Language Models", 2021.

    Example:
        >>> import torch
        >>> from jeton.edit import IdMap
        >>> from jeton.nn import remap
        >>> table = torch.tensor([[1.0, 0.0], [5.0, 5.0], [3.0, 2.0]])
        >>> remap(table, IdMap((0, -1, 1), 3, {2: (0, 2)}))
        tensor([[1., 0.],
                [3., 2.],
                [2., 1.]])
    """
    _check(table, id_map)
    one_of("init", init, ("mean", "zeros", "normal"))
    seed = checked_int("seed", seed, 0)
    count = id_map.new_size if rows is None else checked_int("rows", rows, 0)
    if count < id_map.new_size:
        raise ArgumentError(f"rows={count} is fewer than the {id_map.new_size} new ids")
    new = table.new_zeros((count, *table.shape[1:]))
    kept = [(before, after) for before, after in enumerate(id_map.moved) if after != -1]
    if kept:
        before, after = (torch.tensor(ids, device=table.device) for ids in zip(*kept, strict=True))
        new[after] = table.detach()[before]
    spare = _spare_rows(id_map, min(count, len(table)))
    new[spare] = table.detach()[spare]
    if init == "zeros" or not id_map.made_of:
        return new
    old = table.detach()[: id_map.old_size]
    if init == "mean":
        everything = old.float().mean(dim=0) if len(old) else None
        for after_id, parts in id_map.made_of.items():
            if parts:
                new[after_id] = old[list(parts)].float().mean(dim=0).to(table.dtype)
            elif everything is not None:
                new[after_id] = everything.to(table.dtype)
        return new
    numbers = torch.Generator(device="cpu").manual_seed(seed)
    mean = old.float().mean(dim=0)
    centred = (old.float() - mean).flatten(1) if old.ndim > 1 else (old.float() - mean)[:, None]
    made = list(id_map.made_of)
    for start in range(0, len(made), _FEW_ROWS):
        ids = made[start : start + _FEW_ROWS]
        # Random sums of the centred rows have just their covariance.
        weights = torch.randn(len(ids), len(old), generator=numbers).to(table.device)
        drawn = weights @ centred / max(len(old), 1) ** 0.5
        new[torch.tensor(ids, device=table.device)] = (
            drawn.reshape(len(ids), *table.shape[1:]) + mean
        ).to(table.dtype)
    return new


def _spare_rows(id_map: IdMap, count: int) -> list[int]:
    """Of the first `count` rows, those of no token before and after: gaps between ids, padding."""
    taken = {*id_map.moved, *id_map.made_of}
    was_spare = [new == -1 for new in id_map.moved[: id_map.new_size]]
    return [
        row
        for row in range(count)
        if row not in taken
        and (row >= id_map.old_size or (row < len(was_spare) and was_spare[row]))
    ]


def remap_optimizer(
    state: Mapping[str, Any],
    parameters: Iterable[int],
    id_map: IdMap,
    *,
    rows: int | None = None,
) -> dict[str, Any]:
    """The state of an optimiser for tables that were moved: what it knows of a row moves with it.

    Args:
        state: `optimizer.state_dict()`.
        parameters: The numbers in it of the parameters that have a row a token.
        id_map: As for `remap`.
        rows: As for `remap`.

    Returns:
        A new state: of these parameters, each tensor with a row a token is moved and rows of new
        tokens are zeros; everything else is as it was.

    Raises:
        ArgumentError: A parameter that the state does not have, or rows that are too few.

    Example:
        >>> import torch
        >>> from jeton.edit import IdMap
        >>> from jeton.nn import remap_optimizer
        >>> table = torch.nn.Parameter(torch.ones(3, 2))
        >>> optimizer = torch.optim.AdamW([table])
        >>> torch.autograd.backward(table[1].sum())
        >>> optimizer.step()
        >>> moved = remap_optimizer(optimizer.state_dict(), [0], IdMap((-1, 0, -1), 1, {}))
        >>> moved["state"][0]["exp_avg"]
        tensor([[0.1000, 0.1000]])
    """
    if (
        not isinstance(state, Mapping)
        or not isinstance(state.get("state"), Mapping)
        or not all(isinstance(entry, Mapping) for entry in state["state"].values())
    ):
        raise ArgumentTypeError("state must be what optimizer.state_dict() gives")
    if isinstance(parameters, (str, bytes)) or not isinstance(parameters, Iterable):
        raise ArgumentTypeError(
            f"parameters must be an iterable of numbers, not {type(parameters).__name__}"
        )
    entries = dict(state["state"])
    for given in parameters:
        number = checked_int("each of parameters", given, 0)
        if number not in entries:
            raise ArgumentError(
                f"the optimiser knows nothing of parameter {number}; it has {sorted(entries)}"
            )
        known = entries[number]
        length = _length(number, known, id_map)
        entries[number] = {
            name: remap(value, id_map, init="zeros", rows=rows)
            if isinstance(value, Tensor) and value.ndim and len(value) == length
            else value
            for name, value in known.items()
        }
    return {**state, "state": entries}


def _length(number: int, known: Mapping[str, Any], id_map: IdMap) -> int:
    """How many rows a parameter has, by what an optimiser knows of it.

    Factored states (Adafactor's) know of rows and of columns in two tensors.
    """
    tensors = [value for value in known.values() if isinstance(value, Tensor) and value.ndim]
    lengths = {len(value) for value in tensors if len(value) >= id_map.old_size}
    whole = {len(value) for value in tensors if value.ndim > 1 and len(value) > 1}
    found = (lengths & whole) or lengths
    if len(found) == 1:
        return found.pop()
    if not tensors:
        return -1
    raise ArgumentError(
        f"parameter {number} is not a table of this map: the map is from {id_map.old_size} "
        f"ids, and the optimiser knows {sorted({len(value) for value in tensors})} rows of it"
    )


def _check(table: Tensor, id_map: IdMap) -> None:
    if not isinstance(id_map, IdMap):
        raise ArgumentTypeError(f"id_map must be an IdMap, not {type(id_map).__name__}")
    if not isinstance(table, Tensor) or not table.is_floating_point() or not table.ndim:
        kind = table.dtype if isinstance(table, Tensor) else type(table).__name__
        raise ArgumentTypeError(f"table must be a tensor of floats with a row an id, not {kind}")
    if len(table) < id_map.old_size:
        raise ArgumentError(
            f"the table has {len(table)} rows and the map is from {id_map.old_size} ids: they "
            "belong to two tokenizers"
        )
