"""Remaps tables for a new vocabulary: moves rows to the new ids, and adds rows for new tokens.

Look here for `jeton.nn.remap` and `jeton.nn.remap_optimizer`, which need PyTorch.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

import torch
from torch import Tensor

from jeton.arguments import check_kind, checked_int, checked_iterable, one_of
from jeton.edit.id_map import IdMap
from jeton.errors import ArgumentError, ArgumentTypeError

_ROWS_AT_ONCE = 4_096
"""How many rows of new tokens are computed at a time."""


def remap(
    table: Tensor,
    id_map: IdMap,
    *,
    init: Literal["mean", "zeros", "normal"] = "mean",
    rows: int | None = None,
    seed: int = 0,
) -> Tensor:
    """The table for the new vocabulary.

    Rows of kept tokens are moved unchanged, to the last bit. The same map works for a tied table,
    for a separate output head, and for a bias with one number per token.

    Args:
        table: Floats of shape (ids, …): one row per id, then any number of padding rows.
        id_map: The map from the ids of the table to the new ones.
        init: How to initialise the row of a new token. `"mean"`: the mean of the rows of the old
            tokens that spelled it (fast vocabulary transfer), or of all old tokens if none did.
            `"zeros"`. `"normal"`: drawn from the normal distribution with the mean and the
            covariance of the old rows.
        rows: The number of rows of the result, including padding; by default the number of new ids.
            A row without a token keeps its value; a row that the table did not have is zeros.
        seed: For `"normal"`.

    Returns:
        Shape (rows, …), in the dtype and on the device of the table.

    Raises:
        ArgumentError: The table has fewer rows than the map has old ids: it belongs to another
            tokenizer.
        ArgumentTypeError: `table` is not a tensor of floats, or `id_map` not an `IdMap`.

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
    moves = [(before, after) for before, after in enumerate(id_map.moved) if after != -1]
    if moves:
        before, after = (torch.tensor(ids, device=table.device) for ids in zip(*moves, strict=True))
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
    new_ids = list(id_map.made_of)
    for start in range(0, len(new_ids), _ROWS_AT_ONCE):
        ids = new_ids[start : start + _ROWS_AT_ONCE]
        # Random sums of the centred rows have the same covariance.
        weights = torch.randn(len(ids), len(old), generator=numbers).to(table.device)
        noise = weights @ centred / max(len(old), 1) ** 0.5
        new[torch.tensor(ids, device=table.device)] = (
            noise.reshape(len(ids), *table.shape[1:]) + mean
        ).to(table.dtype)
    return new


def _spare_rows(id_map: IdMap, count: int) -> list[int]:
    """The first `count` rows without those that had or get a token: gaps between ids, padding."""
    new_ids = {*id_map.moved, *id_map.made_of}
    was_spare = [new == -1 for new in id_map.moved[: id_map.new_size]]
    return [
        row
        for row in range(count)
        if row not in new_ids
        and (row >= id_map.old_size or (row < len(was_spare) and was_spare[row]))
    ]


def remap_optimizer(
    state: Mapping[str, Any],
    parameters: Iterable[int],
    id_map: IdMap,
    *,
    rows: int | None = None,
) -> dict[str, Any]:
    """The state of an optimiser for remapped tables.

    Args:
        state: `optimizer.state_dict()`.
        parameters: The numbers of the parameters with one row per token.
        id_map, rows: As for `remap`.

    Returns:
        A new state: each tensor of these parameters with one row per token is remapped, with zeros
        for new tokens; everything else is unchanged.

    Raises:
        ArgumentError: The state lacks a parameter, or `rows` is too small.

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
        raise ArgumentTypeError("state must be the result of optimizer.state_dict()")
    parameters = checked_iterable("parameters", parameters, "an iterable of numbers")
    entries = dict(state["state"])
    for parameter in parameters:
        number = checked_int("each of parameters", parameter, 0)
        if number not in entries:
            raise ArgumentError(
                f"the optimiser has no state for parameter {number}; it has {sorted(entries)}"
            )
        entry = entries[number]
        length = _length(number, entry, id_map)
        entries[number] = {
            name: remap(value, id_map, init="zeros", rows=rows)
            if isinstance(value, Tensor) and value.ndim and len(value) == length
            else value
            for name, value in entry.items()
        }
    return {**state, "state": entries}


def _length(number: int, entry: Mapping[str, object], id_map: IdMap) -> int:
    """The number of rows of a parameter, from its optimiser state.

    Factored states (Adafactor's) have one tensor for rows and one for columns.
    """
    tensors = [value for value in entry.values() if isinstance(value, Tensor) and value.ndim]
    lengths = {len(value) for value in tensors if len(value) >= id_map.old_size}
    whole = {len(value) for value in tensors if value.ndim > 1 and len(value) > 1}
    candidates = (lengths & whole) or lengths
    if len(candidates) == 1:
        return candidates.pop()
    if not tensors:
        return -1
    raise ArgumentError(
        f"parameter {number} is not a table of this map: the map is for {id_map.old_size} ids, but "
        f"the optimiser has {sorted({len(value) for value in tensors})} rows for it"
    )


def _check(table: Tensor, id_map: IdMap) -> None:
    check_kind("id_map", id_map, IdMap, "an IdMap")
    if not isinstance(table, Tensor) or not table.is_floating_point() or not table.ndim:
        kind = table.dtype if isinstance(table, Tensor) else type(table).__name__
        raise ArgumentTypeError(f"table must be a tensor of floats, one row per id, not {kind}")
    if len(table) < id_map.old_size:
        raise ArgumentError(
            f"the table has {len(table)} rows but the map is for {id_map.old_size} ids: they "
            "belong to different tokenizers"
        )
