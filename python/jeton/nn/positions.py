"""The positions of the tokens of a sequence: counted from an offset, or given for each token.

Look here for what `offset=` and `positions=` mean in every module of positions.
"""

from __future__ import annotations

import torch
from torch import Tensor

from jeton.arguments import checked_int
from jeton.data.tensors import checked_device
from jeton.errors import ArgumentError, ArgumentTypeError

_INTEGERS = {
    torch.int8,
    torch.int16,
    torch.int32,
    torch.int64,
    torch.uint8,
    torch.uint16,
    torch.uint32,
    torch.uint64,
}


def positions_of(
    length: int, offset: int, positions: Tensor | None, device: torch.device
) -> Tensor:
    """The positions of `length` tokens, of shape (length,) or (batch, length)."""
    if positions is None:
        if not isinstance(offset, (int, torch.SymInt)) or isinstance(offset, bool):
            raise ArgumentTypeError(f"offset must be an int, not {type(offset).__name__}")
        if torch.compiler.is_compiling():
            # `checked_int` needs the number itself, which would tie the graph to this offset.
            if offset < 0:
                raise ArgumentError("offset must be at least 0")
        else:
            offset = checked_int("offset", offset, 0)
        return torch.arange(offset, offset + length, device=device)
    if isinstance(offset, int) and offset != 0:
        raise ArgumentError("give offset or positions, not both")
    check_positions(positions)
    if positions.ndim not in (1, 2) or positions.shape[-1] != length:
        raise ArgumentError(
            f"positions must have the shape ({length},) or (batch, {length}), the length of the "
            f"sequence, not {tuple(positions.shape)}"
        )
    return positions.to(device, torch.int64)


def check_batch(name: str, x: Tensor, places: Tensor) -> None:
    """Raises if positions are for another batch than the vectors."""
    if places.ndim != 2:
        return
    if x.ndim < 3:
        raise ArgumentError(
            f"positions of shape {tuple(places.shape)} need a batch axis in {name}, which has the "
            f"shape {tuple(x.shape)}"
        )
    if places.shape[0] not in (1, x.shape[0]):
        raise ArgumentError(
            f"positions are for a batch of {places.shape[0]}, but {name} has {x.shape[0]} rows"
        )


def insert_axes(x: Tensor, table: Tensor) -> Tensor:
    """The table, with the axes that `x` has between batch and length, for broadcasting."""
    if table.ndim < 3:
        return table
    return table.reshape(table.shape[0], *(1,) * (x.ndim - 3), *table.shape[1:])


def check_positions(positions: Tensor) -> None:
    """Raises for anything but a tensor of integers."""
    check_integers("positions", positions)


def check_integers(name: str, values: Tensor) -> None:
    """Raises for anything but a tensor of integers."""
    if not isinstance(values, Tensor) or values.dtype not in _INTEGERS:
        kind = values.dtype if isinstance(values, Tensor) else type(values).__name__
        raise ArgumentTypeError(f"{name} must be a tensor of integers, not {kind}")


def check_place(dtype: torch.dtype | None, device: torch.device | str | None) -> None:
    """Checks the type of a table of floats and its device."""
    if dtype is not None and not (isinstance(dtype, torch.dtype) and dtype.is_floating_point):
        raise ArgumentTypeError(f"dtype must be a torch.dtype of floats, not {dtype!r:.60}")
    if device is not None:
        checked_device(device)


def check_vectors(name: str, x: Tensor, dim: int) -> None:
    """Raises for anything but a tensor of floats of shape (..., length, dim)."""
    if not isinstance(x, Tensor) or not x.is_floating_point():
        kind = x.dtype if isinstance(x, Tensor) else type(x).__name__
        raise ArgumentTypeError(f"{name} must be a tensor of floats, not {kind}")
    if x.ndim < 2 or x.shape[-1] != dim:
        raise ArgumentError(
            f"{name} must have the shape (..., length, {dim}), the size of the positions, not "
            f"{tuple(x.shape)}"
        )
