"""Positions as sines and cosines of increasing wavelength: nothing to train.

Look here for `SinusoidalPositions`; the formula is in `reference.sinusoids`.
"""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor

from jeton.arguments import checked_int, checked_number, one_of
from jeton.errors import ArgumentError
from jeton.nn.positions import (
    check_batch,
    check_positions,
    check_vectors,
    insert_axes,
    positions_of,
)


class SinusoidalPositions(torch.nn.Module):
    """Adds sines and cosines of the position.

    Beyond the trained length the numbers are defined, but new to the model: quality falls quickly.
    It has no parameters and no table: the numbers are computed at each call, in float32, for any
    position.

    Args:
        dim: The size of a vector; even.
        form: `"interleaved"` (sine, cosine, sine, cosine: the paper) or `"concatenated"` (all
            sines, then all cosines: tensor2tensor, GPT-J's table).
        base: The longest wavelength is 2π times this.

    Raises:
        ArgumentError: `dim` is odd, or `form` is unknown.

    Source: Vaswani et al., "Attention Is All You Need", 2017, section 3.5.

    Example:
        >>> import torch
        >>> from jeton.nn import SinusoidalPositions
        >>> SinusoidalPositions(4)(torch.zeros(1, 2, 4))
        tensor([[[0.0000, 1.0000, 0.0000, 1.0000],
                 [0.8415, 0.5403, 0.0100, 0.9999]]])
    """

    def __init__(
        self,
        dim: int,
        *,
        form: Literal["interleaved", "concatenated"] = "interleaved",
        base: float = 10_000.0,
    ) -> None:
        super().__init__()
        self.dim = checked_int("dim", dim, 2)
        if self.dim % 2:
            raise ArgumentError(f"dim must be even, for pairs of a sine and a cosine, not {dim}")
        one_of("form", form, ("interleaved", "concatenated"))
        self.form = form
        self.base = checked_number("base", base, above=1.0)

    def forward(self, x: Tensor, *, offset: int = 0, positions: Tensor | None = None) -> Tensor:
        """Adds the sinusoids of the positions.

        Args:
            x: Floats of shape (..., length, dim); with three axes or more, the first is the batch.
            offset: The position of the first vector.
            positions: The position of each token, of shape (length,) or (batch, length), instead
                of an offset.

        Returns:
            The sum, with the shape and dtype of `x`.

        Raises:
            ArgumentError: Shapes do not match.
        """
        check_vectors("x", x, self.dim)
        places = positions_of(x.shape[-2], offset, positions, x.device)
        check_batch("x", x, places)
        return x + insert_axes(x, self.table(places)).to(x.dtype)

    def table(self, positions: Tensor) -> Tensor:
        """The sinusoids of these positions: float32, of shape (*positions.shape, dim)."""
        check_positions(positions)
        exponents = torch.arange(0, self.dim, 2, device=positions.device).float() / self.dim
        angles = positions.float()[..., None] / self.base**exponents
        parts = [angles.sin(), angles.cos()]
        if self.form == "concatenated":
            return torch.cat(parts, dim=-1)
        return torch.stack(parts, dim=-1).flatten(-2)

    def extra_repr(self) -> str:
        """The arguments in the printed form of the module."""
        return f"{self.dim}, form={self.form!r}, base={self.base:g}"
